#!/usr/bin/env python3
"""The tool never overwrites an input or a key, and never signs over a signature that is wrong or unchecked.

    tests/programs/outputs.py PENTA
"""
import json
import os
import re
import shutil
import struct
import sys
import zlib

from support import ROOT, call, check, main, penta, read, run_program, write


KEYS = os.path.join(ROOT, "tests/keys")
BLOB = bytes.fromhex("05b105b1010000001000000002000000" "01" + "00" * 15 + "08" + "00" * 15)
TASM = ".registers\n    H0: i32[2]\n.program\n    load_input H0\n    store_output H0\n    halt\n"
COIL = "!include \"part.inc\"\n.global main\n.func main\n    RET\n.endfunc\n"


def good(*args, **more):
    done = call(*args, **more)
    check(done.returncode == 0, (args, done))
    return done


def files():
    """Everything in the folder, which a refused command must not have changed."""
    return {os.path.join(at, name): read(os.path.join(at, name))
            for at, _, names in os.walk(".") for name in names if os.path.exists(os.path.join(at, name))}


def refused(*args, says, code=2, data=None):
    before = files()
    done = call(*args, data=data)
    check(done.returncode == code and says in done.stderr.decode(), (args, done))
    check(files() == before, ("changed by", args))
    return done


def material():
    """One file of every kind that a command reads."""
    for name in ("signer.pem", "signer.pub", "p256.pem", "symmetric.hex"):
        shutil.copy(os.path.join(KEYS, name), name)
    write("a.kblob", BLOB)
    write("a.kasm", "HALT\n")
    write("a.cvasm", good("dis", prog()).stdout)
    write("part.inc", "; nothing\n")
    write("a.casm", COIL)
    good("asm", "a.casm", "-o", "a.coil")
    write("a.tasm", TASM)
    good("asm", "a.tasm", "-o", "a.tvmr")


def prog():
    write("p.ino", "void setup() { }\nvoid loop() { }\n")
    good("compile", "p.ino", "--strip", "-o", "p.cvbc")
    return "p.cvbc"


BOTH = "input and output at once"
KEY = "holds a key"


def test_keys_are_never_overwritten():
    refused("pubkey", "signer.pem", "-o", "signer.pem", says=BOTH)
    refused("pubkey", "signer.pem", "-o", "./signer.pem", says=BOTH)
    refused("sign", "p.cvbc", "--sign-key", "signer.pem", "-o", "signer.pem", says=BOTH)
    refused("seal", "p.cvbc", "--key-file", "symmetric.hex", "-o", "symmetric.hex", says=BOTH)
    for name in ("p256.pem", "signer.pub", "symmetric.hex"):  # keys that the command does not read
        refused("pubkey", "p256.pem", "-o", name, says=BOTH if name == "p256.pem" else KEY,
                code=2 if name == "p256.pem" else 4)
        refused("dis", "a.kblob", "-o", name, says=KEY, code=4)
        refused("asm", "a.kasm", "-o", name, says=KEY, code=4)
        refused("run", "a.kblob", "--trace", name, says=KEY, code=4)
        refused("link", "a.coil", "-o", "z.coil", "--map-file", name, says=KEY, code=4)
        refused("run", "a.tvmr", "--input", "1,2", "--output", name, says=KEY, code=4)
        refused("run", "a.tvmr", "--input", "1,2", "--save-weights", name, says=KEY, code=4)
        refused("sign", "p.cvbc", "--public-key", "signer.pub", "--export-tbs", name, "-o", "x.cvbc",
                says=BOTH if name == "signer.pub" else KEY, code=2 if name == "signer.pub" else 4)
        refused("device", "run", os.path.join(ROOT, "examples/gpu/race.gpu"), "--trace", name,
                says="is no trace", code=4)
    write("raw.key", bytes((i * 83 + 41) % 256 for i in range(32)))
    refused("dis", "a.kblob", "-o", "raw.key", says=KEY, code=4)
    write("hex.pub", good("pubkey", "p256.pem", "--form", "raw").stdout)
    refused("dis", "a.kblob", "-o", "hex.pub", says=KEY, code=4)
    good("pubkey", "signer.pem", "-o", "signer.pub")  # it stays as it is
    good("pubkey", "signer.pem", "-o", "fresh.pub")
    os.makedirs("out")
    shutil.copy("p256.pem", "out/trinity.ld")
    done = call("board", "generate", "p.cvbc", "--board", "stm32g431", "-o", "out")
    check(done.returncode == 4 and read("out/trinity.ld") == read("p256.pem"), done)


