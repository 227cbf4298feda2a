// What is wrong with the file or its source, each with its bytes and carets, and an explanation.
import {element, fill, hex, plural} from "./dom.js";
import {emit, on} from "./events.js";
import {model, select} from "./model.js";

let place, explanation, items = [], at = -1, generation = 0;

function bytesWithCarets({row, bytes, mark, mark_length: length, text}) {
  const pairs = bytes.replaceAll(" ", "").match(/../g) || [];
  const start = Number(mark), offset = hex(row, 4);
  const lines = [`${offset}  ${pairs.join(" ")}`];
  if (length) lines.push(" ".repeat(offset.length + 2 + start * 3) + "^".repeat(Math.max(2, length * 3 - 1)));
  if (text) lines.push(text);
  return element("pre.caret", {}, lines.join("\n"));
}

function textWithCaret({text, column}) {
  const lead = text.slice(0, Math.max(0, column - 1)).replace(/[^\t]/g, " ");
  return element("pre.caret", {}, `${text}\n${lead}^`);
}

async function explain(finding, into) {
  fill(into, element("p", {}, await explanation(finding) || "No such code."));
}

function item(finding, index) {
  const more = element("div.explanation");
  const details = element("details", {ontoggle: event => {
    if (event.target.open && !more.hasChildNodes()) explain(finding, more).catch(() => {});
  }}, element("summary", {}, "What this means"), more);
  return element(`li.finding.${finding.severity}`, {},
    element("button.plain.finding-head", {type: "button", onclick: () => choose(index)},
      element(`span.severity.${finding.severity}`, {}, finding.severity),
      element("code", {}, finding.code),
      element("span.finding-text", {}, finding.message)),
    element("div.quiet.finding-place", {},
      finding.line ? `line ${finding.line}, column ${finding.column}` : `offset 0x${hex(finding.offset)}`,
      finding.path ? ` · ${finding.path}` : ""),
    finding.caret && bytesWithCarets(finding.caret),
    finding.text !== undefined && finding.line && textWithCaret(finding),
    finding.note && element("p.note", {}, finding.note),
    finding.code && details);
}

function mark(index) {
  at = index;
  const shown = place.panel.querySelectorAll(".finding");
  shown.forEach((one, i) => one.classList.toggle("on", i === index));
  shown[index]?.scrollIntoView({block: "nearest"});
}

// The finding about what is selected elsewhere.
function follow({offset, size, from}) {
  if (from === "findings" || !items.length) return;
  mark(items.findIndex(one => !one.line && !one.decoded && one.offset >= offset && one.offset < offset + size));
}

function choose(index) {
  mark(index);
  const finding = items[index];
  if (finding.line) emit("sourceLine", finding);
  else if (!finding.decoded) select(finding.offset, finding.length, "findings", {path: finding.path});
}

export function moveFinding(step) {
  if (items.length) choose((at + step + items.length) % items.length);
}

function show(list, total, heading) {
  items = list;
  at = -1;
  const bad = list.some(f => f.severity === "error");
  place.badge(total || "", bad);
  fill(place.panel, element(`p.verdict.${total ? bad ? "bad" : "warn" : "good"}`, {}, heading),
    list.length < total && element("p.quiet", {}, `The first ${list.length} are shown.`),
    element("ul.findings", {}, list.map(item)));
}

async function fresh() {
  const mine = ++generation;
  if (model.assembled && !model.assembled.ok) {
    const list = model.assembled.findings;
    return show(list, list.length, `The text does not assemble: ${plural(list.length, "finding")}.`);
  }
  if (model.problem) {
    const {code = "", message, offset = 0, note} = model.problem;
    return show([{severity: "error", code, message, offset, length: 1, note}], 1, "The file cannot be opened.");
  }
  if (!model.file) return show([], 0, "No file.");
  const got = await model.file.findings(500);
  if (mine !== generation) return;
  const extra = model.assembled?.findings || [];
  const total = Number(got.total) + extra.length;
  show([...extra, ...got.items], total, total ? `${plural(total, "finding")}.` : "No findings: every rule of the format holds.");
}

// explanationOf(finding) gives the text of its rule, or a promise of it.
export function makeFindings(where, explanationOf) {
  place = where;
  explanation = explanationOf;
  place.panel.classList.add("scroll");
  on("open", () => fresh().catch(error => show([], 0, error.message)));
  on("select", follow);
  on("assembled", () => fresh().catch(() => {}));
}
