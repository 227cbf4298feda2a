// What is open: the library, a file or a source text, its machine, what is selected. Views read `model` and
// listen to events; only this module and control.js change it.
import {emit} from "./events.js";
import {tell} from "./dom.js";

export const model = {
  penta: null,
  formats: [],
  file: null,       // of penta.js; null: none, or one that cannot be opened
  name: "",
  format: "",
  bytes: new Uint8Array(0),
  before: null,     // the bytes before the last edit
  options: [],      // of runs: {key, value}
  opening: [],      // of opening: keys and the like
  texts: {},        // contents of the files that options name: texts, or bytes
  problem: null,    // why the file could not be opened
  source: null,     // {text, format, options} that was assembled, or null
  assembled: null,  // what penta.assemble gave for it
  selection: null,  // {offset, size, from}: from is the view where it began
};

// Options of the library as it takes them: a list where a key comes more than once.
export function asOptions(list) {
  const options = {};
  for (const {key, value} of list || []) {
    if (!key) continue;
    if (key in options) options[key] = [].concat(options[key], value);
    else options[key] = value;
  }
  return options;
}

export function formatOfSuffix(name) {
  const found = model.formats.find(f => f.suffix && name.toLowerCase().endsWith(f.suffix.startsWith(".")
    ? f.suffix : `.${f.suffix}`));
  return found ? found.name : null;
}

// Opens bytes as a file. Those that no format takes are shown as bytes, with the reason.
export async function openBytes({name, bytes, format, options, opening, source = null, assembled = null, edited = false}) {
  const old = model.file, keys = opening || (edited ? model.opening : []);
  let file = null, problem = null;
  try {
    if (keys.length) await giveTexts();
    file = await model.penta.open(bytes, {name, format, options: asOptions(keys)});
  } catch (error) {
    problem = error;
  }
  Object.assign(model, {
    file, problem, name, bytes, source, assembled,
    format: file ? file.format : format || "",
    before: edited ? model.bytes : null,
    options: options || (edited ? model.options : []),
    opening: keys,
    selection: null,
  });
  if (!edited && !opening) model.texts = {};
  emit("open", {edited});
  if (old) old.close().catch(() => {});
  if (problem) tell(problem.message, true);
}

// The library reads files that options name from what it was given here.
export async function giveTexts() {
  for (const [name, contents] of Object.entries(model.texts)) await model.penta.setFile(name, contents);
}

// The same bytes again, with other options of opening.
export function reopen() {
  const {name, bytes, format, options, opening, source, assembled} = model;
  return openBytes({name, bytes, format: format || undefined, options, opening, source, assembled});
}

// Assembles a text and opens what it makes; with errors the text stays, and its findings are shown.
export async function openSource({name, text, format, assemble, options, texts, edited = false}) {
  const assembled = await model.penta.assemble(text, format, assemble || {});
  const source = {text, format, options: assemble || {}};
  if (assembled.ok && assembled.bytes) {
    await openBytes({name, bytes: assembled.bytes, format, options, source, assembled, edited});
  } else if (edited) {
    Object.assign(model, {source, assembled});
    emit("assembled", {});
  } else {
    Object.assign(model, {file: null, problem: null, name, format, bytes: new Uint8Array(0), before: null,
                          options: options || [], opening: [], source, assembled, selection: null});
    emit("open", {edited});
  }
  if (texts) model.texts = texts;
  return assembled;
}

// Text is assembled by the suffix of its name, anything else is opened as it is.
export async function openFile({name, bytes, format, options}) {
  const textual = !format && formatOfSuffix(name);
  if (textual) return openSource({name, text: new TextDecoder().decode(bytes), format: textual, options});
  return openBytes({name, bytes, format, options});
}

export function select(offset, size, from, more = {}) {
  if (offset === undefined || offset === null) return;
  model.selection = {offset: Number(offset), size: Math.max(1, Number(size) || 1), from, ...more};
  emit("select", model.selection);
}
