#!/usr/bin/env python3
"""The token service of examples/jam over ten blocks: packages are authorized and refined, their reports
accumulated by penta block, and the balances compared with a model, on every engine.

    jam.py PENTA
"""
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PENTA = sys.argv[1]
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

passed = failed = 0


def expect(ok, what):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print("FAIL", what)


def penta(*args):
    done = subprocess.run([PENTA, *args], capture_output=True, timeout=120)
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
        if source:
            if source == to or self.balances.get(source, 0) < amount:
                return
            self.balances[source] -= amount
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
                  random_moves.randrange(1, 6), random_moves.randrange(0, 100)) for _ in range(8)]
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


def saved_by_every_command(work, token):
    """run, trace and debug leave the same state; whoever stops before the end leaves none."""
    items = write(os.path.join(work, "items.json"),
                  [{"result": {"ok": payload_of([(0, 1, 5), (1, 2, 3)]).hex()}, "gas": 100000}])
    path = os.path.join(work, "saved.json")
    common = [token, "--host", "jam", "--service", str(TOKEN), "--slot", "20", "--items", items,
              "--save-state", path]

    def save(*args, keys=None):
        if os.path.exists(path):
            os.remove(path)
        done = subprocess.run([PENTA, *args, *common], input=keys, capture_output=True, timeout=60)
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


with tempfile.TemporaryDirectory() as work_folder:
    names = {}
    with open(os.path.join(work_folder, "bank.pvmasm"), "w", encoding="utf-8") as source:
        source.write(BANK_SOURCE)
    for name, folder in (("token", ROOT + "/examples/jam"), ("authorizer", ROOT + "/examples/jam"),
                         ("bank", work_folder)):
        names[name] = os.path.join(work_folder, name + ".jam")
        expect(penta("asm", f"{folder}/{name}.pvmasm", "-o", names[name]).returncode == 0, name)
    example = json.load(open(ROOT + "/examples/jam/state.json"))
    expect(bytes.fromhex(example["accounts"][0]["code"]) == open(names["token"], "rb").read(),
           "the example's state has the token service of today")
    refused = write(os.path.join(work_folder, "refused.json"),
                    package(open(names["authorizer"], "rb").read(), ZERO, b"", "736563726565"))
    stopped = penta("run", names["authorizer"], "--host", "jam", "--entry", "is-authorized", "--package",
                    refused, "-q")
    expect(stopped.returncode == 20, "the authorizer refuses another token")
    saved_by_every_command(work_folder, names["token"])
    results = {ten_blocks(work_folder, engine, *(names[k] for k in ("token", "authorizer", "bank")))
               for engine in ("interp", "jit", "both")}
    expect(len(results) == 1, "the engines leave the same state")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
