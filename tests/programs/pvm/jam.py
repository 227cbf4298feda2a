#!/usr/bin/env python3
"""The token service of examples/jam over ten blocks: packages are authorized and refined, their reports
accumulated by penta block, and the balances compared with a model, on every engine. The programs are those
beside the sources, and once more what the sources compile to where penta-cc has its compiler.

    jam.py PENTA
"""
import hashlib
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from keccak import keccak
from support import PENTA, ROOT, call, expect, run_program, summary
from llvm import llvm

TOKEN, BANK = 1000, 1001
BLOCKS = 10
ZERO = "00" * 32

# Sends 70 to the token service, for token account 3.
BANK_SOURCE = """%dialect = jam
%isa = latest64
%metadata = 00
%stack_size = 4096
%rw_data = 03
%heap_pages = 1
    trap
    %hole 00 00 00 00
    a0 = 1000
    a1 = 70
    a2 = 50000
    a3 = 0x20000
    ecalli 20
    a0 = 0
    a1 = 0
    ret
"""


def penta(*args):
    done = call(*args)
    if done.returncode not in (0, 20):
        print(" ".join(args), done.stdout.decode()[-500:], done.stderr.decode()[-500:])
    return done


def blake(data):
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def write(path, document):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(document, out)
    return path


class Model:
    """What the balances should be."""

    def __init__(self):
        self.balances, self.moves = {}, 0

    def move(self, source, to, amount):
        if source == to or source and self.balances.get(source, 0) < amount or \
                to and self.balances.get(to, 0) + amount >= 1 << 64:
            return
        if source:
            self.balances[source] = self.balances.get(source, 0) - amount
        if to:
            self.balances[to] = self.balances.get(to, 0) + amount
        self.moves += 1


def payload_of(moves):
    return b"".join(struct.pack("<IIQ", *m) for m in moves)


def report(number, service, code, output, needs=()):
    return {
        "package_spec": {"hash": blake(b"package %d" % number), "length": 1, "erasure_root": ZERO,
                         "exports_root": ZERO, "exports_count": 0},
        "context": {"anchor": ZERO, "state_root": ZERO, "beefy_root": ZERO, "lookup_anchor": ZERO,
                    "lookup_anchor_slot": 0, "prerequisites": list(needs)},
        "core_index": number % 2, "authorizer_hash": ZERO,
        "results": [{"service_id": service, "code_hash": code, "payload_hash": ZERO,
                     "accumulate_gas": 100000, "result": {"ok": output.hex()}}]}


def package(authorizer, code, payload, token):
    return {"package": {
        "auth_code_host": TOKEN, "auth_code_hash": blake(authorizer),
        "context": {"anchor": ZERO, "state_root": ZERO, "beefy_root": ZERO, "lookup_anchor": ZERO,
                    "lookup_anchor_slot": 1, "prerequisites": []},
        "authorization": token, "authorizer_config": "736563726574",
        "items": [{"service": TOKEN, "code_hash": code, "refine_gas_limit": 100000,
                   "accumulate_gas_limit": 100000, "payload": payload.hex()}]}}


def refine(work, engine, authorizer, token, moves):
    """What is-authorized and refine make of the payload, run for real."""
    payload = payload_of(moves)
    code = blake(open(token, "rb").read())
    path = write(os.path.join(work, "package.json"),
                 package(open(authorizer, "rb").read(), code, payload, "736563726574"))
    granted = penta("run", authorizer, "--host", "jam", "--entry", "is-authorized", "--package", path,
                    "--engine", engine, "--json")
    expect(json.loads(granted.stdout)["jam"]["exit"] == "halt", "the authorizer grants its token")
    done = json.loads(penta("run", token, "--host", "jam", "--entry", "refine", "--package", path,
                            "--engine", engine, "--json").stdout)
    expect(done["jam"]["exit"] == "halt" and bytes.fromhex(done["result"]) == payload, "refine hands on")
    return bytes.fromhex(done["result"])


def balances(state):
    account = next(a for a in state["accounts"] if a["id"] == TOKEN)
    return {struct.unpack("<I", bytes.fromhex(k)[1:])[0]: struct.unpack("<Q", bytes.fromhex(v))[0]
            for k, v in account["storage"].items() if k.startswith("62")}


