#!/usr/bin/env python3
"""hardening.py BUILD: what cmake/Hardening.cmake promises is in the libraries, the tool and the device, as readelf and nm see
them. A build without it (PENTA_HARDEN=OFF) is skipped."""
import os
import re
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
CACHE = dict(re.findall(r"^(\w+):\w+=(.*)$", open(os.path.join(BUILD, "CMakeCache.txt")).read(), re.M))
if CACHE.get("PENTA_HARDEN") != "ON":
    sys.exit(77)
passed = failed = 0


def check(good, message):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAIL", message)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def code_of(path, function):
    """The disassembly of a function."""
    return output("objdump", "-d", f"--disassemble={function}", path).partition(f"<{function}>:\n")[2]


OPTIMISED = re.match("Release|RelWithDebInfo|MinSizeRel", CACHE.get("CMAKE_BUILD_TYPE", ""))
LIBRARIES = {name: f"lib/lib{name}.so" for name in ("penta", "penta_gpu", "penta_cvbc", "penta_conform")}
PROGRAMS = {"penta": "bin/penta", "penta-device": "libexec/penta/penta-device"}
for name, path in [*LIBRARIES.items(), *PROGRAMS.items()]:
    path = os.path.join(BUILD, path)
    headers = output("readelf", "-hlW", path)
    dynamic = output("readelf", "-d", path)
    undefined = output("nm", "-D", "-u", path)
    check(re.search(r"Type:\s+DYN", headers), f"{path}: not position-independent")
    check(re.search(r"GNU_RELRO", headers), f"{path}: no RELRO")
    check(re.search(r"\bBIND_NOW\b|Flags:.*\bNOW\b", dynamic), f"{path}: symbols are bound late")
    check(re.search(r"GNU_STACK(?:\s+0x\w+){5}\s+RW\s", headers), f"{path}: the stack may be executed")
    check(not re.search(r"^\s*LOAD.*\bRWE\b", headers, re.M), f"{path}: writable memory may be executed")
    check("TEXTREL" not in dynamic, f"{path}: code is relocated")
    if CACHE.get("HAS_STACK_PROTECTOR"):
        check("__stack_chk_fail" in undefined, f"{path}: no stack protector")
    if OPTIMISED and name != "penta_cvbc":  # which has nothing to check
        check(re.search(r"__\w+_chk@", undefined.replace("__stack_chk", "")), f"{path}: nothing of the C library is checked")
for path in PROGRAMS.values():
    check(re.search(r"FLAGS_1.*\bPIE\b", output("readelf", "-d", os.path.join(BUILD, path))), f"{path}: not a PIE")

if CACHE.get("HAS_CF_PROTECTION"):
    library = os.path.join(BUILD, LIBRARIES["penta"])
    check(re.match(r"\s*\w+:.*\bendbr", code_of(library, "penta_open")), "penta_open: no endbr64 at its start")
    # Compiled code cannot keep the rules of CET: what enters it must not say that it does.
    if CACHE.get("PENTA_JIT") == "ON":
        for path in (LIBRARIES["penta"], "lib/libpenta.a", PROGRAMS["penta"]):
            notes = output("readelf", "-n", os.path.join(BUILD, path))
            check(not re.search(r"x86 feature:.*(IBT|SHSTK)", notes), f"{path}: marked for CET, which compiled code breaks")

print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
