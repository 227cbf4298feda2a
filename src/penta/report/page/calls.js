/* Who calls whom: all functions of a small program, or one with those that call it and those that it calls. */
import {element, plural, svg} from "../../../../web/views/dom.js";
import {grouped} from "./common.js";
import {code} from "./data.js";
import {openView} from "./tabs.js";

const CALLS_MOST = 80;
const callView = { focus: -1 };

function callTables() {
  const out = code.functions.map(() => []), into = code.functions.map(() => []);
  for (const [caller, callee, times] of code.calls) {
    if (callee < 0) continue;
    out[caller].push([callee, times]);
    into[callee].push([caller, times]);
  }
  return { out, into };
}

/* Columns by the longest way from a function that nobody calls; calls back to an open one do not count. */
function columnsOf(chosen, { out, into }) {
  const there = new Set(chosen), level = new Map(), state = new Map(), order = [];
  const roots = chosen.filter((f) => !into[f].some(([g]) => there.has(g) && g !== f));
  for (const root of [...roots, ...chosen]) {
    const stack = [[root, 0]];
    while (stack.length) {
      const top = stack[stack.length - 1], [f, k] = top;
      if (k === 0 && state.has(f)) { stack.pop(); continue; }
      if (k === 0) state.set(f, 1);
      const next = out[f].slice(k).findIndex(([g]) => there.has(g) && !state.has(g));
      if (next < 0) { state.set(f, 2); order.unshift(f); stack.pop(); continue; }
      top[1] = k + next + 1;
      stack.push([out[f][k + next][0], 0]);
    }
  }
  const rank = new Map(order.map((f, i) => [f, i]));
  for (const f of order) {
    const mine = level.get(f) || 0;
    level.set(f, mine);
    for (const [g] of out[f])
      if (there.has(g) && rank.get(g) > rank.get(f)) level.set(g, Math.max(level.get(g) || 0, mine + 1));
  }
  const columns = [];
  for (const f of order) (columns[level.get(f)] ||= []).push(f);
  return columns;
}

/* Within its column each function comes to the middle of those that it has calls with. */
function sortColumns(columns, { out, into }) {
  const at = new Map();
  const number = () => columns.forEach((column) => column.forEach((f, i) => at.set(f, i)));
  number();
  for (let round = 0; round < 6; round++)
    for (const column of columns) {
      const middle = new Map(column.map((f) => {
        const others = [...into[f], ...out[f]].map(([g]) => at.get(g)).filter((i) => i !== undefined);
        return [f, others.length ? others.reduce((a, b) => a + b, 0) / others.length : at.get(f)];
      }));
      column.sort((a, b) => middle.get(a) - middle.get(b));
      column.forEach((f, i) => at.set(f, i));
    }
}

function shortName(name, most) {
  const letters = [...name];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : name;
}

/* One function between its callers and its callees. */
function columnsAround(focus, { out, into }) {
  const names = (list) => list.map(([f]) => f).filter((f) => f !== focus)
    .sort((a, b) => (code.functions[a][0] < code.functions[b][0] ? -1 : 1));
  const callers = names(into[focus]), both = new Set(callers);
  return [callers, [focus], names(out[focus]).filter((f) => !both.has(f))];
}

