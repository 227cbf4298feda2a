#!/usr/bin/env python3
"""COIL programs on penta's engines against the same programs in C, interleaved, in processor time.

    bench/coil/bench.py PENTA DATA [ROUNDS]

DATA is the folder with sieve.casm, fib.casm, matmul.casm and native.c. Sizes: sieve to 5,000,000 with 10
rounds, fib(36), matmul of 400. The least time of all rounds counts. Compilers that are not installed are
left out."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

penta, data = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
SIZES = {"sieve": ("repeat", 10), "fib": ("n", 36), "matmul": ("n", 400)}


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


with tempfile.TemporaryDirectory() as folder:
    source = open(os.path.join(data, "native.c"), encoding="utf-8").read()
    # Sizes come from the command line, so that a compiler cannot use them.
    source = source.replace("round < 60", "round < rounds").replace("sieve(int n)", "sieve(int n, int rounds)")
    source = source.replace("sieve(5000000)", "sieve(5000000, size)").replace("fib(42)", "fib(size)")
    source = source.replace("matmul(800)", "matmul(size)").replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>")
    source = source.replace("    int which", "    int size = atoi(argv[2]);\n    int which")
    open(os.path.join(folder, "native.c"), "w", encoding="utf-8").write(source)
    commands = {}
    for name, compiler in (("gcc -O2", ["gcc", "-O2"]), ("gcc -O0", ["gcc", "-O0"]), ("clang -O2", ["clang", "-O2"])):
        if not shutil.which(compiler[0]):
            continue
        binary = os.path.join(folder, name.replace(" ", ""))
        subprocess.run([*compiler, "-o", binary, os.path.join(folder, "native.c")], check=True)
        commands[name] = {p: [binary, str(i), str(size)] for i, (p, (_, size)) in enumerate(SIZES.items())}
    for engine in ("jit", "interp"):
        commands["penta " + engine] = {}
    for program, (label, size) in SIZES.items():
        text = open(os.path.join(data, program + ".casm"), encoding="utf-8").read()
        text = re.sub(rf"^{label}:.*$", f"{label}: .i64 {size}", text, flags=re.M)
        path = os.path.join(folder, program)
        open(path + ".casm", "w", encoding="utf-8").write(text)
        subprocess.run([penta, "asm", path + ".casm", "-o", path + ".coil"], check=True)
        for engine in ("jit", "interp"):
            commands["penta " + engine][program] = [penta, "run", path + ".coil", "--engine", engine, "-q"]
    best = {}
    for turn in range(rounds):
        for name, programs in commands.items():
            if name == "penta interp" and turn:
                continue
            for program, command in programs.items():
                time = processor_time(command)
                best[name, program] = min(time, best.get((name, program), time))
    print(f"{'':14}" + "".join(f"{p:>16}" for p in SIZES) + f"{'mean':>10}")
    for name in commands:
        ratios = [best[name, p] / best["gcc -O2", p] for p in SIZES]
        mean = (ratios[0] * ratios[1] * ratios[2]) ** (1 / 3)
        cells = "".join(f"{best[name, p]:8.3f}s {r:5.2f} " for p, r in zip(SIZES, ratios))
        print(f"{name:14}{cells}{mean:10.2f}")
