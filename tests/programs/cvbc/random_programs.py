#!/usr/bin/env python3
"""random_programs.py PENTA COUNT [SEED]: random programs of the language of sketches print the same numbers as
`gcc -fwrapv` makes of them. Integers of all widths, floats, arrays, structs, pointers, functions and pointers to them;
every loop has a counter, and no expression reads what another part of it changes, so that C leaves nothing open."""
import os
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import COMMANDS, expect, has_command, run_program, skip, summary, write

INTEGERS = ["int", "unsigned int", "short", "unsigned short", "signed char", "unsigned char", "char", "bool"]
BATCH = 50
HEAD = """#include <stdint.h>
union bits { float f; int i; };
void show(int v) { printf("%d\\n", v); }
void show_real(float v) { union bits u; u.f = v; show(v != v ? 1 : u.i); }
int whole(float v) { return v > -1e9f && v < 1e9f ? (int)v : 7; }
"""


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.count, self.depth = [], 0, 0
        self.functions = []  # (name, result, parameters)

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def constant(self):
        r = self.random
        return self.pick(str(r.randrange(-9, 10)), str(r.randrange(256)), f"{r.randrange(1 << 32)}u", str(r.randrange(1 << 31)),
                         f"-{r.randrange(1 << 31)}", f"'{chr(r.randrange(97, 123))}'", hex(r.randrange(1 << 16)), "2147483647", "(-2147483647 - 1)")

    # what is in sight: names with their types; arrays have a size that is a power of two
    def integer(self, depth=0):
        """An integer expression without side effects."""
        r = self.random
        if depth > 3 or r.random() < 0.25:
            leaves = [v for v, t in self.scope if t in INTEGERS] + [(a, n) for a, t, n in self.arrays if t in INTEGERS]
            leaves += [f"{s}.{m}" for s in self.structs for m, t in self.members if t in INTEGERS] + [f"*{p}" for p in self.pointers]
            leaf = r.choice(leaves) if leaves and r.random() < 0.8 else self.constant()
            return leaf if isinstance(leaf, str) else f"{leaf[0]}[{self.index(leaf[1], depth + 2)}]"
        kind, a, b = r.randrange(11), self.integer(depth + 1), self.integer(depth + 1)
        if kind == 0:
            return self.real_test(depth + 1)
        if kind == 1:
            return f"({a} ? {b} : {self.integer(depth + 1)})"
        return self.pick(f"({a} {self.pick('+', '-', '*', '&', '|', '^')} {b})", f"({a} {self.pick('<', '>', '<=', '>=', '==', '!=')} {b})",
                         f"({a} {self.pick('/', '%')} (({b} & 15) + 1))", f"({a} {self.pick('/', '%')} ({b} | 1u))", f"({a} {self.pick('<<', '>>')} ({b} & 31))",
                         f"({a} {self.pick('&&', '||')} {b})", f"({self.pick('-', '~', '!', '+')} {a})",
                         f"(({self.pick(*INTEGERS)}){a})", f"({a} {self.pick('+', '-', '*')} {b})")

    def real_test(self, depth):
        a, b = self.real(depth + 1), self.real(depth + 1)
        return self.pick(f"whole({a})", f"({a} {self.pick('<', '>', '<=', '>=', '==', '!=')} {b})", f"(! {a})", f"({a} && {b})")

    def real(self, depth=0):
        r = self.random
        if depth > 3 or r.random() < 0.3:
            leaves = [v for v, t in self.scope if t == "float"] + [f"{s}.{m}" for s in self.structs for m, t in self.members if t == "float"]
            constant = self.pick("0.5f", "1.0f", "-3.25f", "1e10f", "1e-20f", "3.4e38f", "1e-40f", "0.0f", f"{r.uniform(-99, 99):.6f}f", f"{r.uniform(0, 1):.9f}f")
            return r.choice(leaves) if leaves and r.random() < 0.7 else constant
        if r.random() < 0.2:
            return f"((float){self.integer(depth + 1)})"
        a, b = self.real(depth + 1), self.real(depth + 1)
        whole = self.integer(depth + 2)
        return self.pick(f"({a} {self.pick('+', '-', '*', '/')} {b})", f"({a} {self.pick('+', '-', '*', '/')} {b})", f"(- {a})", f"({whole} ? {a} : {b})",
                         f"({a} + {whole})")

    def index(self, size, depth=0):
        known = depth > 4 or self.random.random() < 0.4
        return str(self.random.randrange(size)) if known else f"{self.integer(depth + 1)} & {size - 1}"

    def value(self, kind):
        return self.real() if kind == "float" else self.integer() if self.random.random() < 0.9 else self.real_test(1)

    def target(self):
        """Something to assign to, and its type. What is counted or points is left alone."""
        places = [(v, t) for v, t in self.scope if v not in self.fixed]
        places += self.arrays + [(f"{s}.{m}", t) for s in self.structs for m, t in self.members] + [(f"*{p}", "int") for p in self.pointers]
        place = self.random.choice(places)
        return place if len(place) == 2 else (f"{place[0]}[{self.index(place[2])}]", place[1])

    def put(self, text):
        self.lines.append("  " * self.depth + text)

    def statement(self):
        r = self.random
        kind = r.randrange(14)
        if kind < 4:
            place, t = self.target()
            self.put(f"{place} = {self.value(t)};")
        elif kind < 6:
            place, t = self.target()
            if t == "float":
                self.put(f"{place} {self.pick('+=', '-=', '*=', '/=')} {self.real()};")
            elif t != "bool":
                self.put(self.pick(f"{place} {self.pick('+=', '-=', '*=', '&=', '|=', '^=')} {self.integer()};", f"{place} {self.pick('<<=', '>>=')} {self.integer()} & 31;",
                                   f"{place} {self.pick('/=', '%=')} ({self.integer()} & 7) + 1;", f"{self.pick('++', '--')}{place if place[0] != '*' else '(' + place + ')'};"))
        elif kind == 6:
            place, t = self.target()
            simple = [v for v, k in self.scope if v not in self.fixed and k not in ("float", "bool") and v != place and v not in place]
            if simple and "*" not in place:
                v = r.choice(simple)
                self.put(f"{place} = {self.pick(v + '++', '++' + v, v + '--', '--' + v)};")
        elif kind == 7:
            self.put(f"if ({self.integer()}) {{")
            self.block(2)
            if r.random() < 0.5:
                self.put("} else {")
                self.block(2)
            self.put("}")
        elif kind == 8 and self.loops < 2:
            self.loops += 1
            i = self.name("i")
            self.put(self.pick(f"for (int {i} = 0; {i} < {r.randrange(1, 6)}; {i}++) {{", f"int {i} = {r.randrange(1, 5)}; while ({i}-- > 0) {{",
                               f"int {i} = 0; do {{"))
            loop = self.lines[-1].strip()
            self.scope.append((i, "int"))
            self.fixed.add(i)
            if r.random() < 0.3:
                self.put(f"  if ({self.integer()}) {self.pick('break', 'continue') if 'do {' not in loop else 'break'};")
            self.block(3)
            self.put(f"}} while (++{i} < 4);" if "do {" in loop else "}")
            if loop.startswith("for"):
                self.scope.remove((i, "int"))
            self.loops -= 1
        elif kind == 9:
            self.put(f"switch ({self.integer()} & 3) {{")
            for case in r.sample(range(4), r.randrange(1, 4)):
                self.put(f"case {case}: {{")
                self.block(1)
                self.put("}" if r.random() < 0.4 else "} break;")
            if r.random() < 0.5:
                self.put("default: {")
                self.block(1)
                self.put("}")
            self.put("}")
        elif kind in (10, 11) and self.functions:
            name, result, parameters = r.choice(self.functions)
            arguments = ", ".join(self.value(t) for t in parameters)
            place, t = self.target()
            if "[" not in place and "*" not in place:
                call = f"{name}({arguments})"
                self.put(f"{place} = {f'whole({call})' if result == 'float' and t != 'float' else call};")
        elif kind == 12:
            t = self.pick(*INTEGERS, "float")
            v = self.name("v")
            self.put(f"{t} {v} = {self.value(t)};")
            self.scope.append((v, t))
        elif kind == 13 and self.pointers:
            p = r.choice(self.pointers)
            a, t, n = r.choice([a for a in self.arrays if a[1] == "int"])
            self.put(f"{p} = {self.pick(f'&{a}[{self.index(n)}]', f'{a} + ({self.integer()} & {n - 1})')};")

    def block(self, count):
        scope, pointers = list(self.scope), list(self.pointers)
        self.depth += 1
        for _ in range(self.random.randrange(1, count + 1)):
            if len(self.lines) < 120:
                self.statement()
        self.depth -= 1
        self.scope, self.pointers = scope, pointers

    def function(self):
        name, result = self.name("f"), self.pick(*INTEGERS, "float")
        parameters = [self.pick(*INTEGERS, "float") for _ in range(self.random.randrange(4))]
        scope, pointers = list(self.scope), list(self.pointers)
        names = [self.name("p") for _ in parameters]
        self.put(f"{result} {name}({', '.join(f'{t} {n}' for t, n in zip(parameters, names))}) {{")
        self.scope += list(zip(names, parameters))
        self.depth += 1
        if self.random.random() < 0.5:
            a = self.name("a")
            self.put(f"int {a}[4] = {{{self.integer()}, 2, {self.random.randrange(99)}}};")
            self.arrays.append((a, "int", 4))
            local = True
        else:
            local = False
        if self.random.random() < 0.6:
            v, p = self.name("v"), self.name("q")
            self.put(f"int {v} = {self.integer()}; int *{p} = &{v};")
            self.scope.append((v, "int"))
            self.pointers.append(p)
        for _ in range(self.random.randrange(2, 6)):
            self.statement()
        self.put(f"return {self.value(result)};")
        self.depth -= 1
        self.put("}")
        if local:
            self.arrays.pop()
        self.scope, self.pointers = scope, pointers
        self.functions.append((name, result, parameters))

    def text(self):
        r = self.random
        self.scope, self.arrays, self.structs, self.pointers, self.fixed, self.loops = [], [], [], [], set(), 0
        self.members = [(f"m{i}", self.pick(*INTEGERS, "float")) for i in range(r.randrange(1, 5))]
        self.put("struct s { " + " ".join(f"{t} {m};" for m, t in self.members) + " };")
        for _ in range(r.randrange(2, 7)):
            t, v = self.pick(*INTEGERS, "float"), self.name("g")
            self.put(f"{t} {v} = {self.pick('1.5f', '-2.0f', '7') if t == 'float' else self.constant()};")
            self.scope.append((v, t))
        for _ in range(r.randrange(1, 4)):
            t, a, n = self.pick(*INTEGERS, "int"), self.name("t"), self.pick(4, 8, 16)
            self.put(f"{t} {a}[{n}] = {{{', '.join(self.constant() for _ in range(r.randrange(1, 4)))}}};")
            self.arrays.append((a, t, n))
        t = self.name("t")
        self.put(f"int {t}[8] = {{1, 2, 3}};")
        self.arrays.append((t, "int", 8))
        for _ in range(r.randrange(3)):
            s = self.name("s")
            self.put(f"struct s {s};")
            self.structs.append(s)
        shown = list(self.scope), list(self.arrays), list(self.structs)
        for _ in range(r.randrange(1, 4)):
            self.function()
        self.put("int run() {")
        self.depth = 1
        same = [f for f in self.functions if f[1:] == self.functions[0][1:]]
        if r.random() < 0.4:
            name, result, parameters = same[0]
            self.put(f"{result} (*c1[2])({', '.join(parameters) or 'void'}) = {{{r.choice(same)[0]}, {r.choice(same)[0]}}};")
            self.functions.append((f"c1[{self.integer()} & 1]", result, parameters))
        if r.random() < 0.4:
            s = self.name("l")
            self.put(f"struct s {s}, *{s}p = &{s}; " + " ".join(f"{s}p->{m} = {self.value(t)};" for m, t in self.members))
            if self.structs:
                self.put(f"{self.structs[0]} = *{s}p; {s}p = &{self.structs[0]};")
            self.structs.append(f"(*{s}p)")
        for _ in range(r.randrange(3, 10)):
            self.statement()
        for v, t in shown[0]:
            self.put(f"{'show_real' if t == 'float' else 'show'}({v});")
        for a, t, n in shown[1]:
            self.put(f"for (int i = 0; i < {n}; i++) {{ show({a}[i]); }}")
        for s in shown[2]:
            for m, t in self.members:
                self.put(f"{'show_real' if t == 'float' else 'show'}({s}.{m});")
        self.put("return 0;")
        self.depth = 0
        self.put("}")
        return "\n".join(self.lines) + "\n"


