#!/usr/bin/env python3
"""The linker of RISC-V objects: every program of the RISC-V suite on every ISA and engine, our own
programs compiled here, what each optimisation does, debug lines, and every error.

    tests/programs/pvm/pvm_link.py PENTA [SUITE]       with SUITE, the folder of the RISC-V suite, only that
"""
import glob
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import PENTA, expect, in_one_folder, penta, read, run_program, skip, write
from llvm import llvm

SUITE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pvm_link")

CLANG, LLD = llvm("clang"), llvm("ld.lld")
LEVELS = ("0", "1", "2")
FLAGS = ["-ffreestanding", "-fno-builtin", "-Wall", "-Wextra", "-Werror", "-I", SOURCES]


def result(path, *options, engine="jit"):
    """a0 and a1 after a run, or how it ended."""
    done = penta("run", path, "--engine", engine, "--json", *options)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return done.stderr.decode()
    registers = find_registers(document)
    return (registers["a0"], registers["a1"]) if registers and not done.returncode else done.returncode


def find_registers(node):
    if isinstance(node, dict):
        if isinstance(node.get("registers"), dict):
            return {name: int(str(value), 0) for name, value in node["registers"].items()}
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        found = find_registers(child)
        if found:
            return found
    return None


# ---- the RISC-V suite ----

def suite():
    files = sorted(glob.glob(os.path.join(SUITE, "*", "*.elf")))
    for path in files:
        name = "/".join(path.split(os.sep)[-2:])
        isas = ("latest32",) if "rv32" in path else ("latest64", "revive_v1", "jam_v1")
        for isa in isas:
            for level in LEVELS if isa == isas[0] else ("2",):
                done = penta("link", path, "--isa", isa, "-O" + level, "-o", "suite.polkavm")
                if done.returncode:
                    expect(False, f"{name} {isa} -O{level}", done.stderr.decode())
                    continue
                for engine in ("interp", "jit"):
                    done = penta("run", "suite.polkavm", "--call", "main", "--engine", engine, "--quiet")
                    expect(done.returncode == 0, f"{name} {isa} -O{level} {engine}", done.stdout[:60])
    expect(files, "the suite has files")


# ---- conditional moves, with every register twice ----

def conditional_moves():
    registers = {"a2": 12, "a3": 13, "a4": 14, "zero": 0}
    values = {"a2": 1000, "a3": 0, "a4": 77, "zero": 0}
    text, want = ["li a0, 1", "li t0, 31"], 1
    for op in ("th.mveqz", "th.mvnez", "czero.eqz", "czero.nez", "ccmov"):
        for rd in ("a2", "a3", "a4"):
            for rs1 in registers:
                for rs2 in registers:
                    rs3 = "a4" if rs1 == "a2" else "a2"
                    text += [f"li {name}, {value}" for name, value in values.items() if name != "zero"]
                    word = (registers[rs3] << 27 | 3 << 25 | registers[rs2] << 20 | registers[rs1] << 15 |
                            3 << 12 | registers[rd] << 7 | 0x0B)
                    text += [f".word {word:#x}" if op == "ccmov" else f"{op} {rd}, {rs1}, {rs2}",
                             "mul a0, a0, t0", f"add a0, a0, {rd}"]
                    one, zero = values[rs1], values[rs2] == 0
                    result_of = {"th.mveqz": one if zero else values[rd], "th.mvnez": values[rd] if zero else one,
                                 "czero.eqz": 0 if zero else one, "czero.nez": one if zero else 0,
                                 "ccmov": values[rs3] if zero else one}
                    want = (want * 31 + result_of[op]) % 2**64
    assemble(program("\n".join(text)))
    link_and_compare("conditional moves", 64, want, ["case.o"])


# ---- addresses of code ----

FOLLOWED = (
    ("a move between the halves", "j 2f\nf: li a0, 7\nret\n2:1: auipc a1, %pcrel_hi(f)\nmv a4, a3\naddi a3, a1, %pcrel_lo(1b)\njr a3"),
    ("a copy of the high half", "j 2f\nf: li a0, 7\nret\n2:1: auipc a1, %pcrel_hi(f)\nmv a4, a1\nli a1, 0\njalr x0, %pcrel_lo(1b)(a4)"),
    ("two paths to the low half", "j 2f\nf: li a0, 7\nret\n2:1: auipc a1, %pcrel_hi(f)\nbeqz a0, 4f\nmv a4, a1\nj 5f\n4: mv a4, a1\n"
     "5: addi a3, a4, %pcrel_lo(1b)\njr a3"),
    ("the halves around a loop", "j 2f\nf: li a0, 7\nret\n2:1: auipc a1, %pcrel_hi(f)\nli a2, 3\n4: addi a2, a2, -1\nbnez a2, 4b\n"
     "addi a3, a1, %pcrel_lo(1b)\njr a3"),
    ("two low halves of one high half", "j 2f\nf: li a0, 7\nret\n2:1: auipc a1, %pcrel_hi(f)\naddi a3, a1, %pcrel_lo(1b)\nmv a4, a1\n"
     "addi a2, a4, %pcrel_lo(1b)\nbne a2, a3, 3f\njr a3\n3: unimp"),
    ("a label that is only jumped to", "1: auipc a1, %pcrel_hi(3f)\naddi a1, a1, %pcrel_lo(1b)\nmv a2, a1\njr a2\nunimp\n3: li a0, 7"),
)

