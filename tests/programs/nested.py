#!/usr/bin/env python3
"""Files inside files, found by penta detect --deep: every format in every kind of outer file, and searches that end.

    tests/programs/nested.py PENTA
"""
import io
import json
import os
import random
import struct
import sys
import tarfile
import zipfile

from support import ROOT, assembled, check, exits, main, penta, read, write

SOURCES = {"k.kasm": "    WRITE64 0x10000, 1\n    HALT\n",
           "v.cvasm": '.string "hi"\n    PUSH 0\n    PRINTF 0\n    HALT\n',
           "p.pvmasm": '%isa = latest64\n%export "main" = @main\n@main:\n    a0 = 5\n    ret\n',
           "c.casm": ".global main\n.func main\n    RET\n.endfunc\n",
           "t.tasm": ".program\n    halt\n"}
CONTENTS = {}  # name: (format, dialect, bytes, size told)


def converted(file, out, *options):
    penta("convert", file, "-o", out, *options, needed=True)
    return read(out)


def card(image):
    header = b'{"payload_size": %d}' % len(image)
    return b"TVMR\x01\x00\x00\x00" + struct.pack("<I", len(header)) + header + image


def conc(program):
    """A program from before the container in its wrapper, with a CRC-16/CCITT."""
    crc = 0xffff
    for byte in program:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return struct.pack("<IIIHH", 0x434F4E43, len(program), 2, 0, crc) + program


def prepare():
    paths = {os.path.splitext(source)[1]: assembled(source, text) for source, text in SOURCES.items()}
    dialects = {".kasm": ("kblob", "version 1"), ".cvasm": ("cvbc", "version 1.0"), ".pvmasm": ("pvm", "polkavm"),
                ".casm": ("coil", "packed, little-endian"), ".tasm": ("tvmr", "image")}
    for suffix, path in paths.items():
        CONTENTS[suffix[1:]] = (*dialects[suffix], read(path))
    CONTENTS["big"] = ("coil", "packed, big-endian", converted(paths[".casm"], "big.coil", "--endian", "big"))
    CONTENTS["kblob2"] = ("kblob", "version 2", converted(paths[".kasm"], "two.kblob", "--to", "2"))
    CONTENTS["card"] = ("tvmr", "card", card(CONTENTS["tasm"][2]))
    CONTENTS["conc"] = ("cvbc-legacy", "legacy", conc(struct.pack("<7I", 5, 0, *[op << 24 | value for op, value in (
        (8, 2), (0, 0), (1, 500), (0x14, 0), (9, 0))])))
    seeds = f"{ROOT}/tests/fuzz/seeds/tvmr_container"
    CONTENTS["weights"] = ("tvmr", "weights", read(f"{seeds}/weights_file"))
    CONTENTS["compressed"] = ("tvmr", "compressed image", read(f"{seeds}/image_compressed"))
    CONTENTS["legacy"] = ("tvmr", "legacy", read(f"{seeds}/legacy_dense_relu"))


def found(data, code=0):
    """What is found inside bytes, and all that is said of them."""
    done = json.loads(exits(code, "detect", "--deep", "--json", write("outer", data)).stdout)
    return done["files"][0]["found"], done["files"][0]


# ---- outer files ----

def noise(content):
    numbers = random.Random(40)
    return b"".join([numbers.randbytes(701), content, numbers.randbytes(900)])


def tar(content):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("readme", "program", "more"):
            data = content if name == "program" else b"text\n" * 99
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def stored_zip(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("program", content)
    return out.getvalue()


def ar(content):
    head = f"{'program/':16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    return b"!<arch>\n" + head + content + b"\n" * (len(content) % 2)


def elf(content):
    """A relocatable ELF file with the content in its section .data, as objcopy -I binary makes it."""
    names = b"\0.data\0.shstrtab\0"
    table = 64 + len(content) + len(names)
    section = "<IIQQQQIIQQ"
    return b"".join([
        b"\x7fELF\x02\x01\x01" + bytes(9), struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2),
        content, names, bytes(64), struct.pack(section, 1, 1, 3, 0, 64, len(content), 0, 0, 1, 0),
        struct.pack(section, 7, 3, 0, 0, 64 + len(content), len(names), 0, 0, 1, 0)])


def firmware(content):
    return b"\xff" * 4096 + content + b"\xff" * (8192 - len(content))


# ---- tests ----

