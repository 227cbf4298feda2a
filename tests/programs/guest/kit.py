"""What the tests of the guest kit share: compiling with penta-cc, running on every engine, counting checks."""
import os
import subprocess
import sys
import tempfile

PENTA = os.path.abspath(sys.argv[1])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
from llvm import llvm

CC = os.path.join(ROOT, "guest", "bin", "penta-cc")
ENGINES = ("interp", "jit", "both")
failures = 0
checks = 0


def check(what, got, expected):
    global failures, checks
    checks += 1
    if got != expected:
        failures += 1
        print(f"{what}:\n  expected {expected!r}\n  got      {got!r}"[:3000])


def compile_program(work, source, *options):
    out = os.path.join(work, os.path.basename(source) + "".join(options).replace("-", "_") + ".polkavm")
    done = subprocess.run([CC, "-Wall", "-Wextra", *options, os.path.join(ROOT, source), "-o", out],
                          capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PENTA": PENTA})
    check(f"penta-cc {source} {options}", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return out


def run(program, *args, data=b"", cwd=None):
    """What every engine gives, checked to be the same."""
    results = []
    for engine in ENGINES:
        done = subprocess.run([PENTA, "run", "--engine", engine, program, *args], input=data,
                              capture_output=True, timeout=300, cwd=cwd)
        results.append((done.returncode, done.stdout, done.stderr))
        check(f"{program} on {engine}", results[-1], results[0])
    return results[0]


def main(*tests):
    """Runs the tests in a folder of their own; gives the exit code."""
    for tool in ("clang", "ld.lld"):
        if not llvm(tool):
            print(f"no {tool} for penta-cc: skipped")
            return 77
    with tempfile.TemporaryDirectory() as work:
        os.environ.setdefault("XDG_CACHE_HOME", os.path.join(work, "cache"))
        for test in tests:
            test(work)
    print(f"{checks - failures} passed, {failures} failed")
    return bool(failures)
