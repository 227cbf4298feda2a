// The code, one instruction a line, with jumps drawn beside it.
import {element, svg} from "./dom.js";
import {emit, on} from "./events.js";
import {model, select} from "./model.js";
import {Pages, Rows} from "./rows.js";
import {followCursor} from "./cursor.js";
import {highlight} from "./syntax.js";

const HEIGHT = 20, PAGE = 256, LANE = 7, LANES = 32;
let rows, lines, arrows, picture, empty, isShown, edge, cursor = 0, chosen = -1, pcWidth = 4, lanes = 0, wanted = null, generation = 0;

function paint(row, index) {
  const line = lines?.get(index);
  row.className = `row line${index === chosen ? " on" : ""}${index === cursor ? " here" : ""}`;
  if (!line) return row.replaceChildren();
  const label = line.kind === "label";
  const {lead, look, said = ""} = edge(line, index);
  if (look) row.classList.add(look);
  const text = element(label ? "span.code.label" : "span.code");
  if (label) text.textContent = `${line.text}:`;
  else highlight(text, line.text);
  const pc = element("span.pc-number", {}, label ? "" : String(line.pc).padStart(pcWidth));
  row.replaceChildren(...lead, pc, element("span.lanes"), text);
  // A line of the source once, without its folders.
  if (line.source && line.source !== lines.get(index - 1)?.source)
    row.append(element("span.source", {title: line.source}, line.source.replace(/.*\//, "")));
  row.setAttribute("aria-label", label ? `label ${line.text}` : `${line.pc} ${line.text}${said}`);
  row.setAttribute("aria-selected", String(index === chosen));
}

// ---- arrows ----

function drawArrows(first, last, shift) {
  const shown = new Map();
  for (let page = Math.floor(first / PAGE); arrows && page <= Math.floor(Math.max(first, last - 1) / PAGE); page++) {
    for (const arrow of arrows.page(page) || []) {
      const top = Math.min(arrow.from, arrow.to), bottom = Math.max(arrow.from, arrow.to);
      if (bottom < first || top >= last) continue;
      shown.set(`${arrow.from}>${arrow.to}`, arrow);
      if (!arrow.stub) lanes = Math.max(lanes, Math.min(arrow.lane, LANES - 1) + 1);
    }
  }
  // Columns stay while the file is open, so that the text does not move sideways while scrolling.
  const gap = `${lanes * LANE + 14}px`;
  if (rows.host.style.getPropertyValue("--lanes") !== gap) rows.host.style.setProperty("--lanes", gap);
  const right = lanes * LANE + 12, parts = [];
  const y = index => (Math.max(first - 2, Math.min(last + 1, index)) - first + 0.5) * HEIGHT;
  for (const arrow of shown.values()) {
    const x = right - 8 - (Math.min(arrow.lane, LANES - 1) + 0.5) * LANE;
    const on = chosen >= 0 && (arrow.from === chosen || arrow.to === chosen);
    const look = `${arrow.conditional ? "conditional" : "jump"}${arrow.stub ? " stub" : ""}${on ? " on" : ""}`;
    const a = y(arrow.from), b = y(arrow.to), r = Math.min(4, Math.abs(b - a) / 2), s = Math.sign(b - a) || 1;
    // A stub has no column: a short line at each end, up or down to where the other one is.
    const stub = 6 * s;
    parts.push(svg("path", {class: look, d: arrow.stub
      ? `M${right} ${a}h-6v${stub}M${right - 4} ${b}h-2v${-stub}`
      : `M${right} ${a}H${x + r}Q${x} ${a} ${x} ${a + s * r}V${b - s * r}Q${x} ${b} ${x + r} ${b}H${right - 4}`}));
    if (arrow.to >= first && arrow.to < last)
      parts.push(svg("path", {class: `head ${look}`, d: `M${right + 1} ${b}l-6 -3.5v7z`}));
  }
  picture.setAttribute("width", String(right + 2));
  picture.setAttribute("height", String((last - first) * HEIGHT));
  picture.style.transform = `translateY(${first * HEIGHT + shift}px)`;
  picture.replaceChildren(...parts);
}

// ---- moving ----

// `act`: its bytes become the selection.
export async function goToLine(index, act = false, place = "near") {
  if (index === null || index === undefined || !rows.count) return;
  cursor = chosen = Math.max(0, Math.min(rows.count - 1, index));
  rows.scrollTo(cursor, place);
  rows.refresh(cursor);
  emit("line", cursor);
  const at = cursor, line = act ? await lines.wait(at) : null;
  if (at === cursor && line?.offset !== undefined) select(line.offset, line.size, "listing");
}

export const currentLine = () => lines?.get(cursor);
export const cursorLine = () => cursor;

// A jump: to where it leads, or back from a label to what jumps there.
function follow() {
  const found = [];
  for (const page of arrows?.pages.values() || [])
    for (const arrow of page) if (arrow.from === cursor && arrow.to < rows.count) found.push(arrow.to);
  if (found.length) goToLine(found[0], true);
}

async function show(selection) {
  if (selection.from === "listing" || !model.file) return;
  wanted = selection;
  if (!isShown()) return;
  const index = await model.file.lineOf({offset: selection.offset}).catch(() => null);
  if (wanted !== selection) return;
  wanted = null;
  if (index === null) {
    chosen = -1;
    rows.refresh();
  } else {
    goToLine(index);
  }
}

async function fresh({edited}) {
  const mine = ++generation, file = model.file;
  cursor = 0;
  chosen = -1;
  lanes = 0;
  wanted = null;
  if (!edited) rows.host.scrollTop = 0;
  lines = arrows = null;
  const count = file ? await file.lineCount().catch(() => 0) : 0;
  if (mine !== generation) return;
  lines = new Pages(PAGE, (from, size) => file.lines(from, size).then(got => got.lines), () => {
    rows.refresh();
    emit("lines");
  });
  if (count) arrows = new Pages(PAGE, (from, size) => file.arrows(from, size), () => rows.later());
  const last = count ? await file.lines(count - 1, 1).catch(() => null) : null;
  if (mine !== generation) return;
  pcWidth = Math.max(4, String(last?.lines[0]?.pc ?? "").length);
  rows.host.style.setProperty("--pc", `${pcWidth}ch`);
  empty.hidden = count > 0;
  empty.textContent = model.file ? "This file has no code that can be listed." : "No file that can be read.";
  rows.setCount(count);
}

// Scrolls to a line without choosing it; none: what is visible is painted anew.
export function showLine(index) {
  if (index !== undefined) {
    cursor = index;
    rows.scrollTo(cursor);
  }
  rows.refresh(cursor);
}

// edgeOf(line, index) gives what stands before the line: {lead: elements, look: class of the row, said: for the ears}.
// clicked(target, line) is told of a click after the line was chosen.
export function makeListing(place, edgeOf, clicked = () => {}) {
  isShown = place.isShown;
  edge = edgeOf;
  place.onShown(() => wanted && show(wanted));
  const host = element("div.fill.listing");
  empty = element("p.empty", {hidden: true});
  place.panel.append(host, empty);
  rows = new Rows(host, {height: HEIGHT, label: "Code", paint, onvisible: drawArrows});
  picture = svg("svg", {class: "arrows", "aria-hidden": "true"});
  rows.space.append(picture);
  host.addEventListener("click", event => {
    const index = rows.rowOf(event.target);
    if (index < 0) return;
    const {target} = event;
    goToLine(index, true);
    clicked(target, lines.get(index));
  });
  host.addEventListener("dblclick", follow);
  followCursor(host, rows, {get: () => cursor, set: goToLine, keys: {f: follow}});
  on("open", fresh);
  on("select", show);
}
