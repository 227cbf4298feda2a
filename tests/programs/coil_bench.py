#!/usr/bin/env python3
"""coil_bench.py PENTA DATA: the bench of COIL runs, and calls the implementations of a file of peers as it
says: with the program and its size, comments and lines without a command left out."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
penta, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failed = 0


def check(name, ok, detail=""):
    global failed
    if not ok:
        failed += 1
        print("FAIL", name, detail)


with tempfile.TemporaryDirectory() as folder:
    peers, called, script = (os.path.join(folder, name) for name in ("PEERS", "called", "peer"))
    with open(script, "w", encoding="utf-8") as out:
        out.write(f'echo "$@" >> {called}\n')
    with open(peers, "w", encoding="utf-8") as out:
        out.write(f"# written by a test\n#hidden=sh {script} hidden\n\nsilent=\nanother=sh {script} first\n")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "coil", "bench.py"), penta, data, "--rounds", "1", "--only", "search",
                           "--peers", peers], capture_output=True, encoding="utf-8", timeout=300)
    check("ends", done.returncode == 0, done.stderr)
    rows = [line[:16].strip() for line in done.stdout.splitlines()]
    check("rows", {"gcc -O2", "penta jit", "penta compile", "penta interp", "another"} <= set(rows), done.stdout)
    check("left out", "hidden" not in done.stdout and "silent" not in done.stdout, done.stdout)
    check("ratios", re.search(r"^gcc -O2 +1\.00", done.stdout, re.M), done.stdout)
    check("called", os.path.exists(called) and open(called, encoding="utf-8").read() == "first search 20\n")
sys.exit(failed != 0)
