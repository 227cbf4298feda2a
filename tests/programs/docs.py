#!/usr/bin/env python3
"""What can be checked about the documents: tables are those of the sources, clauses are numbered once and
in order, every cited clause and every link exists, pages for users do not lead into the sources, and the
assembly of the pages assembles.

    tests/programs/docs.py PENTA

A page of clauses says under which name they are cited, `<!-- clauses: KBLOB -->`. A clause is a heading
(`## 3 Machine`, `### 3.2 Memory`) or a paragraph that starts with its number (`**3.2.1** ..`).
"""
import os
import re
import sys
import tempfile

from support import PENTA, ROOT, expect, penta, summary, run_program, tracked_files, write

NUMBER = re.compile(r"^(?:#{2,4} |\*\*)([1-9]\d*(?:\.\d+)*)(?:\*\*|\.?) ", re.M)
FOR_CONTRIBUTORS = {"docs/architecture.md", "docs/formats/coil/compiler.md",
                    "docs/formats/pvm/compiler.md", "CONTRIBUTING.md"}


def read(path):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    except (UnicodeDecodeError, OSError):
        return ""


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


files = [path for path in tracked_files() if not path.startswith("build/")]
pages = [path for path in files if path.endswith(".md")]
clauses = {}

# ---- clauses: numbered once, in order ----
for page in sorted(pages):
    text = read(page)
    name = re.search(r"<!-- clauses: ([A-Z]+) -->", text)
    if not name:
        continue
    known, last = clauses.setdefault(name[1], {}), ()
    for number in NUMBER.findall(without_blocks(text)):
        key = tuple(int(part) for part in number.split("."))
        expect(number not in known, f"{page}: {name[1]} {number} is also in {known.get(number)}")
        expect(key > last, f"{page}: clause {number} comes after {'.'.join(map(str, last))}")
        known[number], last = page, key
expect(clauses, "no page has clauses")

# ---- references within a page: "(7.1)", "clause 18.1", "as in 9.2" ----
WITHIN = re.compile(r"(?:\(|\b(?:see|clauses?|of|in|by|as) )([1-9]\d?\.\d{1,2})(?=[\s),;.:]|$)")
for page in sorted(pages):
    name = re.search(r"<!-- clauses: ([A-Z]+) -->", read(page))
    if not name:
        continue
    prose = re.sub(r"<!-- table:.*?<!-- end -->|^    [^\n]*$", "", without_blocks(read(page)), flags=re.M | re.S)
    for number in WITHIN.findall(prose):
        expect(number in clauses[name[1]], f"{page}: there is no clause {number}")

# ---- citations ----
CITED = re.compile(r"\b(" + "|".join(clauses) + r") ([1-9]\d*(?:\.\d+)*)\b(?! ?[%-])")
for path in files:
    if not path.startswith(("src/", "include/", "docs/", "guest/", "tests/", "bindings/", "examples/")):
        continue
    for name, number in CITED.findall(read(path)):
        expect(number in clauses[name], f"{path}: there is no clause {name} {number}")

# ---- links, and what pages may name ----
for page in pages:
    text = without_blocks(read(page))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file = target.split("#")[0]
        expect(not file or os.path.exists(os.path.join(ROOT, os.path.dirname(page), file)), f"{page}: no {target}")
    if page.startswith("docs/") and page not in FOR_CONTRIBUTORS or page == "README.md":
        found = re.search(r"(?<![\w.-])src/[a-z]+/?", re.sub(r"<!--.*?-->", "", text, flags=re.S))
        expect(not found or page == "docs/versioning.md", f"{page} sends its reader into {found and found[0]}")
for path in files:
    if path.startswith(("examples/", "guest/include/", "include/")):
        expect("src/formats" not in read(path), f"{path} names a file of the sources")
    for named in re.findall(r"docs/[\w/-]+\.md", "" if path == "CHANGELOG.md" else read(path)):
        expect(os.path.exists(os.path.join(ROOT, named)), f"{path}: no {named}")

# ---- tables ----
done = run_program(sys.executable, os.path.join(ROOT, "scripts/docs"), PENTA, "--check", text=True)
expect(done.returncode == 0, done.stdout + done.stderr)
for page in pages:
    for raw in re.findall(r"\| `?(?:True|False|None)`? (?=\|)", without_blocks(read(page)) if page.startswith("docs/formats") else ""):
        expect(raw[2:].strip(" `") == "None" and "tvmr" in page, f"{page} shows a raw {raw[2:]}")

