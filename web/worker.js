/* The engine of penta.js: owns the WebAssembly modules, runs machines in slices. A classic script without
 * imports, so that a page can make a worker of its text; in node it runs in the caller's thread. It sets
 * globalThis.PentaEngine, and in a worker it listens. */
"use strict";
(() => {

// ---- the system that the C library sees: files in memory, a clock, random numbers ----

const OK = 0, BADF = 8, INVAL = 28, IO = 29, NOENT = 44, NOSYS = 52, NOTDIR = 54, SPIPE = 70;
const FILE = 4, FOLDER = 3, DEVICE = 2;

class System {
  constructor(files) {
    this.files = files;           // name -> Uint8Array
    this.open = new Map([[0, {device: true}], [1, {device: true}], [2, {device: true}], [3, {folder: true}]]);
    this.next = 4;
    this.memory = null;
  }
  get view() { return new DataView(this.memory.buffer); }
  bytes(at, size) { return new Uint8Array(this.memory.buffer, at, size); }
  name(at, size) {
    return new TextDecoder().decode(this.bytes(at, size).slice()).replace(/^(\.?\/)+/, "");
  }
  status(at, type, size) {
    this.bytes(at, 64).fill(0);
    this.view.setUint8(at + 16, type);
    this.view.setBigUint64(at + 24, 1n, true);
    this.view.setBigUint64(at + 32, BigInt(size), true);
  }
  imports(module) {
    const calls = {
      clock_time_get: (id, precision, at) => {
        const now = id === 0 ? Date.now() * 1e6 : performance.now() * 1e6;
        this.view.setBigUint64(at, BigInt(Math.round(now)), true);
        return OK;
      },
      clock_res_get: (id, at) => (this.view.setBigUint64(at, 1000n, true), OK),
      random_get: (at, size) => {
        for (let done = 0; done < size; done += 65536)
          crypto.getRandomValues(this.bytes(at + done, Math.min(65536, size - done)));
        return OK;
      },
      environ_sizes_get: (count, size) => (this.view.setUint32(count, 0, true), this.view.setUint32(size, 0, true), OK),
      environ_get: () => OK,
      // Nothing waits here: a program that sleeps goes on at once.
      poll_oneoff: (subscriptions, events, count, at) => {
        for (let i = 0; i < count; i++) {
          this.bytes(events + 32 * i, 32).fill(0);
          this.view.setBigUint64(events + 32 * i, this.view.getBigUint64(subscriptions + 48 * i, true), true);
        }
        this.view.setUint32(at, count, true);
        return OK;
      },
      proc_exit: code => { throw new Error(`the module ended itself (${code})`); },
      fd_prestat_get: (fd, at) => {
        if (fd !== 3) return BADF;
        this.view.setUint8(at, 0);
        this.view.setUint32(at + 4, 1, true);
        return OK;
      },
      fd_prestat_dir_name: (fd, at, size) => {
        if (fd !== 3 || size < 1) return BADF;
        this.bytes(at, 1)[0] = 0x2f;
        return OK;
      },
      fd_fdstat_get: (fd, at) => {
        const file = this.open.get(fd);
        if (!file) return BADF;
        this.bytes(at, 24).fill(0);
        this.view.setUint8(at, file.device ? DEVICE : file.folder ? FOLDER : FILE);
        this.view.setBigUint64(at + 8, 0xffffffffffffffffn, true);
        this.view.setBigUint64(at + 16, 0xffffffffffffffffn, true);
        return OK;
      },
      fd_fdstat_set_flags: () => OK,
      fd_filestat_get: (fd, at) => {
        const file = this.open.get(fd);
        if (!file) return BADF;
        const size = file.name !== undefined ? this.files.get(file.name)?.length || 0 : 0;
        this.status(at, file.device ? DEVICE : file.folder ? FOLDER : FILE, size);
        return OK;
      },
      path_filestat_get: (fd, flags, path, size, at) => {
        const name = this.name(path, size);
        if (name === "" || name === ".") return this.status(at, FOLDER, 0), OK;
        if (!this.files.has(name)) return NOENT;
        this.status(at, FILE, this.files.get(name).length);
        return OK;
      },
      path_open: (folder, flags, path, size, how, rights, inheriting, fdflags, at) => {
        const name = this.name(path, size), create = how & 1, directory = how & 2, truncate = how & 8;
        if (!this.files.has(name) && !create) return NOENT;
        if (directory) return NOTDIR;
        if (!this.files.has(name) || truncate) this.files.set(name, new Uint8Array(0));
        this.open.set(this.next, {name, at: 0});
        this.view.setUint32(at, this.next++, true);
        return OK;
      },
      path_unlink_file: (fd, path, size) => this.files.delete(this.name(path, size)) ? OK : NOENT,
      fd_close: fd => fd > 3 && this.open.delete(fd) ? OK : BADF,
      fd_seek: (fd, offset, whence, at) => {
        const file = this.open.get(fd);
        if (!file || file.name === undefined) return file ? SPIPE : BADF;
        const from = [0, file.at, this.files.get(file.name)?.length || 0][whence];
        const to = from + Number(offset);
        if (from === undefined || to < 0) return INVAL;
        file.at = to;
        this.view.setBigUint64(at, BigInt(to), true);
        return OK;
      },
      fd_read: (fd, list, count, at) => {
        const file = this.open.get(fd);
        if (!file || file.folder) return BADF;
        const bytes = file.device ? new Uint8Array(0) : this.files.get(file.name);
        if (!bytes) return IO;
        let done = 0;
        for (let i = 0; i < count; i++) {
          const to = this.view.getUint32(list + 8 * i, true), size = this.view.getUint32(list + 8 * i + 4, true);
          const part = bytes.subarray(file.at || 0, (file.at || 0) + size);
          this.bytes(to, part.length).set(part);
          if (!file.device) file.at += part.length;
          done += part.length;
        }
        this.view.setUint32(at, done, true);
        return OK;
      },
      fd_write: (fd, list, count, at) => {
        const file = this.open.get(fd);
        if (!file || file.folder) return BADF;
        let done = 0;
        for (let i = 0; i < count; i++) {
          const from = this.view.getUint32(list + 8 * i, true), size = this.view.getUint32(list + 8 * i + 4, true);
          if (!file.device) {
            const old = this.files.get(file.name) || new Uint8Array(0);
            const grown = new Uint8Array(Math.max(old.length, file.at + size));
            grown.set(old);
            grown.set(this.bytes(from, size), file.at);
            this.files.set(file.name, grown);
            file.at += size;
          }
          done += size;
        }
        this.view.setUint32(at, done, true);
        return OK;
      },
    };
    const given = {};
    for (const {module: from, name} of WebAssembly.Module.imports(module))
      (given[from] ||= {})[name] = calls[name] || (() => NOSYS);
    return given;
  }
}

// ---- one instance of a module ----

class Instance {
  static async make(part, module, files) {
    const system = new System(files);
    const instance = await WebAssembly.instantiate(module, system.imports(module));
    system.memory = instance.exports.memory;
    instance.exports._initialize();
    return new Instance(part, instance.exports);
  }
  constructor(part, exports) {
    this.part = part;
    this.exports = exports;
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder();
    this.failed = false;
  }
  put(which, bytes) {
    const at = this.exports.web_room(which, bytes.length) >>> 0;
    if (!at) throw {code: "", name: "MEMORY", message: "no memory for the request"};
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }
  // The answer of a call: an object, with `bytes` where some came with it.
  call(request, data) {
    if (this.failed) throw {code: "", name: "STATE", message: "the module failed, and what was open in it is lost: open it again"};
    const text = this.encoder.encode(JSON.stringify(request));
    try {
      this.put(0, text);
      this.put(1, data || new Uint8Array(0));
      this.exports.web_serve(text.length, data ? data.length : 0);
    } catch (error) { // a trap, or no stack: what is in its memory cannot be trusted any more
      this.failed = error instanceof Error;
      throw error instanceof Error ? {code: "", name: "MODULE", message: `the module failed: ${error.message}`} : error;
    }
    const [answer, bytes] = [0, 1].map(which => new Uint8Array(this.exports.memory.buffer,
      this.exports.web_result(which) >>> 0, this.exports.web_result_size(which) >>> 0));
    const result = JSON.parse(this.decoder.decode(answer));
    if (result.error) throw Object.assign(result.error, {missing: result.missing});
    if (bytes.length) result.bytes = bytes.slice();
    return result;
  }
}

// ---- the engine ----

const SLICE_MS = 24, FIRST_SLICE = 20000, LONGEST_SLICE = 1 << 28;
const MOVES = new Set(["move", "answer", "set"]);
// Motions in slices: the request for a slice, and whether the answer is the end.
const untilReturn = how => ({
  request: (steps, n, first) => ({how: first ? how : "resume", limit: steps}),
  arrived: at => at.kind !== "interrupt",
});
const MOTIONS = {
  run: {request: steps => ({how: "run", n: steps}), arrived: at => at.kind !== "fuel"},
  goto: {request: (steps, n) => ({how: "goto", n, limit: steps}), arrived: (at, n) => at.kind !== "fuel" || Number(at.steps) === n},
  next: untilReturn("next"),
  finish: untilReturn("finish"),
};
const turn = typeof setImmediate === "function" && typeof MessageChannel === "undefined" ?
  () => new Promise(resolve => setImmediate(resolve)) : () => new Promise(resolve => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); resolve(); };
    channel.port2.postMessage(null);
  });

