#!/usr/bin/env python3
"""Programs that others wrote, on penta over native, interleaved, in processor time of whole processes.

    bench/programs.py PENTA FOLDER [--rounds N] [--only PROGRAM,...] [--doom DOOM BLOB WAD]
    bench/programs.py --natives FOLDER        the programs of FOLDER that scripts/test-programs --native has to build

FOLDER is where scripts/test-programs built them with penta-cc; FOLDER/native has them by gcc -O2. The least time of all rounds
counts; the interpreter runs once only. What a program prints is compared with what the native one prints. Programs that are
not there are left out. Doom has no native counterpart here: its row is milliseconds of a tick."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

from measure import mean, processor_time

HERE = os.path.dirname(os.path.abspath(__file__))
GAS = ["--gas", "1000000000000"]
LANES = {"native": None, "jit": ["--engine", "jit"], "jit, sync gas": ["--engine", "jit", *GAS],
         "interp": ["--engine", "interp"], "interp, gas": ["--engine", "interp", *GAS]}
# Program, its file, its arguments, what it reads. The names of files are those of scripts/test-programs.
SUITES = "md5 sha1 sha256 sha512 des aes gcm ccm chacha20 poly1305 mpi rsa ecp camellia"
PROGRAMS = {
    "sqlite": ("speedtest1", "speedtest1.native", ["--size", "15", "--verify"], None),
    "zlib": ("minigzip", "minigzip", ["-6"], "text"),
    "bzip2": ("bzip2", "bzip2", ["-c", "-9"], "text"),
    "zstd": ("programs/zstd", "programs/zstd", ["-q", "-c", "-9"], "text"),
    "lua": ("src/lua", "src/lua", ["-"], os.path.join(HERE, "programs.lua")),
    "mbedtls": ("programs/test/selftest", "programs/test/selftest", 15 * SUITES.split(), None),
}
TEXT_BYTES = 6 << 20
DOOM_TICKS = 450
TIMES = re.compile(rb" *[0-9.]+s$", re.M)  # speedtest1 prints how long each part took


def words(size):
    """Text of words of which few are frequent, the same every time."""
    choose = random.Random(1)
    known = ["".join(choose.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(choose.randrange(2, 12))) for _ in range(5000)]
    text = ""
    while len(text) < size:
        text += " ".join(known[min(int(choose.expovariate(0.004)), 4999)] for _ in range(12)) + ".\n"
    return text[:size].encode()


def guest_of(folder, name):
    return os.path.join(folder, name, PROGRAMS[name][0] + ".polkavm")


def is_apart(name):
    """Whether the native program has a folder of its own. That of SQLite is built for its check, too."""
    return not PROGRAMS[name][1].endswith(".native")


def commands_of(penta, folder, name):
    _, native, arguments, _ = PROGRAMS[name]
    guest = guest_of(folder, name)
    of_native = os.path.join(folder, "native" if is_apart(name) else "", name, native)
    if not os.path.exists(guest) or not os.path.exists(of_native):
        return None
    run = [penta, "run", "-q", "--clock", "real", "--files", ":/tmp"]
    return {lane: [*run, *how, guest, "--", *arguments] if how else [of_native, *arguments] for lane, how in LANES.items()}


def printed(command, source):
    """What the program prints and how long it ran."""
    with tempfile.TemporaryFile() as out, open(source or os.devnull, "rb") as text:
        time = processor_time(command, stdin=text, stdout=out)
        out.seek(0)
        return TIMES.sub(b"", out.read()), time


def measure(name, commands, source, rounds):
    best, expected = {}, None
    for turn in range(rounds):
        for lane, command in commands.items():
            if lane.startswith("interp") and turn:
                continue
            text, time = printed(command, source)
            expected = text if expected is None else expected
            if not text or text != expected:
                sys.exit(f"{name}, {lane}: prints something else than the native program")
            best[lane] = min(time, best.get(lane, time))
    return best


def doom_row(doom, blob, wad, rounds):
    """Milliseconds of a tick. What is drawn is compared by the test of the same name."""
    best = {}
    for turn in range(rounds):
        for lane, how in LANES.items():
            if not how or lane.startswith("interp") and turn:
                continue
            time = processor_time([doom, blob, wad, "--ticks", str(DOOM_TICKS), *how])
            best[lane] = min(time, best.get(lane, time))
    return {lane: 1000 * time / DOOM_TICKS for lane, time in best.items()}


def line(name, cells):
    print(f"{name:18}" + "".join(f"{cells.get(lane, ''):>15}" for lane in LANES), flush=True)


if sys.argv[1] == "--natives":
    print(*(name for name in PROGRAMS if is_apart(name) and os.path.exists(guest_of(sys.argv[2], name))))
    sys.exit()
parser = argparse.ArgumentParser()
parser.add_argument("penta")
parser.add_argument("folder")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--only", default=",".join([*PROGRAMS, "doom"]))
parser.add_argument("--doom", nargs=3)
options = parser.parse_args()
chosen = options.only.split(",")
with tempfile.TemporaryDirectory() as work:
    inputs = {None: None, "text": os.path.join(work, "text")}
    with open(inputs["text"], "wb") as out:
        out.write(words(TEXT_BYTES))
    line("over gcc -O2", {lane: "native, s" if lane == "native" else lane for lane in LANES})
    ratios = {lane: [] for lane in LANES}
    for program in (p for p in PROGRAMS if p in chosen):
        commands = commands_of(os.path.abspath(options.penta), os.path.abspath(options.folder), program)
        if not commands:
            print(f"{program}: not built")
            continue
        source = PROGRAMS[program][3]
        times = measure(program, commands, inputs.get(source, source), options.rounds)
        for lane in LANES:
            ratios[lane].append(times[lane] / times["native"])
        line(program, {lane: f"{times[lane]:.3f}" if lane == "native" else f"{times[lane] / times['native']:.2f}" for lane in LANES})
    line("geometric mean", {lane: f"{mean(ratios[lane]):.2f}" for lane in LANES if lane != "native" and ratios[lane]})
    if options.doom and "doom" in chosen and all(map(os.path.exists, options.doom)):
        cells = doom_row(*map(os.path.abspath, options.doom), options.rounds)
        line("doom, ms a tick", {lane: f"{time:.2f}" for lane, time in cells.items()})
