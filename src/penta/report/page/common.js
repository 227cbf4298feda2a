"use strict";
/* The page of penta report. Its files are joined in the order that CMakeLists.txt has.
 *
 * data: title, format, formatTitle, version, size, sha256, crc32, damage, info (the facts of the file),
 *   bytes (base 64, perhaps only the first), leftOut (sentences)
 *   tree      {c: nodes}; a node or field {n: name, o: offset, s: size}, a field with {v: value, t: note},
 *             a node with {c: children, l: how many are left out, lo: offset and ls: size of these}, and
 *             with d when offsets below are not those of the file, i when the children are items of a list
 *   findings  severity, code, message, note, explanation, offset, decoded, path, from and bytes of the field
 *   sizes     [kind, name, bytes]
 *   code      pc, offset (-1: not known), text and counts by row; names [row, name];
 *             lines [row, line, file], where source lines begin, without the file where it stays the same;
 *             arrows, four numbers each: row, target row, 1 for jumps that are always taken, lane;
 *             functions [name, row, instructions, bytes]; calls [caller, callee (-1: not known), times]
 *   coverage  blocks, instructions, lines, functions: each with all and run
 *   folded    call paths as lines "outer;inner 12"
 *
 * Text of the file gets into the page as text nodes only. */

const data = JSON.parse(document.getElementById("data").textContent);
const fileBytes = decodeBase64(data.bytes);
const code = data.code || { pc: [], offset: [], text: [], names: [], lines: [], arrows: [], functions: [], calls: [] };
const LINE = 18; // height of a row, as in the style sheet
const STUB = 255; // the lane of an arrow without one

function decodeBase64(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/* An element with properties, and children that are elements or text. */
function el(tag, properties, ...children) {
  const made = document.createElement(tag);
  fill(made, properties, children);
  return made;
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return made;
}

function fill(made, properties, children) {
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
}

/* Characters that reorder or hide what stands around them, as their numbers. */
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => `\\u{${hex(c.charCodeAt(0))}}`);
}

const hex = (number, digits) => Number(number).toString(16).padStart(digits || 0, "0");
const grouped = (number) => Number(number).toLocaleString("en-US");
const percent = (part, all) => (all ? ((100 * part) / all).toFixed(1) : "0.0") + " %";
const plural = (number, one, many) => `${grouped(number)} ${Number(number) === 1 ? one : many || one + "s"}`;

/* A colour for a name, the same each time, of either theme. */
function colourOf(name, saturation) {
  let sum = 7;
  for (const c of name) sum = (sum * 31 + c.codePointAt(0)) >>> 0;
  return `hsl(${sum % 360} ${saturation || 55}% var(--fill, 80%))`;
}

/* A list of which only the rows in sight exist. draw(i) makes one; after(first, last, box) may add to them. */
class Rows {
  constructor(box, count, draw, after) {
    Object.assign(this, { box, count, draw, after });
    this.all = el("div", { class: "all" });
    this.seen = el("div", { class: "seen" });
    this.all.append(this.seen);
    this.all.style.height = `${count * LINE}px`;
    box.classList.add("rows");
    box.tabIndex = 0;
    box.append(this.all);
    box.addEventListener("scroll", () => this.refresh());
    new ResizeObserver(() => this.refresh(true)).observe(box);
    this.refresh(true);
  }

  refresh(always) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / LINE) - 20);
    const last = Math.min(this.count, Math.ceil((this.box.scrollTop + this.box.clientHeight) / LINE) + 20);
    if (!always && first === this.first && last === this.last) return;
    Object.assign(this, { first, last });
    this.seen.style.top = `${first * LINE}px`;
    this.seen.replaceChildren();
    for (let i = first; i < last; i++) this.seen.append(this.draw(i));
    if (this.after) this.after(first, last, this.seen);
  }

  show(row) {
    const top = row * LINE, height = this.box.clientHeight;
    if (top < this.box.scrollTop + LINE || top > this.box.scrollTop + height - 3 * LINE)
      this.box.scrollTop = Math.max(0, top - height / 3);
    this.refresh(true);
  }
}

/* The first index in 0 .. count - 1 for which the test holds, or count; it must hold for all after it. */
function search(count, test) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* A table whose columns [title, of a row, is a number] can be sorted by a click on the title. */
function table(rows, columns, most) {
  const body = el("tbody"), shown = most || 500;
  let sorted = rows, by = -1;
  const draw = (all) => {
    const cell = ([, of, number], row) => {
      const value = of(row);
      return el("td", { class: number ? "number" : "" }, value instanceof Node ? value : String(value));
    };
    body.replaceChildren(...sorted.slice(0, all ? sorted.length : shown)
      .map((row) => el("tr", {}, ...columns.map((column) => cell(column, row)))));
    if (!all && sorted.length > shown)
      body.append(el("tr", {}, el("td", { colSpan: columns.length },
        el("button", { class: "link", onclick: () => draw(true) }, `${grouped(sorted.length - shown)} more rows`))));
  };
  const key = (column, row) => (column[3] ? column[3](row) : column[1](row));
  const sort = (i) => {
    const sign = columns[i][2] ? -1 : 1, back = by === i ? -1 : 1;
    by = back < 0 ? -1 : i;
    sorted = [...rows].sort((a, b) => {
      const x = key(columns[i], a), y = key(columns[i], b);
      return sign * back * (x < y ? -1 : x > y ? 1 : 0);
    });
    draw(false);
  };
  const head = columns.map(([title, , number], i) =>
    el("th", { class: number ? "number" : "" }, el("button", { class: "link soft", onclick: () => sort(i) }, title)));
  draw(false);
  return el("table", {}, el("thead", {}, el("tr", {}, ...head)), body);
}
