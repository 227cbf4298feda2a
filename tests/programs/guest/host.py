#!/usr/bin/env python3
"""What programs in C reach through the console: files only below their folders, limits, full disks, the environment, runs
that are the same, records, and the debugger's way back.

    tests/programs/guest/host.py PENTA
"""
import errno
import os
import subprocess
import sys
import threading

import kit
from kit import compile_program, run
from support import equal, penta, write

TOOL = "tests/programs/guest/tool.c"


def home_new(work, name="home"):
    """A folder with a file, below one with a secret."""
    home = os.path.join(work, name)
    os.makedirs(os.path.join(home, "sub"))
    write(os.path.join(work, "secret"), "secret")
    write(os.path.join(home, "sub", "a.txt"), "inside\n")
    return home


def say(program, *words, **more):
    code, out, errors = run(program, *words, **more)
    return code, out.decode() + errors.decode()


def once(program, *words):
    """For what cannot be done again on the next engine."""
    done = penta("run", program, *words, text=True)
    return done.returncode, done.stdout + done.stderr


def outside(work):
    """Nothing leads out: no link, no dots, no device, no pipe."""
    tool, home = compile_program(work, TOOL, "-O1"), home_new(work)
    secret = os.path.join(work, "secret")
    links = {"file": "../secret", "absolute": secret, "up": "..", "twice": "up/secret", "root": "/", "self": "self",
             "deep": "sub/../../secret", "proc": "/proc/self/root"}
    for name, to in links.items():
        os.symlink(to, os.path.join(home, name))
    os.mkfifo(os.path.join(home, "pipe"))
    if os.getuid() == 0:
        try:
            os.mknod(os.path.join(home, "device"), 0o20666, os.makedev(1, 5))     # as many zeros as one reads
        except OSError:
            pass
    paths = ["../secret", "/../secret", "sub/../../secret", "sub/../../../" + secret, secret, "up/secret", "up/home/../secret",
             "root" + secret, "proc" + secret, "pipe", "device", *links]
    for path in paths:
        for action in ("read", "write", "append", "list", "truncate", "size"):
            code, out = say(tool, action, path, "--files", home)
            equal(f"{action} {path}", ("secret" in out and "secret\n" not in open(secret).read() + "\n", code in (0, 1)), (False, True))
            equal(f"the secret after {action} {path}", open(secret).read(), "secret")
            if os.path.exists(os.path.join(home, "secret")):      # what ".." of the root makes
                os.remove(os.path.join(home, "secret"))
    for path in ("up/x", "root/tmp/x", "proc/tmp/x", "up/home/x"):
        for action in ("make", "write"):
            equal(f"{action} {path}", say(tool, action, path, "--files", home)[0], 1)
        equal(f"move to {path}", say(tool, "move", "sub/a.txt", path, "--files", home)[0], 1)
        equal(f"move {path}", say(tool, "move", path, "sub/b.txt", "--files", home)[0], 1)
    equal("remove a link", once(tool, "remove", "file", "--files", home), (0, ""))
    equal("not what it leads to", open(secret).read(), "secret")
    equal("a folder is no file", say(tool, "read", "sub", "--files", home)[0], 1)
    equal("no folder at all", say(tool, "read", "sub/a.txt")[0], 1)


def renamed(work):
    """Another process exchanges a folder for a link that leads out, again and again, while programs open files in it."""
    tool, home, stop = compile_program(work, TOOL, "-O1"), home_new(work, "moving"), threading.Event()
    write(os.path.join(work, "a.txt"), "secret")
    os.symlink("..", os.path.join(home, "link"))

    def exchange():
        while not stop.is_set():
            for one, other in (("sub", "kept"), ("link", "sub"), ("sub", "link"), ("kept", "sub")):
                os.rename(os.path.join(home, one), os.path.join(home, other))
    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        outputs = {penta("run", tool, "many", "sub/a.txt", "3000", "--files", home).stdout for _ in range(8)}
    finally:
        stop.set()
        thread.join()
    equal("nothing from outside", any(b"secret" in out for out in outputs), False)
    equal("something from inside", any(b"inside" in out for out in outputs), True)


