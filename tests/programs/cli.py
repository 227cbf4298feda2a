#!/usr/bin/env python3
"""How the command line behaves: exit codes, streams, bad files, pipes, signals, help.

    tests/programs/cli.py PENTA
"""
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import zlib

import waiting
from support import EDITS_LINES, PENTA, SANITIZED, Terminal, call, check, document, exits, has_command, main, penta, run_program, write

BLOB = bytes.fromhex("05b105b1010000001000000002000000" "01" + "00" * 15 + "08" + "00" * 15)


def good(done):
    check(b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr.decode())


def test_bad_files():
    """Empty, noise, folder, missing: a clear message and the promised exit code."""
    open("empty", "wb").close()
    open("noise", "wb").write(bytes((i * 7919 + 13) % 251 for i in range(5000)))
    os.mkdir("folder")
    readers = ["info", "inspect", "hex", "validate", "dis", "roundtrip", "run", "trace", "debug"]
    for command in readers:
        for name, code in (("empty", 3), ("noise", 3), ("folder", 4), ("missing", 4)):
            done = exits(code, command, name)
            check(b"error[PENTA" in done.stderr and not done.stdout, (command, name, done))
            document = json.loads(exits(code, command, name, "--json").stdout)
            check(document["ok"] is False and document["diagnostics"], document)
    for command in readers:
        exits(2, command)
    exits(3, "validate", "--format", "kblob", "empty")
    open("empty.ino", "wb").close()
    open("empty.casm", "wb").close()
    for args in (["compile", "empty"], ["compile", "empty.ino"], ["compile", "empty.casm"], ["compile", "-f", "cvbc", "empty"], ["link", "empty"]):
        check(b"the file is empty" in exits(3, *args, "-o", "never").stderr and not os.path.exists("never"), args)
    open("text.coil.casm", "w").write(".func main\nRET\n.endfunc\n")
    exits(0, "asm", "text.coil.casm", "-o", "some.coil")
    for args in (["train"], ["sign"], ["sign", "--in-place"], ["verify"], ["board", "check", "--board", "host"]):
        for name, format in (("some.coil", b"coil"), ("good.kblob", b"kblob")):
            done = exits(2, *args, name)
            check(b"[PENTA0010]: penta " + args[0].encode() + b" is not for " + format + b" files" in done.stderr, (args, done.stderr))
    check(b"compile is not for kblob files" in exits(2, "compile", "good.kblob", "-o", "never").stderr, "compile")
    for switch in ("--folded", "--host-log", "--raw-output"):
        done = exits(2, "profile" if switch == "--folded" else "run", "good.kblob", switch, "out")
        check(f"{switch} takes no file 'out'".encode() in done.stderr, done.stderr)
    check(b"take no arguments: 'out'" in exits(2, "run", "good.kblob", "--host-log", "--", "out").stderr, "after -- it is the program's")
    exits(1, "validate", "--format", "kblob", "noise")
    exits(5, "dis", "--format", "kblob", "noise")
    exits(2, "validate", "--format", "nonsense", "good.kblob")
    exits(4, "validate", "good.kblob", "missing", "noise")
    exits(4, "asm", "missing.kasm")
    exits(3, "asm", "noise")


def test_limits():
    """Huge inputs end with a limit, in bounded memory and time."""
    with open("sparse", "wb") as out:
        out.truncate(3 << 30)
    for command in ("validate", "info", "detect"):
        check(penta(command, "sparse", seconds=5).returncode == 7, command + " of a sparse file")
    exits(7, "validate", "--max-input", "64M", "/dev/zero")
    exits(7, "validate", "--max-input", "10", "good.kblob")
    exits(7, "validate", "--max-input", "10", "-", data=BLOB)
    if not SANITIZED:
        def bounded():
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        done = penta("validate", "/dev/zero", preexec_fn=bounded)
        check(done.returncode in (3, 7), done)
    exits(2, "validate", "--max-input", "lots", "good.kblob")
    done = exits(7, "validate", "--max-input", "10", "good.kblob")
    check(b"note: --max-input raises the limit" in done.stderr, done)


def test_option_names():
    """The library names options by their key, the tool by what is typed: in text, JSON and explain."""
    text = exits(0, "explain", "PENTA0006").stdout
    check(b"The option '--format' says" in text, text)
    rule = json.loads(exits(0, "explain", "PENTA0006", "--json").stdout)["rules"][0]
    check("The option '--format' says" in rule["explanation"], rule)
    document = json.loads(exits(2, "info", "good.kblob", "--max-instructions", "x", "--json").stdout)
    check(document["diagnostics"][0]["message"].startswith("option '--max-instructions'"), document)


