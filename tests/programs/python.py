#!/usr/bin/env python3
"""The Python packages, installed by pip from the tree into a fresh environment, without network.

    tests/programs/python.py BUILD [VECTORS]         VECTORS: those of cvbc, used where they are present
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

INSIDE = r'''
import json, threading, time
import penta

assert "kblob" in penta.formats() and penta.version
module = penta.assemble(".extern buf\nWRITE64 buf, 0x2A\nREAD8 buf\nSLEEP 5\nHALT\n", "kblob", define="buf=0x10000")
data = module.encode()
assert penta.detect(data) == [("kblob", 100)] and penta.detect(b"") == []
again = penta.open(data)
assert again.format == "kblob" and again.valid and again.damage is None and again.encode() == data
tree = again.inspect()
assert tree[0]["name"] == "header" and tree[0]["children"][0]["value"] == "0xb105b105"
assert again.info()["instructions"] == 4
assert again.disassemble(define="buf=0x10000:8").startswith(".extern buf\n")
vm = again.machine(map=["0x10000:64", "0x20000:16"])
saved = vm.save()
vm.mark(1)
assert vm.run().kind == "break" and vm.step().steps == 1
stop = vm.run()
assert stop.kind == "host" and stop.args[0] == 5
try:
    vm.answer()
    raise SystemExit("an answer of the wrong size was taken")
except penta.Error as error:
    assert error.code == "PENTA0017"
vm.answer(5)
assert vm.run().kind == "halt" and vm.state["registers"]["last_read"] == "0x2a"
assert vm.peek(0x10000, 8) == (0x2a).to_bytes(8, "little")
vm.poke(0x20000, b"hi")
for data_of in (bytearray, memoryview):            # every buffer of bytes is one
    vm.poke(0x20000, data_of(b"abc"))
    assert vm.peek(0x20000, 3) == b"abc"
for wrong, error in ((lambda: vm.poke(0x20000, "abc"), TypeError), (lambda: vm.poke(0x20000, 7), TypeError),
                     (lambda: vm.run(2**64), OverflowError), (lambda: vm.run(-1), OverflowError),
                     (lambda: vm.run(1.5), TypeError), (lambda: vm.peek(2**64, 1), OverflowError),
                     (lambda: penta.open("text"), TypeError)):
    try:
        wrong()
    except error:
        continue
    raise AssertionError(error)
vm.poke(0x20000, b"hi")
vm.load(saved)
assert vm.state["pc"] == 0
for call in (lambda: vm.peek(5, 1), lambda: vm.mark(99)):
    try:
        call()
        raise SystemExit("out of range was taken")
    except IndexError:
        pass
broken = penta.open(data[:40])
assert broken.damage.code == "KBLOB0008" and not broken.valid and broken.validate()[0].offset == 40
for bad in (lambda: penta.open(b"noise"), lambda: penta.open(data, warp="9"), lambda: broken.machine(),
            lambda: penta.assemble("FOO\nBAR\n", "kblob"), lambda: broken.disassemble()):
    try:
        bad()
        raise SystemExit("a bad input was taken")
    except penta.Error as error:
        assert error.findings and error.findings[0].message
try:
    penta.pvm_link([("junk.o", b"\x7fELF and nothing more")], isa="latest64")
    raise SystemExit("linked what is no object")
except penta.Error as error:
    assert error.code == "PVM0301" and error.findings[0].message.startswith("junk.o: "), error
print("1 passed, 0 failed")

from penta import jam
token = penta.assemble("%dialect = jam\n%isa = latest64\n%metadata = 00\n%stack_size = 4096\n%rw_data = 6b6579\n"
                       "trap\n%hole 00 00 00 00\na0 = 0x20000\na1 = 3\na2 = 0x20000\na3 = 3\necalli 4\n"
                       "a0 = 0x20000\na1 = 32\nret\n", "pvm").encode()
host = jam.Host(chain="tiny")
assert host.parameter("cores") == 2
state = jam.State(host, {"accounts": [{"id": 7, "balance": 10**6, "code": token.hex()}]})
result = host.accumulate(state, slot=50, service=7, gas=1000)
assert result.exit == "halt" and result.gas_used == 18 and result.output[:3] == b"key", result
assert [now for _, before, now in state.changes() if before is None] == [b"key"]
state.rollback()
assert not state.changes()
outcome = host.block(state, {"slot": 51, "entropy": "00" * 32, "reports": []})
assert outcome.rounds == 0 and not outcome.services
assert state.document()["slot"] == 51
import hashlib
package = (b"\7\0\0\0" + hashlib.blake2b(token, digest_size=32).digest() + bytes(128 + 4 + 3) + b"\1"
           + b"\7\0\0\0" + hashlib.blake2b(token, digest_size=32).digest() + (1000).to_bytes(8, "little") * 2
           + bytes(2 + 3))
report = host.report(state, package)  # entry 0 of this service traps: it authorizes nothing
assert report.authorized.exit == "panic" and not report.items and not report.encoded, report
granted = penta.assemble("%dialect = jam\n%isa = latest64\n%metadata = 00\n%stack_size = 4096\n%rw_data = 6b6579\n"
                         "a0 = 0x20000\na1 = 3\nret\n", "pvm").encode()
state = jam.State(host, {"accounts": [{"id": 7, "balance": 10**6, "code": granted.hex()}]})
package = package.replace(hashlib.blake2b(token, digest_size=32).digest(), hashlib.blake2b(granted, digest_size=32).digest())
report = host.report(state, package)
assert [item.exit for item in report.items] == ["halt"] and report.items[0].output == b"key", report
outcome = host.block(state, {"slot": 52, "entropy": "00" * 32, "reports": [report.encoded.hex()]})
assert outcome.reports == 1 and outcome.services[7][0] == 1, outcome
try:
    jam.Host(version="9")
    raise SystemExit("an unknown version was taken")
except penta.Error as error:
    assert error.code == "PENTA0009"
'''


def main():
    library = os.path.join(os.path.abspath(sys.argv[1]), "lib", "libpenta.so")
    vectors = [os.path.abspath(path) for path in sys.argv[2:3]]
    with tempfile.TemporaryDirectory() as work:
        made = subprocess.run([sys.executable, "-m", "venv", os.path.join(work, "env")], capture_output=True)
        if made.returncode:
            print("no venv here: skipped", made.stderr.decode())
            return 77
        python = os.path.join(work, "env", "bin", "python")
        environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                       "PENTA_LIBRARY": library, "PIP_CONFIG_FILE": os.devnull}
        tree = os.path.join(work, "tree")
        subprocess.run(["cp", "-r", os.path.join(ROOT, "bindings", "python"), tree], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", tree], check=True, env=environment)
        subprocess.run([python, "-c", INSIDE], check=True, env=environment, cwd=work)
        place = os.path.join(work, "cvbc")
        os.mkdir(place)
        subprocess.run([python, os.path.join(ROOT, "tests", "programs", "cvbc", "interface.py"), place, *vectors], check=True,
                       env=environment, cwd=place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
