/* penta in JavaScript: libpenta as WebAssembly, in a browser (in a worker) and in node.
 *
 *     import { load } from "./penta.js";
 *     const penta = await load();
 *     const file = await penta.open(bytes, { name: "fill.kblob" });
 *     const { lines } = await file.lines(0, 50);
 *
 * Every call gives a promise. A call that fails rejects with a PentaError; nothing that a file contains
 * can make one hang or end the module. Calls are answered in the order in which they were made, except
 * `Machine.stop`, which is heeded while a run is under way.
 *
 * Numbers. Offsets, sizes, counts, steps and pcs are numbers; one above 2^53 comes as a decimal string.
 * Addresses of memory and values of kind "word" are strings of hexadecimal digits, "0x2a". Where an
 * address is given, a number, a bigint or such a string will do.
 *
 * Text comes out of files: names, notes and listings may contain anything, markup included. Put it into
 * a page as text, never as HTML. */

export type Num = number | string;
export type Address = number | bigint | string;
export type Severity = "error" | "warning" | "info";
/** Options of the library by key (see `formats`); a list where a key is given more than once. */
export type Options = Record<string, string | number | boolean | (string | number)[]>;

export class PentaError extends Error {
  /** "KBLOB0009"; "" for errors of the calling program. */
  code: string;
  /** "BAD_OPCODE" */
  name: string;
  /** In the file or the text. */
  offset?: Num;
  note?: string;
  constructor(about: { code?: string; name?: string; message?: string; note?: string; offset?: Num });
}

/* ---- loading ---- */

/** Bytes, or where they are: a URL or its text. */
export type Source = ArrayBuffer | Uint8Array | { readonly href: string } | string;
export interface LoadOptions {
  /** The module that is loaded first: its bytes, or where it is. Otherwise penta.wasm beside penta.js. */
  wasm?: Source;
  /** The module with machines, loaded with the first of them or by `prepare`. Otherwise penta-machines.wasm
   * beside penta.js; null: there is none. */
  machines?: Source | null;
  /** The module with ciphers and signatures too, loaded only when a file needs it. Otherwise
   * penta-crypto.wasm beside penta.js; null: there is none. */
  crypto?: Source | null;
  /** The text of worker.js, for pages that are one file: it becomes a blob. Otherwise worker.js beside
   * penta.js. */
  workerText?: string;
  /** false: the module runs in this thread. In node that is always so. */
  worker?: boolean;
}
export function load(options?: LoadOptions): Promise<Penta>;

export interface Penta {
  version(): Promise<string>;
  /** What this build knows: formats, their options and engines. */
  formats(): Promise<FormatInfo[]>;
  /** What a code means; null: no such code. */
  explain(code: string): Promise<Rule | null>;
  /** The formats that could have written these bytes, best first. */
  detect(bytes: Uint8Array): Promise<{ format: string; confidence: number }[]>;
  /** A file for options whose value is one ("key-file", "script", "map" ...): the value is its name. null
   * removes it. Files exist in the module's memory only. */
  setFile(name: string, contents: Uint8Array | string | null): Promise<void>;
  /** What a program or an option wrote to a file, or null: there is none. */
  getFile(name: string): Promise<Uint8Array | null>;
  /** Opens broken files too: `damage` and `findings` say what is wrong. The bytes are copied. */
  open(bytes: Uint8Array, options?: OpenOptions): Promise<PentaFile>;
  assemble(text: string, format: string, options?: Options): Promise<Assembled>;
  /** At most `limit` differences of two files (1000). */
  diff(a: PentaFile, b: PentaFile, limit?: number): Promise<Diff>;
  /** Loads the module with machines before one is needed. False: it cannot be loaded. */
  prepare(): Promise<boolean>;
  /** Bytes of memory that the modules have, and whether one with machines, with ciphers is in use. */
  usage(): Promise<{ bytes: number; machines: boolean; crypto: boolean }>;
  /** Ends the worker. Promises that wait are rejected. */
  close(): void;
}