# (name, code, what the message says)
NOT_FOLLOWED = (
    ("a path without the high half", "beqz a0, 4f\n1: auipc a1, %pcrel_hi(f)\n4: addi a3, a1, %pcrel_lo(1b)\njr a3\nf: ret", "an address without"),
    ("a symbol between the halves", "1: auipc a1, %pcrel_hi(f)\n.globl g\ng: addi a3, a1, %pcrel_lo(1b)\njr a3\nf: ret", "an address without"),
    ("a high half in memory", "addi sp, sp, -8\n1: auipc a1, %pcrel_hi(f)\nsd a1, 0(sp)\nld a2, 0(sp)\naddi a3, a2, %pcrel_lo(1b)\njr a3\nf: ret",
     "an address without"),
    ("arithmetic with a high half", "1: auipc a1, %pcrel_hi(f)\nadd a1, a1, a0\naddi a3, a1, %pcrel_lo(1b)\njr a3\nf: ret", "an address without"),
    ("a load from code", "1: auipc a1, %pcrel_hi(f)\nlw a0, %pcrel_lo(1b)(a1)\nret\nf: ret", "an address without"),
)


def code_addresses():
    """Return points and labels keep the order of the code, also where they are only jumps."""
    assemble(program("""mv a4, ra
        la a2, 2f
        jalr a2
        j 3f
    2:  j 4f
    3:  unimp
    4:  sub a0, ra, a2
        bltu ra, a2, 5f
        unimp
    5:  mv ra, a4"""))
    link_and_compare("order of code addresses", 64, 2**64 - 2, ["case.o"])
    assemble(program("""la a1, f
        la a2, g
        sltu a0, a1, a2
        ret
    f:  j h
    g:  j h
    h:"""))
    link_and_compare("functions with one body have two addresses", 64, 1, ["case.o"])
    for name, body in FOLLOWED:
        assemble(program(body))
        link_and_compare(name, 64, 7, ["case.o"])
    for name, body, pattern in NOT_FOLLOWED:
        assemble(program(body), flags=["-g"])
        found = refused(name, "PVM0307", pattern + r" a relocation in \w+ at 0x\w+, case\.s:\d+", "case.o")
        expect("-mrelax" in found.get("note", ""), f"{name}: names the flag", found)
    # differences of labels hold, as numbers and as relocations
    body = """.type run,@function
        la a1, 1f
        la a2, table
        lw a2, 8(a2)
        add a1, a1, a2
        jr a1
    1:  unimp
    2:  addi a0, a0, 1
        addi a0, a0, 2
    3:  li a0, 7
        ret
    4:  call run
        unimp
    5:  addi a0, a0, 1
        .size run, . - run
        .section .rodata
    table: .4byte 2b - 1b, 5b - 1b, 3b - 1b
        .text"""
    for flag in ("-mno-relax", "-mrelax"):
        for entry in (8, 4):
            assemble(program(body.replace("8(a2)", f"{entry}(a2)").replace("li a0, 7", "li a0, 7" if entry == 8 else "li a0, 3")
                             .replace("addi a0, a0, 1\n        .size", "li a0, 7\n        .size")), flags=[flag])
            link_and_compare(f"differences of labels, {flag}, entry {entry}", 64, 7, ["case.o"])


# ---- our own sources ----

def target(bits, extra="_zbb_xtheadcondmov"):
    return [f"--target=riscv{bits}-unknown-none-elf", f"-march=rv{bits}emac{extra}",
            "-mabi=" + ("lp64e" if bits == 64 else "ilp32e")]


def compile_c(source, out, *flags):
    done = run_program(CLANG, *FLAGS, *flags, "-c", source, "-o", out)
    assert done.returncode == 0, done.stderr.decode()
    return out


def native(names):
    """What run() returns on this machine."""
    write("native.c",
          '#include "export.h"\nint printf(const char *, ...);\n'
                  'int main(void) { return !printf("%llu", run()); }\n')
    done = run_program(CLANG, *FLAGS, "-O1", "native.c", *(os.path.join(SOURCES, n) for n in names), "-o", "native")
    assert done.returncode == 0, done.stderr.decode()
    return int(run_program("./native").stdout)


def link_and_compare(name, bits, want, inputs):
    for level in LEVELS:
        done = penta("link", *inputs, "-O" + level, "-o", "program.polkavm")
        if done.returncode:
            expect(False, f"{name} -O{level} links", done.stderr.decode())
            continue
        expect(penta("validate", "program.polkavm").returncode == 0, f"{name} -O{level} is valid")
        for engine in ("interp", "jit"):
            got = result("program.polkavm", "--call", "run", engine=engine)
            if bits == 32 and isinstance(got, tuple):
                got = got[0] & 0xFFFFFFFF | (got[1] & 0xFFFFFFFF) << 32,
            expect(isinstance(got, tuple) and got[0] == want, f"{name} -O{level} {engine}", f"{got}, not {want}")


def sources():
    programs = {"switches": [], "memory": [], "arithmetic": [], "atomics": [], "calls": ["helper"]}
    ways = ((["-O2", "-fPIE", "-mcmodel=medany"], "_zbb_xtheadcondmov", True),
            (["-O1", "-fno-pic", "-mcmodel=medlow"], "_zbb_zicond", False),
            (["-O0", "-fPIE", "-mcmodel=medany"], "_zbb", False))
    for main, others in programs.items():
        want = native([n + ".c" for n in [main, *others]])
        for bits in (64, 32):
            for flags, extra, lld in ways:
                objects = [compile_c(os.path.join(SOURCES, n + ".c"), n + ".o", *target(bits, extra), *flags)
                           for n in [main, *others]]
                name = f"{main} rv{bits} {flags[0]}{extra}"
                link_and_compare(name, bits, want, objects)
                if not lld:
                    continue
                run_program(LLD, "--emit-relocs", "--no-relax", "-pie", "-z", "notext", "-e", "run", "--unresolved-symbols=ignore-all",
                            *objects, "-o", "linked.elf", needed=True)
                link_and_compare(name + " by lld", bits, want, ["linked.elf"])