def test_inputs_are_never_overwritten():
    os.symlink("a.kblob", "link.kblob")
    os.link("a.kblob", "hard.kblob")
    for command in ("inspect", "hex", "trace", "dis"):
        for name in ("a.kblob", "./a.kblob", "link.kblob", "hard.kblob"):
            refused(command, "a.kblob", "-o", name, says=BOTH)
    for command, name in (("asm", "a.kasm"), ("create", "a.cvasm"), ("compile", "p.ino"),
                          ("extract", "p.cvbc"), ("link", "a.coil")):
        refused(command, name, "-o", name, says=BOTH)
    refused("convert", "a.tvmr", "--to", "tvmr", "-o", "a.tvmr", says=BOTH)
    refused("run", "a.kblob", "--trace", "a.kblob", says=BOTH)
    refused("asm", "a.casm", "-o", "part.inc", says=BOTH)
    refused("create", "a.cvasm", "--source", "p.ino", "-o", "p.ino", says=BOTH)
    write("map.bin", b"12345678")
    refused("trace", "a.kblob", "--map", "0x10000:64:rw:map.bin", "-o", "map.bin", says=BOTH)
    refused("run", "a.kblob", "--map", "0x10000:64:rw:map.bin", "--trace", "map.bin", says=BOTH)
    os.makedirs("objects")
    shutil.copy("a.coil", "objects/b.coil")
    refused("link", "objects", "-o", "objects/b.coil", says=BOTH)
    refused("link", "a.coil", "-o", "z.coil", "--map-file", "a.coil", says=BOTH)
    with open("a.kblob", "rb") as file:
        before = files()
        done = penta("dis", "-", "-o", "a.kblob", stdin=file)
        check(done.returncode == 2 and files() == before, done)


def test_machine_files_are_never_overwritten():
    good("run", "a.tvmr", "--input", "1,2", "--save-weights", "w.tvmw", "--output", "out.json")
    write("answers.host", "answer\n")
    for name in ("w.tvmw", "answers.host", "in.json", "a.tvmr"):
        write("in.json", "[[1, 2]]")
        common = ["run", "a.tvmr", "--inputs", "in.json", "--weights", "w.tvmw", "--host", "answers.host"]
        for option in ("--save-weights", "--output", "--trace"):
            refused(*common, option, name, says=BOTH)
    good("run", "a.tvmr", "--input", "1,2", "--store", "store")
    refused("run", "a.tvmr", "--input", "1,2", "--store", "store", "--output", "store/weights-x",
            says="in the store")


TWICE = "is an output twice"
SEVERAL = {  # every command with several outputs, and what it needs besides
    "run": (["a.tvmr", "--input", "1,2"], ("--trace", "--record", "--save", "--save-weights", "--output")),
    "link": (["a.coil"], ("-o", "--map-file")),
    "cover": (["a.kblob"], ("--data", "--lcov", "--html")),
    "graph": (["a.kblob", "--calls"], ("-o", "--svg")),
    "sign": (["p.cvbc", "--public-key", "signer.pub"], ("-o", "--export-tbs")),
}


