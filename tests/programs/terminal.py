#!/usr/bin/env python3
"""What a person sees on a terminal: colours, progress, nothing that a file put there.

    tests/programs/terminal.py PENTA
"""
import json
import os
import re
import sys
import time

from support import EDITS_LINES, PENTA, Terminal, call, check, exits, main, write

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
        write(name, text)
        binary = name.split(".")[0] + ".bin"
        exits(0, "asm", name, "-o", binary)
        yield name, binary, ARGUMENTS.get(name, [])


def on_terminal(*args, env=None, columns=0):
    screen = Terminal(PENTA, *args, env=env, columns=columns)
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
    write("p.pvmasm", '%isa = latest64\n%export "\\x1b[31mx" = @go\n@go:\n    ret\n')
    exits(0, "asm", "p.pvmasm", "-o", "p.bin")
    for style in ("asm", "flat", "upstream"):
        text = call("dis", "p.bin", "--style", style, "--color=always").stdout
        check(b"\x1b[31m" not in text and b"[31mx" in text, (style, text))


LONG_WORDS = re.compile(r"\S{30,}|^example: .*|^  penta .*|^usage: ", re.M)


def test_help_notes_and_tables_fit_the_terminal():
    """No line is wider than the terminal, 80 columns where it does not say; no word is lost; to a pipe nothing is wrapped."""
    exits(0, "keygen", "-o", "k.pem")
    lines = (["help"], ["help", "run"], ["sign", "-h"], ["formats"], ["formats", "cvbc", "--instructions"], ["explain"],
             ["explain", "CVBC0034"], ["foo", "x"], ["sign", "--key", "k.pem", "x"], ["run", "k.pem", "--grid", "1"])
    for line in lines:
        done = call(*line)
        plain = (done.stdout + done.stderr).decode()
        for columns in (0, 40, 60, 100, 400):
            shown = on_terminal(*line, env={"NO_COLOR": "1"}, columns=columns).decode()
            if "-h" not in line:
                check(shown.split() == plain.split(), (line, columns, shown))
            for row in shown.splitlines():
                check(len(row) <= (columns or 80) or LONG_WORDS.search(row), (line, columns, row))
        check("error" in plain or max(map(len, plain.splitlines())) > 80, (line, plain))
    check(on_terminal("formats", columns=200) == call("formats").stdout, "a table that fits")


def test_data_is_never_wrapped():
    write("long.kasm", "    HALT ; " + "word " * 60 + "\n" + "    NOP\n" * 40)
    exits(0, "asm", "long.kasm", "-o", "long.kblob")
    for line in (["dis", "long.kblob"], ["inspect", "long.kblob"], ["hex", "long.kblob"], ["run", "long.kblob"]):
        check(on_terminal(*line, "--color=never", columns=30) == call(*line).stdout, line)


ERASE = b"\r\x1b[K"


def last_line(screen):
    """The last line of the screen after all erasing."""
    return screen.split(b"\n")[-1].split(ERASE)[-1]


def test_progress_of_a_long_run():
    """After half a second, on a terminal, and gone before anything else is written."""
    write("p.pvmasm", "%isa = latest64\n%export \"go\" = @go\n@go:\n    jump @go\n")
    exits(0, "asm", "p.pvmasm", "-o", "p.bin")
    line = ("run", "p.bin", "--call", "go", "--timeout")
    screen = Terminal(PENTA, *line, "300")
    screen.until(ERASE + b"running, 0 s")
    screen.until(ERASE + b"running, 1 s")
    screen.write(b"\x03")
    screen.end()
    check(re.search(rb"\x1b\[K(?:\x1b\[[0-9;]*m)*interrupt", screen.text), screen.text)
    # On a busy machine the short run, too, may take half a second: not each of three times.
    check(any(b"running" not in on_terminal(*line, "0.1") for _ in range(3)), "a short run")
    check(b"running" not in on_terminal(*line, "1", "-q"), "-q")
    check(b"running" not in on_terminal(*line, "1", env={"TERM": "dumb"}), "a dumb terminal")
    done = call(*line, "1")
    check(b"\x1b" not in done.stdout + done.stderr and b"running" not in done.stderr, "no terminal")


