#!/usr/bin/env python3
"""What containers promise beyond single files: signatures that openssl accepts and makes, every byte
of a signed file covered, reproducible builds, sealing, legacy files, boards, exit codes.

    tests/programs/cvbc.py PENTA
"""
import glob
import hashlib
import json
import os
import re
import shutil
import stat
import struct
import sys
import zlib

from support import ROOT, expect, in_one_folder, penta, run_program, tests_of, write


KEYS = os.path.join(ROOT, "tests/keys")


def penta_text(*args, **more):
    return penta(*args, text=True, **more)


def read(name):
    with open(name, "rb") as f:
        return bytearray(f.read())


def fix(b):
    b[12:16] = struct.pack("<I", zlib.crc32(bytes(b[:12])))
    b[40:44] = struct.pack("<I", zlib.crc32(bytes(b[64:])))
    return b


def key(name):
    return os.path.join(KEYS, name)


SOURCE = """// blink
int n = 3;
void setup() { pinMode(13, OUTPUT); }
void loop() { digitalWrite(13, n & 1); delay(100); n--; if (n < 0) { printf("done\\n"); n = n / 0; } }
"""
ASM = '.string "done\\n"\n    PUSH 0\n    PRINTF 0\n    HALT\n'


def test_keys():
    done = penta_text("keygen", "-t", "ed25519", "-o", "new.pem")
    mode = stat.S_IMODE(os.stat("new.pem").st_mode)
    expect(done.returncode == 0 and mode == 0o600, "keygen writes mode 0600")
    expect(penta_text("keygen", "-o", "new.pem").returncode == 4, "keygen refuses to overwrite")
    expect(penta_text("keygen", "-t", "dsa", "-o", "x.pem").returncode == 2, "keygen knows its kinds")
    for kind in ("ed25519", "p256", "rsa2048"):
        penta_text("keygen", "-q", "-t", kind, "-o", kind + ".pem")
        penta_text("pubkey", kind + ".pem", "-o", kind + ".pub")
        ssl = run_program("openssl", "pkey", "-in", kind + ".pem", "-pubout")
        expect(ssl.stdout == bytes(read(kind + ".pub")), f"openssl reads {kind} and finds the same public key")
    ssl = run_program("openssl", "ecparam", "-name", "secp384r1", "-genkey", "-noout")
    write("p384.pem", ssl.stdout)
    expect(penta_text("pubkey", "p384.pem").returncode == 6, "another curve is a KEY error")


def test_signatures():
    write("p.cvasm", ASM.encode())
    expect(penta_text("create", "p.cvasm", "--target", "stm32g431", "--pin", "C13:gpio:output", "-o", "p.cvbc").returncode == 0, "create")
    for kind, name in (("ed25519", "signer"), ("p256", "p256"), ("rsa2048", "rsa2048")):
        expect(penta_text("sign", "p.cvbc", "--sign-key", key(name + ".pem"), "-o", "s.cvbc").returncode == 0, "sign " + kind)
        done = penta_text("verify", "s.cvbc", "--trusted-key", key("other.pub"), "--trusted-key", key(name + ".pub"), "--json")
        out = json.loads(done.stdout)["files"][0]
        expect(done.returncode == 0 and out["trusted"] and out["key"] == key(name + ".pub"), "verify names the key " + kind)
        again = penta_text("sign", "s.cvbc", "--sign-key", key(name + ".pem"), "-o", "t.cvbc")
        expect(again.returncode == 0 and read("s.cvbc") == read("t.cvbc"), "signing again gives the same bytes " + kind)
        penta_text("extract", "s.cvbc", "--part", "tbs", "-o", "tbs")
        penta_text("extract", "s.cvbc", "--part", "signature", "-o", "sig")
        sig = bytes(read("sig"))
        if kind == "p256":
            def integer(v):
                v = v.lstrip(b"\0") or b"\0"
                v = (b"\0" if v[0] & 0x80 else b"") + v
                return b"\x02" + bytes([len(v)]) + v
            body = integer(sig[:32]) + integer(sig[32:])
            write("sig", b"\x30" + bytes([len(body)]) + body)
        if kind == "ed25519":
            ssl = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key(name + ".pub"), "-rawin", "-in", "tbs",
                   "-sigfile", "sig"]
        else:
            ssl = ["openssl", "dgst", "-sha256", "-verify", key(name + ".pub"), "-signature", "sig", "tbs"]
        expect(run_program(*ssl).returncode == 0, "openssl verifies " + kind)
        penta_text("sign", "p.cvbc", "--public-key", key(name + ".pub"), "--export-tbs", "tbs", "-o", "prepared.cvbc")
        if kind == "ed25519":
            ssl = ["openssl", "pkeyutl", "-sign", "-inkey", key(name + ".pem"), "-rawin", "-in", "tbs", "-out", "sig"]
        else:
            ssl = ["openssl", "dgst", "-sha256", "-sign", key(name + ".pem"), "-out", "sig", "tbs"]
        run_program(*ssl, needed=True)
        penta_text("sign", "prepared.cvbc", "--attach-sig", "sig", "-o", "attached.cvbc")
        expect(penta_text("verify", "attached.cvbc", "--trusted-key", key(name + ".pub")).returncode == 0,
               "a signature of openssl verifies " + kind)
    done = penta_text("verify", "s.cvbc", "--trusted-key", key("other.pub"))
    expect(done.returncode == 1 and "untrusted" in done.stdout, "untrusted is exit 1")
    expect(penta_text("verify", "p.cvbc", "--trusted-key", key("other.pub")).returncode == 1, "unsigned is exit 1")
    penta_text("sign", "p.cvbc", "--sign-key", key("signer.pem"), "--external-key", "-o", "e.cvbc")
    expect(penta_text("verify", "e.cvbc").returncode == 6, "no key at all is exit 6")
    expect(penta_text("verify", "e.cvbc", "--trusted-key", key("other.pub")).returncode == 1, "another key is exit 1")
    penta_text("sign", "p.cvbc", "--sign-key", key("signer.pem"), "--hash", "blake2b", "-o", "b.cvbc")
    expect(penta_text("verify", "b.cvbc", "--trusted-key", key("signer.pub")).returncode == 0, "BLAKE2b digest")
    shutil.copy("p.cvbc", "inplace.cvbc")
    expect(penta_text("sign", "inplace.cvbc", "--in-place", "--sign-key", key("p256.pem")).returncode == 0 and
           penta_text("verify", "inplace.cvbc", "--trusted-key", key("p256.pub")).returncode == 0,
           "sign in place")


def test_edges():
    """Signatures that a careless verifier would accept."""
    n = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    penta_text("sign", "p.cvbc", "--sign-key", key("p256.pem"), "-o", "s.cvbc")
    good = read("s.cvbc")
    so = struct.unpack("<I", good[24:28])[0]
    at = so + 128 + 65
    r, s = int.from_bytes(good[at:at + 32], "big"), int.from_bytes(good[at + 32:at + 64], "big")
    for what, a, b in (("r 0", 0, s), ("s 0", r, 0), ("both 0", 0, 0), ("r n", n, s), ("s n", r, n), ("r+n", r + n, s),
                       ("s+n", r, s + n), ("max", 2**256 - 1, 2**256 - 1), ("r 1 s 1", 1, 1)):
        if a >= 2**256 or b >= 2**256:
            continue
        bad = bytearray(good)
        bad[at:at + 64] = a.to_bytes(32, "big") + b.to_bytes(32, "big")
        write("bad.cvbc", fix(bad))
        done = penta_text("verify", "bad.cvbc", "--trusted-key", key("p256.pub"))
        expect(done.returncode == 1 and "CVBC0018" in done.stderr, "ecdsa " + what)
    penta_text("sign", "p.cvbc", "--sign-key", key("rsa2048.pem"), "-o", "s.cvbc")
    good = read("s.cvbc")
    so = struct.unpack("<I", good[24:28])[0]
    modulus = int.from_bytes(good[so + 128:so + 384], "big")
    at = so + 128 + 260
    value = int.from_bytes(good[at:at + 256], "big")
    text = run_program("openssl", "rsa", "-in", key("rsa2048.pem"), "-noout", "-text", text=True).stdout
    d = int("".join(text.split("privateExponent:")[1].split("prime1")[0].split()).replace(":", ""), 16)
    tbs = penta("extract", "s.cvbc", "--part", "tbs", "-o", "-").stdout
    info = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(tbs).digest()
    def raw(block):
        return pow(int.from_bytes(block, "big"), d, modulus).to_bytes(256, "big")
    pad = b"\xff" * (256 - 3 - len(info))
    expect(raw(b"\0\1" + pad + b"\0" + info) == bytes(good[at:at + 256]), "the block is PKCS#1 v1.5")
    for what, sig in (("plus n", (value + modulus).to_bytes(257, "big")[-256:]), ("zero", bytes(256)),
                      ("one", (1).to_bytes(256, "big")), ("modulus", modulus.to_bytes(256, "big")),
                      ("block type 2", raw(b"\0\2" + pad + b"\0" + info)),
                      ("short padding, tail", raw(b"\0\1" + b"\xff" * 8 + b"\0" + info + bytes(256 - 11 - len(info)))),
                      ("no null in the digest info", raw(b"\0\1" + b"\xff" * (255 - len(info) ) + b"\0" +
                       bytes.fromhex("302f300b0609608648016503040201" + "0420") + hashlib.sha256(tbs).digest())[-256:])):
        bad = bytearray(good)
        bad[at:at + 256] = sig
        write("bad.cvbc", fix(bad))
        done = penta_text("verify", "bad.cvbc", "--trusted-key", key("rsa2048.pub"))
        expect(done.returncode == 1 and "CVBC0018" in done.stderr, "rsa " + what)
    for what, exponent in (("exponent 3", 3), ("exponent 65539", 65539), ("exponent 0", 0)):
        bad = bytearray(good)
        bad[so + 128 + 256:so + 128 + 260] = exponent.to_bytes(4, "big")
        write("bad.cvbc", fix(bad))
        expect(penta_text("validate", "bad.cvbc").returncode in (1, 6), "rsa " + what)
    order = 2**252 + 27742317777372353535851937790883648493
    penta_text("sign", "p.cvbc", "--sign-key", key("signer.pem"), "-o", "s.cvbc")
    good = read("s.cvbc")
    at = struct.unpack("<I", good[24:28])[0] + 128 + 32
    s = int.from_bytes(good[at + 32:at + 64], "little")
    for what, value in (("s + order", s + order), ("s 0", 0), ("s order", order)):
        bad = bytearray(good)
        bad[at + 32:at + 64] = value.to_bytes(32, "little")
        write("bad.cvbc", fix(bad))
        expect(penta_text("verify", "bad.cvbc", "--trusted-key", key("signer.pub")).returncode == 1, "ed25519 " + what)