// The modules by what each has more than the one before it. An answer names the part that it lacked.
const PARTS = ["files", "machines", "crypto"];

class Engine {
  constructor({wasm, machines = null, crypto = null}) {
    this.sources = {files: wasm, machines, crypto};   // functions that give the bytes, or null
    this.modules = {};               // by part: compiled
    this.making = {};                // promises of instances
    this.live = {};                  // instances
    this.why = {};                   // why a module could not be loaded
    this.files = new Map();
    this.things = new Map();         // our numbers -> {instance, handle, of, running, stop}
    this.next = 1;
  }
  // An instance that is there and has not failed.
  alive(part) { return this.live[part]?.failed ? undefined : this.live[part]; }
  ready() { return this.alive("files") || this.load("files"); }
  load(part) {
    return this.making[part] ||= this.make(part).finally(() => { this.making[part] = null; });
  }
  async make(part) {
    this.modules[part] ||= await WebAssembly.compile(await this.sources[part]());
    if (this.live[part]?.failed) delete this.live[part];
    return this.live[part] ||= await Instance.make(part, this.modules[part], this.files);
  }
  // The instance that has a part, or null.
  async having(part) {
    const from = this.sources[part] ? part : "crypto";
    if (!this.sources[from]) return null;
    return this.alive(from) || this.load(from).catch(error => {
      this.why[part] = error.message;
      return null;
    });
  }
  // For what is about no open file: the larger module where it is there already.
  async base() { return this.alive("machines") || this.ready(); }
  add(thing) {
    this.things.set(this.next, thing);
    return this.next++;
  }
  thing(number) {
    const found = this.things.get(number);
    if (!found) throw {code: "", name: "STATE", message: `nothing open has the number ${number}`};
    return found;
  }

