#!/usr/bin/env python3
"""Contracts in C on every engine: a token with two callers and approvals, and one that calls and makes others.

    tests/programs/guest/contracts.py PENTA

Skipped where penta-cc has no compiler.
"""
import json
import os
import re
import struct
import sys

import kit
from kit import compile_program
from support import ENGINES, ROOT, equal, penta, read_text

OWNER, FRIEND, OTHER = int("11" * 20, 16), int("a2" * 20, 16), 0x1234
TOKEN = "22" * 20
KINDS = ("event", "return", "trap", "fail")
TRANSFER, APPROVAL = "0xddf252ad", "0x8c5be1e5"


def word(n):
    return f"{n:064x}"


def transactions(program, steps, *options):
    """Runs (export, caller, calldata, options...) on every engine: the lines of each, and the state after them."""
    results = []
    for engine in ENGINES:
        state = os.path.join(os.path.dirname(program), "state.json")
        args = ["--host", "revive", "--save-state", state, *options]
        for export, caller, data, *more in steps:
            args += ["--call", export, "--caller", f"{caller:040x}", "--calldata", data, *more]
        done = penta("run", "-q", program, "--engine", engine, *args, text=True)
        with open(state, encoding="utf-8") as file:
            results.append(([line for line in done.stdout.splitlines() if line.startswith(KINDS)], json.load(file)))
        equal(f"{os.path.basename(program)} on {engine}: messages", done.stderr, "")
        equal(f"{os.path.basename(program)} on {engine}", results[-1], results[0])
    return results[0]


def ends(lines):
    return [line for line in lines if line.startswith(KINDS[1:])]


# ---- the token ----

def call(signature, *words):
    selectors = {"supply": "18160ddd", "balance": "70a08231", "allowance": "dd62ed3e", "transfer": "a9059cbb",
                 "approve": "095ea7b3", "transferFrom": "23b872dd"}
    return selectors[signature] + "".join(word(w) for w in words)


def token(work):
    program = compile_program(work, "examples/guest/token.c", "-O2", "--isa", "revive_v1")
    supply, no = 1000000, None
    steps = [  # caller, input, what comes back (no: it reverts)
        (OWNER, call("supply"), supply),
        (OWNER, call("balance", OWNER), supply),
        (FRIEND, call("balance", FRIEND), 0),
        (OWNER, call("transfer", OTHER, 5), 1),
        (OWNER, call("balance", OTHER), 5),
        (OWNER, call("balance", OWNER), supply - 5),
        (OWNER, call("transfer", OTHER, supply), no),                # more than there is
        (FRIEND, call("transfer", OTHER, 1), no),                    # owns nothing
        (FRIEND, call("transferFrom", OWNER, FRIEND, 1), no),        # is not allowed yet
        (OWNER, call("approve", FRIEND, 100), 1),
        (OWNER, call("allowance", OWNER, FRIEND), 100),
        (OWNER, call("allowance", FRIEND, OWNER), 0),                # not the other way round
        (OWNER, call("transferFrom", OWNER, OTHER, 1), no),          # the allowance is the friend's
        (FRIEND, call("transferFrom", OWNER, OTHER, 60), 1),
        (FRIEND, call("allowance", OWNER, FRIEND), 40),
        (FRIEND, call("balance", OTHER), 65),
        (FRIEND, call("transferFrom", OWNER, OTHER, 41), no),        # more than is left
        (FRIEND, call("allowance", OWNER, FRIEND), 40),
        (FRIEND, call("transferFrom", OWNER, FRIEND, 40), 1),
        (FRIEND, call("transferFrom", OWNER, FRIEND, 1), no),
        (FRIEND, call("transfer", OWNER, 15), 1),                    # now it owns 40
        (FRIEND, call("approve", OWNER, 7), 1),
        (OWNER, call("transferFrom", FRIEND, OWNER, 7), 1),
        (OWNER, call("approve", FRIEND, 3), 1),
        (OWNER, call("approve", FRIEND, 0), 1),                      # taken back
        (FRIEND, call("transferFrom", OWNER, FRIEND, 1), no),
        (OWNER, call("balance", FRIEND), 18),
        (OWNER, call("balance", OTHER), 65),
        (OWNER, call("balance", OWNER), supply - 18 - 65),
        (OWNER, "deadbeef", no),
        (OWNER, call("balance", 1 << 200), no),                      # not an address
    ]
    lines, _ = transactions(program, [("deploy", OWNER, word(supply))] + [("call", who, data) for who, data, _ in steps])
    equal("token", ends(lines), ["return 0 0x"] + ["return 1 0x" if out is no else "return 0 0x" + word(out) for _, _, out in steps])
    events = [line for line in lines if line.startswith("event")]
    equal("transfers", sum(TRANSFER in line for line in events), 6)
    equal("approvals", sum(APPROVAL in line for line in events), 4)
    moved = [line for line in events if word(60) in line][0]
    equal("who moved what", (word(OWNER) in moved, word(OTHER) in moved, word(FRIEND) in moved), (True, True, False))


# ---- a contract that calls others ----

