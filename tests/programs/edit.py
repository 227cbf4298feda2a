#!/usr/bin/env python3
"""A longer text in a file that is valid leaves a valid file, or is refused with a reason: for the last text of every case.

    tests/programs/edit.py PENTA
"""
import json
import os
import sys
import tempfile

from support import dump_cases, expect, penta, summary

LONGER = "text:a_longer_name_than_before_1"
REASONS = ("the size of a debug string cannot change", "the JSON of the card has the size of the image",
           "sizes cannot change in a legacy image")


def texts(nodes, path, in_list):
    for index, node in enumerate(nodes):
        name = f"{path}/{node['name']}" + (f"[{index}]" if in_list else "")
        if "children" in node:
            if not node.get("decoded"):
                yield from texts(node["children"], name, node.get("list", False))
        elif node["kind"] == "text" and node["size"] and "json" not in node["name"]:
            yield name


tried = 0
with tempfile.TemporaryDirectory() as folder:
    dump_cases(folder)
    for name in sorted(os.listdir(folder)):
        file = os.path.join(folder, name)
        format_of = ["-f", name.split("-")[0]]
        document = json.loads(penta("inspect", "--json", *format_of, file).stdout or "{}")
        paths = list(texts(document.get("tree") or [], "", False)) if not document.get("damaged", True) else []
        if not paths or penta("validate", "-q", *format_of, file).returncode:
            continue
        done = penta("edit", *format_of, file, "--set", f"{paths[-1]}={LONGER}", "--dry-run")
        error = done.stderr.decode()
        refused = done.returncode == 2 and any(reason in error for reason in REASONS)
        expect(refused or (done.returncode == 0 and b"a_longer_name" in done.stdout), f"{name} {paths[-1]}: {error}")
        tried += 1
expect(tried > 150, f"only {tried} files have a text")
sys.exit(summary())