def test_low_s():
    """ECDSA has two forms of each signature: ours is the low one, outside signers write both."""
    order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
    verify = ["verify", "--trusted-key", key("p256.pub")]
    penta_text("sign", "p.cvbc", "--public-key", key("p256.pub"), "--export-tbs", "tbs", "-o", "slot.cvbc")
    penta_text("sign", "p.cvbc", "--sign-key", key("p256.pem"), "-o", "s.cvbc")
    penta_text("extract", "s.cvbc", "--part", "signature", "-o", "sig")
    sig = bytes(read("sig"))
    s = int.from_bytes(sig[32:], "big")
    expect(s <= order // 2, "sign writes low s")
    high = sig[:32] + (order - s).to_bytes(32, "big")
    write("high", high)
    penta_text("sign", "slot.cvbc", "--attach-sig", "high", "-o", "attached.cvbc")
    penta_text("extract", "attached.cvbc", "--part", "signature", "-o", "sig")
    expect(bytes(read("sig")) == sig, "attach writes low s")
    data = bytearray(read("s.cvbc"))
    at = bytes(data).index(sig)
    data[at:at + 64] = high
    data[40:44] = zlib.crc32(data[64:]).to_bytes(4, "little")
    write("high.cvbc", data)
    expect(penta_text(*verify, "high.cvbc").returncode == 0, "high s of an outside signer verifies")
    for strict in ("--strict", "--require-low-s"):
        done = penta_text(*verify, strict, "high.cvbc")
        expect(done.returncode == 1 and "its s is high" in done.stderr, "high s refused by " + strict)
        expect(penta_text(*verify, strict, "s.cvbc").returncode == 0, "low s accepted by " + strict)
    expect(penta_text("run", "-q", "--require-low-s", "high.cvbc").returncode == 1, "high s does not run when refused")


def test_flips():
    """Every byte of a signed file matters, the CRCs and the signature's own encoding included."""
    penta_text("sign", "p.cvbc", "--sign-key", key("signer.pem"), "-o", "s.cvbc")
    good = read("s.cvbc")
    accepted, names = [], []
    for i in range(len(good)):
        bad = bytearray(good)
        bad[i] ^= 0x40
        if not (12 <= i < 16 or 40 <= i < 44):
            fix(bad)             # whoever changes a file fixes its CRCs
        names.append((i, write(f"flip{i:05d}.cvbc", bad)))
    done = penta_text("verify", "--format", "cvbc", "--json", "--trusted-key", key("signer.pub"),
                 *[name for _, name in names])
    results = json.loads(done.stdout)["files"]
    expect(len(results) == len(good), "every flipped file is judged")
    accepted = [i for (i, _), r in zip(names, results) if r["verified"]]
    expect(accepted == [], f"bytes that may change in a signed file: {accepted}")
    for _, name in names:
        os.unlink(name)


def test_builds():
    write("b.ino", SOURCE.encode())
    env = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
    args = ["create", "b.ino", "--target", "stm32g431", "--pin", "C13:gpio:output", "--compress", "--strip",
            "--sign-key", key("p256.pem"), "--key-file", key("symmetric.hex"), "--source", "b.ino"]
    for name in ("one", "two"):
        expect(penta_text(*args, "-o", name + ".cvbc", env=env).returncode == 0, "create " + name)
    expect(read("one.cvbc") == read("two.cvbc"), "two builds give the same bytes")
    expect(struct.unpack("<Q", read("one.cvbc")[44:52])[0] == 1700000000, "SOURCE_DATE_EPOCH is the timestamp")
    verify = ["verify", "one.cvbc", "--trusted-key", key("p256.pub"), "--key-file", key("symmetric.hex")]
    expect(penta_text(*verify, "--source", "b.ino").returncode == 0, "the sources are those")
    write("c.ino", SOURCE.encode() + b"\n")
    expect(penta_text(*verify, "--source", "c.ino").returncode == 1, "other sources are noticed")
    done = penta_text("verify", "one.cvbc", "--trusted-key", key("p256.pub"))
    expect(done.returncode == 6 and "signature good, contents not checked" in done.stdout, "sealed, without its key")
    penta_text(*args, "--build-number", "2", "-o", "two.cvbc", env=env)
    done = penta_text("diff", "one.cvbc", "two.cvbc")
    expect(done.returncode == 1 and "build_number" in done.stdout, "diff says why two builds differ")


def test_policy():
    run = ["run", "-q", "--require-signature", "--trusted-key", key("signer.pub")]
    expect(penta_text(*run, "p.cvbc").returncode == 1, "unsigned does not run")
    penta_text("sign", "p.cvbc", "--sign-key", key("other.pem"), "-o", "o.cvbc")
    expect(penta_text(*run, "o.cvbc").returncode == 1, "untrusted does not run")
    penta_text("sign", "p.cvbc", "--sign-key", key("signer.pem"), "-o", "s.cvbc")
    expect(penta_text(*run, "s.cvbc").returncode == 0, "trusted runs")
    expect(penta_text(*run, "--unverified", "o.cvbc").returncode == 1, "--unverified is about programs only")


def test_snapshots_have_the_board():
    """Stopped after any number of steps, a program goes on from a snapshot as if it had not stopped: its pins, its clock."""
    write("board.ino", b"""void setup() { pinMode(13, OUTPUT); pinMode(2, INPUT); }
void loop() { digitalWrite(13, digitalRead(2)); delay(7); printf("%d ", millis()); digitalWrite(13, LOW); delay(5); }
""")
    write("pins.txt", b"0 digital 2 0\n10 digital 2 1\n")
    expect(penta_text("compile", "board.ino", "-o", "board.cvbc").returncode == 0, "compile")
    for board in ([], ["--board", "trace"]):
        run = ["run", "-q", "board.cvbc", *board, "--script", "pins.txt"]
        events = lambda *more: re.sub(r"fuel pc=.*\n", "", penta_text(*run, *more).stdout)
        whole = events("--fuel", "60")
        expect("19 " in whole, whole)
        for step in range(60):
            before = events("--fuel", str(step), "--save", "at")
            rest = events("--fuel", str(60 - step), "--load", "at")
            expect(before + rest == whole, (step, before, rest, whole))
    whole = penta_text(*run, "--fuel", "300")
    slow = penta_text(*run, "--fuel", "300", "--realtime")
    expect("19 " in whole.stdout and slow.stdout == whole.stdout and slow.returncode == whole.returncode, "real time changes nothing that the program sees")
    write("hours.ino", b"void setup() { delay(36000000); } void loop() { delay(36000000); }")
    penta_text("compile", "hours.ino", "-o", "hours.cvbc")
    expect(penta_text("run", "hours.cvbc", "--budget", "1000").returncode == 20, "without it hours are short")
    expect(penta_text("run", "hours.cvbc", "--budget", "1000", "--realtime", "--timeout", "0.1").returncode == 25, "with it a deadline ends the wait")
    old = bytearray(read("at"))
    del old[-8 - 28:]
    write("old", bytes(old))
    expect(penta_text("run", "board.cvbc", "--load", "old").returncode == 1, "an old snapshot")


def test_sealing():
    for args in (["--key-file", key("symmetric.hex")], ["--password-file", key("password"), "--iterations", "2"],
                 ["--key-file", key("symmetric.hex"), "--derive", "hkdf", "--cipher", "chacha20_poly1305"]):
        secret = args[:2]
        expect(penta_text("seal", "p.cvbc", *args, "-o", "x.cvbc").returncode == 0, "seal " + args[0])
        expect(penta_text("run", "-q", "x.cvbc").returncode == 6, "no key: exit 6")
        expect(penta_text("run", "-q", "x.cvbc", *secret).returncode == 0, "runs with its key")
        expect(penta_text("open", "x.cvbc", *secret, "-o", "y.cvbc").returncode == 0 and read("y.cvbc") == read("p.cvbc"),
               "open gives the file back")
        for done in (penta_text("open", "x.cvbc", *secret, "-o", "y.cvbc"), penta_text("verify", "x.cvbc", *secret)):
            expect("warning[CVBC0111]: sealed, not signed: these fields could have been changed" in done.stderr, done)
        penta_text("seal", "p.cvbc", *args, "--sign-key", key("signer.pem"), "-o", "x.cvbc")
        for done in (penta_text("open", "x.cvbc", *secret, "--drop-signature", "-o", "y.cvbc"), penta_text("verify", "x.cvbc", *secret)):
            expect("CVBC0111" not in done.stderr, done)
    # Stretching a password 65 million times takes longer than the deadline.
    penta_text("seal", "p.cvbc", "--password-file", key("password"), "--iterations", "1", "-o", "x.cvbc")
    slow = read("x.cvbc")
    security = struct.unpack_from("<I", slow, 24)[0]
    expect(struct.unpack_from("<I", slow, security + 16)[0] == 2 | 1 << 8, "where the rounds are")
    struct.pack_into("<I", slow, security + 16, 2 | 65535 << 8)
    write("slow.cvbc", fix(slow))
    done = penta_text("validate", "slow.cvbc")
    expect(done.returncode == 6 and "warning[CVBC0112]" in done.stderr and "option '--max-iterations' 65535000" in done.stderr, done)
    expect("CVBC0112" not in penta_text("validate", "slow.cvbc", "--max-iterations", "65535000").stderr, "--max-iterations allows it")
    for done in (penta_text("create", "p.cvbc", "--password-file", key("password"), "--iterations", "10001", "-o", "x.cvbc"),
                 penta_text("seal", "p.cvbc", "--password-file", key("password"), "--iterations", "10001", "-o", "x.cvbc")):
        expect(done.returncode == 0 and "option '--max-iterations' 10001000" in done.stderr, done)
    for command in ("run", "trace", "profile", "cover"):
        done = penta_text(command, "slow.cvbc", "--password-file", key("password"), "--max-iterations", "65535000", "--timeout", "0.05")
        expect(done.returncode == 25 and done.stderr == "penta: deadline before slow.cvbc could run\n", done)
    write("wrong", b"7" * 32)
    penta_text("seal", "p.cvbc", "--key-file", key("symmetric.hex"), "-o", "x.cvbc")
    expect(penta_text("open", "x.cvbc", "--key-file", "wrong", "-o", "y2.cvbc").returncode == 6, "the wrong key: exit 6")
    penta_text("sign", "p.cvbc", "--sign-key", key("signer.pem"), "-o", "s.cvbc")
    seal = ["seal", "s.cvbc", "--key-file", key("symmetric.hex"), "-o", "z.cvbc"]
    done = penta_text(*seal)
    expect(done.returncode == 1 and "CVBC0028" in done.stderr, "a signed file is not sealed silently")
    expect(penta_text(*seal, "--drop-signature").returncode == 0, "dropping the signature")
    expect(penta_text(*seal, "--sign-key", key("signer.pem")).returncode == 0 and
           penta_text("verify", "z.cvbc", "--trusted-key", key("signer.pub"), "--key-file", key("symmetric.hex")).returncode == 0,
           "signing anew")
    big = bytearray(zlib.compressobj(9, zlib.DEFLATED, -15).compress(b"") )
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = bomb.compress(bytes(64 << 20)) + bomb.flush()
    b = read("p.cvbc")
    bo = struct.unpack("<I", b[32:36])[0]
    b = b[:bo] + bytearray(body) + big
    b[36:40], b[8:12] = struct.pack("<I", len(body)), struct.pack("<I", len(b))
    b[56] |= 2
    write("bomb.cvbc", fix(b))
    expect(penta_text("validate", "bomb.cvbc").returncode == 7, "an inflating bomb is a limit, exit 7")
    write("short.cvbc", bytes(read("p.cvbc")[:40]))
    expect(penta_text("validate", "short.cvbc").returncode == 5, "truncated is exit 5")


def test_stored():
    penta_text("create", "p.cvasm", "--compress", "-o", "c.cvbc")
    text = ".header flags=0x2\n.stored of " + "00" * 32 + "\n.stored 00\n    HALT\n"
    write("st.cvasm", text.encode())
    done = penta_text("asm", "st.cvasm", "-o", "st.cvbc")
    expect(done.returncode == 0 and "CVBC0110" in done.stderr, "stored bytes of another listing are dropped")
    expect(penta_text("run", "-q", "st.cvbc").returncode == 0, "and the section is made anew")


def words(*items):
    return b"".join(struct.pack("<I", op << 24 | imm & 0xffff) for op, imm in items)


def test_legacy():
    code = [(8, 2), (0, 0), (1, 500), (1, 16960), (5, 0), (0x14, 0), (1, 0), (0x18, 0), (9, 0)]
    text = b"hi\\n"
    strings = struct.pack("<I", len(text) + 1) + text + b"\0"
    structs = b"".join(struct.pack("<BBH", op, 0, imm & 0xffff) for op, imm in code)
    counts = struct.pack("<II", len(code), 1)
    def crc(data):
        value = 0xffff
        for byte in data:
            value ^= byte << 8
            for _ in range(8):
                value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xffff
        return value
    conc = struct.pack("<IIIHH", 0x434F4E43, len(structs + strings), 8, 2, crc(structs + strings)) + structs + strings
    for name, data in (("struct", structs + strings), ("counted", counts + words(*code) + strings),
                       ("counted-struct", counts + structs + strings), ("conc", conc)):
        write("old.bin", data)
        done = penta_text("convert", "--from", "legacy", "old.bin", "--target", "stm32g431", "-o", "new.cvbc")
        expect(done.returncode == 0 and "R1" in done.stderr and "R6" in done.stderr, "convert " + name)
        out = penta_text("run", "-q", "new.cvbc", "--board", "trace").stdout
        expect(out.startswith("Delay: 500 ms\nhi\n"), "the converted program runs " + name)
    expect(penta_text("detect", "old.bin").returncode == 0, "CONC is detected")
    write("none.bin", bytes(64))
    done = penta_text("convert", "--from", "legacy", "none.bin", "-o", "no.cvbc")
    expect(done.returncode != 0 and "CVBC0024" in done.stderr, "all zeros are no program")
    lost = [(8, 4), (0, 0), (1, 5), (0x51, 9), (9, 0)]
    write("lost.bin", b"".join(struct.pack("<BBH", op, 0, imm) for op, imm in lost))
    done = penta_text("convert", "--from", "legacy", "lost.bin", "-o", "lost.cvbc")
    expect("CVBC0109" in done.stderr, "what cannot be repaired is told")


def test_exit_value():
    for source, code in ((b"int main() { return 7; }\n", 7), (b"int main() { return 256 + 3; }\n", 3)):
        write("value.ino", source)
        penta_text("compile", "value.ino", "-o", "value.cvbc")
        expect(penta_text("run", "-q", "value.cvbc", "--exit-value").returncode == code, "--exit-value is what main returns")
        expect(penta_text("run", "-q", "value.cvbc").returncode == 0, "without --exit-value a halt is 0")


def test_compiler():
    write("ok.ino", b"""int g[3]; int z = -70000;
int add(int a, int b) { return a + b; }
int even(int n);
int odd(int n) { if (n == 0) { return 0; } return even(n - 1); }
int even(int n) { if (n == 0) { return 1; } return odd(n - 1); }
int main() {
    int s = 0;
    for (int i = 0; i < 10; ++i) { if (i == 2) continue; if (i == 6) break; int d = i * 2; s += d; }
    g[1] = add(s, g[0] = 5);
    while (1) { int q = s; if (q > 0) { break; } }
    printf("%d %d %d %d %d\\n", s, g[1], z, even(7), s > 3 ? 'x' : 0x10);
    return 0;
}
""")
    for extra in ([], ["--portable"]):
        expect(penta_text("compile", "ok.ino", *extra, "-o", "ok.cvbc").returncode == 0, "compile")
        expect(penta_text("validate", "--strict", "ok.cvbc").returncode == 0, "the verifier has nothing to say")
        out = penta_text("run", "-q", "ok.cvbc").stdout
        expect(out.startswith("26 31 -70000 0 120\n"), "the program runs: " + out.split("\n")[0])
    code = json.loads(penta_text("inspect", "--json", "--select", "/bytecode/code", "ok.cvbc").stdout)
    flags = [f["value"] for n in code["tree"][0]["children"] for f in n["children"] if f["name"] == "flags"]
    expect(all(f in ("0x0", 0, "0x00") for f in flags), "portable code has no flags")
    for name, text, where in (("unknown", "void setup() {\n  x = 1;\n}\n", ":2:3"),
                              ("semicolon", "void setup() {\n  delay(5)\n}\n", ":2:11"),
                              ("arguments", "void setup() { delay(); }\n", ":1:16"),
                              ("entry", "int f() { return 1; }\n", ":1:1"),
                              ("no value", "void f() { }\nvoid setup() { int a = f(); }\n", ":2:24")):
        write("bad.ino", text.encode())
        done = penta_text("compile", "bad.ino", "-o", "bad.cvbc")
        expect(done.returncode == 1 and where in done.stderr, f"compile error {name}: {done.stderr}")
    write("trap.ino", SOURCE.encode())
    penta_text("compile", "trap.ino", "-o", "trap.cvbc")
    done = penta_text("run", "trap.cvbc")
    expect(done.returncode == 20 and "trap.ino" in done.stdout and "DIVISION_BY_ZERO" in done.stdout, "errors name file and line")


SKETCHES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cvbc", "sketches")
FUEL = {"debounce": 3000, "stepper": 1500, "morse": 1000, "dice": 12000, "traffic_light": 6000, "smoothing": 600, "blink_without_delay": 1000}


def folded(text):
    """Lines without the last, which counts instructions; repeated ones once, with their number."""
    lines = []
    for line in text.split("\n")[:-2]:
        if lines and lines[-1][0] == line:
            lines[-1][1] += 1
        else:
            lines.append([line, 1])
    return "".join(line + (f"   x{count}" if count > 1 else "") + "\n" for line, count in lines)


def test_sketches():
    """Sketches in the style that people publish: they compile without a change, and do to the pins what they should."""
    names = sorted(name[:-4] for name in os.listdir(SKETCHES) if name.endswith(".ino"))
    expect(len(names) == 10, "ten sketches")
    for name in names:
        path = os.path.join(SKETCHES, name)
        script = ["--script", path + ".script"] if os.path.exists(path + ".script") else []
        traces = []
        for extra in ([], ["--portable"]):
            done = penta_text("compile", path + ".ino", *extra, "-o", name + ".cvbc")
            expect(done.returncode == 0, f"{name} compiles: {done.stderr}")
            expect(penta_text("validate", "--strict", name + ".cvbc").returncode == 0, name + " is valid")
            fuel = FUEL.get(name, 400) * (4 if extra else 1)
            traces.append(folded(penta_text("run", "-q", "--fuel", str(fuel), "--board", "trace", *script, name + ".cvbc").stdout))
        if os.environ.get("ACCEPT"):
            write(path + ".trace", traces[0].encode())
        expected = open(path + ".trace").read()
        expect(traces[0] == expected, f"{name} does what it should:\n{traces[0]}")
        expect(traces[1].startswith(expected[:expected[:600].rindex("Delay")]),
               f"{name} does the same with instructions of the first engine:\n{traces[1][:300]}")


FEATURES = os.path.join(os.path.dirname(SKETCHES), "features")


def test_features():
    """Each part of the language, in sketches that print what they compute: NAME.ino prints NAME.out. What needs instructions of
    format 1.3 has a script, and --portable refuses it."""
    names = sorted(name[:-4] for name in os.listdir(FEATURES) if name.endswith(".ino"))
    expect(len(names) >= 5, "sketches of features")
    for name in names:
        script = os.path.exists(f"{FEATURES}/{name}.script")
        for extra in ([], ["--portable"]):
            done = penta_text("compile", f"{FEATURES}/{name}.ino", *extra, "-o", name + ".cvbc")
            if script and extra:
                expect(done.returncode == 1 and "which option '--portable' leaves out" in done.stderr, f"{name}: {done.stderr}")
                continue
            expect(done.returncode == 0, f"{name} compiles: {done.stderr}")
            expect(penta_text("validate", "--strict", name + ".cvbc").returncode == 0, name + " is valid")
            inputs = ["--script", f"{FEATURES}/{name}.script", "--fuel", "2000000"] if script else []
            got = penta_text("run", "-q", *inputs, name + ".cvbc").stdout
            wanted = open(f"{FEATURES}/{name}.out").read()
            expect(got[:got.rindex("\n", 0, -1) + 1].replace("halt", "") == wanted or got.rsplit("halt ", 1)[0] == wanted, f"{name} prints what it should:\n{got}")
    for bad, why in (("5 serial 4 1", "4 is more than 3"), ("5 serial 0 256", "256 is more than 255"), ("5 serial 0 1\n4 digital 2 1", "times must ascend"),
                     ("5 serial 0 x", "expected a number"), ("5 seril 0 1", "did you mean")):
        write("bad.script", bad + "\n")
        done = penta_text("run", "serial.cvbc", "--script", "bad.script")
        expect(done.returncode != 0 and why in done.stdout + done.stderr, f"{bad}: {done.stderr}")


def test_memory():
    """What the machine's memory cannot hold is an error with both sizes; a wrong address ends the program."""
    for text, why in (("int a[600], b[600]; int *p = a; int *q = b;", "need 1200 words of memory; the machine has 1024"),
                      ("int a[2000];", "an array has 1 to 1024 elements"), ("int a[40][40];", "an array of 1600 words; the memory has 1024"),
                      ("int f(int n) { int t[3]; return n ? f(n - 1) : t[0]; }", "'t' lies in memory, and 'f' calls itself"),
                      ("int f(int n) { int *p = &n; return n ? f(n - 1) : *p; }", "'n' lies in memory, and 'f' calls itself"),
                      ("union U { int a; byte b[4]; };", "members of a union that share memory"), ("struct S { String s; };", "a String inside a struct"),
                      ("byte *p; int *q = (int *)p;", "a pointer to another size"), ("#include \"none.h\"", "there is no header 'none.h' beside the sketch"),
                      ("#include \"../up.h\"", "there is no header"), ("int a[1000]; int *p = a; String s;" + "int t[20]; int *q = t;", "too few for Strings")):
        write("memory.ino", f"{text}\nint main() {{ return 0; }}\n".encode())
        done = penta_text("compile", "memory.ino", "-o", "never.cvbc")
        expect(done.returncode == 1 and why in done.stderr and done.stderr.count("error[") == 1, f"{text}: {done.stderr}")
    many = "".join(f"int v{i} = {i}; " for i in range(200)) + "int main() { return v0 + v63 + v64 + v199; }"
    write("many.ino", many.encode())
    penta_text("compile", "many.ino", "-o", "many.cvbc")
    expect(penta_text("run", "-q", "--exit-value", "many.cvbc").returncode == (63 + 64 + 199) & 255, "more variables than slots")
    for text in ("int *p; return *p;", "int *p = 0; *p = 1; return 0;", "int a[3]; int *p = a; return p[2000];", "const char *p = \"ab\"; return p[9];",
                 "String s; for (;;) s += \"more\";", "int (*f)(int) = 0; return f(1);", "int a[3]; int i = 3; return a[i];"):
        write("wild.ino", f"int main() {{ {text} }}\n".encode())
        expect(penta_text("compile", "wild.ino", "-o", "wild.cvbc").returncode == 0, text)
        done = penta_text("run", "-q", "wild.cvbc")
        expect(done.returncode == 20 and "MEMORY_BOUNDS" in done.stdout, f"{text}: {done.stdout}")
    for text, why in (("int " + "*" * 100000 + "p;", "a type of more than 100 types"), ("int a" + "[1]" * 300 + ";", "nested too deeply"),
                      ("".join(f"typedef t{i} *t{i + 1}; " for i in range(150)).replace("t0", "int", 1), "a type of more than 100 types"),
                      ("".join(f"struct s{i + 1} {{ struct s{i} m; }}; " for i in range(150)).replace("struct s0 m", "int m", 1), "a type of more than 100 types"),
                      ("int f(" * 50 + ")" * 50 + ";", "nested too deeply"), ("int f() { return " + "1 + g() * " * 1500 + "1; } int g() { return 1; }", "more than 1000 operators")):
        write("deep.ino", f"{text}\nint main() {{ return 0; }}\n".encode())
        done = penta_text("compile", "deep.ino", "-o", "never.cvbc", seconds=20)
        expect(done.returncode == 1 and why in done.stderr, f"{text[:60]}: {done.returncode} {done.stderr[:300]}")
    write("calls.ino", ("".join(f"void f{i}() {{ }} " for i in range(3000)) + "int main() { " + "".join(f"f{i % 3000}(); " for i in range(20000)) + "return 0; }\n").encode())
    expect(penta_text("compile", "calls.ino", "-o", "calls.cvbc", seconds=20).returncode == 0, "many calls")
    os.makedirs("below", exist_ok=True)
    write("below/bad.h", b"int fine;\nint wrong = ;\n")
    write("headers.ino", b"int a;\n#include \"below/bad.h\"\nint main() { return fine; }\n")
    done = penta_text("compile", "headers.ino", "-o", "never.cvbc")
    expect("below/bad.h:2:13: expected a value" in done.stderr and "headers.ino:2:1" in done.stderr and done.stderr.count("error[") == 1, done.stderr)


def test_sizes_and_reals():
    """Idioms of sizeof; one error for each thing that is not there, and none for its uses."""
    write("sizes.ino", b"int t[3][4]; byte b[5]; const char text[] = \"abc\";\n#define COUNT(a) (sizeof(a) / sizeof((a)[0]))\n"
                       b"int main() { printf(\"%d %d %d %d %d %d %d\", COUNT(t), COUNT(b), sizeof(t[0]), sizeof((t)[0][0]), sizeof(*t), sizeof(b) / sizeof *b * 0 + 1,"
                       b" sizeof(text)); return 0; }\n".replace(b"sizeof *b", b"sizeof(*b)"))
    expect(penta_text("compile", "sizes.ino", "-o", "sizes.cvbc").returncode == 0, "sizes")
    expect(penta_text("run", "-q", "sizes.cvbc").stdout.startswith("3 5 16 4 16 1 4halt"), penta_text("run", "-q", "sizes.cvbc").stdout)
    for parameter, bad in (("int a[]", "2"), ("int a[4][4]", "2"), ("int &a", "2"), ("const char *a", "2"), ("const byte a[3]", "2"), ("int (*a)(int)", "2")):
        write("parameter.ino", f"int f({parameter}) {{ return 1; }}\nint main() {{ return f({bad}); }}\n".encode())
        done = penta_text("compile", "parameter.ino", "-o", "never.cvbc")
        expect(done.stderr.count("error[") == 1 and ("argument 1 of f is int" in done.stderr or "has no address" in done.stderr), f"{parameter}: {done.stderr}")
    write("parameter.ino", b"int f(struct P p);\nvoid g(5);\nint main() { auto x = 1; return 0; }\n")
    done = penta_text("compile", "parameter.ino", "-o", "never.cvbc")
    expect(done.returncode == 1 and "without a size" in done.stderr and "write the type" in done.stderr, done.stderr)


def test_numbers():
    """Bases of print, octal and binary numbers; what has more than 32 bits is refused."""
    write("bases.ino", b"int main() { Serial.println(-1, OCT); Serial.println(10, BIN); Serial.println(0, BIN); Serial.print(255, 36); Serial.println(B1010 + 010);"
                       b" Serial.println(0xFFFFFFFFu, BIN); return 0; }\n")
    for more in ((), ("--portable",)):
        expect(penta_text("compile", "bases.ino", *more, "-o", "bases.cvbc").returncode == 0, "bases")
        expect(penta_text("run", "-q", "bases.cvbc").stdout.startswith("37777777777\n1010\n0\n7318\n" + "1" * 32 + "\nhalt"),
               penta_text("run", "-q", "bases.cvbc").stdout)
    for text, why in (("int x = 08;", "not a number"), ("unsigned long long x;", "long long is not there"), ("uint64_t x;", "32 bits"),
                      ("Serial.print(1, 37);", "a base is"), ("int x = 1.5 % 2;", "whole numbers")):
        write("no.ino", f"int main() {{ {text} return 0; }}\n".encode())
        expect(why in penta_text("compile", "no.ino", "-o", "never.cvbc").stderr, text)
    write("characters.ino", b"#define LINE '\\n'\nint main() { const int all[] = {'\\n', '\\t', '\\r', '\\0', '\\\\', '\\'', '\\\"', '\\x7f', '\"', LINE};"
                            b" for (int i = 0; i < 10; i++) { Serial.print(all[i]); Serial.print(' '); } Serial.print('\\n'); return 0; }\n")
    done = penta_text("compile", "characters.ino", "-o", "characters.cvbc")
    expect(done.returncode == 0, done.stderr)
    expect(penta_text("run", "-q", "characters.cvbc").stdout.startswith("10 9 13 0 92 39 34 127 34 10 \nhalt"),
           penta_text("run", "-q", "characters.cvbc").stdout)
    for text in ("'\n'", "''", "\'\'\'", "'ab'", "'\\q'", "'\\x'", "'\\400'", "'\\"):
        write("no.ino", f"int main() {{ return {text}; }}\n".encode())
        expect("a malformed character" in penta_text("compile", "no.ino", "-o", "never.cvbc").stderr, text)
    write("shift.ino", b"int main() { pinMode(2, OUTPUT); pinMode(3, OUTPUT); shiftOut(2, 3, LSBFIRST, 0x81); return 0; }\n")
    penta_text("compile", "shift.ino", "-o", "shift.cvbc")
    trace = penta_text("run", "-q", "shift.cvbc", "--board", "trace").stdout
    expect([line[-1] for line in trace.split("\n") if line.startswith("Digital write: pin 2")] == list("10000001"), trace)


def test_conditions():
    """Expressions of #if, as C has them."""
    macros = "#define ONE 1\n#define TWO (ONE + ONE)\n#define NONE\n#define F(x) x\n"
    for text, truth in (("1", 1), ("0", 0), ("ONE", 1), ("TWO == 2", 1), ("defined(ONE) && 0", 0), ("defined ONE && !defined(OTHER)", 1),
                        ("OTHER", 0), ("OTHER || TWO > ONE", 1), ("(1 + 2) * 3 == 9 && 7 % 4 == 3", 1), ("1 + 2 * 3 == 9", 0), ("NONE", 0),
                        ("-1 < 0", 1), ("~0 == -1", 1), ("1 << 4 == 16", 1), ("0x10 != 16", 0), ("6 & 2 | 8", 1), ("!(ONE && TWO)", 0)):
        write("if.ino", f"{macros}#if {text}\nint main() {{ return 7; }}\n#else\nint main() {{ return 8; }}\n#endif\n".encode())
        penta_text("compile", "if.ino", "-o", "if.cvbc")
        got = penta_text("run", "-q", "--exit-value", "if.cvbc").returncode
        expect(got == (7 if truth else 8), f"#if {text}: {got}")
    write("if.ino", b"#define MAX(a, b) ((a) > (b) ? (a) : (b))\nint main() { return MAX(MAX(1, 5), MAX(3, MAX(2, 4))); }\n")
    penta_text("compile", "if.ino", "-o", "if.cvbc")
    expect(penta_text("run", "-q", "--exit-value", "if.cvbc").returncode == 5, "a macro in its own arguments")
    nothing = "#define M0\n" + "".join(f"#define M{i + 1} M{i} M{i}\n" for i in range(60))
    write("if.ino", f"{nothing}int main() {{ return 1 M60; }}\n".encode())
    expect("more than a million macros" in penta_text("compile", "if.ino", "-o", "never.cvbc").stderr, "macros that double to nothing")
    write("if.ino", b"#define A(x) x\nint main() { return " + b"A(" * 3000 + b"1" + b")" * 3000 + b"; }\n")
    done = penta_text("compile", "if.ino", "-o", "never.cvbc")
    expect(done.returncode == 1 and "64 others" in done.stderr, f"macros nested too deep: {done.returncode}")
    write("if.ino", b"int main() {" + b";" * 1100000 + b"}\n")
    done = penta_text("compile", "if.ino", "-o", "never.cvbc")
    expect(done.returncode == 1 and "more than a million words" in done.stderr and "1 error" in done.stderr, "a long program")
    write("if.ino", b"#define b 7\n#define int long\nint main() { return max(2, b); }\n")
    penta_text("compile", "if.ino", "-o", "if.cvbc")
    expect(penta_text("run", "-q", "--exit-value", "if.cvbc").returncode == 7, "a macro with the name of a library's parameter")
    deep = "".join(f"#define M{i + 1} M{i} + M{i}\n" for i in range(60))
    for text in ("", "1 +", "(1", "1 2", '"a"', "1 / 0", "defined", "defined(1)", "(" * 100 + "1" + ")" * 100, "LOOP", "M60"):
        write("if.ino", f"{macros}#define LOOP LOOP\n#define M0 1\n{deep}#if {text}\n#endif\nint main() {{ return 7; }}\n".encode())
        done = penta_text("compile", "if.ino", "-o", "never.cvbc")
        expect(done.returncode == 1 and "#if takes" in done.stderr, f"#if {text}: {done.stderr}")


def test_debugging_with_inputs():
    """The debugger takes a script of inputs, and goes back before an edge and over it again."""
    script = f"{FEATURES}/interrupts.script"
    expect(penta_text("compile", f"{FEATURES}/interrupts.ino", "-o", "edges.cvbc").returncode == 0, "compile")
    write("commands", b"break onPress\ncontinue\nprint count\ncontinue\nprint count\nback 200\nprint count\ncontinue\nprint count\n")
    done = penta_text("debug", "edges.cvbc", "--inputs", script, "-x", "commands")
    values = [line for line in done.stdout.splitlines() if line in ("0", "1", "2")]
    expect(done.returncode == 0 and values[0] == "0" and values[1] == "1" and values[2] == "0" and len(values) == 4, done.stdout + done.stderr)
    done = penta_text("run", "edges.cvbc", "--inputs", script, "--script", script)
    expect(done.returncode == 2 and "either option '--script' or option '--inputs'" in done.stderr, done.stderr)
    expect(penta_text("run", "-q", "edges.cvbc", "--inputs", script, "--fuel", "2000000").stdout == penta_text("run", "-q", "edges.cvbc", "--script", script, "--fuel", "2000000").stdout, "run")


def test_compiler_refuses():
    """What the language lacks, and mistakes that are known when compiling: a message each, all in one run."""
    write("many.ino", b"""#include <Wire.h>
class Box { };
int full[4] = {1, 2, 3, 4, 5}; int table[4];
const int limit = 3;
int *p = 5;
struct Point { int x; Strin name; };
void setup() {
  limit = 4;
  table[4] = 1;
  int y = table[-1];
  int64_t s = 1;
  malloc(5);
  digitalWrit(13, HIGH);
  unknown(1);
  switch (limit) { case 1: case 1: break; }
  x = 2;
  goto nowhere;
  pinMode(25, OUTPUT);
  x = 3; x++;
}
""")
    done = penta_text("compile", "many.ino", "-o", "many.cvbc")
    expect(done.returncode == 1 and done.stderr.count("error[") == 15, f"an error for each: {done.stderr}")
    for line, text in ((2, "class is not part"), (3, "CVBC0049"), (5, "the value is int, not int *"), (6, "'Strin' is not a type"),
                       (8, "'limit' is constant"), (9, "index 4 of 'table', which has 4"), (10, "index -1 of 'table'"), (11, "numbers have 32 bits"),
                       (12, "no memory to allocate"), (13, "'digitalWrit' is not a function"), (14, "'unknown' is not a function"),
                       (15, "case 1 is there twice"), (16, "'x' is not declared"), (17, "label 'nowhere' is not there"), (18, "pins are 0 to 19")):
        expect(text in done.stderr and f"many.ino:{line}:" in done.stderr, f"line {line}: {text}: {done.stderr}")
    expect("did you mean 'digitalWrite'?" in done.stderr and "did you mean 'String'?" in done.stderr, done.stderr)
    # A library that is not there is one error, and its names are none.
    for text, says in (("#include <Servo.h>\nServo s;\nvoid setup() { s.attach(9); }\nvoid loop() { s.write(5); }\n", "there is no library 'Servo.h'"),
                       ('#include "own.h"\nvoid setup() { own(1); }\nvoid loop() { own(2); }\n', "there is no header 'own.h'"),
                       ("void setup() { Wire.begin(); }\nvoid loop() { Wire.write(1); Wire.read(); }\n", "Wire needs #include <Wire.h>"),
                       ("#include <Wire.h>\nvoid setup() { Wire.begin(8); }\nvoid loop() { }\n", "never a device at it"),
                       ("#include <Wire.h>\nvoid setup() { Wire.beginTransmision(8); }\nvoid loop() { }\n", "did you mean 'beginTransmission'?"),
                       ("#include <SPI.h>\nvoid setup() { SPI.transfer(1, 2, 3); }\nvoid loop() { }\n", "SPI.transfer does not take 3 arguments"),
                       ("int handler() { return 1; }\nvoid setup() { attachInterrupt(2, handler, RISING); }\nvoid loop() { }\n", "the handler is")):
        write("library.ino", text.encode())
        done = penta_text("compile", "library.ino", "-o", "library.cvbc")
        expect(done.returncode == 1 and done.stderr.count("error[") == 1 and says in done.stderr, f"{says}: {done.stderr}")
    # Members, constants and macros have a nearest name, too; what C refuses stays refused.
    for text, says in (("struct point { int x, height; } p;\nint main() { return p.heigth; }\n", "did you mean 'height'?"),
                       ("struct point { int x, height; } p = {.heigt = 1};\nint main() { return p.x; }\n", "did you mean 'height'?"),
                       ("void setup() { pinMode(3, OUTPUTT); }\nvoid loop() { }\n", "did you mean 'OUTPUT'?"),
                       ("#define LIMIT 5\nint main() { return LIMITT; }\n", "did you mean 'LIMIT'?"),
                       ("int main() { return LED_BUILTINN; }\n", "did you mean 'LED_BUILTIN'?"),
                       ("struct cell { int x; };\nstruct cell { int y; };\nint main() { return 0; }\n", "'cell' is defined twice"),
                       ("struct cell { int x; } cell;\nint cell;\nint main() { return 0; }\n", "'cell' is declared twice"),
                       ("int t[4] = {[4] = 1};\nint main() { return 0; }\n", "index 4, of 4"),
                       ("int t[4] = {[1] = 1, 2, 3, 4};\nint main() { return 0; }\n", "more values than 't' has elements"),
                       ("int a[4]; char b[4];\nint main() { memcpy(a, b, 4); return 0; }\n", "elements of one size"),
                       ("const int a[2] = {1, 2}; int b[2];\nint main() { memcpy(a, b, 8); return 0; }\n", "would change what is constant"),
                       ("struct s { int x, y; } a;\nint main() { memset(&a, 1, sizeof a); return 0; }\n", "only 0 is known for all members")):
        write("near.ino", text.encode())
        done = penta_text("compile", "near.ino", "-o", "near.cvbc")
        expect(done.returncode == 1 and done.stderr.count("error[") == 1 and says in done.stderr, f"{says}: {done.stderr}")
    write("portable.ino", b"#include <Wire.h>\nvoid setup() { Wire.begin(); tone(3, 400); }\nvoid loop() { Wire.write(Serial.read()); }\n")
    done = penta_text("compile", "portable.ino", "--portable", "-o", "portable.cvbc")
    expect(done.returncode == 1 and done.stderr.count("error[") == 1 and "needs an instruction of format 1.3" in done.stderr, done.stderr)
    write("pins.ino", b"void setup() { pinMode(13, OUTPUT); digitalWrite(12, 1); }\nvoid loop() { }\n")
    done = penta_text("compile", "pins.ino", "--pin", "C13:gpio:output", "-o", "pins.cvbc")
    expect(done.returncode == 1 and "CVBC0050" in done.stderr and "pin 12, which is not declared" in done.stderr, done.stderr)
    for name, text in (("endless macro", b"#define A A B\n#define B A\nint A;"), ("half a macro", b"#define M(x) x\nint main() { return M(1; }"),
                       ("open condition", b"#if 1\nint main() { return 0; }"), ("no comment end", b"int main() { } /*"), ("nothing but space", b" \n"),
                       ("huge macro", b"".join(b"#define A%d A%d A%d\n" % (i, i - 1, i - 1) for i in range(1, 40)) + b"A39\n")):
        write("odd.ino", text)
        expect(penta_text("compile", "odd.ino", "-o", "odd.cvbc").returncode == 1, name)


def test_hints():
    """The compiler says what is hot, cold and how often loops run; the machine runs hot code faster, with the same steps and states."""
    write("hot.ino", b"""int g; int lower = 3;
int main() {
  int s = 0, n = 20;
  for (int i = 0; i < 9; i++) { s += i; if (i == 4) { g += 2; } }
  while (g < 7) { g = g + 1; n -= 3; }
  for (int k = 0; k < n; k++) s = s + k;
  do { s--; } while (s > lower);
  return s;
}
""")
    expect(penta_text("compile", "hot.ino", "-o", "hot.cvbc").returncode == 0, "compile")
    hints = [line.split()[1:] for line in penta_text("dis", "hot.cvbc").stdout.split("\n") if line.startswith(".hint")]
    kinds = [h[0] for h in hints]
    expect(kinds.count("1,") == 4 and kinds.count("2,") == 1 and kinds.count("3,") == 1, f"regions: {hints}")
    unrolled = next(h for h in hints if h[0] == "3,")
    expect(unrolled[2].startswith("09"), f"nine rounds: {unrolled}")
    for fuel in range(1, 400):
        fast, plain = (penta_text("run", "-q", "--fuel", str(fuel), *more, "hot.cvbc").stdout for more in ((), ("--plain",)))
        expect(fast == plain, f"after {fuel} steps: {fast} {plain}")
        if fast.startswith("halt"):
            break
    write("marks", b"break 13\nbreak 14\nbreak 15\ncontinue\ncontinue\ncontinue\nquit\n")
    listing = penta_text("debug", "hot.cvbc", "-x", "marks").stdout
    expect(listing.count("break pc=") == 3, "marks inside hot code: " + listing[:600])
    done = penta_text("create", "p.cvasm", "--hint", "hot_path:0-2", "--hint", "loop_unroll=4:1-2:200", "-o", "hinted.cvbc")
    expect(done.returncode == 0 and ".hint 1, 128, 00000200" in penta_text("dis", "hinted.cvbc").stdout and
           ".hint 3, 200, 0401000200" in penta_text("dis", "hinted.cvbc").stdout,
           done.stderr)
    for bad in ("hot:1-2", "hot_path:5", "hot_path:9-3", "hot_path=3:1-2", "loop_unroll=0:1-2", "hot_path:1-2:0", "cache_friendly:1-2"):
        expect(penta_text("create", "p.cvasm", "--hint", bad, "-o", "x.cvbc").returncode == 2, bad)
    for bad, why in (("cache_friendly:2-5", ".hint in the text gives the bytes"), ("hot_path:5", "is not TYPE[=N]:FIRST-LAST"),
                     ("hot_path:9-3", "FIRST is at most LAST"), ("hot_path:1-2:0", "a priority is 1 to 255"), ("9:1-2", "types are 1 to 6"),
                     ("hot_path=3:1-2", "only loop_unroll"), ("loop_unroll=0:1-2", "1 to 255 times")):
        said = penta_text("create", "p.cvasm", "--hint", bad, "-o", "x.cvbc").stderr
        expect(f"option '--hint': '{bad}'" in said and why in said, said)
    for bad, why in ((["--pin", "C256:gpio:output"], "0 to 255"), (["--dependency", "sixteen_letters_:1.0"], "at most 15 bytes")):
        done = penta_text("create", "p.cvasm", *bad, "-o", "x.cvbc")
        expect(done.returncode == 2 and why in done.stderr, done.stderr)
    every = "c13:gpio:output:pull=up:drive=2:frequency_hz=100:alternate=7:initial=1:flags=3"
    listed = (".pin C13 pin_function=gpio pin_mode=output pin_pull=up pin_drive_strength=2 pin_frequency_hz=100 pin_alternate_function=0x7 "
              "pin_initial_state=1 pin_flags=0x3")
    penta_text("create", "p.cvasm", "--pin", every, "-o", "pins.cvbc")
    expect(listed in penta_text("dis", "pins.cvbc").stdout, "every field of a pin")
    write("pins.cvasm", listed.replace("C13", "c13") + "\n    HALT\n")
    penta_text("asm", "pins.cvasm", "-o", "again.cvbc")
    expect(listed in penta_text("dis", "again.cvbc").stdout, "the same pin in the text")
    for bad in ("pull=9999", "mode=1", "number=4", "pul=1", "=1", "flags=256", "frequency_hz=65536"):
        done = penta_text("create", "p.cvasm", "--pin", f"C13:gpio:output:{bad}", "-o", "x.cvbc")
        expect(done.returncode == 2 and "is not PIN:FUNCTION:MODE" in done.stderr, f"{bad}: {done.stderr}")
    write("wild.cvasm", b".hint hot_path, 1, 0000ffff ffff0000 00\n.hint hot_path, 1, 0000ffff0000ffff0000ffff\n    PUSH 1\n    HALT\n")
    expect(penta_text("asm", "wild.cvasm", "-o", "wild.cvbc").returncode == 0 and
           penta_text("run", "-q", "wild.cvbc").stdout.startswith("halt pc=1"),
           "any hint is only a hint")


def test_tokens():
    """Keys that stay in a token: signed over PKCS #11, checked like any signature."""
    library = next((p for p in glob.glob("/usr/lib/softhsm/libsofthsm2.so") + glob.glob("/usr/lib/*/softhsm/libsofthsm2.so")), None)
    if not library or not shutil.which("softhsm2-util"):
        print("SoftHSM2 is not there: tokens are not tested")
        return
    os.makedirs("tokens", exist_ok=True)
    write("softhsm2.conf", f"directories.tokendir = {os.getcwd()}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n".encode())
    os.environ["SOFTHSM2_CONF"] = os.path.abspath("softhsm2.conf")
    write("pin", b"1234\n")
    write("wrong", b"4321\n")
    tool = lambda *args: run_program("softhsm2-util", *args, text=True)
    expect(tool("--init-token", "--free", "--label", "test", "--pin", "1234", "--so-pin", "5678").returncode == 0, "a token")
    for number, kind in enumerate(("ed25519", "p256", "rsa2048")):
        penta_text("keygen", "--type", kind, "-o", f"t-{kind}.pem")
        penta_text("pubkey", f"t-{kind}.pem", "-o", f"t-{kind}.pub")
        run_program("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", f"t-{kind}.pem", "-out", "t.p8", needed=True)
        done = tool("--import", "t.p8", "--token", "test", "--label", kind, "--id", str(number + 10), "--pin", "1234")
        expect(done.returncode == 0, f"import {kind}: {done.stderr}")
        token = ["--pkcs11-module", library, "--pkcs11-key", kind, "--public-key", f"t-{kind}.pub"]
        done = penta_text("sign", "p.cvbc", *token, "--pin-file", "pin", "-o", "token.cvbc")
        expect(done.returncode == 0, f"{kind}: {done.stderr}")
        expect(penta_text("verify", "token.cvbc", "--trusted-key", f"t-{kind}.pub").returncode == 0, f"{kind} verifies")
        done = penta_text("sign", "p.cvbc", *token, "--pin-file", "wrong", "-o", "none.cvbc")
        expect(done.returncode == 4 and "it is a wrong PIN" in done.stderr and "0x" not in done.stderr, done.stderr)
        expect(not os.path.exists("none.cvbc"), "nothing is written")
    token = ["--pkcs11-module", library, "--pin-file", "pin"]
    done = penta_text("sign", "p.cvbc", *token, "--pkcs11-key", "nobody", "--public-key", "t-p256.pub", "-o", "none.cvbc")
    expect(done.returncode == 2 and "no private key 'nobody'" in done.stderr, done.stderr)
    done = penta_text("sign", "p.cvbc", *token, "--pkcs11-key", "p256", "--public-key", "t-ed25519.pub", "-o", "none.cvbc")
    expect(done.returncode in (1, 6) and not os.path.exists("none.cvbc"), "another public key: " + done.stderr)
    expect(penta_text("sign", "p.cvbc", *token, "-o", "none.cvbc").returncode == 2, "label and public key are needed")
    done = penta_text("sign", "p.cvbc", "--pkcs11-module", "./pin", "--pkcs11-key", "p256", "--pin-file", "pin", "--public-key", "t-p256.pub", "-o", "none.cvbc")
    expect(done.returncode == 4 and "not a PKCS #11 library" in done.stderr, done.stderr)


SIMULATION = """
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include "out/trinity_board.h"
static uint32_t at(uintptr_t a) { return *(volatile uint32_t *)a; }
int main(void)
{
    void *gpio = mmap((void *)0x48000000, 0x2000, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *rcc = mmap((void *)0x40021000, 0x1000, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (gpio == MAP_FAILED || rcc == MAP_FAILED) return 77;
    trinity_board_init();
    uint32_t bsrr = at(0x48000818);
    trinity_pc13_write(1);
    uint32_t high = at(0x48000818);
    trinity_pc13_write(0);
    uint32_t low = at(0x48000818);
    *(volatile uint32_t *)0x48000810 = 0x2000;
    printf("%x %x %x %x %x %d %x %x\\n", at(0x4002104C), at(0x48000800), bsrr, high, low, trinity_pc13_read(),
           at(0x48000000), at(0x48000024));
    return 0;
}
"""


PROGRAMS = {"main": b'.string "first"\n PUSH 0\n PRINTF 0\n HALT\n', "third": b'.string "third"\n PUSH 0\n PRINTF 0\n HALT\n'}


def test_programs():
    write("main.cvasm", PROGRAMS["main"])
    write("third.cvasm", PROGRAMS["third"])
    write("second.ino", b'int main() { int n = 0; for (int i = 0; i < 5; i++) n += i; printf("second %d", n); return n; }\n')
    names = ("main", "second", "third")
    expect(penta_text("create", "main.cvasm", "second.ino", "third.cvasm", "-o", "three.cvbc").returncode == 0, "create of several")
    said = {name: penta_text("run", "-q", "three.cvbc", "--program", name).stdout.split("halt")[0] for name in names}
    expect(said == {"main": "first", "second": "second 10", "third": "third"}, f"each program runs: {said}")
    expect(penta_text("run", "-q", "three.cvbc").stdout.startswith("first"), "without a name the first")
    for command in (["trace"], ["profile"], ["cover"], ["size"], ["graph", "--calls"], ["info"], ["dis"]):
        one, other = (penta_text(*command, "three.cvbc", "--program", name) for name in ("main", "second"))
        expect(one.returncode == other.returncode == 0 and one.stdout != other.stdout, f"{command} --program")
    expect(penta_text("dis", "three.cvbc", "--program", "third", "-o", "t.cvasm").returncode == 0 and
           penta_text("asm", "t.cvasm", "-o", "t.cvbc").returncode == 0 and
           penta_text("extract", "three.cvbc", "--program", "third", "--part", "program", "-o", "out.cvbc").returncode == 0 and
           read("t.cvbc") == read("out.cvbc"),
           "one program alone, as text and as it is")
    done = penta_text("run", "three.cvbc", "--program", "secnd")
    expect(done.returncode == 1 and "did you mean 'second'" in done.stderr, "a name that is near")
    expect("there are main, second, third" in penta_text("run", "three.cvbc", "--program", "zzz").stderr, "no name is near")
    expect("one program" in penta_text("run", "out.cvbc", "--program", "main").stderr, "a file with one program")
    for wrong, why in ((["main.cvasm", "main.cvasm"], "two programs are called 'main'"), (["main.cvasm", "a b=third.cvasm"], "no name"),
                       (["main.cvasm", "three.cvbc"], "holds programs itself"), (["main.cvasm", "x" * 32 + "=third.cvasm"], "no name")):
        done = penta_text("create", *wrong, "-o", "wrong.cvbc")
        expect(done.returncode == 1 and why in done.stderr and not os.path.exists("wrong.cvbc"), f"{wrong}: {done.stderr}")
    penta_text("create", "main.cvasm", "--target", "stm32g431", "--pin", "C13:gpio:output", "-o", "first.cvbc")
    penta_text("create", "main.cvasm", "--target", "stm32g431", "--pin", "B2:gpio:output", "-o", "other.cvbc")
    penta_text("create", "first.cvbc", "other.cvbc", "-o", "pins.cvbc")
    expect(penta_text("board", "generate", "pins.cvbc", "-o", "pins").returncode == 0 and
           [p["pin"] for p in json.load(open("pins/trinity_board.json"))["pins"]] == [2, 13],
           "a board for all programs")
    many = [f"p{i}=third.cvasm" for i in range(256)]
    expect(penta_text("create", *many, "-o", "many.cvbc").returncode == 0 and
           penta_text("run", "-q", "many.cvbc", "--program", "p255").returncode == 0 and
           penta_text("validate", "many.cvbc").returncode == 0,
           "256 programs")
    expect(penta_text("create", *many, "more=third.cvasm", "-o", "more.cvbc").returncode == 7, "257 programs")


def test_programs_protected():
    """One signature and one key for all; nothing can be cut off, exchanged or renamed."""
    signer, public = key("signer.pem"), key("signer.pub")
    expect(penta_text("sign", "three.cvbc", "--sign-key", signer, "-o", "signed.cvbc").returncode == 0 and
           penta_text("verify", "signed.cvbc", "--trusted-key", public).returncode == 0,
           "one signature over all")
    expect(penta_text("seal", "three.cvbc", "--key-file", key("symmetric.hex"), "-o", "x.cvbc").returncode == 1,
           "debug data of another program")
    expect(penta_text("seal", "three.cvbc", "--key-file", key("symmetric.hex"), "--keep-debug", "-o", "sealed.cvbc").returncode == 0 and
           penta_text("run", "-q", "sealed.cvbc", "--key-file", key("symmetric.hex"), "--program", "third").stdout.startswith("third") and
           penta_text("run", "-q", "sealed.cvbc", "--program", "third").returncode == 6,
           "one key for all")
    expect(b"third" not in read("sealed.cvbc").replace(b"third\0", b""), "no text of a sealed program is readable")
    expect(penta_text("open", "sealed.cvbc", "--key-file", key("symmetric.hex"), "-o", "opened.cvbc").returncode == 0 and
           read("opened.cvbc") == read("three.cvbc"),
           "opened as it was")
    for name in ("three.cvbc", "signed.cvbc", "sealed.cvbc"):
        expect(penta_text("roundtrip", name).returncode == 0, f"{name} comes back from its text")
    whole = read("signed.cvbc")
    bad = [n for n in range(8, len(whole), 7) if penta_text("validate", write("cut.cvbc", whole[:n])).returncode not in (1, 4, 5)]
    expect(not bad, f"cut at {bad}")
    at = whole.index(b"third\0\0")  # its name in the directory
    renamed = bytearray(whole)
    renamed[at:at + 5] = b"fifth"
    done = penta_text("verify", write("renamed.cvbc", fix(renamed)), "--trusted-key", public)
    expect(done.returncode == 1 and "CVBC0018" in done.stderr, "renamed in a signed file")
    sealed = read("sealed.cvbc")  # without a signature the cipher of the first program covers the names
    at, (metadata, size, security) = sealed.index(b"third\0\0"), struct.unpack("<3I", sealed[16:28])
    sealed[at:at + 5] = b"fifth"
    integrity = security + 20
    sealed[integrity + 64:integrity + 96] = hashlib.sha256(sealed[metadata:metadata + size]).digest()
    sealed[integrity + 96:integrity + 100] = hashlib.sha256(sealed[integrity:integrity + 96]).digest()[:4]
    done = penta_text("run", "-q", write("renamed.cvbc", fix(sealed)), "--key-file", key("symmetric.hex"), "--program", "fifth")
    expect(done.returncode == 6 and "CVBC0019" in done.stderr, "renamed in a sealed file: " + done.stderr)
    exchanged = read("three.cvbc")
    at = exchanged.rindex(b"third")
    exchanged[at] ^= 1
    done = penta_text("validate", write("exchanged.cvbc", fix(exchanged)))
    expect(done.returncode == 1 and "CVBC0008" in done.stderr and "in program 'third'" in done.stderr, "changed inside: " + done.stderr)
    done = penta_text("sign", "exchanged.cvbc", "--sign-key", signer, "--resign", "-o", "never.cvbc")
    expect(done.returncode == 1 and not os.path.exists("never.cvbc"), "a changed program is not signed: " + done.stderr)


def test_security_section_cut_short():
    """One that is shorter than its fixed part is said to be; nothing of it is read."""
    penta_text("asm", "p.cvasm", "-o", "p.cvbc")
    penta_text("sign", "p.cvbc", "--sign-key", key("rsa2048.pem"), "-o", "whole.cvbc")
    whole = read("whole.cvbc")
    whole[28:32] = struct.pack("<I", 8)
    done = penta_text("validate", write("short.cvbc", fix(whole)))
    expect(done.returncode == 1 and "security section" in done.stderr, "a short security section: " + done.stderr)


def test_boards():
    penta_text("create", "p.cvasm", "--target", "stm32g431", "--pin", "C13:gpio:output", "--min-flash", "128", "--min-ram", "32",
          "-o", "one.cvbc")
    penta_text("create", "p.cvasm", "--target", "stm32g431", "--pin", "A8:pwm_out:alternate:alternate=6:frequency_hz=1000",
          "-o", "two.cvbc")
    expect(penta_text("board", "generate", "one.cvbc", "two.cvbc", "-o", "out").returncode == 0, "board generate")
    first = {f: bytes(read(f)) for f in glob.glob("out/*")}
    penta_text("board", "generate", "two.cvbc", "one.cvbc", "-o", "out")
    expect(first == {f: bytes(read(f)) for f in glob.glob("out/*")} and len(first) == 4, "generation is reproducible")
    board = json.loads(read("out/trinity_board.json"))
    expect(board["logical_pins"] == {"8": "PA8", "13": "PC13"} and board["features"] == ["GPIO", "PWM", "TIMERS"],
           "logical pins and features")
    write("sim.c", SIMULATION.encode())
    built = run_program("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "sim.c", "-o", "sim", text=True)
    expect(built.returncode == 0, "the C header compiles: " + built.stderr)
    ran = run_program("./sim", text=True)
    expect(ran.returncode == 77 or ran.stdout == "5 4000000 20000000 2000 20000000 1 20000 6\n",
           "writes arrive in the registers: " + ran.stdout)
    write("pins.cpp", b'#include "out/trinity_pins.hpp"\nint main() { trinity::logical_pin<13>::write(true); }\n')
    write("none.cpp", b'#include "out/trinity_pins.hpp"\nint main() { trinity::logical_pin<12>::write(true); }\n')
    write("headers.cpp", b"#include <cstdint>\nstd::uint32_t n;\n")
    write("headers.c", b"#include <stdint.h>\nuint32_t n;\n")

    def usable(compiler, source):   # the library's headers for microcontrollers are a package of their own
        if not shutil.which(compiler):
            return False
        found = run_program(compiler, "-fsyntax-only", source).returncode == 0
        if not found:
            print(f"{compiler} has no headers of the library: skipped")
        return found

    for compiler in ("c++", "arm-none-eabi-g++"):
        if not usable(compiler, "headers.cpp"):
            continue
        args = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        expect(run_program(*args, "pins.cpp").returncode == 0, compiler + " takes the pins")
        expect(run_program(*args, "none.cpp").returncode != 0, "undeclared pins do not compile")
    if usable("arm-none-eabi-gcc", "headers.c"):
        args = ["arm-none-eabi-gcc", "-std=c11", "-Wall", "-fsyntax-only", "-x", "c", "out/trinity_board.h"]
        expect(run_program(*args).returncode == 0, "arm-none-eabi-gcc takes the header")
    done = penta_text("board", "check", "one.cvbc", "--board", "esp32-c3")
    expect(done.returncode == 1 and done.stderr.count("CVBC0023") == 4, "every reason is told")
    expect(penta_text("board", "check", "one.cvbc", "--board", "stm32g431").returncode == 0, "it fits")
    write("mine.board", b"# mine\nname = mine\narchitecture = arm\nfamily = stm32\nvariant = 0x431\nfeatures = 0x1\n"
                        b"flash_kb = 64\nram_kb = 32\nports = 3\npins = 16\n")
    done = penta_text("board", "check", "one.cvbc", "--board", "./mine.board")
    expect(done.returncode == 1 and "flash" in done.stderr, "a board from a file")
    expect(penta_text("run", "-q", "one.cvbc", "--board", "esp32-c3").returncode == 1, "run refuses what does not fit")
    expect(penta_text("run", "-q", "one.cvbc", "--board", "stm32g431").returncode == 0, "run takes what fits")
    old = {f: os.stat(f).st_ino for f in glob.glob("out/*")}
    penta_text("board", "generate", "one.cvbc", "two.cvbc", "-o", "out")
    expect(old == {f: os.stat(f).st_ino for f in glob.glob("out/*")}, "files that do not change are not written")
    write("masks.cvasm", b".target target_architecture=arm uart_instances_mask=0x21 i2c_instances_mask=8 spi_instances_mask=8 timer_instances_mask=0x80\n"
                         b".target adc_channels_mask=0x80 dac_channels_mask=0x10 interrupt_priority_mask=0x8001 dma_channels_mask=0x9000\n"
                         b".target max_interrupt_latency_us=1\n    HALT\n")
    penta_text("asm", "masks.cvasm", "-o", "masks.cvbc")
    # Instances are counted from 1, channels from 0: bit 5 is UART 6, and timer 8, bit 7, is there.
    reasons = ("UART 6, stm32g431 has 1 to 5", "I2C 4, stm32g431 has 1 to 3", "SPI 4,", "DAC channel 4, stm32g431 has 0 to 3", "DMA channel 12,",
               "DMA channel 15,")
    for command in (["validate"], ["board", "check"], ["run"]):
        done = penta_text(*command, "--board", "stm32g431", "masks.cvbc")
        expect(done.returncode == 1 and all(r in done.stderr for r in reasons) and done.stderr.count("error[CVBC0023]") == 6,
               f"{command}: {done.stderr}")
    done = penta_text("validate", "--board", "fe310", "masks.cvbc")
    expect("ADC channel 7, fe310 has none" in done.stderr and "interrupts within 1 us, fe310 may take 5" in done.stderr and
           "architecture arm, board fe310 has riscv" in done.stderr and "priority 15, fe310 has 0 to 6" in done.stderr,
           done.stderr)
    expect(penta_text("validate", "--board", "stm32g474", "one.cvbc").returncode == 1, "validate --board")
    write("needs.cvasm", b".target target_features=0x9400\n    HALT\n")  # CRYPTO, CAN, DISPLAY
    penta_text("asm", "needs.cvasm", "-o", "needs.cvbc")
    for board, missing in (("stm32g431", "CRYPTO DISPLAY"), ("esp32-c3", "DISPLAY"), ("nrf52840", "CAN DISPLAY"), ("esp32", "")):
        done = penta_text("board", "check", "needs.cvbc", "--board", board)
        expect((done.returncode == 0) == (not missing) and all(m in done.stderr for m in missing.split()) and
               done.stderr.count("error[CVBC0023]") == len(missing.split()),
               f"{board}: {done.stderr}")
    expect(penta_text("validate", "--board", "host", "masks.cvbc").returncode == 0, "the host takes everything")
    write("fits.cvasm", b".target target_features=5 min_flash_kb=64 min_ram_kb=32 max_heap_bytes=32768 uart_instances_mask=3 dma_channels_mask=0x8000\n"
                        b".target max_interrupt_latency_us=7\n"
                        b".dependency lib_name=\"uart\" min_version_major=2 min_version_minor=5 criticality=required compatibility_level=abi\n"
                        b".dependency lib_name=\"can\" min_version_major=9 criticality=recommended compatibility_level=api\n    HALT\n")
    penta_text("asm", "fits.cvasm", "-o", "fits.cvbc")
    room = {"name": "room", "features": 5, "flash_kb": 64, "ram_kb": 32, "uarts": 2, "dma_channels": 16, "latency_us": 7, "library": "uart 2.5"}
    for change, says in (({}, None), ({"library": "uart 2.6"}, None), ({"library": "uart 3.0"}, None), ({"library": "uart 2.4"}, "library uart 2.5 is required, room does not have it"),
                         ({"library": "uart 1.9"}, "library uart 2.5"), ({"library": "uarts 2.5"}, "library uart 2.5"), ({"library": "uar 2.5"}, "library uart 2.5"),
                         ({"features": 4}, "feature"), ({"flash_kb": 63}, "64 KB of flash, room has 63"), ({"ram_kb": 31}, "32 KB of RAM, room has 31"),
                         ({"uarts": 1}, "UART 2, room has 1 to 1"), ({"dma_channels": 15}, "DMA channel 15, room has 0 to 14"), ({"latency_us": 8}, "interrupts within 7 us, room may take 8")):
        write("room.board", "".join(f"{k} = {v}\n" for k, v in {**room, **change}.items()).encode())
        done = penta_text("board", "check", "fits.cvbc", "--board", "./room.board")
        reasons = done.stderr.count("error[CVBC0023]")
        expect((done.returncode == 0 and not reasons) if says is None else (done.returncode == 1 and says in done.stderr and reasons == 1 + ("ram_kb" in change)),
               f"a board with {change}: {done.stderr}")
    done = penta_text("create", "p.cvasm", "--pin", "A1:gpoi:output", "-o", "x.cvbc")
    expect("none of gpio, uart_tx" in done.stderr and "did you mean" in done.stderr, done.stderr)
    expect("none of input, output, alternate, analog" in penta_text("create", "p.cvasm", "--pin", "A1:gpio:out", "-o", "x.cvbc").stderr,
           "modes")
    text = penta_text("help", "create").stdout
    expect("pwm_out" in text and "alternate" in text, "help names functions and modes: " + text)


sys.exit(in_one_folder(tests_of(globals())))
