#!/usr/bin/env python3
"""COIL programs on penta's engines against the same programs in C, interleaved, in processor time.

    bench/coil/bench.py PENTA DATA [--rounds N] [--peers FILE] [--only PROGRAM,...]

DATA is the folder with sieve.casm, fib.casm, matmul.casm and native.c; five more programs are in programs/.
The least time of all rounds counts, of whole processes. Compilers that are not installed are left out. A
line NAME=COMMAND of FILE is another implementation: it is called with the name of the program and its size.
After that: compile time per instruction, of generated programs."""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from measure import mean, processor_time  # noqa: E402
THREE = {"sieve": ("repeat", 10), "fib": ("n", 36), "matmul": ("n", 400)}
FIVE = {"nbody": 1000000, "spectral": 1000, "sha256": 300, "bytecode": 120000, "search": 20}


def native_source(data):
    """The three programs in C, with sizes from the command line, so that a compiler cannot use them."""
    text = open(os.path.join(data, "native.c"), encoding="utf-8").read()
    for old, new in (("round < 60", "round < rounds"), ("sieve(int n)", "sieve(int n, int rounds)"),
                     ("sieve(5000000)", "sieve(5000000, size)"), ("fib(42)", "fib(size)"), ("matmul(800)", "matmul(size)"),
                     ("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>"),
                     ("    int which", "    int size = atoi(argv[2]);\n    int which")):
        assert old in text, old
        text = text.replace(old, new)
    return text


def native_commands(folder, data):
    commands = {}
    source = os.path.join(folder, "native.c")
    open(source, "w", encoding="utf-8").write(native_source(data))
    for name in ("gcc -O2", "gcc -O0", "clang -O2"):
        compiler = name.split()
        if not shutil.which(compiler[0]):
            continue
        three, five = (os.path.join(folder, name.replace(" ", "") + part) for part in ("3", "5"))
        subprocess.run([*compiler, "-o", three, source], check=True)
        subprocess.run([*compiler, "-o", five, os.path.join(HERE, "programs", "native.c"), "-lm"], check=True)
        commands[name] = {p: [three, str(i), str(size)] for i, (p, (_, size)) in enumerate(THREE.items())}
        commands[name].update({p: [five, p, str(size)] for p, size in FIVE.items()})
    return commands


def penta_commands(penta, folder, data):
    commands = {"penta jit": {}, "penta jit -O1": {}, "penta compile": {}, "penta interp": {}}
    for program in (*THREE, *FIVE):
        ours = program in FIVE
        label, size = ("size", FIVE[program]) if ours else THREE[program]
        source = os.path.join(HERE, "programs" if ours else data, program + ".casm")
        text = open(source if ours else os.path.join(data, program + ".casm"), encoding="utf-8").read()
        text = re.sub(rf"^{label}:.*$", f"{label}: .i64 {size}", text, flags=re.M)
        path = os.path.join(folder, program)
        open(path + ".casm", "w", encoding="utf-8").write(text)
        subprocess.run([penta, "asm", path + ".casm", "-o", path + ".coil"], check=True)
        run = [penta, "run", path + ".coil", "-q", "--engine"]
        commands["penta jit"][program] = [*run, "jit"]
        commands["penta jit -O1"][program] = [*run, "jit", "--optimize", "1"]
        commands["penta interp"][program] = [*run, "interp"]
        # Ahead of time: a program of the system, which exits with V0.
        made = subprocess.run([penta, "compile", path + ".coil", "-o", path], capture_output=True)
        printed = subprocess.run([*run, "jit"], capture_output=True, check=True).stdout
        if made.returncode == 0 and printed.startswith(subprocess.run([path], capture_output=True).stdout.rstrip()):
            commands["penta compile"][program] = [path]
    return {name: programs for name, programs in commands.items() if programs}


def peer_commands(file):
    commands = {}
    for line in open(file, encoding="utf-8") if file else ():
        name, _, command = line.strip().partition("=")
        if command and not name.startswith("#"):
            sizes = {**{p: size for p, (_, size) in THREE.items()}, **FIVE}
            commands[name] = {p: [*command.split(), p, str(size)] for p, size in sizes.items()}
    return commands


def compare(commands, programs, rounds):
    best = {}
    for turn in range(rounds):
        for name, of in commands.items():
            for program in programs:
                if program in of and not (name == "penta interp" and turn):
                    time = max(processor_time(of[program]), 0.0005)
                    best[name, program] = min(time, best.get((name, program), time))
    print(f"{'over gcc -O2':16}" + "".join(f"{p:>10}" for p in programs) + f"{'mean of 3':>11}{'of 5':>7}")
    for name in commands:
        ratio = {p: best[name, p] / best["gcc -O2", p] for p in programs if (name, p) in best}
        cells = "".join(f"{ratio[p]:10.2f}" if p in ratio else f"{'-':>10}" for p in programs)
        means = [mean([ratio[p] for p in group if p in ratio] if all(p in ratio for p in group) else []) for group in (THREE, FIVE)]
        print(f"{name:16}{cells}{means[0]:11.2f}{means[1]:7.2f}")
    print("gcc -O2, s      " + "".join(f"{best['gcc -O2', p]:10.3f}" for p in programs))


