#!/usr/bin/env python3
"""lms.py PENTA [KILLS]: containers signed by LMS keys. Every changed byte is refused, the key file counts each signature and
never goes back, also when the process is killed (KILLS times, 20) or the disk is full, and old copies do not sign."""
import base64
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import PENTA, expect, in_one_folder, penta, summary, write


def tool(*args, **more):
    return penta(*args, text=True, **more)


def key_bytes(name):
    """The binary form of the private key (CVBC 7.12)."""
    block = open(name).read().split("-----BEGIN PENTA HSS PRIVATE KEY-----")[1].split("-----END")[0]
    return base64.b64decode(block)


def key_range(name):
    raw = key_bytes(name)
    levels = struct.unpack(">I", raw[8:12])[0]
    tree = struct.unpack(">I", raw[12:16])[0]
    at = 12 + 8 * levels + 16 + (24 if tree > 9 else 32)
    return struct.unpack(">QQQ", raw[at:at + 24])


def place_of(name):
    """The place that signed a container with a key of one level: the number of the leaf."""
    file = open(name, "rb").read()
    security = struct.unpack("<I", file[24:28])[0]
    size, key = struct.unpack("<II", file[security + 4:security + 12])
    return struct.unpack(">I", file[security + 128 + key + 4:security + 128 + key + 8])[0], size


def reserved(state):
    return {name: int(open(os.path.join(state, name)).read().split()[1]) for name in os.listdir(state) if name != "lock"}


def sign(key, out, *more):
    return tool("sign", "p.cvbc", "--sign-key", key, "-o", out, *more)


def prepare():
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
    write("p.cvasm", b"    PUSH 7\n    HALT\n")
    write("q.cvasm", b"    PUSH 8\n    HALT\n")
    for name in "pq":
        expect(tool("asm", name + ".cvasm", "-o", name + ".cvbc").returncode == 0, "asm")


def test_keys_and_signatures():
    kinds = {"one": ["-t", "lms", "--lms", "h5/w8"], "short": ["--lms", "h5/w4/n24"],
             "two": ["-t", "lms", "--lms", "h5/w4,h5/w8/n24"], "both": ["-t", "ed25519+lms", "--lms", "h5/w8"]}
    for name, options in kinds.items():
        done = tool("keygen", *options, "-o", name + ".pem", "--json")
        made = json.loads(done.stdout)
        places = 1024 if name == "two" else 32
        expect(done.returncode == 0 and made["signatures"] == places, done.stdout + done.stderr)
        expect(tool("pubkey", name + ".pem", "-o", name + ".pub").returncode == 0, "pubkey")
        expect(tool("pubkey", name + ".pub").stdout == open(name + ".pub").read(), "a public key reads as it is written")
        done = sign(name + ".pem", name + ".cvbc")
        expect(done.returncode == 0, name + ": " + done.stderr)
        expect(key_range(name + ".pem") == (0, 1, places), f"{name}: {key_range(name + '.pem')}")
        for options, code in ((["--trusted-key", name + ".pub"], 0), ([], 1)):
            done = tool("verify", name + ".cvbc", *options)
            expect(done.returncode == code, f"{name} {options}: {done.stdout}{done.stderr}")
        expect(tool("run", "-q", name + ".cvbc", "--trusted-key", name + ".pub", "--require-signature").returncode == 0, "run")
        info = json.loads(tool("info", name + ".cvbc", "--json").stdout)
        expect(("ed25519_lms" if name == "both" else '"lms"') in json.dumps(info), "info names the algorithm")
        expect("1.4" in tool("info", name + ".cvbc").stdout, "minor version 4")
    for name in kinds:
        for other in kinds:
            if other != name:
                expect(tool("verify", name + ".cvbc", "--trusted-key", other + ".pub").returncode == 1, f"{name} is not {other}")
    done = tool("sign", "one.cvbc", "--sign-key", "both.pem", "-o", "again.cvbc")
    expect(done.returncode == 0 and tool("verify", "again.cvbc", "--trusted-key", "both.pub").returncode == 0, done.stderr)
    done = tool("create", "p.cvasm", "--sign-key", "one.pem", "--external-key", "-o", "external.cvbc")
    expect(done.returncode == 0, done.stderr)
    expect(tool("verify", "external.cvbc", "--trusted-key", "one.pub").returncode == 0, "the key is not in the file")
    expect(tool("verify", "external.cvbc").returncode == 6, "no key")
    for text in ("h10", "h10/w3", "h5/w8,", "x", ""):
        expect(tool("keygen", "--lms", text, "-o", "none.pem").returncode == 2 and not os.path.exists("none.pem"), f"--lms '{text}'")
    expect(tool("keygen", "-t", "p256", "--lms", "h5/w8", "-o", "none.pem").returncode == 2, "p256 has no parameters")
    expect(tool("keygen", "--reserve", "3", "-o", "none.pem").returncode == 2, "--reserve needs --from")


