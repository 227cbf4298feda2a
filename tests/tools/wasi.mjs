// wasi.mjs PROGRAM ARGUMENT...: runs a WebAssembly program with the files of this machine. It runs in a process of its own, which
// tells its exit code and is killed: node 20 may crash while it takes down a module that ran for long.
import {fork} from "node:child_process";
import {readFileSync} from "node:fs";
import {fileURLToPath} from "node:url";

const [program, ...args] = process.argv.slice(2);
if (process.send) {
  const {WASI} = await import("node:wasi");
  const wasi = new WASI({version: "preview1", args: [program, ...args], env: {}, preopens: {"/": "/"}, returnOnExit: true});
  const module = await WebAssembly.compile(readFileSync(program));
  const instance = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: wasi.wasiImport});
  process.send(wasi.start(instance), () => process.kill(process.pid, "SIGKILL"));
} else {
  let code = 1;
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), {execArgv: process.execArgv});
  child.on("message", told => { code = told; });
  child.on("exit", () => process.exit(code));
}
