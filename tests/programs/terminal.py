#!/usr/bin/env python3
"""What a person sees on a terminal: colours, progress, nothing that a file put there.

    tests/programs/terminal.py PENTA
"""
import os
import re
import sys

from support import PENTA, Terminal, call, check, exits, main, source

COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
SOURCES = {
    "k.kasm": "    WRITE8 0x10000, 7 ; bytes\n    HALT\n",
    "p.pvmasm": "%isa = latest64\n%export \"go\" = @go\n@go:\n    a0 = a0 + 0x7\n    jump @go if a0 <u 40\n    ret\n",
    "v.cvasm": "start:\n    PUSH 3\n    POP\n    HALT\n",
    "t.tasm": ".registers\n    H0: i32[4]\n.program\n    load_input H0\n    store_output H0\n    halt\n",
    "c.casm": ".global main\n.func main\n    MOV v0, i64 5\n    RET\n.endfunc\n",
}
ARGUMENTS = {"p.pvmasm": ["--call", "go"], "k.kasm": ["--map", "0x10000:64"], "t.tasm": ["--input", "1,2,3,4"]}


def programs():
    for name, text in SOURCES.items():
        source(name, text)
        binary = name.split(".")[0] + ".bin"
        exits(0, "asm", name, "-o", binary)
        yield name, binary, ARGUMENTS.get(name, [])


def on_terminal(*args, env=None):
    screen = Terminal(PENTA, *args, env=env)
    screen.end()
    return screen.text.replace(b"\r\n", b"\n")


def test_listings_are_coloured_on_a_terminal():
    """dis, trace and debug: colours are all that is added, and a pipe gets none."""
    for name, binary, arguments in programs():
        for line in (["dis", binary], ["trace", binary, *arguments, "--count", "9"]):
            plain = call(*line).stdout
            check(b"\x1b" not in plain and plain, line)
            for coloured in (on_terminal(*line), call(*line, env={"FORCE_COLOR": "1"}).stdout,
                             call(*line, "--color=always").stdout):
                check(COLOUR.search(coloured), (line, coloured))
                check(COLOUR.sub(b"", coloured) == plain, (line, coloured))
            check(on_terminal(*line, env={"NO_COLOR": "1"}) == plain, "NO_COLOR")
            check(on_terminal(*line, "--color=never") == plain, "--color=never")
        done = call("debug", binary, *arguments, "--color=always", data=b"list\nstep\n")
        plain = call("debug", binary, *arguments, data=b"list\nstep\n")
        check(COLOUR.search(done.stdout) and COLOUR.sub(b"", done.stdout) == plain.stdout, done.stdout)
        done = call("debug", binary, *arguments, "--color=always", "--json", data=b"list\n")
        check(b"u001b" not in done.stdout, "no colours in a document")


def test_parts_of_an_instruction_have_colours_of_their_own():
    for _ in programs():
        pass
    text = call("dis", "p.bin", "--color=always").stdout
    for part in (rb"\x1b[35m%isa", rb"\x1b[33m@go", rb"\x1b[34ma0", rb"\x1b[36m0x7", rb"\x1b[1mjump", rb'\x1b[32m"go"'):
        check(part.replace(rb"\x1b", b"\x1b") in text, (part, text))
    check(b"\x1b[34mH0" in call("dis", "t.bin", "--color=always").stdout, "a register of tvmr")
    check(b"\x1b[34mv0" in call("dis", "c.bin", "--color=always").stdout, "a register of coil")
    check(b"\x1b[2m;" in call("trace", "p.bin", "--call", "go", "--color=always", "--count", "2").stdout, "what changed")


def test_names_in_a_listing_bring_no_colours():
    """A sequence in the name of an export stays visible text between our own colours."""
    source("p.pvmasm", '%isa = latest64\n%export "\\x1b[31mx" = @go\n@go:\n    ret\n')
    exits(0, "asm", "p.pvmasm", "-o", "p.bin")
    for style in ("asm", "flat", "upstream"):
        text = call("dis", "p.bin", "--style", style, "--color=always").stdout
        check(b"\x1b[31m" not in text and b"[31mx" in text, (style, text))


if __name__ == "__main__":
    sys.exit(main(globals()))