def test_halves_must_both_hold():
    """Of the file with both signatures, each half alone is refused: the other one's bytes are changed."""
    file = bytearray(open("both.cvbc", "rb").read())
    security = struct.unpack("<I", file[24:28])[0]
    key = struct.unpack("<I", file[security + 8:security + 12])[0]
    at = security + 128 + key
    for offset, half in ((0, "Ed25519"), (64 + 100, "LMS")):
        changed = bytearray(file)
        changed[at + offset] ^= 1
        write("half.cvbc", repaired(changed))
        done = tool("verify", "half.cvbc", "--trusted-key", "both.pub")
        expect(done.returncode == 1 and "the signature is wrong" in done.stderr, half + ": " + done.stderr)


def repaired(file):
    import zlib
    file = bytearray(file)
    file[12:16] = struct.pack("<I", zlib.crc32(bytes(file[:12])))
    file[40:44] = struct.pack("<I", zlib.crc32(bytes(file[64:])))
    return bytes(file)


def test_every_byte(step):
    """Each byte of a signed file counts, also when the CRCs are mended. One process looks at many files."""
    for name in ("one", "both"):
        file = open(name + ".cvbc", "rb").read()
        names = []
        for at in range(0, len(file), step):
            changed = bytearray(file)
            changed[at] ^= 1 << at % 8
            if not (12 <= at < 16 or 40 <= at < 44):
                changed = repaired(changed)
            names.append(f"flip{at}.cvbc")
            write(names[-1], bytes(changed))
        for first in range(0, len(names), 400):
            some = names[first:first + 400]
            done = tool("verify", "--json", *some, "--trusted-key", name + ".pub")
            seen = done.stdout.count('"ok":false') + done.stdout.count('"ok": false')
            good = [n for n in some if f"{n}: signature and contents good" in done.stdout]
            expect(done.returncode != 0 and not good and seen, f"{name}: {good} are accepted")
            for one in random.Random(first).sample(some, min(5, len(some))):
                expect(tool("verify", one, "--trusted-key", name + ".pub").returncode in (1, 5, 6), one)
        for one in names:
            os.remove(one)


def test_damaged():
    """Sizes and versions that do not fit are findings, and a key that was changed does not sign."""
    file = bytearray(open("one.cvbc", "rb").read())
    older = bytearray(file)
    older[6] = 3
    write("older.cvbc", repaired(older))
    expect("CVBC0035" in tool("validate", "older.cvbc").stderr + tool("validate", "older.cvbc").stdout, "minor version 3 is too old")
    security = struct.unpack("<I", file[24:28])[0]
    for at, what in ((security + 128 + 7, "the type of the key"), (security + 128 + 60 + 11, "the type of the signature")):
        changed = bytearray(file)
        changed[at] ^= 0x40
        write("changed.cvbc", repaired(changed))
        done = tool("validate", "changed.cvbc")
        expect(done.returncode == 1 and "CVBC0012" in done.stdout + done.stderr, what + ": " + done.stdout + done.stderr)
    text = open("one.pem").read()
    middle = text.index("\n") + 40
    write("changed.pem", (text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1:]).encode())
    done = sign("changed.pem", "none.cvbc")
    expect(done.returncode == 6 and "sum is wrong" in done.stderr and not os.path.exists("none.cvbc"), done.stderr)
    write("empty.pem", b"")
    expect(sign("empty.pem", "none.cvbc").returncode == 6, "an empty key")
    expect(sign("missing.pem", "none.cvbc").returncode == 4, "no key")


