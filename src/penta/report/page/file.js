/* The file as the views ask for it (web/penta.d.ts): from the data of the page instead of the library. */
import {bytes, code, data, search} from "./data.js";

const STUB = 255; // the lane of an arrow without one
const pathOf = (path, node, child, i) => `${path}/${child.n}${node.i ? `[${i}]` : ""}`;
const contains = (node, offset) => !node.d && node.s && node.o <= offset && offset < node.o + node.s;
const hexOf = (from, to) => Array.from(bytes.subarray(from, to), (byte) => byte.toString(16).padStart(2, "0")).join("");
const letters = (from, to) => Array.from(bytes.subarray(from, to), (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");

/* ---- the tree ---- */

function nodeAt(path) {
  let node = data.tree, way = "";
  while (node && way !== path) {
    const step = (child, i) => pathOf(way, node, child, i);
    const i = node.c.findIndex((child, k) => path === step(child, k) || path.startsWith(`${step(child, k)}/`));
    way = i < 0 ? path : step(node.c[i], i);
    node = node.c[i];
  }
  return node;
}

function shown(node, path, decoded) {
  const inner = node.c ? { total: node.c.length + (node.l ? 1 : 0) } : { kind: "shown", value: node.v, note: node.t };
  return { name: node.n, path, offset: node.o, size: node.s, decoded: decoded || node.d, ...inner };
}

function tree(path, { from = 0, count = Infinity } = {}) {
  const node = nodeAt(path);
  node.c.forEach((child) => { child.d = child.d || node.d; });
  const children = node.c.slice(from, from + count).map((child, i) => shown(child, pathOf(path, node, child, from + i)));
  if (node.l && from + count > node.c.length)
    children.push({ name: `… ${node.l.toLocaleString("en")} more`, path: `${path}/…`, kind: "shown", offset: node.lo, size: node.ls, decoded: node.d });
  return { ...shown(node, path), children };
}

/* The leaves with bytes in a range. */
function fields(from, size, node = data.tree, path = "", found = []) {
  node.c.forEach((child, i) => {
    if (child.d || child.o >= from + size || child.o + child.s <= from) return;
    if (child.c) fields(from, size, child, pathOf(path, node, child, i), found);
    else found.push({ offset: child.o, size: child.s, path: pathOf(path, node, child, i) });
  });
  return found;
}

function place(offset) {
  let node = data.tree, path = "";
  for (;;) {
    const i = (node.c || []).findIndex((child) => contains(child, offset));
    if (i < 0) return path ? { path, offset: node.o, size: node.s } : null;
    path = pathOf(path, node, node.c[i], i);
    node = node.c[i];
  }
}

/* ---- the listing: names have lines of their own, a negative number is that of a name, ~n ---- */

const lines = [], lineOfRow = [], sources = [], arrows = [];

function makeLines() {
  let name = 0, last = "";
  for (let row = 0; row < code.pc.length; row++) {
    for (; name < code.names.length && code.names[name][0] === row; name++) lines.push(~name);
    lineOfRow.push(lines.length);
    lines.push(row);
  }
  for (const [row, line, other] of code.lines) {
    last = other ?? last;
    sources.push({ row, text: `${last}:${line}` });
  }
  for (let i = 0; i < code.arrows.length; i += 4) {
    const [from, to, jump, lane] = code.arrows.slice(i, i + 4);
    arrows.push({ from: lineOfRow[from] ?? Infinity, to: lineOfRow[to] ?? Infinity, lane, stub: lane === STUB, conditional: !jump });
  }
}

function line(index) {
  const row = lines[index];
  if (row < 0) return { kind: "label", text: code.names[~row][1] };
  const offset = code.offset[row] >= 0 ? code.offset[row] : undefined;
  const source = sources[search(sources.length, (i) => sources[i].row > row) - 1]?.text;
  const said = source && code.text[row].endsWith(source.replace(/.*\//, "")); // some formats write it as a comment
  return { kind: "insn", row, text: code.text[row], pc: code.pc[row], offset, size: place(offset)?.size,
    source: said ? undefined : source, count: code.counts?.[row] };
}

/* The line of the instruction whose bytes hold an offset. */
function lineOf({ offset }) {
  const row = search(code.offset.length, (i) => code.offset[i] > offset) - 1;
  return row >= 0 && code.offset[row] >= 0 && place(offset)?.path === place(code.offset[row])?.path ? lineOfRow[row] : null;
}

function find(text, from) {
  const wanted = text.toLowerCase();
  for (let k = 0; wanted && k < lines.length; k++) {
    const i = (from + k) % lines.length;
    if (line(i).text.toLowerCase().includes(wanted)) return i;
  }
  return null;
}

/* ---- findings ---- */

/* A row of bytes around a finding, and which of them are meant: its field, where that is short. */
function caretOf({ offset, from, bytes: size, decoded }) {
  const whole = size && size <= 16, start = whole ? from : offset, length = whole ? size : 1;
  if (decoded || start >= bytes.length) return undefined;
  const aligned = start - (start % 16), row = start + length <= aligned + 16 ? aligned : start;
  return { row, bytes: hexOf(row, row + 16), mark: start - row, mark_length: length, text: letters(row, row + 16) };
}

const findings = data.findings.map((one) => ({ ...one, length: one.bytes || 1, caret: caretOf(one) }));

makeLines();
export const file = {
  tree: async (...wanted) => tree(...wanted),
  fields: async (from, size) => ({ fields: fields(from, size), next: null }),
  place: async (offset) => place(offset),
  lineCount: async () => lines.length,
  lines: async (from, count) => ({ lines: lines.slice(from, from + count).map((_, i) => line(from + i)) }),
  lineOf: async (wanted) => lineOf(wanted),
  arrows: async (from, count) => arrows.filter((a) => Math.min(a.from, a.to) < from + count && Math.max(a.from, a.to) >= from),
  findings: async (most) => ({ items: findings.slice(0, most), total: findings.length }),
  search: find,
  lineOfRow: (row) => lineOfRow[row],
};