def test_an_output_is_written_once():
    os.makedirs("deep")
    os.symlink("../new", "deep/link")
    os.symlink("nowhere", "dangling")
    write("there", "an old file")
    os.link("there", "hard")
    pairs = (("new", "new"), ("new", "./new"), ("new", "deep/../new"), ("deep/link", "new"),
             ("dangling", "nowhere"), ("there", "hard"), (os.path.abspath("new"), "new"))
    for command, (words, options) in SEVERAL.items():
        for i, first in enumerate(options):
            for second in options[:i]:
                for a, b in pairs:
                    refused(command, *words, first, a, second, b, says=TWICE)
    refused("run", "a.kblob", "--save", "new", "--record", "new", "--json", says="")
    good("run", "a.tvmr", "--input", "1,2", "--trace", "/dev/null", "--record", "/dev/null")
    good("link", "a.coil", "-o", "one", "--map-file", "two")


def test_nothing_is_written_when_another_output_is_an_input():
    refused("link", "a.coil", "-o", "a.coil", "--map-file", "map", says=BOTH)
    refused("run", "a.kblob", "--save", "snapshot", "--record", "a.kblob", says=BOTH)
    refused("cover", "a.kblob", "--data", "counts", "--lcov", "a.kblob", says=BOTH)
    refused("sign", "p.cvbc", "--public-key", "signer.pub", "--export-tbs", "tbs", "-o", "p.cvbc", says=BOTH)


def test_device_trace_replaces_only_traces():
    script = os.path.join(ROOT, "examples/gpu/race.gpu")
    shutil.copy(script, "race.gpu")
    refused("device", "run", "race.gpu", "--trace", "race.gpu", says="is no trace", code=4)
    first = call("device", "run", "race.gpu", "--trace", "t.jsonl")
    again = call("device", "run", "race.gpu", "--trace", "t.jsonl")
    check(first.returncode == again.returncode == 0, (first, again))


def test_sign_says_where_it_writes():
    refused("sign", "p.cvbc", "--sign-key", "signer.pem", says="--in-place")
    refused("sign", "p.cvbc", "--sign-key", "signer.pem", "-o", "p.cvbc", says=BOTH)
    refused("sign", "p.cvbc", "--sign-key", "signer.pem", "-o", "q.cvbc", "--in-place", says="exclude")
    refused("sign", "-", "--sign-key", "signer.pem", "--in-place", data=read("p.cvbc"),
            says="standard input")
    shutil.copy("p.cvbc", "q.cvbc")
    good("sign", "q.cvbc", "--sign-key", "signer.pem", "--in-place")
    good("verify", "q.cvbc", "--trusted-key", "signer.pub")
    shutil.copy("p.cvbc", "q.cvbc")
    document = json.loads(good("sign", "q.cvbc", "--sign-key", "signer.pem", "--in-place", "--json").stdout)
    check(document["output"] == "q.cvbc", document)
    good("verify", "q.cvbc", "--trusted-key", "signer.pub")


def repair(data):
    """The checksums of a container, so that only what protects it is wrong."""
    data = bytearray(data)
    data[12:16] = struct.pack("<I", zlib.crc32(bytes(data[:12])))
    data[40:44] = struct.pack("<I", zlib.crc32(bytes(data[64:])))
    return bytes(data)


def changed(data, at, bits=1):
    data = bytearray(data)
    data[at] ^= bits
    return repair(data)


def signed(name, *options, key="signer.pem"):
    good("sign", "p.cvbc", "--sign-key", key, "-o", name, *options)
    return read(name)


def places(data):
    """Offsets of the security section and of the stored bytecode."""
    return struct.unpack_from("<I", data, 24)[0], struct.unpack_from("<I", data, 32)[0]


def test_sign_refuses_a_wrong_signature():
    """Neither a changed file nor a broken signature gets a good one by signing again."""
    data = signed("s.cvbc")
    security, code = places(data)
    for name, bad in (("flip.cvbc", changed(data, len(data) - 1)), ("code.cvbc", changed(data, code + 18)),
                      ("sig.cvbc", changed(data, security + 128 + 32 + 5))):
        write(name, bad)
        for target in (["-o", "t.cvbc"], ["--in-place"]):
            done = refused("sign", name, "--sign-key", "p256.pem", *target, says="CVBC0018", code=1)
            check(b"--resign" in done.stderr, done)
        refused("sign", name, "--public-key", "signer.pub", "--export-tbs", "tbs", "-o", "t.cvbc",
                says="CVBC0018", code=1)
        refused("sign", name, "--sign-key", "p256.pem", "--resign", "--require-signature",
                "--trusted-key", "signer.pub", "-o", "t.cvbc", says="CVBC0018", code=1)


