#!/usr/bin/env python3
"""The rules that a grep can check: layers run one way, a format includes no other format, every
header compiles alone, every format has its files, and messages of the library name no option of the
tool."""
import os
import re
import sys
import tempfile

from support import ROOT, expect, has_command, run_program, summary, tracked_files

formats = re.findall(r"^FORMAT\((\w+)\)", open(os.path.join(ROOT, "src/penta/registry.def")).read(), re.M)
FORMATS = {name: os.path.join(ROOT, "src/formats", name) for name in formats}
BELOW = {"base": set(), "crypto": {"base"}, "text": {"base"}, "x64": {"base"},
         "ssa": {"base", "x64"}, "core": {"base", "text"}}
for name in formats:
    BELOW[name] = {"base", "crypto", "text", "x64", "ssa", "core"}
BELOW["penta"] = {"base", "crypto", "text", "core"} | set(formats)
BELOW["gpu"] = BELOW["penta"] | {"penta"}
BELOW["compat"] = BELOW["gpu"] | {"gpu"}
BELOW["conform"] = BELOW["compat"] | {"compat"}
BELOW["batch"] = {"base", "crypto"}  # and its public header: it starts the tool, and knows no format
BELOW["web"] = {"base", "crypto"}  # and public headers
BELOW["cli"] = {"base"}  # and public headers: what the tool can do, a C program can do


for folder, _, names in os.walk(os.path.join(ROOT, "src")):
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), ROOT)
        parts = path.split(os.sep)
        layer = parts[2] if parts[1] == "formats" else parts[1]
        text = open(os.path.join(ROOT, path), encoding="utf-8").read()
        if layer not in BELOW:
            expect(False, f"{path}: the layer {layer} is not known")
            continue
        for include in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            first = include.split("/")[0]
            if include in ("gpu_emulator.h", "cvbc_format.h") or first == "penta" and include.startswith("penta/"):
                public = os.path.exists(os.path.join(ROOT, "include", include))
                if public:
                    continue
            expect(first == layer or first in BELOW[layer], f"{path} includes {include}: {layer} may not know {first}")
            expect("/" in include, f"{path} includes {include}: not a path from src/")

# Inside a format, too, includes run one way: a folder includes those before it. The header of the format, NAME.h, is
# before all of them, and may include headers of format/ that do without it. Rows of .def files are facts, which all may read.
ROLES = ("scalars", "format", "kernels", "vm", "code", "text", "compile", "runtime", "jit", "native", "host", "link", "train")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+\.h)"', re.M)


def includes_of(path):
    return [os.path.join("src/formats", include) for include in INCLUDE.findall(open(os.path.join(ROOT, path), encoding="utf-8").read())
            if include.split("/")[0] in FORMATS]


def reached_from(path, seen):
    for include in includes_of(path):
        if include not in seen:
            seen.add(include)
            reached_from(include, seen)
    return seen


for name in formats:
    top = f"src/formats/{name}/{name}.h"
    expect(top not in reached_from(top, set()), f"{top} includes a header that includes it")
    for folder, _, names in os.walk(FORMATS[name]):
        role = os.path.relpath(folder, FORMATS[name]).split(os.sep)[0]
        for path in [os.path.relpath(os.path.join(folder, file), ROOT) for file in names if file.endswith((".c", ".h"))]:
            expect(role in (".",) + ROLES, f"{path}: the role {role} has no place in the order of roles")
            if role not in ROLES:
                continue
            for include in includes_of(path):
                part = include.split("/")[3]
                if include == top:
                    continue
                expect(part in ROLES and ROLES.index(part) <= ROLES.index(role),
                       f"{path} includes {include}: {role}/ may include only what comes before it: {', '.join(ROLES)}")

# In the tool only formats.c knows the folders with commands of one format.
for folder, _, names in os.walk(os.path.join(ROOT, "src/cli")):
    part = os.path.relpath(folder, os.path.join(ROOT, "src/cli")).split(os.sep)[0]
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), ROOT)
        if part in FORMATS or path == "src/cli/formats.c" or not name.endswith((".c", ".h")):
            continue
        found = re.findall(rf'#include "(cli/(?:{"|".join(FORMATS)})/[^"]+)"', open(os.path.join(ROOT, path), encoding="utf-8").read())
        expect(not found, f"{path} includes {found}: formats.h has what a general command may ask")