def test_copies_and_ranges():
    tool("keygen", "-q", "--lms", "h5/w4", "-o", "k.pem")
    tool("pubkey", "k.pem", "-o", "k.pub")
    shutil.copy("k.pem", "copy.pem")
    expect(sign("k.pem", "k0.cvbc").returncode == 0 and place_of("k0.cvbc")[0] == 0, "the first place")
    done = sign("copy.pem", "none.cvbc")
    expect(done.returncode == 6 and "old copy" in done.stderr and "--resign" not in done.stderr, done.stderr)
    expect(not os.path.exists("none.cvbc"), "a copy signs nothing")
    done = tool("keygen", "--reserve", "1", "--from", "copy.pem", "-o", "none.pem")
    expect(done.returncode == 6 and not os.path.exists("none.pem"), "nothing is taken from a copy: " + done.stderr)
    done = sign("copy.pem", "elsewhere.cvbc", "--key-state", "other")
    expect(done.returncode == 0, "another folder knows nothing of the key, as another host does: " + done.stderr)
    done = tool("keygen", "--reserve", "3", "--from", "k.pem", "-o", "part.pem")
    expect(done.returncode == 0 and "3 signatures" in done.stderr, done.stderr)
    expect(key_range("part.pem") == (1, 1, 4) and key_range("k.pem") == (0, 4, 32), "a range is cut off")
    places = []
    for i in range(3):
        expect(sign("part.pem", f"part{i}.cvbc").returncode == 0, "the part signs")
        expect(tool("verify", f"part{i}.cvbc", "--trusted-key", "k.pub").returncode == 0, "under the same public key")
        places.append(place_of(f"part{i}.cvbc")[0])
    expect(places == [1, 2, 3], f"places {places}")
    done = sign("part.pem", "none.cvbc")
    expect(done.returncode == 6 and "used up" in done.stderr and not os.path.exists("none.cvbc"), done.stderr)
    expect(tool("keygen", "--reserve", "29", "--from", "k.pem", "-o", "none.pem").returncode == 6, "more than are left")
    expect(not os.path.exists("none.pem"), "nothing is written")
    before = key_range("k.pem")
    expect(tool("keygen", "--reserve", "2", "--from", "k.pem", "-o", "part.pem").returncode == 4, "no key is overwritten")
    expect(key_range("k.pem") == before, "and nothing is lost")
    # two signers at the same time
    running = [subprocess.Popen([PENTA, "sign", "p.cvbc", "--sign-key", "k.pem", "-o", f"at{i}.cvbc"]) for i in range(6)]
    expect([p.wait(timeout=60) for p in running] == [0] * 6, "six at the same time")
    expect(sorted(place_of(f"at{i}.cvbc")[0] for i in range(6)) == list(range(4, 10)), "each has a place of its own")


def test_attached():
    """A signature made elsewhere: the space of a reserved file, and what a wrong size says."""
    tool("keygen", "-q", "--lms", "h5/w8", "-o", "hsm.pem")
    tool("pubkey", "hsm.pem", "-o", "hsm.pub")
    done = tool("sign", "q.cvbc", "--public-key", "hsm.pub", "--export-tbs", "tbs", "-o", "space.cvbc")
    expect(done.returncode == 0 and len(open("tbs", "rb").read()) == 40, done.stderr)
    done = tool("validate", "space.cvbc")
    expect("CVBC0018" in done.stdout + done.stderr and "CVBC0012" not in done.stdout + done.stderr, "the space fits: " + done.stderr)
    expect(tool("verify", "space.cvbc", "--trusted-key", "hsm.pub").returncode == 1, "and no signature")
    tool("sign", "q.cvbc", "--sign-key", "hsm.pem", "-o", "signed.cvbc")
    tool("extract", "signed.cvbc", "--part", "signature", "-o", "signature")
    done = tool("sign", "space.cvbc", "--attach-sig", "signature", "-o", "attached.cvbc")
    expect(done.returncode == 0, done.stderr)
    expect(tool("verify", "attached.cvbc", "--trusted-key", "hsm.pub").returncode == 0, "an attached signature")
    write("short", open("signature", "rb").read()[:-1])
    done = tool("sign", "space.cvbc", "--attach-sig", "short", "-o", "none.cvbc")
    expect(done.returncode == 1 and not os.path.exists("none.cvbc"), "a shorter one: " + done.stderr)