def test_streams():
    """- is standard input and output; results on stdout, the rest on stderr."""
    check(b"instructions" in exits(0, "info", "-", data=BLOB).stdout, "info -")
    exits(0, "validate", "-", data=BLOB)
    text = exits(0, "dis", "good.kblob").stdout
    check(exits(0, "asm", "-", "--format", "kblob", "-o", "-", data=text).stdout == BLOB, "asm -")
    exits(0, "asm", "-f", "kblob", "-", "-o", "out.kblob", data=text)
    check(open("out.kblob", "rb").read() == BLOB, "asm -o")
    done = exits(1, "asm", "-f", "kblob", "-", "-o", "never.kblob", data=b"FOO\n")
    check(not os.path.exists("never.kblob") and not done.stdout, "a failed asm writes nothing")
    open("same.kasm", "wb").write(text)
    exits(2, "asm", "same.kasm", "-o", "same.kasm")
    exits(2, "asm", "same.kasm", "-o", "./same.kasm")
    check(open("same.kasm", "rb").read() == text, "the input is untouched")
    exits(4, "asm", "same.kasm", "-o", "nowhere/out.kblob")
    exits(0, "asm", "same.kasm", "-o", "/dev/null")
    check([n for n in os.listdir(".") if ".kblob." in n] == [], "no temporary file stays")


KEYS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "keys")


def check_seal(secret):
    """In a file that is sealed and not signed, whoever mends the checksums can change what has "nothing", and nothing
    that has "cipher"; so the fields that are told as bare are just those that need a signature."""
    exits(0, "seal", "c.cvbc", "--key-file", secret, "-o", "sealed.cvbc")
    exits(0, "validate", "sealed.cvbc", "--key-file", secret)
    whole = open("sealed.cvbc", "rb").read()
    changeable = set()
    for line in exits(0, "hex", "--coverage", "sealed.cvbc").stdout.decode().splitlines():
        row = re.match(r"([0-9a-f]{8})  (?:[0-9a-f]{2} )+ *\[([^]]*)\] (\w+)", line)
        if not row:
            continue
        at, data = int(row[1], 16), bytearray(whole)
        data[at] ^= 16 if row[3] == "flags" else 1
        security = int.from_bytes(data[24:28], "little")
        digests = security + 20, security + 116
        data[security + 116:security + 120] = hashlib.sha256(bytes(data[slice(*digests)])).digest()[:4] \
            if row[3] == "source_sha256" else data[security + 116:security + 120]
        data[12:16] = zlib.crc32(bytes(data[:12])).to_bytes(4, "little")
        data[40:44] = zlib.crc32(bytes(data[64:])).to_bytes(4, "little")
        open("flipped", "wb").write(data)
        good = data != whole and call("validate", "--format", "cvbc", "flipped", "--key-file", secret).returncode == 0
        check(not (good and "cipher" in row[2]), line)
        if good:
            check("nothing" in row[2], line)
            changeable.add(row[3])
    check(changeable == {"format_version_minor", "compilation_timestamp", "build_number", "flags", "secure_timestamp",
                         "source_sha256"}, changeable)


