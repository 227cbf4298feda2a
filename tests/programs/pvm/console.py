#!/usr/bin/env python3
"""The console host of pvm: files stay below their folder, exit codes and streams are the tool's, and
a run is recorded: the debugger goes back over what was read.

    tests/programs/pvm/console.py PENTA
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import waiting
from support import PENTA, equal, penta, summary, write

IMPORTS = ("write", "read", "open", "close", "seek", "remove", "rename", "arguments", "clock", "sleep",
           "random", "exit")
HEAD = "%isa = latest64\n%stack_size = 4096\n%rw_data_size = 8192\n" + "".join(
    f'%import "console_{name}"\n' for name in IMPORTS)
# s0: the arguments' size; the path is the first argument, at 0x20008, without its zero.
PATH = "pub @main:\na0 = 0x20000\na1 = 4096\necalli 7\ns0 = a0 - 9\na0 = 0x20008\na1 = s0\n"
FAIL = "@fail:\na1 = 0\na0 = a1 - a0\necalli 11\n"
CAT = HEAD + PATH + """a2 = 1
ecalli 2
jump @fail if a0 <s 0
s1 = a0
a1 = 2
a2 = 0
ecalli 4
@again:
a0 = s1
a1 = 0x21000
a2 = 100
ecalli 1
jump @fail if a0 <s 0
jump @done if a0 == 0
a2 = a0
a0 = 1
a1 = 0x21000
ecalli 0
jump @again
@done:
a0 = s1
ecalli 3
a0 = 0
ecalli 11
""" + FAIL
PUT = HEAD + PATH + """a2 = 14
ecalli 2
jump @fail if a0 <s 0
a1 = 0x20000
a2 = 7
ecalli 0
jump @fail if a0 <s 0
a0 = 0
ecalli 11
""" + FAIL
REMOVE = HEAD + PATH + "ecalli 5\njump @fail\n" + FAIL
RENAME = HEAD + PATH + "u32 [0x21000] = 0x65766f6d\nu8 [0x21004] = 0x64\na2 = 0x21000\na3 = 5\necalli 6\n" \
    "jump @fail\n" + FAIL
ENOENT, EBADF, EACCES, EISDIR, ENOTDIR, EINVAL, LONG = 2, 9, 13, 21, 20, 22, 36


def build(work, name, text):
    source, out = os.path.join(work, name + ".pvmasm"), os.path.join(work, name + ".polkavm")
    write(source, text)
    penta("asm", source, "-o", out, needed=True)
    return out


def run(program, *args, **more):
    done = penta("run", program, *args, text=True, **{"stdin": subprocess.DEVNULL, **more})
    return done.returncode, done.stdout


def files(work):
    home = os.path.join(work, "home")
    os.makedirs(os.path.join(home, "sub"))
    write(os.path.join(work, "secret"), "secret")
    write(os.path.join(home, "sub", "a.txt"), "hello\n" * 40)
    os.symlink("../secret", os.path.join(home, "link"))
    os.symlink("sub/a.txt", os.path.join(home, "inner"))
    os.symlink("..", os.path.join(home, "up"))
    os.mkfifo(os.path.join(home, "pipe"))
    cat, put, remove, rename = (build(work, *p) for p in (("cat", CAT), ("put", PUT), ("remove", REMOVE),
                                                          ("rename", RENAME)))
    for engine in ("interp", "jit"):
        def cat_of(path, *args):
            return run(cat, path, "--engine", engine, *(args or ("--files", home)))
        text = "hello\n" * 40
        equal("read", cat_of("sub/a.txt"), (0, text[2:]))  # it seeks first
        equal("leading slash", cat_of("/sub/./a.txt"), (0, text[2:]))
        equal("no folder", cat_of("sub/a.txt", "-q"), (EACCES, ""))
        for path, error in (("../secret", ENOENT), ("sub/../../secret", ENOENT), ("link", EACCES), ("pipe", EACCES),
                            ("sub", EISDIR), (".", EISDIR), ("", ENOENT), ("none", ENOENT),
                            ("sub/a.txt/b", ENOTDIR), ("n" * 300, LONG), (os.path.join(work, "secret"), ENOENT)):
            equal(f"read {path}", cat_of(path), (error, ""))
        equal("dots", cat_of("sub/../none/../sub/./a.txt"), (0, text[2:]))
        # A link that stays inside is followed where the system has openat2, and refused elsewhere.
        equal("inner", cat_of("inner") in ((0, text[2:]), (EACCES, "")), True)
        equal("up", cat_of("up/secret") in ((EACCES, ""), (ENOTDIR, "")), True)
        equal("write", run(put, "new", "--files", home, "--engine", engine)[0], 0)
        equal("written", open(os.path.join(home, "new")).read(), "program")
        equal("overwrite", run(put, "sub/a.txt", "--files", home, "--engine", engine)[0], 0)
        equal("truncated", open(os.path.join(home, "sub", "a.txt")).read(), "program")
        for path in ("link", "up/secret", "pipe"):
            equal(f"write {path}", run(put, path, "--files", home)[0] in (EACCES, ENOTDIR), True)
        equal("remove up", run(remove, "up/secret", "--files", home)[0] in (EACCES, ENOTDIR), True)
        equal("remove link", run(remove, "link", "--files", home)[0], 0)
        os.symlink("../secret", os.path.join(home, "link"))  # it was the link itself, not what it leads to
        equal("above the root is the root", run(put, "../secret", "--files", home)[0], 0)
        equal("written there", open(os.path.join(home, "secret")).read(), "program")
        equal("and removed", run(remove, "sub/../../secret", "--files", home)[0], 0)
        equal("the secret stays", open(os.path.join(work, "secret")).read(), "secret")
        equal("rename", run(rename, "new", "--files", home)[0], 0)
        equal("renamed", sorted(os.listdir(home)), ["inner", "link", "moved", "pipe", "sub", "up"])
        equal("remove", run(remove, "moved", "--files", home)[0], 0)
        equal("removed", os.path.exists(os.path.join(home, "moved")), False)
        write(os.path.join(home, "sub", "a.txt"), text)
    equal("missing folder", run(cat, "a", "--files", os.path.join(work, "none"))[0], 4)


def streams(work):
    echo = build(work, "echo", HEAD + """pub @main:
