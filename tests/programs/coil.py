#!/usr/bin/env python3
"""What case files cannot say about COIL: linking several objects, archives, converting byte orders.

    tests/programs/coil.py PENTA
"""
import json
import math
import os
import random
import re
import sys
from fractions import Fraction

from support import PENTA, assembled, expect, in_one_folder, penta, run_program, tests_of, write

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases", "coil")
MAIN = ".global main\n.func main\n    {}\n    RET\n.endfunc\n"
EMPTY = MAIN.format("NOP")
CALLEE = ".global g\n.func g\n    RET\n.endfunc\n"


def wrap(value, kind):
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "i" and value >> (bits - 1) else value


def solve(rows):
    """The inverse, cut toward zero, or None; and the determinant."""
    n, determinant = len(rows), Fraction(1)
    m = [[Fraction(x) for x in row] + [Fraction(i == k) for k in range(n)] for i, row in enumerate(rows)]
    for c in range(n):
        pivot = next((r for r in range(c, n) if m[r][c]), None)
        if pivot is None:
            return None, 0
        if pivot != c:
            m[c], m[pivot], determinant = m[pivot], m[c], -determinant
        head = m[c][c]
        determinant *= head
        m[c] = [x / head for x in m[c]]
        for r in range(n):
            if r != c and m[r][c]:
                m[r] = [x - m[r][c] * y for x, y in zip(m[r], m[c])]
    return [int(x) for row in m for x in row[n:]], int(determinant)


def link_error(name, code, *texts, args=(), patch=None):
    files = [assembled(f"{name}{i}.casm", text) for i, text in enumerate(texts)]
    if patch:
        path = files[-1]
        data = bytearray(open(path, "rb").read())
        data[patch[0] : patch[0] + len(patch[1])] = patch[1]
        open(path, "wb").write(data)
    done = penta("link", *files, "-o", name + ".out", "--json", *args)
    codes = [d["code"] for d in json.loads(done.stdout).get("diagnostics", [])]
    expect(done.returncode == 1 and codes and codes[0] == code, name, f"{code}: {codes}")


def test_link_refuses():
    link_error("endian", "COIL0080", EMPTY, ".endian big\n" + CALLEE)
    for target in ("arm, a64", "arm, t32", "riscv, rv64"):
        head = f".target cpu, {target}\n.align code\n"
        odd = ".func NAME\n    PUSH u8 7\n    CMP u8 3, u8 4\n    RET\n.endfunc\n"
        parts = [assembled(("aligned" + name) + ".casm", head + f".global {name}\n" + odd.replace("NAME", name)) for name in ("main", "g", "h")]
        done = penta("link", *parts, "-o", "aligned.coil")
        expect(done.returncode == 0, "aligned objects", done.stderr.decode())
        for path in (*parts, "aligned.coil"):
            done = penta("validate", "--strict", path)
            expect(done.returncode == 0, f"{path} for {target}", done.stderr.decode())
    link_error("target", "COIL0081", ".target cpu x86 x64\n" + EMPTY, ".target cpu arm x64\n" + CALLEE)
    link_error("damaged", "COIL0061", EMPTY, CALLEE, patch=(6, b"\x02"))
    link_error("section_type", "COIL0083", EMPTY + ".section .x, 2, 3, 1\n    .u8 1\n", CALLEE + ".section .x, 3, 3, 1\n    .u8 1\n")
    link_error("section_flags", "COIL0084", EMPTY + ".section .x, 2, 3, 1\n    .u8 1\n", CALLEE + ".section .x, 2, 2, 1\n    .u8 1\n")
    link_error("twice", "COIL0085", EMPTY, EMPTY)
    link_error("undefined", "COIL0076", MAIN.format("CALL @nowhere"))
    link_error("undefined_local", "COIL0076", ".local x\n" + MAIN.format("MOV v0, i64 @x"))
    link_error("symbol_beyond_section", "COIL0078", EMPTY + ".symbol x, GLOBAL, DEFAULT, OBJECT, 1, 100, 0\n")
    link_error("entry", "COIL0074", CALLEE)
    link_error("overflow", "COIL0086", EMPTY + ".data\n    .addr32 @main + 0xffffffffff\n")
    link_error("executable", "COIL0087", ".fileflags 1\n.section .text, 1, 6, 1, 0x1000\n.entry main\n" + EMPTY)