def test_protected_bytes():
    """What hex --coverage calls protected cannot change unseen; the whole file is told."""
    write("c.kasm", "NOP\nHALT\n")
    write("c.tasm", ".registers\nH0: i32[2]\n.program\nload_input H0\nstore_output H0\nhalt\n")
    write("c.cvasm", "push 1\nhalt\n")
    secret = os.path.join(KEYS, "symmetric.hex")
    exits(0, "asm", "c.kasm", "--trailer", "-o", "c.kblob")
    exits(0, "asm", "c.tasm", "--metadata", "-o", "c.tvmr")
    exits(0, "seal", "c.tvmr", "--key-file", secret, "-o", "sealed.tvmr")
    exits(0, "asm", "c.cvasm", "-o", "c.cvbc")
    for name, options in (("c.kblob", ["--trailer"]), ("c.tvmr", []), ("sealed.tvmr", ["--key-file", secret]),
                          ("c.cvbc", [])):
        exits(0, "validate", name, *options)
        whole, told, tried = open(name, "rb").read(), set(), 0
        for line in exits(0, "hex", "--coverage", name).stdout.decode().splitlines():
            row = re.match(r"([0-9a-f]{8})  ((?:[0-9a-f]{2} )+) *\[([^]:]*)", line)
            if not row: # a heading, or the expanded bytes of a sealed file
                continue
            at, size, by = int(row[1], 16), len(row[2]) // 3, row[3]
            told.update(range(at, at + size))
            if by == "nothing":
                continue
            tried += 1
            write("flipped", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            done = call("validate", "--format", name.split(".")[1], "flipped", *options)
            check(done.returncode != 0, (name, at, by, done))
        check(told >= set(range(len(whole))) and tried > 3, (name, len(told), tried))
    write("c.casm", ".global main\nmain:\nRET\n")
    exits(0, "asm", "c.casm", "-o", "c.coil")
    check_seal(secret)
    check(b"nothing that protects" in call("hex", "--coverage", "c.coil").stderr, "coil has no checksum")


def test_json_with_output_writes_the_file():
    """--json changes how a command reports, not what it writes."""
    write("p.casm", ".global main\nmain:\nRET\n")
    write("p.cvasm", "halt\n")
    write("p.ino", "void setup() {}\nvoid loop() {}\n")
    exits(0, "asm", "p.casm", "-o", "p.coil")
    exits(0, "asm", "p.cvasm", "-o", "p.cvbc")
    key, secret = os.path.join(KEYS, "signer.pem"), os.path.join(KEYS, "symmetric.hex")
    for args in (["asm", "p.casm"], ["dis", "p.coil"], ["link", "p.coil"], ["compile", "p.ino"],
                 ["convert", "p.coil", "--endian", "big"], ["create", "p.cvasm"],
                 ["sign", "p.cvbc", "--sign-key", key], ["extract", "p.cvbc"], ["pubkey", key],
                 ["seal", "p.cvbc", "--key-file", secret, "--sign-key", key]):
        exits(0, *args, "-o", "plain")
        told = document(exits(0, *args, "-o", "told", "--json").stdout)
        check(told["output"] == "told" and told["size"] == os.path.getsize("told"), told)
        check("bytes" not in told and "text" not in told, told)
        same = open("plain", "rb").read() == open("told", "rb").read()
        check(same or args[0] == "seal", args)   # a sealed file has a random nonce
        os.remove("told")
        os.remove("plain")
    for args in (["inspect", "p.coil"], ["hex", "p.coil"], ["trace", "good.kblob"]):
        done = exits(0, *args, "-o", "told", "--json")   # the document itself is the result
        check(not done.stdout and document(open("told", "rb").read())["ok"], done)
        os.remove("told")
        check(document(exits(4, args[0], "missing", "-o", "told", "--json").stdout)["exit"] == 4, args)
        check(not os.path.exists("told"), args)
    failed = document(exits(4, "asm", "p.casm", "-o", "nowhere/out", "--json").stdout)
    check(not failed["ok"] and "output" not in failed and failed["diagnostics"], failed)


def test_closed_pipe():
    """| head -1: no noise, no garbage, exit 0."""
    big = BLOB[:12] + (100000).to_bytes(4, "little") + (BLOB[16:32]) * 100000
    open("big.kblob", "wb").write(big)
    for args in (["inspect", "--json"], ["inspect"], ["hex"], ["dis"], ["trace"]):
        line = f"set -o pipefail; {PENTA} {' '.join(args)} big.kblob | head -1"
        done = run_program("bash", "-c", line)
        check(not done.stderr and done.returncode == 0, (args, done.stderr, done.returncode))
        check(done.stdout.count(b"\n") <= 1, args)
    changed = bytearray(big)
    for i in range(16, len(changed), 32):
        changed[i] = 8
    open("changed.kblob", "wb").write(changed)
    done = run_program("bash", "-c", f"{PENTA} diff big.kblob changed.kblob | head -1")
    check(not done.stderr and done.stdout.startswith(b"~ /code/insn[0]"), done)
    full = run_program("bash", "-c", f"{PENTA} inspect big.kblob > /dev/full")
    check(full.returncode == 4 and b"No space" in full.stderr, full)


def test_colour():
    plain = exits(0, "inspect", "good.kblob").stdout
    check(b"\033" not in plain, "no colour into a pipe")
    check(b"\033[" in exits(0, "inspect", "--color=always", "good.kblob").stdout, "always")
    check(b"\033[" in exits(0, "hex", "--color", "always", "good.kblob").stdout, "always")
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        check(b"\033[" in exits(0, "inspect", "good.kblob", env={name: "1"}).stdout, name)
        check(b"\033" not in exits(0, "inspect", "good.kblob", env={name: "0"}).stdout, name)
        check(b"\033" not in exits(0, "inspect", "good.kblob", env={name: "1", "NO_COLOR": "1"}).stdout, name)
    script = f"TERM=xterm script -qec '{PENTA} hex good.kblob' /dev/null"
    if has_command("script"):
        on = run_program("sh", "-c", script, env={k: v for k, v in os.environ.items() if k != "NO_COLOR"})
        check(b"\033[" in on.stdout, "colour on a terminal")
        off = run_program("sh", "-c", "NO_COLOR=1 " + script)
        check(b"\033[" not in off.stdout, "NO_COLOR")


def test_hostile_names():
    """Control characters of file names and sources never reach the terminal."""
    name = "evil\033[31m\u202e.kblob"
    open(name, "wb").write(BLOB[:40])
    done = exits(1, "validate", name)
    check(b"\033" not in done.stderr and "\u202e".encode() not in done.stderr, done.stderr)
    open("evil.kasm", "wb").write(b"\033[31mFOO\n")
    done = exits(1, "asm", "evil.kasm")
    check(b"\033" not in done.stderr, done.stderr)


def test_words():
    check(b"did you mean 'penta inspect'" in exits(2, "inspct", "x").stderr, "command")
    check(b"did you mean '--select'" in exits(2, "inspect", "--selct", "x", "good.kblob").stderr, "")
    check(b"takes no value" in exits(2, "info", "--quiet=1", "good.kblob").stderr, "a switch")
    check(b"did you mean 'BAD_OPCODE'" in exits(2, "explain", "BAD_OPCOD").stderr, "explain")
    exits(2, "hex", "a", "b")
    exits(2, "diff", "a")
    exits(2, "run", "good.kblob", "--fuel", "many")
    exits(2, "run", "good.kblob", "--engine", "warp")
    exits(2, "run", "good.kblob", "--map", "nonsense")
    exits(2, "run", "good.kblob", "--map", "0x1000:16", "--map", "0x1008:16")
    exits(2, "run", "good.kblob", "--fuel")
    exits(2, "inspect", "good.kblob", "--select", "/nothing")
    check(b"insn" in exits(0, "inspect", "good.kblob", "--select", "/code/insn[1]").stdout, "")
    write("named.kasm", ".name data, 0x10000, 64\nstart: MOV r1, data\nHALT\n")
    exits(0, "asm", "-g", "named.kasm", "-o", "named.kblob")
    named = exits(0, "inspect", "named.kblob").stdout
    check(b"text = start" in named and b"text = data" in named and b"source = named.kasm" in named, "names of symbols")
    exits(0, "info", "--", "good.kblob")
    exits(0, "--color", "never", "info", "good.kblob")
    check(exits(0, "validate", "-q", "good.kblob").stdout == b"", "-q")


def commands():
    text = exits(0, "help").stdout.decode()
    return re.findall(r"^  ([a-z]+) ", text, re.M)


def test_help():
    check(exits(0).stdout == exits(0, "--help").stdout == exits(0, "help").stdout, "overview")
    check(exits(0, "--version").stdout == exits(0, "version").stdout, "version")
    for command in commands():
        brief = exits(0, command, "-h").stdout.decode()
        check(brief.count("\n") <= 24 and "example:" in brief, f"{command} -h\n{brief}")
        full = exits(0, command, "--help").stdout
        check(full == exits(0, "help", command).stdout, command)
        man = exits(0, "help", command, "--man").stdout
        check(man.startswith(b".TH PENTA-"), command)
        check(b".SH ENVIRONMENT" in man and man.split(b".SH EXIT STATUS")[1].count(b".B ") >= 16, command)
        json.loads(exits(0, "help", command, "--json").stdout)
        lint = run_program("mandoc", "-Tlint", "-Werror", data=man) \
            if has_command("mandoc") \
            else None
        check(lint is None or lint.returncode == 0, lint and lint.stdout.decode())
    exits(2, "help", "nonsense")
    for shell in ("bash", "zsh", "fish"):
        text = exits(0, "completion", shell).stdout.decode()
        for command in commands():
            check(command in text, (shell, command))
    script = exits(0, "completion", "bash").stdout
    check(run_program("bash", "-n", data=script).returncode == 0, "bash -n")
    words = run_program("bash", "-c", script.decode() + "\nCOMP_WORDS=(penta va); COMP_CWORD=1; _penta; echo ${COMPREPLY[@]}").stdout
    check(words.strip() == b"validate", words)
    exits(2, "completion", "tcsh")


def test_help_shows_what_applies():
    """With a format, by name, by file or by suffix: its options and no other's."""
    write("p.tasm", ".program\n    halt\n")
    every = exits(0, "help", "run").stdout.decode()
    check("what port 1 reads" in every and "input buffer of one run" in every, "--input, for each format")
    one = exits(0, "help", "run", "tvmr").stdout.decode()
    check("--seed-chem" in one and "--spi-args" not in one and "what port 1 reads" not in one, one)
    check(exits(0, "run", "-f", "tvmr", "--help").stdout.decode() == one, "-f")
    check(exits(0, "run", "p.tasm", "--help").stdout.decode() == one, "a suffix")
    brief = exits(0, "run", "good.kblob", "-h").stdout.decode()
    check("--map" in brief and "--board" not in brief, brief)
    exits(2, "help", "run", "nonsense")


def test_formats_explain_their_letters():
    """The list of instructions has a heading, and says what the letters in it mean."""
    for name, word in (("tvmr", "d destination register"), ("coil", "R read"), ("cvbc", "words left")):
        text = exits(0, "formats", name, "--instructions").stdout.decode()
        check(word in text and "meaning" in text, text[:600])
    for name in ("kblob", "pvm"):
        lines = exits(0, "formats", name, "--instructions").stdout.decode().splitlines()
        check(re.match(r"  \w+ +\w+", lines[2]), lines[2])


def test_explain():
    listing = exits(0, "explain").stdout.decode().splitlines()
    for line in listing:
        code, name = line.split()[:2]
        text = exits(0, "explain", code).stdout.decode()
        check(name in text and len(text) > 60, text)
    document = json.loads(exits(0, "explain", "--json").stdout)
    check(len(document["rules"]) == len(listing), "rules")
    check(exits(0, "explain", "KBLOB0009").stdout in exits(0, "explain", "bad_opcode").stdout, "name")


def test_run_stops():
    program = b"".join([BLOB[:12], (3).to_bytes(4, "little"), BLOB[16:32] * 2, BLOB[32:]])
    open("three.kblob", "wb").write(program)
    check(b"fuel pc=2 steps=2" in exits(24, "run", "three.kblob", "--fuel", "2").stdout, "fuel")
    exits(0, "run", "three.kblob", "--fuel", "3")
    exits(24, "run", "three.kblob", "--fuel", "0")
    open("trap.kasm", "wb").write(b"WRITE8 0, 1\n")
    exits(0, "asm", "trap.kasm", "-o", "trap.kblob")
    for command, where in (("run", "stdout"), ("trace", "stdout"), ("profile", "stderr"), ("cover", "stderr")):
        for quiet in ([], ["-q"]):
            done = exits(20, command, *quiet, "trap.kblob")
            check(b"trap " in getattr(done, where) and b" pc=0" in getattr(done, where), (command, quiet, done))
        document = json.loads(exits(20, command, "trap.kblob", "--json").stdout)
        check(document["stop"] == "trap" and document["exit"] == 20 and "guest_exit" not in document, document)
    exits(5, "run", "--format", "kblob", "noise")
    exits(5, "run", "--format", "kblob", "cut.kblob")
    exits(1, "run", "invalid.kblob")
    lines = open_trace("run", "three.kblob", "--trace", "t.jsonl")
    check([json.loads(line)["pc"] for line in lines] == [0, 1, 2], lines)
    tail = exits(0, "trace", "three.kblob", "--last", "1").stdout.decode()
    check("HALT" in tail and "NOP" not in tail, tail)
    check(b"HALT" not in exits(0, "trace", "three.kblob", "--match", "NOP").stdout, "match")
    check(exits(0, "trace", "-q", "three.kblob", "--from", "1", "--count", "1").stdout.count(b"\n") == 1, "")
    open("in.hex", "w").write("01 02 03 04\n05060708")
    open("in.bin", "wb").write(b"\x09\x08")
    open("read.kasm", "wb").write(b"READ64 0x1000\nREAD8 0x2001\n")
    exits(0, "asm", "read.kasm", "-o", "read.kblob")
    done = exits(0, "run", "read.kblob", "--map", "0x1000:8:ro:hex=in.hex", "--map", "0x2000:4:in.bin",
                 "--json")
    check(json.loads(done.stdout)["registers"]["last_read"] == "0x8", done.stdout)
    exits(4, "run", "read.kblob", "--map", "0x1000:8:nofile")


def open_trace(*args):
    exits(0, *args)
    return open(args[-1]).read().splitlines()


def slow_program():
    """About 2^20 MEMSETs of 64 MiB: hours, so only an interrupt or deadline ends it."""
    count = 100000
    insn = bytes([6, 0, 0, 0]) + (0x10000).to_bytes(8, "little") + (64 << 20).to_bytes(4, "little")
    open("slow.kblob", "wb").write(BLOB[:12] + count.to_bytes(4, "little") + insn * count)


def test_run_takes_assembly_text():
    """run, trace and debug assemble what has the suffix of a text; others name the command that can."""
    write("p.casm", ".global main\n.func main\n    RET\n.endfunc\n")
    check(exits(0, "run", "p.casm").stdout.startswith(b"halt"), "run")
    check(document(exits(0, "run", "p.casm", "--json").stdout)["stop"] == "halt", "json")
    exits(0, "trace", "p.casm")
    exits(0, "debug", "p.casm", data=b"step\n")
    write("p.kasm", "WRITE8 0x10000, 1\n")
    exits(0, "run", "p.kasm", "--map", "0x10000:16")
    write("bad.casm", ".func main\n    FOO\n")
    check(b"bad.casm:2:" in exits(1, "run", "bad.casm").stderr, "line and column")
    check(not document(exits(1, "run", "bad.casm", "--json").stdout)["ok"], "json")
    for command in ("info", "validate", "dis"):
        check(b"penta asm p.casm -o FILE" in exits(3, command, "p.casm").stderr, command)
    write("p.ino", "void loop() {}\n")
    check(b"penta compile p.ino" in exits(3, "run", "p.ino").stderr, "compile")


def test_fault_at_the_arguments_names_the_option():
    write("add.pvmasm", "%dialect = jam\n%isa = jam_v1\n@main:\n    a2 = u8 [a0 + 0]\n    ret\n")
    exits(0, "asm", "add.pvmasm", "-o", "add.jam")
    done = exits(22, "run", "add.jam")
    check(b"--spi-args" in done.stderr, done)
    check("--spi-args" in document(exits(22, "run", "add.jam", "--json").stdout)["hint"], "json")


def test_a_dialect_chooses_the_format():
    """Bytes that no format recognises are a PolkaVM program when a dialect is named; an empty file stays empty."""
    open("odd.doc", "wb").write(bytes.fromhex("01000000010000000101000001ff0a00"))
    exits(3, "validate", "odd.doc")
    check(b"PVM0021" in exits(1, "validate", "--dialect", "doc", "odd.doc").stderr, "validate")
    exits(5, "dis", "--dialect", "jam", "--json", "odd.doc")
    exits(3, "info", "--dialect", "doc", "-", data=b"")
    check(exits(0, "asm", "--dialect", "doc", "--isa", "latest64", "-", data=b"trap\n").stdout == bytes.fromhex("01000000010000000101"), "asm")


def test_info_has_the_memory_map():
    write("map.pvmasm", "%isa = latest64\n%stack_size = 8192\n%ro_data_size = 70000\n%rw_data_size = 100\ntrap\n")
    exits(0, "asm", "map.pvmasm", "-o", "map.polkavm")
    text = exits(0, "info", "map.polkavm").stdout.decode().split()
    for words in ("ro_data 0x10000..0x22000 r", "rw_data 0x40000..0x41000 rw", "heap 0x40064..0xfffc0000 rw,",
                  "stack 0xfffde000..0xfffe0000 rw"):
        check(words in " ".join(text), (words, text))


def test_run_shows_a_screen_of_memory():
    """Many changed places: the first ones, and how many more where; all when asked for."""
    lines = [f"WRITE8 0x10000+{16 * i}, 1" for i in range(1000)] + ["WRITE8 0x90000, 7"]
    write("many.kasm", "\n".join(lines) + "\n")
    exits(0, "asm", "many.kasm", "-o", "many.kblob")
    memory = ["--map", "0x10000:64K", "--map", "0x90000:16"]
    text = exits(0, "run", "many.kblob", *memory).stdout.decode()
    check(text.count("\n") < 40 and text.count("address") == 8, text)
    check("0x10080 to 0x13e71  992 bytes in 992 runs" in text, text)
    check("0x90000 to 0x90001  1 byte in 1 run" in text, text)
    full = exits(0, "run", "many.kblob", *memory, "--show-memory").stdout.decode()
    check(full.count("address") == 1001, full[:500])
    check(len(document(exits(0, "run", "many.kblob", *memory, "--json").stdout)["memory"]) == 1001, "")


def ended_while_running(command):
    """The deadline counts from the start of the process: on a busy machine a short one may pass before the program runs."""
    for seconds in ("0.1", "1", "10", "60"):
        done = exits(25, command, "slow.kblob", "--map", "0x10000:64M", "--timeout", seconds)
        if b"could run" not in done.stdout + done.stderr:
            break
    return done


def test_interrupts():
    slow_program()
    done = ended_while_running("run")
    check(done.stdout.startswith(b"deadline pc=") and b"interrupt" not in done.stdout, done.stdout)
    for command, members in (("run", "stop"), ("trace", "stop"), ("profile", "stop"), ("cover", "stop")):
        done = exits(25, command, "slow.kblob", "--map", "0x10000:64M", "--timeout", "0.1", "--json", *(["--last", "1"] if command == "trace" else []))
        check(json.loads(done.stdout)[members] == "deadline", done.stdout[-300:])
    done = ended_while_running("profile")
    check(b"penta: deadline pc=" in done.stderr, done.stderr)
    exits(2, "run", "slow.kblob", "--timeout", "soon")
    for command, member in (("run", "stop"), ("trace", "stop"), ("profile", "stop"), ("cover", "stop"), ("train", "ended")):
        words = [PENTA, command, "-", "--timeout", "0.05", "--json"]  # waits for a file that does not come
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waits:
            check(waits.wait(timeout=60) == 25, (words, waits.returncode))
            check(json.loads(waits.stdout.read()) == {"schema": f"penta.{command}/1", member: "deadline", "ok": False, "exit": 25}, words)
    process = subprocess.Popen([PENTA, "run", "slow.kblob", "--map", "0x10000:64M"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waiting.handler_set(process, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    check(process.returncode == 130 and b"interrupt pc=" in out and b"executed" in out,
          (process.returncode, out))


def test_debug():
    """Any walk forwards and backwards ends in the state that a new run has."""
    lines = [f"WRITE8 0x10000+{i % 64}, {i % 251}" if i % 3 else f"SLEEP {i % 7}" for i in range(2000)]
    open("walk.kasm", "w").write("\n".join(lines) + "\n")
    exits(0, "asm", "walk.kasm", "-o", "walk.kblob")
    memory = ["--map", "0x10000:64"]

    def state(script):
        out = exits(0, "debug", "walk.kblob", *memory, data=(script + "registers\nquit\n").encode())
        return out.stdout.decode().split("\n", script.count("\n") + 1)[-1]

    for target in (0, 1, 255, 256, 257, 1000, 1999):
        fresh = state(f"goto {target}\n")
        check(f"executed           {target}" in fresh, fresh)
        check(fresh == state(f"goto 1999\ngoto 3\ngoto {target}\n"), target)
        check(fresh == state(f"step {target + 1}\nback\n"), target)
    out = exits(0, "debug", "walk.kblob", *memory,
                data=b"break 100\ncontinue\nback 2\ncontinue\ndelete\nc\nb\nback 5000\nfoo\nm 0x10000 8\n"
                     b"mem 1\nlist\nhelp\n")
    text = out.stdout.decode()
    check(text.count("break pc=100 steps=100") == 2 and "halt pc=2000 steps=2000" in text, text)
    check("unknown command 'foo'" in text and "nothing is mapped" in text, text)
    out = exits(0, "debug", "walk.kblob", *memory,
                data=b"watch 0x10000:4\nwatch zzz\nc\nc\ndelete\nwatch /executed=7\nc\ndelete /executed=7\nwatch\nc\n")
    text = out.stdout.decode()
    check("changed: 0x10000:4\nstep 2 " in text and "no register, variable or symbol is called 'zzz'" in text, text)
    check("changed: 0x10000:4\nstep 3 " in text and "changed: /executed=7\nstep 7 " in text, text)
    check(text.count("watch 2 on /executed=7\n") == 1 and text.endswith("halt pc=2000 steps=2000\nstep 2000  pc 2000  (end)\n"), text)
    document = json.loads(exits(0, "debug", "--json", "walk.kblob", *memory, data=b"step 5\n").stdout)
    check(document["steps"] == 5, document)
    negative, missing = "a number of times, or of steps, is not negative", "a value is missing at the end"
    for line, answer in (("step -1", negative), ("goto -1", negative), ("continue -2", negative), ("goto", "goto STEP"),
                         ("until", "until PLACE"), ("last-write", "last-write WHAT"), ("print 2 +", missing),
                         ("break 5 if", missing), ("print 1/0", "a division by zero")):
        text = exits(0, "debug", "walk.kblob", *memory, data=f"{line}\nwhere\n".encode()).stdout.decode()
        check(text.splitlines()[1:] == [answer, text.splitlines()[0]], f"{line}: {text}")


def test_info_of_encrypted_file():
    """Without its key nothing is said about what is inside."""
    for name, text in (("relu.tasm", ".program\n    halt\n"), ("k.hex", "11" * 32 + "\n")):
        write(name, text)
    exits(0, "asm", "relu.tasm", "-o", "plain.tvmr")
    exits(0, "seal", "plain.tvmr", "--key-file", "k.hex", "-o", "sealed.tvmr")
    text = exits(6, "info", "sealed.tvmr").stdout
    check(b"the key is needed" in text and b"instructions" not in text and b"checksum" not in text, text)
    check(b"instructions" in exits(0, "info", "sealed.tvmr", "--key-file", "k.hex").stdout, "with its key")


def test_debug_terminal():
    """On a terminal: a prompt, history (^P) and completion (tab), where libedit is built in."""
    screen = Terminal(PENTA, "debug", "good.kblob")
    for i, line in enumerate([b"st\t1\n", b"\x10\n", b"wh\t\n", b"quit\n"]):
        screen.until(b"(penta) ", i + 1)
        screen.write(line)
    screen.end()
    out = screen.text
    check(b"(penta) " in out, out)
    if EDITS_LINES:
        check(out.count(b"step 1") > 1 and b"where" in out.replace(b"\r\x1b[11G", b""), out)


def test_diff():
    text = exits(0, "dis", "good.kblob").stdout
    open("more.kasm", "wb").write(b"SLEEP 1\n" + text)
    exits(0, "asm", "more.kasm", "-o", "more.kblob")
    exits(0, "diff", "good.kblob", "good.kblob")
    out = exits(1, "diff", "good.kblob", "more.kblob").stdout.decode()
    check("~ /header/instCount: 2 -> 3" in out and "+ /code/insn[0]" in out, out)
    check(out.count("\n") == 2, "an inserted instruction is one difference:\n" + out)
    document = json.loads(exits(1, "diff", "--json", "good.kblob", "more.kblob").stdout)
    check(document["same"] is False and len(document["differences"]) == 2, document)
    exits(4, "diff", "good.kblob", "missing")


def test_what_info_tells_of_debug_symbols():
    write("lines.kasm", ".name data, 0x10000, 64\nstart: WRITE8 data, 1\nREAD8 data\nHALT\n")
    exits(0, "asm", "-g", "--source-name", "lines.kasm", "lines.kasm", "-o", "lines.kblob")
    lines = exits(0, "info", "lines.kblob").stdout.decode().splitlines()
    for word, value in (("source", "lines.kasm"), ("names", "2"), ("lines", "3")):
        check(any(line.split()[0] == word and line.split()[-1] == value for line in lines if line), (word, lines))


def test_conform():
    os.makedirs("vectors/inner")
    open("vectors/other.json", "w").write('{"something": "else"}')
    exits(3, "conform", "vectors")
    exits(4, "conform", "missing")
    open("vectors/broken.json", "w").write('{"a":1,}')
    done = exits(1, "conform", "vectors")
    check(done.stdout.decode().splitlines()[-1] == "0 passed, 1 failed", done.stdout)
    deep = "deep" + "/d" * 31
    os.makedirs(deep)
    open(deep + "/broken.json", "w").write('{"a":1,}')
    done = exits(1, "conform", "deep")
    check(b"0 passed, 1 failed" in done.stdout and b"more than 32 deep" not in done.stdout + done.stderr, done)
    os.makedirs(deep + "/d")                                     # what is not looked at is told
    os.rename(deep + "/broken.json", deep + "/d/broken.json")
    done = exits(4, "conform", "deep")
    check(b"more than 32 deep" in done.stderr and b"broken" not in done.stdout, done)


def test_conform_knows_its_engines():
    """A name that no format has is a mistake; an engine that this machine lacks skips its cases."""
    write("p.json", json.dumps({"name": "p", "code_hex": "", "strings": [], "expect": {"globals": []}}))
    done = exits(2, "conform", "--engine", "nonsense", "p.json")
    check(b"'nonsense' is none of interp, jit, both" in done.stderr, done.stderr)
    done = exits(1, "conform", "--engine", "jit", "p.json")      # nothing was proved
    check(b"skip p.json" in done.stdout and b"cvbc has no engine 'jit'" in done.stdout, done.stdout)
    check(done.stdout.endswith(b"0 passed, 0 failed, 1 skipped\n"), done.stdout)
    exits(1, "conform", "--engine", "jit", "--strict", "p.json")
    legacy = {"name": "l", "legacy_hex": "", "converted_image_hex": "", "inputs": [], "outputs": []}
    write("legacy.json", json.dumps({"cases": [legacy]}))
    done = exits(1, "conform", "--engine", "jit", "legacy.json")  # which runs what it converted
    check(b"skip legacy.json l: tvmr has no engine 'jit'" in done.stdout, done.stdout)
    exits(2, "run", "good.kblob", "--engine", "jit")


def test_nothing_is_copied_from_null():
    """Empty parts of values, lines and sections, whose bytes lie nowhere; sanitizers see a copy of them."""
    write("v.cvasm", "HALT\n")
    good(exits(2, "create", "v.cvasm", "--dependency", "uart", "-o", "v.cvbc"))
    write("b.cvasm", "HALT\n.bytes 0x100, \n.custom\n")
    good(call("asm", "b.cvasm", "-o", "b.cvbc"))
    write("e.pvmasm", "%isa = latest64\n%ro_data =\n%export \"\" = @f\n@f:\n    ret\n")
    done = call("asm", "e.pvmasm", "-o", "e.pvm")
    good(done)
    for command in ("dis", "inspect", "info", "validate", "roundtrip"):
        good(call(command, "e.pvm"))
    good(call("run", "e.pvm", "--call", "nothing"))
    write("strings.json", json.dumps({"strings": [1, None, ""], "name": "", "bytecode": ""}))
    good(call("conform", "strings.json"))


def test_vector_with_an_empty_name_is_compared():
    """Two empty names are compared without memcmp of NULL, which the sanitized build would report."""
    write("p.casm", ".global main\nmain:\nRET\n")
    exits(0, "asm", "p.casm", "-o", "p.coil")
    data = bytearray(open("p.coil", "rb").read())
    data[0x90:0x94] = (1 << 20).to_bytes(4, "little")   # the symbol's name is in no string table
    open("p.coil", "wb").write(data)
    symbol = {"i": 0, "name": "", "section": 1, "value": 0, "size": 0, "type": 9}
    write("listing.json",
          json.dumps({"p.coil": {"endian": "little", "sections": [{"n": 1, "name": ""}], "symbols": [symbol], "relocs": []}}))
    done = exits(1, "conform", "listing.json")
    good(done)
    check(done.stdout.endswith(b"0 passed, 1 failed\n"), done)


def prefix_number(value):
    """A number as a PolkaVM file has it: the bits in front of the first byte count the others."""
    extra = next(n for n in range(5) if n == 4 or not value >> (7 + 7 * n))
    top = value >> 8 * extra if extra < 4 else 0
    return bytes([(0xff00 >> extra & 0xff) | top]) + value.to_bytes(4, "little")[:extra]


def test_dis_of_a_large_program_takes_memory_like_its_file():
    if SANITIZED:
        return
    count = 3_000_000                     # instructions of one byte: jumps to themselves, falls
    for opcode in (40, 1):
        code = bytes([opcode]) * count
        section = (prefix_number(0) + b"\0" + prefix_number(count) + code + b"\xff" * (count // 8))
        parts = b"\x06" + prefix_number(len(section)) + section + b"\0"
        write("large.polkavm", b"PVM\0\2" + (13 + len(parts)).to_bytes(8, "little") + parts)
        limit = 8 * os.path.getsize("large.polkavm") + (64 << 20)
        done = exits(0, "dis", "large.polkavm",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        check(done.stdout.count(b"\n    ") == count, "a line for each instruction")


def test_launch_of_a_kernel():
    """Sizes of a launch are checked; symbols show in traces and faults, and convert --strip drops them."""
    write("grid.kasm", "first: ID r1, global\nADD r2, r1, 0x10000\nST8 [r2], r1\n")
    exits(0, "asm", "-g", "grid.kasm", "-o", "grid.kblob")
    for options, code in ((("--grid", "0"), 2), (("--grid", "2x2x2x2"), 2), (("--threads", "2000x2000"), 7),
                          (("--grid", "1024", "--threads", "128"), 7), (("--shared", "70000"), 2),
                          (("--arg", "x"), 2)):
        exits(code, "run", "grid.kblob", *options)
    exits(2, "run", "good.kblob", "--threads", "2")
    done = exits(0, "run", "grid.kblob", "--grid", "2x2", "--threads", "4x4", "--map", "0x10000:64")
    check(bytes(range(1, 64)).hex().encode() in done.stdout, done.stdout)
    done = exits(0, "trace", "grid.kblob", "--map", "0x10000:64")
    check(b"; first+2, grid.kasm:3" in done.stdout, done.stdout)
    done = call("run", "grid.kblob", "--threads", "3", "--map", "0x10000:2")
    check(b"first+2, grid.kasm:3" in done.stdout and b"OUT_OF_BOUNDS" not in done.stdout, done.stdout)
    exits(0, "convert", "--strip", "grid.kblob", "-o", "plain.kblob")
    check(b"grid.kasm" not in open("plain.kblob", "rb").read(), "stripped")
    exits(0, "validate", "--trailer", "plain.kblob")


def prepare():
    open("good.kblob", "wb").write(BLOB)
    open("cut.kblob", "wb").write(BLOB[:40])
    open("noise", "wb").write(b"\x00" * 100)
    open("invalid.kblob", "wb").write(BLOB[:16] + b"\xff" + BLOB[17:])


if __name__ == "__main__":
    sys.exit(main(globals(), prepare))
