// The state of the machine after the last stop; what changed since the one before is marked.
import {byId, element, fill} from "../views/dom.js";
import {emit, on} from "../views/events.js";
import {addView, isShown} from "./tabs.js";
import {machine, makeBar} from "./control.js";

const MOST = 64;  // values of a list or tensor
const ROWS = 16;  // of a list; longer ones are one line
let body, generation = 0, stale = true;

const scalar = value => value === null || typeof value !== "object";
const isMarked = (changed, path) => changed.some(one => one === path || one.startsWith(`${path}/`) || one.startsWith(`${path}[`));

function cell(name, value, path, changed) {
  const text = value === null ? "none" : String(value);
  const address = /^0x[0-9a-f]+$/i.test(text);
  return element(`div.cell${isMarked(changed, path) ? ".changed" : ""}`, {},
    element("span.cell-name", {}, name),
    address ? element("button.plain.cell-value", {type: "button", title: "Show memory at this address",
                                                  onclick: () => emit("memoryAt", text)}, text)
      : element("span.cell-value", {}, text));
}

// A list in one line: what it is called, what is known about it, its values.
function line(name, about, data, path, changed) {
  const values = data.slice(0, MOST).map(value => scalar(value) ? String(value) : JSON.stringify(value));
  const more = data.length > MOST ? ` … (${data.length})` : "";
  return element(`div.tensor${isMarked(changed, path) ? ".changed" : ""}`, {},
    element("span.cell-name", {}, name),
    element("span.quiet", {}, about),
    element("span.tensor-data", {}, values.join(" ") + more));
}

// The values of a tensor: the list beside its shape.
const tensorData = value => Array.isArray(value?.shape) ? value.data || value.weights : null;

function tensor(name, {shape, data, weights, ...rest}, path, changed) {
  const about = Object.entries(rest).filter(([, value]) => scalar(value)).map(([key, value]) => `${key} ${value}`);
  return line(name, [`[${shape.join(" × ")}]`, ...about].join(" "), data || weights, path, changed);
}

function memoryRuns(runs) {
  return element("div.runs", {}, runs.map(({address, bytes}) => {
    const pairs = String(bytes).match(/../g) || [];
    const shown = pairs.slice(0, 64).join(" ") + (pairs.length > 64 ? ` … (${pairs.length} bytes)` : "");
    return element("div.run", {},
      element("button.plain.cell-value", {type: "button", onclick: () => emit("memoryAt", address)}, address),
      element("code", {}, shown));
  }));
}

function section(title, inner) {
  return element("section.part", {}, element("h3", {}, title.replaceAll("_", " ")), inner);
}

function anyValue(name, value, path, changed) {
  if (scalar(value)) return cell(name, value, path, changed);
  if (tensorData(value)) return tensor(name, value, path, changed);
  if (Array.isArray(value) && value.length > ROWS && value.every(scalar)) return line("", `[${value.length}]`, value, path, changed);
  const entries = Array.isArray(value)
    ? value.slice(0, MOST).map((inner, i) => [String(i), inner, `${path}[${i}]`])
    : Object.entries(value).map(([key, inner]) => [key, inner, `${path}/${key}`]);
  const more = Array.isArray(value) && value.length > MOST && element("p.quiet", {}, `and ${value.length - MOST} more`);
  if (!entries.length) return element("p.quiet", {}, "empty");
  return element("div.cells", {}, entries.map(([key, inner, where]) => scalar(inner) || tensorData(inner)
    ? anyValue(key, inner, where, changed)
    : element("div.nested", {}, element("h4", {}, key), anyValue(key, inner, where, changed))), more);
}

function show({state, changed}, frames, variables) {
  const plain = Object.entries(state).filter(([, value]) => scalar(value));
  const parts = Object.entries(state).filter(([, value]) => !scalar(value));
  fill(body,
    plain.length > 0 && element("div.cells", {}, plain.map(([key, value]) => cell(key, value, `/${key}`, changed))),
    parts.map(([key, value]) => section(key, key === "memory" && Array.isArray(value)
      ? value.length ? memoryRuns(value) : element("p.quiet", {}, "unchanged")
      : anyValue(key, value, `/${key}`, changed))),
    variables.length > 0 && section("variables", element("div.cells", {}, variables.map(v =>
      cell(v.type ? `${v.name}: ${v.type}` : v.name, listed(v), `/${v.name}`, changed)))),
    frames.length > 1 && section("calls", element("ol.frames", {}, frames.map(frame =>
      element("li", {}, element("button.plain", {type: "button", onclick: () => emit("goToLine", frame.line)},
        `${frame.name || ""} ${frame.source || `pc ${frame.pc}`}`))))));
}

// The value of a variable, or the elements of an array.
function listed({value, elements, total}) {
  if (elements) return elements.join(" ") + (total > elements.length ? ` … ${total - elements.length} more` : "");
  return scalar(value) ? value : JSON.stringify(value);
}

async function refresh() {
  const handle = machine.handle, mine = ++generation;
  if (!handle || !machine.stop) {
    fill(body, element("p.empty", {}, "Step (s) or run (r) starts the machine. Options of the run are in their own tab."));
    return;
  }
  const [state, frames, variables] = await Promise.all([
    handle.state(), handle.frames().catch(() => []), handle.variables().catch(() => []),
  ]);
  if (mine !== generation || handle !== machine.handle) return;
  stale = false;
  // Where the state has variables itself, they are there already.
  show(state, frames, "variables" in state.state ? [] : variables.filter(v => v.scope !== "register"));
}

export function makeState() {
  const panel = addView("machine", "state", "State", {shown: () => stale && body && refresh().catch(() => {})});
  makeBar(byId("run-bar"));
  body = element("div.scroll.fill");
  panel.append(body);
  on("machine", ({moved} = {}) => {
    if (!moved && machine.running) return;
    stale = true;
    if (isShown("state")) refresh().catch(error => fill(body, element("p.empty", {}, error.message)));
  });
}