export interface FormatInfo {
  name: string;
  title: string;
  suffix?: string;
  comment?: string;
  exit_value?: string;
  engines: string[];
  uses: string[];
  options: { key: string; argument?: string; uses: string[]; help: string; words?: unknown }[];
}
export interface Rule {
  code: string;
  name: string;
  severity: Severity;
  summary: string;
  explanation: string;
}
export interface OpenOptions {
  name?: string;
  /** Otherwise it is found out. */
  format?: string;
  /** Among them keys: trusted-key, key-file, password-file name files of `setFile`. */
  options?: Options;
}

/* ---- files ---- */

export interface PentaFile {
  readonly name: string;
  readonly format: string;
  readonly size: number;
  /** Why only a part of it can be read, or null. */
  readonly damage: Finding | null;
  /** It was opened by the module with ciphers and signatures. */
  readonly crypto: boolean;

  /** One screen of facts: what `penta info --json` calls info. */
  info(): Promise<Record<string, unknown>>;
  /** What `penta validate` reports; at most `limit` of them (1000), `total` says how many there are. */
  findings(limit?: number): Promise<{
    valid: boolean;
    total: number;
    items: Finding[];
    /** Something could not be checked, since there is no module with ciphers ("crypto"). */
    missing?: string;
  }>;
  /** The node or field at a path ("" is the file), with children down to `depth` levels (1). Of each
   * list of children only `count` (200) are given, of the outermost one from number `from` on. */
  tree(path?: string, options?: { depth?: number; from?: number; count?: number }): Promise<TreeNode>;
  /** The fields of the file whose bytes lie in a range, in the order of offsets: the colours of a hex
   * view. At most 4096; `next` is the offset to go on from, or null. */
  fields(offset: Num, length: number): Promise<{ fields: Field[]; next: Num | null }>;
  /** Path, field and node of an offset; null: it is beyond the file. */
  place(offset: Num): Promise<Place | null>;
  bytes(offset?: number, length?: number): Promise<Uint8Array>;

  /** How many lines the listing of the code has; 0: there is none. */
  lineCount(): Promise<number>;
  lines(from: number, count: number): Promise<{ total: number; lines: Line[] }>;
  /** The number of the line that shows an instruction; null: none does. `source`: a place as breakpoints
   * have it, NAME, NAME+N or FILE:LINE. */
  lineOf(place: { offset: Num } | { pc: Num } | { source: string }): Promise<number | null>;
  /** Jumps that start, end or pass in a range of lines; of stubs those that start or end there. */
  arrows(from: number, count: number): Promise<Arrow[]>;
  /** The first line from `from` on (or before it) whose text has these characters; null: none has. */
  search(text: string, from?: number, backwards?: boolean): Promise<number | null>;
  symbols(): Promise<FileSymbol[]>;
  /** The whole file as text that `assemble` takes. */
  source(options?: Options): Promise<string>;
  /** The program in another dialect, byte order or version of its format; encrypted; decrypted. The options are
   * those of `penta convert`, `penta seal` and `penta open`; keys are files of `setFile`. */
  convert(options?: Options): Promise<Uint8Array>;
  seal(options?: Options): Promise<Uint8Array>;
  unseal(options?: Options): Promise<Uint8Array>;

  machine(options?: MachineOptions): Promise<Machine>;
  /** Its machines are closed, too. */
  close(): Promise<void>;
}

export interface Finding {
  severity: Severity;
  code: string;
  name: string;
  offset: Num;
  /** Of the field that holds the offset; 0: unknown. */
  length: Num;
  decoded?: boolean;
  path?: string;
  message: string;
  note?: string;
  /** Bytes around it and the instruction there: `bytes` from offset `row` on, of which `mark_length` from
   * `mark` on are meant. */
  caret?: { row: Num; bytes: string; mark: number; mark_length: number; text?: string };
  /** In texts: line and column from 1 on, and the line itself. */
  line?: number;
  column?: number;
  text?: string;
}

