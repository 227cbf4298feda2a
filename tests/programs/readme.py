#!/usr/bin/env python3
"""Runs the transcripts of README.md and of docs/, each page in a folder that has only the examples.

    tests/programs/readme.py PENTA [--accept] [PAGE...]

A transcript is a block whose first line starts with "$ ". A file that it shows by `cat` and that does not exist has the
contents that are shown. --accept writes what came into the pages. docs/guest.md needs clang and is left out unless named.
"""
import os
import re
import subprocess
import sys
import tempfile

from support import PENTA, ROOT, expect, read_text, run_program, skip, summary, write
from llvm import llvm

ACCEPT = "--accept" in sys.argv
GUEST = "docs/guest.md"


def pages():
    named = [word for word in sys.argv[2:] if word != "--accept"]
    if named:
        return named
    found = ["README.md"]
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "docs"))):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names) if name.endswith(".md")]
    return [page for page in found if page != GUEST]


def transcripts(text):
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [block for language, block in fenced if not language and block.startswith("$ ")]


def play(block, folder):
    """The block with the output that the commands really have."""
    path = os.pathsep.join([os.path.dirname(PENTA), os.path.join(ROOT, "guest/bin"), os.environ["PATH"]])
    came = []
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
        shows = re.fullmatch(r"cat (\S+)", command)
        if shows and not os.path.exists(os.path.join(folder, shows[1])):
            write(os.path.join(folder, shows[1]), shown)
        done = run_program("sh", "-c", command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env={**os.environ, "PATH": path, "PENTA": PENTA, "NO_COLOR": "1"})
        came.append(f"$ {command}\n{done.stdout}")
    return "".join(came)


def main():
    if GUEST in sys.argv and not llvm("clang"):
        skip("penta-cc has no clang")
    for page in pages():
        text = read_text(os.path.join(ROOT, page))
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
            for block in transcripts(text):
                came = play(block, folder)
                expect(ACCEPT or came == block, f"{page} expected:\n{block}came:\n{came}")
                text = text.replace(block, came)
        if ACCEPT:
            write(os.path.join(ROOT, page), text)
    return summary()


if __name__ == "__main__":
    sys.exit(main())
