#!/usr/bin/env python3
"""--lenient: each kind of recoverable damage of each format is refused without it and passed over with it; what is no such damage stays an error.

    tests/programs/lenient.py PENTA
"""
import json
import os
import sys
import tempfile

from support import ROOT, expect, penta, summary

folder = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(folder.name, name)


def assembled(source, suffix, *options):
    out = path("whole" + suffix)
    done = penta("asm", os.path.join(ROOT, source), "-o", out, *options)
    expect(done.returncode == 0, f"asm {source}: {done.stderr.decode()}")
    with open(out, "rb") as file:
        return bytearray(file.read())


def written(name, data):
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def document(*arguments):
    """The JSON document that a command prints, which has to be one, and its exit code."""
    done = penta(*arguments, "--json")
    try:
        return json.loads(done.stdout), done.returncode
    except ValueError:
        expect(False, f"{arguments}: no JSON: {done.stdout[:80]!r}")
        return {}, done.returncode


def codes(found, severity):
    return {d["code"] for d in found.get("diagnostics", []) if d["severity"] == severity}


def recovered(name, data, code, *options, run=None, dis=True):
    """The damage is an error without --lenient, a warning with it in every command, and the program runs."""
    file = written(name, data)
    plain = penta("validate", file, *options)
    expect(plain.returncode == 1 and f"error[{code}".encode() in plain.stderr + plain.stdout,
           f"{name}: validate exits with {plain.returncode}: {plain.stderr.decode()}")
    found, status = document("validate", "--lenient", file, *options)
    found = found["files"][0]
    expect(status == 0 and found["valid"] and code in codes(found, "warning"), f"{name}: lenient: {status} {found}")
    strict = penta("validate", "--lenient", "--strict", file, *options)
    expect(strict.returncode == 1, f"{name}: --strict does not count the warning: {strict.returncode}")
    for command in ["info", "inspect"] + ["dis"] * dis:
        found, status = document(command, "--lenient", file, *options)
        warned = [d for d in found["diagnostics"] if d["code"] == code and d["severity"] == "warning"]
        expect(status == 0 and warned and all("offset" in d for d in warned), f"{name}: {command}: {status} {found}")
        text = penta(command, "--lenient", file, *options)
        expect(text.returncode == 0 and f"warning[{code}".encode() in text.stderr,
               f"{name}: {command}: {text.returncode} {text.stderr.decode()}")
    if run is None:
        return
    refused = penta("run", file, *options, *run)
    expect(refused.returncode in (1, 5), f"{name}: runs without --lenient: {refused.returncode}")
    runs = penta("run", "--lenient", file, *options, *run)
    expect(runs.returncode == 0 and b"halt" in runs.stdout + runs.stderr, f"{name}: run --lenient: {runs.stderr.decode()}")


def converted(name, *options):
    """What convert makes of a damaged file is right."""
    out = path("converted-" + name)
    done = penta("convert", "--lenient", path(name), "-o", out, *options)
    checked = penta("validate", out)
    expect(done.returncode == 0 and checked.returncode == 0, f"{name}: converted: {done.stderr.decode()} {checked.stderr.decode()}")


def lost(name, data, *options, expected=5):
    """What is damaged further is an error with --lenient, too."""
    file = written(name, data)
    found, status = document("dis", "--lenient", file, *options)
    expect(status == expected and codes(found, "error"), f"{name}: dis --lenient: {status} {found}")
    found, status = document("validate", "--lenient", file, *options)
    expect(status == 1 and not found["files"][0]["valid"], f"{name}: validate --lenient: {status}")


def changed(data, at, value):
    return data[:at] + bytearray(value) + data[at + len(value):]


# kblob: the CRC of the trailer, the number of instructions.
blob = assembled("examples/kblob/fill.kasm", ".kblob", "--define", "buf=0x10000")
sealed = assembled("examples/kblob/fill.kasm", ".kblob", "--define", "buf=0x10000", "--trailer")
MAP = ["--map", "0x10000:4096"]
at = sealed.rindex(b"KCRC") if b"KCRC" in sealed else len(blob)
recovered("crc.kblob", changed(sealed, at + 4, b"\1\2\3\4"), "KBLOB0012", "--trailer", run=MAP)
recovered("count.kblob", changed(blob, 12, (9999).to_bytes(4, "little")), "KBLOB0008", run=MAP)
converted("count.kblob", "--to", "2")
lost("entry.kblob", changed(blob, 8, b"\4\0\0\0"))