# The functions of each public header are where the map says.
MAP = open(os.path.join(ROOT, "docs/architecture.md"), encoding="utf-8").read()
places = {}
for headers, where in re.findall(r"^\| ((?:`\w+\.h`(?:, )?)+) \| (.*) \|$", MAP.split("## Public headers")[1].split("\n## ")[0], re.M):
    for header in re.findall(r"`(\w+\.h)`", headers):
        places[header] = tuple("src/" + place for place in re.findall(r"`([^`]+)`", where))
declared = {}
for header in sorted(h.split("/")[-1] for h in tracked_files("include/penta")):
    text = re.sub(r"/\*.*?\*/", "", open(os.path.join(ROOT, "include/penta", header), encoding="utf-8").read(), flags=re.S)
    for function in re.findall(r"^PENTA_API\b[^;]*?\b(penta_\w+)\(", text, re.M):
        declared[function] = header
expect(set(places) == set(declared.values()), "the headers with functions and the table of the map differ")
implemented = set()
for path in tracked_files("src"):
    if not path.endswith(".c"):
        continue
    text = re.sub(r"/\*.*?\*/", "", open(os.path.join(ROOT, path), encoding="utf-8").read(), flags=re.S)
    for function in re.findall(r"^(?!static|return|typedef)[a-z][\w *]*?\b(penta_\w+)\([^;{]*\)\s*\{", text, re.M):
        header = declared.get(function)
        if header and not path.startswith(("src/web/", "src/compat/")):
            implemented.add(function)
            expect(path.startswith(places.get(header, ())), f"{path} implements {function} of {header}: the map does not say so")
for function in sorted(set(declared) - implemented):
    expect(False, f"{function} of {declared[function]} is implemented nowhere that this test can read")

# Nothing below src/penta calls functions of its headers.
PUBLIC = ("penta.h", "session.h", "views.h")
above = set()
for header in PUBLIC:
    text = open(os.path.join(ROOT, "include/penta", header), encoding="utf-8").read()
    above |= set(re.findall(r"^PENTA_API\b[^;]*?\b(penta_\w+)\(", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.M))
above.discard("penta_buffer_free")  # base/writer.c
expect("penta_open" in above, "the public functions cannot be read")
for layer in sorted(set(BELOW) - {"penta", "gpu", "compat", "conform", "batch", "web", "cli"}):
    top = FORMATS.get(layer) or os.path.join(ROOT, "src", layer)
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', "", open(path, encoding="utf-8").read(), flags=re.S)
            called = set(re.findall(r"\b(penta_\w+)\(", text)) & above
            expect(not called, f"{os.path.relpath(path, ROOT)} calls {sorted(called)} of a layer above it")

# Text reaches a terminal through one file, which removes what the terminal would obey.
PRINTS = re.compile(r"\b(?:printf|vprintf|puts|putchar|perror|psignal)\s*\("
                    r"|\b(?:stdout|stderr)\b|\bSTD(?:OUT|ERR)_FILENO\b|\bwritev?\s*\(\s*[12]\s*,|\bdprintf\s*\(\s*[12]\b"
                    r"|\b(?:error|warnx?|errx?)\s*\(\s*[0-9]")
ASKS = re.compile(r"\bisatty\s*\([^()]*\)|\bcli_palette_of\(\S+, STD(?:OUT|ERR)_FILENO\)")
PRINTERS = {"src/cli/terminal/terminal.c": "the one writer",
            "src/cli/terminal/progress.c": "its own words and numbers, on standard error",
            "src/cli/machine/line.c": "hands the streams to libedit, which shows what is typed",
            "src/compat/cvbc/machine.c": "a library's print, filtered by itself on a terminal",
            "src/cli/server/server.c": "the descriptors of a protocol, never a terminal",
            "src/formats/coil/runtime/runtime.c": "part of native programs: what they print",
            "src/gpu/child/device_main.c": "another program: the wire protocol, and its usage",
            "src/gpu/host/child_process.c": "descriptors of the child"}
