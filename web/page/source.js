// The assembly text: edited here, assembled while it is typed, and opened when it is good.
import {element, fill, plural, tell} from "../views/dom.js";
import {on} from "../views/events.js";
import {model, openSource, select} from "./model.js";
import {addView, isShown, showView} from "./tabs.js";

const LARGEST = 2 << 20;    // characters that a text field of a browser still edits well
const AT_ONCE = 200 << 10;  // up to here every change is assembled
let area, gutter, state, timer, loaded = null, own = false, numbered = 0, marked = 0;
let map = [];               // of the text as it is shown: lines with the bytes that they became

const lineAt = position => area.value.slice(0, position).split("\n").length;

// Numbers of the lines, the marked one with a ground of its own.
function number() {
  const count = area.value.split("\n").length;
  if (count === numbered) return;
  numbered = count;
  mark(0);
}

function mark(line) {
  marked = line <= numbered ? line : 0;
  const numbers = (from, to) => Array.from({length: Math.max(0, to - from + 1)}, (_, i) => `${from + i}\n`).join("");
  fill(gutter, numbers(1, marked - 1), marked > 0 && element("span.here", {}, `${marked}\n`), numbers(marked + 1, numbered));
  gutter.scrollTop = area.scrollTop;
}

function scrollToLine(line) {
  const height = parseFloat(getComputedStyle(area).lineHeight), top = (line - 1) * height;
  if (top < area.scrollTop || top + 2 * height > area.scrollTop + area.clientHeight)
    area.scrollTop = Math.max(0, top - 4 * height);
}

// The line of what is selected elsewhere.
function follow(selection) {
  if (!selection || selection.from === "source" || !isShown("source")) return;
  const {offset} = selection, entry = map.find(one => Number(one.offset) <= offset && offset < Number(one.offset) + one.size);
  if (!entry && !marked) return;
  mark(entry ? entry.line : 0);
  if (entry) scrollToLine(entry.line);
}

function say(text, bad = false) {
  state.textContent = text;
  state.classList.toggle("bad", bad);
}

function report(assembled) {
  if (!assembled) return;
  const bad = assembled.findings.find(f => f.severity === "error");
  if (assembled.ok) say(`${plural(assembled.bytes.length, "byte")}`);
  else say(bad ? `line ${bad.line}: ${bad.message}` : "does not assemble", true);
}

async function assemble() {
  clearTimeout(timer);
  const text = area.value, format = model.source?.format || model.format;
  own = true;
  try {
    const assembled = await openSource({name: model.name, text, format, edited: true});
    if (assembled.ok) map = assembled.map;
    if (area.value === text) report(assembled);
  } catch (error) {
    say(error.message, true);
  } finally {
    own = false;
  }
}

function edited() {
  number();
  clearTimeout(timer);
  if (area.value.length <= AT_ONCE) timer = setTimeout(assemble, 250);
  else say("Ctrl+Enter assembles");
}

// The bytes of the line where the cursor is.
function followCaret() {
  const line = lineAt(area.selectionStart);
  const entry = map.find(one => one.line === line);
  mark(entry ? line : 0);
  if (entry) select(entry.offset, entry.size, "source");
}

export function goToSourceLine({line, column = 1}) {
  showView("source");
  let at = 0;
  for (let i = 1; i < line; i++) at = area.value.indexOf("\n", at) + 1;
  area.focus();
  area.setSelectionRange(at + column - 1, at + column);
  scrollToLine(line);
}

// The lines of a text that was disassembled: by assembling it, where that gives the same bytes.
async function mapOf(text) {
  if (!model.file || !text || text.length > AT_ONCE) return [];
  const bytes = model.bytes, made = await model.penta.assemble(text, model.format).catch(() => null);
  return made?.ok && made.bytes.length === bytes.length && made.bytes.every((byte, i) => byte === bytes[i]) ? made.map : [];
}

async function fresh() {
  if (own) return report(model.assembled);
  const key = model.source || model.file;
  if (!isShown("source") || loaded === key) return;
  loaded = key;
  numbered = 0;
  map = [];
  area.readOnly = false;
  try {
    if (model.source) area.value = model.source.text;
    else if (model.file) {
      say("disassembling");
      const text = await model.file.source();
      if (loaded !== key) return;
      area.readOnly = text.length > LARGEST;
      area.value = area.readOnly ? `; ${plural(text.length, "character")}: too long to edit here; penta dis writes it to a file\n` : text;
    } else area.value = "";
    say(model.file ? plural(model.bytes.length, "byte") : "");
    report(model.assembled);
    map = model.assembled?.ok ? model.assembled.map : model.source ? [] : await mapOf(area.value);
    if (loaded !== key) return;
  } catch (error) {
    area.value = "";
    area.readOnly = true;
    say(error.message, true);
  }
  number();
  follow(model.selection);
}

export function makeSource() {
  const panel = addView("code", "source", "Assembly", {shown: () => area && fresh()});
  gutter = element("pre.gutter", {"aria-hidden": "true"});
  area = element("textarea.source-text", {spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
    "aria-label": "Assembly text", oninput: edited, onscroll: () => { gutter.scrollTop = area.scrollTop; },
    onkeyup: followCaret, onclick: followCaret,
    onkeydown: event => {
      if (event.key === "Escape") return area.blur();
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      assemble();
      tell("Assembled");
    }});
  state = element("span", {role: "status"});
  panel.append(element("div.source-head", {}, state, element("span.quiet", {}, "Edit: the bytes follow. Escape leaves the text.")),
    element("div.editor.fill", {}, gutter, area));
  on("open", ({edited: byEdit}) => {
    if (!byEdit) {
      loaded = null;
      clearTimeout(timer);
      if (model.source && !model.file) showView("source");
    }
    fresh();
  });
  on("sourceLine", goToSourceLine);
  on("select", follow);
}