function drawCalls(box, focus) {
  const tables = callTables(), place = new Map();
  const columns = focus < 0 ? columnsOf(code.functions.map((_, i) => i), tables) : columnsAround(focus, tables);
  if (focus < 0) sortColumns(columns, tables);
  const chosen = columns.flat();
  const most = Math.max(...columns.map((column) => column.length));
  const width = 190, height = 24, gapX = 90, gapY = 12, margin = 20;
  columns.forEach((column, c) => column.forEach((f, i) => place.set(f, {
    x: margin + c * (width + gapX),
    y: margin + (i + (most - column.length) / 2) * (height + gapY),
  })));
  const picture = svg("svg", { class: "calls", width: 2 * margin + columns.length * (width + gapX),
    height: 2 * margin + most * (height + gapY) });
  picture.append(svg("marker", { id: "call-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9,
    markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 L8 4 L0 8 z" })));
  for (const f of chosen)
    for (const [g, times] of tables.out[f]) {
      if (!place.has(g) || (focus >= 0 && f !== focus && g !== focus)) continue;
      const a = place.get(f), b = place.get(g), y1 = a.y + height / 2, y2 = b.y + height / 2, x1 = a.x + width;
      const bend = f === g ? `C${x1 + 40} ${y1 - 34} ${x1 + 40} ${y1 + 34} ${x1} ${y1 + 6}`
        : b.x > a.x ? `C${x1 + gapX / 2} ${y1} ${b.x - gapX / 2} ${y2} ${b.x} ${y2}`
          : `C${x1 + gapX} ${y1 + 30} ${b.x - gapX} ${y2 + 30} ${b.x} ${y2}`;
      picture.append(svg("path", { d: `M${x1} ${y1} ${bend}`, "marker-end": "url(#call-head)",
        class: focus === f ? "chosen" : "" }, svg("title", {}, `${code.functions[f][0]} calls ${code.functions[g][0]}: ${plural(times, "place")}`)));
    }
  for (const f of chosen) {
    const { x, y } = place.get(f), [name, row, instructions] = code.functions[f];
    const group = svg("g", { class: f === focus ? "chosen" : "", tabindex: 0, role: "button" },
      svg("rect", { x, y, width, height, rx: 5 }),
      svg("text", { x: x + 8, y: y + 16 }, shortName(name, 23)),
      svg("title", {}, `${name}: ${plural(instructions, "instruction")}`));
    const choose = () => chooseFunction(f);
    group.addEventListener("click", choose);
    group.addEventListener("dblclick", () => openView("listing", row));
    group.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    picture.append(group);
  }
  box.replaceChildren(picture);
  if (focus >= 0) box.scrollTop = place.get(focus).y - box.clientHeight / 2;
  return chosen.length;
}

function chooseFunction(f) {
  callView.focus = f;
  const count = drawCalls(callView.box, f);
  const about = callView.about;
  about.replaceChildren();
  if (f >= 0)
    about.append(element("button", { class: "link", onclick: () => openView("listing", code.functions[f][1]) },
      `listing of ${code.functions[f][0]}`), "  ");
  if (f >= 0 && code.functions.length <= CALLS_MOST)
    about.append(element("button", { class: "link", onclick: () => chooseFunction(-1) }, "all functions"), "  ");
  const unknown = code.calls.filter(([caller, callee]) => callee < 0 && (f < 0 || caller === f))
    .reduce((sum, [, , times]) => sum + times, 0);
  if (count < code.functions.length)
    about.append(`${grouped(count)} of ${plural(code.functions.length, "function")}: what calls this one, and what it calls. `);
  if (unknown) about.append(`${plural(unknown, "call")} to where a value decides ${unknown === 1 ? "is" : "are"} not drawn.`);
}

export function showCalls(section) {
  section.className = "full";
  const choose = element("input", { placeholder: "function", "aria-label": "function", size: 28 });
  choose.setAttribute("list", "call-names");
  choose.addEventListener("change", () => {
    const f = code.functions.findIndex(([name]) => name === choose.value);
    if (f >= 0) chooseFunction(f);
  });
  const names = element("datalist", { id: "call-names" }, ...code.functions.slice(0, 5000).map(([name]) => element("option", { value: name })));
  callView.about = element("span");
  callView.box = element("div", { class: "picture" });
  section.append(element("div", { class: "bar" }, choose, names, callView.about), callView.box);
  const calls = code.functions.map(() => 0);
  for (const [caller, callee] of code.calls) if (callee >= 0) calls[caller]++;
  chooseFunction(code.functions.length > CALLS_MOST ? calls.indexOf(Math.max(...calls)) : -1);
}
