#!/usr/bin/env python3
"""What holds for every command: its found has no member twice, and no string of a file, of any format,
reaches the terminal as it is.

    tests/programs/every_command.py PENTA
"""
import json
import os
import re
import shutil
import sys

from support import PENTA, ROOT, Terminal, call, check, document, main, schemas, write


KEYS = os.path.join(ROOT, "tests", "keys")

# Reverse video, a forged line, a colour that is one of ours, an 8-bit control character, and a mark that changes the
# reading direction.
HOSTILE = r"\x1b[7m\nPWNED\x1b[31mRED\x9b1m\xe2\x80\xae"
COLOURS = re.compile(rb"\x1b\[(?:0|1|2|1;31|1;33|3[1-6])m")

SOURCES = {
    "p.pvmasm": '%isa = latest64\n%stack_size = 4096\n%import "@"\n%export "@" = @main\n'
                "@main:\n    ecalli 0\n    ret\n",
    "p.tasm": '.meta\n    name "@"\n    domain "@"\n.projection\n    target "@"\n    bundle "@"\n'
              '.registers\n    H0: i32[4]\n    C0: ternary[4,4] key="@"\n.program\n    load_input H0\n'
              "    store_output H0\n    halt\n",
    "p.cvasm": '.string "@"\n    PUSH 0\n    PRINTF 0\n    HALT\n.symbol "@", function, 0\n'
               '.variable "@", global, 1, 3, 0, 65535, 1\n',
    "p.casm": '.global main\n.func main\n    RET\n.endfunc\n.section "@", 2, 0x3, 8\n    .bytes 0102\n',
    "p.kasm": "WRITE8 0x10000, 1\nHALT\n",
}
FILES = ["p.pvm", "p.tvmr", "p.cvbc", "p.coil", "p.kblob"]


def plain_call(*args, data=None, **env):
    return call(*args, data=data, env={"NO_COLOR": "1", **env})


def made(*args):
    done = plain_call(*args)
    check(done.returncode == 0, f"penta {' '.join(args)}: {done.stderr.decode(errors='replace')}")


def prepare():
    """A file of every format whose strings are all hostile, and what the other commands need."""
    for name, text in SOURCES.items():
        write(name, text.replace("@main", "#main").replace("@", HOSTILE).replace("#main", "@main"))
    for source, target in zip(("p.pvmasm", "p.tasm", "p.cvasm", "p.casm", "p.kasm"), FILES):
        made("asm", source, "-o", target, *(["--metadata"] if target == "p.tvmr" else []))
    made("sign", "p.cvbc", "--sign-key", f"{KEYS}/signer.pem", "-o", "signed.cvbc")
    made("seal", "p.cvbc", "--key-file", f"{KEYS}/symmetric.hex", "--sign-key", f"{KEYS}/signer.pem",
         "--keep-debug", "-o", "sealed.cvbc")
    shutil.copy(os.path.join(ROOT, "examples/gpu/race.gpu"), "race.gpu")
    shutil.copy(os.path.join(ROOT, "examples/cvbc/blink.ino"), "p.ino")
    hostile = HOSTILE.encode().decode("unicode_escape")
    write("vector.json",
          json.dumps({"name": hostile, "blob_hex": "05b105b1010000001000000000000000", "size": 16,
                      "expect": {"validate": hostile, "instruction": None}}))
    write("trace.jsonl", hostile.split("\n")[0] + "\n")


