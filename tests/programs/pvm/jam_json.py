#!/usr/bin/env python3
"""Documents around the JAM host that are wrong: each is refused with a message that says what and where.
And those that are unusual but right. Vectors that cannot be read fail as cases, not as the tool.

    jam_json.py PENTA [DATA]      with DATA, a folder with steps of traces, only those, put into their published form
"""
import copy
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import expect, penta, read, summary, write

ZERO = "00" * 32

STATE = {"chain": "tiny", "slot": 49,
         "privileges": {"bless": 7, "assign": [7, 8], "designate": 7, "register": 7, "always_acc": []},
         "accounts": [{"id": 7, "balance": 100000, "storage": {"6b": "01"}, "preimages": ["01020304"],
                       "requests": [{"hash": ZERO, "length": 4, "slots": [1]}]}]}
REPORT = {"package_spec": {"hash": ZERO, "length": 1, "erasure_root": ZERO, "exports_root": ZERO,
                           "exports_count": 0},
          "context": {"anchor": ZERO, "state_root": ZERO, "beefy_root": ZERO, "lookup_anchor": ZERO,
                      "lookup_anchor_slot": 0, "prerequisites": []},
          "core_index": 0, "authorizer_hash": ZERO,
          "results": [{"service_id": 7, "code_hash": ZERO, "payload_hash": ZERO, "accumulate_gas": 10,
                       "result": {"ok": "aa"}}]}
BLOCK = {"slot": 50, "entropy": ZERO, "reports": [REPORT], "preimages": []}


def changed(document, path, value):
    """The document with another value at a path of keys and indices; ... removes it."""
    document = copy.deepcopy(document)
    at = document
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


class Folder:
    def __init__(self, folder):
        self.folder = folder

    def write(self, name, document):
        path = os.path.join(self.folder, name)
        write(path, document if isinstance(document, bytes) else json.dumps(document).encode())
        return path

    def block(self, state, block):
        return penta("block", self.write("state.json", state), self.write("block.json", block))

    def refused(self, state, block, *words):
        done = self.block(state, block)
        text = done.stderr.decode()
        expect(done.returncode in (1, 2, 3, 4) and text.startswith("error") and all(w in text for w in words),
               f"{words}: {done.returncode} {text!r} {done.stdout.decode()!r}")