# ---- assembly: what optimisations make of it, what the linker refuses ----

RECORD = """
    .pushsection .polkavm_metadata,"aw",@progbits
.L{0}_name: .ascii "{0}"
.L{0}_end:
.L{0}_meta: .byte {1}
    .4byte 0
    .4byte .L{0}_end - .L{0}_name
    .8byte .L{0}_name
    .byte 0
    .byte 1
    .popsection
"""
EXPORT = RECORD + """
    .pushsection .polkavm_exports,"R",@note
    .byte 1
    .8byte .L{0}_meta
    .8byte {0}
    .popsection
"""


def assemble(text, out="case.o", flags=(), arch="rv64imafdc_zbb_xtheadcondmov_zicond"):
    write("case.s", text)
    done = run_program(CLANG, "--target=riscv64-unknown-none-elf", "-march=" + arch, "-mabi=lp64", "-mno-relax", *flags, "-c", "case.s",
                       "-o", out)
    assert done.returncode == 0, done.stderr.decode()
    return out


def program(body, exports=("run",)):
    return ".globl run\nrun:\n" + body + "\n    ret\n" + "".join(EXPORT.format(e, 1) for e in exports)


# (optimisation, code, what must be in the listing of -O2, what must not, arguments)
OPTIMISATIONS = (
    ("constants are folded", "lui a0, 0x12345\naddi a0, a0, 0x678\nslli a0, a0, 1", "a0 = 0x2468acf0",
     r"<<", ()),
    ("constants of 64 bits are loaded at once", "lui a0, 0x10101\nslli a0, a0, 4\naddi a0, a0, 0x100",
     "a0 = 0x101010100", "<<", ()),
    ("addresses are folded into loads", "la a4, word\nlw a0, 4(a4)\n.data\n.align 3\nword: .word 5, 77\n.text",
     r"a0 = i32 \[0x20004\]", "a4 = ", ()),
    ("addresses are folded into stores", "la a4, word\nsw a0, 0(a4)\n.bss\nword: .zero 4\n.text",
     r"u32 \[0x20000\] = a0", "a4 = ", (9,)),
    ("sums are folded into offsets", "addi a4, a0, 16\naddi sp, sp, -16\nsd a0, 8(sp)\naddi a2, sp, 4\n"
     "lw a0, 4(a2)\naddi sp, sp, 16", r"a0 = i32 \[sp \+ 0x8\]", "a2 = ", (7,)),
    ("immediates replace registers", "li a4, 100\nadd a0, a0, a4\nli a2, 3\nmul a0, a0, a2", r"a0 = a0 \* 0x3",
     "a2 = ", (5,)),
    ("stores of constants", "addi sp, sp, -8\nli a4, 300\nsw a4, 0(sp)\nlw a0, 0(sp)\naddi sp, sp, 8",
     r"u32 \[sp \+ 0\] = 0x12c", "a4 = 0x12c", ()),
    ("branches on constants", "li a4, 1000\nbltu a0, a4, 1f\nli a0, 1\nj 2f\n1: li a0, 2\n2: addi a0, a0, 5",
     "<u 1000", "a4 = ", (5,)),
    ("branches that always go one way", "li a4, 0\nbeqz a4, 1f\nli a0, 1\nebreak\n1: li a0, 2", "a0 = 0x2",
     "trap", ()),
    ("redundant moves go", "mv a4, a0\nmv a2, a4\nadd a0, a2, a4", r"a0 = a0 \+ a0", "a2 = ", (21,)),
    ("what nobody reads goes", "li a5, 5\nadd a3, a5, a0\naddi a0, a0, 1", r"a0 = a0 \+ 0x1", "a3 = ", (1,)),
    ("jumps to jumps go on", "beqz a0, 1f\nli a0, 3\nj 3f\n1: j 2f\n.globl f\nf: ebreak\n2: li a0, 4\n3:",
     "a0 = 0x4", "trap", (0,)),
    ("calls of known functions are direct", "addi sp, sp, -8\nsd ra, 0(sp)\nla a4, f\njalr a4\n"
     "ld ra, 0(sp)\naddi sp, sp, 8\nret\nf: addi a0, a0, 1", r"ra = 2, jump @", r"jump \[a4", (4,)),
    ("blocks move to the jump", "j 2f\n1: addi a0, a0, 2\nret\n2: addi a0, a0, 1\nj 1b", r"a0 = a0 \+ 0x1",
     "jump", (1,)),
    ("blocks with one way in join the one before", "addi sp, sp, -16\nsd a0, 8(sp)\naddi a2, sp, 4\nj 1f\n2: li a0, 0x77\nret\n1: lw a0, 4(a2)\n"
     "addi sp, sp, 16\nslli a3, a0, 1\nxor a0, a0, a3", r"a0 = i32 \[sp \+ 0x8\]", "a2 = ", (7,)),
    ("memory is filled at once", "la a0, word\nli a1, 7\nli a2, 3\n.4byte 0x0000200b\nla a3, word\nlw a0, 0(a3)\n.bss\nword: .zero 4\n.text",
     r"\[a0\.\.a0 \+ a2\] = u8 a1", "jump @", ()),
    ("calls and jumps by two instructions", "addi sp, sp, -8\nsd ra, 0(sp)\n1: auipc t0, %pcrel_hi(f)\njalr ra, %pcrel_lo(1b)(t0)\nld ra, 0(sp)\n"
     "addi sp, sp, 8\n3: auipc t0, %pcrel_hi(4f)\njalr zero, %pcrel_lo(3b)(t0)\nunimp\nf: addi a0, a0, 1\nret\n4: slli a0, a0, 2", r"a0 = a0 << 0x2", "trap", (4,)),
    ("calls and jumps by relocated halves", ".globl f, g\naddi sp, sp, -8\nsd ra, 0(sp)\n1: auipc t0, %pcrel_hi(f)\njalr ra, %pcrel_lo(1b)(t0)\nld ra, 0(sp)\n"
     "addi sp, sp, 8\n3: auipc t0, %pcrel_hi(g)\njalr zero, %pcrel_lo(3b)(t0)\nunimp\nf: addi a0, a0, 1\nret\ng: slli a0, a0, 2", r"a0 = a0 << 0x2", "trap", (4,)),
    ("short ends of blocks are copied", "li a5, 0x12345\nadd a4, a5, a0\nli a2, 7\n4: beqz a2, 5f\naddi a2, a2, -1\nandi a3, a2, 1\nbeqz a3, 1f\n"
     "addi a0, a0, 5\nj 3f\n1: beqz a0, 2f\nslli a0, a0, 2\nj 3f\n2: addi a0, a0, 3\n3: xori a0, a0, 9\nj 4b\n5:",
     r"(?s)\^ 0x9.*\^ 0x9.*\^ 0x9", "trap", (11,)),
    ("unreachable code goes", "addi a0, a0, 1\nret\nunused: li a0, 1234", r"a0 = a0 \+ 0x1", "0x4d2", (1,)),
    ("unused imports go", "addi a0, a0, 1\nret\nunused: .word 0x0000000b\n.8byte .Lg_meta\nret\n" +
     RECORD.format("g", 1), r"a0 = a0 \+ 0x1", "ecalli", (1,)),
)