def invocations():
    """Each command at least once, with input for those that read it."""
    key, secret = f"{KEYS}/signer.pem", f"{KEYS}/symmetric.hex"
    for file in FILES:
        for command in ("detect", "info", "inspect", "hex", "validate", "dis", "roundtrip", "jit"):
            yield [command, file], None
        yield ["detect", "--deep", file], None
        yield ["convert", file, "--to", "polkavm"], None
        yield ["seal", file, "--key-file", secret, "--sign-key", key], None
        yield ["diff", file, FILES[FILES.index(file) - 1]], None
        more = ["--map", "0x10000:64"] if file == "p.kblob" else []
        more += ["--fuel", "100"]
        yield ["run", file, *more], None
        yield ["run", file, *more, "--host-log"], None
        yield ["trace", file, *more], None
        yield ["profile", file, *more, "--by", "instruction"], None
        yield ["profile", file, *more, "--folded"], None
        yield ["cover", file, *more], None
        yield ["cover", file, *more, "--uncovered"], None
        yield ["size", file], None
        yield ["report", file], None
        yield ["graph", file, "--calls"], None
        yield ["explore", file, "-o", "page.html"], None
        yield ["graph", file, "--cfg", "0"], None
        yield ["gdbserver", file, *more], b"$qSupported#37$?#3f$vCont;c#a8$g#67$D#44"
        yield ["debug", file, *more], b"step\nregisters\nlist\nwhere\nmemory 0x10000\ncontinue\nwhere\nhelp\n\x1b[7m\n"
    yield ["open", "sealed.cvbc", "--key-file", secret, "--sign-key", key], None
    yield ["open", "sealed.cvbc"], None
    yield ["asm", "p.casm"], None
    yield ["conform", "vector.json"], None
    yield ["dap"], b""
    yield ["train", "p.tvmr"], None
    yield ["device", "run", "race.gpu"], None
    yield ["device", "replay", "trace.jsonl"], None
    yield ["link", "p.coil", "--map-file", "-"], None
    yield ["explain"], None
    yield ["formats", "--instructions"], None
    yield ["completion", "bash"], None
    yield ["help", "run"], None
    yield ["block", "vector.json", "vector.json"], None
    yield ["batch", "info", *FILES, "-o", "batch.lines"], None
    yield ["version"], None
    yield ["keygen", "-o", "new.pem"], None
    yield ["pubkey", key], None
    yield ["create", "p.cvasm"], None
    yield ["compile", "p.ino"], None
    yield ["sign", "p.cvbc", "--sign-key", key, "-o", "out.cvbc"], None
    yield ["verify", "signed.cvbc", "--trusted-key", f"{KEYS}/signer.pub"], None
    yield ["edit", "p.cvbc", "--set", "/header/build_number=1", "--dry-run"], None
    yield ["extract", "p.cvbc", "--part", "metadata"], None
    yield ["board", "list"], None
    yield ["board", "check", "p.cvbc", "--board", "stm32g431"], None


def commands():
    return re.findall(r"^  ([a-z]+) ", plain_call("help").stdout.decode(), re.M)


def test_documents_have_no_member_twice():
    seen = set()
    for args, data in invocations():
        if os.path.exists("new.pem"):
            os.remove("new.pem")
        done = plain_call(*args, "--json", data=data)
        seen.add(args[0])
        try:
            found = document(done.stdout)
        except (ValueError, AssertionError) as error:
            raise AssertionError(f"penta {' '.join(args)} --json: {error}\n{done.stdout[:300]}\n{done.stderr[:300]}")
        check(found["exit"] == done.returncode, (args, found["exit"], done.returncode))
        path = schemas.schema_path(found["schema"])
        check(os.path.exists(path), f"no schema describes {found['schema']}")
    check(seen == set(commands()), f"not tried: {set(commands()) - seen}")


def test_schemas_are_schemas():
    """Each is read, describes one document, and refuses a member that it does not know."""
    names = sorted(os.listdir(schemas.FOLDER))
    check({f"{command}-1.json" for command in commands()} <= set(names), names)
    for name in names:
        path = os.path.join(schemas.FOLDER, name)
        schema = schemas.load(path)
        check(schema["$schema"].endswith("/2020-12/schema") and schema["title"], name)
        if name == "common.json":
            continue
        check(schemas.schema_path(schema["properties"]["schema"]["const"]) == path, name)
        if schemas.jsonschema:
            good = {"schema": schema["properties"]["schema"]["const"], "diagnostics": [], "ok": False, "exit": 2}
            check(not schemas.fault(path, "Draft202012Validator", good), name)
            for bad in ({**good, "forgotten": 1}, {**good, "exit": "2"}, {"ok": False, "exit": 2}, {**good, "diagnostics": [{}]}):
                check(schemas.fault(path, "Draft202012Validator", bad), (name, bad))


