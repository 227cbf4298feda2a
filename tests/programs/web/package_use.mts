// A program of somebody else: uses the installed package by its types, and checks that all they declare exists.
import { readFileSync } from "node:fs";
import { load, PentaError, type Machine, type PentaFile, type Stop } from "penta-wasm";

const folder = process.argv[2];
const penta = await load();
const made = await penta.assemble("WRITE64 0x10000, 5\nHALT\n", "kblob");
if (!made.bytes) throw new PentaError({ message: "no bytes" });
const file: PentaFile = await penta.open(made.bytes, { name: "five.kblob" });
const { valid, items } = await file.findings();
const machine: Machine = await file.machine({ options: { map: "0x10000:64" } });
const stop: Stop = await machine.run({ fuel: 100, progress: at => void at.steps });
const memory = await machine.memory(0x10000, 8);
const converted: Uint8Array = await file.convert({ to: "2" });
const found = [valid, items.length, stop.kind, memory && memory[0], converted.length];
if (JSON.stringify(found) !== '[true,0,"halt",5,48]') throw new Error(`found ${JSON.stringify(found)}`);
try {
  await penta.open(new Uint8Array([1, 2, 3]));
  throw new Error("three bytes are no file");
} catch (error) {
  if (!(error instanceof PentaError)) throw error;
}

const version: string = JSON.parse(readFileSync(`${folder}/package.json`, "utf-8")).version;
if (version !== await penta.version()) throw new Error(`the package is ${version}, the library ${await penta.version()}`);
const declared = readFileSync(`${folder}/penta.d.ts`, "utf-8");
let names = 0;
for (const [name, thing] of Object.entries({ Penta: penta, PentaFile: file, Machine: machine })) {
  const body = declared.split(`export interface ${name} {`)[1].split("\n}")[0];
  for (const [, member] of body.matchAll(/^  (?:readonly )?(\w+)[?(:]/gm)) {
    if (!(member in thing)) throw new Error(`${name}.${member} is declared, but does not exist`);
    names++;
  }
}
console.log(`${names} members are declared and exist`);
penta.close();