def ten_blocks(work, engine, token, authorizer, bank):
    model, random_moves = Model(), random.Random(7)
    state = write(os.path.join(work, "state-0.json"), {
        "chain": "tiny", "slot": 10,
        "accounts": [{"id": TOKEN, "balance": 1000000, "code": "@token.jam"},
                     {"id": BANK, "balance": 1000000, "code": "@bank.jam"}]})
    code = blake(open(token, "rb").read())
    held, files = None, []
    for n in range(BLOCKS):
        moves = [(0 if random_moves.random() < 0.2 else random_moves.randrange(1, 6),
                  random_moves.randrange(0, 6), random_moves.randrange(0, 100)) for _ in range(8)]
        if n == 8:
            moves[3] = (0, 2, (1 << 64) - 1)  # more than anybody can own
        output = refine(work, engine, authorizer, token, moves)
        reports, applied = [report(n, TOKEN, code, output)], [moves]
        if n == 4:  # waits for the report of the next block
            reports, applied = [report(n, TOKEN, code, output, [blake(b"package 5")])], []
            held = moves
        if n == 5:
            applied = [moves, held]
        if n == 7:
            reports.append(report(100, BANK, blake(open(bank, "rb").read()), b""))
        for some in applied:
            for m in some:
                model.move(*m)
        if n == 7:
            model.move(0, 3, 70)
        block = write(os.path.join(work, f"block-{n}.json"),
                      {"slot": 11 + n, "entropy": blake(b"entropy %d" % n), "reports": reports,
                       "preimages": []})
        files.append(block)
        following = os.path.join(work, f"state-{n + 1}.json")
        done = json.loads(penta("block", state, block, "--engine", engine, "--save-state", following,
                                "--json").stdout)["blocks"][0]
        expect(done["rounds"] == (2 if n == 7 else 0 if n == 4 else 1), f"{engine}: rounds of block {n}")
        state = following
        now = json.load(open(state))
        expect(balances(now) == model.balances, f"{engine}: balances after block {n}")
        if n != 4:
            expect(done["outputs"] == struct.pack("<IQ", TOKEN, model.moves).hex() + "00" * 24 or n == 7,
                   f"{engine}: yield of block {n}")
    at_once = os.path.join(work, "at-once.json")
    penta("block", os.path.join(work, "state-0.json"), *files, "--engine", engine, "--save-state", at_once)
    expect(open(at_once).read() == open(state).read(), f"{engine}: ten blocks in one go")
    return open(state).read()


def merkle(leaves):
    if len(leaves) == 1:
        return leaves[0]
    half = (len(leaves) + 1) // 2
    return keccak(b"node" + merkle(leaves[:half]) + merkle(leaves[half:]))


def roots_of_outputs(work, token):
    """What several services yield in a block comes in the order of their numbers, under one root."""
    code = blake(open(token, "rb").read())
    for count in (0, 1, 2, 3, 5, 6):
        services = [(1000 + 7 * n) % 97 + 65530 for n in range(count)]  # some numbers with more bytes than others
        state = write(os.path.join(work, "several.json"), {
            "chain": "tiny", "slot": 10, "accounts": [{"id": s, "balance": 1000000, "code": "@" + os.path.basename(token)} for s in services]})
        given = [report(n, s, code, payload_of([(0, 1, 5)] * (n + 1))) for n, s in enumerate(services)]
        block = write(os.path.join(work, "several-block.json"), {"slot": 11, "entropy": ZERO, "reports": given, "preimages": []})
        done = json.loads(penta("block", state, block, "--json").stdout)["blocks"][0]
        leaves = sorted(struct.pack("<IQ", s, n + 1) + bytes(24) for n, s in enumerate(services))
        leaves.sort(key=lambda leaf: struct.unpack("<I", leaf[:4]))
        expect(done["outputs"] == b"".join(leaves).hex(), f"outputs of {count} services")
        root = merkle(leaves) if count > 1 else keccak(leaves[0]) if leaves else bytes(32)
        expect(done["outputs_root"] == root.hex(), f"the root of {count} outputs")


