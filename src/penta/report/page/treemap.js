/* What takes the bytes, as areas: the parts of the file, or the functions and data in it. */
import {element, plural} from "../../../../web/views/dom.js";
import {colourOf, grouped, percent} from "./common.js";
import {code, data} from "./data.js";
import {openView} from "./tabs.js";

/* Rows of areas next to each other, as square as they can be (squarified treemap). */
function squarify(items, x, y, width, height, place) {
  const total = items.reduce((sum, item) => sum + item.size, 0);
  if (!total || width < 2 || height < 2) return;
  const scale = (width * height) / total;
  let start = 0;
  while (start < items.length) {
    const side = Math.min(width, height);
    let end = start, sum = 0, worst = Infinity;
    while (end < items.length) {
      const next = sum + items[end].size * scale, thick = next / side;
      const most = items[start].size * scale / thick, least = items[end].size * scale / thick;
      const ratio = Math.max(thick / least, most / thick);
      if (ratio > worst) break;
      worst = ratio;
      sum = next;
      end++;
    }
    const thick = sum / side;
    let along = 0;
    for (let i = start; i < end; i++) {
      const long = (items[i].size * scale) / thick;
      if (width >= height) place(items[i], x, y + along, thick, long);
      else place(items[i], x + along, y, long, thick);
      along += long;
    }
    if (width >= height) { x += thick; width -= thick; }
    else { y += thick; height -= thick; }
    start = end;
  }
}

/* A node of the tree as an item; what is small, or left out of the page, is one item together. */
function treeItems(node) {
  const items = (node.c || []).filter((child) => child.s && !child.d)
    .map((child) => ({ name: child.n, size: child.s, node: child, offset: child.o }));
  if (node.l && node.ls) items.push({ name: `${grouped(node.l)} more`, size: node.ls, offset: node.lo });
  return gathered(items);
}

function gathered(items) {
  items.sort((a, b) => b.size - a.size);
  if (items.length <= 300) return items;
  const rest = items.slice(299);
  const together = { name: `${grouped(rest.length)} smaller ones`, size: rest.reduce((sum, item) => sum + item.size, 0) };
  return [...items.slice(0, 299), together].sort((a, b) => b.size - a.size);
}

function drawMap(box, items, all, inside) {
  box.replaceChildren();
  const place = (parent, depth) => (item, x, y, width, height) => {
    if (width < 3 || height < 3) return;
    const area = element("div", { title: `${item.name}: ${plural(item.size, "byte")}, ${percent(item.size, all)}` });
    Object.assign(area.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`,
      background: colourOf(item.name, depth ? 35 : 50) });
    if (width > 40 && height > 17) area.append(width > 120 ? `${item.name}  ${grouped(item.size)}` : item.name);
    const below = item.node && item.node.c ? treeItems(item.node) : [];
    if (below.length > 1 && inside) {
      area.classList.add("inside");
      area.addEventListener("click", (event) => { event.stopPropagation(); inside(item.node); });
    } else if (item.row !== undefined) {
      area.addEventListener("click", () => openView("listing", item.row));
    } else if (item.offset !== undefined) {
      area.addEventListener("click", (event) => { event.stopPropagation(); openView("bytes", item.offset); });
    }
    parent.append(area);
    if (depth === 0 && below.length > 1 && width > 60 && height > 50)
      squarify(below, 2, 18, width - 6, height - 22, place(area, 1));
  };
  squarify(items, 0, 0, box.clientWidth, box.clientHeight, place(box, 0));
}

export function showSizes(section) {
  section.className = "full";
  const box = element("div", { class: "map" }), trail = element("span"), state = { way: [data.tree], code: false };
  const codeItems = () => gathered([
    ...code.functions.map(([name, row, , size]) => ({ name, size, row })),
    ...data.sizes.filter(([kind]) => kind === "data").map(([, name, size]) => ({ name, size: Number(size) })),
  ]);
  const draw = () => {
    const node = state.way[state.way.length - 1];
    trail.replaceChildren();
    if (state.code) {
      const items = codeItems();
      trail.append("functions and data");
      drawMap(box, items, data.size, null);
      return;
    }
    state.way.forEach((step, i) => trail.append(i ? " / " : "",
      element("button", { class: "link", onclick: () => { state.way.length = i + 1; draw(); } }, i ? step.n : "file")));
    drawMap(box, treeItems(node), data.size, (next) => { state.way.push(next); draw(); });
  };
  const what = element("button", { onclick: () => {
    state.code = !state.code;
    what.textContent = state.code ? "by parts of the file" : "by function and data";
    draw();
  } }, "by function and data");
  section.append(element("div", { class: "bar" }, code.functions.length ? what : "", trail), box);
  new ResizeObserver(draw).observe(box);
}