seen = set()
for folder, _, names in os.walk(os.path.join(ROOT, "src")):
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), ROOT)
        if not name.endswith((".c", ".h")):
            continue
        text = open(os.path.join(ROOT, path), encoding="utf-8").read()
        expect(not re.search(r"/dev/(?:tty|stdout|stderr|fd/)", text), f"{path} names a terminal as a file")
        text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n/]", " ", m[0])
                      if m[0][0] == "/" else '"' + " " * (len(m[0]) - 2) + '"', text, flags=re.S)
        found = PRINTS.search(ASKS.sub("", text))
        line = ASKS.sub("", text)[:found.start()].count("\n") + 1 if found else 0
        expect(not found or path in PRINTERS,
               f"{path}:{line}: {found and found[0].strip()}: only src/cli/terminal/terminal.c writes to a terminal")
        if found:
            seen.add(path)
for path in PRINTERS:
    expect(path in seen, f"{path} prints nothing any more: take it from the list")

# No bytes may lie at NULL, which memcpy must not be given: bytes_copy asks.
for folder, _, names in os.walk(os.path.join(ROOT, "src")):
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), ROOT)
        if path.startswith(("src/base/", "src/compat/")) or not name.endswith((".c", ".h")):
            continue
        found = re.search(r"memcpy\([^;]*?, ((?:[\w\[\].()]|->)+?)(\.|->)data, \1\2size\)",
                          open(os.path.join(ROOT, path), encoding="utf-8").read())
        expect(not found, f"{path}: {found and found[0]}: bytes_copy is the way")

with tempfile.TemporaryDirectory() as work:
    for header in sorted(h for h in tracked_files("include", "src") if h.endswith(".h")):
        if header.endswith(("layout/structs.h", "layout/tables.h", "core/driver_tables.h", "cvbc/vm/loop.h")):
            continue  # templates, included with macros set
        source = os.path.join(work, "one.c")
        open(source, "w").write(f'#include "{os.path.join(ROOT, header)}"\nint unused;\n')
        languages = ["c", "c++"] if header.startswith("include/") else ["c"]
        for language in languages:
            compiler = "cc" if language == "c" else "c++"
            if not has_command(compiler):
                continue
            done = run_program(compiler, "-x", language, "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-I",
                               os.path.join(ROOT, "src"), "-I", os.path.join(ROOT, "src/formats"), "-I", os.path.join(ROOT, "include"),
                               source, text=True)
            expect(done.returncode == 0 and "warning" not in done.stderr,
                   f"{header} does not compile alone as {language}:\n{done.stderr}")

for name in formats:
    for needed in ("isa.def", "rules.def", "driver.c"):
        expect(os.path.exists(os.path.join(FORMATS[name], needed)), f"{FORMATS[name]} has no {needed}")

# A message of the library names an option by its key, "option 'map'"; only the tool writes "--map".
OPTION_NAME = re.compile(r'^OPTION\((?:\w+, )?"([\w-]+)"', re.M)
tables = [os.path.join(ROOT, "src/cli/options.def")]
tables += [os.path.join(folder, "options.def") for folder in FORMATS.values()]
options = {name for path in tables if os.path.exists(path) for name in OPTION_NAME.findall(open(path).read())}
expect({"format", "map"} <= options, "the option tables cannot be read")
for folder, _, names in os.walk(os.path.join(ROOT, "src")):
    if os.path.relpath(folder, ROOT).startswith(os.path.join("src", "cli")):
        continue
    for name in names:
        if name == "options.def":
            continue  # help texts, which only the tool shows
        path = os.path.join(folder, name)
        text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
        for string in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
            named = set(re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)(?![\w=-])", string)) & options
            expect(not named, f"{os.path.relpath(path, ROOT)} names the options {sorted(named)} of the tool: {string}")

sys.exit(summary())
