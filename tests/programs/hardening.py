#!/usr/bin/env python3
"""hardening.py BUILD: what cmake/Hardening.cmake promises is in the libraries, the tool and the device, as readelf and nm see
them. A build without it (PENTA_HARDEN=OFF) is skipped."""
import os
import re
import sys

from support import expect, summary, run_program, skip

BUILD = os.path.abspath(sys.argv[1])
CACHE = dict(re.findall(r"^(\w+):\w+=(.*)$", open(os.path.join(BUILD, "CMakeCache.txt")).read(), re.M))
if CACHE.get("PENTA_HARDEN") != "ON":
    skip("a build without PENTA_HARDEN")


def output(*command):
    return run_program(*command, text=True, needed=True).stdout


def code_of(path, function):
    """The disassembly of a function."""
    return output("objdump", "-d", f"--disassemble={function}", path).partition(f"<{function}>:\n")[2]


OPTIMISED = re.match("Release|RelWithDebInfo|MinSizeRel", CACHE.get("CMAKE_BUILD_TYPE", ""))
LIBRARIES = {name: f"lib/lib{name}.so" for name in ("penta", "penta_gpu", "penta_cvbc", "penta_conform", "penta_batch")}
PROGRAMS = {"penta": "bin/penta", "penta-device": "libexec/penta/penta-device"}
for name, path in [*LIBRARIES.items(), *PROGRAMS.items()]:
    path = os.path.join(BUILD, path)
    headers = output("readelf", "-hlW", path)
    dynamic = output("readelf", "-d", path)
    undefined = output("nm", "-D", "-u", path)
    expect(re.search(r"Type:\s+DYN", headers), f"{path}: not position-independent")
    expect(re.search(r"GNU_RELRO", headers), f"{path}: no RELRO")
    expect(re.search(r"\bBIND_NOW\b|Flags:.*\bNOW\b", dynamic), f"{path}: symbols are bound late")
    expect(re.search(r"GNU_STACK(?:\s+0x\w+){5}\s+RW\s", headers), f"{path}: the stack may be executed")
    expect(not re.search(r"^\s*LOAD.*\bRWE\b", headers, re.M), f"{path}: writable memory may be executed")
    expect("TEXTREL" not in dynamic, f"{path}: code is relocated")
    if CACHE.get("HAS_STACK_PROTECTOR"):
        expect("__stack_chk_fail" in undefined, f"{path}: no stack protector")
    if OPTIMISED and name != "penta_cvbc":  # which has nothing to check
        expect(re.search(r"__\w+_chk@", undefined.replace("__stack_chk", "")), f"{path}: nothing of the C library is checked")
for path in PROGRAMS.values():
    expect(re.search(r"FLAGS_1.*\bPIE\b", output("readelf", "-d", os.path.join(BUILD, path))), f"{path}: not a PIE")

if CACHE.get("HAS_CF_PROTECTION"):
    library = os.path.join(BUILD, LIBRARIES["penta"])
    expect(re.match(r"\s*\w+:.*\bendbr", code_of(library, "penta_open")), "penta_open: no endbr64 at its start")
    # Compiled code cannot keep the rules of CET: what enters it must not say that it does.
    if CACHE.get("PENTA_JIT") == "ON":
        for path in (LIBRARIES["penta"], "lib/libpenta.a", PROGRAMS["penta"]):
            notes = output("readelf", "-n", os.path.join(BUILD, path))
            expect(not re.search(r"x86 feature:.*(IBT|SHSTK)", notes), f"{path}: marked for CET, which compiled code breaks")

sys.exit(summary())