def test_entry_is_chosen():
    """.entry of one input is the entry; --entry wins over it; of two neither is."""
    started = ".entry start\n.func start\n    MOV v0, 5\n    RET\n.endfunc\n"
    s = assembled("s.casm", started + CALLEE.replace("RET", "MOV v0, 6\n    RET"))
    other = assembled("other.casm", started.replace("start", "begin"))
    f_file = assembled("f.casm", EMPTY)
    for name, wanted, args in (("alone", 5, [s]), ("over main", 5, [f_file, s]), ("--entry wins", 6, [s, "--entry", "g"]), ("two and main", 0, [s, other, f_file])):
        done = penta("link", *args, "-o", "entry.coil")
        expect(done.returncode == 0 and penta("run", "entry.coil", "--exit-value").returncode == wanted, f".entry {name}",
               done.stderr.decode())
        said = json.loads(penta("run", "entry.coil", "--exit-value", "--json").stdout)
        expect(said["exit"] == said["guest_exit"] == wanted and "guest_exit" not in json.loads(penta("run", "entry.coil", "--json").stdout),
               f"{name}: the guest's exit")
    expect(penta("run", s, "--exit-value").returncode == 5, ".entry in a relocatable file")
    done = penta("link", "-r", f_file, s, "-o", "again.coil")
    expect(done.returncode == 0 and penta("link", "again.coil", "-o", "entry.coil").returncode == 0 and
           penta("run", "entry.coil", "--exit-value").returncode == 5,
           ".entry through -r")
    link_error("two entries", "COIL0074", started, started.replace("start", "begin"))


def test_includes():
    """Includes: beside the including file, then --include; errors name the file and line."""
    for path, text in (("top.casm", '!include "in/a.inc"\n' + MAIN.format("MOV v0, VALUE + LIB")), ("in/a.inc", '!include "b.inc"\n!include "c.inc"\n'), ("in/b.inc", "!define VALUE 40\n"), ("lib/c.inc", "!define LIB 2\n"), ("self.casm", '!include "self.casm"\n'), ("in/d.inc", '\n!include "none.inc"\n'), ("bad.casm", '!include "in/d.inc"\n')):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "w").write(text)
    done = penta("asm", "top.casm", "-o", "top.coil")
    expect(done.returncode == 1 and b"in/a.inc:2: there is no file c.inc" in done.stderr, "include missing", done.stderr)
    open("top.casm", "w").write('!include "in/a.inc"\n' + MAIN.format("MOV v0, VALUE\n    ADD v0, LIB"))
    done = penta("asm", "top.casm", "--include", "in", "--include", "lib", "-o", "top.coil")
    expect(done.returncode == 0 and penta("run", "top.coil", "--exit-value").returncode == 42, "include found", done.stderr)
    done = penta("asm", "self.casm", "-o", "top.coil")
    expect(done.returncode == 1 and b"includes itself" in done.stderr, "include of itself", done.stderr)
    done = penta("asm", "bad.casm", "-o", "top.coil")
    expect(b"in/d.inc:2: there is no file none.inc" in done.stderr, "include inside", done.stderr)
    for name, text in (("names", "!define a0\n" + "".join(f"!define a{i} a{i - 1} a{i - 1}\n" for i in range(1, 32)) + "a31\n"), ("macros", "!macro m0\n!endmacro\n" + "".join(f"!macro m{i}\n" + f"m{i - 1}\n" * 3 + "!endmacro\n" for i in range(1, 31)) + "m30\n")):
        open("bomb.casm", "w").write(text)
        done = penta("asm", "bomb.casm", "-o", "top.coil")
        expect(done.returncode == 1 and b"too many lines and names" in done.stderr, f"{name} without end", done.stderr)


def test_include_of_a_pipe_ends():
    """Only regular files are included: a pipe without a writer would block, a device never end."""
    os.mkfifo("pipe")
    for name in ("pipe", "/dev/zero"):
        open("piped.casm", "w").write(f'!include "{name}"\n')
        done = penta("asm", "piped.casm", "-o", "piped.coil")
        expect(done.returncode == 1 and b"is not a regular file" in done.stderr, f"include of {name}", done.stderr.decode())


def test_findings_name_their_file():
    """Findings lie in the file that they name, also a member of an archive."""
    user, twice = assembled("user.casm", MAIN.format("CALL @nowhere")), assembled("twice.casm", CALLEE)
    done = json.loads(penta("link", user, "-o", "o", "--json").stdout)["diagnostics"][0]
    expect(done["file"] == user and "in 'main'" in done["message"], "undefined says where", done)
    needs = assembled("needs.casm", MAIN.format("CALL @g\n    CALL @h"))
    other = assembled("both.casm", CALLEE + ".global h\n.func h\n    RET\n.endfunc\n")
    run_program("ar", "rc", "both.a", other, needed=True)
    done = json.loads(penta("link", needs, twice, "both.a", "-o", "o", "--json").stdout)["diagnostics"][0]
    expect(done["file"] == "both.a(both.coil)" and twice in done["message"], "twice says where", done)


