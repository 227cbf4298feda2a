"""What `import os
import penta` offers, run by ../python.py inside an environment where it was installed."""
import json, threading, time, warnings
import penta

assert "kblob" in penta.formats() and penta.version
module = penta.assemble(".extern buf\nWRITE64 buf, 0x2A\nREAD8 buf\nSLEEP 5\nHALT\n", "kblob", define="buf=0x10000")
data = module.encode()
assert penta.detect(data) == [("kblob", 100)] and penta.detect(b"") == []
inside = penta.detect_deep(b"?" * 5 + data + data[:20])
assert [(one.offset, one.size, one.format, one.state, one.depth) for one in inside] == [
    (5, len(data), "kblob", "valid", 0), (5 + len(data), len(data), "kblob", "header", 0)], inside
assert inside[0].error is None and inside[1].error.code == "PENTA0001"
assert penta.detect_deep(b"") == []
again = penta.open(data)
assert again.format == "kblob" and again.valid and again.damage is None and again.encode() == data
tree = again.inspect()
assert tree[0]["name"] == "header" and tree[0]["children"][0]["value"] == "0xb105b105"
assert again.info()["instructions"] == 4
assert again.disassemble(define="buf=0x10000:8").startswith(".extern buf\n")
# Files of a program for the console, in memory: it copies one.
session = penta.assemble("""%isa = latest64
%rw_data_size = 4096
%import "console_open"
%import "console_read"
%import "console_write"
pub @main:
u32 [0x20000] = 0x6e692f
u32 [0x20008] = 0x74756f2f
a0 = 0x20000
a1 = 3
a2 = 1
ecalli 0
a1 = 0x20010
a2 = 100
ecalli 1
s1 = a0
a0 = 0x20008
a1 = 4
a2 = 14
ecalli 0
a1 = 0x20010
a2 = s1
ecalli 2
ret
""", "pvm").session(files=":/")
session.put_file("/in", b"copied")
session.put_file("/a/b", bytearray(3))
assert session.run().kind == "halt" and session.file("/out") == b"copied"
assert session.files() == [{"path": "/a/b", "size": 3}, {"path": "/in", "size": 6}, {"path": "/out", "size": 6}]
for call in (lambda: session.file("/none"), lambda: session.put_file("/in/x", b""), again.session(map="0x10000:64").files):
    try:
        call()
        raise SystemExit("a file that is none was given")
    except penta.Error as error:
        assert error.code in ("PENTA0004", "PENTA0010"), error
# The structure of a program as a document: blocks with their edges, and calls.
looped = penta.assemble(""".global main
.func square
    MUL v1, v1
    RET
.endfunc
.func main
    MOV v2, 3
.next:
    CMP v2, 0
    BR EQ, @.done
    CALL @square
    DEC v2
    BR @.next
.done:
    RET
.endfunc
""", "coil").structure()
square, main = looped["functions"]
assert (square["name"], main["name"], main["instructions"]) == ("square", "main", 7)
edges = [(block["number"], edge["to"], edge["kind"]) for block in main["blocks"] for edge in block["edges"]]
assert edges == [(1, 2, "next"), (2, 3, "next"), (2, 5, "branch"), (3, 4, "next"), (4, 2, "jump")], edges
assert looped["calls"] == [{"pc": 4154, "caller": 1, "callee": 0, "tail": False}]
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
            lambda: penta.assemble("FOO\nQUX\n", "kblob"), lambda: broken.disassemble()):
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
# ---- views, code and lists ----
assert module.data.readonly and bytes(module.data) == data
assert "magic" in module.tree(select="/header") and "insn" not in module.tree(depth=1)
assert module.inspect(select="/header")[0]["name"] == "header" and "b1 05" in module.hex()
assert [p["value"] for p in module.select("/code/insn[0..1]/opcode")] and module.extract("/header/magic") == b"\x05\xb1\x05\xb1"
edited, dropped = module.edit({"/header/version": 7})
assert bytes(edited)[4] == 7 and not dropped and len(edited) == len(data)
other = penta.assemble("HALT\n", "kblob")
assert module.diff(module) == [] and module.diff(other)[0]["path"] == "/header/instCount"
assert module.diff(other, select="/header/version") == []
assert module.diff_code(module) == [] and module.diff_code_text(module) == ""
assert module.diff_code(other)[0]["instructions"] and "@@" in module.diff_code_text(other, form="side", width=60)
assert module.arrows() == [] and module.code(arrows="ascii") == module.code()
page = module.report(title="<a name>", folded=b"main;f 12\n")
assert page.startswith("<!DOCTYPE html>") and "&lt;a name&gt;" in page and "<a name>" not in page
for bad in ({"folded": b"main"}, {"counts": [b"nothing"]}):
    try:
        module.report(**bad)
        raise SystemExit("a bad input was taken")
    except penta.Error:
        pass
