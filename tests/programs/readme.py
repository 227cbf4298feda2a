#!/usr/bin/env python3
"""Runs the transcripts of README.md and of docs/, each page in a folder that has only the examples.

    tests/programs/readme.py PENTA [--accept]

A transcript is a block whose first line starts with "$ ". --accept writes what came into the file.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PENTA = os.path.abspath(sys.argv[1])
PAGES = [os.path.join(ROOT, "README.md")]
PAGES += [os.path.join(folder, name) for folder, _, names in sorted(os.walk(os.path.join(ROOT, "docs")))
          for name in sorted(names) if name.endswith(".md") and name != "guest.md"]  # needs clang: guest.py runs it


def play(block, folder):
    """The block with the output that the commands really have."""
    path = os.path.dirname(PENTA) + os.pathsep + os.environ["PATH"]
    came = []
    for line in block.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(["sh", "-c", line[2:]], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=120,
                                  env={**os.environ, "PATH": path, "NO_COLOR": "1"})
            came.append(line + "\n" + done.stdout)
    return "".join(came)


passed = failed = 0
for page in PAGES:
    with open(page, encoding="utf-8") as file:
        text = file.read()
    blocks = [b for b in re.findall(r"^```\n(.*?)^```$", text, re.M | re.S) if b.startswith("$ ")]
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        for block in blocks:
            came = play(block, folder)
            if came == block:
                passed += 1
            elif "--accept" in sys.argv:
                text = text.replace(block, came)
            else:
                failed += 1
                print(f"FAIL {os.path.relpath(page, ROOT)} expected:\n{block}came:\n{came}")
    if "--accept" in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