def native(texts):
    """What gcc makes of the programs: their output, one after the other."""
    main = "#include <stdio.h>\n#include <stdbool.h>\n" + HEAD
    for i, text in enumerate(texts):
        # Programs of one batch are one file: their names get a number by a macro.
        main += f"#define run run_{i}\n" + renamed(text, i) + "#undef run\n"
    main += "int main(void) {\n" + "".join(f"run_{i}(); printf(\"=\\n\");\n" for i in range(len(texts))) + "return 0; }\n"
    write("native.c", main.encode())
    # With -frounding-math gcc 12 does not make -x of 0.0f - x, which has another sign where x is 0.
    run_program("gcc", "-w", "-O1", "-std=gnu17", "-fwrapv", "-fsigned-char", "-ffp-contract=off", "-frounding-math", "-fno-strict-aliasing", "native.c", "-o", "native",
                needed=True, text=True)
    done = run_program("./native", text=True, seconds=60)
    if done.returncode and len(texts) == 1:
        return [None]  # gcc 12 makes a / -b of -(a / b), also where that is -2147483648 / -1
    return [native([text])[0] for text in texts] if done.returncode else done.stdout.split("=\n")[:-1]


def renamed(text, number):
    """The names of the file, which all have a number at their end, with the number of the program before it."""
    text = re.sub(r"\b([gtsfapqvlimc])(\d+)(p?)\b", rf"\g<1>{number}_\g<2>\3", text)
    return re.sub(r"\bstruct s\b", f"struct s_{number}", text)


