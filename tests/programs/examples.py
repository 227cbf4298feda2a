#!/usr/bin/env python3
"""Runs every example of the help and the man pages, in a folder with the files it names.

    tests/programs/examples.py PENTA
"""
import os
import shutil
import sys
import tempfile

from support import PENTA, ROOT, expect, run_program, summary, write

MAIN = ".global main\n.func main\n    CALL @helper\n    RET\n.endfunc\n"
HELPER = ".global helper\n.func helper\n    RET\n.endfunc\n"

VECTOR = """{"name": "no instruction", "blob_hex": "05b105b1010000001000000000000000", "size": 16,
             "expect": {"validate": "EMPTY", "instruction": null}}"""


def sh(line, folder):
    path = os.path.dirname(PENTA) + os.pathsep + os.environ["PATH"]
    return run_program("sh", "-c", line, cwd=folder, text=True, env={**os.environ, "PATH": path})


def prepare(folder):
    """The files that the examples name."""
    for name, source in (("kernel.kasm", "kblob/fill.kasm"), ("prog.cvasm", "cvbc/hello.cvasm"),
                         ("prog.ino", "cvbc/blink.ino"), ("program.pvmasm", "pvm/fibonacci.pvmasm")):
        shutil.copy(os.path.join(ROOT, "examples", source), os.path.join(folder, name))
    shutil.copytree(os.path.join(ROOT, "examples/jam"), os.path.join(folder, "examples/jam"))
    os.makedirs(os.path.join(folder, "examples/gpu"))
    shutil.copy(os.path.join(ROOT, "examples/gpu/race.gpu"), os.path.join(folder, "examples/gpu"))
    shutil.copy(os.path.join(ROOT, "examples/tvmr/digits.tasm"), folder)
    for name, data in (("train.idx", b"\0\0\x08\x03\0\0\0\x0a\0\0\0\x10\0\0\0\x10" + bytes(2560)),
                       ("labels.idx", b"\0\0\x08\x01\0\0\0\x0a" + bytes(range(10)))):
        write(os.path.join(folder, name), data)
    os.mkdir(os.path.join(folder, "vectors"))
    for name, text in (("main.casm", MAIN), ("helper.casm", HELPER), ("key", "0" * 63 + "1\n"),
                       ("vectors/empty.json", VECTOR)):
        write(os.path.join(folder, name), text)
    for line in ("penta asm kernel.kasm --define buf=0x10000 -o kernel.kblob", "cp kernel.kblob firmware.bin",
                 "cp kernel.kblob old.kblob", "cp kernel.kblob new.kblob",
                 "penta asm program.pvmasm -o program.polkavm",
                 "penta asm digits.tasm --metadata -o digits.tvmr",
                 "penta asm main.casm -o main.coil", "penta asm helper.casm -o helper.coil",
                 "ar rc library.a helper.coil", "penta keygen -t ed25519 -o key.pem",
                 "penta pubkey key.pem -o key.pub", "penta create prog.cvasm --target stm32g431 -o prog.cvbc",
                 "penta sign prog.cvbc --sign-key key.pem --in-place",
                 "penta seal prog.cvbc --key-file key --sign-key key.pem -o sealed.cvbc"):
        done = sh(line, folder)
        if done.returncode:
            sys.exit(f"{line}: exit {done.returncode}\n{done.stderr}")


def examples(folder):
    for line in sh("penta help", folder).stdout.splitlines():
        word = line.split()[0] if line.startswith("  ") and line.split() else ""
        text = sh(f"penta help {word}", folder).stdout if word.isalpha() else ""
        if "\nexample:\n" in text:
            yield word, text.split("\nexample:\n")[1].splitlines()[0].strip()


def main():
    with tempfile.TemporaryDirectory() as work:
        base = os.path.join(work, "base")
        os.mkdir(base)
        prepare(base)
        found = 0
        for word, line in examples(base):
            folder = os.path.join(work, word)
            shutil.copytree(base, folder)
            if word in ("keygen", "pubkey"):     # they never write over a file
                os.remove(os.path.join(folder, "key.pem" if word == "keygen" else "key.pub"))
            done = sh(line, folder)
            if word == "explore" and "make web" in done.stderr:
                print(f"{line}: skipped, make web has not run")
                continue
            expect(done.returncode == 0, f"{line}: exit {done.returncode}\n{done.stderr}")
            found += 1
    expect(found >= 25, f"only {found} examples were found")
    return summary()


if __name__ == "__main__":
    sys.exit(main())