def optimisations():
    for name, body, wanted, unwanted, arguments in OPTIMISATIONS:
        assemble(program(body.replace("ebreak", "unimp")))
        values = []
        for level in LEVELS:
            done = penta("link", "case.o", "-O" + level, "-o", f"case{level}.polkavm")
            expect(done.returncode == 0, f"{name}: links", done.stderr.decode())
            options = [word for a in arguments for word in ("--arg", str(a))]
            values += [result(f"case{level}.polkavm", "--call", "run", *options, engine=e)
                       for e in ("interp", "jit")]
        expect(all(isinstance(v, tuple) and v[0] == values[0][0] for v in values), f"{name}: same result", values)
        listing = penta("dis", "case2.polkavm", "--style", "upstream").stdout.decode()
        expect(re.search(wanted, listing), f"{name}: done", listing)
        expect(not re.search(unwanted, listing), f"{name}: nothing left over", listing)
        sizes = [os.path.getsize(f"case{level}.polkavm") for level in LEVELS]
        expect(sizes[2] <= sizes[0], f"{name}: not larger", sizes)


# (name, assembly or bytes, options, code, what the message must say)
ERRORS = (
    ("no ELF", b"\177ELF but not really an object of any kind, and long enough to look", [], "PVM0301", ""),
    ("bitcode", b"BC\xc0\xde and so on", [], "PVM0301", "bitcode"),
    ("archive that ends early", b"!<arch>\n" + b"one.o/".ljust(48) + b"999       `\n" + b"short", [], "PENTA0011", "cut short"),
    ("floating point with a relocation", program("1: auipc a0, %pcrel_hi(d)\nfld fa0, %pcrel_lo(1b)(a0)\n.data\nd: .8byte 0\n.text"),
     [], "PVM0308", r"floating point.* in run at 0x4"),
    ("floating point", program("fadd.d fa0, fa0, fa1"), [], "PVM0308", r"floating point.* in run at 0x0"),
    ("control register", program("nop\ncsrr a0, cycle"), [], "PVM0308", r"control and status.* in run at 0x2"),
    ("environment call", program("ecall"), [], "PVM0308", "ecall"),
    ("sbrk of a contract", program(".word 0x0005150b"), ["--isa", "revive_v1"], "PVM0308", "revive_v1"),
    ("register", program("add a0, a0, s3"), [], "PVM0309", "x19.* in run at 0x0"),
    ("thread pointer", program("mv a0, tp"), [], "PVM0309", "x4, tp"),
    ("undefined", program("call absent"), [], "PVM0304", "absent is not defined; first used in run at 0x0"),
    ("undefined data", program(".data\n.8byte nowhere\n.text"), [], "PVM0304", "nowhere.* section .data"),
    ("jump with offset", program("jalr x0, 4(a0)"), [], "PVM0310", "offset"),
    ("address in an instruction", program("la a0, run + 2\n.option norvc\nnop"), [], "PVM0310", ""),
    ("thread-local", program('.section .tdata,"awT",@progbits\n.word 1\n.text'), [], "PVM0303", "thread-local"),
    ("load from code", program("1: auipc a0, %pcrel_hi(run)\nlw a0, %pcrel_lo(1b)(a0)"), [], "PVM0306", "code"),
    ("difference that does not fit", program("la a0, d\nlb a0, 0(a0)\n.data\nd: .byte far - d\n.bss\n.zero 1000\nfar: .zero 4\n.text"), [], "PVM0306",
     "does not fit 1 byte"),
    ("record version", ".globl run\nrun: ret\n" + EXPORT.format("run", 9), [], "PVM0311", "version"),
    ("two exports of a name", program("") + '.pushsection .polkavm_exports,"R",@note\n.byte 1\n.8byte .Lrun_meta\n.8byte g\n.popsection\ng: li a0, 1\nret\n',
     [], "PVM0305", "run is there twice"),
    ("no exports", ".globl run\nrun: ret\n", [], "PVM0312", "nothing is exported"),
    ("dispatch to nothing", program(""), ["--dispatch", "refine"], "PVM0312", "refine"),
    ("too much memory", program("la a0, big\n.bss\nbig: .zero 0xfffff000\n.text"), [], "PVM0313", "32 bits"),
    ("stack", program(""), ["--stack", "0xfffffffff"], "PVM0313", "stack"),
    ("word size", program(""), ["--isa", "latest32"], "PVM0302", "64-bit"),
    ("metadata that is no hex", program(""), ["--to", "jam", "--metadata", "0z"], "PENTA0009", "metadata"),
    ("metadata of a file that has none", program(""), ["--metadata", "00"], "PENTA0009", "metadata"),
    ("no such level", program(""), ["-O7"], "PENTA0009", "optimize"),
)


