#!/usr/bin/env python3
"""Each command recognises, parses and verifies each of its files once: penta_counted counts the calls of the drivers.

    tests/programs/once.py PENTA_COUNTED
"""
import os
import sys

from support import PENTA, ROOT, assembled, equal, expect, main, penta, run_program, write

KEYS = os.path.join(ROOT, "tests", "keys")
FORMATS = {"kblob": ("p.kasm", "WRITE8 0x10000, 1\nHALT\n", ["--map", "0x10000:4096"]),
           "pvm": ("p.pvmasm", "%isa = latest64\npub @main:\n    a0 = 7\n    ret\n", []),
           "cvbc": ("p.cvasm", "    PUSH 7\n    HALT\n", []),
           "tvmr": ("p.tasm", ".registers\n    H0: i32[4]\n.program\n    load_input H0\n    store_output H0\n    halt\n", []),
           "coil": ("p.casm", ".global main\n.func main\n    MOV V0, 7\n    RET\n.endfunc\n", [])}


def key(name):
    return os.path.join(KEYS, name)


def counted(*args, data=None):
    """The exit code, and the counts of each format, without those that are 0."""
    if os.path.exists("counts"):
        os.remove("counts")
    done = run_program(PENTA, *args, data=data, env={**os.environ, "PENTA_COUNTS": "counts"})
    counts = {}
    for line in open("counts", encoding="utf-8"):
        format, what, count = line.split()
        if int(count):
            counts.setdefault(format, {})[what] = int(count)
    return done, counts


def once(format, args, verified=0, files=1, parsed=None, probed=None, code=0, data=None):
    """Checks the counts of a command that reads `files` files of the format; `verified`: how many it verifies."""
    done, counts = counted(*args, data=data)
    expect(done.returncode == code, f"penta {' '.join(args)}: exit {done.returncode}\n{done.stderr.decode()}")
    own = counts.get(format, {})
    probed = files if probed is None else probed
    parsed = files if parsed is None else parsed
    equal(f"penta {' '.join(args)}", [own.get("probe", 0), own.get("parse", 0), own.get("verify", 0)],
          [probed, parsed, verified])
    for other, of_other in counts.items():
        if other != format:
            equal(f"penta {' '.join(args)}, {other}", of_other, {"probe": probed})


def program(format):
    source, text, options = FORMATS[format]
    return assembled(source, text), source, options


def test_commands_that_read():
    for format in FORMATS:
        file, _, _ = program(format)
        once(format, ["detect", file], parsed=0)
        for command in ("info", "inspect", "hex", "dis", "roundtrip", "size"):
            once(format, [command, file])
        once(format, ["info", file, "--format", format], probed=0)
        once(format, ["validate", file], verified=1)
        once(format, ["validate", file, file, "--json"], verified=2, files=2)
        once(format, ["diff", file, file], files=2)
        once(format, ["report", file, "-o", "report.html"], verified=1)


def test_commands_that_run():
    for format in FORMATS:
        file, source, options = program(format)
        for command in (["run", file], ["run", file, "--json"], ["run", file, "--unverified"], ["trace", file],
                        ["profile", file], ["cover", file]):
            once(format, command + options, verified=1)
        once(format, ["debug", file, *options], verified=1, data=b"step\nback\nquit\n")
        once(format, ["run", file, *options, "--record", "record"], verified=1)
        once(format, ["run", file, "--replay", "record"], verified=1)
        once(format, ["run", file, *options, "--save", "saved"], verified=1)
        once(format, ["run", file, *options, "--load", "saved"], verified=1)
        once(format, ["run", source, *options], verified=1)


def test_commands_that_write():
    for format in FORMATS:
        file, source, _ = program(format)
        once(format, ["asm", source, "-o", "again"], probed=0)
    once("pvm", ["convert", "p.polkavm", "--to", "polkavm", "-o", "x"], verified=1)
    once("coil", ["convert", "p.coil", "--endian", "big", "-o", "x"])
    once("coil", ["link", "p.coil", "-o", "x.coil"], verified=1)


def test_containers():
    program("cvbc")
    signed, sealed = "signed.cvbc", "sealed.cvbc"
    penta("sign", "p.cvbc", "--sign-key", key("signer.pem"), "-o", signed, needed=True)
    penta("seal", "p.cvbc", "--key-file", key("symmetric.hex"), "-o", sealed, needed=True)
    trusted = ["--trusted-key", key("signer.pub")]
    for options in ([], ["--strict"], trusted, trusted + ["--strict"]):
        once("cvbc", ["verify", signed, *options], code=0 if trusted[0] in options else 1)
        once("cvbc", ["verify", "p.cvbc", *options], code=1)
    once("cvbc", ["run", signed, "--require-signature", *trusted], verified=1)
    once("cvbc", ["run", sealed, "--key-file", key("symmetric.hex")], verified=1)
    once("cvbc", ["board", "check", signed, "--board", "stm32g431"])
    once("cvbc", ["extract", signed, "-o", "x.bin"])
    once("cvbc", ["open", sealed, "--key-file", key("symmetric.hex"), "-o", "x.cvbc"])


if __name__ == "__main__":
    sys.exit(main(globals()))
