/* Where the time went: call paths as a flame graph, and a table by function. */
import {element} from "../../../../web/views/dom.js";
import {colourOf, grouped, percent, table} from "./common.js";
import {code, data} from "./data.js";
import {openView} from "./tabs.js";

function callPaths() {
  const root = { name: "all", self: 0, total: 0, children: new Map(), depth: 0 };
  for (const line of data.folded.split("\n")) {
    const cut = line.lastIndexOf(" ");
    if (cut < 1) continue;
    const count = Number(line.slice(cut + 1));
    let node = root;
    node.total += count;
    for (const name of line.slice(0, cut).split(";")) {
      if (!node.children.has(name))
        node.children.set(name, { name, self: 0, total: 0, children: new Map(), depth: node.depth + 1, parent: node });
      node = node.children.get(name);
      node.total += count;
    }
    node.self += count;
  }
  return root;
}

/* Self and total by name; a function that calls itself counts once on each path. */
function byFunction(root) {
  const found = new Map();
  const walk = (first) => {
    const stack = [[first, new Set()]];
    while (stack.length) {
      const [node, open] = stack.pop();
      const row = found.get(node.name) || { name: node.name, self: 0, total: 0 };
      row.self += node.self;
      if (!open.has(node.name)) row.total += node.total;
      found.set(node.name, row);
      const inside = new Set(open).add(node.name);
      for (const child of node.children.values()) stack.push([child, inside]);
    }
  };
  for (const child of root.children.values()) walk(child);
  return [...found.values()].sort((a, b) => b.self - a.self);
}

function drawFlame(box, root, focus, choose) {
  box.replaceChildren();
  let deepest = 0;
  const bar = (node, left, width) => {
    deepest = Math.max(deepest, node.depth);
    const div = element("div", { title: `${node.name}: ${grouped(node.total)} of ${grouped(root.total)} (${percent(node.total, root.total)}), itself ${grouped(node.self)}`,
      onclick: () => choose(node) }, width > 3 ? node.name : "");
    Object.assign(div.style, { left: `${left}%`, width: `${width}%`, top: `${node.depth * 20}px`, background: colourOf(node.name, 65) });
    box.append(div);
  };
  for (let node = focus; node; node = node.parent) if (node !== focus) bar(node, 0, 100);
  const stack = [[focus, 0, 100]];
  while (stack.length) {
    const [node, left, width] = stack.pop();
    bar(node, left, width);
    let at = left;
    for (const child of [...node.children.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const part = (width * child.total) / node.total;
      if (part >= 0.08) stack.push([child, at, part]);
      at += part;
    }
  }
  box.style.height = `${(deepest + 1) * 20 + 4}px`;
}

export function showProfile(section) {
  const root = callPaths(), box = element("div", { class: "flame" });
  const choose = (node) => drawFlame(box, root, node, choose);
  const link = (row) => {
    const f = code.functions.find(([name]) => name === row.name);
    return f ? element("button", { class: "link mono", onclick: () => openView("listing", f[1]) }, row.name) : row.name;
  };
  section.append(element("p", {}, `${grouped(root.total)} in all. A click on a function zooms, a click on one above it zooms out.`), box,
    element("h2", {}, "By function"), table(byFunction(root), [
      ["function", link, false, (row) => row.name],
      ["itself", (row) => grouped(row.self), true, (row) => row.self],
      ["share", (row) => percent(row.self, root.total), true, (row) => row.self],
      ["with calls", (row) => grouped(row.total), true, (row) => row.total],
    ], 100));
  choose(root);
}
