#!/usr/bin/env python3
"""A block with a transfer in every version of the Gray Paper, on every engine: up to 0.7.0 the receiver is
called at its own entry after the rounds, later as one more round of accumulate.

    jam_versions.py PENTA
"""
import hashlib
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import expect, penta, read, read_text, summary, write

ZERO = "00" * 32
SENDER, RECEIVER = 1001, 1002

HEAD = """%dialect = jam
%isa = {isa}
%metadata = 00
%stack_size = 4096
%heap_pages = 1
%rw_data = 6174
"""
# Sends 70 with 5000 gas.
SEND = """    trap
    %hole 00 00 00 00
    a0 = 1002
    a1 = 70
    a2 = 5000
    a3 = 0x21000
    ecalli {transfer}
    a0 = 0
    a1 = 0
    ret
"""
# Writes what it was given under the name of the entry; at that of transfers it panics afterwards.
RECEIVE = """    trap
    %hole 00 00 00 00
    jump @accumulate %size 5
    a3 = 16
    ecalli {fetch}
    a0 = 0x20001
    a1 = 1
    a2 = 0x20001
    a3 = 1
    ecalli {write}
    trap
@accumulate:
    a0 = 0x20000
    a1 = 1
    a2 = 0x20000
    a3 = 1
    ecalli {write}
    a0 = 0
    a1 = 0
    ret
"""


def blake(data):
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def assemble(folder, name, text):
    source = os.path.join(folder, name + ".pvmasm")
    write(source, text)
    path = os.path.join(folder, name + ".jam")
    done = penta("asm", source, "-o", path)
    expect(done.returncode == 0, done.stderr.decode())
    return read(path)


def one(folder, version, engine):
    late, draft = version not in ("0.6.7", "0.7.0"), version == "0.8-draft"
    numbers = {name: n + draft for name, n in (("fetch", 1), ("write", 4), ("transfer", 20))}
    head = HEAD.format(isa="jam_v1" if draft else "latest64")
    send = assemble(folder, "send", head + SEND.format(**numbers))
    receive = assemble(folder, "receive", head + RECEIVE.format(**numbers))
    state = {"version": version, "chain": "tiny", "slot": 10,
             "accounts": [{"id": SENDER, "balance": 1000000, "code": send.hex()},
                          {"id": RECEIVER, "balance": 1000, "code": receive.hex()}]}
    report = {"package_spec": {"hash": blake(b"package"), "length": 1, "erasure_root": ZERO, "exports_root": ZERO,
                               "exports_count": 0},
              "context": {"anchor": ZERO, "state_root": ZERO, "beefy_root": ZERO, "lookup_anchor": ZERO,
                          "lookup_anchor_slot": 0, "prerequisites": []},
              "core_index": 0, "authorizer_hash": ZERO,
              "results": [{"service_id": SENDER, "code_hash": blake(send), "payload_hash": ZERO,
                           "accumulate_gas": 10000, "result": {"ok": ""}}]}
    block = {"slot": 11, "entropy": ZERO, "reports": [report], "preimages": []}
    names = []
    for name, document in (("state.json", state), ("block.json", block)):
        names.append(os.path.join(folder, name))
        write(names[-1], json.dumps(document))
    saved = os.path.join(folder, "saved.json")
    done = penta("block", *names, "--engine", engine, "--save-state", saved, "--json")
    what = f"{version} {engine}"
    expect(done.returncode == 0, f"{what}: {done.stderr.decode()}")
    told = json.loads(done.stdout)["blocks"][0]
    text = read_text(saved)
    after = json.loads(text)
    accounts = {a["id"]: a for a in after["accounts"]}
    expect(after["version"] == version, f"{what}: the state keeps its version")
    expect(told["rounds"] == 1 + late, f"{what}: {told['rounds']} rounds")
    expect(accounts[SENDER]["balance"] == 1000000 - 70 and accounts[RECEIVER]["balance"] == 1000 + 70,
           f"{what}: balances")
    want = {"61": "61"} if late else {"74": "74"}
    expect(accounts[RECEIVER].get("storage") == want, f"{what}: {accounts[RECEIVER].get('storage')}")
    expect(accounts[SENDER]["last"] == 11 and accounts[RECEIVER]["last"] == (11 if late else 0), f"{what}: last")
    gas = {s["service"]: s["gas"] for s in told["services"]}
    if not draft:  # one for each instruction, ten for the call, and what the transfer takes along
        expect(gas[SENDER] == 8 + 10 + 5000, f"{what}: gas {gas}")
    vectors(folder, version, engine, state, block, told)
    return text


