// wasi.mjs PROGRAM ARGUMENT...: runs a WebAssembly program with the files of this machine.
import {readFileSync} from "node:fs";
process.removeAllListeners("warning"); // that node:wasi is new
const {WASI} = await import("node:wasi");
const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({version: "preview1", args: [program, ...args], env: {}, preopens: {"/": "/"}, returnOnExit: true});
const module = await WebAssembly.compile(readFileSync(program));
const instance = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: wasi.wasiImport});
process.exit(wasi.start(instance));
