#!/usr/bin/env python3
"""What pages of docs/ say about bytes, tried on the tool: the encodings of TVMR 7 and 10.2, the numbers of PVM 1.3, the
sizes of COIL 2.3, the examples of COIL 4 and the opcodes of COIL 5.

    clauses.py PENTA
"""
import os
import re
import struct
import sys
import tempfile

from support import ROOT, expect, penta, read, read_text, summary, write


def section(page, number):
    """The text below the heading with this number, up to the next heading."""
    text = read_text(os.path.join(ROOT, "docs/formats", page))
    return re.search(rf"^#+ {re.escape(number)} .*?\n(.*?)(?=^#|\Z)", text, re.M | re.S)[1]


def table(text):
    """The cells of all rows of the tables in a text, without heads."""
    rows = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if not set("".join(row)) <= set("-|")]


def assemble(kind, text, *options):
    """The bytes of the file, or None."""
    with tempfile.TemporaryDirectory() as folder:
        source = write(os.path.join(folder, "source." + kind), text)
        done = penta("asm", source, "-o", source + ".out", *options)
        if done.returncode:
            print(done.stderr.decode())
            return None
        return read(source + ".out")


# ---- TVMR 10.2: mnemonics and their bytes ----

REGISTERS = {"d": "H1", "s": "H2", "a": "H3", "b": "H4"}
BYTES = {"d": 1, "s": 2, "a": 3, "b": 4, "FF": 255, "0": 0}
NUMBERS = {"n": 0x305, "x": 6, "y": 7, "min": 8, "max": 9, "layer": 10, "scale": 12, "div": 13, "threshold": 14,
           "step": 15, "start": 16, "dim": 17, "count": 18, "seed": 19, "index": 20, "gain": 2}
TARGET = 0x102


def tvmr_bytes(encoding, values):
    """The four bytes that a cell describes: letters of registers, FF and 0, names of numbers, halves and quarters."""
    wide = values.get("label", values.get("n", 0))
    quarters = {"hi": wide >> 8 & 255, "lo": wide & 255, "t3": wide >> 24, "t2": wide >> 16 & 255, "t1": wide >> 8 & 255,
                "t0": wide & 255, "g": values["gain"] * 16 if "gain" in values else 64}
    return bytes({**quarters, **values, **BYTES}[word] & 255 for word in encoding.split(";")[0].split())


def tvmr_row(mnemonic, operands, encoding):
    """The mnemonic with all operands, and with every shorter list that the brackets allow."""
    parts = re.findall(r"(\[?)\s*,?\s*(\w+)(?: = (\d+))?", operands)
    required = sum(not bracket for bracket, _, _ in parts)
    for given in range(required, len(parts) + 1):
        words, values = [], {}
        for at, (_, name, default) in enumerate(parts):
            narrow = mnemonic in ("shift", "embed_sequence", "reduce_avg", "slice", "narrow")
            number = TARGET if name == "label" else NUMBERS.get(name, 0) & (255 if narrow else 0xFFFF)
            if at < given:
                words.append(REGISTERS.get(name, "there" if name == "label" else str(number)))
            if name not in REGISTERS and (at < given or default):
                values[name] = number if at < given else int(default)
        line = f"{mnemonic} {', '.join(words)}"
        source = ".registers\n" + "".join(f"H{n}: i32[4]\n" for n in range(6)) + ".program\n" + line + "\n" \
            + "nop\n" * (TARGET - 1) + "there:\nhalt\n"
        image = assemble("tasm", source)
        at = struct.unpack_from("<I", image, 0x18)[0] if image else 0
        want = tvmr_bytes(encoding, values)
        expect(image and image[at + 4:at + 8] == want,
               f"TVMR 10.2: {line} is {image and image[at + 4:at + 8].hex(' ')}, not {want.hex(' ')}")


def tvmr_mnemonics():
    known, core = {}, {}
    for names, operands, encoding in table(section("tvmr/text.md", "10.2"))[1:]:
        for name in re.findall(r"\w+", names):
            known[name] = encoding.split(";")[0].split()
            tvmr_row(name, "" if operands == "-" else operands, encoding)
    for line in penta("formats", "tvmr", "--instructions").stdout.decode().splitlines():
        if line.startswith("  0x00 "):
            core[int(line.split()[1], 16)] = line.split()[2]
    expect(core and set(core.values()) <= set(known), f"TVMR 10.2 lacks {set(core.values()) - set(known)}")
    tvmr_meanings(known, core)


def tvmr_meanings(known, core):
    """The tables of TVMR 7 have the same opcodes, and 0 and FF in the same places."""
    with open(os.path.join(ROOT, "docs/formats/tvmr/machine.md"), encoding="utf-8") as file:
        rows = [row for row in table(file.read()) if len(row) >= 4 and re.match(r"0x[0-9A-F]{4}\b", row[0])]
    seen = set()
    for row in rows:
        for opcode in re.findall(r"0x(\w+)", row[0]):
            seen.add(int(opcode, 16))
            name = core.get(int(opcode, 16))
            expect(name, f"TVMR 7: there is no instruction 0x{opcode}")
            words = row[2].replace("*", "").split()
            for shown, word in zip(words, known.get(name, [])):
                fixed = {"00": "0"}.get(shown, shown)
                if fixed in ("0", "FF") or word in ("0", "FF"):
                    expect(fixed == word or name in ("squeeze", "unsqueeze"), f"TVMR 7: {name} is {row[2]}, 10.2 has {known[name]}")
    expect(seen == set(core), f"TVMR 7 and the machine differ in {[hex(n) for n in seen ^ set(core)]}")


