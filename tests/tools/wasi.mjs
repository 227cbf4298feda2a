// wasi.mjs PROGRAM ARGUMENT...: runs a WebAssembly program with the files of this machine. It runs in a process of its own, which
// writes its exit code to a pipe and kills itself: node 20 may crash while it leaves a module that ran for long.
import {spawn} from "node:child_process";
import {readFileSync, writeSync} from "node:fs";
import {fileURLToPath} from "node:url";

const PIPE = 3, [program, ...args] = process.argv.slice(2);

function end(code) {
  writeSync(PIPE, String(code));
  process.kill(process.pid, "SIGKILL");
}

if (process.env.WASI_PROGRAM === program) {
  const {WASI} = await import("node:wasi");
  const wasi = new WASI({version: "preview1", args: [program, ...args], env: {}, preopens: {"/": "/"}});
  const module = await WebAssembly.compile(readFileSync(program));
  const instance = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: {...wasi.wasiImport, proc_exit: end}});
  wasi.start(instance);
  end(0);
} else {
  let told = "";
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), program, ...args],
                      {stdio: ["inherit", "inherit", "inherit", "pipe"], env: {...process.env, WASI_PROGRAM: program}});
  child.stdio[PIPE].on("data", data => { told += data; });
  child.on("close", () => process.exit(told === "" ? 1 : Number(told)));
}
