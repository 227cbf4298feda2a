#!/usr/bin/env python3
"""Stores of tvmr programs: two processes on one folder, kills at random moments, names.

    tests/programs/store.py PENTA [ROUNDS]
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from support import PENTA, check, main, penta, run_program

ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 25
SAVE = """.requires
    lifecycle
.registers
    C0: ternary[400] key="a"
    C1: ternary[400] key="b"
.program
    init_random C0, {seed}
    init_random C1, {seed}
    loop {times}
    lifecycle.txn_begin 3
    lifecycle.save_thermo C0
    lifecycle.save_thermo C1
    lifecycle.txn_commit 3
    end_loop
    halt
"""

LOAD = """.requires
    lifecycle
.registers
    C0: ternary[400] key="a"
.program
    loop {times}
    lifecycle.load_thermo C0
    end_loop
    halt
"""


def assemble(name, text):
    open(name + ".tasm", "w").write(text)
    done = penta("asm", "-f", "tvmr", name + ".tasm", "-o", name)
    check(done.returncode == 0, done.stderr.decode())


def start(name, store="store"):
    return subprocess.Popen([PENTA, "run", name, "--store", store],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def run(name, store="store"):
    process = start(name, store)
    message = process.communicate(timeout=60)[1].decode()
    return process.returncode, message


def read(name, store="store"):
    return open(os.path.join(store, name), "rb").read()


def one_commit():
    """The next run completes what a kill cut off; then both files are of one commit."""
    assemble("nothing", SAVE.format(seed=1, times=0))
    code, message = run("nothing")
    check(code == 0, message)
    check("journal" not in os.listdir("store"), os.listdir("store"))
    names = [n for n in ("weights-a", "weights-b") if os.path.exists("store/" + n)]
    check(len(names) != 1, f"only {names}")
    check(not names or read(names[0]) == read(names[1]), "a mix of two commits")


def test_second_process_is_told_who_holds_it():
    assemble("long", SAVE.format(seed=1, times=65535))
    assemble("short", SAVE.format(seed=2, times=1))
    first = start("long")
    until = time.time() + 20
    while not (os.path.exists("store/lock") and read("lock").startswith(b"%d " % first.pid)):
        check(time.time() < until and first.poll() is None, "the first process holds no lock")
        time.sleep(0.002)
    code, message = run("short")
    check(code == 4 and f"in use by process {first.pid}" in message, (code, message))
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=60)
    code, message = run("short")
    check(code == 0, message)
    one_commit()


def test_pairs():
    """The second process fails or works after the first one: the files are of one commit."""
    for seed in (1, 2):
        assemble(f"save{seed}", SAVE.format(seed=seed, times=8))
    refused = 0
    for _ in range(ROUNDS):
        pair = [start("save1"), start("save2")]
        ends = [(p.communicate(timeout=60)[1].decode(), p.returncode) for p in pair]
        for (message, code), other in zip(ends, reversed(pair)):
            check(code == 0 or "in use by" in message, message)
            check(code == 0 or f"process {other.pid}" in message, (message, other.pid))
            refused += code != 0
        check(any(code == 0 for _, code in ends), ends)
        one_commit()
    check(refused, "no pair met")


def test_kills():
    for seed in (1, 2):
        assemble(f"save{seed}", SAVE.format(seed=seed, times=65535))
    for i in range(ROUNDS):
        process = start(f"save{1 + i % 2}")
        time.sleep(random.uniform(0.002, 0.04))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        one_commit()
        known = {"lock", "version", "weights-a", "weights-b"}
        assemble("again", SAVE.format(seed=3, times=1))
        check(run("again")[0] == 0 and set(os.listdir("store")) <= known, os.listdir("store"))


def test_read_only_store_is_shared():
    """A process that cannot write to a folder reads it beside others, with or without a lock file."""
    if os.geteuid() or run_program("test", "-x", PENTA, user=65534, group=65534).returncode:
        return  # cannot become another user, or that one cannot start the tool
    assemble("save", SAVE.format(seed=1, times=1))
    assemble("long", LOAD.format(times=65535))
    assemble("load", LOAD.format(times=1))
    check(run("save")[0] == 0, "save")
    for folder, mode in ((".", 0o755), ("store", 0o555)):
        os.chmod(folder, mode)
    for _ in range(2):
        first = subprocess.Popen([PENTA, "run", "long", "--store", "store"], user=65534, group=65534,
                                 stdout=subprocess.DEVNULL)
        second = penta("run", "load", "--store", "store", user=65534, group=65534)
        first.kill()
        first.wait(timeout=60)
        check(second.returncode == 0, second.stderr.decode())
        if os.path.exists("store/lock"):
            os.remove("store/lock")


KEYS = """.requires
    lifecycle
    ternary
.registers
    C0: ternary[2]
    C1: ternary[2] key="register-0"
.program
    {body}
    halt
"""


def test_key_like_a_register():
    assemble("keys", KEYS.format(body="init_random C0, 1\ninit_random C1, 2\n"
                                      "lifecycle.save_thermo C0\nlifecycle.save_thermo C1"))
    check(run("keys")[0] == 0, "keys")
    names = [n for n in os.listdir("store") if n.startswith("weights-")]
    check(len(names) == 2 and read(names[0]) != read(names[1]), names)


def values(store, register):
    assemble("load", KEYS.format(body=f"lifecycle.load_thermo {register}\nset H0, 0\n"
                                      f"ternary.embed_lookup H1, {register}, H0\nstore_output H1"))
    done = penta("run", "load", "--store", store, "--json")
    check(done.returncode == 0, done.stderr.decode())
    return re.search(rb'"output":\[.*?\]', done.stdout)[0]


def test_old_store_is_read():
    """A store from before names were distinguished: both names find what they shared."""
    assemble("save", KEYS.format(body="init_random C0, 9\nlifecycle.save_thermo C0"))
    check(run("save")[0] == 0, "save")
    expected, empty = values("store", "C0"), values("store", "C1")
    check(expected != empty, "a key finds the weights of a register")
    os.mkdir("old")
    shutil.copy("store/weights-register-0", "old/weights-register-0")
    check(values("old", "C0") == expected and values("old", "C1") == expected, "not found")


if __name__ == "__main__":
    sys.exit(main(globals()))
