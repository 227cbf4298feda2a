#!/usr/bin/env python3
"""scripts/packages on systems that are played: the commands of dpkg and apt are stand-ins that know the packages of a
release, which the files of packages/ list (those of packages.txt that it has).

On every release all needs but `format` can be installed at once, then nothing is missing; alternatives fit each other.
"""
import os
import re
import sys
import tempfile

from support import ROOT, expect, summary, run_program

LISTS = os.path.join(ROOT, "tests", "programs", "packages")
NEEDS = sorted({line.split()[0] for line in open(os.path.join(ROOT, "packages.txt")) if line[:1] not in "#\n"} - {"format"})
COMMANDS = {
    "dpkg-query": 'for name in "$@"; do :; done\ngrep -qx -e "$name" installed && echo "ii "\n',
    "apt-cache": '[ "$1" = policy ]\necho "$2:"\nif grep -qx -e "$2" known; then echo "  Candidate: 1"; else echo "  Candidate: (none)"; fi\n',
    "apt-get": """echo "$*" >>calls
case $1 in update) cp lists known; exit 0 ;; esac
for name in "$@"; do
    case $name in
    install | -*) continue ;;
    esac
    grep -qx -e "$name" known || { echo "E: Unable to locate package $name"; exit 100; }
    echo "$name" >>installed
done
""",
    "id": "echo 0\n",
}


class System:
    """A machine with a release of which nothing is installed and no list was loaded."""

    def __init__(self, folder, release, commands=()):
        self.folder = folder
        os.makedirs(f"{folder}/bin")
        for name, text in COMMANDS.items():
            self.write(f"bin/{name}", f"#!/bin/sh\ncd {folder}\n{text}", 0o755)
        for name in commands:
            self.write(f"bin/{name}", "#!/bin/sh\n", 0o755)
        for name in ("cat", "cp", "dirname", "grep", "sed", "sh", "sort", "tr"):
            os.symlink(next(p for p in (f"/usr/bin/{name}", f"/bin/{name}") if os.path.exists(p)), f"{folder}/bin/{name}")
        self.write("lists", open(os.path.join(LISTS, release)).read())
        for name in ("known", "installed", "calls"):
            self.write(name, "")

    def write(self, name, text, mode=0o644):
        with open(f"{self.folder}/{name}", "w") as out:
            out.write(text)
        os.chmod(out.name, mode)

    def read(self, name):
        return open(f"{self.folder}/{name}").read().split("\n")[:-1]

    def packages(self, *needs):
        """The exit code, and what was installed."""
        self.write("calls", "")
        before = len(self.read("installed"))
        done = run_program(f"{ROOT}/scripts/packages", *needs, env={"PATH": f"{self.folder}/bin"}, text=True)
        self.said = done.stdout + done.stderr
        return done.returncode, self.read("installed")[before:]


def versions(names):
    return {m[1] for m in (re.fullmatch(r"(?:clang|lld|libclang-rt)-(\d+)(?:-dev-wasm32)?", name) for name in names) if m}


with tempfile.TemporaryDirectory() as work:
    for release in sorted(os.listdir(LISTS)):
        system = System(f"{work}/{release}", release)
        code, got = system.packages(*NEEDS)
        expect(code == 0, f"{release}: everything", system.said)
        expect(len(got) == len(set(got)), f"{release}: nothing twice", got)
        expect(len(versions(got)) == 1, f"{release}: one LLVM", got)
        code, got = system.packages(*NEEDS)
        expect((code, got, system.read("calls")) == (0, [], []), f"{release}: once more", (got, system.read("calls"), system.said))
        system = System(f"{work}/{release}-npm", release, ["npm", "chromium", "vim"])
        code, got = system.packages("long")
        expect((code, got) == (0, ["neovim"]), f"{release}: npm, chromium and vim from elsewhere", (got, system.said))
    system = System(f"{work}/18", "debian-13")
    system.write("installed", "clang-18\nlld-18\nllvm-18\n")
    expect(system.packages("guest") == (0, []), "what is installed comes first", system.said)
    expect(versions(system.packages("web")[1]) == {"19"}, "and the first for another need", system.said)
    system = System(f"{work}/half", "debian-13")
    system.write("installed", "clang-18\n")
    expect(system.packages("guest")[1] == ["clang-19", "lld-19", "llvm-19"], "a group is taken as a whole", system.said)
    expect(not {"csmith", "graphviz", "gcc-s390x-linux-gnu", "clang"} & set(system.packages("check")[1]), "check installs little",
           system.said)
    system = System(f"{work}/none", "debian-13")
    code, got = system.packages("format")
    expect(code != 0 and "clang-format-14" in system.said, "a package that nobody knows", (code, system.said))
sys.exit(summary())