def test_sign_refuses_changed_contents():
    """An unsigned file whose digests are not those of its contents."""
    data = read("p.cvbc")
    security, code = places(data)
    metadata = struct.unpack_from("<I", data, 16)[0]
    for name, bad in (("code.cvbc", changed(data, code + 18)), ("meta.cvbc", changed(data, metadata + 40)),
                      ("digest.cvbc", changed(data, security + 20 + 32))):
        write(name, bad)
        refused("sign", name, "--sign-key", "p256.pem", "-o", "t.cvbc", says="CVBC0021", code=1)


def test_sign_refuses_what_it_cannot_check():
    signed("e.cvbc", "--external-key")
    refused("sign", "e.cvbc", "--sign-key", "p256.pem", "-o", "t.cvbc", says="CVBC0017", code=6)
    good("sign", "e.cvbc", "--sign-key", "p256.pem", "--trusted-key", "signer.pub", "-o", "t.cvbc")
    done = good("sign", "e.cvbc", "--sign-key", "p256.pem", "--resign", "-o", "t.cvbc")
    check(b"not checked" in done.stderr, done)


def test_resign_says_what_it_replaces():
    data = signed("s.cvbc")
    security, code = places(data)
    write("b.cvbc", changed(data, code + 18))
    done = good("sign", "b.cvbc", "--sign-key", "p256.pem", "--resign", "-o", "t.cvbc")
    for words in (b"replaced: a wrong ed25519 signature", b"the file names key ",
                  b"replaced: bytecode_sha256 was wrong"):
        check(words in done.stderr, done)
    good("pubkey", "p256.pem", "-o", "p256.pub")
    good("verify", "t.cvbc", "--trusted-key", "p256.pub")
    document = json.loads(good("sign", "b.cvbc", "--sign-key", "p256.pem", "--resign", "--json").stdout)
    check(document["warnings"] == 2 and document["ok"], document)
    metadata = struct.unpack_from("<I", data, 16)[0]
    for bad in (changed(data, metadata + 40), changed(data, security + 20 + 33),
                changed(data, security + 20 + 97), changed(data, security + 128 + 32 + 5)):
        write("b.cvbc", bad)
        check(b"replaced: " in good("sign", "b.cvbc", "--sign-key", "p256.pem", "--resign", "-o", "t.cvbc").stderr,
              "says nothing")
        good("verify", "t.cvbc", "--trusted-key", "p256.pub")
    silent = good("sign", "s.cvbc", "--sign-key", "p256.pem", "--resign", "-o", "t.cvbc")
    check(not silent.stderr, silent)
    for how in (["create", "p.ino", "--compress", "--strip"],
                ["create", "p.ino", "--strip", "--key-file", "symmetric.hex"]):
        good(*how, "--sign-key", "signer.pem", "-o", "c.cvbc")
        body = read("c.cvbc")
        write("b.cvbc", changed(body, places(body)[0] + 128 + 32 + 5))
        good("sign", "b.cvbc", "--sign-key", "p256.pem", "--resign", "-o", "t.cvbc")
        good("verify", "t.cvbc", "--trusted-key", "p256.pub",
             *(["--key-file", "symmetric.hex"] if "--key-file" in how else []))