  // One request of penta.js: {call, ...arguments}, and bytes.
  async serve(request, data, progress) {
    const own = this[`on_${request.call}`];
    if (own) return own.call(this, request, data, progress);
    for (const key of ["file", "machine"]) {
      if (request[key] === undefined) continue;
      const thing = this.thing(request[key]);
      if (thing.running && MOVES.has(request.call) && request.how !== "at")
        throw {code: "", name: "STATE", message: "the machine is running"};
      return this.ask(thing, {...request, [key]: thing.handle}, data);
    }
    return (await this.climb(await this.base(), instance => instance.call(request, data))).result;
  }
  // A call about a file that lacks a part is made again by the module that has it, which the file moves to.
  // `take` gets the answer before anything else happens.
  async ask(thing, request, data, take = result => result) {
    for (;;) {
      const from = thing.instance;
      let result, failed;
      try {
        result = from.call({...request, ...(thing.opened ? {file: thing.handle} : {})}, data);
      } catch (error) {
        failed = error;
      }
      const missing = (result || failed).missing || thing.lacks;
      if (missing === "crypto") thing.lacks = missing; // the library tries once, and keeps the verdict
      if (missing && thing.opened && await this.move(thing, from, missing)) continue;
      if (failed) throw this.reason(failed);
      return take(missing ? {...result, missing} : result);
    }
  }
  // A call about nothing that is open, by the module that has what it needs: {instance, result}.
  async climb(instance, call) {
    for (;;) {
      let result, failed;
      try { result = call(instance); } catch (error) { failed = error; }
      const {missing} = result || failed, larger = missing ? await this.having(missing) : null;
      if (larger && larger !== instance) { instance = larger; continue; }
      if (failed) throw this.reason(failed);
      return {instance, result};
    }
  }
  reason(error) {
    const why = this.why[error.missing];
    return why ? Object.assign(error, {note: why}) : error;
  }
  // Opens a file of the instance `from` in the one that has a part. True: it is elsewhere now.
  async move(file, from, part) {
    const to = await this.having(part);
    if (file.instance !== from) return true;
    if (!to || to === from || this.thingsOf(file).length) return false;
    const bytes = from.call({call: "bytes", file: file.handle}).bytes || new Uint8Array(0);
    const opened = to.call({...file.opened, call: "open"}, bytes);
    from.call({call: "close", handle: file.handle});
    Object.assign(file, {instance: to, handle: opened.handle, lacks: undefined});
    // The memory of an instance never shrinks: one that nobody uses goes.
    if (![...this.things.values()].some(thing => thing.instance === from)) delete this.live[from.part];
    return true;
  }
  thingsOf(file) { return [...this.things.values()].filter(thing => thing.of === file); }

