// engine.mjs WEB: what penta.js adds to the modules: files that move from one to another, runs in slices that can be stopped,
// breakpoints at the ends of slices, files in memory, errors for every wrong request.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [web] = process.argv.slice(2);
const {load, PentaError} = await import(pathToFileURL(`${web}/penta.js`));
const penta = await load({crypto: null});
const LOOP = `%isa = latest64
pub @main:
    a1 = 2000000000
    fallthrough
@loop:
    a0 = a0 + 0x3
    a1 = a1 + 0xffffffffffffffff
    jump @loop if a1 != 0
@end:
    ret
`;
let checks = 0;
const equal = (...args) => { assert.deepEqual(...args); checks++; };
const fails = async (what, ...expected) => { await assert.rejects(what, ...expected); checks++; };

// Assembling: lines of the instructions, and of an error.
const made = await penta.assemble(LOOP, "pvm");
equal(made.ok, true);
equal(made.map.map(one => one.line), [3, 4, 6, 7, 8, 10]);
const wrong = await penta.assemble(LOOP.replace("ret", "rett"), "pvm");
equal([wrong.ok, wrong.bytes, wrong.findings[0].line], [false, null, 10]);

// A file moves to the module with machines when the first is made, whatever else is asked meanwhile; its facts stay.
{
  const moving = await load({crypto: null});
  const [one, two] = [await moving.open(made.bytes, {format: "pvm"}), await moving.open(made.bytes, {format: "pvm"})];
  const facts = async file => [await file.info(), await file.findings(), await file.tree(), await file.lines(0, 100), await file.source()];
  const before = await facts(one);
  equal(await moving.usage().then(({machines, crypto}) => [machines, crypto]), [false, false]);
  const formats = await moving.formats();
  const [a, b, findings] = await Promise.all([one.machine(), one.machine(), one.findings()]);
  equal(findings, before[1]);
  equal([(await a.step(3)).steps, (await b.step(2)).steps], [3, 2]);
  equal((await moving.usage()).machines, true);
  equal(await facts(one), before);
  equal(await facts(two), before);
  equal(await moving.formats(), formats);
  equal((await moving.diff(one, two)).total, 0);
  equal(await facts(two), before);
  const {bytes} = await moving.usage();
  await a.close();
  for (let i = 0; i < 20; i++) await (await moving.open(made.bytes, {format: "pvm"})).close();
  equal((await moving.usage()).bytes, bytes);
  moving.close();
}
// What compresses is in the second module too: the text of a compressed file depends on how it would be compressed.
{
  const packing = await load({crypto: null});
  const text = readFileSync(new URL("../../cases/cvbc/compressed_runs.test", import.meta.url), "utf-8");
  const bytes = Buffer.from(text.match(/-- hex\n([0-9a-f\s]*)/)[1].replace(/\s/g, ""), "hex");
  const file = await packing.open(bytes);
  await file.findings();
  equal((await packing.usage()).machines, false);
  const again = await packing.assemble(await file.source(), "cvbc");
  equal((await packing.usage()).machines, true);
  equal(Buffer.from(again.bytes).equals(bytes), true);
}
// Where there is no module with machines, or it cannot be loaded, files can still be read.
for (const [machines, note] of [[null, undefined], ["no such file", /no such file/]]) {
  const reading = await load({machines, crypto: null});
  const file = await reading.open(made.bytes, {format: "pvm"});
  equal(await reading.prepare(), machines === null);
  await fails(file.machine(), error => error instanceof PentaError && error.name === "UNSUPPORTED" &&
    (note ? note.test(error.note) : !error.note));
  const {missing, valid} = await file.findings();
  equal([missing, valid], [undefined, true]);
}
// It can be loaded before: files are opened there then.
{
  const prepared = await load({crypto: null});
  equal(await prepared.prepare(), true);
  const file = await prepared.open(made.bytes, {format: "pvm"});
  equal((await (await file.machine()).step()).steps, 1);
}