def harmless(args, text, where):
    bad = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|(?<![\xc2-\xf4\x80-\xbf])[\x80-\xbf]", text)
    if bad:
        around = text[max(bad.start() - 40, 0):bad.end() + 20]
        raise AssertionError(f"penta {' '.join(args)}: {bad[0]!r} on standard {where}: {around!r}")
    check(not re.search(rb"^PWNED", text, re.M), f"penta {' '.join(args)}: a forged line on standard {where}")


BINARY = ("asm", "convert", "seal", "open", "create", "compile", "link", "extract")


def test_no_string_of_a_file_reaches_the_terminal():
    """The tool's own text is checked; what the program itself prints goes to a pipe unchanged."""
    for args, data in invocations():
        if os.path.exists("new.pem"):
            os.remove("new.pem")
        if args[0] in BINARY:
            args = [*args, "-o", "result"]
        if "--map-file" in args:
            args[args.index("--map-file") + 1] = "map.txt"
        done = plain_call(*args, data=data)
        printed = args[:2] == ["run", "p.cvbc"]
        if not printed:
            harmless(args, done.stdout, "output")
        harmless(args, done.stderr, "error")
        if args[0] == "keygen":
            continue
        done = plain_call(*args, data=data, NO_COLOR="", FORCE_COLOR="1")
        for where, text in (("error", done.stderr), ("output", b"" if printed else done.stdout)):
            check(b"\x1b[31mRED" not in text, f"penta {' '.join(args)}: a colour of the file on standard {where}")
            harmless(args, COLOURS.sub(b"", text), where)
    harmless(["link"], open("map.txt", "rb").read(), "map")


def strings_replaced(data):
    """The bytes with every run of letters after the first 16 bytes made hostile; the size stays."""
    hostile = HOSTILE.encode().decode("unicode_escape").encode("latin-1")
    return data[:16] + re.sub(rb"[A-Za-z_.]{3,}", lambda m: (hostile * (len(m[0]) // 8 + 1))[:len(m[0])], data[16:])


def test_no_string_of_a_damaged_file_reaches_the_terminal():
    """The same with hostile strings in the bytes of cases, although checksums become wrong."""
    cases = os.path.join(ROOT, "tests", "cases")
    wanted = [os.path.join(folder, name) for folder, _, names in os.walk(cases) for name in sorted(names)
              if re.search("everything|debug_rows.test|metadata|names|example|source_lines", name)]
    tried = 0
    for path in wanted:
        name = os.path.basename(os.path.dirname(path))
        text = open(path, encoding="utf-8").read()
        section = re.search(r"^-- asm\n(.*?)(?=^-- |\Z)", text, re.M | re.S)
        if not section:
            continue
        write("case.text", section[1])
        if plain_call("asm", "-f", name, "case.text", "-o", "case.bin").returncode:
            continue
        data = open("case.bin", "rb").read()
        write("case.bin", strings_replaced(data))
        os.remove("case.text")
        tried += 1
        for command in ("info", "inspect", "hex", "validate", "dis"):
            done = plain_call(command, "-f", name, "case.bin")
            harmless([command, path], done.stdout, "output")
            harmless([command, path], done.stderr, "error")
        os.remove("case.bin")
    check(tried >= 5, f"only {tried} cases")


def terminal(*args):
    """What a terminal would get."""
    screen = Terminal(PENTA, *args, env={"NO_COLOR": "1"})
    screen.end()
    return screen.text


def test_program_output_is_filtered_on_a_terminal():
    raw = HOSTILE.encode().decode("unicode_escape").encode("latin-1")
    check(raw in plain_call("run", "p.cvbc").stdout, "a pipe gets the bytes")
    on_terminal = terminal("run", "p.cvbc")
    check(b"\x1b" not in on_terminal and b"\\x1b[7m" in on_terminal, on_terminal)
    check("\u202e".encode() not in on_terminal, on_terminal)
    check(b"\x1b[7m" in terminal("run", "p.cvbc", "--raw-output"), "--raw-output")
    write("utf8.cvasm", '.string "gr\\xc3\\xbc\\xc3\\x9fe"\n    PUSH 0\n    PRINTF 0\n    HALT\n')
    made("asm", "utf8.cvasm", "-o", "utf8.cvbc")
    check("gr\u00fc\u00dfe".encode() in terminal("run", "utf8.cvbc"), "letters stay letters")


if __name__ == "__main__":
    sys.exit(main(globals(), prepare))