def findings(*args):
    done = penta("link", *args, "--json", "-o", "error.polkavm")
    document = json.loads(done.stdout)
    return done.returncode, document.get("diagnostics", [])


def refused(name, code, pattern, *args):
    status, found = findings(*args)
    match = [f for f in found if f["code"] == code and re.search(pattern, f["message"])]
    expect(status != 0 and match, f"error: {name}", found)
    expect(not os.path.exists("error.polkavm"), f"error: {name}: writes nothing")
    return match[0] if match else {}


def errors():
    # the first record that is wrong is the only finding: what follows may be a consequence
    again = '.pushsection .polkavm_exports,"R",@note\n.byte {}\n.8byte .Lrun_meta\n.8byte g\n.popsection\n'
    assemble(program("") + again.format(1) + again.format(9) + "g: li a0, 1\nret\n")
    found = findings("case.o")[1]
    expect([f["code"] for f in found] == ["PVM0305"], "error: one finding about exports", found)
    for name, source, options, code, pattern in ERRORS:
        if isinstance(source, bytes):
            write("case.o", source)
        else:
            assemble(source)
        refused(name, code, pattern, "case.o", *options)
    compile_c(os.path.join(SOURCES, "helper.c"), "x86.o")
    refused("another machine", "PVM0302", "x86-64", "x86.o")
    assemble(program(""), "one.o")
    refused("defined twice", "PVM0305", "run is defined here and in one.o", "one.o",
            shutil.copy("one.o", "two.o"))
    # the line where it happens
    write("float.c", '#include "export.h"\nvolatile double d;\n\nu64 run(void)\n{\n    d = d * 3;\n    return 0;\n}\n')
    compile_c("float.c", "float.o", "--target=riscv64-unknown-none-elf", "-march=rv64imafdc", "-mabi=lp64d",
              "-g", "-O1", "-Wno-unused-command-line-argument")
    refused("source line", "PVM0308", r"in run at 0x\w+, float\.c:6", "float.o")
    # an ELF program that has lost its relocations
    assemble(program("la a0, word\nlw a0, 0(a0)\n.data\nword: .word 1\n.text"))
    run_program(LLD, "-pie", "-z", "notext", "-e", "run", "case.o", "-o", "bare.elf", needed=True)
    found = refused("no relocations", "PVM0307", "no relocation", "bare.elf")
    expect("--emit-relocs" in found.get("note", ""), "error: no relocations: names the flag", found)
    # relocations that no longer fit the code, which was made shorter without them
    write("relaxed.c",
          '#include "export.h"\nlong f(long);\nu64 run(void) { return (u64)(f(1) + f(2) + f(3)); }\nlong f(long x) { return x; }\n')
    compile_c("relaxed.c", "relaxed.o", *target(64), "-O1", "-fno-inline", "-fPIE", "-mcmodel=medany")
    run_program(LLD, "--emit-relocs", "-pie", "-z", "notext", "-e", "run", "relaxed.o", "-o", "relaxed.elf", needed=True)
    status, found = findings("relaxed.elf")
    expect(not status or any("--no-relax" in f.get("note", "") for f in found), "error: relaxed: names the flag", (status, found))


