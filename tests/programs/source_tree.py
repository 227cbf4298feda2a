#!/usr/bin/env python3
"""No test leaves a file in the source tree: what is there after all tests was there before them.

    tests/programs/source_tree.py before|after LIST
"""
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_OURS = {"build", ".git", "__pycache__", ".cache", ".mypy_cache"}


def files():
    found = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        found.update(os.path.relpath(os.path.join(folder, name), ROOT) for name in names)
    return found


when, path = sys.argv[1:]
if when == "before":
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as out:
        out.write("\0".join(sorted(files())))
    sys.exit(0)
with open(path, encoding="utf-8", errors="surrogateescape") as file:
    before = set(file.read().split("\0"))
left = sorted(files() - before)
for name in left:
    try:
        at = time.strftime("%H:%M:%S", time.localtime(os.stat(os.path.join(ROOT, name)).st_mtime))
    except FileNotFoundError:
        continue
    print(f"FAIL {name} was written at {at}, while the tests ran: a test leaves it, or somebody worked here meanwhile")
print(f"{len(before)} files before, {len(left)} more after")
sys.exit(1 if left else 0)
