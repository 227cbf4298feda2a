// Another file beside the open one: what differs, field by field.
import {element, fill, plural, tell} from "../views/dom.js";
import {on} from "../views/events.js";
import {asOptions, formatOfSuffix, model, select} from "./model.js";
import {Rows} from "../views/rows.js";
import {addView, showView} from "./tabs.js";
import {followCursor} from "../views/cursor.js";

const LIMIT = 5000;
const SIGNS = {changed: "~", removed: "−", added: "+"};
let rows, head, items = [], cursor = 0, other = null;

const shown = value => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

function paint(row, index) {
  const item = items[index];
  row.className = `row diff ${item.change}${index === cursor ? " here" : ""}`;
  row.replaceChildren(element("span.sign", {}, SIGNS[item.change]), element("span.diff-path", {}, item.path),
    element("span.diff-a", {}, shown(item.a)), element("span.diff-b", {}, shown(item.b)));
  row.setAttribute("aria-label", `${item.change} ${item.path} ${shown(item.a)} ${shown(item.b)}`);
}

async function choose(index, act) {
  cursor = index;
  rows.refresh(index);
  rows.scrollTo(index);
  const item = items[index];
  if (!act || item?.offset_a === undefined) return;
  const place = await model.file.place(item.offset_a).catch(() => null);
  if (cursor === index) select(item.offset_a, item.change === "changed" && place ? place.size : 1, "compare");
}

async function bytesOf({name, bytes}) {
  const format = formatOfSuffix(name);
  if (!format) return bytes;
  const made = await model.penta.assemble(new TextDecoder().decode(bytes), format, asOptions(model.assembling));
  if (!made.ok) throw new Error(`${name} does not assemble`);
  return made.bytes;
}

// With the format and the options of the first, unless it is evidently another.
async function openLike(first, bytes, name) {
  const [guess] = await model.penta.detect(bytes);
  const same = !guess || guess.format === first.format;
  return model.penta.open(bytes, same ? {name, format: first.format, options: asOptions(model.opening)} : {name});
}

export async function compareWith(file) {
  if (!model.file) return tell("Open a file first, then one to compare it with", true);
  const first = model.file;
  other?.close().catch(() => {});
  other = null;
  try {
    other = await openLike(first, await bytesOf(file), file.name);
    const got = await model.penta.diff(first, other, LIMIT);
    items = got.items;
    const total = Number(got.total);
    fill(head, element("p", {}, element("strong", {}, first.name), " and ", element("strong", {}, other.name), ": ",
      total ? plural(total, "difference") : "no difference", total > items.length && `, the first ${items.length} are shown`));
    tell(total ? plural(total, "difference") : "No difference");
  } catch (error) {
    items = [];
    fill(head, element("p.bad", {}, error.message));
    tell(error.message, true);
  }
  cursor = 0;
  rows.setCount(items.length);
  showView("compare");
}

// The difference at what is selected elsewhere.
function follow({offset, size, from}) {
  if (from === "compare") return;
  const index = items.findIndex(one => one.offset_a !== undefined && one.offset_a >= offset && one.offset_a < offset + size);
  if (index >= 0) choose(index, false);
}

export function makeCompare(choosePeer) {
  const panel = addView("code", "compare", "Compare");
  head = element("div.compare-head");
  const host = element("div.fill");
  panel.append(element("div.row-form", {},
    element("button", {type: "button", onclick: choosePeer, title: "Choose the other file (c)"}, "Compare with a file")), head, host);
  rows = new Rows(host, {height: 22, label: "Differences", paint});
  host.addEventListener("click", event => {
    const index = rows.rowOf(event.target);
    if (index >= 0) choose(index, true);
  });
  followCursor(host, rows, {get: () => cursor, set: choose});
  on("select", follow);
  on("open", ({edited}) => {
    if (edited) return;
    items = [];
    rows.setCount(0);
    fill(head, element("p.quiet", {}, "Choose or drop a second file while this tab is open."));
  });
}