def folders(work):
    tool = compile_program(work, TOOL, "-O1")
    one, two = os.path.join(work, "one"), os.path.join(work, "two")
    os.makedirs(one)
    os.makedirs(two)
    write(os.path.join(one, "f"), "1")
    write(os.path.join(two, "f"), "2")
    several = ("--files", one, "--files", two + ":/deep/data:ro", "--files", ":/tmp")
    equal("root", say(tool, "read", "f", *several), (0, "1"))
    equal("longest", say(tool, "read", "/deep/data/f", *several), (0, "2"))
    equal("list", say(tool, "list", "/", *several), (0, "d .\nd ..\nd deep\n- f\nd tmp\n"))
    equal("made up", say(tool, "list", "deep", *several), (0, "d .\nd ..\nd data\n"))
    read_only = (1, os.strerror(errno.EROFS) + "\n")
    for action in ("write", "append", "truncate", "remove", "writable"):
        equal(f"read only: {action}", say(tool, action, "/deep/data/f", *several), read_only)
    equal("read only: make", say(tool, "make", "/deep/data/g", *several), read_only)
    equal("read only: new", say(tool, "write", "/deep/data/g", *several), read_only)
    equal("read only: move", say(tool, "move", "/f", "/deep/data/g", *several), read_only)
    equal("other folder", say(tool, "move", "/f", "/tmp/f", *several), (1, os.strerror(errno.EXDEV) + "\n"))
    equal("busy", say(tool, "move", "/deep", "/f2", *several), (1, os.strerror(errno.EBUSY) + "\n"))
    equal("made up cannot be written", say(tool, "make", "/deep/more", "--files", two + ":/deep/data")[0], 1)
    equal("whole root read only", say(tool, "write", "g", "--files", one + ":ro"), read_only)
    equal("still there", (sorted(os.listdir(one)), sorted(os.listdir(two))), (["f"], ["f"]))
    for bad in ((one, one), (one + ":/a", two + ":/a/")):
        done = penta("run", "-q", tool, "size", "f", "--files", bad[0], "--files", bad[1])
        equal("twice", (done.returncode != 0, b"two folders have the path" in done.stderr), (True, True))
    equal("missing", penta("run", "-q", tool, "size", "f", "--files", os.path.join(work, "none")).returncode, 4)


def memory(work):
    """The same program on a folder of the host and on one in memory."""
    program = compile_program(work, "tests/programs/guest/files.c", "-O1", "-Wno-format")
    home = os.path.join(work, "real")
    os.makedirs(home)
    equal("in memory", run(program, "--files", ":/"), run(program, "--files", home))


def copies(work):
    """--file: a copy of a file of the host, without any folder of the host."""
    tool, path = compile_program(work, TOOL, "-O1"), os.path.join(work, "given")
    write(path, "given\n")
    equal("read", say(tool, "read", "/in.txt", "--file", "in.txt=" + path), (0, "given\n"))
    equal("list", say(tool, "list", "/", "--file", "in.txt=" + path, "--file", "/a/b/c=" + path), (0, "d .\nd ..\nd a\n- in.txt\n"))
    equal("changed", once(tool, "write", "in.txt", "--file", "in.txt=" + path), (0, ""))
    equal("not the file itself", open(path).read(), "given\n")
    equal("missing", penta("run", tool, "read", "x", "--file", "x=" + path + "none").returncode, 4)
    equal("no form", penta("run", tool, "read", "x", "--file", "x").returncode, 2)
    equal("read only", penta("run", tool, "read", "x", "--file", "/d/x=" + path, "--files", ":/d:ro").returncode, 4)


