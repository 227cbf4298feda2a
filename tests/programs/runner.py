#!/usr/bin/env python3
"""The runner of cases fails where it must: for a tool that is broken, and for cases that test nothing.

    tests/programs/runner.py PENTA
"""
import os
import shutil
import sys

from support import PENTA, ROOT, check, main, penta, read, read_text, run_program, write

RUN = os.path.join(ROOT, "tests", "tools", "run")
GOOD = "# Nothing but HALT.\n-- asm\nHALT\n-- run\nhalt steps=1\n"


def run(*args, penta=PENTA):
    done = run_program(sys.executable, RUN, "--penta", penta, *args, text=True)
    return done.returncode, done.stdout + done.stderr


def case(name, text):
    os.makedirs("kblob", exist_ok=True)
    path = os.path.abspath(f"kblob/{name}.test")
    write(path, text)
    return path


def test_cases_that_test_nothing():
    """Each ends with an error that names the file, and the line where there is one."""
    for name, text, message in [
            ("empty", "", "empty.test: neither -- asm nor -- hex"),
            ("comment", "# Why.\n", "comment.test: neither -- asm nor -- hex"),
            ("source", "# Why.\n-- asm\nHALT\n", "source.test: nothing is expected"),
            ("bytes", "-- hex\n00\n", "bytes.test: nothing is expected"),
            ("misspelt", "-- asm\nHALT\n-- rnu\nhalt\n", "misspelt.test:3: no section is called '-- rnu'"),
            ("nameless", "-- asm\nHALT\n-- \n", "nameless.test:3: no section is called '-- '"),
            ("verb", "-- asm\nHALT\n-- args rnu --fuel 1\n-- run\nhalt\n", "verb.test:3: args are for one of open, asm"),
            ("twice", "-- asm\nHALT\n-- run\n-- run\n", "twice.test:4: '-- run' stands there twice"),
            ("early", "HALT\n-- run\nhalt\n", "early.test:1: before the first section stand comments alone"),
            ("target", "-- asm\nHALT\n-- convert\n", "target.test:3: convert to what?"),
            ("unreached", "-- asm\nHLAT\n-- error\nX\n-- run\nhalt\n", "expected:")]:
        code, printed = run(case(name, text))
        check(code == 1 and message in printed and "0 passed, 1 failed" in printed, (name, code, printed))


def test_names():
    for name in ("kblob/no_such_case", "no_such_file.test", "kblob"):
        code, printed = run(name)
        check(code == 1 and f"FAIL {name}: no such case" in printed and "0 passed, 1 failed" in printed, printed)
    code, printed = run("kblob/end_is_implicit_halt")
    check(code == 0 and "1 passed, 0 failed" in printed, printed)
    code, printed = run("kblob/end_is_implicit_halt", penta="nowhere/penta")
    check(code == 1 and "nowhere/penta: no program there" in printed, printed)


def test_what_is_never_looked_at():
    """Sections that the run of a case does not come to are as wrong as results that differ."""
    bad = "-- asm\nHLAT\n-- error\nPENTA0014 0x0 unknown instruction 'HLAT'\n"
    code, printed = run("--accept", case("bad", bad))
    check(code == 0, printed)
    accepted = read_text("kblob/bad.test")
    code, printed = run(case("bad_run", accepted + "-- run\nhalt\n"))
    check(code == 1 and "'-- run' is never looked at" in printed, printed)
    code, printed = run(case("empty_dis", "-- hex\n-- error\nKBLOB0001 0x0 x\n-- dis\nx\n"))
    check(code == 1, printed)


def test_a_broken_tool_fails():
    """Even where what runs many commands in one process lies beside it."""
    os.makedirs("build/bin")
    os.makedirs("build/lib")
    server = os.path.join(os.path.dirname(os.path.dirname(PENTA)), "lib", "libcommand_server.so")
    if os.path.exists(server):
        shutil.copy(server, "build/lib")
    path = case("bad_opcode", "# An opcode that there is not.\n-- hex\n05b105b1 01000000 10000000 01000000\n"
                "ff000000 00000000 00000000 00000000\n-- error\nX\n")
    code, printed = run("--accept", path)
    check(code == 0, printed)
    check("has opcode" in read_text(path), "the case has the message")
    check(run(path)[0] == 0, "the good tool passes")
    tool = read(PENTA)
    check(tool.count(b"has opcode 0x") > 0, "the message is in the tool")
    write("build/bin/penta", tool.replace(b"has opcode 0x", b"has OPCODE 0x"))
    os.chmod("build/bin/penta", 0o755)
    code, printed = run(path, path, penta=os.path.abspath("build/bin/penta"))
    check(code == 1 and "has OPCODE" in printed and "0 passed, 2 failed" in printed, printed)


def test_a_good_case_passes():
    path = case("good", GOOD)
    code, printed = run("--accept", path)
    check(code == 0 and run(path)[0] == 0, printed)
    code, printed = run(case("good", GOOD.replace("steps=1", "steps=2")))
    check(code == 1 and "expected:" in printed and "got:" in printed, printed)


sys.exit(main(globals()))