  async on_open(request, data) {
    const {call, ...opened} = request;
    const {instance, result} = await this.climb(await this.base(), one => one.call(request, data));
    const number = this.add({instance, handle: result.handle, opened});
    return {...result, handle: number, crypto: instance.part === "crypto"};
  }
  async on_prepare() { return {ready: !this.sources.machines || !!await this.having("machines")}; }
  async on_set_file({name, remove}, data) {
    if (remove) this.files.delete(name); else this.files.set(name, data || new Uint8Array(0));
    return {};
  }
  async on_get_file({name}) {
    const bytes = this.files.get(name);
    return bytes ? {found: true, bytes: bytes.slice()} : {found: false};
  }
  async on_usage() {
    const live = Object.values(this.live);
    return {bytes: live.reduce((sum, one) => sum + one.exports.memory.buffer.byteLength, 0),
            machines: live.some(one => one.part !== "files"), crypto: live.some(one => one.part === "crypto")};
  }
  async on_close({handle}) {
    const thing = this.things.get(handle);
    if (!thing) return {};
    thing.stop = true;
    this.things.delete(handle);
    for (const [number, other] of this.things)
      if (other.of === thing) { other.stop = true; this.things.delete(number); }
    return thing.instance.failed ? {} : thing.instance.call({call: "close", handle: thing.handle});
  }
  async on_diff(request) {
    const a = this.thing(request.a), b = this.thing(request.b);
    const part = PARTS[Math.max(...[a, b].map(file => PARTS.indexOf(file.instance.part)))];
    for (const file of [a, b]) if (file.instance.part !== part) await this.move(file, file.instance, part);
    if (a.instance !== b.instance)
      throw {code: "", name: "STATE", message: "files with and without ciphers cannot be compared while machines are open"};
    return a.instance.call({...request, a: a.handle, b: b.handle});
  }
  async on_machine(request) {
    const file = this.thing(request.file);
    return this.ask(file, request, undefined, made =>
      ({...made, handle: this.add({instance: file.instance, handle: made.handle, of: file})}));
  }
  async on_stop({machine}) {
    this.thing(machine).stop = true;
    return {};
  }
  // Moves whose length nobody knows: in slices that take about SLICE_MS, and listens in between.
  async on_run({machine, how = "run", n, fuel}, data, progress) {
    const m = this.thing(machine), move = MOTIONS[how];
    if (m.running) throw {code: "", name: "STATE", message: "the machine is running"};
    let slice = FIRST_SLICE, left = fuel ?? Infinity, told = performance.now(), log = [], first = true;
    m.running = true;
    m.stop = false;
    try {
      for (;;) {
        const steps = Math.min(slice, left), start = performance.now();
        const at = m.instance.call({call: "move", machine: m.handle, ...move.request(steps, n, first)});
        const took = performance.now() - start;
        if (at.log) log.push(...at.log);
        if (log.length) at.log = log;
        left -= steps;
        first = false;
        if (move.arrived(at, n) || left <= 0) return at;
        if (m.stop) return {...at, kind: "interrupt"};
        if (took < SLICE_MS / 2 && slice < LONGEST_SLICE) slice *= 2;
        if (took > SLICE_MS * 2 && slice > 1000) slice = Math.max(1000, slice >> 1);
        if (progress && performance.now() - told > 100) {
          progress({steps: at.steps, output: false});
          told = performance.now();
        }
        await turn();
        if (!this.things.has(machine)) throw {code: "", name: "STATE", message: "the machine was closed"};
      }
    } finally {
      m.running = false;
    }
  }
}

globalThis.PentaEngine = Engine;

// ---- in a worker ----

if (typeof WorkerGlobalScope !== "undefined" && globalThis instanceof WorkerGlobalScope) {
  let engine = null;
  const source = from => from === null ? null : async () => {
    if (typeof from !== "string") return from;
    const response = await fetch(from);
    if (!response.ok) throw {code: "", name: "IO", message: `cannot load ${from}: ${response.status}`};
    return response.arrayBuffer();
  };
  globalThis.onmessage = async ({data: {id, request, data, start}}) => {
    try {
      if (start) {
        engine = new Engine({wasm: source(start.wasm), machines: source(start.machines), crypto: source(start.crypto)});
        await engine.ready();
        postMessage({id, result: {}});
        return;
      }
      const result = await engine.serve(request, data, at => postMessage({id, progress: at}));
      postMessage({id, result}, ArrayBuffer.isView(result.bytes) ? [result.bytes.buffer] : []);
    } catch (error) {
      postMessage({id, error: {code: error.code ?? "", name: error.name, message: String(error.message ?? error),
                               note: error.note, offset: error.offset}});
    }
  };
}
})();