def limits(work):
    tool, home = compile_program(work, TOOL, "-O1"), os.path.join(work, "limits")
    os.makedirs(home)
    full, many = os.strerror(errno.ENOSPC), os.strerror(errno.EMFILE)
    for place in (home, ":/"):
        equal("open files", say(tool, "opens", "--files", place), (0, f"64 {many}\n"))
        equal("fewer", say(tool, "opens", "--files", place, "--open-files", "3"), (0, f"3 {many}\n"))
        equal("bytes", once(tool, "fill", "big", "--files", place, "--file-bytes", "100000"), (0, f"95904 {full} 95904 1\n"))
        equal("sparse", say(tool, "sparse", "--files", place, "--file-bytes", "100000"), (0, f"{full}\n{full}\n{full}\n"))
        equal("made again", say(tool, "again", "--files", place, "--file-bytes", "20000"), (0, "1000\n"))
    equal("too many", penta("run", "-q", tool, "opens", "--open-files", "2000").returncode, 2)


def full_disk(work):
    """A stream reports what does not fit, and writes it when there is space again."""
    tool, home = compile_program(work, TOOL, "-O1"), os.path.join(work, "disk")
    os.makedirs(home)
    places = [(home, "--file-bytes", "69632")]         # 64 KiB and what a file costs
    mounted = os.getuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", home],
                                                  capture_output=True).returncode == 0
    if mounted:
        places = [(home,)]
    try:
        for place in places:
            code, out = once(tool, "stream", "--files", *place)
            equal("full disk", (code, out), (0, f"short 1 error 1 {os.strerror(errno.ENOSPC)}\nflush fails 1\nafter space 0 0\nwhole 1\n"))
    finally:
        if mounted:
            subprocess.run(["umount", home], check=True)


def same_runs(work):
    tool = compile_program(work, TOOL, "-O1")
    equal("environment", say(tool, "env", "--env", "A=1", "--env", "EMPTY=", "--env", "B=two words"), (0, "A=1\nEMPTY=\nB=two words\n"))
    equal("no environment", say(tool, "env"), (0, ""))
    for bad in ("A", "=1"):
        equal(f"env {bad}", penta("run", tool, "env", "--env", bad).returncode, 2)
    first = say(tool, "chance")
    equal("the same", say(tool, "chance"), first)
    equal("seed 0", say(tool, "chance", "--seed", "0"), first)
    equal("virtual", first[1].splitlines()[0], "2000-01-01 00:00:00")
    equal("other seed", say(tool, "chance", "--seed", "1")[1] != first[1], True)
    real = penta("run", tool, "chance", "--random", "real", "--clock", "real", text=True).stdout
    equal("real", (real != first[1], real[:4] >= "2024"), (True, True))
    for bad in (("--clock", "sun"), ("--random", "4"), ("--random", "real", "--seed", "1")):
        equal(f"{bad}", penta("run", tool, "chance", *bad).returncode, 2)


def record(work):
    """A record repeats a run without its files; the debugger goes back over what changed on the disk."""
    tool, home, log = compile_program(work, TOOL, "-O1"), home_new(work, "recorded"), os.path.join(work, "run.record")
    words = ("copy", "sub/a.txt", "new.txt", "--files", home, "--random", "real", "--clock", "real", "--env", "A=1")
    done = penta("run", tool, *words, "--record", log, text=True)
    equal("run", (done.returncode, open(os.path.join(home, "new.txt")).read()), (0, "inside\n"))
    os.remove(os.path.join(home, "sub", "a.txt"))
    os.remove(os.path.join(home, "new.txt"))
    again = penta("run", tool, "--replay", log, text=True)
    equal("replay", (again.returncode, again.stdout), (0, done.stdout))
    equal("nothing written", os.path.exists(os.path.join(home, "new.txt")), False)
    write(os.path.join(home, "sub", "a.txt"), "inside\n")
    commands = "continue\nback 2000\ncontinue\nback 100000\ncontinue\n"
    done = penta("debug", tool, *words, data=commands.encode(), text=False)
    lines = [line for line in done.stdout.decode().splitlines() if "halt" in line]
    equal("back and forth", (len(lines), len(set(lines))), (3, 1))
    equal("written once", open(os.path.join(home, "new.txt")).read(), "inside\n")


sys.exit(kit.main(outside, renamed, folders, memory, copies, limits, full_disk, same_runs, record))
