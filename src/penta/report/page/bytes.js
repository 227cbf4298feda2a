/* The field tree beside the bytes: each leads to the other by the offset. */

const bytesView = { from: 0, to: 0, marked: null };

function rangeText(node) {
  return node.s ? `${hex(node.o, 6)} +${grouped(node.s)}` : "";
}

/* The branch of the tree below a node is made when it is opened. */
function treeItem(node) {
  const item = el("li", { role: "treeitem" });
  const line = el("div", { class: "item" });
  const arrow = el("span", { class: "open" }, node.c ? "▸" : "");
  line.append(arrow, el("span", {}, node.shown));
  if (node.v !== undefined) line.append(el("span", { class: "value" }, node.v + (node.t ? `  ${node.t}` : "")));
  line.append(el("span", { class: "place" }, rangeText(node)));
  line.choose = (open) => {
    markTree(line);
    markBytes(node, pathOf(line));
    if (node.c && open !== undefined) node.toggle(open);
  };
  line.addEventListener("click", () => line.choose(!item.querySelector(":scope > ul")));
  item.append(line);
  node.line = line;
  node.toggle = (open) => {
    const list = item.querySelector(":scope > ul");
    if (list && open !== true) list.remove();
    if (!list && open !== false) item.append(treeList(node));
    const now = item.querySelector(":scope > ul") !== null;
    arrow.textContent = now ? "▾" : "▸";
    item.setAttribute("aria-expanded", String(now));
  };
  line.dataset.name = node.shown;
  return item;
}

function treeList(node) {
  const list = el("ul", { role: "group" }, ...node.c.map((child, i) => {
    child.shown = node.i ? `${child.n}[${i}]` : child.n;
    child.d = child.d || node.d;
    return treeItem(child);
  }));
  if (node.l)
    list.append(el("li", { class: "soft" }, `   ... ${grouped(node.l)} more, ${rangeText({ o: node.lo, s: node.ls })}`));
  return list;
}

function pathOf(line) {
  const names = [];
  for (let item = line.closest("li"); item; item = item.parentElement.closest("li"))
    names.unshift(item.querySelector(":scope > .item").dataset.name);
  return "/" + names.join("/");
}

function markTree(line) {
  if (bytesView.marked) bytesView.marked.classList.remove("marked");
  bytesView.marked = line;
  line.classList.add("marked");
}

function markBytes(node, path) {
  const where = document.getElementById("where");
  where.textContent = `${path}  ${node.d ? "(offsets in the decoded image)" : rangeText(node)}`;
  if (node.d || !node.s) return;
  bytesView.from = node.o;
  bytesView.to = node.o + node.s;
  bytesView.rows.show(Math.floor(node.o / 16));
}

/* The leaf that holds an offset, its branches opened. */
function openAt(offset) {
  let node = data.tree;
  const names = [];
  for (;;) {
    const next = (node.c || []).find((child) => !child.d && child.s && child.o <= offset && offset < child.o + child.s);
    if (!next) break;
    if (node.toggle) node.toggle(true); // which makes the lines of its children
    node = next;
    names.push(node.shown);
  }
  if (!node.line) return;
  markTree(node.line);
  markBytes(node, "/" + names.join("/"));
  node.line.scrollIntoView({ block: "center" });
}

const shownByte = (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·");

function hexRow(i) {
  const at = 16 * i, row = el("div", { class: "row" }, el("span", { class: "off" }, hex(at, 8) + "  "));
  const on = (offset) => (bytesView.from <= offset && offset < bytesView.to ? "on" : "");
  let text = "", cells = [], state = null;
  const flush = () => {
    if (cells.length) row.append(el("span", { class: state, "data-o": cells[0] }, text));
    text = "";
    cells = [];
  };
  for (let k = 0; k < 16; k++) {
    const there = at + k < fileBytes.length, now = there ? on(at + k) : "";
    if (now !== state) flush();
    state = now;
    text += (there ? hex(fileBytes[at + k], 2) : "  ") + (k === 7 ? "  " : " ");
    cells.push(at + k);
  }
  flush();
  row.append(" " + Array.from(fileBytes.subarray(at, at + 16), shownByte).join(""));
  row.addEventListener("click", (event) => {
    const width = row.firstChild.getBoundingClientRect().width / 10;
    const column = (event.clientX - row.firstChild.getBoundingClientRect().right) / width;
    const k = column < 25 ? column / 3 : column < 50 ? (column - 1) / 3 : column - 50;
    if (k >= 0 && k < 16) openAt(at + Math.floor(k));
  });
  return row;
}

/* Up and down along what is open, right and left to open and close. */
function treeKey(event) {
  const lines = [...event.currentTarget.querySelectorAll(".item")], now = lines.indexOf(bytesView.marked);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], open = { ArrowRight: true, ArrowLeft: false }[event.key];
  if (step === undefined && open === undefined) return;
  event.preventDefault();
  if (step !== undefined) lines[Math.max(0, Math.min(lines.length - 1, now + step))].choose();
  else if (now >= 0) lines[now].choose(open);
  bytesView.marked.scrollIntoView({ block: "nearest" });
}

function showBytes(section) {
  section.className = "full";
  const tree = el("div", { class: "tree", tabIndex: 0, onkeydown: treeKey }, treeList(data.tree));
  tree.firstChild.setAttribute("role", "tree");
  const box = el("div", { class: "hex" });
  const goto = el("input", { placeholder: "offset: 0x1f0", "aria-label": "offset", size: 14 });
  goto.addEventListener("change", () => {
    const offset = Number(goto.value);
    if (Number.isInteger(offset) && offset >= 0) openAt(offset);
  });
  section.append(el("div", { class: "bar" }, goto, "A click on a field shows its bytes; a click on a byte shows its field."),
    el("div", { class: "split" }, tree, el("div", { class: "side" }, el("div", { id: "where", class: "mono soft" }), box)));
  bytesView.rows = new Rows(box, Math.ceil(fileBytes.length / 16), hexRow);
}
