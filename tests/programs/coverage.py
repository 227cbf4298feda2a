#!/usr/bin/env python3
"""Every rule has a failing case, every instruction a case that executes it, every trap one that ends by it.

    tests/programs/coverage.py PENTA
"""
import json
import os
import re
import sys
import tempfile

from support import case_runner, dump_cases, expect, penta, summary

# Codes of penta itself that no case file can cause: they are checked by tests/programs/cli.py (files,
# limits, options), tests/units/units.c (memory, machine states, snapshots, JSON), or would be bugs.
ELSEWHERE = {"PENTA0001", "PENTA0002", "PENTA0003", "PENTA0004", "PENTA0005", "PENTA0006",
             "PENTA0007", "PENTA0008", "PENTA0009", "PENTA0010", "PENTA0011", "PENTA0017",
             "PENTA0018", "PENTA0019", "PENTA0020", "PENTA0021", "PENTA0022", "PENTA0023", "PENTA0024", "PENTA0025", "PENTA0026",
             # of commands other than asm and validate: tests/programs/cvbc.py, tests/programs/coil.py
             "CVBC0023", "CVBC0024", "CVBC0028", "CVBC0049", "CVBC0050", "CVBC0108", "CVBC0109", "CVBC0110", "CVBC0111",
             # of the linker: tests/programs/pvm/pvm_link.py
             *(f"PVM{number:04}" for number in range(301, 314)),
             "COIL0080", "COIL0081", "COIL0083", "COIL0084", "COIL0086", "COIL0087", "COIL0088", "COIL0089"}

# Traps that no case file can cause.
TRAPS_ELSEWHERE = {
    # of the device: tests/units/gpu
    "USE_AFTER_FREE", "LIMIT",
    # of the interface in C: tests/programs/cvbc/calls.c; no host of penta gives PRINTF_ERROR
    "STACK_CORRUPTION", "PRINTF_ERROR", "PROGRAM_NOT_LOADED", "STOPPED_BY_HOST",
    # a number of the format that penta's machine does not use; failing allocations
    "STEP_LIMIT", "OUT_OF_MEMORY"}


def asked(*args):
    return json.loads(penta(*args, "--json").stdout)


runner = case_runner()

cases = [runner.Case(path) for path in runner.case_files()]
reported = {line.split()[0] for case in cases for title, lines in case.sections for line in lines
            if title.startswith(("-- error", "-- convert")) and re.match(r"[A-Z]+\d{4} ", line)}
reported |= {code for case in cases for code in re.findall(r"(?m)^(?:warning|error)\[([A-Z]+\d{4})\]",
                                                          case.get("run") or "")}
for rule in asked("explain")["rules"]:
    expect(rule["code"] in reported or rule["code"] in ELSEWHERE, f"{rule['code']} {rule['name']} has no failing case")


def opcode_names(path, *options):
    """Instruction names by pc, where the tree says them beside the opcode (texts like a0 = a1 + a2
    have no mnemonic)."""
    names = {}

    def walk(node, start):
        for child in node.get("children", []):
            if node["name"] == "insn" and child["name"] == "opcode" and "note" in child:
                names[node["offset"] - start] = child["note"]
            walk(child, node["offset"] if node.get("list") else start)

    for node in asked("inspect", path, *options).get("tree", []):
        walk(node, 0)
    return names


executed = {}
with tempfile.TemporaryDirectory() as work:
    dump_cases(work)
    for case in cases:
        path = os.path.join(work, f"{case.format}-{case.name}.bin")
        if case.get("run") is None or not os.path.exists(path):
            continue
        trace = asked("trace", path, "--format", case.format, "--fuel", "20000", *case.args.get("open", []), *case.args.get("run", []))
        named = opcode_names(path, "--format", case.format, *case.args.get("open", []))
        for line in trace.get("lines", []):
            word = line.get("mnemonic") or (line["text"].split() or [""])[0]
            executed.setdefault(case.format, set()).update({word, named.get(line["pc"], "")})
traps = {case.format: set() for case in cases}
for case in cases:
    traps[case.format].update(re.findall(r"(?m)^trap (\S.*?) pc=", case.get("run") or ""))
for info in asked("formats", "--instructions")["formats"]:
    for trap in info.get("traps", []):
        expect(trap["name"] in traps.get(info["name"], set()) | TRAPS_ELSEWHERE, f"{info['name']} trap {trap['name']} ends no case")
    for instruction in info.get("instructions", []):
        if instruction.get("runs") is False:
            continue
        name = instruction.get("mnemonic") or instruction["name"]
        expect(name in executed.get(info["name"], set()), f"{info['name']} {name} is executed by no case")
sys.exit(summary(f", {len(reported)} codes"))
