"""Debugging by name, the structure of code, profiles, and machines of pvm and coil, run by ../python.py inside an environment
where penta was installed."""
import penta
from penta import coil, cvbc, pvm


def fails(error, call):
    try:
        call()
    except error:
        return
    raise AssertionError(error)


# ---- a program with lines, calls and variables ----
source = """int twice(int n) {
  return n + n;
}
int total = 0;
void setup() {
  for (int i = 0; i < 3; i++)
    total += twice(i);
}
void loop() {}
"""
program = penta.open(cvbc.compile(source, name="sum.ino"))
lines = program.lines()
assert {line.file for line in lines} == {"sum.ino"} and {2, 7} <= {line.line for line in lines}, lines
pc = program.find("sum.ino:7")
assert program.line_at(pc).line == 7 and program.line_at(10**6) is None and program.find("twice") == program.find("sum.ino:2")
assert program.name_at(program.find("twice")) == "twice"
fails(penta.Error, lambda: program.find("nowhere"))
structure = program.structure()
names = [function["name"] for function in structure["functions"]]
called = {names[call["callee"]] for call in structure["calls"] if "callee" in call}
assert {"twice", "setup"} <= set(names) and "twice" in called, structure["calls"]
call = next(call["pc"] for call in structure["calls"] if names[call["callee"]] == "twice")
assert program.branch(call).call and program.branch(call).target == program.find("twice") and program.branch(10**6) is None
kinds = program.sizes()
assert kinds[0] == ("file", "file", len(program.data)) and any(kind == "function" and name == "twice" for kind, name, _ in kinds)
assert sum(size for kind, _, size in kinds if kind == "section") == len(program.data)

session = program.session()
debugger = session.debugger()
number = debugger.add("twice", condition="n == 2")
stop = debugger.forward()
assert stop.kind == "break" and debugger.stopped_by == number and session.machine.eval("n") == 2, stop
frames = session.machine.frames()
assert len(frames) >= 2 and frames[0].depth > frames[1].depth and program.line_at(frames[1].pc).line == 7, frames
variables = {v.name: v for v in session.machine.variables()}
assert variables["n"].value == 2 and variables["n"].scope == "local", variables
assert variables["total"].scope == "global" and variables["total"].value == 2
assert {v.name: v.value for v in session.machine.variables(1)}["i"] == 2
debugger.finish()
assert len(session.machine.frames()) == len(frames) - 1
debugger.step_line()
assert session.machine.eval("total") == 6
step, changed = debugger.last_change("total")
assert program.line_at(changed).line == 7 and step > 0 and debugger.last_change("1 + 1") is None
stop = debugger.reverse()
assert debugger.stopped_by == number or stop.pc == program.find("twice"), stop
debugger.set("n", 10)
debugger.finish()
debugger.step_line()
assert session.machine.eval("total") == 22 and session.machine.eval("total == 22") is True
debugger.remove(number)
fails(KeyError, lambda: debugger.remove(number))
debugger.goto(0)
logger = debugger.add("twice", log="n is {n}")
watch = debugger.add("total", kind="watch", ignore=1)
assert [(point.number, point.kind, point.what) for point in debugger.points] == [(logger, "break", "twice"), (watch, "watch", "total")]
assert debugger.forward().kind == "break" and debugger.stopped_by == watch
assert debugger.logged[0] == (logger, "n is 0"), debugger.logged
debugger.change(watch, disabled=True)
assert debugger.points[1].disabled
debugger.goto(0)
assert debugger.until("sum.ino:7").pc == pc
debugger.goto(0)
debugger.limit(1)
assert debugger.until("sum.ino:7").kind == "interrupt" and session.steps == 1
debugger.limit(0)
assert debugger.resume().pc == pc
fails(penta.Error, debugger.resume)
before = len(session.machine.frames())
while session.machine.eval("pc") != call:
    debugger.forward(1)
debugger.next()
assert len(session.machine.frames()) == before
for wrong in (lambda: debugger.add("nowhere"), lambda: debugger.set("nothing", 1), lambda: session.machine.eval("1 +")):
    fails(penta.Error, wrong)
fails(ValueError, lambda: debugger.add("twice", kind="feel"))
assert session.machine.value("/nothing") is None and session.machine.value("/pc") is not None