# pvm: the length in the header, sections that are unknown or there twice, the number of imports.
program = written("program.pvmasm", b"""%dialect = polkavm
%isa = latest64
pub @main:
    a0 = 7
    ret
""")
polka = assembled(program, ".polkavm")
recovered("length.polkavm", changed(polka, 5, b"\xff"), "PVM0004", run=[])
recovered("section.polkavm", polka[:13] + b"\x07\x02ab" + polka[13:], "PVM0007", run=[])
recovered("imports.polkavm", polka[:13] + b"\x04\x02\x09\x00" + polka[13:], "PVM0011", run=[])
for name in ("length.polkavm", "section.polkavm"):
    converted(name, "--to", "polkavm")
    converted(name, "--to", "doc")
lost("cut.polkavm", polka[:20])

# cvbc: both CRCs, the size of the file, reserved bytes. A digest, a signature and a key stay errors.
vault = assembled("examples/cvbc/hello.cvasm", ".cvbc")
recovered("header.cvbc", changed(vault, 12, b"\1\2\3\4"), "CVBC0007", run=[])
recovered("payload.cvbc", changed(vault, 40, b"\1\2\3\4"), "CVBC0008", run=[])
recovered("size.cvbc", changed(vault, 8, (len(vault) + 9).to_bytes(4, "little")), "CVBC0005", run=[])
recovered("reserved.cvbc", changed(vault, 57, b"\1"), "CVBC0009", run=[])
lost("section.cvbc", changed(vault, 32, b"\xff\xff\xff\x7f"))
unsigned = written("unsigned.cvbc", changed(vault, 40, b"\1\2\3\4"))
expect(penta("run", "--lenient", "--require-signature", unsigned).returncode == 1, "an unsigned file runs with --require-signature")

# tvmr: the checksum, reserved bytes, the number of instructions, the metadata.
image = assembled(sorted(n for n in (os.path.join("examples/tvmr", x) for x in os.listdir(os.path.join(ROOT, "examples/tvmr")))
                         if n.endswith("asm"))[0], ".tvmr")
recovered("sum.tvmr", changed(image, 0x20, b"\1\2\3\4"), "TVMR0008", run=[])
recovered("reserved.tvmr", changed(image, 0x28, b"\1"), "TVMR0005")
recovered("count.tvmr", changed(image, 0x1c, (1 << 20).to_bytes(4, "little")), "TVMR0001")
recovered("metadata.tvmr", changed(image, 6, bytes([image[6] | 4])) + b"\xff" * 3, "TVMR0013")
lost("registers.tvmr", changed(image, 8, b"\xff"))

# coil: reserved bytes of a symbol, a name outside the string table. Tables outside the file stay errors.
obj = assembled("examples/coil/hello.casm", ".coil")
symbols = int.from_bytes(obj[56:64], "little")
tree, _ = document("inspect", path("whole.coil"))
lost("tables.coil", changed(obj, 48, b"\xff\xff\xff\x7f"))
found = [f for n in tree["tree"] if n["name"] == "symbols" for f in n["children"][0]["children"]]
at = {f["name"]: f["offset"] for f in found}
recovered("reserved.coil", changed(obj, at["reserved"], b"\1"), "COIL0063")
recovered("name.coil", changed(obj, at["name_idx"], b"\xff\xff\xff\x7f"), "COIL0048")


# docs/files.md names every rule that is recoverable.
with open(os.path.join(ROOT, "docs/files.md"), encoding="utf-8") as file:
    page = file.read()
for name in ("kblob", "pvm", "cvbc", "tvmr", "coil"):
    with open(os.path.join(ROOT, "src/formats", name, "rules.def"), encoding="utf-8") as file:
        for line in file:
            if ", ERROR, RECOVERABLE," in line:
                number = int(line.split("(")[1].split(",")[0])
                expect(f"{name.upper()}{number:04}" in page, f"docs/files.md does not have {name.upper()}{number:04}")
folder.cleanup()
sys.exit(summary())
