#!/usr/bin/env python3
"""The ABI of guest programs: random functions, callers and callees compiled at different levels, agree on every value.

    tests/programs/guest/abi.py PENTA CALLS [SEED]

A callee compares its parameters with what the caller passes, the caller compares the result: integers and floating point of all
sizes, pointers, structs and unions by value, variable arguments. Skipped where penta-cc has no compiler.
"""
import os
import random
import sys

import kit
from kit import CC, run
from support import PENTA, equal, run_program, write

CALLS, SEED = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
PER_PROGRAM = 100
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
HEAD = """#include <stdarg.h>
#include <stdio.h>
#include <string.h>
extern int wrong;
#define CHECK(call, what) do { if (!(what)) { wrong++; printf("call %d: %s\\n", call, #what); } } while (0)
"""


class Scalar:
    """A type with a name, and how a value of it is written."""
    def __init__(self, name, bits=0, signed=False, floating=""):
        self.name, self.bits, self.signed, self.floating = name, bits, signed, floating

    def value(self, r):
        if self.floating:
            return f"{r.randint(-4000, 4000) / 8}{self.floating}"
        if self.name == "void *":
            return f"(void *){r.getrandbits(32):#x}u"
        x = r.choice((0, 1, r.getrandbits(self.bits), r.getrandbits(8), (1 << self.bits) - 1))
        if self.bits == 128:
            return f"((__int128){r.getrandbits(62):#x}LL << 64 | {x & (2**64 - 1):#x}ULL)"
        x &= (1 << self.bits) - 1
        return f"({self.name}){x:#x}ULL" if self.bits > 1 else str(x)

    def same(self, place, value):
        return [f"{place} == {value}"]


class Struct:
    """A struct or union whose members are scalars, arrays of them or other structs."""
    def __init__(self, name, members, union=False):
        self.name, self.members, self.union = name, members, union

    def declaration(self):
        lines = [f"    {t.name} m{i}{f'[{n}]' if n else ''};" for i, (t, n) in enumerate(self.members)]
        return f"{self.name} {{\n" + "\n".join(lines) + "\n};\n"

    def value(self, r):
        members = self.members[:1] if self.union else self.members
        parts = ["{" + ", ".join(t.value(r) for _ in range(n)) + "}" if n else t.value(r) for t, n in members]
        return f"({self.name}){{" + ", ".join(parts) + "}"

    def same(self, place, value):
        """Compares all members with those of a second value, which the caller of this puts into a variable."""
        out = []
        for i, (t, n) in enumerate(self.members[:1] if self.union else self.members):
            for k in range(n or 1):
                index = f"[{k}]" if n else ""
                out += t.same(f"{place}.m{i}{index}", f"{value}.m{i}{index}")
        return out


def scalars(wide):
    both = [Scalar("_Bool", 1), Scalar("signed char", 8, True), Scalar("unsigned char", 8), Scalar("short", 16, True),
            Scalar("unsigned short", 16), Scalar("int", 32, True), Scalar("unsigned", 32), Scalar("long", 64 if wide else 32, True),
            Scalar("unsigned long", 64 if wide else 32), Scalar("long long", 64, True), Scalar("unsigned long long", 64),
            Scalar("float", floating="f"), Scalar("double", floating=""), Scalar("long double", floating="L"), Scalar("void *", 32)]
    both[12].floating = " "
    return both + [Scalar("__int128", 128, True)] if wide else both


def variadic(types):
    """What may be passed after the dots without being promoted."""
    return [t for t in types if not isinstance(t, Scalar) or t.floating in (" ", "L") or t.bits >= 32 or t.name == "void *"]


def structs(r, plain):
    made = []
    for i in range(12):
        members = []
        for _ in range(r.choice((1, 1, 2, 2, 3, 4, 6))):
            kind = r.choice(plain + made[-2:]) if r.random() < 0.25 else r.choice(plain)
            members.append((kind, r.choice((0, 0, 0, 0, 2, 3))))
        union = r.random() < 0.15
        made.append(Struct(f"{'union' if union else 'struct'} t{i}", members, union))
    return made


def compare(call, t, place, text):
    return f"    {{ {t.name} want = {text}; " + " ".join(f"CHECK({call}, {c});" for c in t.same(place, "want")) + " }\n"


def sources(r, wide, first):
    """The texts of a header, of callees and of callers."""
    plain = scalars(wide)
    own = structs(r, plain)
    types = plain + own
    header = HEAD + "".join(t.declaration() for t in own)
    callees = callers = '#include "types.h"\n'
    callees += "int wrong;\n"
    body = ""
    for call in range(first, first + PER_PROGRAM):
        result, fixed = r.choice(types), [r.choice(types) for _ in range(r.randint(1, 10))]
        extra = [r.choice(variadic(types)) for _ in range(r.randint(1, 6))] if r.random() < 0.4 else []
        values = [t.value(r) for t in fixed + extra]
        back = result.value(r)
        prototype = f"{result.name} f{call}(" + ", ".join(f"{t.name} p{i}" for i, t in enumerate(fixed)) + (", ..." if extra else "") + ")"
        header += prototype + ";\n"
        callees += prototype + "\n{\n" + "".join(compare(call, t, f"p{i}", values[i]) for i, t in enumerate(fixed))
        if extra:
            callees += f"    va_list list, copy;\n    va_start(list, p{len(fixed) - 1});\n    va_copy(copy, list);\n"
            for name in ("list", "copy"):
                for i, t in enumerate(extra):
                    callees += f"    {{ {t.name} v = va_arg({name}, {t.name});\n{compare(call, t, 'v', values[len(fixed) + i])}    }}\n"
                callees += f"    va_end({name});\n"
        callees += f"    return {back};\n}}\n"
        # the frame has another size in every caller
        pad = r.randint(1, 40)
        pointer = r.random() < 0.3
        callers += (f"__attribute__((noinline)) static void call{call}(void)\n{{\n    volatile char pad[{pad}] = {{1}};\n    (void)pad;\n"
                    + (f"    __typeof__(f{call}) *volatile go = f{call};\n" if pointer else "")
                    + f"    {result.name} got = {'go' if pointer else f'f{call}'}(" + ", ".join(values) + ");\n"
                    + compare(call, result, "got", back) + "}\n")
        body += f"    call{call}();\n"
    callers += f'int main(void)\n{{\n{body}    printf("%d wrong\\n", wrong);\n    return wrong != 0;\n}}\n'
    return header, callees, callers


def pairs(work):
    env = {**os.environ, "PENTA": PENTA}
    for first in range(0, CALLS, PER_PROGRAM):
        r = random.Random(SEED * 1000003 + first)
        bits = r.choice((64, 64, 32))
        for name, text in zip(("types.h", "callee.c", "caller.c"), sources(r, bits == 64, first)):
            write(os.path.join(work, name), text)
        levels = [r.choice(LEVELS), r.choice(LEVELS)]
        for name, level in zip(("callee", "caller"), levels):
            done = run_program(CC, "-w", f"-m{bits}", level, "-c", name + ".c", "-o", name + ".o", cwd=work, env=env, text=True)
            equal(f"calls from {first}, {name} {level}", (done.returncode, done.stderr[:2000]), (0, ""))
        done = run_program(CC, f"-m{bits}", "callee.o", "caller.o", "-o", "pair", cwd=work, env=env, text=True)
        equal(f"calls from {first} link", (done.returncode, done.stderr), (0, ""))
        equal(f"calls from {first}, {bits} bits, callee {levels[0]}, caller {levels[1]}", run(os.path.join(work, "pair")), (0, b"0 wrong\n", b""))


sys.exit(kit.main(pairs))