def damage():
    """Cut and broken objects are refused or linked, without a crash or a hang."""
    assemble(program("la a0, word\nlw a0, 0(a0)\ncall f\nret\nf: ret\n.data\nword: .word 1\n.text"), flags=["-g"])
    whole = read("case.o")
    for size in range(0, len(whole), max(1, len(whole) // 60)):
        write("cut.o", whole[:size])
        done = penta("link", "cut.o", "-o", "cut.polkavm")
        expect(0 < done.returncode < 20, f"cut to {size}", done.returncode)
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        write("cut.o", whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1:])
        done = penta("link", "cut.o", "-o", "cut.polkavm")
        expect(0 <= done.returncode < 20, f"broken at {at}", done.returncode)


# Fields of section headers and symbols that are indices of another section, symbol or name.
HEADER = {"sh_name": (0, 4), "sh_link": (40, 4), "sh_info": (44, 4)}


def object_with(whole, at, size, value):
    write("case.o", whole[:at] + value.to_bytes(size, "little") + whole[at + size:])


def indices():
    """What an object refers to by number is there, and is what it should be."""
    assemble(program("la a0, word\nlw a0, 0(a0)\ncall f\nret\nf: ret\n.data\nword: .word 1\n"
                     '.section .text.g,"axG",@progbits,g,comdat\n.weak g\ng: ret\n.text'))
    whole = read("case.o")
    table, count = int.from_bytes(whole[40:48], "little"), int.from_bytes(whole[60:62], "little")

    def field(section, name):
        at, size = HEADER[name]
        return table + 64 * section + at, size

    def header(section, at, size=8):
        return int.from_bytes(whole[table + 64 * section + at:][:size], "little")

    kinds = [header(i, 4, 4) for i in range(count)]
    rela, group, symtab = kinds.index(4), kinds.index(17), kinds.index(2)
    symbols, members = header(symtab, 24), header(group, 24)
    first_reloc = header(rela, 24)
    expect(penta("link", "case.o", "-o", "whole.polkavm").returncode == 0, "the object links")
    cases = [("symbol 0 is global", symbols + 4, 1, 0x10, "symbol 0"),
             ("symbol 0 has a value", symbols + 8, 8, 1, "symbol 0"),
             ("a symbol's section", symbols + 24 + 6, 2, count, "section that is not there"),
             ("a symbol's section is in a table that is missing", symbols + 24 + 6, 2, 0xFFFF,
              "section that is not there"),
             ("a symbol's name", symbols + 24, 4, 0xFFFFFF, "symbol's name"),
             ("a relocation's symbol", first_reloc + 12, 4, 0xFFFFFF, "outside"),
             ("a group that is its own member", members + 4, 4, group, "member"),
             ("a group's member", members + 4, 4, count, "member"),
             ("a group's signature", *field(group, "sh_info"), 0xFFFFFF, "signature"),
             ("a group's symbols are its own", *field(group, "sh_link"), group, "symbols that are not"),
             ("names of symbols in the symbols", *field(symtab, "sh_link"), symtab, "symbol's name"),
             ("names of symbols", *field(symtab, "sh_link"), count, "symbol's name"),
             ("a section's name", *field(rela, "sh_name"), 0xFFFFFF, "section's name"),
             ("names of sections in a table of symbols", 62, 2, symtab, "name"),
             ("relocations of themselves", *field(rela, "sh_info"), rela, "cannot have any"),
             ("relocations of symbols", *field(rela, "sh_info"), symtab, "cannot have any"),
             ("relocations of nothing", *field(rela, "sh_info"), count, "cannot have any"),
             ("relocations whose symbols are themselves", *field(rela, "sh_link"), rela,
              "symbols that are not"),
             ("relocations without symbols", *field(rela, "sh_link"), count, "symbols that are not")]
    for name, at, size, value, pattern in cases:
        object_with(whole, at, size, value)
        refused("index: " + name, "PVM0301", pattern, "case.o")


# ---- several objects ----

def archive(name, *members):
    with open(name, "wb") as out:
        out.write(b"!<arch>\n")
        for member in members:
            data = open(member, "rb").read()
            out.write(f"{member + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode() + data)
            out.write(b"\n" * (len(data) % 2))


def several():
    want = native(["calls.c", "helper.c"])
    flags = [*target(64), "-O2", "-fPIE", "-mcmodel=medany"]
    compile_c(os.path.join(SOURCES, "calls.c"), "calls.o", *flags)
    compile_c(os.path.join(SOURCES, "helper.c"), "helper.o", *flags)
    assemble(".globl lonely\nlonely: call nobody_defines_this\n", "lonely.o")
    archive("library.a", "lonely.o", "helper.o")
    for inputs in (("calls.o", "library.a"), ("library.a", "calls.o")):
        link_and_compare("archive " + " ".join(inputs), 64, want, inputs)
    # a strong definition before a weak one
    assemble(".globl factor\n.data\n.align 2\nfactor: .word 1000\n", "factor.o")
    penta("link", "calls.o", "helper.o", "factor.o", "-o", "strong.polkavm")
    expect(result("strong.polkavm", "--call", "run")[0] != want, "strong before weak")
    # a weak name without a definition, in an object and in a program with stubs for dynamic linking
    assemble(".weak nobody\n" + program("lga a0, nobody\nbeqz a0, 1f\ncall nobody\n1: addi a0, a0, 7"), "weak.o")
    run_program(LLD, "--emit-relocs", "--no-relax", "-pie", "-z", "notext", "-e", "run", "weak.o", "-o", "weak.elf", needed=True)
    for name in ("weak.o", "weak.elf"):
        done = penta("link", name, "-o", "weak.polkavm")
        expect(done.returncode == 0, f"{name}: links", done.stderr.decode())
        expect(result("weak.polkavm", "--call", "run")[0] == 7, f"{name}: is nothing")
    # common symbols: the largest and strictest, unless one is initialised; no member of an archive for a weak name
    for name, text in (("one.c", "#include \"export.h\"\nint shared[2];\nchar wide[1];\nint other(void);\n"
                                 "extern int lazy(void) __attribute__((weak));\n"
                                 "u64 run(void) { shared[1] = 3; return (u64)(shared[1] + other() + ((long)wide & 63) + (lazy ? 1000 : 0)); }\n"),
                       ("two.c", "int shared[50];\n__attribute__((aligned(64))) char wide[1];\nint other(void) { shared[49] = 4; return shared[49]; }\n"),
                       ("set.c", "int shared[50] = {0, 9};\n"), ("lazy.c", "int lazy(void) { return 1; }\n")):
        write(name, text)
        compile_c(name, name[:3] + ".o", *target(64), "-O1", "-fcommon", "-fPIE", "-mcmodel=medany")
    archive("lazy.a", "laz.o")
    for inputs in (("one.o", "two.o"), ("two.o", "one.o", "lazy.a"), ("set.o", "one.o", "two.o"), ("two.o", "one.o", "set.o")):
        done = penta("link", *inputs, "-o", "common.polkavm")
        expect((done.returncode, result("common.polkavm", "--call", "run")[0]) == (0, 7), f"common {inputs}", done.stderr.decode())
    # functions of a header in two objects
    for name, value in (("left", 1), ("right", 2)):
        write(name + ".cc",
              "struct Counter {static inline int n = 40; int next() {return ++n; } };\n"
              f"extern \"C\" int {name}() {{return Counter().next() * {value}; }}\n")
        compile_c(name + ".cc", name + ".o", *target(64), "-O0", "-fPIE", "-mcmodel=medany", "-fno-exceptions")
    assemble(program("addi sp, sp, -16\nsd ra, 0(sp)\ncall left\nsd a0, 8(sp)\ncall right\nld a1, 8(sp)\n"
                     "add a0, a0, a1\nld ra, 0(sp)\naddi sp, sp, 16"), "main.o")
    penta("link", "main.o", "left.o", "right.o", "-o", "inline.polkavm")
    expect(result("inline.polkavm", "--call", "run")[0] == 41 + 84, "inline functions of two objects are one")
    # bounds of sections
    assemble('.section .init_array,"aw",@init_array\n.8byte 7\n.section .init_array.5,"aw",@init_array\n'
             '.8byte 5\n.section items,"aw",@progbits\n.8byte 30\n', "array.o")
    assemble(program("la a0, __init_array_start\nla a1, __init_array_end\nsub a2, a1, a0\nld a0, 0(a0)\n"
                     "slli a0, a0, 8\nadd a0, a0, a2\nla a3, __start_items\nla a4, __stop_items\n"
                     "ld a5, 0(a3)\nadd a0, a0, a5\nsub a4, a4, a3\nadd a0, a0, a4"), "bounds.o")
    for level in LEVELS:
        done = penta("link", "bounds.o", "array.o", "-O" + level, "-o", "bounds.polkavm")
        expect(done.returncode == 0, "bounds of sections link", done.stderr.decode())
        expect(result("bounds.polkavm", "--call", "run")[0] == (5 << 8) + 16 + 30 + 8, f"bounds of sections -O{level}")


# ---- what comes out ----

def outputs():
    text = program("addi a0, a0, 1") + ".globl other\nother: li a0, 9\nret\n" + EXPORT.format("other", 1)
    assemble(text)
    done = penta("link", "case.o", "--to", "jam", "--dispatch", "other,run", "-o", "case.jam", "--map-file", "map.txt")
    expect(done.returncode == 0, "jam links", done.stderr.decode())
    expect(result("case.jam", "--pc", "0")[0] == 9, "jam at pc 0")
    expect(result("case.jam", "--pc", "5", "--reg", "a0=41")[0] == 42, "jam at pc 5")
    info = penta("info", "case.jam").stdout.decode()
    expect("jam" in info, "jam is jam", info)
    expect("with metadata" not in info, "jam without metadata", info)
    for metadata in ("", "0005746f6b656e"):
        penta("link", "case.o", "--to", "jam", "--dispatch", "other,run", "--metadata", metadata, "-o", "meta.jam")
        plain, framed = (open(name, "rb").read() for name in ("case.jam", "meta.jam"))
        expect(framed == bytes([len(metadata) // 2]) + bytes.fromhex(metadata) + plain, "jam with metadata")
        expect(result("meta.jam", "--pc", "0")[0] == 9, "jam with metadata runs")
    map_text = open("map.txt").read()
    expect(re.search(r"\d+ run  case\.o", map_text), "map names functions", map_text)
    assemble("".join(f".globl {name}\n{name}: li a0, {value}\nret\n" + EXPORT.format(name, 1)
                     for name, value in (("accumulate", 5), ("refine", 1), ("other", 10))))
    done = penta("link", "case.o", "--to", "jam", "-o", "named.jam")
    expect(done.returncode == 0, "jam by names links", done.stderr.decode())
    expect([result("named.jam", "--pc", pc)[0] for pc in ("0", "5", "10")] == [1, 5, 10], "jam by names")
    assemble(".globl accumulate\naccumulate: ret\n" + EXPORT.format("accumulate", 1))
    done = penta("link", "case.o", "--to", "jam", "-o", "named.jam")
    expect(done.returncode == 1 and b"PVM0312" in done.stderr, "jam with accumulate alone", done.stderr.decode())
    assemble(text)
    done = penta("link", "case.o", "--isa", "jam_v1", "--to", "jam", "-o", "case.jam")
    expect(done.returncode == 0, "jam_v1 links", done.stderr.decode())
    # imports: numbered by name, or as they ask for
    body = "\n".join(f"g{n}: .word 0x0000000b\n.8byte .Lg{n}_meta\nret" for n in (2, 1))
    assemble(".globl run\nrun: addi sp, sp, -8\nsd ra, 0(sp)\ncall g2\ncall g1\nld ra, 0(sp)\naddi sp, sp, 8\nret\n" +
             body + EXPORT.format("run", 1) + RECORD.format("g2", 1) + RECORD.format("g1", 1))
    penta("link", "case.o", "-o", "imports.polkavm")
    listing = penta("dis", "imports.polkavm").stdout.decode()
    expect(listing.index('%import "g1"') < listing.index('%import "g2"'), "imports by name", listing)
    # stack
    assemble(program("") + '.section .polkavm_min_stack_size,"",@progbits\n.4byte 20000\n')
    penta("link", "case.o", "-o", "stack.polkavm")
    expect("%stack_size = 20480" in penta("dis", "stack.polkavm").stdout.decode(), "stack of the object")
    # source lines
    write("lines.c",
          '#include "export.h"\n\nstatic inline int broken(int *p)\n{\n    return *p;\n}\n\n'
                  'u64 run(void)\n{\n    return (u64)broken((int *)8);\n}\n')
    compile_c("lines.c", "lines.o", *target(64), "-g", "-O1", "-fPIE", "-mcmodel=medany")
    run_program(LLD, "--emit-relocs", "-pie", "-z", "notext", "-e", "run", "lines.o", "-o", "lines.elf", needed=True)
    for name in ("lines.o", "lines.elf"):
        for level in LEVELS:
            penta("link", name, "-O" + level, "-o", "lines.polkavm")
            expect(b"warning" not in penta("validate", "lines.polkavm").stderr, f"{name} -O{level}: valid")
            listing = penta("dis", "lines.polkavm", "--source").stdout.decode()
            expect(re.search(r"broken at .*lines\.c:5", listing), f"{name} -O{level}: line of an inlined function", listing)
    # a function of the second unit lies between two of the first
    for name, functions in (("outer", (("b", "low"), ("c", "run"))), ("inner", (("b", "middle"),))):
        with open(name + ".c", "w") as out:
            out.write('#include "export.h"\nu64 middle(void);\n')
            for section, function in functions:
                body = "middle() + low()" if function == "run" else "(u64)*(volatile int *)8"
                out.write(f'__attribute__((noinline, section(".text.{section}"))) u64 {function}(void)\n'
                          f"{{\n    return {body};\n}}\n")
        compile_c(name + ".c", name + ".o", *target(64), "-g", "-O1", "-fPIE", "-mcmodel=medany")
    run_program(LLD, "-r", "outer.o", "inner.o", "-o", "units.o", needed=True)
    done = penta("link", "units.o", "-o", "units.polkavm")
    listing = penta("dis", "units.polkavm", "--source").stdout.decode()
    for place in (r"low at .*outer\.c:5", r"run at .*outer\.c:9", r"middle at .*inner\.c:5"):
        expect(re.search(place, listing), f"lines of two units: {place}", listing + done.stderr.decode())
    penta("link", "lines.o", "--strip", "-o", "strip.polkavm")
    expect("debug" not in penta("dis", "strip.polkavm").stdout.decode(), "strip")


def zeros():
    """Sections without bytes are not stored, whatever their names, and whatever comes after them."""
    data = ('la a2, zeros\nld a0, 8(a2)\nla a2, more\nld a3, 0(a2)\nadd a0, a0, a3\nla a2, word\nld a3, 0(a2)\nadd a0, a0, a3\n'
            '.section .data.a,"aw",@nobits\n.align 3\nzeros: .zero 0x8000000\n.section .rodata.a,"a",@nobits\n.align 3\nmore: .zero 0x8000000\n'
            '.section .data.b,"aw",@progbits\n.align 3\nword: .dword 42\n.text')
    assemble(program(data))
    for level in LEVELS:
        done = penta("link", "case.o", "-O" + level, "-o", "zeros.polkavm")
        expect(done.returncode == 0 and os.path.getsize("zeros.polkavm") < 1000, f"zeros -O{level}: small", done.stderr.decode())
        got = result("zeros.polkavm", "--call", "run", "--arg", "1", engine="interp")
        expect(got and got[0] == 42, f"zeros -O{level}: read", got)


def python():
    """The same bytes by the C interface, as Python calls it."""
    library = os.path.join(os.path.dirname(os.path.dirname(PENTA)), "lib", "libpenta.so")
    if not os.path.exists(library):
        return
    assemble(program("addi a0, a0, 1"))
    penta("link", "case.o", "-O1", "--stack", "16384", "-o", "case.polkavm")
    script = ("import penta, sys; sys.stdout.buffer.write(penta.pvm_link([('case.o', open('case.o', 'rb').read())],"
              " optimize=1, stack=16384))")
    packages = os.path.join(os.path.dirname(SOURCES), "..", "..", "..", "bindings", "python")
    done = run_program(sys.executable, "-B", "-c", script, env={**os.environ, "PYTHONPATH": packages, "PENTA_LIBRARY": library})
    want = open("case.polkavm", "rb").read()
    expect(done.stdout == want, "python links", done.stderr.decode())


if not SUITE and not (CLANG and LLD):
    skip("clang and lld for PolkaVM are not installed")
sys.exit(in_one_folder((suite,) if SUITE else
                       (sources, conditional_moves, code_addresses, optimisations, errors, damage, indices, several, outputs, zeros, python)))