def generated(count, per):
    """Functions of `per` instructions each: sums, memory, branches forward and back, calls."""
    lines, choose, functions, label = [".global main", ".func main", "    RET", ".endfunc"], random.Random(1), 0, 0
    while len(lines) < count:
        lines += [f".func f{functions}", "    VAR %p, u64", "    LEA %p, i64 @data"]
        lines += [f"    VAR %{v}, i64, {ord(v)}" for v in "abcdefgh"]
        end = len(lines) + per
        while len(lines) < end:
            a, b, c = (choose.choice("abcdefgh") for _ in range(3))
            kind, label = choose.randrange(17), label + 1
            if kind < 8:
                lines.append(f"    {choose.choice(['ADD', 'SUB', 'MUL', 'XOR', 'AND', 'OR'])} %{a}, %{b}, %{c}")
            elif kind < 11:
                lines += [f"    AND %{a}, 127", f"    MOV %{b}, i64 [%p + %{a}*8]"]
            elif kind < 13:
                lines += [f"    AND %{b}, 127", f"    MOV i64 [%p + %{b}*8], %{c}"]
            elif kind < 15:
                lines += [f"    CMP %{a}, %{b}", f"    BR LT, @.l{label}", f"    ADD %{c}, 3", f".l{label}:"]
            elif kind < 16:
                lines += ["    AND %h, 15", f".l{label}:", f"    ADD %{a}, %{b}", "    INC %h", "    CMP %h, 16", f"    BR LT, @.l{label}"]
            elif functions:
                lines += ["    MOV v0, %a", f"    CALL @f{choose.randrange(functions)}", "    MOV %a, v0"]
        lines += ["    MOV v0, %a", "    RET", ".endfunc"]
        functions += 1
    return "\n".join([*lines, ".data", "data: .zero 1024", ""])


def compile_times(penta, folder, rounds):
    print("\ncompile time, us of processor time per COIL instruction")
    for count, per in ((10000, 100), (100000, 100), (1000000, 100), (100000, 100000), (1000000, 1000000)):
        path = os.path.join(folder, "generated")
        open(path + ".casm", "w", encoding="utf-8").write(generated(count, per))
        subprocess.run([penta, "asm", path + ".casm", "-o", path + ".coil"], check=True)
        cells = ""
        for level in ("1", "2"):
            made = [json.loads(subprocess.run([penta, "jit", path + ".coil", "--optimize", level, "--json"], check=True, capture_output=True).stdout)
                    for _ in range(rounds if count < 1000000 else 2)]
            cells += f"  -O{level} {min(m['nanoseconds'] / m['instructions_count'] for m in made) / 1000:6.2f}"
        print(f"{count:9} instructions, {per:7} a function {cells}")


def hostile_times(penta, folder):
    """Processor time of the compiler for each instruction of programs that are hard to compile."""
    sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "tools"))
    import coil_hostile

    print("\nns of the compiler an instruction, 100 kB of text each")
    for family in coil_hostile.FAMILIES:
        path = os.path.join(folder, family)
        with open(path + ".casm", "w", encoding="utf-8") as out:
            out.write(coil_hostile.text(family, 100000))
        subprocess.run([penta, "asm", path + ".casm", "-o", path + ".coil"], check=True)
        of = []
        for level in ("2", "1"):
            done = subprocess.run([penta, "jit", path + ".coil", "--optimize", level, "--json"], capture_output=True)
            made = json.loads(done.stdout)
            of.append(made["nanoseconds"] / max(1, made["instructions_count"]) if "nanoseconds" in made else float("nan"))
        print(f"{family:26}{of[0]:10.0f}{of[1]:10.0f} at level 1")


parser = argparse.ArgumentParser()
parser.add_argument("penta")
parser.add_argument("data")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--peers")
parser.add_argument("--only", default=",".join([*THREE, *FIVE, "compile"]))
options = parser.parse_args()
tool, chosen = os.path.abspath(options.penta), options.only.split(",")
with tempfile.TemporaryDirectory() as work:
    wanted = [p for p in (*THREE, *FIVE) if p in chosen]
    if wanted:
        everybody = {**native_commands(work, options.data), **penta_commands(tool, work, options.data), **peer_commands(options.peers)}
        compare(everybody, wanted, options.rounds)
    if "compile" in chosen:
        compile_times(tool, work, options.rounds)
        hostile_times(tool, work)
