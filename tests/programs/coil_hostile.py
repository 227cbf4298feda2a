#!/usr/bin/env python3
"""coil_hostile.py PENTA [BYTES]: programs that are hard to compile (tests/tools/coil_hostile.py), of so many bytes of
text each. What the compiler counts as its work is bounded by the number of instructions, and so is its
memory; what comes out does the same as the interpreter. Nothing depends on a clock."""
import json
import os
import subprocess
import sys
import tempfile

from support import PENTA, expect, penta, summary, skip, write
import coil_hostile  # of tests/tools


BYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
LEAST, PER_INSTRUCTION = 1 << 21, 1 << 10  # COIL 7.16.4
LEVEL_1 = 1 << 9                           # what an instruction takes at level 1, at most
MEMORY = (100 << 20) + 100 * BYTES         # of the process
ENDS = ("one_block", "chain_of_copies", "joins", "one_join", "backward_blocks", "calls", "variables_in_exits")


def measured(*command):
    """Output and the most memory of a process."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        out.seek(0)
        return out.read(), usage.ru_maxrss * 1024


with tempfile.TemporaryDirectory() as work:
    for family in coil_hostile.FAMILIES:
        source, file = os.path.join(work, "p.casm"), os.path.join(work, "p.coil")
        write(source, coil_hostile.text(family, BYTES))
        made = penta("asm", source, "-o", file)
        expect(made.returncode == 0, f"{family}: assembles", made.stderr[:200])
        for level in ("2", "1"):
            text, memory = measured(PENTA, "jit", file, "--optimize", level, "--json")
            result = json.loads(text)
            if "work_count" not in result:
                expect(result["exit"] == 2, f"{family}: compiles", result)
                skip("a host without a compiler")
            n, functions, units = result["instructions_count"], result["functions_count"], result["work_count"]
            most = functions * LEAST + n * PER_INSTRUCTION if level == "2" else 0
            expect(units <= most + n * LEVEL_1 + LEAST, f"{family}: work at level {level}", result)
            expect("asan" in PENTA or memory <= MEMORY, f"{family}: memory at level {level}", memory)
            expect(not result["interpreted_count"] or n > 30000 or family == "switches", f"{family}: all of it is compiled", result)
            if family == "nested_loops" and level == "2" and n < 30000:
                expect(result["simple_count"] == 1, "too much for level 2", result)
        said, memory = measured(PENTA, "compile", file, "-o", os.path.join(work, "native.o"))
        refused = family in ("nested_loops", "switches") or BYTES > 100000
        wanted = b"takes too much work" if family == "switches" else b"too large to compile"
        expect(said == b"" or refused and (wanted in said or b"too much work" in said), f"{family}: native code", said[:200])
        expect("asan" in PENTA or memory <= 4 * MEMORY, f"{family}: memory of native code", memory)
        if family in ENDS and BYTES <= 100000:
            done = penta("run", file, "--engine", "both", "--quiet")
            expect(done.returncode in (0, 20), f"{family}: as the interpreter", (done.returncode, done.stdout[:200]))
sys.exit(summary(f", {len(coil_hostile.FAMILIES)} families of {BYTES} bytes"))