def test_full_disk():
    """A file that cannot grow stands for a full disk: no signature leaves, and the state does not go back."""
    tool("keygen", "-q", "--lms", "h5/w8", "-o", "disk.pem")
    before = key_range("disk.pem")
    limit = lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)), signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
    done = subprocess.run([PENTA, "sign", "p.cvbc", "--sign-key", "disk.pem", "-o", "none.cvbc"], preexec_fn=limit, timeout=60,
                          capture_output=True, text=True)
    expect(done.returncode == 4 and not os.path.exists("none.cvbc"), done.stderr)
    expect(key_range("disk.pem") == before, "the key is whole")
    done = sign("disk.pem", "disk.cvbc")
    expect(done.returncode == 0 and place_of("disk.cvbc")[0] == 0, "and signs")
    write("file", b"")
    done = sign("disk.pem", "none.cvbc", "--key-state", "file/below")
    expect(done.returncode == 4 and key_range("disk.pem")[1] == 1, "no folder for reservations: " + done.stderr)
    expect(sign("disk.pem", "disk.cvbc", "--key-state", "other-notes").returncode == 0, "another folder")
    note = os.path.join("other-notes", next(iter(reserved("other-notes"))))
    for text in (b"", b"next", b"next x\n", b"next 1\n2\n", b"x" * 5000):
        write(note, text)
        done = sign("disk.pem", "none.cvbc", "--key-state", "other-notes")
        expect(done.returncode in (4, 7) and not os.path.exists("none.cvbc"), f"a note that says {text[:20]}: " + done.stderr)


def test_kills(kills):
    """A process that is killed anywhere loses a place at the most: no two signatures have the same one."""
    seed = random.Random(7)
    tool("keygen", "-q", "--lms", "h10/w2", "-o", "kill.pem")
    tool("pubkey", "kill.pem", "-o", "kill.pub")
    state = "kills"
    used, last = {}, 0
    start = time.monotonic()
    subprocess.run([PENTA, "sign", "p.cvbc", "--sign-key", "kill.pem", "-o", "first.cvbc", "--key-state", state], check=True, timeout=60)
    whole = time.monotonic() - start
    used[place_of("first.cvbc")[0]] = "first"
    for i in range(kills):
        out = f"kill{i}.cvbc"
        process = subprocess.Popen([PENTA, "sign", "p.cvbc" if i & 1 else "q.cvbc", "--sign-key", "kill.pem", "-o", out, "--key-state", state],
                                   stderr=subprocess.DEVNULL)
        time.sleep(seed.random() * whole * 1.2)
        process.kill()
        process.wait(timeout=60)
        first, following, _ = key_range("kill.pem")
        expect(following >= last, f"kill {i}: from {last} back to {following}")
        for value in reserved(state).values():
            expect(value <= following, f"kill {i}: reserved {value}, the key says {following}")
        last = following
        if os.path.exists(out):
            place = place_of(out)[0]
            expect(place not in used and place < following, f"kill {i}: place {place} again")
            used[place] = out
    done = sign("kill.pem", "after.cvbc", "--key-state", state)
    expect(done.returncode == 0 and place_of("after.cvbc")[0] not in used, done.stderr)
    expect(tool("verify", "after.cvbc", "--trusted-key", "kill.pub").returncode == 0, "the key still signs")
    print(f"{kills} kills, {len(used)} signatures, {last} places taken")


KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
sys.exit(in_one_folder([prepare, test_keys_and_signatures, test_halves_must_both_hold, lambda: test_every_byte(1 if KILLS > 100 else 11),
                        test_damaged, test_copies_and_ranges, test_attached, test_full_disk, lambda: test_kills(KILLS)]))
