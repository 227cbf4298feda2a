// Breakpoints and watches with conditions, and the options that a run starts with.
import {element, fill} from "./dom.js";
import {emit, on} from "./events.js";
import {model} from "./model.js";
import {addView, badge} from "./tabs.js";
import {addPoint, changePoint, machine, removePoint, restart} from "./control.js";

let list, rows;

function pointRow(point) {
  const condition = element("input", {type: "text", value: point.condition || "", placeholder: "condition",
    "aria-label": "Condition", onchange: event => changePoint(point.number, {condition: event.target.value || null})});
  const on = element("input", {type: "checkbox", "aria-label": "On",
    onchange: event => changePoint(point.number, {disabled: !event.target.checked})});
  on.checked = !point.disabled;
  const place = point.kind === "break" ? `pc ${point.pc}` : String(point.what);
  return element("li.point", {}, on,
    element("button.plain", {type: "button", onclick: () => emit("goToLine", point.line)}, `${point.kind} ${place}`),
    condition, element("span.quiet", {}, `${point.hits} hits`),
    element("button.plain", {type: "button", "aria-label": "Remove", onclick: () => removePoint(point.number)}, "×"));
}

function makePointForm() {
  const kind = element("select", {"aria-label": "Kind"}, ["break", "watch", "read", "write", "access"].map(name =>
    element("option", {value: name}, name)));
  const what = element("input", {type: "text", "aria-label": "Where or what", placeholder: "pc, name, a0, 0x10000:8"});
  const condition = element("input", {type: "text", "aria-label": "Condition", placeholder: "condition: a0 == 5"});
  return element("form.row-form.wrap", {onsubmit: async event => {
    event.preventDefault();
    const added = await addPoint({kind: kind.value, what: what.value.trim(), condition: condition.value.trim() || null});
    if (added) what.value = condition.value = "";
  }}, kind, what, condition, element("button", {}, "Add"));
}

// ---- options of the run ----

const known = () => (model.formats.find(f => f.name === model.format)?.options || []).filter(o => o.uses.includes("run"));

function optionRow(option) {
  const info = known().find(one => one.key === option.key);
  const key = element("select", {"aria-label": "Option", onchange: event => {
    option.key = event.target.value;
    show();
  }}, element("option", {value: ""}, "choose"), known().map(one => element("option", {value: one.key}, one.key)));
  key.value = option.key;
  const takes = info ? info.argument !== undefined && info.argument !== null : true;
  const value = element("input", {type: "text", "aria-label": "Value", value: takes ? option.value : "", disabled: !takes,
    placeholder: info?.argument || "", onchange: event => {
      const text = model.scripts[option.value];
      option.value = event.target.value;
      if (isFile(info) && text !== undefined) model.scripts[option.value] = text;
    }});
  const remove = element("button.plain", {type: "button", "aria-label": "Remove", onclick: () => {
    model.options.splice(model.options.indexOf(option), 1);
    show();
  }}, "×");
  return element("li.option", {}, element("div.row-form", {}, key, value, remove),
    info && element("p.quiet", {}, info.help), isFile(info) && contents(option));
}

const isFile = info => info?.argument === "FILE";

// Files exist in the page only: their text is typed here.
function contents(option) {
  option.value ||= `${option.key}.txt`;
  return element("textarea", {rows: "5", "aria-label": `Contents of ${option.value}`, spellcheck: "false",
    placeholder: `contents of ${option.value}`, value: model.scripts[option.value] || "",
    oninput: event => { model.scripts[option.value] = event.target.value; }});
}

function show() {
  fill(rows, model.options.map(optionRow), !model.options.length && element("li.empty", {}, "None."));
}

export function makePoints() {
  const panel = addView("machine", "points", "Points");
  list = element("ul.points");
  panel.append(makePointForm(), element("div.scroll.fill", {}, list));
  on("points", () => {
    fill(list, machine.points.map(pointRow),
      !machine.points.length && element("li.empty", {}, "None. Click beside an instruction, or press m there."));
    badge("points", machine.points.length || "");
  });

  const options = addView("machine", "options", "Options", {shown: show});
  rows = element("ul.points");
  const anyway = element("input", {type: "checkbox", id: "unverified", onchange: () => { machine.unverified = anyway.checked; }});
  options.append(
    element("div.row-form", {},
      element("button", {type: "button", onclick: () => { model.options.push({key: "", value: ""}); show(); }}, "Add an option"),
      element("button.main", {type: "button", onclick: restart}, "Restart with these")),
    element("div.options-line", {}, anyway, element("label", {for: "unverified"}, "Run although the program has errors")),
    element("div.scroll.fill", {}, rows));
  on("open", show);
}
