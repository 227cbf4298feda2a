// libpenta for pages and for node: see penta.d.ts for what there is, docs/web.md for how to use it.

export class PentaError extends Error {
  constructor({code = "", name = "", message = "", note, offset}) {
    super(message);
    Object.assign(this, {code, name, note, offset});
  }
}

const inNode = typeof process !== "undefined" && !!process.versions?.node;

// ---- the two ways to the engine ----

class WorkerLink {
  constructor(worker) {
    this.worker = worker;
    this.waiting = new Map();
    this.next = 1;
    worker.onmessage = ({data: {id, result, error, progress}}) => {
      const one = this.waiting.get(id);
      if (!one) return;
      if (progress) return void one.progress?.(progress);
      this.waiting.delete(id);
      if (error) one.reject(new PentaError(error)); else one.resolve(result);
    };
    worker.onerror = event => this.fail(event.message || "the worker could not be started");
  }
  send(message, progress) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, {resolve, reject, progress});
      this.worker.postMessage({id, ...message});
    });
  }
  call(request, data, progress) { return this.send({request, data}, progress); }
  fail(message) {
    for (const one of this.waiting.values()) one.reject(new PentaError({name: "WORKER", message}));
    this.waiting.clear();
  }
  close() {
    this.worker.terminate();
    this.fail("penta was closed");
  }
}

class DirectLink {
  constructor(engine) {
    this.engine = engine;
    this.last = Promise.resolve();
  }
  async call(request, data, progress) {
    if (!this.engine) throw new PentaError({name: "WORKER", message: "penta was closed"});
    try {
      return await this.engine.serve(request, data, progress);
    } catch (error) {
      if (error instanceof Error && !(error instanceof WebAssembly.RuntimeError)) throw error;
      throw new PentaError({code: error.code, name: error.name, message: error.message, note: error.note,
                            offset: error.offset});
    }
  }
  close() { this.engine = null; }
}

async function readInNode(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const {readFile} = await import("node:fs/promises");
  return readFile(source instanceof URL || !/^file:/.test(source) ? source : new URL(source));
}