def test_weak_common_strong():
    """Weak, common and strong definitions; an archive member joins when it is needed."""
    a = assembled("a.casm", ".weak w\n.global main\n.comm c, 4, 4\n.func main\n    CALL @g\n    MOV v0, i32 @w\n    ADD i32 @c, 1\n    RET\n.endfunc\n.data\nw:\n    .i32 1\n")
    b = assembled("b.casm", ".global g, w\n.comm c, 64, 16\n.func g\n    RET\n.endfunc\n.data\nw:\n    .i32 2\n")
    unused = assembled("unused.casm", ".global main\n.func main\n    RET\n.endfunc\n")
    run_program("ar", "rc", "lib.a", b, unused, needed=True)
    for library in ("lib.a", b):
        done = penta("link", a, library, "-o", "prog.coil", "--map-file", "prog.map")
        expect(done.returncode == 0, "link with " + library, done.stderr.decode())
        done = penta("run", "prog.coil", "--exit-value")
        expect(done.returncode == 2, "strong beats weak in " + library, done.stdout.decode())
    os.mkdir("folder")
    os.rename(b, "folder/" + b)
    done = penta("link", a, "folder", "-o", "again.coil")
    expect(done.returncode == 0 and open("prog.coil", "rb").read() == open("again.coil", "rb").read(), "folder")
    done = penta("link", "-r", a, "folder/" + b, "-o", "both.coil")
    expect(done.returncode == 0 and penta("link", "both.coil", "-o", "last.coil").returncode == 0 and
           penta("run", "last.coil", "--exit-value").returncode == 2,
           "relocatable", done.stderr.decode())


def test_relative_relocations():
    """A relative field in a linked file, after data of another one: with its own address it gives that of the symbol."""
    first = assembled("first.casm", ".data\n    .u64 1, 2, 3\n")
    for size, add in (("32", "i32"), ("64", "i64")):
        text = (f".endian {{}}\n.global main\n.func main\n    VAR %d, {add}\n    VAR %w, i64\n    MOV %d, {add} @far\n    MOV %w, %d\n    ADD %w, i64 @far_at\n"
                f"    SUB %w, i64 @x_at\n    MOV v0, %w\n    RET\n.endfunc\n.data\nbefore:\n    .u64 1\nfar:\n    .rel{size} @x + 8\n"
                ".align 8\nfar_at:\n    .addr @far\nx_at:\n    .addr @x\nx:\n    .u64 5, 6\n")
        alone = assembled("relative.casm", text.format("little"))
        runs = [penta("run", alone, "--exit-value").returncode]
        for how, files, to in ((["-r"], [first, alone], "kept.coil"), ([], ["kept.coil"], "last.coil"), ([], [first, alone], "once.coil")):
            done = penta("link", *how, *files, "-o", to)
            expect(done.returncode == 0, "link " + done.stderr.decode())
            runs.append(penta("run", to, "--exit-value").returncode)
        runs.append(penta("run", assembled("relative.casm", text.format("big")), "--exit-value").returncode)
        expect(runs == [8] * 5, f"relative fields of {size} bits", runs)


def test_extensions_of_inputs():
    """.coil.ext of a linked file lists what any input lists, each once, in order."""
    one = assembled("ext_one.casm", MAIN.format("") + ".section .coil.ext\n    .u32 2, 5, 1\n")
    two = assembled("ext_two.casm", ".section .coil.ext\n    .u32 3, 2, 9, 5\n")
    done = penta("link", "-r", one, two, "-o", "ext.coil")
    words = b"".join(word.to_bytes(4, "little") for word in (4, 1, 2, 5, 9))
    expect(done.returncode == 0 and words in open("ext.coil", "rb").read(), "extensions of inputs", done.stderr.decode())


def test_byte_order_converted():
    """The other byte order and back."""
    v = assembled("v.casm", MAIN.format("VAR %v, v128<i32>, v128<i32> {1, 2, 3, 4}\n    VAR %x, i32\n    DOT %x, %v, %v\n    MOV v0, %x"))
    penta("convert", v, "--endian", "big", "-o", "big.coil")
    penta("convert", "big.coil", "--endian", "little", "-o", "back.coil")
    expect(open(v, "rb").read() == open("back.coil", "rb").read(), "convert")
    note = b"penta: note: engine jit cannot run this program here; interp runs instead\n"
    if "jit" in json.loads(penta("formats", "coil", "--json").stdout)["formats"][0]["engines"]:
        for way in ([], ["--engine", "jit"]):
            expect(penta("run", "big.coil", *way).stderr == note, "big-endian note")
        expect(not penta("run", "big.coil", "--quiet").stderr, "quiet without it")
    expect(penta("run", "big.coil", "--exit-value").returncode == 30 == penta("run", v, "--exit-value").returncode, "big-endian run")


def other_order(name, text, *asm, args=()):
    """What a program gives in both byte orders, and the converted file back; or the error."""
    write(name + ".casm", text)
    penta("asm", *asm, name + ".casm", "-o", name + ".coil")
    done = penta("convert", name + ".coil", "--endian", "big", *args, "-o", name + "-big.coil")
    if done.returncode:
        return done.stderr.decode()
    penta("convert", name + "-big.coil", "--endian", "little", *args, "-o", name + "-back.coil")
    expect(open(name + ".coil", "rb").read() == open(name + "-back.coil", "rb").read(), name + " back")
    return [penta("run", name + end).stdout.split(b"halt")[0].split() for end in (".coil", "-big.coil")]