# ---- profiles ----
session = program.session()
session.count()
session.run(2000)
profile = session.profile()
rows = {row["name"]: row for row in profile.table()["rows"]}
assert rows["twice"]["calls"] == 3 and profile.unit == "instructions" and profile.total == session.steps
assert profile.at(program.find("twice"))[0] == 3 and profile.at(10**6) is None
paths = profile.paths()
functions = [function["name"] for function in profile.structure()["functions"]]
inner = next(path for path in paths if path.function is not None and functions[path.function] == "twice")
assert functions[paths[inner.parent].function] == "setup" and inner.calls == 3
covered = {function["name"]: function for function in profile.coverage()["functions"]}
assert 0 < covered["twice"]["instructions"]["run"] <= covered["twice"]["instructions"]["all"]
assert "twice" in profile.folded() and "<svg" in profile.flamegraph(title="a run") and "SF:sum.ino" in profile.lcov()
assert "twice" in profile.table_text(by="line", top=5) + profile.table_text() and profile.coverage_text(uncovered=True) is not None
assert "<html" in profile.html(title="a run").lower()
both = penta.Profile(program)
both.read(profile.write())
both.add(profile)
assert both.total == 2 * profile.total and both.at(program.find("twice"))[0] == 6
fails(penta.Error, lambda: both.read(b"penta counts 1\n"))
fails(penta.Error, lambda: program.session().profile())

# ---- machines of pvm ----
module = penta.assemble("%isa = latest64\npub @add:\n a0 = a0 + a1\n ret\npub @ask:\n ecalli 7 // 'ask'\n ret\n", "pvm")
assert pvm.export(module, "add") == 0 and pvm.export(module, "nothing") is None and pvm.import_name(module, 99) is None
pool = pvm.Pool(module, gas=1000)
machine = pool.take()
machine.call("add", 40, -2)
assert machine.run().kind == "halt" and machine.register("a0") == 38 and machine.gas < 1000
machine.gas = 500
machine.call(pvm.export(module, "ask"), 1)
stop = machine.run()
assert stop.kind == "host" and stop.detail == 7
machine.set_register("t0", -1)
machine.end_call()
machine.answer(5)
assert machine.run().kind == "halt" and machine.register("a0") == 5 and machine.register("t0") == 2**64 - 1
assert machine.regions()[0].writable  # what the heap can become, also where nothing is mapped
machine.map(0x100000, 4096)
machine.write(0x100000, b"abc")
assert machine.read(0x100000, 3) == b"abc" and machine.writable(0x100000, 4096) and not machine.readable(0x100fff, 2)
machine.protect(0x100000, 4096, False)
assert not machine.writable(0x100000, 1) and machine.regions()[0].size >= 4096
fails(IndexError, lambda: machine.write(0x100000, b"x"))
fails(IndexError, lambda: machine.read(0, 2**40))
machine.unmap(0x100000, 4096)
fails(ValueError, lambda: machine.map(0x100001, 4096))
fails(KeyError, lambda: machine.call("nothing"))
fails(ValueError, lambda: setattr(machine, "gas", -1))
machine.reset()
assert machine.gas == 1000 and machine.difference() is None and isinstance(machine.grow_heap(0), int)
del pool  # machines in use stay valid
machine.call("add", 1, 1)
assert machine.run().kind == "halt"
del machine
asked = []
session = module.session(call="ask", host=lambda session, stop: asked.append(pvm.Machine.of(session).register("sp")) or 3)
assert session.run().kind == "halt" and asked[0] > 0
if "jit" in penta.engines("pvm") and penta.engine_for_run("pvm") == "jit" and module.machine("jit", call="add").engine == "jit":
    compiled = pvm.compile(module)
    assert compiled.listing[0].pc == 0 and compiled.listing[0].starts_block and compiled.native_bytes and compiled.instructions == 4
fails(TypeError, lambda: pvm.Pool(program))

# ---- COIL built in memory ----
made = coil.Builder()
made.function("main")
made.variable("x", "i32")
made.insn("MOV", coil.variable("x"), coil.number(-5, "i32"))
made.insn("ADD", coil.variable("x"), 47)
made.insn("BR", coil.symbol(".end"))
made.insn("TRAP", 1)
made.label(".end")
made.insn("MOV", coil.register(0), "%x")
made.insn("RET")
made.end()
made.section(".data")
made.directive(".align 8")
made.data(b"abcd")
made.zero(4)
built = made.finish()
for engine in penta.engines("coil"):
    machine = built.machine(engine)
    assert machine.run().kind == "halt" and coil.value(machine, 0) == 42, engine
    if machine.engine == "jit":
        assert coil.compilation(machine).functions == 1 and "main" in coil.pass_text(machine, coil.passes()[-1])
