#!/usr/bin/env python3
"""coil_bench.py PENTA DATA: the bench of COIL runs, and calls the implementations of a file of peers as it
says: with the program and its size, comments and lines without a command left out."""
import os
import re
import sys
import tempfile

from support import PENTA, ROOT, expect, summary, run_program, write

DATA = os.path.abspath(sys.argv[2])


with tempfile.TemporaryDirectory() as folder:
    peers, called, script = (os.path.join(folder, name) for name in ("PEERS", "called", "peer"))
    write(script, f'echo "$@" >> {called}\n')
    write(peers, f"# written by a test\n#hidden=sh {script} hidden\n\nsilent=\nanother=sh {script} first\n")
    done = run_program(sys.executable, os.path.join(ROOT, "bench", "coil", "bench.py"), PENTA, DATA, "--rounds", "1", "--only", "search",
                       "--peers", peers, text=True)
    expect(done.returncode == 0, "ends", done.stderr)
    rows = [line[:16].strip() for line in done.stdout.splitlines()]
    expect({"gcc -O2", "penta jit", "penta compile", "penta interp", "another"} <= set(rows), "rows", done.stdout)
    expect("hidden" not in done.stdout and "silent" not in done.stdout, "left out", done.stdout)
    expect(re.search(r"^gcc -O2 +1\.00", done.stdout, re.M), "ratios", done.stdout)
    expect(os.path.exists(called) and open(called, encoding="utf-8").read() == "first search 20\n", "called")
sys.exit(summary())