def test_byte_order_of_data():
    """Data is converted by evidence: relocations, types in the code, .coil.type; else refused by name."""
    table = MAIN.format("VAR %i, u64\n    MOV %i, 2\n    OUTPORT 2, i64 [@t + %i*8]\n    OUTPORT 2, i64 @t\n    OUTPORT 2, u16 [@s + 2]")
    data = ".data\nt:\n    .i64 10, 20, 30\n.size t, 24\ns:\n    .u8 0, 0\n    .u16 513\n"
    expect(other_order("evidence", table + data) == [[b"30", b"10", b"513"]] * 2, "evidence of code")
    alone = MAIN.format("VAR %p, u64\n    MOV %p, @t\n    OUTPORT 2, i64 [%p + 8]")
    error = other_order("unknown", alone + data)
    expect("COIL0088" in error and "'t'" in error and "--keep-data" in error, "no evidence", error)
    expect(other_order("known", alone + data, "-g") == [[b"20"]] * 2, "asm -g is evidence")
    kept = other_order("kept", alone + data, args=("--keep-data",))
    expect(kept == [[b"20"], [b"1441151880758558720"]], "kept data", kept)
    error = other_order("conflict", MAIN.format("OUTPORT 2, i64 @t\n    OUTPORT 2, i32 @t") + data.replace("20, 30", "20"), "-g")
    expect("COIL0089" in error and "'t'" in error, "conflict", error)
    switch = MAIN.format("SWITCH i32 1, @t\n.a:\n    OUTPORT 2, 1\n    RET\n.b:\n    OUTPORT 2, 2")
    jumps = ".data\n.align 8\nt:\n    .u64 2\n    .addr @main.a, @main.a, @main.b\n"
    expect(other_order("switch", switch + jumps) == [[b"2"]] * 2, "a table of targets")
    expect(other_order("zeros", MAIN.format("OUTPORT 2, 5") + ".data\nz:\n    .zero 40\n") == [[b"5"]] * 2, "zeros need no evidence")
    nested = MAIN.format("VAR %x, i64\n    MEMGET %x, struct{1:u8, 2:i64, 3:vec<i16,2>} @t, 2\n    OUTPORT 2, %x")
    record = ".data\n.align 8\nt:\n    .u8 9, 0,0,0,0,0,0,0\n    .i64 -77\n    .i16 3, 4, 0, 0\n"
    expect(other_order("nested", nested + record) == [[b"-77"]] * 2, "members of structures")


def test_listing_of_linked_lines():
    """Objects with lines, linked: the listing has the lines where they belong, and assembles to the same file."""
    first = ".global main\n.func main\n    PUSH \"one\"\n    CALL @g\n    RET\n.endfunc\n.section \".init\", 9, 6, 1\n    PUSH \"two\"\n    RET\n.data\nx:\n    .i32 5\n"
    second = ".global g\n.func g\n    PUSH \"three\"\n    RET\n.endfunc\n.section \".init\", 9, 6, 1\n    PUSH \"four\"\n    RET\n.rodata\nt:\n    .asciz \"text\"\n"
    objects = []
    for name, text in (("first", first), ("second", second)):
        write(name + ".casm", text.replace("PUSH \"", "PPUNDEF \""))
        expect(penta("asm", "-g", name + ".casm", "-o", name + ".coil").returncode == 0, name)
        objects.append(name + ".coil")
    expect(penta("link", *objects, "-o", "lines.coil").returncode == 0, "link")
    listing = penta("dis", "lines.coil").stdout.decode()
    expect(".image" not in listing and listing.count(".line ") == 9 and '.line "second.casm", 3' in listing, "lines in the listing",
           listing)
    rows = penta("inspect", "lines.coil", "--select", "/sections").stdout
    expect(penta("roundtrip", "lines.coil").returncode == 0, "round trip", rows)


def test_plain_engine_leaves_the_same():
    """Wherever it stops, the machine shows what instructions in their general form would leave."""
    everything = sorted(os.path.join(CASES, name) for name in os.listdir(CASES) if "_every_" in name or name.startswith("flags_"))
    for path in everything:
        text = open(path).read()
        name = assembled((os.path.basename(path)[:-5]) + ".casm", text[text.index("-- asm\n") + 7 :].split("\n-- ")[0] + "\n")
        for fuel in range(1, 80):
            fast, plain = (penta("run", name, "--fuel", str(fuel), *more).stdout for more in ((), ("--plain",)))
            expect(fast == plain, f"{name} stopped after {fuel}", (fast + plain).decode())
            if not fast.startswith(b"fuel"):
                break


def test_integer_matrices():
    """Integer matrices, against fractions: wrapped determinants, inverses cut toward zero."""
    random.seed(8)
    for n in (1, 2, 3, 4, 7, 16, 32):
        for kind, low, high in (("i64", -(2**63), 2**63 - 1), ("u32", 0, 2**32 - 1), ("i8", -3, 3)):
            rows = [[random.randint(low, high) for _ in range(n)] for _ in range(n)]
            if n == 3:
                rows = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
            inverse, determinant = solve(rows)
            old = [x for row in rows for x in row]
            wanted = [wrap(x, kind) for x in ([wrap(determinant, kind)] + (inverse or old))]
            type_, size = f"sqmat<{kind}, {n}>", int(kind[1:]) // 8
            text = MAIN.format(f"VAR %d, {kind}\n    DET %d, {type_} @a\n    OUTPORT 2, %d\n    INV {type_} @a\n" + "".join(f"    OUTPORT 2, {kind} [@a + {i * size}]\n" for i in range(n * n)))
            name = assembled(f"solve{n}{kind}.casm", text + f".data\n.align 16\na:\n    .{kind} " + ", ".join(map(str, old)) + "\n")
            done = penta("run", name)
            printed = [int(line) for line in done.stdout.decode().split("\n")[: n * n + 1] if line.lstrip("-").isdigit()]
            expect(printed == wanted and ((b"Z---D" in done.stdout) == (inverse is None)), name, f"{printed[:4]} {wanted[:4]}")


