// The field tree, fetched as it is opened. Long lists come in groups of 200.
import {element, hex} from "./dom.js";
import {on} from "./events.js";
import {model, select} from "./model.js";
import {Rows} from "./rows.js";
import {followCursor} from "./cursor.js";

const GROUP = 200;
let rows, isShown, visible = [], cursor = 0, generation = 0, wanted = null;

// An item: {node, depth, open, group} where group = {from, count} for a part of a long list.
const isInner = item => item.group || item.node.total !== undefined || item.node.children !== undefined || !item.node.kind;

async function children(item) {
  const {node, depth} = item;
  const [from, count] = item.group ? [item.group.from, item.group.count] : [0, GROUP];
  if (item.group && count > GROUP) return groups(node, from, count, depth + 1);
  const got = await model.file.tree(node.path, {depth: 1, from, count});
  const total = Number(got.total || 0);
  if (!item.group && total > GROUP) return groups(got, 0, total, depth + 1);
  return (got.children || []).map(child => ({node: child, depth: depth + 1}));
}

function groups(node, from, count, depth) {
  let size = GROUP;
  while (count / size > GROUP) size *= GROUP;
  const made = [];
  for (let at = from; at < from + count; at += size)
    made.push({node, depth, group: {from: at, count: Math.min(size, from + count - at)}});
  return made;
}

async function open(index) {
  const item = visible[index], mine = generation;
  if (!item || item.open || !isInner(item)) return;
  item.open = true;
  const list = await children(item).catch(() => []);
  if (mine !== generation || !item.open) return;
  const at = visible.indexOf(item);
  visible.splice(at + 1, 0, ...list);
  if (cursor > at) cursor += list.length;
  rows.setCount(visible.length);
}

function close(index) {
  const item = visible[index];
  if (!item?.open) return;
  item.open = false;
  let end = index + 1;
  while (end < visible.length && visible[end].depth > item.depth) end++;
  visible.splice(index + 1, end - index - 1);
  if (cursor > index) cursor = Math.max(index, cursor - (end - index - 1));
  rows.setCount(visible.length);
}

function valueText(node) {
  if (node.value === undefined) return "";
  const text = typeof node.value === "string" ? node.value : JSON.stringify(node.value);
  return node.kind === "text" ? `"${text}"` : text;
}

function paint(row, index) {
  const item = visible[index];
  if (!item) return row.replaceChildren();
  const {node} = item;
  const inner = isInner(item);
  row.className = index === cursor ? "row tree-row here" : "row tree-row";
  row.style.paddingLeft = `${8 + item.depth * 14}px`;
  row.setAttribute("aria-level", String(item.depth + 1));
  row.setAttribute("aria-selected", String(index === cursor));
  if (inner) row.setAttribute("aria-expanded", String(!!item.open));
  else row.removeAttribute("aria-expanded");
  const fold = element("span.fold", {"aria-hidden": "true"}, inner ? (item.open ? "▾" : "▸") : "");
  if (item.group) {
    row.replaceChildren(fold, element("span.quiet", {},
      `${item.group.from} … ${item.group.from + item.group.count - 1}`));
    return;
  }
  const label = /\[\d+\]$/.exec(node.path);
  row.replaceChildren(fold, element("span.tree-name", {}, node.name + (label ? label[0] : "")),
    element("span.tree-value", {}, valueText(node)),
    element("span.tree-note", {}, node.note || ""),
    element("span.tree-place", {}, node.size ? `0x${hex(node.offset)} +${node.size}` : ""));
}

function choose(index, act) {
  cursor = Math.max(0, Math.min(index, visible.length - 1));
  rows.refresh(cursor);
  rows.scrollTo(cursor);
  const item = visible[cursor];
  if (act && item && !item.group && !item.node.decoded)
    select(item.node.offset, item.node.size, "tree", {path: item.node.path});
}

// Opens the way down to a path. Parts of long lists are found by offset.
const leads = (path, target) =>
  path === "" || target === path || target.startsWith(path) && "/[".includes(target[path.length]);

async function firstOffset(item) {
  const got = await model.file.tree(item.node.path, {depth: 1, from: item.group.from, count: 1});
  return got.children?.length ? Number(got.children[0].offset) : Infinity;
}

// The last of these groups that begins at or before an offset.
async function findGroup(items, offset) {
  let low = 0, high = items.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await firstOffset(items[middle]) <= offset) low = middle;
    else high = middle - 1;
  }
  return items[low];
}

// The items right below visible[at], or those at the top for -1.
function below(at) {
  const depth = at < 0 ? 0 : visible[at].depth + 1, found = [];
  for (let i = at + 1; i < visible.length && visible[i].depth >= depth; i++)
    if (visible[i].depth === depth) found.push(visible[i]);
  return found;
}

async function reveal({path, offset}) {
  const mine = generation;
  let at = -1;
  for (;;) {
    const items = below(at);
    if (!items.length) break;
    const next = items[0].group ? await findGroup(items, offset) : items.find(item => leads(item.node.path, path));
    if (mine !== generation) return;
    if (!next) break;
    at = visible.indexOf(next);
    if (!next.group && next.node.path === path || !isInner(next)) break;
    await open(at);
    if (mine !== generation) return;
    at = visible.indexOf(next);
  }
  if (at >= 0) choose(at, false);
}

async function follow(selection) {
  if (selection.from === "tree" || !model.file) return;
  wanted = selection;
  if (!isShown()) return;
  const place = selection.path ? {path: selection.path}
    : await model.file.place(selection.offset).catch(() => null);
  if (wanted !== selection || !place) return;
  wanted = null;
  await reveal({path: place.path, offset: selection.offset});
}

async function fresh() {
  generation++;
  visible = [];
  cursor = 0;
  rows.setCount(0);
  if (!model.file) return;
  const mine = generation;
  const root = await model.file.tree("", {depth: 1, count: GROUP}).catch(() => null);
  if (mine !== generation || !root) return;
  const total = Number(root.total || 0);
  visible = total > GROUP ? groups(root, 0, total, 0) : (root.children || []).map(node => ({node, depth: 0}));
  rows.setCount(visible.length);
}

export function makeTree(place) {
  const host = element("div.fill");
  place.panel.append(host);
  place.onShown(() => wanted && follow(wanted));
  isShown = place.isShown;
  rows = new Rows(host, {height: 22, label: "Fields of the file", role: "tree", paint});
  host.addEventListener("click", event => {
    const index = rows.rowOf(event.target);
    if (index < 0) return;
    if (event.target.closest(".fold") || visible[index].group)
      visible[index].open ? close(index) : open(index);
    choose(index, true);
  });
  host.addEventListener("dblclick", event => {
    const index = rows.rowOf(event.target);
    if (index >= 0) visible[index].open ? close(index) : open(index);
  });
  followCursor(host, rows, {
    get: () => cursor,
    set: (index, act) => choose(index, act),
    keys: {
      ArrowRight: () => open(cursor),
      ArrowLeft: () => {
        if (visible[cursor]?.open) return close(cursor);
        let up = cursor - 1;
        while (up >= 0 && visible[up].depth >= visible[cursor].depth) up--;
        if (up >= 0) choose(up, true);
      },
    },
  });
  on("open", fresh);
  on("select", follow);
}