// A run without an end is stopped; a breakpoint in it is met wherever slices end.
const file = await penta.open(made.bytes, {name: "loop", format: "pvm"});
const machine = await file.machine();
const running = machine.run();
setTimeout(() => machine.stop(), 20);
equal((await running).kind, "interrupt");
await machine.goto(3000);
const loop = await file.lineOf({source: "loop"}) ?? await file.lineOf({pc: made.map[2].pc});
const pc = (await file.lines(loop, 1)).lines[0].pc;
const point = await machine.addPoint({what: pc, ignore: 10});
for (const fuel of [1, 2, 3, 4, 5, 6]) {
  await machine.goto(2);
  await machine.changePoint(point, {ignore: 0});
  let stop;
  do stop = await machine.run({fuel}); while (stop.kind === "fuel");
  equal([stop.kind, stop.point, stop.pc], ["break", point, pc], `slices of ${fuel}`);
}
equal((await machine.points()).length, 1);
await machine.removePoint(point);
equal((await machine.back()).steps, (await machine.state()).steps);
await machine.set("a1", "1");
equal(await machine.evaluate("a1 + 1", 10), "2");
equal((await machine.run({fuel: 1000})).kind !== "fuel", true);

// So are a step far away, and a call that does not return; gone on with, both arrive where they would have.
const CALL = LOOP.replace("pub @main:", "pub @main:\n    ra = @after, jump @body\n@after:\n    ret\n@body:");
const caller = await penta.open((await penta.assemble(CALL, "pvm")).bytes, {format: "pvm"});
const calls = await caller.machine();
for (const motion of [() => calls.goto(1e15), () => calls.step(1e15), () => calls.next(), () => calls.finish()]) {
  if (motion.toString().includes("finish")) await calls.goto(5); else await calls.goto(0);
  const way = motion();
  setTimeout(() => calls.stop(), 20);
  equal((await way).kind, "interrupt", motion.toString());
}
await calls.goto(5);
await calls.set("a1", "400000");
const returned = await calls.finish();
equal([returned.kind, returned.text, returned.steps], ["fuel", "ret", 5 + 1 + 3 * 400000 + 1]);
equal((await calls.goto(700000)).steps, 700000);
equal((await calls.goto(5e6)).steps, 5e6);
await caller.close();

// Files exist in memory only.
await penta.setFile("text", "abc");
equal(new TextDecoder().decode(await penta.getFile("text")), "abc");
await penta.setFile("text", null);
equal(await penta.getFile("text"), null);

// Wrong requests are errors, and the module lives on.
await fails(penta.open(new Uint8Array([1, 2, 3])), PentaError);
await fails(file.tree("/nothing"), PentaError);
await fails(file.machine({options: {nonsense: 1}}), PentaError);
await fails(penta.assemble("", "nonsense"), PentaError);
await fails(machine.evaluate("1 +"), PentaError);
await fails(machine.addPoint({what: "nowhere"}), PentaError);
const ODD = [{}, [], null, "text", {call: 7}, {call: "nonsense"}, {call: "lines", file: 99}, {call: "lines", file: "x"},
             {call: "move", machine: -1}, {call: "open", options: [1]}, {call: "tree", file: 1, path: 5, depth: "x"},
             {call: "fields", file: 1, offset: "0xffffffffffffffff", length: 1e300}, {call: "memory", machine: 2, length: 1e15},
             {call: "lines", file: 1, from: 1e15, count: 1e15}, {call: "arrows", file: 1, from: 1e18, count: 1e18}];
for (const request of ODD) {
  await penta.link.call(request ?? {}).catch(() => {});
  equal(await penta.version(), (await penta.version()));
}
// A module that fails is not asked again; what was in it is lost, and the next file gets another instance.
{
  const {engine} = penta.link, {instance} = engine.thing(file.handle), {exports} = instance;
  instance.exports = {...exports, web_serve: () => { throw new WebAssembly.RuntimeError("unreachable"); }};
  await fails(file.info(), {name: "MODULE"});
  instance.exports = exports;
  await fails(file.info(), {name: "STATE"});
  await fails(machine.step(), {name: "STATE"});
  const next = await penta.open(made.bytes, {format: "pvm"});
  equal(engine.thing(next.handle).instance !== instance, true);
  equal((await (await next.machine()).step()).steps, 1);
  await next.close();
}
await file.close();
await fails(machine.step(), PentaError);
await fails(file.info(), PentaError);
console.log(checks);
process.exit(0);
