// The assembly text: edited here, assembled while it is typed, and opened when it is good.
import {element, fill, plural, tell} from "./dom.js";
import {on} from "./events.js";
import {model, openSource, select} from "./model.js";
import {addView, isShown, showView} from "./tabs.js";

const LARGEST = 2 << 20;    // characters that a text field of a browser still edits well
const AT_ONCE = 200 << 10;  // up to here every change is assembled
let area, gutter, state, timer, loaded = null, own = false, numbered = 0;

const lineAt = position => area.value.slice(0, position).split("\n").length;

function number() {
  const count = area.value.split("\n").length;
  if (count === numbered) return;
  numbered = count;
  gutter.textContent = Array.from({length: count}, (_, i) => i + 1).join("\n");
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
  const entry = model.assembled?.ok && model.assembled.map.find(one => one.line === line);
  if (entry) select(entry.offset, entry.size, "source");
}

export function goToSourceLine({line, column = 1}) {
  showView("source");
  let at = 0;
  for (let i = 1; i < line; i++) at = area.value.indexOf("\n", at) + 1;
  area.focus();
  area.setSelectionRange(at + column - 1, at + column);
  const height = parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = Math.max(0, (line - 5) * height);
}

async function fresh() {
  if (own) return report(model.assembled);
  const key = model.source || model.file;
  if (!isShown("source") || loaded === key) return;
  loaded = key;
  numbered = 0;
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
  } catch (error) {
    area.value = "";
    area.readOnly = true;
    say(error.message, true);
  }
  number();
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
}
