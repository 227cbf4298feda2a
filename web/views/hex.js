// The bytes, sixteen in a row (eight on narrow screens), coloured by field.
import {element, hex} from "./dom.js";
import {on} from "./events.js";
import {model, select} from "./model.js";
import {Pages, Rows} from "./rows.js";
import {followCursor} from "./cursor.js";

const PAGE = 1024;  // bytes whose fields are fetched at once
const COLOURS = 6;
let rows, pages, width = 16, cursor = 0, anchor = 0, digits = 4;

// The fields that lie in a page, in the order of offsets.
async function fetchFields(first, count) {
  const found = [];
  let from = first;
  while (from !== null && from < first + count) {
    const got = await model.file.fields(from, first + count - from);
    found.push(...got.fields);
    const next = got.next === null ? null : Number(got.next);
    from = next !== null && next > from ? next : null;
  }
  // One entry for each byte: the number of its colour and whether a field begins there.
  const bytes = new Array(count).fill(null);
  for (const field of found) {
    const start = Number(field.offset), end = start + Number(field.size);
    const colour = hash(field.path.replace(/\/[^/]*$/, "")) % COLOURS;
    const shade = hash(field.path) % 2;
    for (let at = Math.max(start, first); at < Math.min(end, first + count); at++)
      bytes[at - first] = {field, colour, shade, begins: at === start};
  }
  return alternate(bytes);
}

function hash(text) {
  let value = 7;
  for (let i = 0; i < text.length; i++) value = (value * 31 + text.charCodeAt(i)) >>> 0;
  return value;
}

// Neighbouring fields never look alike: the shade changes from one to the next.
function alternate(bytes) {
  let shade = 0, last = null;
  for (const entry of bytes) {
    if (entry && entry.field !== last) {
      shade ^= 1;
      last = entry.field;
    }
    if (entry) entry.shade = shade;
  }
  return bytes;
}

const letter = byte => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·";

function paint(row, index) {
  const start = index * width, end = Math.min(start + width, model.bytes.length);
  const chosen = model.selection;
  row.className = "row hex-row";
  const cells = [], letters = [];
  for (let at = start; at < end; at++) {
    const byte = model.bytes[at], entry = pages?.get(at);
    const on = chosen && at >= chosen.offset && at < chosen.offset + chosen.size;
    let look = "";
    if (entry) look = ` f${entry.colour}${entry.shade ? "b" : "a"}`;
    if (on) look += " on";
    if (model.before && model.before[at] !== byte) look += " changed";
    if (at === cursor) look += " here";
    const cell = document.createElement("span");
    cell.className = `b${look}`;
    cell.textContent = byte.toString(16).padStart(2, "0");
    cell.dataset.at = String(at);
    cells.push(cell);
    const text = document.createElement("span");
    text.className = on ? "c on" : "c";
    text.textContent = letter(byte);
    text.dataset.at = String(at);
    letters.push(text);
  }
  const address = element("span.hex-offset", {}, hex(start, digits));
  const group = element("span.hex-bytes"), side = element("span.hex-text");
  group.append(...cells);
  side.append(...letters);
  row.replaceChildren(address, group, side);
  row.setAttribute("aria-label", `${hex(start, digits)}: ${cells.map(c => c.textContent).join(" ")}`);
}

// A click selects the field, a click with Shift a range, a second click the byte.
function choose(at, event) {
  const entry = pages?.get(at);
  if (event?.shiftKey) {
    select(Math.min(anchor, at), Math.abs(at - anchor) + 1, "hex");
  } else if (entry && !(model.selection?.from === "hex" && cursor === at)) {
    select(entry.field.offset, entry.field.size, "hex", {path: entry.field.path});
  } else {
    select(at, 1, "hex");
  }
  if (!event?.shiftKey) anchor = at;
  cursor = at;
  rows.refresh(Math.floor(cursor / width));
}

function moveTo(at) {
  cursor = Math.max(0, Math.min(model.bytes.length - 1, at));
  anchor = cursor;
  const entry = pages?.get(cursor);
  select(entry ? entry.field.offset : cursor, entry ? entry.field.size : 1, "hex", entry ? {path: entry.field.path} : {});
  rows.scrollTo(Math.floor(cursor / width));
  rows.refresh(Math.floor(cursor / width));
}

function layOut() {
  const host = rows.host;
  const wanted = host.clientWidth && host.clientWidth < 560 ? 8 : 16;
  if (wanted === width && rows.count) return;
  width = wanted;
  host.dataset.width = String(width);
  rows.setCount(Math.ceil(model.bytes.length / width));
}

export function makeHex(place) {
  const host = element("div.fill.hex");
  place.panel.append(host);
  place.onShown(() => rows.refresh());
  rows = new Rows(host, {height: 20, label: "Bytes of the file", paint});
  host.addEventListener("click", event => {
    const at = event.target.dataset?.at;
    if (at !== undefined) choose(Number(at), event);
  });
  followCursor(host, rows, {
    get: () => Math.floor(cursor / width),
    set: index => moveTo(index * width + cursor % width),
    keys: {
      ArrowRight: event => event.shiftKey ? choose(Math.min(cursor + 1, model.bytes.length - 1), event) : moveTo(cursor + 1),
      ArrowLeft: event => event.shiftKey ? choose(Math.max(cursor - 1, 0), event) : moveTo(cursor - 1),
    },
  });
  new ResizeObserver(layOut).observe(host);
  on("open", ({edited}) => {
    digits = Math.max(4, (model.bytes.length - 1).toString(16).length);
    cursor = anchor = 0;
    pages = model.file ? new Pages(PAGE, fetchFields, () => rows.refresh(), 32) : null;
    place.badge(model.before ? "edited" : "");
    rows.setCount(Math.ceil(model.bytes.length / width));
    if (!edited) host.scrollTop = 0;
    layOut();
  });
  on("select", selection => {
    rows.refresh();
    if (selection.from === "hex") return;
    cursor = anchor = Math.min(selection.offset, Math.max(0, model.bytes.length - 1));
    rows.scrollTo(Math.floor(selection.offset / width));
  });
}