# ---- rows of tables that pages describe in words of their own ----
ROWS = [("src/formats/pvm/host/revive/calls.def", r"^(?:CALL|MISSING)\((\w+)", "docs/formats/pvm/contracts.md"),
        ("src/formats/pvm/host/jam_calls/calls.def", r'^CALL\(\w+, "(\w+)"', "docs/formats/pvm/jam.md"),
        ("src/formats/tvmr/isa.def", r"^CORE\(\w+, (\w+)", "docs/formats/tvmr/machine.md"),
        *[(path, r"^\w+\(0x\w+, (\w+)", "docs/formats/tvmr/extensions.md") for path in files
          if path.startswith("src/formats/tvmr/extensions/") and path.endswith(".def")],
        ("src/formats/kblob/traps.def", r'^TRAP\(\d+, \w+, "(\w+)"', "docs/formats/kblob.md")]
for table, row, page in ROWS:
    names = re.findall(row, read(table), re.M)
    expect(names, f"{table}: no rows")
    for name in names:
        expect(re.search(rf"\b{name}\b", read(page), re.I), f"{page} does not name {name} of {table}")
forms = re.findall(r"^FORM\((?!jam_)([a-z]+)_", read("src/conform/forms.def"), re.M)
for name, chapter in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", read("docs/vectors.md"), re.M | re.S):
    described = len(re.findall(r"^\| (?!form \|)[a-z]", chapter, re.M))
    expect(forms.count(name) == described, f"docs/vectors.md has {described} forms of {name} instead of {forms.count(name)}")

# ---- the functions of the interface, by task: each once ----
tasks = re.search(r"^## Functions by task\n(.*?)^## ", read("docs/api.md"), re.M | re.S)[1]
named = re.findall(r"`(penta_\w+)`", re.sub(r"^[^|].*$", "", tasks, flags=re.M))
exported = {name for path in files if path.startswith("tests/symbols/") for name in read(path).split() if name.startswith("penta_")}
expect(exported, "tests/symbols lists no functions")
for name in sorted(exported | set(named)):
    times = named.count(name)
    expect(name in exported, f"docs/api.md: {name} is no function that a library exports")
    expect(times == 1 or name not in exported, f"docs/api.md names {name} {times} times in the functions by task")

# ---- assembly: blocks with the suffix of a format's text as their language ----
FORMATS = {"kasm": ["--define", "buf=0x10000"], "pvmasm": [], "cvasm": [], "tasm": [], "casm": []}
with tempfile.TemporaryDirectory() as folder:
    for page in pages:
        for number, (kind, block) in enumerate(re.findall(r"^```(\w*)\n(.*?)^```$", read(page), re.M | re.S)):
            if kind not in FORMATS:
                continue
            source = os.path.join(folder, f"block{number}.{kind}")
            write(source, block)
            done = penta("asm", source, "-o", source + ".out", *FORMATS[kind], text=True)
            expect(done.returncode == 0, f"{page}: block {number} does not assemble: {done.stderr}")


# ---- files byte by byte: "<!-- bytes: pvm 93 -->" before a block of a valid file of that format and size ----
def shown_bytes(lines, offsets):
    """The bytes at the start of every line: hex, and quoted text between or after it. offsets: the first is where the line starts."""
    data, sound = b"", True
    for line in lines:
        tokens = re.match(r'\s*((?:(?:[0-9A-Fa-f]{2}|"[^"]*")(?:\s+|$))*)', line)[1]
        parts = re.findall(r'"[^"]*"|\S+', tokens)
        if offsets and parts:
            sound = sound and int(parts.pop(0), 16) == len(data)
        data += b"".join(part[1:-1].encode() if part[0] == '"' else bytes.fromhex(part) for part in parts)
    return data, sound


blocks = 0
with tempfile.TemporaryDirectory() as folder:
    for page in pages:
        for kind, size, offsets, fenced, indented in re.findall(
                r"^<!-- bytes: (\w+) (\d+)( offsets)? -->\n\n(?:```\n(.*?)^```$|((?:    [^\n]*\n)+))", read(page), re.M | re.S):
            blocks += 1
            data, sound = shown_bytes((fenced or indented).splitlines(), offsets)
            expect(sound, f"{page}: the offsets of the {kind} file are not those of its bytes")
            expect(len(data) == int(size), f"{page}: the {kind} file has {len(data)} bytes, not {size}")
            file = os.path.join(folder, f"shown{blocks}.{kind}")
            write(file, data)
            for command in ("validate", "roundtrip"):
                done = penta(command, "--format", kind, file, text=True)
                expect(done.returncode == 0, f"{page}: {command} of the {kind} file: {done.stdout}{done.stderr}")
expect(blocks == sum(read(page).count("<!-- bytes: ") for page in pages), "every marked block of bytes was read")

sys.exit(summary())
