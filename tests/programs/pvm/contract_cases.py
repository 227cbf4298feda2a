#!/usr/bin/env python3
"""A chain of contracts on every engine: calls between contracts, reverts, creation, precompiles,
money, two users of a token, an auction in time. The contracts are those of tests/contracts.

    tests/programs/pvm/contract_cases.py PENTA [ENGINE...]
"""
import hashlib
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from keccak import keccak
from support import ROOT, call, equal, exits, read, summary, write

CONTRACTS = os.path.join(ROOT, "tests/contracts")
ENGINES = sys.argv[2:] or ["interp", "jit", "both"]
AL, BO, CY = "a1" * 20, "b0" * 20, "c4" * 20
FIRST, SECOND = "a24dc96c7cfd9e1c44d482f5fb78d118ff0c53f3", "ead6f7107935b916a44219d1bdfd00fb03e24717"


def word(n):
    """A number, or an address or other hex text as a number, as 32 bytes."""
    return (int(n, 16) if isinstance(n, str) else n).to_bytes(32, "big").hex()


def encode(args):
    """ABI: numbers and addresses are words, bytes are in the tail."""
    head, tail = "", ""
    for a in args:
        if isinstance(a, bytes):
            head += word(32 * len(args) + len(tail) // 2)
            tail += word(len(a)) + a.hex() + "00" * (-len(a) % 32)
        else:
            head += word(a)
    return head + tail


def data(signature, *args):
    return keccak(signature.encode())[:4].hex() + encode(args)


def words(*numbers):
    return "".join(word(n) for n in numbers)


def text(s):
    return words(32, len(s)) + s.encode().hex() + "00" * (-len(s) % 32)


ERROR = "08c379a0"


class Chain:
    def __init__(self, engine, work):
        self.engine, self.state = engine, os.path.join(work, "state.json")
        block = {"number": 1000, "time": 1700000000, "chain_id": 420420420, "author": "ff" * 20}
        write(self.state, json.dumps({"block": block, "accounts": {AL: {"balance": str(10**18)}}}))

    def run(self, name, options):
        done = call("run", os.path.join(CONTRACTS, name + ".polkavm"), "--host", "revive", "--json",
                            "--engine", self.engine, "--state", self.state, "--save-state", self.state, *options, text=True)
        document = json.loads(done.stdout)
        if "output" not in document:
            return [("error", done.stdout, [])]
        outcomes, events = [], []
        for line in document["output"].splitlines():
            parts = line.split()
            if parts[0] == "event":
                topics = [parts[i + 1][2:] for i in range(2, len(parts) - 2, 2)]
                events.append((parts[1][2:], topics, parts[-1][2:]))
            elif parts[0] == "return":
                outcomes.append(("ok" if parts[1] == "0" else "revert", parts[2][2:], events))
                events = []
            else:
                outcomes.append((parts[0], "", events))
                events = []
        if document["stop"] == "host":
            outcomes.append(("stopped", json.dumps(document), []))
        return outcomes

    def deploy(self, name, at, *args, sender=AL, value=0, time=None, uploads=()):
        options = ["--call", "deploy", "--address", at, "--caller", sender, "--value", str(value),
                   "--calldata", encode(args)]
        if time is not None:
            options += ["--time", str(time)]
        for upload in uploads:
            options += ["--upload", os.path.join(CONTRACTS, upload + ".polkavm")]
        same(self, f"deploy {name}", [o[0] for o in self.run(name, options)], ["ok"])

    def calls(self, name, steps):
        """Each step is (address, data, wanted outcome, wanted output[, wanted events][, options])."""
        options = []
        for step in steps:
            extra = step[-1] if isinstance(step[-1], dict) else {}
            options += ["--call", "call", "--address", step[0], "--calldata", step[1],
                        "--caller", extra.get("sender", AL), "--value", str(extra.get("value", 0))]
            if "time" in extra:
                options += ["--time", str(extra["time"])]
        got = self.run(name, options)
        same(self, f"{name}: calls", len(got), len(steps))
        for number, (step, outcome) in enumerate(zip(steps, got)):
            same(self, f"{name}: call {number} {step[1][:8]}", outcome[:2], (step[2], step[3]))
            if len(step) > 4 and isinstance(step[4], list):
                same(self, f"{name}: events of call {number}", outcome[2], step[4])

    def account(self, address):
        with open(self.state) as f:
            return json.load(f)["accounts"].get("0x" + address, {"balance": 0})

    def balances(self, wanted):
        for address, amount in wanted.items():
            same(self, f"balance of {address}", int(self.account(address)["balance"]), amount)


def same(chain, what, got, wanted):
    equal(f"{chain.engine}: {what}", got, wanted)


def topic(signature):
    return keccak(signature.encode()).hex()


# ---- the cases ----

def counter(c):
    c.deploy("Counter", FIRST)
    c.deploy("User", SECOND)
    C, U, set_topic = FIRST, SECOND, topic("Set(address,uint256)")
    attempts = [(1, 0, 5), (3, 0, 0x24), (2, 0x12, 0), (3, 0, 0), (0, 4, 0)]
    c.calls("Counter", [
        (U, data("set(address,uint256)", C, 5), "ok", word(0), [(C, [set_topic, word(U)], word(5))], {"value": 7}),
        (U, data("set(address,uint256)", C, 6), "ok", word(5)),
        (C, data("by()"), "ok", word(U)),
        (U, data("peek(address,uint256)", C, 50), "ok", words(0, 0x40, 0)),
        (C, data("n()"), "ok", word(6))] + [
        (U, data("attempt(address,uint256)", C, k), "ok", words(*attempts[k]),
         [(C, [set_topic, word(U)], word(4))] if k == 4 else []) for k in range(5)] + [
        (C, data("n()"), "ok", word(0x3e7)),
        (C, data("fail(uint256)", 1), "revert", keccak(b"Bad(uint256)")[:4].hex() + word(0x2a)),
        (C, data("fail(uint256)", 3), "trap", ""),
        (C, data("n()"), "revert", "", {"value": 1}),
        (C, "01020304", "revert", "")])
    c.balances({C: 7, U: 0})


def proxy(c):
    L, P = FIRST, SECOND
    c.deploy("Logic", L, 0x1234)
    c.deploy("Proxy", P, L)
    c.calls("Logic", [
        (P, data("bump(uint256)", 3), "ok", word(3), {"value": 11}),
        (P, data("bump(uint256)", 4), "ok", word(7), {"sender": BO}),
        (P, data("n()"), "ok", word(7)),
        (P, data("who()"), "ok", word(BO)),
        (P, data("me()"), "ok", word(P)),
        (P, data("paid()"), "ok", word(0)),
        (P, data("tag()"), "ok", word(0x1234)),
        (L, data("n()"), "ok", word(0)),
        (P, data("boom()"), "revert", ERROR + text("boom")),
        (P, data("n()"), "ok", word(7))])
    c.balances({P: 11, L: 0})
    same(c, "immutable data of the proxy", c.account(P).get("immutable"), "0x" + bytes.fromhex(L)[::-1].hex() + "00" * 12)


def factory(c):
    F = FIRST
    c.deploy("Factory", F, uploads=["Child"])
    child = keccak(read(os.path.join(CONTRACTS, "Child.polkavm"))).hex()
    made = ["3eedd0c6e2afcd5a986e3fa5084c29e65b57b74f", "26ea273c24d694b595dbddcb62819f592c0f6ca2"]
    salted = "26ab25241b03496848e52949a105b2645467ff90"
    c.calls("Factory", [
        (F, data("make(uint256)", 5), "ok", word(made[0]), {"value": 100}),
        (F, data("make(uint256)", 6), "ok", word(made[1])),
        (F, data("make(uint256)", 13), "revert", ERROR + text("unlucky")),
        (F, data("make2(uint256,bytes32)", 5, 7), "ok", word(salted)),
        (F, data("make2(uint256,bytes32)", 5, 7), "revert", ""),
        (F, data("try2(uint256,bytes32)", 5, 7), "ok", words(0, 0)),
        (F, data("try2(uint256,bytes32)", 13, 7), "ok", words(0, 0x64)),
        (F, data("try2(uint256,bytes32)", 7, 7), "ok", words(1, 0)),
        (F, data("hash(address)", AL), "ok", keccak(b"").hex()),
        (F, data("hash(address)", "77" * 20), "ok", word(0)),
        (F, data("hash(address)", made[0]), "ok", child),
        (made[0], data("v()"), "ok", word(5)),
        (made[0], data("parent()"), "ok", word(F)),
        (made[0], data("endow()"), "ok", word(0x64)),
        (made[0], data("size()"), "ok", word(0))])
    c.balances({made[0]: 100})
    fresh = Chain(c.engine, os.path.dirname(c.state))
    fresh.deploy("Factory", F)
    fresh.calls("Factory", [(F, data("make(uint256)", 5), "trap", "")])


def env(c):
    E = FIRST
    c.deploy("Env", E, int.from_bytes(b"Y" * 32, "big"))
    c.calls("Env", [
        (E, data("imm()"), "ok", "59" * 32 + word(1)),
        (E, data("blk()"), "ok", words(1000, 1700000000, 420420420, "ff" * 20)),
        (E, data("hash(uint256)", 999), "ok", keccak(b"block999").hex()),
        (E, data("hash(uint256)", 744), "ok", keccak(b"block744").hex()),
        (E, data("hash(uint256)", 1000), "ok", word(0)),
        (E, data("hash(uint256)", 743), "ok", word(0)),
        (E, data("who()"), "ok", words(AL, AL, 5, 5), {"value": 5}),
        (E, data("log(string)", b"hello"), "ok", "", [
            (E, [topic("Four(uint256,address,bytes32,string)"), word(7), word(AL), b"k".hex() + "00" * 31],
             text("hello")),
            (E, [], word(9))]),
        (E, data("m(address)", AL), "ok", word(5)),
        (E, data("tboth(uint256,uint256)", 1, 0x9988), "ok", words(0x9988, 0)),
        (E, data("tget(uint256)", 1), "ok", word(0))])


# ---- alt_bn128 and its twist, with numbers of the field extended by i as pairs (re, im) ----

PRIME = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47
ORDER = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001
TWIST_GENERATOR = ((0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed,
                    0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2),
                   (0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa,
                    0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b))


class Complex:
    def __init__(self, re, im=0):
        self.re, self.im = re % PRIME, im % PRIME

    def __add__(self, o):
        return Complex(self.re + o.re, self.im + o.im)

    def __sub__(self, o):
        return Complex(self.re - o.re, self.im - o.im)

    def __mul__(self, o):
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __eq__(self, o):
        return (self.re, self.im) == (o.re, o.im)

    def invert(self):
        n = pow(self.re ** 2 + self.im ** 2, -1, PRIME)
        return Complex(self.re * n, -self.im * n)

    def power(self, n):
        out, base = Complex(1), self
        while n:
            out, base, n = out * base if n & 1 else out, base * base, n >> 1
        return out


def add_points(a, b):
    if not a or not b:
        return a or b
    if a[0] == b[0] and not a[1] == b[1]:
        return None
    slope = Complex(3) * a[0] * a[0] * (a[1] + a[1]).invert() if a[0] == b[0] else (b[1] - a[1]) * (b[0] - a[0]).invert()
    x = slope * slope - a[0] - b[0]
    return x, slope * (a[0] - x) - a[1]


def times(n, point):
    plain = isinstance(point[0], int)
    base, out = tuple(Complex(v) if plain else Complex(*v) for v in point), None
    while n:
        out, base, n = add_points(out, base) if n & 1 else out, add_points(base, base), n >> 1
    return tuple(v.re if plain else (v.re, v.im) for v in out)


def other_point():
    """Of the twist, almost certainly of another order: the first x whose cube plus 3/(9+i) has a root."""
    for n in range(1, 100):
        square = Complex(n).power(3) + Complex(3) * Complex(9, 1).invert()
        half = square.power((PRIME - 3) // 4)  # p is 3 modulo 4
        root, sign = half * square, half * half * square
        y = Complex(0, 1) * root if sign == Complex(-1) else (Complex(1) + sign).power((PRIME - 1) // 2) * root
        if y * y == square:
            return (n, 0), (y.re, y.im)
    return None


def pair(p, q):
    return bytes.fromhex(words(p[0], p[1], q[0][1], q[0][0], q[1][1], q[1][0]))


def precompiles(c):
    P = FIRST
    c.deploy("Pre", P)
    r = "f1798afa44c1bc67819904da930e0df911ed500d5096577796e360d146af1481"
    s = "4394ae58771d8bbbb8c7229549e7b53db12ba4f4615e051ca7f9330ccdb850bb"
    msg = keccak(b"msg").hex()
    any_, rec = "any(address,bytes)", "rec(bytes32,uint8,bytes32,bytes32)"
    power = bytes.fromhex(words(1, 1, 1)) + bytes([3, 5, 7])
    g = words(1, 2)  # the generator of alt_bn128, and its double
    g2 = "030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3" \
         "15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4"
    state = "48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5" \
            "d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b"
    blake = b"\0\0\0\x0c" + bytes.fromhex(state) + b"abc".ljust(128, b"\0") + b"\3".ljust(16, b"\0") + b"\1"
    blake_out = hashlib.blake2b(b"abc").hexdigest()  # one block, hence one compression

    def ok(out):
        return words(1, 0x40, len(out) // 2) + out + "00" * (-(len(out) // 2) % 32)
    refused = words(0, 0x40, 0)
    c.calls("Pre", [
        (P, data("sha(bytes)", b"abc"), "ok", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (P, data("rip(bytes)", b"abc"), "ok", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc" + "00" * 12),
        (P, data(rec, msg, 28, r, s), "ok", word("bb39d1a9af4e3fdc9598bd78ac92e2811e2af6ca")),
        (P, data(rec, msg, 29, r, s), "ok", word(0)),
        (P, data(any_, 4, b"xyz"), "ok", ok(b"xyz".hex())),
        (P, data(any_, 5, power), "ok", ok("05")),
        (P, data(any_, 5, bytes.fromhex(words(1, 1025, 1))), "ok", refused),
        (P, data(any_, 5, bytes.fromhex(words(2, 1, 2)) + bytes([1, 0, 2, 0, 0])), "ok", ok("0000")),
        (P, data(any_, 9, b""), "ok", refused),
        (P, data(any_, 9, blake), "ok", ok(blake_out)),
        (P, data(any_, 9, blake[:-1] + b"\x02"), "ok", refused),
        (P, data(any_, 1, b""), "ok", ok("")),
        (P, data(any_, 6, bytes.fromhex(g + g)), "ok", ok(g2)),
        (P, data(any_, 6, bytes.fromhex(words(1, 3))), "ok", refused),
        (P, data(any_, 6, b""), "ok", ok(words(0, 0))),
        (P, data(any_, 7, bytes.fromhex(g + word(2))), "ok", ok(g2)),
        (P, data(any_, 8, b""), "ok", ok(word(1))),
        (P, data(any_, 8, b"x" * 191), "ok", refused),
        (P, data(any_, 8, b"x" * 192), "ok", refused),
        (P, data(any_, 10, b""), "ok", refused),
        (P, data("part(uint256,uint256)", 1, 3), "ok", "020304" + "00" * 29),
        (P, data("part(uint256,uint256)", 4, 0), "ok", word(0)),
        (P, data("part(uint256,uint256)", 1, 4), "trap", ""),
        (P, data("part(uint256,uint256)", 5, 0), "trap", "")])
    # e(aP, bQ) = e(P, Q)^(ab), the order of points of the twist, and how many pairs there may be
    (a, b), g1, g2 = (0x1234567890ABCDEF1234567, 0xFEDCBA9876543210FEDCB), (1, 2), TWIST_GENERATOR
    product = pair(times(a, g1), times(b, g2)) + pair(times(-a * b % ORDER, g1), g2)
    c.calls("Pre", [
        (P, data(any_, 8, bytes(192)), "ok", ok(word(1))),
        (P, data(any_, 8, product), "ok", ok(word(1))),
        (P, data(any_, 8, product + pair(g1, g2)), "ok", ok(word(0))),
        (P, data(any_, 8, pair(g1, times(a, g2)) + pair(times(-a % ORDER, g1), g2)), "ok", ok(word(1))),
        (P, data(any_, 8, pair(g1, other_point())), "ok", refused),
        (P, data(any_, 8, pair(g1, (g2[0], (g2[1][0] + 1, g2[1][1])))), "ok", refused),
        (P, data(any_, 8, pair((1, 2 + PRIME), g2)), "ok", refused)])
    options = ["--call", "call", "--address", P, "--calldata", data(any_, 8, bytes(192 * 257))]
    last = c.run("Pre", options)[-1]
    same(c, "many pairings stop", (last[0], "bn128 pairing" in last[1]), ("stopped", True))


def bank(c):
    B, S = FIRST, SECOND
    c.deploy("Bank", B)
    c.deploy("Sink", S, B)
    much = 10**19
    send, transfer, call = "viaSend(address,uint256)", "viaTransfer(address,uint256)", "viaCall(address,uint256)"
    did = topic("Did(uint256)")
    c.calls("Bank", [
        (B, "", "ok", "", {"value": 1000}),
        (B, data(send, BO, 10), "ok", word(1)),
        (B, data(send, BO, much), "ok", word(0)),
        (B, data(transfer, BO, much), "revert", ""),
        (B, data(call, BO, much), "ok", word(0)),
        (B, data(call, S, 20), "ok", word(1)),
        (S, data("got()"), "ok", word(20)),
        (S, data("setMode(uint256)", 1), "ok", ""),
        (B, data(call, S, 20), "ok", word(1)),
        (B, data("pokes()"), "ok", word(1)),
        (B, data(send, S, 20), "ok", word(0)),
        (B, data("pokes()"), "ok", word(1)),
        (S, data("setMode(uint256)", 2), "ok", ""),
        (B, data(call, S, 20), "ok", word(0)),
        (B, data(transfer, S, 20), "revert", ""),
        (B, data("log()"), "ok", word(7)),
        (B, data("outer()"), "ok", words(0, 1), [(B, [did], word(1)), (B, [did], word(10)), (B, [did], word(2))]),
        (B, data("log()"), "ok", word(17)),
        (B, data("deep(uint256)", 3), "ok", word(3)),
        (B, data("deep(uint256)", 40), "ok", word(0x18))])
    c.balances({B: 950, S: 40, BO: 10})


def token(c):
    T, S = FIRST, SECOND
    c.deploy("Token", T, 1000)
    c.deploy("Shop", S, T, 30)
    moved, allowed = topic("Transfer(address,address,uint256)"), topic("Approval(address,address,uint256)")
    few = keccak(b"TooLittle(uint256,uint256)")[:4].hex()
    bo = {"sender": BO}
    c.calls("Token", [
        (T, data("totalSupply()"), "ok", word(1000)),
        (T, data("owner()"), "ok", word(AL)),
        (T, data("mint(address,uint256)", BO, 9), "revert", keccak(b"NotOwner(address)")[:4].hex() + word(BO), bo),
        (T, data("mint(address,uint256)", BO, 100), "ok", "", [(T, [moved, word(0), word(BO)], word(100))]),
        (T, data("transfer(address,uint256)", CY, 101), "revert", few + words(100, 101), bo),
        (T, data("transferFrom(address,address,uint256)", AL, BO, 50), "revert", few + words(0, 50), bo),
        (T, data("approve(address,uint256)", BO, 80), "ok", word(1), [(T, [allowed, word(AL), word(BO)], word(80))]),
        (T, data("transferFrom(address,address,uint256)", AL, CY, 50), "ok", word(1),
         [(T, [moved, word(AL), word(CY)], word(50))], bo),
        (T, data("transferFrom(address,address,uint256)", AL, CY, 50), "revert", few + words(30, 50), bo),
        (T, data("allowance(address,address)", AL, BO), "ok", word(30)),
        # The shop takes 30 a piece, from whoever allowed it.
        (S, data("buy(uint256)", 2), "revert", few + words(0, 60), bo),
        (S, data("bought(address)", BO), "ok", word(0)),
        (S, data("tryBuy(uint256)", 2), "ok", word(0), [], bo),
        (S, data("bought(address)", BO), "ok", word(0)),
        (T, data("approve(address,uint256)", S, 70), "ok", word(1), bo),
        (S, data("tryBuy(uint256)", 2), "ok", word(1), [(T, [moved, word(BO), word(S)], word(60))], bo),
        (S, data("bought(address)", BO), "ok", word(2)),
        (T, data("balanceOf(address)", BO), "ok", word(40)),
        (T, data("balanceOf(address)", S), "ok", word(60)),
        (T, data("balanceOf(address)", AL), "ok", word(950))])


def auction(c):
    A = FIRST
    c.deploy("Auction", A, 3600, time=1000)
    late, low = keccak(b"TooLate()")[:4].hex(), keccak(b"TooLow(uint256)")[:4].hex()
    early = keccak(b"TooEarly(uint256)")[:4].hex()
    bid = data("bid()")
    bids = topic("Bid(address,uint256)")

    def at(time, sender, value=0):
        return {"time": time, "sender": sender, "value": value}
    c.calls("Auction", [
        (A, data("end()"), "ok", word(4600)),
        (A, bid, "ok", "", [(A, [bids, word(BO)], word(100))], at(1001, BO, 100)),
        (A, bid, "revert", low + word(100), at(1002, CY, 100)),
        (A, bid, "ok", "", at(1003, CY, 150)),
        (A, data("withdraw()"), "ok", word(100), at(1004, BO)),
        (A, data("settle()"), "revert", early + word(1), at(4599, AL)),
        (A, bid, "revert", late, at(4600, BO, 500)),
        (A, data("settle()"), "ok", "", [(A, [topic("Settled(address,uint256)"), word(CY)], word(150))], at(4600, BO)),
        (A, data("settle()"), "revert", ERROR + text("settled"), at(4601, BO))])
    c.balances({A: 0, AL: 10**18 + 150, BO: 100, CY: 0})


# ---- the machine around them ----

GAS = {}  # of every transaction, the same on all engines


def penta(engine, command, name, options, **more):
    file = name if os.path.sep in name else os.path.join(CONTRACTS, name + ".polkavm")
    return call(command, file, "--host", "revive", "--engine", engine, *options, text=True, **more)


def gas(c):
    c.deploy("Counter", FIRST)
    c.deploy("User", SECOND)
    plain, inner = (FIRST, data("set(uint256)", 5)), (SECOND, data("set(address,uint256)", FIRST, 6))

    def run(*calls):
        options = ["--state", c.state, "--caller", AL]
        for (address, given), limit in calls:
            options += ["--call", "call", "--address", address, "--calldata", given, "--gas", str(limit)]
        lines = [l.split() for l in penta(c.engine, "run", "Counter", options + ["-q"]).stdout.splitlines()]
        return ([" ".join(l[:2]) for l in lines if l[0] in ("return", "trap")],
                [int(l[1]) for l in lines if l[0] == "gas"], [l[2] for l in lines if l[0] == "return"])
    ends, used, _ = run((plain, 100000), (inner, 100000))
    same(c, "ends", ends, ["return 0", "return 0"])
    same(c, "an inner call is paid for", used[1] > used[0] + 100, True)
    # Enough for the caller alone: the callee runs out (code 5), and the caller reverts or runs out, too.
    few = [100, used[0] - 1, used[1] - used[0] // 2]
    ends, spent, outputs = run((plain, few[0]), (plain, few[1]), (inner, few[2]), ((FIRST, data("n()")), 10000))
    same(c, "too little gas", [e == "return 0" for e in ends], [False, False, False, True])
    same(c, "no more than given", [u <= most for u, most in zip(spent, few)], [True] * 3)
    same(c, "the state after it", outputs[-1], "0x" + word(0))
    same(c, "gas on every engine", used + spent, GAS.setdefault("gas", used + spent))


def debugger(c):
    """The debugger goes back over inner calls, and forwards to the same state with the recorded answers."""
    c.deploy("Bank", FIRST)
    calls = ["--state", c.state, "--gas", "1000000", "--address", FIRST]
    for n in (3, 2):
        calls += ["--call", "call", "--calldata", data("deep(uint256)", n)]
    script = "continue\nregisters\ngoto 5\ngoto {0}\nregisters\nback 900\nstep 900\nregisters\n"
    steps = [l for l in penta(c.engine, "debug", "Bank", calls, data="continue\n").stdout.splitlines()
             if l.startswith("step ")][-1].split()[1]
    out = penta(c.engine, "debug", "Bank", calls, data=script.format(steps)).stdout
    views = [part.split("\nmemory")[0].split("step ")[0] for part in out.split("gas ")[1:]]
    views = [v for v in views if "registers" in v]
    same(c, "views of the debugger", (len(views), len(set(views))), (3, 1))


def interrupts(c, work):
    """A deadline reaches the machine of an inner call."""
    source, program = os.path.join(work, "loop.pvmasm"), os.path.join(work, "loop.polkavm")
    write(source, "%isa = revive_v1\npub @call:\n@again:\njump @again\npub @deploy:\nret\n")
    exits(0, "asm", source, "-o", program)
    done = penta(c.engine, "run", "Counter", ["--contract", "33" * 20 + "=" + program, "--timeout", "0.3",
                                              "--call", "call", "--address", "33" * 20, "-q"])
    same(c, "a deadline inside", done.stdout.split()[:1], ["deadline"])


def refusals(c, work):
    """Options and states that make no sense are refused, and nothing is saved of a run that stopped."""
    def message(*options):
        done = penta(c.engine, "run", "Counter", list(options) + ["--call", "call"])
        return done.stderr if done.returncode else "accepted"
    bad = os.path.join(work, "bad.json")
    for text in ("[]", '{"acounts": {}}', '{"accounts": {"12": {}}}', '{"accounts": {"' + AL + '": {"balance": -1}}}',
                 '{"accounts": {"' + AL + '": {"code": "00"}}}', '{"codes": {"00": "00"}}', "{"):
        write(bad, text)
        same(c, f"state {text}", message("--state", bad) not in ("", "accepted"), True)
    for options in (["--value", "x"], ["--caller", "11"], ["--contract", "12=x"], ["--balance", AL],
                    ["--calldata", "abc"], ["--contract", AL + "=/nowhere"], ["--block", "-1"],
                    ["--save-state", os.path.join(CONTRACTS, "Counter.polkavm")]):
        same(c, f"option {options[0]}", message(*options) not in ("", "accepted"), True)
    outside = call("run", os.path.join(CONTRACTS, "Counter.polkavm"), "--call", "call", "--caller", AL, text=True)
    same(c, "an option without its host", "not revive" in outside.stderr, True)


def main():
    with tempfile.TemporaryDirectory() as work:
        for engine in ENGINES:
            for case in (counter, proxy, factory, env, precompiles, bank, token, auction):
                case(Chain(engine, work))
            gas(Chain(engine, work))
            debugger(Chain(engine, work))
            interrupts(Chain(engine, work), work)
        refusals(Chain(ENGINES[0], work), work)
    return summary()


sys.exit(main())