export type Kind = "uint" | "word" | "sint" | "float" | "bool" | "text" | "raw";
export interface TreeNode {
  name: string;
  path: string;
  offset: Num;
  size: Num;
  /** Offsets here and below count in the decoded image, not in the file. */
  decoded?: boolean;
  /** Of fields. Long values are cut: `cut` is how many bytes the whole has. */
  kind?: Kind;
  value?: unknown;
  cut?: Num;
  note?: string;
  /** Of nodes: the children are items of a list. */
  list?: boolean;
  /** Of nodes that were entered: how many children there are; `children` are some of them. */
  total?: number;
  from?: number;
  children?: TreeNode[];
}
export interface Field {
  offset: Num;
  size: Num;
  path: string;
  kind: Kind;
  /** Distance from the root: neighbours differ. */
  depth: number;
}
export interface Place {
  path: string;
  offset: Num;
  size: Num;
  node_offset: Num;
  node_size: Num;
  /** The instruction that the offset belongs to, where it is code. */
  pc?: Num;
}

export interface Line {
  /** "label": `text` is a name; "insn": an instruction. */
  kind: "label" | "insn";
  text: string;
  pc: Num;
  /** Where its bytes are in the file; absent for code that the file has only encoded. */
  offset?: Num;
  size?: number;
  /** FILE:LINE of the source, where the program has line tables. */
  source?: string;
}
export interface Arrow {
  /** Line numbers; they may lie outside of the range that was asked for. */
  from: number;
  to: number;
  /** Column, 0 is nearest to the text. Arrows of one column do not overlap, unless they have the same target. */
  lane: number;
  /** No column was free: draw its ends only. */
  stub?: boolean;
  conditional: boolean;
}
export interface FileSymbol {
  kind: "code" | "function" | "export" | "import" | "label";
  name?: string;
  from: Num;
  to: Num;
}

export interface Assembled {
  ok: boolean;
  /** What was made, or null. */
  bytes: Uint8Array | null;
  findings: Finding[];
  /** Of each line of the text that has an instruction: where its bytes are. Ascending lines. */
  map: { line: number; offset: Num; size: number; pc: Num }[];
}
export interface Diff {
  total: number;
  items: {
    change: "changed" | "removed" | "added";
    path: string;
    offset_a?: Num;
    offset_b?: Num;
    a?: unknown;
    b?: unknown;
  }[];
}

/* ---- machines ---- */

export interface MachineOptions {
  /** Those of the format for runs: entry, arguments, gas, memory, "script" for the host ... */
  options?: Options;
  /** Otherwise the default: an interpreter. */
  engine?: string;
  /** Runs although the program has errors. */
  unverified?: boolean;
  /** Every host call stops the run, for `answer`. Otherwise the default host of the format answers. */
  stopAtCalls?: boolean;
}

export type StopKind =
  | "fuel" | "break" | "host" | "halt" | "trap" | "fault" | "gas" | "interrupt" | "disagree";
export interface Stop {
  kind: StopKind;
  /** Of the instruction that the kind is about; of the next one after "fuel", "break", "interrupt". */
  pc: Num;
  /** Since the start. */
  steps: Num;
  /** The name of the trap or host call. */
  detail?: string;
  /** The value of the program, with "halt", in formats that have one. */
  value?: Num;
  /** The point that stopped it. */
  point?: number;
  /** With "host": what the program asks. */
  call?: HostCall;
  /** Texts of points that log, since the last stop. */
  log?: { point: number; text: string }[];
  /** The text of the next instruction, and its line of the listing. */
  text?: string;
  line?: number;
  /** Why an answer could not be given or applied. */
  failure?: string;
}
export interface HostCall {
  number: number;
  name?: string;
  args: string[];
}

/** Told now and then of a long motion. */
export type Progress = (at: { steps: Num; output: boolean }) => void;

