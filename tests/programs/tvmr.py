#!/usr/bin/env python3
"""tvmr through the command line: what case files cannot say.

    tests/programs/tvmr.py PENTA
"""
import os
import subprocess
import sys
import tempfile

PENTA = os.path.abspath(sys.argv[1])


def penta(*args, **more):
    return subprocess.run([PENTA, *args], capture_output=True, text=True, timeout=120, **more)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def assembled(name, text, *options):
    """The image of a program, as NAME.tvmr."""
    with open(name + ".tasm", "w") as out:
        out.write(text)
    done = penta("asm", name + ".tasm", "-o", name + ".tvmr", *options)
    check(done.returncode == 0, done.stderr)
    return name + ".tvmr"


COPY = """.registers
H0: i32[4]
.program
load_input H0
store_output H0
halt
"""


def test_exit_value_is_first_output():
    file = assembled("copy", COPY)
    for values, code in (("7,1,2,3", 7), ("-1,1,2,3", 255), ("256,0,0,1", 0)):
        done = penta("run", file, "--input", values, "--exit-value")
        check(done.returncode == code, f"{values}: exit {done.returncode}\n{done.stderr}")
    check(penta("run", file, "--input", "7,1,2,3").returncode == 0, "only when asked for")
    silent = assembled("silent", ".program\nhalt\n")
    check(penta("run", silent, "--exit-value").returncode == 0, "no output is 0")
    bad = assembled("bad", ".program\nrelu H1, H0\nhalt\n")
    check(penta("run", bad, "--exit-value").returncode == 20, "a trap stays a trap")


def test_exit_value_of_format_without_one():
    with open("one.kasm", "w") as out:
        out.write("HALT\n")
    check(penta("asm", "one.kasm", "-o", "one.kblob").returncode == 0, "kblob")
    done = penta("run", "one.kblob", "--exit-value")
    check(done.returncode == 2 and "format kblob have no value" in done.stderr, done)


def main():
    failed = passed = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
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
