#!/usr/bin/env python3
"""What holds for every command: its document has no member twice, and no string of a file, of any format,
reaches the terminal as it is.

    tests/programs/every_command.py PENTA
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PENTA = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEYS = os.path.join(ROOT, "tests", "keys")

# Reverse video, a forged line, a control of eight bits, and a mark that turns the reading direction.
HOSTILE = r"\x1b[7m\nPWNED\x9b1m\xe2\x80\xae"

SOURCES = {
    "p.pvmasm": '%isa = latest64\n%stack_size = 4096\n%import "@"\n%export "@" = @main\n'
                "@main:\n    ecalli 0\n    ret\n",
    "p.tasm": '.meta\n    name "@"\n    domain "@"\n.projection\n    target "@"\n    bundle "@"\n'
              '.registers\n    H0: i32[4]\n    C0: ternary[4,4] key="@"\n.program\n    load_input H0\n'
              "    store_output H0\n    halt\n",
    "p.cvasm": '.string "@"\n    PUSH 0\n    PRINTF 0\n    HALT\n.symbol "@", function, 0\n'
               '.variable "@", global, 1, 3, 0, 65535, 1\n',
    "p.casm": '.global main\n.section "@", 2, 0x3, 8\n    .bytes 0102\n.func main\n    RET\n.endfunc\n',
    "p.kasm": "WRITE8 0x10000, 1\nHALT\n",
}
FILES = ["p.pvm", "p.tvmr", "p.cvbc", "p.coil", "p.kblob"]


def call(*args, data=None):
    return subprocess.run([PENTA, *args], input=data, capture_output=True, timeout=120,
                          env={**os.environ, "NO_COLOR": "1"})


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def made(*args):
    done = call(*args)
    check(done.returncode == 0, f"penta {' '.join(args)}: {done.stderr.decode(errors='replace')}")


def prepare():
    """A file of every format whose strings are all hostile, and what the other commands need."""
    for name, text in SOURCES.items():
        with open(name, "w") as out:
            out.write(text.replace("@main", "#main").replace("@", HOSTILE).replace("#main", "@main"))
    for source, target in zip(("p.pvmasm", "p.tasm", "p.cvasm", "p.casm", "p.kasm"), FILES):
        made("asm", source, "-o", target, *(["--metadata"] if target == "p.tvmr" else []))
    made("sign", "p.cvbc", "--sign-key", f"{KEYS}/signer.pem", "-o", "signed.cvbc")
    made("seal", "p.cvbc", "--key-file", f"{KEYS}/symmetric.hex", "--sign-key", f"{KEYS}/signer.pem",
         "--keep-debug", "-o", "sealed.cvbc")
    shutil.copy(os.path.join(ROOT, "examples/gpu/race.gpu"), "race.gpu")
    shutil.copy(os.path.join(ROOT, "examples/cvbc/blink.ino"), "p.ino")
    hostile = HOSTILE.encode().decode("unicode_escape")
    with open("vector.json", "w") as out:
        json.dump({"name": hostile, "blob_hex": "05b105b1010000001000000000000000", "size": 16,
                   "expect": {"validate": hostile, "instruction": None}}, out)
    with open("trace.jsonl", "w") as out:
        out.write(hostile.split("\n")[0] + "\n")


def invocations():
    """Each command at least once, with input for those that read it."""
    key, secret = f"{KEYS}/signer.pem", f"{KEYS}/symmetric.hex"
    for file in FILES:
        for command in ("detect", "info", "inspect", "hex", "validate", "dis", "roundtrip", "jit"):
            yield [command, file], None
        yield ["convert", file, "--to", "polkavm"], None
        yield ["seal", file, "--key-file", secret, "--sign-key", key], None
        yield ["diff", file, FILES[FILES.index(file) - 1]], None
        more = ["--map", "0x10000:64"] if file == "p.kblob" else []
        more += ["--fuel", "100"]
        yield ["run", file, *more], None
        yield ["run", file, *more, "--host-log"], None
        yield ["trace", file, *more], None
        yield ["debug", file, *more], b"step\nregisters\nlist\nwhere\nmemory 0x10000\ncontinue\nwhere\nhelp\n\x1b[7m\n"
    yield ["open", "sealed.cvbc", "--key-file", secret, "--sign-key", key], None
    yield ["open", "sealed.cvbc"], None
    yield ["asm", "p.casm"], None
    yield ["conform", "vector.json"], None
    yield ["device", "run", "race.gpu"], None
    yield ["device", "replay", "trace.jsonl"], None
    yield ["link", "p.coil", "--map-file", "-"], None
    yield ["explain"], None
    yield ["formats", "--instructions"], None
    yield ["completion", "bash"], None
    yield ["help", "run"], None
    yield ["version"], None
    yield ["keygen", "-o", "new.pem"], None
    yield ["pubkey", key], None
    yield ["create", "p.cvasm"], None
    yield ["compile", "p.ino"], None
    yield ["sign", "p.cvbc", "--sign-key", key, "-o", "out.cvbc"], None
    yield ["verify", "signed.cvbc", "--trusted-key", f"{KEYS}/signer.pub"], None
    yield ["extract", "p.cvbc", "--part", "metadata"], None
    yield ["board", "list"], None
    yield ["board", "check", "p.cvbc", "--board", "stm32g431"], None


def commands():
    return re.findall(r"^  ([a-z]+) ", call("help").stdout.decode(), re.M)


def unique(pairs):
    names = [name for name, _ in pairs]
    check(len(names) == len(set(names)), f"a member twice in {names}")
    return dict(pairs)


def test_documents_have_no_member_twice():
    seen = set()
    for args, data in invocations():
        if os.path.exists("new.pem"):
            os.remove("new.pem")
        done = call(*args, "--json", data=data)
        seen.add(args[0])
        try:
            document = json.loads(done.stdout, object_pairs_hook=unique)
        except (ValueError, AssertionError) as error:
            raise AssertionError(f"penta {' '.join(args)} --json: {error}\n{done.stdout[:300]}\n{done.stderr[:300]}")
        check(document["exit"] == done.returncode, (args, document["exit"], done.returncode))
    check(seen == set(commands()), f"not tried: {set(commands()) - seen}")


def main():
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        for name, test in sorted(globals().items()):
            if not name.startswith("test_"):
                continue
            try:
                test()
                passed += 1
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {name}: {error}")
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
