#!/usr/bin/env python3
"""Real contracts on the contract host: outputs, host calls and gas as two engines of the reference
implementation gave them (docs/vectors.md).

    tests/programs/pvm/contracts.py PENTA DATA
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import equal, penta, summary


def word(n):
    return f"{n:064x}"


TOKEN = word(1000000)
PAIR = word(1) + word(2)
TEXT = word(32) + word(5) + b"Token".hex().ljust(64, "0")
DEPLOY = {"FibonacciRecursive.3": (4, 67), "Storage.z": (4, 170), "Token.3": (18, 2424),
          "Pair.3": (11, 2122)}
CALLS = [  # blob, constructor, input, flags, output, host calls, gas
    ("FibonacciRecursive.3", "", "c6c2ea17" + word(20), 0, word(6765), 5, 1316129),
    ("Storage.z", "", "3fda5389" + word(100), 0, "", 205, 35712),
    ("Storage.z", "", "1ab06ee5" + word(7) + word(21), 0, "", 15, 1567),
    ("Token.3", TOKEN, "18160ddd", 0, TOKEN, 5, 197),
    ("Token.3", TOKEN, "06fdde03", 0, TEXT, 5, 762),
    ("Token.3", TOKEN, "a9059cbb" + word(4660) + word(5), 0, word(1), 15, 639),
    ("Token.3", TOKEN, "deadbeef", 1, "", 3, 49),
    ("Pair.3", PAIR, "fc8ace6c" + word(1000) + word(50000) + word(70000), 0, word(1368), 7, 4290),
    ("Pair.3", PAIR, "fc8ace6c" + word(0) + word(0) + word(70000), 1, "4e487b71" + word(18), 7, 2369),
]


def main():
    data = os.path.abspath(sys.argv[2])
    for blob, constructor, given, flags, output, host_calls, gas in CALLS:
        done = penta("run", "--json", f"{data}/{blob}.polkavm", "--host", "revive", "--gas", "9000000", "--call", "deploy", "--calldata",
                     constructor, "--call", "call", "--calldata", given)
        document = json.loads(done.stdout)
        lines = [l for l in document["output"].splitlines() if l.startswith("return")]
        deployed = DEPLOY[blob]
        wanted = (["return 0 0x", f"return {flags} 0x{output}"], deployed[0] + host_calls,
                  deployed[1] + gas)
        got = (lines, document["host_call_count"], document["gas_used"])
        equal(f"{blob} {given[:8]}", got, wanted)
    return summary()


sys.exit(main())
