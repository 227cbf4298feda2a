#!/usr/bin/env python3
"""penta diff --code: every case against itself, random edits of a program, whose rows must give the second from the first, and
long files with nothing in common, in bounded time.

    tests/programs/code_diff.py PENTA
"""
import json
import os
import random
import sys
import tempfile

from support import assembled, dump_cases, equal, expect, penta, run_program, summary, PENTA

LONG = 100000
SECONDS = 20    # processor time of a comparison of two long files; it takes one


def compared(a, b, *options):
    return penta("diff", "--code", "--json", *options, a, b)


def itself(folder):
    """A file has no difference to itself; one without code, or that is broken, is refused with an error."""
    tried = 0
    dump_cases(folder)
    for name in sorted(os.listdir(folder)):
        file, options = os.path.join(folder, name), ["-f", name.split("-")[0]]
        done = compared(file, file, *options)
        found = json.loads(done.stdout)
        if done.returncode == 0:
            expect(found["same"] and found["functions"] == [], f"{name}: {found}")
            tried += 1
        else:
            expect(found["diagnostics"] and "functions" not in found, f"{name}: {found}")
    expect(tried > 300, f"only {tried} files have code")


def numbers(count, first):
    return [f"PUSH {first + i}" for i in range(count)]


def listed(file):
    return [row["text"] for row in json.loads(penta("dis", "--json", file).stdout)["instructions"]]


def edited(folder, seed):
    """Takes the removed and moved instructions out of the first program and puts the others in: this is the second."""
    chance = random.Random(seed)
    old = [f"PUSH {chance.randrange(20)}" for _ in range(chance.randrange(1, 120))]
    new = list(old)
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(new) + 1)
        kind = chance.randrange(3)
        if kind == 0:
            new[at:at] = numbers(chance.randrange(1, 4), 100)
        elif kind == 1:
            del new[at:at + chance.randrange(1, 4)]
        else:
            part = new[at:at + 5]
            del new[at:at + 5]
            to = chance.randrange(len(new) + 1)
            new[to:to] = part
    a = assembled(os.path.join(folder, "a.cvasm"), "\n".join(old + ["HALT", ""]))
    b = assembled(os.path.join(folder, "b.cvasm"), "\n".join(new + ["HALT", ""]))
    done = compared(a, b)
    expect(done.returncode == (old != new), f"seed {seed}: exit {done.returncode}")
    gone, come = {}, {}
    for row in [row for part in json.loads(done.stdout)["functions"] for row in part["instructions"]]:
        if row["change"] in ("removed", "moved") and "pc_a" in row:
            gone[row["pc_a"]] = row["text_a"]
        else:
            come[row["pc_b"]] = row["text_b"]
        expect(row["change"] in ("removed", "added", "moved"), f"seed {seed}: {row}")
    before, after = listed(a), listed(b)
    expect(all(before[pc] == text for pc, text in gone.items()), f"seed {seed}: {gone}")
    kept = [text for pc, text in enumerate(before) if pc not in gone]
    for pc in sorted(come):
        kept.insert(pc, come[pc])
    equal(f"seed {seed}", kept, after)


def limited(a, b):
    return run_program("sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh", PENTA, "diff", "--code", "--json", a, b)


def long_files(folder):
    """Nothing in common; everything in another order; two instructions in random orders."""
    chance = random.Random(1)
    order = list(range(LONG))
    chance.shuffle(order)
    programs = {"up": range(LONG), "far": range(LONG, 2 * LONG), "mixed": order,
                "coins": [chance.randrange(2) for _ in range(LONG)],
                "others": [chance.randrange(2) for _ in range(LONG)]}
    files = {name: assembled(os.path.join(folder, name + ".pvmasm"), "%isa = latest64\n" + "".join(f"a0 = {i}\n" for i in values))
             for name, values in programs.items()}
    for a, b in (("up", "far"), ("up", "mixed"), ("coins", "others")):
        done = limited(files[a], files[b])
        if expect(done.returncode == 1, f"{a} {b}: exit {done.returncode}"):
            rows = json.loads(done.stdout)["functions"][0]["instructions"]
            expect((a, b) != ("up", "far") or len(rows) == 2 * LONG, f"{a} {b}: {len(rows)} rows")


with tempfile.TemporaryDirectory() as files:
    itself(files)
with tempfile.TemporaryDirectory() as files:
    for number in range(60):
        edited(files, number)
    long_files(files)
sys.exit(summary())
