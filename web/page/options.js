// Options that a run starts with, and those that the file is opened with (keys, for example).
import {element, fill, tell} from "../views/dom.js";
import {on} from "../views/events.js";
import {model, reassemble, reopen} from "./model.js";
import {addView} from "./tabs.js";
import {machine, restart} from "./control.js";

let parts = [];  // {use, list(), rows}

const known = use => (model.formats.find(f => f.name === model.format)?.options || []).filter(o => o.uses.includes(use));
// The file that an option names: all of its value, or what stands after "=".
const isFile = info => info?.argument === "FILE" || info?.argument === "GUEST=FILE";
const fileOf = (info, value) => info.argument === "FILE" ? value : value.slice(value.indexOf("=") + 1);

function optionRow(part, option) {
  const choices = known(part.use), info = choices.find(one => one.key === option.key);
  const key = element("select", {"aria-label": "Option", onchange: event => {
    option.key = event.target.value;
    show();
  }}, element("option", {value: ""}, "choose"), choices.map(one => element("option", {value: one.key}, one.key)));
  key.value = option.key;
  const takes = !info || info.argument !== undefined && info.argument !== null;
  if (!takes) option.value = "1";
  const value = element("input", {type: "text", "aria-label": "Value", value: takes ? option.value : "", disabled: !takes,
    placeholder: info?.argument || "", onchange: event => {
      const text = isFile(info) && model.texts[fileOf(info, option.value)];
      option.value = event.target.value;
      if (text) model.texts[fileOf(info, option.value)] = text;
    }});
  const remove = element("button.plain", {type: "button", "aria-label": "Remove", onclick: () => {
    part.list().splice(part.list().indexOf(option), 1);
    show();
  }}, "×");
  if (isFile(info)) option.value ||= info.argument === "FILE" ? `${option.key}.txt` : "/input.txt=input.txt";
  return element("li.option", {}, element("div.row-form", {}, key, value, remove),
    info && element("p.quiet", {}, info.help), isFile(info) && contents(option, fileOf(info, option.value)));
}

// Files exist in the page only: their text is typed here, or their bytes are read from one that is chosen.
function contents(option, name) {
  const has = model.texts[name];
  const picker = element("input", {type: "file", "aria-label": `File for ${option.key}`, onchange: async event => {
    const [file] = event.target.files;
    if (!file) return;
    model.texts[name] = new Uint8Array(await file.arrayBuffer());
    tell(`${name} has the ${file.size} bytes of ${file.name}`);
    show();
  }});
  const bytes = has instanceof Uint8Array;
  return [element("textarea", {rows: "5", "aria-label": `Contents of ${name}`, spellcheck: "false",
    placeholder: bytes ? `${has.length} bytes` : `contents of ${name}`, value: bytes ? "" : has || "",
    oninput: event => { model.texts[name] = event.target.value; }}), picker];
}

function show() {
  for (const part of parts)
    fill(part.rows, part.list().map(option => optionRow(part, option)), !part.list().length && element("li.empty", {}, "None."));
}

function makePart(use, title, list, action, act) {
  const part = {use, list, rows: element("ul.points")};
  parts.push(part);
  return element("section.part", {}, element("h3", {}, title),
    element("div.row-form", {},
      element("button", {type: "button", "aria-label": `Add an option: ${title}`, onclick: () => { list().push({key: "", value: ""}); show(); }}, "Add an option"),
      element(use === "run" ? "button.main" : "button", {type: "button", onclick: act}, action)),
    part.rows);
}

export function makeOptions() {
  const panel = addView("machine", "options", "Options", {shown: show});
  const anyway = element("input", {type: "checkbox", id: "unverified", onchange: () => { machine.unverified = anyway.checked; }});
  panel.append(element("div.scroll.fill", {},
    makePart("run", "Running", () => model.options, "Restart with these", restart),
    element("div.options-line", {}, anyway, element("label", {for: "unverified"}, "Run although the program has errors")),
    makePart("open", "Opening, with keys for example", () => model.opening, "Open again with these", reopen),
    makePart("assemble", "Assembling", () => model.assembling, "Assemble again with these", reassemble)));
  on("open", show);
}