def saved_by_every_command(work, token):
    """run, trace and debug leave the same state; one that stops before the end leaves none."""
    items = write(os.path.join(work, "items.json"),
                  [{"result": {"ok": payload_of([(0, 1, 5), (1, 2, 3)]).hex()}, "gas": 100000}])
    path = os.path.join(work, "saved.json")
    common = [token, "--host", "jam", "--service", str(TOKEN), "--slot", "20", "--items", items,
              "--save-state", path]

    def save(*args, keys=None):
        if os.path.exists(path):
            os.remove(path)
        done = call(*args, *common, data=keys)
        return done, open(path).read() if os.path.exists(path) else None

    state = save("run", "-q")[1]
    expect(balances(json.loads(state)) == {1: 2, 2: 3}, "run saves the state after it")
    done, traced = save("trace", "-q")
    expect(traced == state and b"halt, gas used" in done.stdout, "trace saves what run saves")
    done, traced = save("trace", "--json")
    expect(traced == state and json.loads(done.stdout)["jam"]["exit"] == "halt", "trace --json does")
    for keys in ("continue\nquit\n", "continue\nback 5\ncontinue\nquit\n", "step 100000\nquit\n"):
        expect(save("debug", keys=keys.encode())[1] == state, f"debug saves what run saves: {keys!r}")
    for name, keys in (("debug", b"step 3\nquit\n"), ("debug", b"continue\nback 5\nquit\n"),
                       ("trace", None), ("run", None)):
        done, stopped = save(*([name] if keys else [name, "--fuel", "5"]), keys=keys)
        expect(stopped is None and b"has not ended" in done.stderr and done.returncode,
               f"{name} {keys} does not save half a run")


def row_arguments(text):
    """The arguments of a macro's use, up to its closing bracket; brackets inside them may hold commas."""
    depth, part, parts = 0, "", []
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            break
        if c == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def calls_of_host(version):
    """Name: number and count of arguments, from the host's own table."""
    text = open(ROOT + "/src/formats/pvm/host/jam_calls/calls.def", encoding="utf-8").read()
    calls = {}
    for row in text[text.index("#define SAME"):].split("\nCALL(")[1:]:
        fields = row_arguments(row)
        number = eval(fields[4], {"SAME": lambda n: [n] * 4, "LATER": lambda n: [n, n, n, n + 1],
                                  "NUMBERS": lambda *n: list(n), "NEVER": None})[version]
        if number is not None:
            calls[fields[1].strip('"')] = (number, len(fields[7].strip('"')))
    return calls


def calls_of_guest(draft):
    """The same from the header for C programs."""
    text = open(ROOT + "/guest/include/penta_jam.h", encoding="utf-8").read()
    calls = {}
    for macro, row in re.findall(r"^(JAM_CALL_|PENTA_IMPORT_NUMBER)\(((?:.|\n)*?)\);", text, re.M):
        fields = row_arguments(row)
        if macro == "PENTA_IMPORT_NUMBER":
            if fields[2] != "grow_heap" or draft:
                calls[fields[2]] = (int(fields[3]), len(fields) - 4)
            expect(fields[1] == "jam_" + fields[2], f"name of {fields[1]}")
        else:
            calls[fields[1]] = (int(fields[2]) + draft, len(fields) - 3)
    return calls