def test_required_signatures_are_required():
    """sign, --export-tbs, board and extract honour it like every other command."""
    signed("mine.cvbc")
    signed("theirs.cvbc", key="p256.pem")
    write("bad.cvbc", changed(read("mine.cvbc"), len(read("mine.cvbc")) - 1))
    ask = ["--require-signature", "--trusted-key", "signer.pub"]
    commands = (["sign", "--sign-key", "p256.pem", "-o", "t1"],
                ["sign", "--public-key", "signer.pub", "--export-tbs", "t2", "-o", "t3"],
                ["extract", "--part", "metadata", "-o", "t4"],
                ["board", "check", "--board", "stm32g431"],
                ["board", "generate", "--board", "stm32g431", "-o", "t5"])
    for command in commands:
        for name in ("p.cvbc", "theirs.cvbc", "bad.cvbc"):
            done = refused(*command, name, *ask, says="error[CVBC", code=1)
            check(b"CVBC0023" not in done.stderr, done)
    refused("board", "check", "--board", "stm32g431", "bad.cvbc", says="CVBC0018", code=1)
    for command in commands:
        done = call(*command, "mine.cvbc", *ask)
        check(b"CVBC0018" not in done.stderr and b"CVBC0016" not in done.stderr, done)
        check(done.returncode == 0 or command[0] == "board", done)


def test_every_verb_obeys_a_required_signature():
    """A file whose signature is missing, wrong or of an unknown key gives nothing but the reason."""
    signed("mine.cvbc")
    signed("theirs.cvbc", key="p256.pem")
    data = read("mine.cvbc")
    write("bad.cvbc", changed(data, places(data)[0] + 128 + 32 + 5))
    ask = ["--require-signature", "--trusted-key", "signer.pub"]
    commands = {"run": ["--fuel", "3"], "trace": [], "debug": [], "gdbserver": [], "profile": [], "cover": [], "info": [],
                "inspect": [], "hex": [], "dis": [], "roundtrip": [], "size": [], "graph": ["--calls"], "report": [],
                "explore": ["--no-open", "-o", "page"], "seal": ["--key-file", "symmetric.hex"], "open": [],
                "sign": ["--sign-key", "p256.pem", "-o", "t1"], "extract": ["-o", "t2"], "validate": [], "verify": [],
                "edit": ["--set", "/header/build_number=1", "-o", "t6"], "board": None, "diff": None}
    taking = [command for command in re.findall(r"^  ([a-z]+) ", good("help").stdout.decode(), re.M)
              if "--require-signature" in good(command, "--help").stdout.decode()]
    check(set(taking) == set(commands), set(taking) ^ set(commands))
    for name in ("p.cvbc", "theirs.cvbc", "bad.cvbc"):
        for command, options in commands.items():
            words = [command, *(options or []), name]
            if options is None:
                words = ["board", "check", "--board", "stm32g431", name] if command == "board" else ["diff", "mine.cvbc", name]
            done = refused(*words, *ask, says="error[CVBC00", code=1)
            check(not done.stdout or command in ("verify", "validate"), done)
            refused("dis", name, *ask, "--json", "-o", "t3", says="", code=1)
    for command in ("dis", "info", "inspect", "hex", "roundtrip", "size", "report"):
        good(command, "mine.cvbc", *ask)


def test_attach_refuses_a_signature_that_does_not_fit():
    good("sign", "p.cvbc", "--public-key", "signer.pub", "--export-tbs", "tbs", "-o", "slot.cvbc")
    run_program("openssl", "pkeyutl", "-sign", "-inkey", "signer.pem", "-rawin", "-in", "tbs", "-out", "sig", needed=True)
    write("bad", changed(read("sig") + bytes(64), 3)[:64])
    refused("sign", "slot.cvbc", "--attach-sig", "bad", "-o", "t.cvbc", says="CVBC0018", code=1)
    good("sign", "slot.cvbc", "--attach-sig", "sig", "-o", "t.cvbc", "--require-signature", "--trusted-key",
         "signer.pub")
    good("pubkey", "p256.pem", "-o", "p256.pub")
    refused("sign", "slot.cvbc", "--attach-sig", "sig", "--require-signature", "--trusted-key", "p256.pub",
            says="untrusted", code=1)
    good("sign", "slot.cvbc", "--attach-sig", "sig")  # in place
    good("verify", "slot.cvbc", "--trusted-key", "signer.pub")


if __name__ == "__main__":
    sys.exit(main(globals(), material))