// What a worker is told: bytes, or an absolute address.
function forWorker(source) {
  if (source === null || source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  return new URL(source, globalThis.location?.href).href;
}

export async function load(options = {}) {
  const beside = name => new URL(name, import.meta.url);
  const wasm = options.wasm ?? beside("penta.wasm");
  const machines = options.machines === undefined ? beside("penta-machines.wasm") : options.machines;
  const crypto = options.crypto === undefined ? beside("penta-crypto.wasm") : options.crypto;
  if (inNode || options.worker === false || typeof Worker === "undefined") {
    if (!globalThis.PentaEngine) await import("./worker.js");
    const read = inNode ? readInNode : async source =>
      typeof source === "string" || source instanceof URL ? (await fetch(source)).arrayBuffer() : source;
    const reader = source => source === null ? null : () => read(source);
    const engine = new globalThis.PentaEngine({wasm: reader(wasm), machines: reader(machines), crypto: reader(crypto)});
    await engine.ready();
    return new Penta(new DirectLink(engine));
  }
  const script = options.workerText === undefined ? beside("worker.js") :
    URL.createObjectURL(new Blob([options.workerText], {type: "text/javascript"}));
  const link = new WorkerLink(new Worker(script));
  await link.send({start: {wasm: forWorker(wasm), machines: forWorker(machines), crypto: forWorker(crypto)}});
  return new Penta(link);
}

// ---- the interface ----

const address = value => typeof value === "string" ? value : `0x${BigInt(value).toString(16)}`;
const encoder = new TextEncoder(), decoder = new TextDecoder();

class Penta {
  constructor(link) { this.link = link; }
  async version() { return (await this.link.call({call: "version"})).version; }
  async formats() { return (await this.link.call({call: "formats"})).formats; }
  async explain(code) { return (await this.link.call({call: "explain", code})).rule; }
  async detect(bytes) { return (await this.link.call({call: "detect"}, bytes)).guesses; }
  async setFile(name, contents) {
    const data = typeof contents === "string" ? encoder.encode(contents) : contents;
    await this.link.call({call: "set_file", name, remove: contents === null}, data?.slice());
  }
  async getFile(name) {
    const got = await this.link.call({call: "get_file", name});
    return got.found ? got.bytes : null;
  }
  async open(bytes, {name = "", format, options} = {}) {
    const opened = await this.link.call({call: "open", name, format, options}, bytes);
    return new PentaFile(this.link, name, opened);
  }
  async assemble(text, format, options) {
    const made = await this.link.call({call: "assemble", format, options}, encoder.encode(text));
    return {ok: made.ok, bytes: made.ok ? made.bytes ?? new Uint8Array(0) : null, findings: made.findings,
            map: made.map ?? []};
  }
  diff(a, b, limit) { return this.link.call({call: "diff", a: a.handle, b: b.handle, limit}); }
  async prepare() { return (await this.link.call({call: "prepare"})).ready; }
  usage() { return this.link.call({call: "usage"}); }
  close() { this.link.close(); }
}

class PentaFile {
  constructor(link, name, {handle, format, size, damage, crypto}) {
    Object.assign(this, {link, handle, name, format, size, damage, crypto});
  }
  ask(call, more, data) { return this.link.call({call, file: this.handle, ...more}, data); }
  async info() { return (await this.ask("info")).info; }
  async findings(limit) { return this.ask("findings", {limit}); }
  async tree(path = "", options = {}) { return (await this.ask("tree", {path, ...options})).node; }
  fields(offset, length) { return this.ask("fields", {offset, length}); }
  async place(offset) { return (await this.ask("place", {offset})).place; }
  async bytes(offset = 0, length) { return (await this.ask("bytes", {offset, length})).bytes ?? new Uint8Array(0); }
  async lineCount() { return (await this.lines(0, 0)).total; }
  lines(from, count) { return this.ask("lines", {from, count}); }
  async lineOf(place) { return (await this.ask("line_of", place)).line; }
  async arrows(from, count) { return (await this.ask("arrows", {from, count})).arrows; }
  async search(text, from = 0, backwards = false) { return (await this.ask("search", {text, from, backwards})).line; }
  async symbols() { return (await this.ask("symbols")).symbols; }
  async source(options) { return decoder.decode((await this.ask("source", {options})).bytes ?? new Uint8Array(0)); }
  async convert(options) { return (await this.ask("convert", {options})).bytes; }
  async seal(options) { return (await this.ask("seal", {options})).bytes; }
  async unseal(options) { return (await this.ask("unseal", {options})).bytes; }
  async machine({options, engine, unverified, stopAtCalls} = {}) {
    const made = await this.ask("machine", {options, engine, unverified, stop_at_calls: stopAtCalls});
    return new Machine(this.link, this, made);
  }
  async close() { await this.link.call({call: "close", handle: this.handle}); }
}

class Machine {
  constructor(link, file, {handle, engine}) { Object.assign(this, {link, file, handle, engine}); }
  ask(call, more, data) { return this.link.call({call, machine: this.handle, ...more}, data); }
  move(how, n) { return this.ask("move", {how, n}); }
  at() { return this.move("at"); }
  step(n = 1) { return n === 1 ? this.move("step", n) : this.run({fuel: n}); }
  next(options) { return this.go("next", options); }
  finish(options) { return this.go("finish", options); }
  back(n = 1) { return this.move("back", n); }
  goto(step, options) { return this.go("goto", options, step); }
  reverse() { return this.move("reverse"); }
  run(options) { return this.go("run", options); }
  go(how, {fuel, progress} = {}, n) {
    return this.link.call({call: "run", machine: this.handle, how, n, fuel}, undefined, progress);
  }
  async stop() { await this.ask("stop"); }
  answer(results) {
    return this.ask("answer", results === "default" ? {} : {results: results.map(address)});
  }
  state(options = {}) { return this.ask("state", options); }
  async memory(at, length) {
    const got = await this.ask("memory", {address: address(at), length});
    return got.mapped ? got.bytes ?? new Uint8Array(0) : null;
  }
  async map() { return (await this.ask("map")).map; }
  async frames() { return (await this.ask("frames")).frames; }
  async variables(frame = 0) { return (await this.ask("variables", {frame})).variables; }
  async output() {
    const got = await this.ask("output"), bytes = got.bytes ?? new Uint8Array(0);
    return {output: bytes.slice(0, got.output), errors: bytes.slice(got.output)};
  }
  async calls() { return (await this.ask("calls")).log.split("\n").filter(line => line !== ""); }
  async files() { return (await this.ask("files")).files; }
  async file(path) { return (await this.ask("file", {path})).bytes ?? new Uint8Array(0); }
  async putFile(path, contents) {
    await this.ask("put_file", {path}, typeof contents === "string" ? encoder.encode(contents) : contents.slice());
  }
  async finishHost() { return (await this.ask("finish_host")).text; }
  async evaluate(expression, base = 0) { return (await this.ask("evaluate", {expression, base})).value; }
  async set(what, value) { await this.ask("set", {what, value: String(value)}); }
  async addPoint(point) { return (await this.ask("add_point", {...point, what: String(point.what)})).number; }
  async changePoint(number, change) { await this.ask("change_point", {number, ...change}); }
  async removePoint(number) { await this.ask("remove_point", {number}); }
  async points() { return (await this.ask("points")).points; }
  async close() { await this.link.call({call: "close", handle: this.handle}); }
}