def test_progress_leaves_a_waiting_program_alone():
    """A program that reads what is typed computes nothing meanwhile."""
    write("p.pvmasm",
          """%isa = latest64
%stack_size = 4096
%rw_data_size = 8192
%import "console_write"
%import "console_read"
%import "console_exit"
pub @main:
a0 = 0
a1 = 0x20000
a2 = 100
ecalli 1
a2 = a0
a0 = 1
a1 = 0x20000
ecalli 0
a0 = 0
ecalli 2
""")
    exits(0, "asm", "p.pvmasm", "-o", "p.bin")
    screen = Terminal(PENTA, "run", "p.bin")
    deadline = time.monotonic() + 1.2
    while time.monotonic() < deadline:
        screen.read(0.1)
    check(b"running" not in screen.text, screen.text)
    screen.write(b"typed\n")
    check(screen.end() == 0 and screen.text.count(b"typed") == 2, screen.text)


def test_progress_of_link():
    screen = Terminal(PENTA, "link", "-")
    screen.until(b"linking, ", seconds=20)           # waits for standard input
    screen.write(b"x\n\x04\x04")
    screen.end()
    check(b"linking" not in last_line(screen.text) and b"error" in screen.text, screen.text)


def test_progress_of_conform():
    write("v.json", '{"name": "one"}')
    write("slow", "#!/bin/sh\nsleep 1.2\n")
    os.chmod("slow", 0o755)
    vector = {"name": "x", "initial-regs": [0] * 13, "initial-pc": 0, "initial-page-map": [], "initial-memory": [],
              "initial-gas": 10, "program": [0, 0, 1, 0, 1], "expected-status": "panic", "expected-regs": [0] * 13,
              "expected-pc": 0, "expected-memory": [], "expected-gas": 9}
    write("v.json", json.dumps(vector))
    text = on_terminal("conform", "v.json", "--exec", "./slow")
    check(ERASE + b"conform, " in text, text)
    check(b"conform, " not in last_line(text) and b"1 failed" in text, text)


def test_output_is_bounded_on_a_terminal():
    """A terminal gets 1000 lines and how to see the rest; a pipe, a file and --all get everything."""
    body = "".join(f"    a0 = a0 + {i % 100 + 1}\n" for i in range(3000))
    write("p.pvmasm", f'%isa = latest64\n%export "go" = @go\n@go:\n{body}    ret\n')
    write("q.pvmasm", f'%isa = latest64\n%export "go" = @go\n@go:\n{body.replace("+ 7", "+ 8")}    ret\n')
    for name in "pq":
        exits(0, "asm", f"{name}.pvmasm", "-o", f"{name}.bin")
    vectors = [{"name": f"v{i}", "initial-regs": [0] * 13, "initial-pc": 0, "initial-page-map": [],
                "initial-memory": [], "initial-gas": 10, "program": [0, 0, 1, 0, 1], "expected-status": "halt",
                "expected-regs": [0] * 13, "expected-pc": 0, "expected-memory": [], "expected-gas": 9}
               for i in range(1200)]
    os.mkdir("vectors")
    for vector in vectors:
        write(f"vectors/{vector['name']}.json", json.dumps(vector))
    for line in (["dis", "p.bin"], ["inspect", "p.bin"], ["hex", "p.bin"], ["trace", "p.bin", "--call", "go"],
                 ["conform", "vectors"]):
        plain = call(*line).stdout
        check(plain.count(b"\n") > 1100, (line, plain.count(b"\n")))
        screen = on_terminal(*line, env={"NO_COLOR": "1"})
        note = re.search(rb"penta: ([0-9]+) more lines: --all shows them, and so does a pipe\n", screen)
        check(note, (line, screen[-300:]))
        shown = screen[:note.start()]
        check(shown.count(b"\n") == 1000 and plain.startswith(shown.split(ERASE)[0][:2000]), (line, shown.count(b"\n")))
        check(int(note[1]) + 1000 + screen[note.end():].count(b"\n") == plain.count(b"\n"), (line, note[1]))
        every = on_terminal(*line, "--all", env={"NO_COLOR": "1"})
        check(b"more lines" not in every and every.count(b"\n") == plain.count(b"\n"), (line, "--all"))
    check(screen.endswith(b"0 passed, 1200 failed\n"), "the totals are shown in any case")
    screen = on_terminal("diff", "p.bin", "q.bin")
    check(screen.count(b"\n") <= 1001, screen.count(b"\n"))
    coloured = on_terminal("dis", "p.bin")
    check(b"\x1b" not in COLOUR.sub(b"", coloured) and b"more lines" in coloured, "with colours")