# Arrows of one lane have no row in common, unless they end at the same place; what has no lane found all of them taken.
jumps = penta.assemble(".global f\n.func f\n" + "".join(f".l{i}:\n BR EQ, @.l{i * 7919 % 97}\n" for i in range(97)) +
                       " RET\n.endfunc\n", "coil")
for lanes in (0, 3, 8, 40):
    arrows = jumps.arrows(lanes=lanes)
    assert len(arrows) == 97 and [a["from"] for a in arrows] == sorted(a["from"] for a in arrows)
    spans = [(a.get("lane"), min(a["from"], a["to"]), max(a["from"], a["to"]), a["to"]) for a in arrows]
    for lane, low, high, to in spans:
        met = {other[0] for other in spans if other[1] <= high and low <= other[2] and other[3] != to}
        assert lane is None or (lane < lanes and lane not in met)
        assert lane is not None or met >= set(range(min(lanes, 32)))
short = min(jumps.arrows(lanes=8), key=lambda a: abs(a["from"] - a["to"]))
assert short["lane"] == 0 and "lane" not in jumps.arrows(short["from"], short["from"])[0] or short["from"] == short["to"]
assert module.instruction(1).split() == ["READ8", "0x10000"] and module.instruction(9) is None
assert module.next_pc(0) == 1 and module.next_pc(3) in (4, None) and module.pc_of(32) == 1
assert "SLEEP" in module.code(range="2..2") and "READ8" not in module.code(range="2..2")
assert module.roundtrip() is None and repr(module) == "<penta.Module kblob, 80 bytes>"
pieces = []
module.disassemble_to(pieces.append)
assert b"".join(pieces).decode() == module.disassemble()
try:
    module.disassemble_to(lambda piece: 1 // 0)
    raise SystemExit("an exception was lost")
except ZeroDivisionError:
    pass
assert penta.engines("pvm")[0] == "interp" and penta.engines("nothing") == []
assert {"map"} <= {option["key"] for option in penta.options("kblob")}
assert any(rule["code"] == "KBLOB0009" and rule["explanation"] for rule in penta.rules())
assert len(penta.instructions("kblob")) >= 8
assert penta.spec_forms()[0] == "json" and penta.spec("kblob", "ksy").startswith("meta:")
assert json.loads(penta.spec("cvbc"))["records"][0]["name"] == "header"
for wrong in (lambda: penta.options("nothing"), lambda: penta.instructions("nothing"), lambda: penta.spec("nothing"),
              lambda: penta.spec("pvm", "nothing")):
    try:
        wrong()
        raise SystemExit("an unknown format was taken")
    except (ValueError, penta.Error):
        pass
held = bytearray(data)
view = penta.open(memoryview(held)[:])               # where the bytes are: no copy
try:
    held.append(0)
    raise SystemExit("the bytes of an open module were moved")
except BufferError:
    pass
del view
held.append(0)
mapped = bytearray(8)
vm.peek_into(0x20000, mapped)
assert len(mapped) == 8

# ---- sessions, trace, debugger ----
session = module.session(map="0x10000:64")
stop = session.run()
assert stop.kind == "halt" and session.steps == 4 and session.calls == 1 and session.failure is None
assert session.machine.engine == penta.engines("kblob")[0] and "last_read" in session.machine.text()
asked = []
session = module.session(map="0x10000:64", host=lambda session, stop: asked.append(session.machine.detail(stop)) or stop.args[0])
session.keep_log(9)
assert session.run().kind == "halt" and asked == ["SLEEP"] and session.log()[0]["results"] == ["0x5"]
assert isinstance(session.finish(session.run()), dict) and session.output() == b"" and not session.console
session = module.session(map="0x10000:64", host=lambda session, stop: 1 // 0)
try:
    session.run()
    raise SystemExit("an exception of the host was lost")
except ZeroDivisionError:
    pass
for inside in (lambda s: s.run(), lambda s: s.step(), lambda s: s.trace(), lambda s: s.trace_text(), lambda s: s.load(s.machine.save()),
               lambda s: s.machine.load(s.machine.save()), lambda s: s.set_host(None), lambda s: s.debugger(), lambda s: s.finish(stop)):
    session = module.session(map="0x10000:64", host=lambda session, stop: inside(session))
    try:
        session.run()
        raise SystemExit("a host ran its own session")
    except RuntimeError as refused:
        assert "the session is running" in str(refused), refused
    session.set_host(None)  # it can be used again
    assert session.run().kind == "halt"
for inside in (lambda d: d.back(), lambda d: d.close()):
    session = module.session(map="0x10000:64", host=lambda session, stop: inside(debugger))
    debugger = session.debugger()
    try:
        debugger.forward()
        raise SystemExit("a host moved its debugger")
    except RuntimeError as refused:
        assert "the session is running" in str(refused), refused
    debugger.close()
session = module.session(map="0x10000:64")
session.stop_at_calls()
assert session.run().kind == "host"
session.answer_default()
lines, stop = session.trace()
assert stop.kind == "halt" and [line["text"] for line in lines] == ["HALT"] and lines[0]["stop"] == "halt"
assert "READ8" in module.session(map="0x10000:64").trace_text(match="READ8")
for run in (session.machine.run, session.machine.answer):
    try:
        run()
        raise SystemExit("the machine of a session ran alone")
    except TypeError:
        pass
session = module.session(map="0x10000:64")
debugger = session.debugger()
assert debugger.forward().kind == "halt" and debugger.back(3).pc == 1 and debugger.goto(0).pc == 0
before = session.machine.save()
debugger.watch("/registers/last_read")
stop = debugger.forward()
assert stop.kind == "break" and debugger.hit == "/registers/last_read" and debugger.watches == [debugger.hit]
debugger.mark(3)
assert debugger.marks == [3] and debugger.forward().pc == 3
debugger.goto(0)
assert session.machine.save() == before
session = module.session(map="0x10000:64")
session.record()
session.finish(session.run())
repeated = module.replay(session.recorded())
assert repeated.run().kind == "halt" and repeated.machine.save() == session.machine.save()
again = module.replay(session.recorded()).debugger()
assert again.forward().kind == "halt" and again.back(1).kind == "fuel"
repeated.load(before)
assert repeated.steps == 0
for wrong in (lambda: debugger.watch("nothing"), lambda: module.replay(b"noise"),
              lambda: module.replay(b"")):
    try:
        wrong()
        raise SystemExit("a bad watch or record was taken")
    except penta.Error as error:
        assert error.code and error.name and error.message and error.offset <= 1, error
program = penta.assemble("%isa = latest64\npub @main:\n a0 = 7\n ret\n", "pvm")
assert program.exports == {"main": 0} and program.imports == {}, program.parts()
assert penta.open(program.convert(to="jam"), "pvm").valid

# ---- linking ----
native = penta.assemble(".global main\n.func main\n RET\n.endfunc\n", "coil").compile()
assert native[:4] == b"\x7fELF", native[:4]
objects = [("main.coil", penta.assemble(".global main\n.func main\n CALL @f\n RET\n.endfunc\n", "coil").encode()),
           ("f.coil", penta.assemble(".global f\n.func f\n RET\n.endfunc\n", "coil").encode(), True)]
listed = []
linked = penta.open(penta.link(objects, map=listed, entry="main"))
assert linked.format == "coil" and "f.coil" in listed[0], listed
try:
    penta.link(objects[:1])
    raise SystemExit("linked without what is missing")
except penta.Error as error:
    assert error.name == "UNDEFINED" and error.findings[0].message.startswith("main.coil: "), error.findings
try:
    penta.link([])
    raise SystemExit("linked nothing")
except penta.Error:
    pass

# ---- containers ----
from penta import cvbc
plain = penta.assemble("HALT\n", "cvbc")
key = cvbc.generate_key("p256")
with open("key.pem", "wb") as file: file.write(key)
with open("key.pub", "wb") as file: file.write(cvbc.public_key(key))
signed = cvbc.sign(plain, sign_key="key.pem")
verdict = cvbc.verify(penta.open(signed, trusted_key="key.pub"))
assert verdict.good and verdict.trust == "key" and verdict.fingerprint == cvbc.fingerprint(key), verdict
assert not cvbc.verify(penta.open(signed)).good and cvbc.verify(penta.open(signed), False).trust == "embedded"
assert not cvbc.verify(plain).good and cvbc.verify(plain, require_signature=False).good
assert cvbc.objection(plain) is None and cvbc.part(penta.open(signed), "signature")
space = penta.open(cvbc.sign(plain, public_key="key.pub"))
assert len(cvbc.to_be_signed(space)) == 40
made = cvbc.compile("void setup() {} void loop() {}")
assert penta.open(made).valid and "debug" in cvbc.parts()
changed = bytearray(signed)
changed[-1] ^= 1
for wrong, name in ((lambda: cvbc.attach(space, bytes(64)), "SIGNATURE"), (lambda: cvbc.sign(plain), "KEY"),
                    (lambda: cvbc.compile("nothing"), None), (lambda: cvbc.part(plain, "soul"), "OPTION_VALUE")):
    try:
        wrong()
        raise SystemExit("a bad container was made")
    except penta.Error as error:
        assert name in (None, error.name), error.name
assert cvbc.check_board(plain, "nowhere") and cvbc.boards()
try:
    cvbc.verify(module)
    raise SystemExit("a blob was verified")
except TypeError:
    pass
with open("secret", "wb") as file: file.write(bytes(range(32)))
sealed = penta.open(plain.seal(key_file="secret"))
assert penta.open(penta.open(sealed.encode(), key_file="secret").unseal()).disassemble() == plain.disassemble()

# ---- the libraries beside it ----
from penta import conform, device
with open("vectors.json", "w") as file: file.write("{}")
report = conform.run("vectors.json")
assert (report.passed, report.results[0]["verdict"]) == (0, "ignored"), report
calls = device.run("$a = alloc 16\nsize $a == 16\n", mode="serial", trace="run.jsonl")
assert [call["status"] for call in calls] == ["Success", "Success"] and "serial" in device.modes()
with open("run.jsonl", "rb") as file: assert device.replay(file.read()).differences == 0
try:
    device.run("alloc 16\nsize 5 == 16\n")
    raise SystemExit("a wrong script passed")
except penta.Error as error:
    assert len(error.calls) == 2 and error.offset

races = device.check("$a = alloc 16\nsize $a == 16\n", 7)
assert (races.seed, races.count, races.first, races.failure, len(races.calls)) == (7, 0, "", None, 2), races
assert device.check("alloc 16\nsize 5 == 16\n", 7).failure.offset

rows = penta.assemble("%isa = latest64\n%export \"f\" = @f\n@f:\n a0 = a1 + a2\n jump @f if a0 == 0\n ret\n", "pvm").instructions()
assert [(row["mnemonic"], row["operands"]) for row in rows[:2]] == [
    ("add_64", ["a0", "a1", "a2"]), ("branch_eq_imm", ["a0", "0", "0"])], rows
assert rows[0]["label"] == "f" and rows[0]["gas"] == 2 and rows[1]["target"] == 0 and bytes.fromhex(rows[0]["bytes"])

# ---- what was found, for other programs ----
import json
import xml.etree.ElementTree
from penta import results
sarif = results.Sarif()
text = "HALT\nWRIT 3\n"
try:
    penta.assemble(text, "kblob")
except penta.Error as error:
    sarif.add("a.kasm", error.findings, source=text)
broken = penta.open(bytes.fromhex("05b105b1010000001000000001000000ff") + bytes(15))
sarif.add("a b.kblob", broken.validate(), broken)
sarif.add_document(json.dumps({"file": "c", "diagnostics": [{"code": "KBLOB0009", "severity": "error", "message": "m"}]}).encode())
run, = json.loads(sarif.write())["runs"]
places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
assert [place["artifactLocation"]["uri"] for place in places] == ["a.kasm", "a%20b.kblob", "c"], places
assert places[0]["region"] == {"startLine": 2, "startColumn": 1} and places[1]["region"] == {"byteOffset": 16, "byteLength": 1}
assert run["results"][1]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "/code/insn[0]/opcode"
assert run["results"][1]["ruleIndex"] == run["results"][2]["ruleIndex"] == 1
junit = results.Junit()
junit.add("suite", "good")
junit.add("suite", "<bad>", "failed", "a\0b", "line 1\nline 2")
junit.add_line("validate", b'{"source":"x","exit":3,"verdict":"format","document":{"diagnostics":[]}}')
tree = xml.etree.ElementTree.fromstring(junit.write())
assert dict(tree.attrib, name="") == {"name": "", "tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
assert [case.get("name") for case in tree.iter("testcase")] == ["good", "<bad>", "x"]

# ---- many files ----
import os
import pickle
from penta import batch
os.mkdir("many")
for k in range(5):
    with open(f"many/{k}.kblob", "wb") as file: file.write(plain.encode()[:None if k < 4 else 9])
ticks = []
totals = batch.run("validate", "many", "many.jsonl", jobs=2, strict=True, progress=ticks.append)
assert totals.done == 5 and totals.complete and ticks and sum(totals.exits.values()) == 5 and totals.exits[0] == 4, totals
kept = list(batch.records("many.jsonl"))
assert [record["source"] for record in kept] == batch.names("many") == [f"many/{k}.kblob" for k in range(5)]
with batch.Pool("validate", strict=True) as pool:
    assert pool.records(batch.names("many")) == kept and pool.records(["many/3.kblob"], first=3) == kept[3:4]
batch.plan("validate", "many", "parts.jsonl", 2, strict=True)
for shard in ("0/2", "1/2"):
    batch.run("validate", [], "parts.jsonl", names_from="parts.jsonl.list", shard=shard, strict=True)
assert batch.merge("parts.jsonl").done == 5 and list(batch.records("parts.jsonl")) == kept
assert batch.status("parts.jsonl")["complete"] and "many/0.kblob" in batch.report("parts.jsonl")
assert os.path.exists(batch.submit("validate", "many", "slurm.jsonl", 3, dry_run=True)["script"])
try:
    batch.run("validate", "many", "many.jsonl", strict=False)
    raise SystemExit("other options went on")
except penta.Error as error:
    assert pickle.loads(pickle.dumps(error)).note == error.note
print("1 passed, 0 failed")

from penta import jam
token = penta.assemble("%dialect = jam\n%isa = latest64\n%metadata = 00\n%stack_size = 4096\n%rw_data = 6b6579\n"
                       "trap\n%hole 00 00 00 00\na0 = 0x20000\na1 = 3\na2 = 0x20000\na3 = 3\necalli 4\n"
                       "a0 = 0x20000\na1 = 32\nret\n", "pvm").encode()
parts = penta.open(token, "pvm")
assert parts.exports == {"refine": 0, "accumulate": 5} and parts.imports == {"write": 4}, parts.parts()
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
# ---- ternary networks ----
from penta import tvmr
import array

net = tvmr.Network(penta.assemble(
    ".registers\nC0: ternary[2, 3] key=\"w\"\nH0: i32[3]\n.program\nload_input H0\nternary_matmul H1, C0, H0\nstore_output H1\n"
    "unsqueeze H2, H1, 1\nhalt\n", "tvmr"))
net.set("C0", [[1, 2, 3], [-1, 0, 255]][0] + [-1, 0, 255], shape=(2, 3))
assert net.weights("C0") == [1, 2, 3, -1, 0, 255] and net.shape("C0") == (2, 3)
for given in ([10, 20, 30], (10, 20, 30), array.array("i", [10, 20, 30]), array.array("h", [10, 20, 30]), bytes([10, 20, 30])):
    assert net.run(given).tolist() == [140, 7640], given
out = net.output
assert out.readonly and out.format == "i" and net.register("H2").tolist() == [[140], [7640]]
assert net.register("C0").shape == (2, 3, 2) and net.register("C0").tolist()[1][0] == [255, 1]
part = out[1:]
for call in (lambda: net.run([1, 2, 3]), lambda: net.set("H0", [1]), lambda: net.load_weights("nowhere")):
    try:
        call()
        raise SystemExit("the machine moved memory that a view shows")
    except BufferError:
        pass
assert part[0] == 7640
del out, part
assert net.run([1, 0, 0]).tolist() == [1, -1]

# Weights of another program are an error, those of a part of it a warning.
net.save_weights("w.tvmw")
half, other = (tvmr.Network(penta.assemble(f".registers\nC0: ternary[2, 3] key=\"{a}\"\nC1: ternary[1] key=\"{b}\"\n.program\nhalt\n", "tvmr"))
               for a, b in (("w", "v"), ("u", "v")))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert half.load_weights("w.tvmw") == 1 and net.load_weights("w.tvmw") == 1
    assert len(told) == 1 and "1 of 2 registers" in str(told[0].message) and "only the program has v" in str(told[0].message), told
try:
    assert half.load_weights("w.tvmw") == 1 and len(half.machine.findings()) == 1
    half.reload(net.machine.module)
    assert not half.machine.findings(), "what was told of the program before"
    other.load_weights("w.tvmw")
    raise SystemExit("weights without a register were taken")
except penta.Error as error:
    assert error.note == "keys of the file: w; of the program: u, v", error.note
for wrong, error in ((lambda: net.register("H9"), KeyError), (lambda: net.register("Q0"), ValueError), (lambda: net.set("C0", [256]), ValueError),
                     (lambda: net.run([2**31]), OverflowError), (lambda: net.run(array.array("d", [1.5])), TypeError),
                     (lambda: tvmr.Network(module), TypeError), (lambda: net.register("S0"), ValueError)):
    try:
        wrong()
    except error:
        continue
    raise AssertionError(error)

two = tvmr.Network(penta.assemble(
    ".registers\nC0: ternary[1, 2] key=\"a\"\nC1: ternary[1, 2] key=\"b\"\nH0: i32[2]\nH1: i32[2]\n.program\nload_input H0\n"
    "ternary_matmul H2, C0, H0\nternary_matmul H3, C1, H0\nconcat H4, H2, H3\nstore_output H4\nload_target H1\nif_zero H1, done\n"
    "slice H5, H1, 0, 1\nslice H6, H1, 1, 1\nmastery_update C0, H0, H5\nmastery_commit C0, threshold=2\nmastery_update C1, H0, H6\n"
    "mastery_commit C1, threshold=2\ndone:\nhalt\n", "tvmr"))
rows, classes, told = [[9, 1], [1, 9], [8, 2], [2, 7]], [0, 1, 0, 1], []
trained = two.train(rows, classes, off=-255, epochs=5, goal=100, seed=3, progress=told.append)
assert trained.judged.accuracy == 1 and trained.judged.confusion == [[2, 0], [0, 2]] and trained.ended == "goal"
assert [epoch.number for epoch in told] == list(range(1, trained.epochs + 1)) and told[-1].right == 4
assert two.judge(rows, classes).right == 4 and max(range(2), key=list(two.run([1, 8])).__getitem__) == 1
assert two.train(rows, classes, epochs=9, progress=lambda epoch: False).ended == "stopped"
for wrong, error in ((lambda: two.train(rows, [0, 1]), penta.Error), (lambda: two.train(rows, classes, epochs="x"), penta.Error),
                     (lambda: two.train([[1], [2, 3]], [0, 1]), ValueError), (lambda: two.train(rows, classes, progress=lambda epoch: 1 // 0), ZeroDivisionError)):
    try:
        wrong()
    except error:
        continue
    raise AssertionError(error)
try:
    import numpy
    weights = numpy.arange(-3, 3, dtype=numpy.int32).reshape(2, 3)
    net.set("C0", weights)
    data = numpy.array([1, 2, 3], dtype=numpy.int32)
    seen = numpy.asarray(net.run(data))
    assert seen.dtype == numpy.int32 and (seen == weights @ data).all() and not seen.flags.writeable and not seen.flags.owndata
    assert seen.ctypes.data == numpy.asarray(net.output).ctypes.data, "the same memory"
    try:
        net.run(data)
        raise SystemExit("an array outlived the memory it shows")
    except BufferError:
        del seen
    assert numpy.asarray(net.run(numpy.array([1, 2, 3], dtype=numpy.uint8))).tolist() == (weights @ data).tolist()
    signals = numpy.asarray(net.register("C0")).view([("polarity", "i1"), ("magnitude", "u1")])[..., 0]
    assert (signals["polarity"].astype(int) * signals["magnitude"] == weights).all()
    del signals
    assert two.train(numpy.array(rows), numpy.array(classes), off=-255).judged.right == 4
except ImportError:
    print("without NumPy: its arrays were not tried")
with open("sight.manifest", "w") as file:
    file.write("extension sight 0x5e01\ninstruction look ds--\ntype dot 0x5e10 3\n")
seeing = penta.assemble(".requires\nsight\n.registers\nH0: dot[2]\n.program\nload_input H0\nsight.look H1, H0\nstore_output H1\nhalt\n",
                        "tvmr", extension="sight.manifest")
assert "sight.look H1, H0" in penta.open(seeing.encode(), extension="sight.manifest").disassemble()
looked = tvmr.Network(seeing, answer=lambda network, stop: network.set("H1", [stop.args[0], 5]))
assert looked.run([1, 2]).tolist() == [1, 5]