# What is wrong, and what the message must say.
STATES = [
    (["accounts"], 5, ["accounts is not a list"]),
    (["accounts", 0], 5, ["id is not a number", "at accounts[0]"]),
    (["accounts", 0, "id"], ..., ["id is not a number", "at accounts[0]"]),
    (["accounts", 0, "id"], 1 << 32, ["id does not fit 32 bits", "at accounts[0]"]),
    (["accounts", 0, "id"], -1, ["id is not a number", "at accounts[0]"]),
    (["accounts", 0, "balance"], "many", ["balance is not a number", "at accounts[0]"]),
    (["accounts", 0, "storage"], ["6b"], ["storage is not an object", "at accounts[0]"]),
    (["accounts", 0, "storage", "zz"], "01", ["'zz' is not hex", "at accounts[0].storage"]),
    (["accounts", 0, "storage", "6b"], 1, ["6b is not a hex string", "at accounts[0].storage"]),
    (["accounts", 0, "storage", "6b"], "012", ["6b is not a hex string", "at accounts[0].storage"]),
    (["accounts", 0, "preimages"], {}, ["preimages is not a list", "at accounts[0]"]),
    (["accounts", 0, "preimages", 0], "@/etc/passwd", ["is not beside the document"]),
    (["accounts", 0, "preimages", 0], "@../state.json", ["is not beside the document"]),
    (["accounts", 0, "preimages", 0], "@nothing", ["nothing"]),
    (["accounts", 0, "requests", 0, "hash"], "00", ["hash has 1 bytes instead of 32", "at accounts[0].requests[0]"]),
    (["accounts", 0, "requests", 0, "length"], ..., ["length is not a number", "at accounts[0].requests[0]"]),
    (["accounts", 0, "requests", 0, "slots"], [1, 2, 3, 4], ["more than three slots"]),
    (["accounts", 0, "requests", 0, "slots"], ["x"], ["something else than a slot"]),
    (["accounts", 0, "requests", 0, "slots"], 1, ["slots is not a list"]),
    (["accounts", 0, "code_hash"], "00", ["code_hash has 1 bytes instead of 32", "at accounts[0]"]),
    (["privileges"], [], ["privileges is not an object or hex"]),
    (["privileges", "assign"], [7], ["assign has 1 services for 2 cores"]),
    (["privileges", "assign"], [7, "x"], ["something else than a service"]),
    (["privileges", "always_acc"], [{"id": 5}], ["gas is not a number"]),
    (["ready"], [[]], ["ready has 1 lists, an epoch has 12 slots"]),
    (["ready"], [[{}]] + [[]] * 11, ["a report is not an object or hex", "at ready[0][0]"]),
    (["ready"], [5] + [[]] * 11, ["ready holds something else than lists", "at ready[0]"]),
    (["accumulated"], {}, ["accumulated is not a list"]),
    (["accumulated"], [["00"]] + [[]] * 11, ["bytes instead of 32", "at accumulated[0]"]),
    (["slot"], "now", ["slot is not a number"]),
    (["keys"], {"00": "00"}, ["a state key has 31 bytes", "at keys"]),
    (["keys"], [], ["keys is not an object"]),
    (["version"], "9.9", ["version '9.9' is none of"]),
    (["version"], 7, ["version is not a string"]),
    (["chain"], "huge", ["chain 'huge' is none of"]),
    (["chain"], 7, ["chain is not a name or an object"]),
    (["chain"], {"colour": 1}, ["a chain has no parameter 'colour'"]),
    (["chain"], {"cores": 0}, ["a chain has 1 to 4096 cores"]),
    (["chain"], {"cores": 65536}, ["cores does not fit 2 bytes"]),
    (["chain"], {"base": 5}, ["is none of full, tiny"]),
]
BLOCKS = [
    (["slot"], ..., ["slot is not a number"]),
    (["entropy"], "00", ["entropy has 1 bytes instead of 32"]),
    (["reports"], {}, ["reports is not a list"]),
    (["reports", 0], 5, ["a report is not an object or hex", "at reports[0]"]),
    (["reports", 0], "00", ["need"]),
    (["reports", 0, "package_spec"], [], ["package_spec is not an object", "at reports[0]"]),
    (["reports", 0, "package_spec", "hash"], ..., ["hash is not a hex string", "at reports[0]"]),
    (["reports", 0, "context", "prerequisites"], "x", ["prerequisites is not a list", "at reports[0]"]),
    (["reports", 0, "core_index"], 70000, ["core_index does not fit 16 bits", "at reports[0]"]),
    (["reports", 0, "results", 0, "result"], "fine", ["result is none of", "at reports[0].results[0]"]),
    (["reports", 0, "results", 0, "service_id"], None, ["service_id is not a number", "at reports[0].results[0]"]),
    (["preimages"], [[7]], ["pairs of a service", "at preimages[0]"]),
    (["preimages"], [["x", "00"]], ["pairs of a service"]),
    (["preimages"], [[7, 5]], ["hex string", "at preimages[0]"]),
    (["preimages"], [[1 << 32, "00"]], ["pairs of a service"]),
]


def wrong_documents(f):
    for path, value, words in STATES:
        f.refused(changed(STATE, path, value), BLOCK, *words)
    for path, value, words in BLOCKS:
        f.refused(STATE, changed(BLOCK, path, value), *words)
    for text in (b"", b"[]", b"null", b"{", b"5", b"\\x00\\xff", b"{} {}", json.dumps(STATE).encode()[:-1]):
        f.refused(text, BLOCK)
        f.refused(STATE, text)


