#!/usr/bin/env python3
"""notice.py BUILD: NOTICE names every library whose code becomes part of the tool, the device and the WebAssembly modules, by what
the linker is given; and has the text of every licence that it names."""
import os
import re
import sys

from support import ROOT, expect, summary, run_program

BUILD = os.path.abspath(sys.argv[1])
NOTICE = open(os.path.join(ROOT, "NOTICE"), encoding="utf-8").read()
tool, page, licences = re.split(r"^[23]\. .*\n-+\n", NOTICE, flags=re.M)


def entries(part):
    """The names that begin an entry, at the left of their indented table."""
    found = set()
    for line in re.findall(r"^ {4}(\S.*)$", part, re.M):
        found |= set(re.split(r", *", re.split(r" {2,}", line)[0].rstrip(",")))
    return found


# The tool and the device, as ninja links them.
for program in ("bin/penta", "libexec/penta/penta-device"):
    commands = run_program("ninja", "-C", BUILD, "-t", "commands", "-s", program, text=True, needed=True).stdout
    archives = {name for folder, name in re.findall(r"(\S*/)?(lib\w[\w+-]*)\.a\b", commands) if not name.startswith("libpenta")}
    if "PENTA_ARCHIVES:STRING=AUTO" in open(os.path.join(BUILD, "CMakeCache.txt")).read():
        expect(archives, f"{program}: no archive is found in its link")
    for name in archives:
        expect(name in entries(tool), f"NOTICE does not name {name}, which is in {program}")

# The modules: what src/web and the toolchain file link, and what scripts/web-dependencies builds for it.
web = entries(page)
text = open(os.path.join(ROOT, "cmake/wasm32.cmake")).read()
linked = set(re.search(r"PENTA_CROSS_LIBRARIES ([\w\s-]+)\)", text)[1].split())
text = open(os.path.join(ROOT, "src/web/CMakeLists.txt")).read()
linked |= set(re.search(r"target_link_libraries\(penta_crypto_wasm PRIVATE ([\w\s-]+)\)", text)[1].split())
ninja = os.path.join(ROOT, "build/wasm/build.ninja")
if os.path.exists(ninja):
    for line in re.findall(r"^  LINK_LIBRARIES = (.*)$", open(ninja).read(), re.M):
        linked |= set(re.findall(r"-l(\S+)", line))
for name in sorted(linked | {"c", "clang_rt"}):
    expect(name in web, f"NOTICE does not name {name}, which is in the page")
built = re.findall(r'^(?:wanted="|\[.*wanted="\$wanted )([\w -]+)"', open(os.path.join(ROOT, "scripts/web-dependencies")).read(), re.M)
expect(len(built) == 2, "what scripts/web-dependencies builds cannot be read")
for name in " ".join(built).split():
    expect(re.search(re.escape(name), page, re.I), f"NOTICE does not name {name}, which scripts/web-dependencies builds")

# The licences.
for path in set(re.findall(r"licenses/[\w.-]+\.txt", NOTICE)):
    expect(os.path.getsize(os.path.join(ROOT, path)) > 5000, f"{path} is short")
for name in os.listdir(os.path.join(ROOT, "licenses")):
    expect("licenses/" + name in NOTICE, f"NOTICE does not refer to licenses/{name}")
headings = re.findall(r"^(.+?)(?: \(.*\))?\n\.{3,}$", licences, re.M)
for words in ("MIT", "X11", "Zlib", "ISC", *re.findall(r"BSD-[23]-Clause(?: of (?:the )?[A-Z]\w+)?", tool + page)):
    expect(any(heading.startswith(words) for heading in headings), f"NOTICE has no text of the licence {words}")

sys.exit(summary())