def programs(work):
    """Folders with the token service, the authorizer and the bank: as kept, and as compiled now."""
    folders = [os.path.join(work, "kept")]
    os.mkdir(folders[0])
    for name in ("token.jam", "authorizer.jam"):
        shutil.copy(f"{ROOT}/examples/jam/{name}", folders[0])
    if llvm("clang") and llvm("ld.lld"):
        folders.append(os.path.join(work, "compiled"))
        os.mkdir(folders[1])
        for name, entries, metadata in (("token", "refine,accumulate", "0005746f6b656e"), ("authorizer", "is_authorized", "0005746f6b656e"),
                                        ("skeleton", "refine,accumulate", "")):
            done = run_program(ROOT + "/guest/bin/penta-cc", "-O2", "-Wall", "-Wextra", f"{ROOT}/examples/jam/{name}.c", "--to", "jam",
                               "--dispatch", entries, "--metadata", metadata, "-o", f"{folders[1]}/{name}.jam", text=True,
                               env={**os.environ, "PENTA": PENTA})
            expect((done.returncode, done.stderr) == (0, ""), f"penta-cc {name}.c: {done.stderr[-500:]}")
    with open(os.path.join(work, "bank.pvmasm"), "w", encoding="utf-8") as source:
        source.write(BANK_SOURCE)
    for folder in folders:
        expect(penta("asm", os.path.join(work, "bank.pvmasm"), "-o", folder + "/bank.jam").returncode == 0, "bank")
    return folders


def skeleton(folder, engine):
    """The smallest service, with an item that is taken, one that failed, a transfer, and one that is too long."""
    program = os.path.join(folder, "skeleton.jam")
    done = penta("run", program, "--host", "jam", "--entry", "refine", "--payload", "68656c6c6f", "--engine", engine, "--json")
    expect(json.loads(done.stdout)["result"] == "68656c6c6f", f"{engine}: the skeleton refines")
    items = write(os.path.join(folder, "items.json"),
                  [{"from": 1, "to": 7, "amount": 5, "gas": 10, "memo": ""}, {"result": {"ok": "01"}}, {"result": "panic"},
                   {"result": {"ok": "00" * 5000}}, {"result": {"ok": "68656c6c6f"}}])
    state = os.path.join(folder, "skeleton.json")
    penta("run", program, "--host", "jam", "--entry", "accumulate", "--service", "7", "--slot", "50", "--items", items, "--save-state",
          state, "--engine", engine)
    storage = next(a for a in json.load(open(state))["accounts"] if a["id"] == 7)["storage"]
    expect(storage == {b"last".hex(): "68656c6c6f", b"count".hex(): "0200000000000000"}, f"{engine}: the skeleton's storage {storage}")


def token_service(folder):
    names = [os.path.join(folder, name + ".jam") for name in ("token", "authorizer", "bank")]
    refused = write(os.path.join(folder, "refused.json"),
                    package(open(names[1], "rb").read(), ZERO, b"", "736563726565"))
    stopped = penta("run", names[1], "--host", "jam", "--entry", "is-authorized", "--package", refused, "-q")
    expect(stopped.returncode == 20, "the authorizer refuses another token")
    odd = write(os.path.join(folder, "odd.json"), package(b"", ZERO, b"12345", ""))
    stopped = penta("run", names[0], "--host", "jam", "--entry", "refine", "--package", odd, "-q")
    expect(stopped.returncode == 20, "refine refuses half a move")
    alone = penta("run", names[0])
    expect(alone.returncode == 20 and b"need the host jam: --host jam --entry refine" in alone.stderr, "a service without its host")
    expect("need the host jam" in json.loads(penta("run", names[0], "--json").stdout)["hint"], "the same in the document")
    saved_by_every_command(folder, names[0])
    roots_of_outputs(folder, names[0])
    results = {ten_blocks(folder, engine, *names) for engine in ("interp", "jit", "both")}
    expect(len(results) == 1, "the engines leave the same state")


for version, what in ((2, "0.7.2"), (3, "the draft")):
    host, guest = calls_of_host(version), calls_of_guest(version == 3)
    expect(host == guest, f"the header has the calls of {what}: {sorted(set(host.items()) ^ set(guest.items()))}")
block = json.load(open(ROOT + "/examples/jam/block.json"))
expect(block["reports"][0]["results"][0]["code_hash"] == blake(open(ROOT + "/examples/jam/token.jam", "rb").read()),
       "the example's block is for the token service beside it")
with tempfile.TemporaryDirectory() as work_folder:
    os.environ.setdefault("XDG_CACHE_HOME", os.path.join(work_folder, "cache"))
    for one in programs(work_folder):
        token_service(one)
        if os.path.exists(one + "/skeleton.jam"):
            for each in ("interp", "jit", "both"):
                skeleton(one, each)
sys.exit(summary())