def vectors(folder, version, engine, state, block, told):
    """The same block as a vector passes; with another result, or under another version, it fails."""
    services = {str(s["service"]): {"items": s["items"], "gas": s["gas"]} for s in told["services"]}
    keys = {c["key"]: c["now"] for c in told["changes"]}
    good = {"gp": version, "state": {"chain": state["chain"], "slot": state["slot"], "accounts": state["accounts"]},
            "block": block, "expect": {"keys": keys, "services": services}}
    record = next(k for k, v in keys.items() if k.startswith("ff") and v)
    other = "0.7.1" if version in ("0.6.7", "0.7.0") else "0.7.0"
    gas = {**services, str(SENDER): {"items": 1, "gas": services[str(SENDER)]["gas"] + 1}}
    wrong = [("version", {**good, "gp": other}),
             ("no version of that name", {**good, "gp": "0.7.9"}),
             ("version that is no text", {**good, "gp": 7}),
             ("chain that is no name", {**good, "state": {**good["state"], "chain": {"cores": 2}}}),
             ("state that is no object", {**good, "state": []}),
             ("block without a slot", {**good, "block": {"entropy": ZERO}}),
             ("service that is no number", {**good, "expect": {"keys": keys, "services": {**services, "x": {}}}}),
             ("key of 30 bytes", {**good, "expect": {"keys": {**keys, record[2:]: None}, "services": services}}),
             ("key that is gone", {**good, "expect": {"keys": {**keys, record: None}, "services": services}}),
             ("key that stays", {**good, "expect": {"keys": {k: v for k, v in keys.items() if k != record},
                                                    "services": services}}),
             ("gas", {**good, "expect": {"keys": keys, "services": gas}}),
             ("services that are missing", {**good, "expect": {"keys": keys, "services": {}}})]
    path = os.path.join(folder, "vector.json")
    for what, document in [("right", good)] + (wrong if engine == "interp" else []):
        write(path, json.dumps(document))
        done = penta("conform", "--engine", engine, path)
        right = document is good
        expect(done.returncode == (not right) and done.stdout.endswith(
            b"1 passed, 0 failed\n" if right else b"0 passed, 1 failed\n"),
            f"{version} {engine}: a vector, {what}: {done.stdout.decode()} {done.stderr.decode()}")


def inside(folder):
    """trace and debug show the instructions of inner machines, too; going back does not run them again."""
    cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cases", "pvm")
    text = read_text(os.path.join(cases, "jam_inner_trace.test")).split("-- asm\n")[1].split("-- run\n")[0]
    assemble(folder, "inside", text)
    options = [os.path.join(folder, "inside.jam"), "--dialect", "jam", "--isa", "latest64", "--host", "jam",
               "--state", cases + "/jam_state.json", "--package", cases + "/jam_package.json", "--entry", "refine",
               "--inner-trace"]
    want = ["inner 0      0  a0 = a0 + a1", "inner 0      3  u8 [0x10000] = a0", "inner 0      8  ecalli 5"]
    for command, keys in (("trace", None), ("debug", b"continue\nback 3\ncontinue\nback 10\ncontinue\n")):
        done = penta(command, *options, data=keys)
        got = [line for line in done.stdout.decode().split("\n") if line.startswith("inner")]
        expect(got == want, f"{command} --inner-trace: {done.stdout.decode()} {done.stderr.decode()}")
    done = penta("trace", *options, "--json")
    expect([line["inner"] for line in json.loads(done.stdout)["lines"] if "inner" in line] == want, "trace --json")


with tempfile.TemporaryDirectory() as work:
    inside(work)
    for gp in ("0.6.7", "0.7.0", "0.7.1", "0.7.2", "0.8-draft"):
        expect(len({one(work, gp, e) for e in ("interp", "jit", "both")}) == 1, f"{gp}: the engines agree")
sys.exit(summary())