export interface Machine {
  readonly file: PentaFile;
  readonly engine: string;
  /** Where it is now. */
  at(): Promise<Stop>;
  step(n?: number): Promise<Stop>;
  /** One instruction, a call with all that it does. */
  next(options?: { progress?: Progress }): Promise<Stop>;
  /** Until the innermost call has returned. */
  finish(options?: { progress?: Progress }): Promise<Stop>;
  back(n?: number): Promise<Stop>;
  goto(step: number, options?: { progress?: Progress }): Promise<Stop>;
  /** Back to where a point would have stopped it, or to the start. */
  reverse(): Promise<Stop>;
  /** Until something stops it, at most `fuel` instructions. Like `next`, `finish` and `goto` it goes in slices:
   * other calls are answered meanwhile, and `progress` is told how far it is. */
  run(options?: { fuel?: number; progress?: Progress }): Promise<Stop>;
  /** Ends what is under way, which stops with "interrupt". */
  stop(): Promise<void>;
  /** Answers the host call that waits: with results, or as the default host would. */
  answer(results: Address[] | "default"): Promise<Stop>;
  /** The state, as `penta run --json` has it. Memory is cut to the first `memory` runs (8). */
  state(options?: { memory?: number }): Promise<MachineState>;
  /** Bytes of memory; null: not all of it is mapped. */
  memory(address: Address, length: number): Promise<Uint8Array | null>;
  map(): Promise<{ address: string; size: string; writable: boolean }[]>;
  frames(): Promise<Frame[]>;
  variables(frame?: number): Promise<Variable[]>;
  /** What the program printed since the last time. */
  output(): Promise<{ output: Uint8Array; errors: Uint8Array }>;
  /** The host calls so far, one line each, since the last time. */
  calls(): Promise<string[]>;
  /** The files in memory of a console program; fails when the host has none. */
  files(): Promise<{ path: string; size: number }[]>;
  /** The bytes of one; the path is the program's. */
  file(path: string): Promise<Uint8Array>;
  /** Makes a file, with the folders on the way to it, or gives it other contents. */
  putFile(path: string, contents: Uint8Array | string): Promise<void>;
  /** What the host has to tell at the end, as lines. */
  finishHost(): Promise<string>;
  /** The value of an expression ("a0 + 4", "u32[sp]") as text. */
  evaluate(expression: string, base?: 0 | 10 | 16): Promise<string>;
  /** Gives a register, a variable or memory a value, which is an expression. */
  set(what: string, value: string): Promise<void>;
  /** A breakpoint or watch; gives its number. */
  addPoint(point: PointOptions): Promise<number>;
  changePoint(number: number, change: Partial<PointOptions>): Promise<void>;
  removePoint(number: number): Promise<void>;
  points(): Promise<Point[]>;
  close(): Promise<void>;
}

export interface MachineState {
  steps: Num;
  pc: Num;
  /** Registers, counters, stack, tensors ...: what the format's machine has. */
  state: Record<string, unknown>;
  /** Paths of the values ("/registers/a0") that differ from the state that was asked for before. */
  changed: string[];
}
export interface Frame {
  pc: Num;
  name?: string;
  source?: string;
  line?: number;
}
export interface Variable {
  scope: "register" | "local" | "global";
  name: string;
  value: unknown;
  type?: string;
  address?: string;
  size?: Num;
  /** Of arrays: how many elements there are, and the first 256 of them, as far as they are mapped. */
  total?: Num;
  elements?: unknown[];
}
export interface PointOptions {
  /** "break": before an instruction; "watch": after one that changes a value; "read", "write", "access":
   * after one that does this. */
  kind?: "break" | "watch" | "read" | "write" | "access";
  /** Of a break a pc, NAME, NAME+N or FILE:LINE; otherwise an expression, a path of the state, or
   * ADDRESS:LENGTH. */
  what: string | number;
  condition?: string | null;
  /** Reported instead of stopping; {EXPRESSION} is replaced by its value. */
  log?: string | null;
  ignore?: number;
  disabled?: boolean;
  once?: boolean;
}
export interface Point extends PointOptions {
  number: number;
  hits: Num;
  pc?: Num;
  line?: number;
}