def wide_result(op, a, b, kind, bits, to):
    """What an operation on integers of this width gives, clamped to the width where `to` is saturating."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "cint" else (0, (1 << bits) - 1)
    raw = a & ((1 << bits) - 1)
    mask, n = (1 << bits) - 1, b % bits
    quotient = 0 if not b else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    value = {"ADD": a + b, "SUB": a - b, "MUL": a * b, "DIV": quotient, "MOD": a - quotient * b if b else 0, "AND": a & b,
             "OR": a | b, "XOR": a ^ b, "NEG": -a, "ABS": abs(a), "NOT": ~a, "MIN": min(a, b), "MAX": max(a, b),
             "MULH": a * b >> bits, "POPCNT": raw.bit_count(), "SHL": raw << n, "SHR": raw >> n,
             "SAR": (raw - (1 << bits) if raw >> bits - 1 else raw) >> n, "ROL": raw << n | raw >> (bits - n) % bits if n else raw,
             "ROR": raw >> n | raw << (bits - n) % bits if n else raw, "SQRT": math.isqrt(a) if a > 0 else 0,
             "BSWAP": int.from_bytes(raw.to_bytes((bits + 7) // 8, "little"), "big"), "INC": a + 1, "DEC": a - 1}[op]
    if to == "sat ":
        return min(max(value, low), high)
    value &= mask
    return value - (1 << bits) if kind == "cint" and value >> bits - 1 else value


def test_wide_integers():
    """CINT and CUNT of every kind of width against Python's integers, on all engines and in both byte orders."""
    rng, lines, expected = random.Random(7), [], []
    unary = ("NEG", "ABS", "NOT", "POPCNT", "SQRT", "BSWAP")
    shifts = ("SHL", "SHR", "SAR", "ROL", "ROR")
    for number in range(400):
        kind, bits = rng.choice(("cint", "cunt")), rng.choice((1, 2, 7, 8, 31, 33, 40, 63, 64, 65, 96, 100, 127, 128))
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "cint" else (0, (1 << bits) - 1)
        pick = lambda: rng.choice((low, high, 0, min(1, high), rng.randint(low, high), rng.randint(low, high) >> rng.randrange(bits)))
        op = rng.choice(("ADD", "SUB", "MUL", "DIV", "MOD", "AND", "OR", "XOR", "MIN", "MAX", "MULH", "INC", "DEC") + unary + shifts)
        to = rng.choice(("", "sat ")) if op in ("ADD", "SUB", "MUL", "DIV", "NEG", "ABS", "INC", "DEC") else ""
        a, b = pick(), rng.randrange(bits) if op in shifts else pick()
        size = 1 << ((bits + 7) // 8 - 1).bit_length()
        image = lambda value: (f"hex:@{(value & ((1 << 8 * size) - 1)).to_bytes(size, 'little').hex()}@")
        t = f"{kind}<{bits}>"
        lines += ["SCOPE", f"VAR %a, {t}, {t} {image(a)}", f"VAR %r, {to}{t}", "VAR %h, cunt<128>", "VAR %n, u64"]
        if op in ("INC", "DEC"):
            lines += ["MOV %r, %a", f"{op} %r"]
        elif op in unary:
            lines += [f"{op} %r, %a"]
        elif op in shifts:
            lines += [f"{op} %r, %a, {b}"]
        else:
            lines += [f"{op} %r, %a, {t} {image(b)}"]
        lines += ["MOV %h, %r", "MOV %n, %h", "OUTPORT 2, %n", "SHR %h, 64", "MOV %n, %h", "OUTPORT 2, %n", "SCOPL"]
        value = wide_result(op, a, b, kind, bits, to) & ((1 << 128) - 1)
        expected.append((f"{op} {to}{t} {a} {b}", [value & ((1 << 64) - 1), value >> 64]))
    text = MAIN.format("\n    ".join(lines))
    for order in ("little", "big"):
        def turned(match):
            data = bytes.fromhex(match.group(1))
            return (data[::-1] if order == "big" else data).hex()
        name = assembled(("wide-" + order) + ".casm", f".endian {order}\n" + re.sub("@([0-9a-f]+)@", turned, text))
        for engine in ("interp", "jit", "both"):
            got = [int(line) for line in penta("run", "--engine", engine, name).stdout.split(b"halt")[0].split()]
            expect(len(got) == 2 * len(expected), f"wide {order} {engine}", len(got))
            for i, (what, numbers) in enumerate(expected):
                if got[2 * i:2 * i + 2] != numbers:
                    expect(False, f"wide {order} {engine}", (what, got[2 * i:2 * i + 2], numbers))


def test_large_types_and_functions():
    """Types that double with every id, long functions, many uses of a large type: processor time stays small."""
    chain = lambda first: "".join(f"    TYPE {i}, struct{{1: typeid<{i - 1}>, 2: typeid<{i - 1}>}}\n" for i in range(first + 1, first + 60))
    members = ", ".join(f"{i}: i32" for i in range(1, 20001))
    for name, body in (
        ("doubling", "TYPE 1, i8\n    TYPE 101, i8\n" + chain(1) + chain(101) + "    MEMCPY 0x5000, 0x6000, sizeof(typeid<60>)\n    MOV typeid<60> [0x5000], typeid<160> [0x6000]"),
        ("large type", f"TYPE 1, struct{{{members}}}\n    VAR %a, typeid<1>\n    VAR %b, i32\n" + "    MEMGET %b, typeid<1> %a, 20000\n" * 20000),
        ("many variables", "".join(f"VAR %v{i}, i32\n    " for i in range(40000)) + "".join(f"INC %v{i}\n    " for i in range(40000)))):
        text = MAIN.format(body)
        made = assembled((name.replace(" ", "_")) + ".casm", text)
        done = penta("validate", made, seconds=10)
        ran = penta("run", made, seconds=10)
        expect(done.returncode == 0 and ran.returncode in (0, 20), name, f"{done.stderr[:300]} {ran.stdout[:200]}")


def test_bare_stream():
    """A bare stream: both orders, there and back."""
    open("stream.casm", "w").write(".raw\n    VAR %1, i32, i32 5\n    ADD i32 %1, i32 7\n    RET\n")
    penta("asm", "stream.casm", "--raw", "-o", "stream.bin")
    raw = ("--format", "coil", "--raw")
    penta("convert", *raw, "stream.bin", "--endian", "big", "-o", "stream.big")
    penta("convert", *raw, "stream.big", "--endian", "little", "-o", "stream.back")
    read = lambda name: open(name, "rb").read()
    expect(read("stream.bin") == read("stream.back") != read("stream.big"), "bare stream converted")
    expect(penta("dis", *raw, "--endian", "big", "stream.big").stdout.split(b"\n")[2:] == penta("dis", *raw, "stream.bin").stdout.split(b"\n")[1:],
           "bare stream listed")


def test_diff_pairs_siblings_of_one_name():
    """A file equals itself although several gaps and operands share a name; the one that changed is named."""
    text = MAIN.format("VAR %x, i64, 1\n    ADD %x, 2, {}") + ".section .x, 2, 3, 64\n    .u8 1\n.section .y, 2, 3, 64\n    .u8 2\n"
    one, other = assembled("one.casm", text.format(3)), assembled("other.casm", text.format(4))
    done = penta("inspect", one)
    expect(done.stdout.count(b"padding") >= 2, "two gaps", done.stdout.decode())
    done = penta("diff", one, one)
    expect(done.returncode == 0 and not done.stdout, "a file and itself", done.stdout.decode())
    done = penta("diff", one, other)
    expect(done.returncode == 1 and [line.split(b":")[0] for line in done.stdout.splitlines()] == [b"~ /.text/insn[1]/operand[2]"],
           "one operand differs", done.stdout.decode())


def test_debugger_lists_whole_instructions():
    """`list` goes from instruction to instruction, however long they are, and ends where the code does."""
    name = assembled("listed.casm", MAIN.format("VAR %x, i64, 0x4040404040404040\n    ADD %x, 0x4040404040404040, 1\n    PUSH %x\n    NOP"))
    listed = [line.split(None, 1)[1] for line in penta("debug", name, data=b"list\n").stdout.decode().replace("> ", "  ").splitlines() if line.startswith("  ")]
    code = [line.strip() for line in penta("dis", name).stdout.decode().splitlines() if line.startswith("    ")]
    expect(listed == code and len(code) == 5, "list in the debugger", f"{listed} {code}")


def limited(*command):
    """A run in 1 GiB of address space, which ends with a limit."""
    return run_program("bash", "-c", 'ulimit -v 1048576; exec "$@"', "-", PENTA, *command)


def test_zeros_are_bounded_in_total():
    """A few bytes of text, or of section table, cannot ask for gigabytes of zeros: 256 MiB in all."""
    texts = {
        "zeros": ".data\n.zero 0x7fffffff\n" * 3,
        "zeros of many sections": "".join(f".section .s{i}\n.zero 0x4000000\n" for i in range(5)),
        "alignments": ".data\n" + ".u8 1\n.align 0x100000\n" * 5000,
        "aligned sections": "".join(f".section .s{i}, DATA, 3, 0x100000\n.u8 1\n" for i in range(300)),
    }
    for name, text in texts.items():
        open("zeros.casm", "w").write(text)
        done = limited("asm", "zeros.casm", "-o", "zeros.coil")
        expect(done.returncode == 1 and b"more than 256 MiB of zeros and padding" in done.stderr, name, done.stderr.decode()[:300])
    files = [assembled(f"aligned{i}.casm", (EMPTY if not i else "") + ".section .s, DATA, 3, 0x100000\n.u8 1\n") for i in range(2)]
    done = limited("link", files[0], *[files[1]] * 300, "-o", "zeros.coil")
    expect(done.returncode == 1 and b"more than 256 MiB of zeros and padding" in done.stderr, "alignments while linking",
           done.stderr.decode())
    done = penta("asm", "-", "-f", "coil", "-o", "zeros.coil", data=b".bss\n.zero 0x7fffffff\n.zero 0x7fffffff\n")
    expect(done.returncode == 0, "zeros without bytes", done.stderr.decode())


def test_names_with_escapes_stay_text():
    """Names of sections, symbols and archive members may hold anything; no command puts it out raw."""
    evil = "\\x1b[31mred\\x07\\n/x[1]\\xe2\\x80\\xae"
    name = assembled("evil.casm", EMPTY + f'.section "code{evil}", TEXT, 6, 1\n    RET\n.section "{evil}", DATA, 3, 1\n    .u8 1\n.symbol "s{evil}", GLOBAL, DEFAULT, OBJECT, 3, 0, 1\n')
    os.rename(name, "\x1b[7m.coil")
    run_program("ar", "rc", "evil.a", "\x1b[7m.coil", needed=True)
    done = penta("link", "\x1b[7m.coil", "-o", "evil.coil", "--map-file", "evil.map")
    expect(done.returncode == 0, "link of names with escapes", done.stderr.decode())
    outputs = {"map file": open("evil.map", "rb").read()}
    for command in ("info", "inspect", "hex", "validate", "dis", "run", "trace", "diff"):
        done = penta(command, "evil.coil", *(["\x1b[7m.coil"] if command == "diff" else []))
        outputs[command] = done.stdout + done.stderr
    done = penta("link", "evil.a", "-o", "evil.coil", "--map-file", "archive.map")
    outputs["map of an archive"] = open("archive.map", "rb").read() + done.stderr
    for command, out in outputs.items():
        raw = [bad for bad in (b"\x1b", b"\x07", b"\n/x", "\u202e".encode()) if bad in out]
        expect(out and not raw, f"{command} puts out names as text", f"{raw} {out[:2000]}")


def test_a_thousand_objects():
    """A thousand objects, made from one by patching its names; each calls the next."""
    model = open(assembled("model.casm", ".global f0000\n.func f0000\n    CALL @f0001\n    RET\n.endfunc\n"), "rb").read()
    many = [assembled("main.casm", MAIN.format("CALL @f0000")), assembled("end.casm", ".global f0998\n.func f0998\n    MOV v0, 7\n    RET\n.endfunc\n")]
    for i in range(998):
        many.append(f"o{i}.coil")
        patched = model.replace(b"f0001\0", b"f%04d\0" % (i + 1)).replace(b"f0000\0", b"f%04d\0" % i)
        open(many[-1], "wb").write(patched)
    done = penta("link", *many, "-o", "many.coil", seconds=20)
    expect(done.returncode == 0 and penta("run", "many.coil", "--exit-value").returncode == 7, "a thousand objects",
           done.stderr.decode()[:300])


def long_function(count, kinds=8):
    """One function of about `count` instructions: sums, memory, branches forward and back; of 10 kinds: two
    branches on the same flags, conditional calls."""
    lines, choose = ["    VAR %p, u64", "    LEA %p, i64 @data"], random.Random(1)
    lines += [f"    VAR %{v}, i64, {ord(v)}" for v in "abcdefgh"]
    label = 0
    while len(lines) < count:
        a, b, c = (choose.choice("abcdefgh") for _ in range(3))
        kind = choose.randrange(kinds)
        if kind < 4:
            lines.append(f"    {choose.choice(['ADD', 'SUB', 'MUL', 'XOR'])} %{a}, %{b}, %{c}")
        elif kind == 4:
            lines += [f"    AND %{a}, 127", f"    MOV %{b}, i64 [%p + %{a}*8]"]
        elif kind == 5:
            lines += [f"    AND %{a}, 127", f"    MOV i64 [%p + %{a}*8], %{c}"]
        elif kind == 6:
            lines += [f"    CMP %{a}, %{b}", f"    BR LT, @.l{label}", f"    ADD %{c}, 3", f".l{label}:"]
        elif kind == 7:
            a = "a" if a == "h" else a  # what counts the rounds
            lines += ["    AND %h, 3", f".l{label}:", f"    ADD %{a}, %{b}", "    INC %h", "    CMP %h, 4", f"    BR LT, @.l{label}"]
        elif kind == 8:
            lines += [f"    CMP %{a}, %{b}", f"    BR LT, @.l{label}", f"    BR EQ, @.l{label}", f"    INC %{c}", f".l{label}:"]
        else:
            lines += [f"    MOV v0, %{a}", f"    CMP %{b}, %{c}", "    CALL GT, @half", f"    MOV %{a}, v0"]
        label += 1
    half = ".func half\n    SAR v0, v0, 1\n    RET\n.endfunc\n"
    return MAIN.format("\n".join(lines) + "\n    MOV v0, %a") + half + ".data\ndata: .zero 1024\n"


# Programs with the same end however they are compiled: what must be in their form after all passes, and how often.
FORMS = (
    ("a call of an address, the first instruction of all, is a call", b"    call #1 ", 1,
     """.global main
.func main
    CALL u64 @table
    OUTPORT 2, v0
    RET
.endfunc
.func f
    MOV v0, 5
    RET
.endfunc
.rodata
.align 8
table: .addr @f
"""),
    ("each store to a volatile or atomic place is the interpreter's", b"    side exit 1 ", 3,
     """.global main
.func main
    MOV volatile i64 [@d], 1
    MOV volatile i64 [@d], 1
    MOV atomic i64 [@d], 1
    RET
.endfunc
.data
.align 8
d: .zero 8
"""),
)


def test_compiler():
    """What the compiler says of itself, its levels, and that its time is linear."""
    small = assembled("small.casm", long_function(300))
    if penta("jit", small).returncode == 2:  # a host without a compiler
        return
    shown = penta("jit", small, "--dump-pass", "lower").stdout
    expect(shown.startswith(b"function 0x1000 main\nb0:"), "the form before all passes", shown[:100])
    after = penta("jit", small, "--dump-pass", "dead").stdout
    expect(0 < after.count(b"\n") < shown.count(b"\n"), "less after dead code is gone", after[:100])
    expect(json.loads(penta("jit", small, "--dump-pass", "dead", "--json").stdout)["text"].encode() == after, "as JSON")
    two = assembled("two.casm", MAIN.format("    CALL @f") + ".func f\n    RET\n.endfunc\n")
    count = json.loads(penta("jit", two, "--json").stdout)["instructions_count"]
    expect(count == 3, "instructions, without the ends of functions", count)
    for name, wanted, count, text in FORMS:
        form = penta("jit", assembled("form.casm", text), "--dump-pass", "layout").stdout
        expect(form.count(wanted) == count, name, form)
    expect(b"'x' is none of " in penta("jit", small, "--dump-pass", "x").stderr, "no such pass")
    expect(b"'3' is none of 1, 2" in penta("run", small, "--optimize", "3").stderr, "no such level")
    for file in (small, assembled("parts.casm", long_function(5000, 10))):  # the second: code in several parts
        ends = {penta("run", file, "--engine", engine, *level).stdout.split(b"memory")[1]
                for engine in ("interp", "both") for level in ([], ["--optimize", "1"])}
        expect(len(ends) == 1, "levels agree", ends)
    for level in ("1", "2"):
        per = []
        for size in (2000, 60000):
            file = assembled(f"long{size}.casm", long_function(size))
            times = [json.loads(penta("jit", file, "--optimize", level, "--json").stdout) for _ in range(3)]
            expect(times[0]["interpreted_count"] == 0, "all of it is compiled", times[0])
            per.append(min(t["nanoseconds"] / t["instructions_count"] for t in times))
        expect(per[1] < 4 * per[0], f"compile time of level {level} is linear", per)


def test_prototypes():
    """Symbols of .coil.proto are renumbered, and every prototype stays with its name."""
    first = assembled("proto_a.casm", ".proto g, f64(i32, f32)\n.global main\n.func main\n CALL @g\n RET\n.endfunc\n")
    second = assembled("proto_b.casm", ".proto main, i32()\n.proto g, f64(i32, f32)\n" + CALLEE)
    done = penta("link", first, second, "-o", "proto.coil")
    text = penta("dis", "proto.coil").stdout.decode()
    wanted = ".proto g, f64(i32, f32)\n.proto main, i32()\n.proto g, f64(i32, f32)\n"
    expect(done.returncode == 0 and wanted in text, "prototypes linked", text)
    expect(penta("validate", "proto.coil").returncode == 0, "prototypes valid")
    third = assembled("proto_c.casm", ".proto g, f32(i32, f32)\n.extern g\n")
    done = penta("link", first, second, third, "-o", "proto.coil")
    expect(penta("validate", "proto.coil").returncode == 1, "prototypes that differ")


def test_ports_read_standard_input():
    """Port 1 reads the file of --input, or standard input; at its end comes -1."""
    program = assembled("echo.casm", MAIN.format("VAR %c, i32\n.next:\n    INPORT %c, 1\n    OUTPORT 2, %c\n    CMP %c, -1\n"
                                           "    BR NEQ, @.next"))
    write("bytes", b"A\xff\0")
    for engine in ("interp", "jit", "both"):
        line = ["run", program, "--engine", engine]
        for name, done in (("stdin", penta(*line, data=b"A\xff\0")), ("--input", penta(*line, "--input", "bytes"))):
            text = done.stdout.decode()
            expect(done.returncode == 0 and text.startswith("65\n255\n0\n-1\nhalt "), f"{name}, {engine}", text + done.stderr.decode())
    done = penta("run", program, "--input", "nothing")
    expect(done.returncode == 4 and b"cannot open 'nothing'" in done.stderr, "--input without a file", done.stderr)


sys.exit(in_one_folder(tests_of(globals())))