def unusual_documents(f):
    """Another spelling of the same things leaves the same state."""
    path = os.path.join(f.folder, "saved.json")

    def saved(state, block):
        done = penta("block", f.write("state.json", state), f.write("block.json", block), "--save-state", path)
        text = open(path, encoding="utf-8").read() if done.returncode == 0 else done.stderr.decode()
        if os.path.exists(path):
            os.remove(path)
        return text

    plain = saved(STATE, BLOCK)
    expect(plain.startswith("{"), plain)
    other = changed(STATE, ["accounts", 0, "storage"], {"0x6b": "0x01"})
    other = changed(other, ["accounts", 0, "preimages"], ["0x01020304"])
    other = changed(other, ["accounts", 0, "requests", 0, "hash"], "0x" + ZERO)
    other = changed(other, ["accounts", 0, "balance"], "100000")
    for path_, value in ((["ready"], None), (["keys"], {}), (["comment"], {"x": [1, None, True, 1.5]}),
                         (["outputs"], None), (["accounts", 0, "gratis"], None), (["accounts", 0, "code"], None)):
        other = changed(other, path_, value)
    block = changed(BLOCK, ["entropy"], "0x" + ZERO)
    block = changed(block, ["reports", 0, "auth_output"], "0x")
    block = changed(block, ["reports", 0, "segment_root_lookup"], [])
    block = changed(block, ["preimages"], ...)
    block = changed(block, ["parent"], ZERO)
    expect(saved(other, block) == plain, "0x, null, strings for numbers and unknown members change nothing")
    keys = {"0a" + "00" * 30: "0102", "aa" + "00" * 30: "03"}  # a chapter of the node's, and what no account has
    kept = json.loads(saved(dict(STATE, keys=keys), BLOCK))
    expect(kept["keys"] == keys and kept["accounts"] == json.loads(plain)["accounts"], f"keys of the node stay: {kept['keys']}")
    keys["0b" + "00" * 30] = "31000000"  # the slot has a member of its own
    kept = json.loads(saved(dict(STATE, keys=keys, accounts=[dict(STATE["accounts"][0], id=0)]), BLOCK))
    expect(list(kept["keys"]) == list(keys)[:2] and [a["id"] for a in kept["accounts"]] == [0], f"beside account 0: {kept['keys']}")
    empty = saved({}, {"slot": 1, "entropy": ZERO})
    expect(json.loads(empty)["accounts"] == [], "an empty state and an empty block")
    full = dict(STATE, chain="full", privileges={"bless": 7})
    expect(json.loads(saved(full, BLOCK))["chain"] == "full", "the full chain")


def mutated_documents(f):
    """Anything may be wrong, but the tool always answers."""
    rng = random.Random(5)
    texts = [json.dumps(STATE).encode(), json.dumps(BLOCK).encode()]
    for n in range(120):
        which = n % 2
        text = bytearray(texts[which])
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) or 1)
            kind = rng.randrange(4)
            if kind == 0 and text:
                text[at] = rng.choice(b'{}[]",:0x9-a')
            elif kind == 1:
                del text[at:at + rng.randrange(1, 30)]
            elif kind == 2:
                text[at:at] = text[at:at + rng.randrange(1, 40)]
            else:
                text = text[:at + 1]
        pair = [texts[0], texts[1]]
        pair[which] = bytes(text)
        done = f.block(*pair)
        expect(done.returncode in (0, 1, 2, 3), f"mutation {n}: {done.returncode} {done.stderr[-300:]!r} {bytes(text)!r}")


def vectors(f):
    """A vector that cannot be run is a failing case that says why."""
    step = {"slot": 50, "prior_slot": 49, "entropy": ZERO, "reports": [], "preimages": [], "state": {},
            "privileges": "00" * 21, "ready": "00" * 12, "accumulated": "00" * 12,
            "expect": {"state": {}, "gas": {}, "outputs": "00"}}
    for path, value, word in ((["entropy"], "00", "entropy has 1 bytes"), (["slot"], "x", "slot is not a number"),
                              (["state"], {"00": "00"}, "is not a state key"), (["reports"], ["00"], "need"),
                              (["state"], [], "state is not an object"), (["preimages"], [[1]], "preimage"),
                              (["ready"], "ff", "need"), (["expect"], [], "expect is not an object"),
                              (["expect", "gas"], {"7": 5}, "gas"), (["expect", "gas"], {"x": [1, 1]}, "gas"),
                              (["gp"], "0.9", "'0.9'"), (["gp"], 7, "version")):
        name = f.write("step.json", changed(step, path, value))
        done = penta("conform", name)
        text = (done.stdout + done.stderr).decode()
        expect(done.returncode == 1 and word in text, f"{path} {value}: {done.returncode} {text!r}")
    done = penta("conform", f.write("step.json", step))
    expect(done.returncode == 0, f"an empty step: {done.stdout.decode()}")
    for version, privileges in (("0.7.0", 17), ("0.7.1", 21)):  # whose lengths differ by the registrar
        old = changed(changed(step, ["privileges"], "00" * privileges), ["gp"], version)
        done = penta("conform", f.write("step.json", old))
        expect(done.returncode == 0, f"an empty step of {version}: {done.stdout.decode()}")
    hexed = changed(step, ["state"], {"0x" + "ff" + "00" * 30: "0x" + "00" * 89})
    done = penta("conform", f.write("step.json", hexed))
    expect(done.returncode == 0, f"keys with 0x: {done.stdout.decode()}")