# ---- COIL 5.12: which instructions never run ----

def coil_instructions():
    done = penta("formats", "coil", "--instructions").stdout.decode()
    expect(re.search(r"^  0x8f +VECOP +\S+ +undefined +no$", done, re.M), "COIL 5.12: VECOP does not run")
    known = {int(code, 16) for code in re.findall(r"^  0x(\w+) ", done, re.M)}
    with open(os.path.join(ROOT, "docs/formats/coil/instructions.md"), encoding="utf-8") as file:
        known |= {int(code, 16) for code in re.findall(r"^\| CPU \| 0x(\w+)", file.read(), re.M)}
    text = re.search(r"Unassigned opcodes: (.*?) →", section("coil/instructions.md", "5.11"), re.S)[1]
    free = set()
    for first, last in re.findall(r"([0-9A-F]{2})–([0-9A-F]{2})", text):
        free |= set(range(int(first, 16), int(last, 16) + 1))
    expect(known and free == set(range(255)) - known,
           f"COIL 5.11: unassigned are {[hex(n) for n in sorted(set(range(255)) - known ^ free)]}")


# ---- PVM 1.3: numbers ----

def pvm_stack_size(number):
    """What a container says whose stack size is these bytes, and what validate says of it."""
    memory = b"\0\0" + number
    body = b"\x01" + bytes([len(memory)]) + memory + bytes.fromhex("06 05 00 00 01 00 01 00")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "number.polkavm")
        write(file, b"PVM\0\x01" + (13 + len(body)).to_bytes(8, "little") + body)
        size = re.search(r"stack_size +(\d+)", penta("info", file).stdout.decode())
        return int(size[1]) if size else None, penta("validate", file).stderr.decode()


def pvm_numbers():
    text = section("pvm/container.md", "1.3")
    pairs = re.findall(r"(\d+) \| `((?:[0-9A-F]{2} ?)+)`", text)
    expect(len(pairs) == 14, f"PVM 1.3 has {len(pairs)} numbers")
    for value, shown in pairs:
        size, finding = pvm_stack_size(bytes.fromhex(shown))
        expect(size == int(value) and not re.search("PVM0201|PVM0006", finding), f"PVM 1.3: {shown} is {size}, not {value}; {finding}")
    for shown, value in re.findall(r"`([0-9A-F ]+)` (?:is|reads as) (\d+)", text):
        size, finding = pvm_stack_size(bytes.fromhex(shown))
        expect(size == int(value) and "PVM0201" in finding, f"PVM 1.3: {shown} is {size}, not {value}, and a warning: {finding}")
    expect("PVM0006" in pvm_stack_size(b"\xf8\0\0\0\0")[1], "PVM 1.3: no number starts with 11111")


# ---- COIL 2.3: sizes of types ----

def coil_sizes():
    """Two variables of a type lie so far apart as the table says: its size, rounded up to its alignment."""
    sizes = {"cint<9>": 2, "cint<17>": 4, "cint<33>": 8, "cint<65>": 16, "cunt<24>": 4, "vec<i32, 3>": 12, "vec<i8, 5>": 5,
             "mat<i32, 2, 3>": 32, "sqmat<i8, 3>": 16, "diagmat<i64, 3>": 32, "tensor<i16, [2, 3, 2]>": 32, "symtensor<i32, 2, 3>": 32}
    code = ""
    for at, kind in enumerate(sizes):
        code += "".join(f"VAR %{4 * at + k}, {kind if k < 3 else 'i64'}\n" for k in (1, 2, 3))
        code += f"VAR %{4 * at + 4}, i64\nLEA i64 %{4 * at + 3}, {kind} %{4 * at + 1}\nLEA i64 %{4 * at + 4}, {kind} %{4 * at + 2}\n"
        code += f"SUB i64 %{4 * at + 4}, i64 %{4 * at + 3}\nOUTPORT i32 2, i64 %{4 * at + 4}\n"
    file = assemble("casm", f".global main\n.func main\n{code}RET\n.endfunc\n")
    done = penta("run", "-q", "--format", "coil", "-", data=file)
    expect([int(line) for line in done.stdout.split() if line.isdigit()] == list(sizes.values()),
           f"COIL 2.3: {done.stdout} {done.stderr}")


# ---- COIL 4: instructions byte by byte ----

def coil_examples():
    examples = 0
    for block in section("coil/encoding.md", "4").split("\n\n"):
        lines = block.splitlines()
        if not lines or not re.match(r"    [A-Z]", lines[0]):
            continue
        examples += 1
        text, _, first = lines[0].strip().partition("     ")
        shown = re.findall(r"^\s*((?:[0-9A-F]{2} +)*[0-9A-F]{2})(?=  |$)", "\n".join([first] + lines[1:]), re.M)
        got, want = assemble("casm", text + "\n", "--raw"), bytes.fromhex("".join(shown))
        expect(got == want, f"COIL 4: {text} is {got and got.hex(' ')}, not {want.hex(' ')}")
        size = re.search(r"(\d+) bytes$", lines[-1])
        expect(not size or int(size[1]) == len(want), f"COIL 4: {text} has {len(want)} bytes")
    expect(examples == 5, f"COIL 4 has {examples} examples")


def main():
    pvm_numbers()
    coil_sizes()
    coil_examples()
    tvmr_mnemonics()
    coil_instructions()
    return summary()


if __name__ == "__main__":
    sys.exit(main())