def test_info_is_one_screen():
    """Of long lists the first 16, whatever standard output is; --all and --json have everything."""
    write("p.pvmasm",
          "%isa = latest64\n" + "".join(f'%export "f{i}" = @f{i}\n' for i in range(500)) + "".join(f"@f{i}:\n    ret\n" for i in range(500)))
    exits(0, "asm", "p.pvmasm", "-o", "p.bin")
    text = exits(0, "info", "p.bin").stdout
    check(text.count(b"\n") < 100 and b"f15" in text and b"f16" not in text and b"  .. 484 more\n" in text, text)
    check(b"f499" in exits(0, "info", "p.bin", "--all").stdout, "--all")
    check(len(json.loads(exits(0, "info", "p.bin", "--json").stdout)["info"]["exports"]) == 500, "--json")


def test_arrows_are_ascii_unless_the_locale_has_more():
    open("loop.casm", "w").write(".global main\n.func main\n.l:\nDEC v1\nBR NEQ, @.l\nRET\n.endfunc\n")
    exits(0, "asm", "loop.casm", "-o", "loop.coil")
    locale = {"LC_ALL": "", "LC_CTYPE": "", "LANG": "C"}
    text = exits(0, "dis", "loop.coil", "--arrows", env=locale).stdout
    check(b"4096  ,->  DEC v1" in text and b"4102  '--  BR NEQ" in text, text)
    for name in locale:
        text = exits(0, "dis", "loop.coil", "--arrows", env={**locale, name: "de_DE.utf8"}).stdout.decode()
        check("4096  ╭─>  DEC v1" in text, text)
    colours = exits(0, "dis", "loop.coil", "--arrows", "--color=always", env=locale).stdout
    check(b",->\x1b[0m  " in colours, colours)


def test_parts_of_a_listing_are_asked_for_rightly():
    """What cannot be shown is said, with the way out."""
    for name, binary, _ in programs():
        exits(0, "dis", binary, "--code-only")
        done = exits(2, "dis", binary, "--function", "nonsense")
        check(b"functions" in done.stderr or b"no function is called" in done.stderr, done.stderr)
        for bad in ("", "x..y", "9..5", "1..2..3", "1000000..2000000"):
            exits(2, "dis", binary, "--range", bad)
        exits(2, "dis", binary, "--range", "0..1", "--function", "go")
    check(b"did you mean 'go'" in exits(2, "dis", "p.bin", "--function", "gp").stderr, "a suggestion")
    exits(2, "dis", "p.bin", "--function", "go", "--style", "flat")
    text = json.loads(exits(0, "dis", "p.bin", "--function", "go", "--json", "--schema", "1").stdout)["text"]
    check(text.startswith("go:\n     0  a0 = a0 + 0x7\n"), text)


def test_debug_completes_names():
    """Commands, functions and variables of the program, subjects of info, files."""
    if not EDITS_LINES:
        return
    write("twice.ino", "int total = 0;\nint twice(int n) { return n + n; }\nvoid setup() { total = twice(4); }\nvoid loop() { }\n")
    exits(0, "compile", "twice.ino", "-o", "twice.cvbc")
    write("script", "print 6 * 7\n")
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0" # libedit keeps the names of added functions
    screen = Terminal(PENTA, "debug", "twice.cvbc")
    typed = [(b"break tw\t\n", b"break 1 at "), (b"cont\t\n", b"break pc="), (b"print tot\t\n", b"0\r\n"), (b"info loc\t\n", b"global"),
             (b"source scr\t\n", b"42\r\n"), (b"quit\n", b"")]
    for i, (keys, answer) in enumerate(typed):
        screen.until(b"(penta) ", i + 1)
        before = len(screen.text)
        screen.write(keys)
        if answer:
            screen.until(b"(penta) ", i + 2)
            check(answer in screen.text[before:], (keys, screen.text[before:]))
    check(screen.end() == 0, screen.text)


if __name__ == "__main__":
    sys.exit(main(globals()))