def command(*words):
    return COMMANDS.call(*words, env={"NO_COLOR": ""}, text=True)


def main():
    count = int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if not has_command("gcc"):
        skip("no gcc")
    crashed = 0
    for first in range(seed, seed + count, BATCH):
        seeds = range(first, min(first + BATCH, seed + count))
        texts = [Program(number).text() for number in seeds]
        for number, text, wanted in zip(seeds, texts, native(texts)):
            crashed += wanted is None
            if wanted is None:
                continue
            source, made = os.path.abspath("p.ino"), os.path.abspath("p.cvbc")
            write(source, (HEAD + text + "int main() { return run(); }\n").encode())
            more = ["--portable"] if number % 4 == 0 else []
            done = command("compile", source, *more, "-o", made)
            if not expect(done.returncode == 0, f"program {number} compiles: {done.stderr[:600]}"):
                continue
            got = command("run", "-q", "--budget", "100000000", made).stdout
            expect(got.rsplit("halt ", 1)[0] == wanted, f"program {number} prints what gcc's prints:\n{got[-300:]}\nwanted\n{wanted[-200:]}")
    expect(crashed <= 1 + count // 1000, f"{crashed} of {count} programs crash as gcc makes them")
    return summary()


if __name__ == "__main__":
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        code = main()
    finally:
        shutil.rmtree(folder)
    sys.exit(code)