a0 = 0
a1 = 0x20000
a2 = 100
ecalli 1
jump @end if a0 == 0
s0 = s0 + a0
a2 = a0
a0 = 1
a1 = 0x20000
ecalli 0
jump @main
@end:
a0 = s0
ecalli 11
""")
    done = penta("run", echo, data=b"12345")
    equal("echo", (done.returncode, done.stdout, done.stderr), (5, b"12345", b""))
    done = penta("run", echo, "--json", data=b"12345")
    document = json.loads(done.stdout)
    equal("document", (document["exit"], document["guest_exit"], document["output"], document["errors"], document["stop"]),
          (5, 5, "12345", "", "halt"))
    # A guest that returns 20 is none that trapped, whose exit code is 20 too.
    done = penta("run", echo, "--json", data=b"1" * 20)
    document = json.loads(done.stdout)
    equal("20", (done.returncode, document["exit"], document["guest_exit"], document["stop"]), (20, 20, 20, "halt"))
    trap = build(work, "trap", HEAD + "a0 = 20\ntrap\n")
    done = penta("run", trap, "--json")
    document = json.loads(done.stdout)
    equal("trap", (done.returncode, document["exit"], "guest_exit" in document, document["stop"]), (20, 20, False, "trap"))
    done = penta("run", "-q", trap)
    equal("trap line", (done.returncode, done.stdout[:5]), (20, b"trap "))
    # A program that answers line by line, over pipes: nothing waits in a buffer.
    talk = subprocess.Popen([PENTA, "run", echo], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in (b"one\n", b"two\n"):
        talk.stdin.write(line)
        talk.stdin.flush()
        equal("talk", waiting.line_next(talk, talk.stdout).encode(), line)
    talk.stdin.close()
    equal("talk ends", talk.wait(timeout=60), 8)
    write(os.path.join(work, "in"), "ab")
    debug = penta("debug", echo, "--stdin", os.path.join(work, "in"),
                  data=b"step 8\nmemory 0x20000 2\nback 6\nstep 6\nmemory 0x20000 2\ncontinue\n")
    equal("read once, replayed", debug.stdout.count(b"61 62"), 2)
    equal("and then the end", b"halt" in debug.stdout, True)


def main():
    with tempfile.TemporaryDirectory() as work:
        files(work)
        streams(work)
    return summary()


sys.exit(main())
