#!/usr/bin/env python3
"""symbols.py BUILD [--accept]: what each library exports, shared and static, is what tests/symbols lists
and what its headers declare; the rest that libpenta_conform is given is what it uses, and it has no copy of the others; and libpenta
starts no process. --accept writes the lists."""
import os
import re
import sys

from support import ROOT, expect, summary, run_program

BUILD = os.path.abspath(sys.argv[1])
ACCEPT = "--accept" in sys.argv
DECLARATION = re.compile(r"^(?:PENTA|CVBC|GPU)_API\b[^;]*?\b(\w+)\(", re.M)

# The headers of the libraries beside libpenta; every other one is libpenta's.
BESIDE = {"libpenta_gpu": ["gpu_emulator.h", "penta/device.h"], "libpenta_cvbc": ["cvbc_format.h"],
          "libpenta_conform": ["penta/conform.h"], "libpenta_batch": ["penta/batch.h"]}
headers = {os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "include"))
           for folder, _, names in os.walk(os.path.join(ROOT, "include")) for name in names}
LIBRARIES = dict(BESIDE, libpenta=sorted(headers - {h for some in BESIDE.values() for h in some}))

header = open(os.path.join(ROOT, "include/penta/penta.h")).read()
VERSION = "PENTA_INTERNAL_" + ".".join(re.search(rf"PENTA_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def names(library, *options, internal=False):
    """Those of a version INTERNAL, or the others."""
    text = run_program("nm", *options, library, text=True, needed=True).stdout
    found = [line.split()[-1] for line in text.splitlines() if len(line.split()) in (2, 3)]
    return {name.split("@")[0] for name in found if ("@PENTA_INTERNAL_" in name) == internal} - {"PENTA_0", VERSION}


def needed(library):
    text = run_program("readelf", "-d", library, text=True, needed=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+)\.so\b", text))


def compare(what, have, want):
    for name in sorted(have - want):
        expect(False, f"{what}: {name} is new; symbols.py BUILD --accept lists it")
    for name in sorted(want - have):
        expect(False, f"{what}: {name} is missing")
    expect(have, f"{what}: nothing")


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

conform = os.path.join(BUILD, "lib/libpenta_conform.so")
given = set()
for library in ("penta", "gpu"):
    path = os.path.join(ROOT, "src/conform", f"internal_{library}.txt")
    listed = {line.strip() for line in open(path) if not line.startswith("#")}
    shared = os.path.join(BUILD, "lib", {"penta": "libpenta.so", "gpu": "libpenta_gpu.so"}[library])
    compare(f"{os.path.basename(shared)}, internal names", names(shared, "-D", "--defined-only", internal=True), listed)
    given |= listed
compare("libpenta_conform.so, internal names", names(conform, "-D", "-u", internal=True), given)
expect(names(conform, "-D", "-u", internal=True), "libpenta_conform.so uses nothing of " + VERSION)
expect({"libpenta", "libpenta_gpu"} <= needed(conform), "libpenta_conform.so does not load the others")
expect("libcrypto" not in needed(conform), "libpenta_conform.so has a copy of libpenta")

STARTS = re.compile(r"^(v?fork|clone3?|exec[lv]\w*|fexecve|posix_spawnp?|popen|system)$")
for name in names(os.path.join(BUILD, "lib/libpenta.so"), "-D", "-u"):
    expect(not STARTS.match(name), f"libpenta.so starts processes: {name}")

sys.exit(summary())
