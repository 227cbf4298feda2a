#!/usr/bin/env python3
"""symbols.py BUILD [--accept]: what each library exports, shared and static, is what tests/symbols lists
and what its headers declare; and libpenta starts no process. --accept writes the lists."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv[1])
ACCEPT = "--accept" in sys.argv
DECLARATION = re.compile(r"^(?:PENTA|CVBC|GPU)_API\b[^;]*?\b(\w+)\(", re.M)

# The headers of the libraries beside libpenta; every other one is libpenta's.
BESIDE = {"libpenta_gpu": ["gpu_emulator.h", "penta/device.h"], "libpenta_cvbc": ["cvbc_format.h"],
          "libpenta_conform": ["penta/conform.h"]}
headers = {os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "include"))
           for folder, _, names in os.walk(os.path.join(ROOT, "include")) for name in names}
LIBRARIES = dict(BESIDE, libpenta=sorted(headers - {h for some in BESIDE.values() for h in some}))

passed = failed = 0


def check(good, message):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAIL", message)


def names(library, *options):
    text = subprocess.run(["nm", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if len(line.split()) in (2, 3)}


def compare(what, have, want):
    for name in sorted(have - want):
        check(False, f"{what}: {name} is new; symbols.py BUILD --accept lists it")
    for name in sorted(want - have):
        check(False, f"{what}: {name} is missing")
    check(have, f"{what}: nothing")


for library, its_headers in sorted(LIBRARIES.items()):
    declared = set()
    for header in its_headers:
        text = open(os.path.join(ROOT, "include", header), encoding="utf-8").read()
        declared |= set(DECLARATION.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S)))
    shared = os.path.join(BUILD, "lib", library + ".so")
    static = os.path.join(BUILD, "lib", library + ".a")
    path = os.path.join(ROOT, "tests/symbols", library + ".txt")
    exported = names(shared, "-D", "--defined-only")
    if ACCEPT:
        open(path, "w").write("".join(name + "\n" for name in sorted(exported)))
    listed = set(open(path).read().split())
    compare(library + ".so", exported, listed)
    compare(library + ", headers", declared, listed)
    if os.path.exists(static):  # builds with sanitizers have none
        compare(library + ".a", names(static, "-g", "--defined-only"), listed)

STARTS = re.compile(r"^(v?fork|clone3?|exec[lv]\w*|fexecve|posix_spawnp?|popen|system)$")
for name in names(os.path.join(BUILD, "lib/libpenta.so"), "-D", "-u"):
    check(not STARTS.match(name), f"libpenta.so starts processes: {name}")

print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