assert coil.compilation(built.machine("interp")) is None
fails(IndexError, lambda: coil.value(machine, 16))
bad = coil.Builder(big_endian=True)
bad.insn("NOTHING")
fails(penta.Error, bad.finish)

# ---- the rest of the lists ----
assert penta.about("pvm")["suffix"] == ".pvmasm" and penta.traps("kblob")[0]["name"] and penta.traps("nothing") == []
assert penta.probe(module.data, "pvm")[0] > 50 and penta.probe(b"", "pvm") == (0, "") and penta.probe(module.data, "pvm")[1]
assert penta.source_place("a\nbc\n", 3) == (2, 2) and "instructions" in built.info_text() + module.info_text()
blob = penta.assemble("WRITE64 0x10000, 0x2A\nHALT\n", "kblob")
assert blob.offset_of(1) == (32, 16) and blob.offset_of(9) is None
broken = bytearray(blob.data)
broken[16 + 2] = 9
broken = penta.open(bytes(broken))
findings = broken.validate()
assert findings and broken.paths(findings)[0].startswith("/code/") and broken.paths([]) == [], broken.paths(findings)
session = blob.session(map="0x10000:64")
session.record()
session.finish(session.run())
repeated = blob.replay(session.recorded())
assert repeated.recorded_end.kind == "halt" and repeated.recorded_calls == 0 and repeated.same_file
assert ("map", "0x10000:64") in repeated.recorded_options

# ---- parts of jam and tvmr ----
from penta import jam, tvmr
assert jam.call_name(0) == "gas" and jam.call_name(10**6) is None and "0.7.2" in jam.versions()
import hashlib
assert jam.hash(b"abc") == hashlib.blake2b(b"abc", digest_size=32).digest() and len(jam.segments_root(b"")) == 32
keys = [jam.chapter_key(2), jam.account_key(7), jam.storage_key(7, b"k"), jam.preimage_key(7, bytes(32)), jam.request_key(7, bytes(32), 1)]
assert len(set(keys)) == 5 and {len(key) for key in keys} == {jam.KEY}
host = jam.Host({"version": "0.7.2", "chain": "tiny", "accounts": []})
assert host.parameter("cores") == 2
asker = penta.assemble("%dialect = jam\n%isa = latest64\n%metadata = 00\n%stack_size = 4096\ntrap\n%hole 00 00 00 00\necalli 0\nret\n",
                       "pvm").encode()
state = jam.State(host, {"accounts": [{"id": 7, "balance": 10**6, "code": asker.hex()}]})
heard = []
host.on_call(lambda service, line: heard.append((service, line)))
host.on_log(lambda service, level, target, message: heard.append(message))
host.accumulate(state, slot=50, service=7, gas=1000)
assert heard[0][0] == 7 and "gas" in heard[0][1], heard
state.rollback()
state.store(7, b"key", b"value")
assert [change for change in state.diff() if b"key".hex() in str(change)] and state.get(jam.storage_key(7, b"key")) == b"value"

asking = penta.assemble(".registers\nC0: ternary[1, 2] key=\"w\"\nH0: i32[2]\n.program\nload_input H0\nternary_matmul H1, C0, H0\n"
                        "store_output H1\nhalt\n", "tvmr")
network = tvmr.Network(asking)
network.set("C0", [3, 4], shape=(1, 2))
network.chemicals([1, 2, 3, 4])
network.babble(2)
assert network.run([1, 1]).tolist() == [7] and network.reload(asking) and network.weights("C0") == [3, 4]
assert tvmr.domain(0xffffffff) is None
weights, pressures = tvmr.learn([10, -10, 0], [0, 0, 0], [100, 100, 0], 1)
assert len(weights) == 3 and pressures[0] > 0 or weights != [10, -10, 0], (weights, pressures)
assert tvmr.participants([100, 1, 90]) == [True, False, True]
assert all(20 <= abs(w) < 40 for w in tvmr.first_weights(8, 1)) and all(10 <= w < 25 for w in tvmr.first_weights(8, 1, positive=True))
with open("table.csv", "w") as file:
    file.write("1,2\n3,4\n")
assert tvmr.read_table("table.csv", 10) == [[10, 20], [30, 40]]
fails(ValueError, lambda: network.chemicals([1]))
fails(ValueError, lambda: tvmr.learn([1], [1, 2], [1], 0))
fails(TypeError, lambda: network.reload(blob))