def nat(n):
    """The Gray Paper's encoding of a natural number."""
    for more in range(8):
        if n < 1 << 7 * more + 7:
            return bytes([256 - (1 << 8 - more) + (n >> 8 * more)]) + (n & (1 << 8 * more) - 1).to_bytes(more, "little")
    return b"\xff" + n.to_bytes(8, "little")


def published(step, folder):
    """A reduced step as a block between two whole states; None where the tiny chain's cores do not suffice."""
    def value(text):
        if text.startswith("@"):
            return read(os.path.join(folder, "..", "blobs", text[1:]))
        return bytes.fromhex(text)

    def chapter(n):
        return bytes([n] + [0] * 30).hex()

    if len(step["reports"]) > 2 or step["chain"] != "tiny":
        return None
    chapters = {"privileges": 12, "ready": 14, "accumulated": 15, "auth_queues": 2, "staging": 7, "outputs": 16}
    states = []
    for source in (step, step["expect"]):
        state = dict(states[0]) if states else {}
        for key, text in source["state"].items():
            state.pop(key, None)
            if text is not None:
                state[key] = value(text)
        for name, number in chapters.items():
            if name in source:
                state[chapter(number)] = value(source[name])
        states.append(state)
    pending = b"".join(b"\1" + value(r) + bytes(4) for r in step["reports"]) + bytes(2 - len(step["reports"]))
    gas = {int(s): v for s, v in step["expect"]["gas"].items()}
    statistics = bytes(2 * 6 * 6 * 4) + bytes(2 * 8) + nat(len(gas) + 1) + bytes(4 + 10)
    for service, (items, used) in gas.items():
        statistics += service.to_bytes(4, "little") + bytes(8) + nat(items) + nat(used)
    states[0].update({chapter(10): pending, chapter(11): step["prior_slot"].to_bytes(4, "little")})
    states[1].update({chapter(6): value(step["entropy"]) + bytes(96), chapter(13): statistics})
    pairs = [{"state_root": "0x" + f"{i:064x}",
              "keyvals": [{"key": "0x" + k, "value": "0x" + v.hex()} for k, v in sorted(state.items())]}
             for i, state in enumerate(states)]
    bits = (1 << len(step["reports"])) - 1
    assurances = [{"anchor": ZERO, "bitfield": f"0x{bits if v < 5 else 0:02x}", "validator_index": v} for v in range(6)]
    block = {"header": {"slot": step["slot"]},
             "extrinsic": {"tickets": [], "guarantees": [], "assurances": assurances,
                           "disputes": {"verdicts": [], "culprits": [], "faults": []},
                           "preimages": [{"requester": s, "blob": "0x" + value(b).hex()} for s, b in step["preimages"]]}}
    return {"pre_state": pairs[0], "block": block, "post_state": pairs[1]}


def published_steps(f):
    folder = sys.argv[2]
    steps = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            step = published(json.load(file), folder)
        if not step:
            continue
        steps += 1
        path = f.write("import.json", step)
        done = penta("conform", path)
        expect(done.returncode == 0, f"{name} as published: {done.stdout.decode()}")
        # Too few assurances: nothing is accumulated, which is not what the state after it says.
        if step["pre_state"]["keyvals"] and any(a["bitfield"] != "0x00" for a in step["block"]["extrinsic"]["assurances"]):
            step["block"]["extrinsic"]["assurances"].pop(0)
            done = penta("conform", f.write("import.json", step))
            expect(done.returncode == 1, f"{name} with four assurances")
    expect(steps, "there are steps")


with tempfile.TemporaryDirectory() as work:
    parts = (wrong_documents, unusual_documents, mutated_documents, vectors)
    for part in parts if len(sys.argv) == 2 else (published_steps,):
        part(Folder(work))
sys.exit(summary())