def test_every_format_is_found_in_every_kind_of_file():
    for outer in (noise, tar, stored_zip, ar, elf, firmware):
        for name, (format, dialect, content) in CONTENTS.items():
            data = outer(content)
            list_, _ = found(data)
            at = data.index(content)
            one = next((one for one in list_ if one["offset"] == at), None)
            check(one and (one["format"], one.get("dialect")) == (format, dialect), (outer.__name__, name, list_))
            check(one["state"] == "valid" or name in ("weights", "compressed", "legacy"), (outer.__name__, name, one))
            check(one["state"] != "header", (outer.__name__, name, one))
            check(one.get("size") == len(content), (outer.__name__, name, one, len(content)))
            rest = [other for other in list_ if other["offset"] != at]
            check(all(other["depth"] and at < other["offset"] < at + len(content) for other in rest), (outer.__name__, name, rest))


def test_a_blob_in_the_custom_metadata_of_a_container():
    blob = CONTENTS["kasm"][2]
    path = assembled("custom.cvasm", f".custom {blob.hex()}\n    HALT\n")
    data = b"ahead" + read(path)
    list_, _ = found(data)
    check([(one["format"], one["depth"], one["offset"], one["size"], one["state"]) for one in list_] ==
          [("cvbc", 0, 5, len(data) - 5, "valid"), ("kblob", 1, data.index(blob), len(blob), "valid")], list_)
    text = exits(0, "detect", "--deep", write("outer", data)).stdout.decode()
    check(f"outer:   at 0x{data.index(blob):x}: kblob, version 1, {len(blob)} bytes, valid (starts with" in text, text)


def test_what_is_cut_or_wrong_is_said():
    blob = CONTENTS["kasm"][2]
    list_, _ = found(b"..." + blob[:-1], code=3)
    check(list_[0]["state"] == "header" and list_[0]["message"] == f"it has {len(blob)} bytes, and {len(blob) - 1} are there", list_)
    list_, _ = found(b"..." + blob[:16] + b"\xee" + blob[17:])
    check(list_[0]["state"] == "invalid" and list_[0]["code"].startswith("KBLOB"), list_)


def test_magic_numbers_alone_are_nothing():
    magics = [content[:4] for _, _, content in CONTENTS.values()] + [b"CNOC"]
    data = b"\x05" + b"".join(a[:keep] + b for a in magics for b in magics for keep in range(1, 5))
    list_, _ = found(data, code=3)
    check(list_ == [], list_)
    blob = CONTENTS["kasm"][2]  # with magics that overlap its own
    for magic in magics:
        for keep in range(1, 5):
            list_, _ = found(b"?" + magic[:keep] + blob)
            check([(one["offset"], one["state"]) for one in list_] == [(1 + keep, "valid")], (magic, keep, list_))


def test_the_work_is_bounded():
    size = 64 << 20
    list_, file = found(bytes(size), code=3)
    check(list_ == [] and file["work"] == size and not file["skipped"], file)
    for magic in (b"\x05\xb1\x05\xb1", b"COIL", b"TVMR"):
        list_, file = found(magic * (size // 4), code=0)
        check(list_ == [] and file["work"] <= 9 * size and not file["skipped"], (magic, file))
    # Heads of which each claims all that follows: what is opened stays below the limit.
    size = 1 << 20
    count = size // 32
    heads = b"".join(b"\x05\xb1\x05\xb1\x01\0\0\0\x10\0\0\0" + struct.pack("<I", 2 * (count - i) - 1) + bytes(16)
                     for i in range(count))
    list_, file = found(heads)
    check(file["work"] <= (64 << 20) + 17 * size, file["work"])
    check(any("too much was claimed" in one.get("message", "") for one in list_), list_[:3])


def test_empty_missing_and_plain():
    done = json.loads(exits(3, "detect", "--deep", "--json", write("empty", b"")).stdout)
    check(done["files"][0]["found"] == [] and done["diagnostics"][0]["message"] == "the file is empty", done)
    exits(4, "detect", "--deep", "missing")
    blob = write("k", CONTENTS["kasm"][2])
    check(b"found" not in exits(0, "detect", "--json", blob).stdout, "plain detect is unchanged")
    jam = converted("p.polkavm", "p.jam", "--to", "jam")
    done = json.loads(exits(0, "detect", "--deep", "--json", "p.jam").stdout)["files"][0]
    check(done["format"] == "pvm" and done["found"] == [] and jam, done)


if __name__ == "__main__":
    sys.exit(main(globals(), prepare))
