#!/usr/bin/env python3
"""Files and texts with random damage: whatever a command makes of them, its document is as its schema says, and what --sarif and
--junit write is valid.

    tests/programs/damaged.py PENTA [COUNT [SEED]]

COUNT files are tried, made from the seeds of tests/fuzz; what fails is named by its seed, so that one more run shows it again.
"""
import json
import os
import random
import sys
import tempfile
import xml.etree.ElementTree as tree

from support import COMMANDS, ROOT, Counts, expect, read, schemas, summary, write

COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 60
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SEEDS = os.path.join(ROOT, "tests", "fuzz", "seeds")
TEXTS = {"kblob": ".kasm", "pvm": ".pvmasm", "cvbc": ".cvasm", "tvmr": ".tasm", "coil": ".casm"}
FILES = ("detect", "info", "inspect", "hex", "validate", "dis", "roundtrip", "size", "dis --schema 1", "graph --calls",
         "convert --to jam", "verify", "run --fuel 200", "trace --fuel 20", "profile --fuel 200", "cover --fuel 200", "compile",
         "link", "extract", "jit --dump", "report", "conform", "device run", "device run --seeds 1..2")


def seeds_of(kinds):
    """The seeds of fuzz targets whose names hold one of these words, in order."""
    return [os.path.join(folder, name) for folder, _, names in sorted(os.walk(SEEDS)) for name in sorted(names)
            if any(kind in os.path.basename(folder) for kind in kinds) and os.path.getsize(os.path.join(folder, name)) < 20000]


def damage(rng, data):
    """Some bytes changed, taken away, repeated or put in."""
    data = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        elif kind == 3:
            data[at:at] = data[max(at - 16, 0):at]
        elif at < len(data):
            data[at] = rng.choice((0, 0x7f, 0x80, 0xff))
    return bytes(data)


def answer(what, *words):
    """The document of a command, checked by schemas.answer_check on its way."""
    try:
        done = COMMANDS.call(*words, "--json", timeout=60)
        document = json.loads(done.stdout)
        return expect(document["exit"] == done.returncode < 64 or done.returncode == 130, what, words, done.returncode)
    except (AssertionError, ValueError) as error:
        return expect(False, what, *words, error)


def outcome(what, *words):
    """What --sarif and --junit write, if anything."""
    for option, check in (("--sarif", lambda data: schemas.sarif_check(json.loads(data))), ("--junit", tree.fromstring)):
        if (words[0] in ("conform", "device")) != (option == "--junit"):
            continue
        done = COMMANDS.call(*words, option, "found", timeout=60)
        try:
            if done.returncode != 2 or os.path.exists("found"):
                check(read("found"))
            Counts.passed += 1
        except (AssertionError, ValueError, OSError, tree.ParseError) as error:
            expect(False, what, *words, option, error)
        if os.path.exists("found"):
            os.remove("found")


def try_file(what, name):
    for words in FILES:
        words = words.split()
        answer(what, *words[:1], *(words[1:2] if words[0] == "device" else []), name, *words[2 if words[0] == "device" else 1:])
    for words in (["validate"], ["verify"], ["conform"], ["device", "run"], ["link", "-o", "out"], ["compile", "-o", "out.o"]):
        outcome(what, *words, name)


def try_text(what, name):
    answer(what, "asm", name)
    outcome(what, "asm", name, "-o", "out")


def main():
    files, texts = seeds_of(("container", "object", "legacy", "stream", "_link")), seeds_of(("_text",))
    if not files or not texts:
        sys.exit(f"no seeds in {SEEDS}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for number in range(SEED, SEED + COUNT):
            rng = random.Random(number)
            path = rng.choice(files)
            what = f"seed {number}, {os.path.relpath(path, SEEDS)}:"
            try_file(what, write("damaged", damage(rng, read(path))))
            path = rng.choice(texts)
            kind = next((name for name in TEXTS if f"{os.sep}{name}_" in path), "kblob")
            try_text(f"seed {number}, {os.path.relpath(path, SEEDS)}:", write("damaged" + TEXTS[kind], damage(rng, read(path))))
        os.chdir(ROOT)
    return summary()


if __name__ == "__main__":
    sys.exit(main())
