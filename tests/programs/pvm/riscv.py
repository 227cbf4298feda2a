#!/usr/bin/env python3
"""Every RISC-V instruction that the linker takes, in both word sizes, against what it means: operands at the edges,
destinations that are sources, the zero register, loads and stores at all offsets, atomics, compressed code.

    tests/programs/pvm/riscv.py PENTA

A test is a few instructions and what a register holds after them; a program is many tests, and returns the number of
the first that fails. Each program is linked at every level and runs on both engines. Skipped without a clang for PolkaVM.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import ROOT, expect, penta, run_program, skip, summary, write
from llvm import llvm

CLANG = llvm("clang")


# ---- what instructions mean ----

def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def divide(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def rotate(x, n, bits):
    x &= (1 << bits) - 1
    n %= bits
    return x << n | x >> (bits - n)


def leading(x, bits):
    x &= (1 << bits) - 1
    return bits - x.bit_length()


def trailing(x, bits):
    x &= (1 << bits) - 1
    return (x & -x).bit_length() - 1 if x else bits


def register_ops(w):
    """name: function of two unsigned words of w bits."""
    def s(x):
        return signed(x, w)
    sh = w - 1
    low = -(1 << (w - 1))
    return {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "sll": lambda a, b: a << (b & sh), "srl": lambda a, b: a >> (b & sh),
        "sra": lambda a, b: s(a) >> (b & sh), "slt": lambda a, b: s(a) < s(b), "sltu": lambda a, b: a < b,
        "xor": lambda a, b: a ^ b, "or": lambda a, b: a | b, "and": lambda a, b: a & b,
        "mul": lambda a, b: a * b, "mulh": lambda a, b: s(a) * s(b) >> w, "mulhu": lambda a, b: a * b >> w,
        "mulhsu": lambda a, b: s(a) * b >> w,
        "div": lambda a, b: -1 if not b else low if s(a) == low and s(b) == -1 else divide(s(a), s(b)),
        "divu": lambda a, b: a // b if b else -1,
        "rem": lambda a, b: a if not b else 0 if s(a) == low and s(b) == -1 else s(a) - divide(s(a), s(b)) * s(b),
        "remu": lambda a, b: a % b if b else a,
        "andn": lambda a, b: a & ~b, "orn": lambda a, b: a | ~b, "xnor": lambda a, b: ~(a ^ b),
        "min": lambda a, b: min(s(a), s(b)), "max": lambda a, b: max(s(a), s(b)), "minu": min, "maxu": max,
        "rol": lambda a, b: rotate(a, b, w), "ror": lambda a, b: rotate(a, -b, w),
    }


def unary_ops(w):
    return {
        "clz": lambda a: leading(a, w), "ctz": lambda a: trailing(a, w), "cpop": lambda a: bin(a).count("1"),
        "sext.b": lambda a: signed(a, 8), "sext.h": lambda a: signed(a, 16), "zext.h": lambda a: a & 0xFFFF,
        "rev8": lambda a: int.from_bytes(a.to_bytes(w // 8, "little"), "big"),
        "orc.b": lambda a: sum(0xFF << 8 * i for i in range(w // 8) if a >> 8 * i & 0xFF),
        "not": lambda a: ~a, "neg": lambda a: -a, "seqz": lambda a: a == 0, "snez": lambda a: a != 0,
    }


WORD_OPS = ("add", "sub", "sll", "srl", "sra", "mul", "div", "divu", "rem", "remu", "rol", "ror")
VALUES = (0, 1, 2, 3, 7, 31, 32, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
          0x100000000, 0x0123456789ABCDEF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001, 0xFF00FF00FF00FF00,
          0xAAAAAAAAAAAAAAAA, 0xFFFFFFFF80000000, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF)


# ---- programs ----

class Tests:
    def __init__(self, bits):
        self.bits, self.text, self.names = bits, [], []
        self.mask = (1 << bits) - 1
        self.values = sorted({v & self.mask for v in VALUES})

    def test(self, name, lines, register, want):
        """What register (not t2 nor a0) holds after the lines."""
        self.names.append(name)
        self.text += [*lines, f"li t2, {signed(int(want), self.bits)}", f"beq {register}, t2, 1f", f"li a0, {len(self.names)}",
                      "j leave", "1:"]

    def li(self, register, value):
        return f"li {register}, {signed(value, self.bits)}"


def arithmetic(t):
    w = t.bits
    ops = [(n, f, w) for n, f in register_ops(w).items()]
    if w == 64:
        narrow = register_ops(32)
        ops += [(n + "w", (lambda f: lambda a, b: signed(int(f(a & 0xFFFFFFFF, b & 0xFFFFFFFF)), 32))(narrow[n]), w) for n in WORD_OPS]
    for name, f, _ in ops:
        for i, a in enumerate(t.values):
            for k, b in enumerate(t.values):
                if (i * 7 + k) % 3 and i not in (0, len(t.values) - 1):
                    continue
                want = int(f(a, b)) & t.mask
                t.test(f"{name} {a:#x}, {b:#x}", [t.li("a1", a), t.li("a2", b), f"{name} a3, a1, a2"], "a3", want)
        a, b = t.values[-4], t.values[5]
        t.test(f"{name} rd = rs1", [t.li("a1", a), t.li("a2", b), f"{name} a1, a1, a2"], "a1", int(f(a, b)) & t.mask)
        t.test(f"{name} rd = rs2", [t.li("a1", a), t.li("a2", b), f"{name} a2, a1, a2"], "a2", int(f(a, b)) & t.mask)
        t.test(f"{name} rd = rs1 = rs2", [t.li("a1", a), f"{name} a1, a1, a1"], "a1", int(f(a, a)) & t.mask)
        t.test(f"{name} rs1 = zero", [t.li("a2", b), f"{name} a3, zero, a2"], "a3", int(f(0, b)) & t.mask)
        t.test(f"{name} rs2 = zero", [t.li("a1", a), f"{name} a3, a1, zero"], "a3", int(f(a, 0)) & t.mask)
        t.test(f"{name} both zero", [f"{name} a3, zero, zero"], "a3", int(f(0, 0)) & t.mask)
        t.test(f"{name} rd = zero", [t.li("a1", a), f"{name} zero, a1, a1", "mv a3, zero"], "a3", 0)


def unary(t):
    ops = [(n, f) for n, f in unary_ops(t.bits).items()]
    if t.bits == 64:
        ops += [(n + "w", (lambda f: lambda a: f(a & 0xFFFFFFFF))(unary_ops(32)[n])) for n in ("clz", "ctz", "cpop")]
        ops += [("sext.w", lambda a: signed(a, 32)), ("negw", lambda a: signed(-a, 32))]
    for name, f in ops:
        for a in t.values:
            t.test(f"{name} {a:#x}", [t.li("a1", a), f"{name} a3, a1"], "a3", int(f(a)) & t.mask)
        t.test(f"{name} in place", [t.li("a1", 0x80F0), f"{name} a1, a1"], "a1", int(f(0x80F0)) & t.mask)
        t.test(f"{name} zero", [f"{name} a1, zero"], "a1", int(f(0)) & t.mask)


def immediates(t):
    w = t.bits
    ops = register_ops(w)
    plain = [("addi", ops["add"]), ("slti", ops["slt"]), ("sltiu", ops["sltu"]), ("xori", ops["xor"]), ("ori", ops["or"]), ("andi", ops["and"])]
    shifts = [("slli", ops["sll"], w), ("srli", ops["srl"], w), ("srai", ops["sra"], w), ("rori", ops["ror"], w)]
    if w == 64:
        narrow = register_ops(32)

        def low(f):
            return lambda a, b: signed(int(f(a & 0xFFFFFFFF, b & 0xFFFFFFFF)), 32)
        plain.append(("addiw", low(narrow["add"])))
        shifts += [(n + "w", low(narrow[o]), 32) for n, o in (("slli", "sll"), ("srli", "srl"), ("srai", "sra"), ("rori", "ror"))]
    for name, f in plain:
        for a in t.values:
            for imm in (-2048, -1, 0, 1, 7, 0x555, 2047):
                t.test(f"{name} {a:#x}, {imm}", [t.li("a1", a), f"{name} a3, a1, {imm}"], "a3", int(f(a, imm & t.mask)) & t.mask)
        t.test(f"{name} in place", [t.li("a1", 77), f"{name} a1, a1, -9"], "a1", int(f(77, -9 & t.mask)) & t.mask)
        t.test(f"{name} of zero", [f"{name} a1, zero, -9"], "a1", int(f(0, -9 & t.mask)) & t.mask)
    for name, f, width in shifts:
        for a in t.values:
            for n in (0, 1, 7, width // 2, width - 1):
                t.test(f"{name} {a:#x}, {n}", [t.li("a1", a), f"{name} a3, a1, {n}"], "a3", int(f(a, n)) & t.mask)
        t.test(f"{name} in place", [t.li("a1", 0x81), f"{name} a1, a1, 3"], "a1", int(f(0x81, 3)) & t.mask)
    for imm in (0, 1, 0x7FFFF, 0x80000, 0xFFFFF):
        t.test(f"lui {imm:#x}", [f"lui a1, {imm:#x}"], "a1", signed(imm << 12, 32) & t.mask)
    t.test("fences do nothing", ["li a1, 5", "fence", "fence.i", "fence rw, w", "addi a1, a1, 1"], "a1", 6)


def branches(t):
    w = t.bits
    ops = {"beq": lambda a, b: a == b, "bne": lambda a, b: a != b, "blt": lambda a, b: signed(a, w) < signed(b, w),
           "bge": lambda a, b: signed(a, w) >= signed(b, w), "bltu": lambda a, b: a < b, "bgeu": lambda a, b: a >= b}
    for name, f in ops.items():
        for a in t.values:
            for b in t.values[::3] + [a]:
                t.test(f"{name} {a:#x}, {b:#x}", [t.li("a1", a), t.li("a2", b), "li a3, 1", f"{name} a1, a2, 2f", "li a3, 0", "2:"],
                       "a3", f(a, b))
        t.test(f"{name} backwards", ["li a3, 0", "li a1, 3", t.li("a2", 3 if name in ("beq", "bge", "bgeu") else 4 if name[1] == "l" else 5),
                                     "2:", "addi a3, a3, 1", "li a4, 2", "bge a3, a4, 3f", f"{name} a1, a2, 2b", "3:"], "a3", 2)
        t.test(f"{name} with itself", ["li a1, 9", "li a3, 1", f"{name} a1, a1, 2f", "li a3, 0", "2:"], "a3", f(9, 9))
        t.test(f"{name} with zero", ["li a1, 9", "li a3, 1", f"{name} zero, a1, 2f", "li a3, 0", "2:"], "a3", f(0, 9))
    t.test("jal", ["li a3, 1", "jal a4, 2f", "li a3, 0", "2:"], "a3", 1)
    t.test("jalr to a return address", ["li a3, 0", "jal a4, 2f", "li a3, 7", "j 3f", "2:", "jr a4", "3:"], "a3", 7)
    t.test("jalr, rd = rs1", ["la a4, 2f", "li a3, 0", "jalr a4, a4", "j 3f", "2:", "li a3, 5", "jr a4", "3:"], "a3", 5)
    t.test("jalr to data's code address", ["la a4, table", ("ld" if w == 64 else "lw") + " a4, 0(a4)", "li a3, 3", "jalr a5, a4"], "a3", 11)


def memory(t):
    sizes = [("b", 1), ("h", 2), ("w", 4)] + [("d", 8)] * (t.bits == 64)
    pattern = bytes((i * 37 + 129) & 0xFF for i in range(64))
    for name, size in sizes:
        kinds = [(f"l{name}", True)] + [(f"l{name}u", False)] * (size < t.bits // 8)
        for load, is_signed in kinds:
            for at in (0, 1, 3, 8, 17, 31):
                value = int.from_bytes(pattern[at:at + size], "little", signed=is_signed) & t.mask
                t.test(f"{load} at {at}", ["la a1, pattern", f"{load} a3, {at}(a1)"], "a3", value)
                t.test(f"{load} at -{at}", [f"la a1, pattern + 40", f"{load} a1, {at - 40}(a1)"], "a1", value)
            t.test(f"{load} to zero", ["la a1, pattern", f"{load} zero, 0(a1)", "mv a3, zero"], "a3", 0)
        for at in (0, 1, 5, 8, 19):
            for value in t.values[::3]:
                t.test(f"s{name} {value:#x} at {at}", ["la a1, space", t.li("a2", value), t.li("a4", -1), *(f"sb a4, {i}(a1)" for i in range(at, at + size + 1)),
                                                     f"s{name} a2, {at}(a1)", f"lbu a3, {at + size}(a1)", f"l{name} a4, {at}(a1)", "slli a3, a3, 1", "add a3, a3, a4"],
                       "a3", (255 * 2 + signed(value, 8 * size)) & t.mask)
        t.test(f"s{name} zero", ["la a1, space + 8", f"s{name} zero, -8(a1)", f"l{name} a3, -8(a1)"], "a3", 0)
        t.test(f"s{name} of its address", ["la a1, space", f"s{name} a1, 0(a1)", f"l{name} a3, 0(a1)", "sub a3, a3, a1",
                                           f"slli a3, a3, {t.bits - 8 * size}"], "a3", 0)


def atomics(t):
    for suffix, size in [("w", 4)] + [("d", 8)] * (t.bits == 64):
        bits = 8 * size
        mask = (1 << bits) - 1
        ops = {"swap": lambda a, b: b, "add": lambda a, b: a + b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
               "xor": lambda a, b: a ^ b, "min": lambda a, b: min(signed(a, bits), signed(b, bits)),
               "max": lambda a, b: max(signed(a, bits), signed(b, bits)),
               "minu": lambda a, b: min(a & mask, b & mask), "maxu": lambda a, b: max(a & mask, b & mask)}
        put, get = f"s{suffix}", f"l{suffix}"
        for name, f in ops.items():
            op = f"amo{name}.{suffix}"
            for a in t.values[::2]:
                for b in t.values[1::3]:
                    start = ["la a1, space", t.li("a2", a), f"{put} a2, 0(a1)", t.li("a2", b)]
                    new, old = signed(int(f(a, b)), bits) & t.mask, signed(a, bits) & t.mask
                    t.test(f"{op} {a:#x}, {b:#x}: old", [*start, f"{op} a3, a2, (a1)"], "a3", old)
                    t.test(f"{op} {a:#x}, {b:#x}: new", [*start, f"{op} a3, a2, (a1)", f"{get} a4, 0(a1)"], "a4", new)
            start = ["la a1, space", "mv a5, a1", t.li("a2", 0x85), f"{put} a2, 0(a1)", t.li("a2", 0x39)]
            new = signed(int(f(0x85, 0x39)), bits) & t.mask
            for rd, rs2, value, register in (("a2", "a2", 0x85, "a2"), ("a1", "a2", 0x85, "a1"), ("zero", "a2", 0, "zero")):
                t.test(f"{op} {rd}, {rs2}", [*start, f"{op} {rd}, {rs2}, (a1)", f"mv a4, {register}"], "a4", value)
                t.test(f"{op} {rd}, {rs2}: new", [*start, f"{op} {rd}, {rs2}, (a1)", f"{get} a4, 0(a5)"], "a4", new)
            t.test(f"{op} of zero", [*start, f"{op}.aqrl a3, zero, (a1)", f"{get} a4, 0(a1)"], "a4", signed(int(f(0x85, 0)), bits) & t.mask)
        t.test(f"lr and sc.{suffix}", ["la a1, space", "li a2, 40", f"{put} a2, 0(a1)", f"2: lr.{suffix} a3, (a1)", "addi a3, a3, 2",
                                       f"sc.{suffix} a4, a3, (a1)", "bnez a4, 2b", f"{get} a3, 0(a1)"], "a3", 42)
        t.test(f"sc.{suffix} stores", ["la a1, space", f"lr.{suffix}.aq a3, (a1)", "li a2, 9", f"sc.{suffix}.rl a2, a2, (a1)",
                                       f"{get} a3, 0(a1)", "add a3, a3, a2"], "a3", 9)


def compressed(t):
    """Compressed forms by name: the assembler refuses one that does not exist."""
    d = "d" if t.bits == 64 else "w"
    step = 8 if t.bits == 64 else 4
    keep = ["mv a5, sp"]
    back = ["mv sp, a5"]
    t.test("c.li, c.addi", ["c.li a3, -32", "c.addi a3, 31"], "a3", -1)
    t.test("c.lui", ["c.lui a3, 0xfffe1"], "a3", signed(0xFFFE1000, 32))
    t.test("c.mv, c.add", ["li a1, 5", "c.mv a3, a1", "c.add a3, a1"], "a3", 10)
    t.test("c.sub, c.xor, c.or, c.and", ["li a3, 100", "li a1, 58", "c.sub a3, a1", "c.xor a3, a1", "c.or a3, a1", "c.and a3, a1"], "a3", ((42 ^ 58) | 58) & 58)
    t.test("c.slli, c.srli, c.srai, c.andi", ["li a3, -5", f"c.slli a3, {t.bits - 4}", "c.srai a3, 2", f"c.srli a3, {t.bits - 9}", "c.andi a3, 29"], "a3",
           (((signed(((-5) << (t.bits - 4)) & t.mask, t.bits) >> 2) & t.mask) >> (t.bits - 9)) & 29)
    t.test("c.lw, c.sw", ["la a4, space", "li a1, -7", "c.sw a1, 124(a4)", "c.lw a3, 124(a4)"], "a3", -7)
    t.test("c.addi16sp, c.addi4spn", keep + ["c.addi16sp sp, -64", "c.addi4spn a3, sp, 60", "sub a3, a3, a5"] + back, "a3", -4)
    t.test("c.swsp, c.lwsp", keep + ["c.addi16sp sp, -64", "li a1, 77", "c.swsp a1, 12(sp)", "c.lwsp a3, 12(sp)"] + back, "a3", 77)
    t.test("c.beqz, c.bnez, c.j", ["li a1, 0", "li a3, 1", "c.beqz a1, 2f", "li a3, 9", "2: c.addi a3, 1", "c.bnez a3, 3f", "li a3, 9", "3: c.j 4f",
                                    "li a3, 9", "4:"], "a3", 2)
    t.test("c.jr, c.jalr", ["la a4, 2f", "li a3, 3", "c.jr a4", "li a3, 9", "2: la a4, 3f", "mv a5, ra", "c.jalr a4", "c.addi a3, 4", "c.j 4f",
                             "3: c.addi a3, 2", "c.jr ra", "4: mv ra, a5"], "a3", 9)
    t.test("c.nop", ["li a3, 4", "c.nop", "c.nop"], "a3", 4)
    if t.bits == 64:
        t.test("c.ld, c.sd", ["la a4, space", "li a1, -9", "c.sd a1, 120(a4)", "c.ld a3, 120(a4)"], "a3", -9)
        t.test("c.sdsp, c.ldsp", keep + ["c.addi16sp sp, -64", "li a1, -8", "c.sdsp a1, 24(sp)", "c.ldsp a3, 24(sp)"] + back, "a3", -8)
        t.test("c.addw, c.subw, c.addiw", ["li a3, 0x7fffffff", "li a1, 1", "c.addw a3, a1", "c.addiw a3, -1", "c.subw a3, a1"], "a3", 0x7FFFFFFE)
    else:
        t.test("c.jal", ["mv a5, ra", "li a3, 3", "c.jal 2f", "c.addi a3, 4", "c.j 3f", "2: c.addi a3, 1", "c.jr ra", "3: mv ra, a5"], "a3", 8)
    t.test(f"code at odd halves, s{d}", ["la a1, space", "c.nop", f"s{d} a1, {step}(a1)", "c.nop", f"l{d} a3, {step}(a1)", "sub a3, a3, a1"], "a3", 0)


FRAME = """#include "penta_guest.h"
__asm__(".globl run\\nrun:\\n"
{0}
"li a0, 0\\nleave: ret\\n.globl landing\\nlanding: li a3, 11\\njr a5\\n"
".section .rodata\\npattern: .byte {1}\\n.data\\n.balign 16\\nspace: .zero 256\\n.balign 8\\ntable: {2} landing\\n.text\\n");
long run(void);
PENTA_EXPORT(run, 0);
"""


def run_tests(work, bits, part):
    t = Tests(bits)
    part(t)
    arch = [f"--target=riscv{bits}-unknown-none-elf", f"-march=rv{bits}emac_zbb", "-mabi=" + ("lp64e" if bits == 64 else "ilp32e")]
    pattern = ",".join(str((i * 37 + 129) & 0xFF) for i in range(64))
    source, name = os.path.join(work, "t.c"), f"rv{bits} {part.__name__}"
    body = "\n".join(f'"{line}\\n"' for line in t.text)
    write(source, FRAME.format(body, pattern, ".8byte" if bits == 64 else ".4byte"))
    done = run_program(CLANG, *arch, "-fPIE", "-mcmodel=medany", "-mno-relax", "-I", ROOT + "/guest/include", "-c", source, "-o",
                       work + "/t.o", text=True)
    expect(done.returncode == 0, f"{name} assembles", done.stderr[:600])
    for level in "012":
        done = penta("link", work + "/t.o", "-O" + level, "-o", work + "/t.polkavm", text=True)
        expect(done.returncode == 0, f"{name} -O{level} links", done.stderr[:600])
        for engine in ("interp", "jit"):
            done = penta("run", work + "/t.polkavm", "--call", "run", "--engine", engine, "--exit-value", text=True)
            first = re.search(r"a0 *=? *(0x[0-9a-f]+|\d+)", done.stdout)
            number = int(first.group(1), 0) if first else 0
            what = t.names[number - 1] if 0 < number <= len(t.names) else done.stdout[:200]
            expect(done.returncode == 0 and "halt" in done.stdout, f"{name} -O{level} {engine}", what)
    return len(t.names)


def main():
    if not CLANG:
        skip("no clang for PolkaVM")
    count = 0
    with tempfile.TemporaryDirectory() as work:
        for bits in (64, 32):
            for part in (arithmetic, unary, immediates, branches, memory, atomics, compressed):
                count += run_tests(work, bits, part)
    return summary(f"; {count} tests of instructions")


sys.exit(main())
