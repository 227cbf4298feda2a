"""What the tests of the guest kit share: compiling with penta-cc, running on every engine, counting checks."""
import sys
import os
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import ENGINES, PENTA, ROOT, equal, penta, run_program, skip, summary
from llvm import llvm

CC = os.path.join(ROOT, "guest", "bin", "penta-cc")


def compile_program(work, source, *options):
    out = os.path.join(work, os.path.basename(source) + "".join(options).replace("-", "_") + ".polkavm")
    done = run_program(CC, "-Wall", "-Wextra", *options, os.path.join(ROOT, source), "-o", out, text=True,
                       env={**os.environ, "PENTA": PENTA})
    equal(f"penta-cc {source} {options}", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return out


def run(program, *args, data=b"", cwd=None):
    """What every engine gives, checked to be the same."""
    results = []
    for engine in ENGINES:
        done = penta("run", "--engine", engine, program, *args, data=data, cwd=cwd)
        results.append((done.returncode, done.stdout, done.stderr))
        equal(f"{program} on {engine}", results[-1], results[0])
    return results[0]


def main(*tests):
    """Runs the tests in a folder of their own; gives the exit code."""
    for tool in ("clang", "ld.lld"):
        if not llvm(tool):
            skip(f"no {tool} for penta-cc")
    with tempfile.TemporaryDirectory() as work:
        os.environ.setdefault("XDG_CACHE_HOME", os.path.join(work, "cache"))
        for test in tests:
            test(work)
    return summary()