def header():
    """Every call that the host answers is in the header."""
    host = set(re.findall(r"^CALL\((\w+)\)", read_text(os.path.join(ROOT, "src/formats/pvm/host/revive/calls.def")), re.M))
    guest = set(re.findall(r"^PENTA_IMPORT_AS\(\w+, \w+, (\w+)", read_text(os.path.join(ROOT, "guest/include/penta_contract.h")), re.M))
    equal("calls of the header", sorted(guest), sorted(host))


def ask(what, to, data=""):
    return what.encode().hex() + to + data


def answers(lines):
    return [bytes.fromhex(line[len("return 0 0x"):]) if line.startswith("return 0 0x") else line for line in ends(lines)]


def returned(code, data):
    return struct.pack("<BI", code, len(data)) + data


def calls(work):
    header()
    tok = compile_program(work, "examples/guest/token.c", "-O2", "--isa", "revive_v1")
    program = compile_program(work, "tests/programs/guest/caller.c", "-O2", "--isa", "revive_v1")
    me, nobody = TOKEN, "99" * 20                 # the caller contract is where the first deployment is
    there = "33" * 20
    _, state = transactions(tok, [("deploy", OWNER, word(500))])
    code = next(h for h in state["codes"])[-64:]
    one = int(me, 16)
    steps = [("deploy", OWNER, "")] + [("call", OWNER, data, *more) for data, *more in (
        (ask("n", nobody, code + word(77)),),                                       # a token of 77 for the contract
        (ask("n", nobody, code + "00"),),                                           # its constructor reverts
        (ask("N", nobody, code + word(78)),),
        (ask("N", nobody, code + word(78)),),                                       # the address is taken
        (ask("c", there, call("balance", one)),),
        (ask("s", there, call("supply")),),
        (ask("s", there, call("approve", 1, 1)),),                                  # writes in a static call
        (ask("c", there, call("transfer", 1, 1)),),                                 # reverts
        (ask("e", there, call("approve", 1, 9)),),
        (ask("c", there, call("allowance", one, 1)),),
        (ask("d", there, call("approve", 2, 3)),),                                  # on the contract's own storage
        (ask("D", there, call("allowance", OWNER, 2)),),
        (ask("c", there, call("allowance", OWNER, 2)),),
        (ask("c", nobody, "00"), "--value", "12"),                                  # a plain account gets the value
        (ask("c", "00" * 19 + "04", "c0ffee"),),                                    # a precompile
        (ask("w", there), "--value", "5", "--time", "1234"),
        (ask("i", nobody),),
        (ask("x", nobody),),
        (ask("g", nobody),),
        (ask("t", nobody),),
    )]
    lines, state = transactions(program, steps, "--contract", f"{there}={tok}", "--upload", tok, "--block", "9")
    got = answers(lines)[1:]
    first, second = got[0][1:21].hex(), got[2][1:21].hex()
    equal("new contract", (got[0][0], len(got[0]), first in str(state)), (0, 21, True))
    equal("constructor reverts", got[1], b"\2" + bytes(20))
    equal("new contract with a salt", (got[2][0], first != second), (0, True))
    equal("address taken", got[3], b"\x0b" + bytes(20))
    equal("call", got[4], returned(0, bytes(32)))
    equal("static call", got[5], returned(0, bytes(32)))                            # its deploy did not run
    equal("static call that writes", got[6], returned(1, b""))
    equal("call that reverts", got[7], returned(2, b""))
    equal("call with gas", got[8], returned(0, bytes.fromhex(word(1))))
    equal("what it left", got[9], returned(0, bytes.fromhex(word(9))))
    equal("delegate call", got[10], returned(0, bytes.fromhex(word(1))))
    equal("what it left here", got[11], returned(0, bytes.fromhex(word(3))))
    equal("and not there", got[12], returned(0, bytes(32)))
    equal("plain account", got[13], returned(0, b""))
    equal("precompile", got[14], returned(0, bytes.fromhex("c0ffee")))
    words = [got[15][80 + 32 * i:112 + 32 * i] for i in range(13)]
    equal("addresses", got[15][:80].hex(), me + f"{OWNER:040x}" * 2 + "00" * 20)
    equal("numbers", [int.from_bytes(w, "little") for w in words[:8]], [5, 5, 0, 1234, 9, 1, 0, 0])
    equal("hashes", (words[8] != words[9], words[9].hex(), words[10].hex()), (True, code, there + "ee" * 12))
    equal("block hash and input", (any(words[11]), words[12][::-1].hex()), (True, there + "00" * 12))
    equal("the rest", struct.unpack("<6Q", got[15][496:]), (1, 1, os.path.getsize(tok), 1000, 2 * 10 ** 12, 1))
    equal("immutable data and storage", got[16], b"forever")
    equal("a trap", got[17].startswith("trap"), True)
    equal("consume all gas", got[18], "return 1 0x")
    equal("terminate", (got[19], int(str(state["accounts"]["0x" + nobody]["balance"]), 0)), (b"", 17))


sys.exit(kit.main(token, calls))
