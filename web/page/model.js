// What is open: the library, a file or a source text, its machine, what is selected. Views read `model` and
// listen to events; only this module and control.js change it.
import {emit} from "../views/events.js";
import {model, select} from "../views/model.js";
import {plural, tell} from "../views/dom.js";

export {model, select};

Object.assign(model, {
  penta: null,
  formats: [],
  name: "",
  format: "",
  options: [],      // of runs: {key, value}
  opening: [],      // of opening: keys and the like
  assembling: [],   // of assembling the text
  texts: {},        // contents of the files that options name: texts, or bytes
  source: null,     // {text, format} that was assembled, or null
});

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

// Those of a list that are for this use; what is for no use at all is told by the run.
function optionsFor(list, format, use) {
  const known = model.formats.find(f => f.name === format)?.options || [];
  const uses = key => known.filter(one => one.key === key).flatMap(one => one.uses);
  const wanted = key => uses(key).includes(use) || use === "run" && !uses(key).some(one => one === "open" || one === "assemble");
  return (list || []).filter(({key}) => wanted(key));
}

export function formatOfSuffix(name) {
  const found = model.formats.find(f => f.suffix && name.toLowerCase().endsWith(f.suffix.startsWith(".")
    ? f.suffix : `.${f.suffix}`));
  return found ? found.name : null;
}

// Opens bytes as a file. Those that no format takes are shown as bytes, with the reason.
export async function openBytes({name, bytes, format, options, opening, texts, source = null, assembled = null, edited = false}) {
  const old = model.file, keys = opening || (edited ? model.opening : []);
  let file = null, problem = null;
  if (texts || !edited && !opening) model.texts = texts || {};
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
    assembling: source ? model.assembling : [],
    selection: null,
  });
  emit("open", {edited});
  if (old) old.close().catch(() => {});
  if (problem) tell(problem.message, true);
  else if (!edited) tell(`Opened ${name}: ${file.format}, ${plural(bytes.length, "byte")}`);
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
export async function openSource({name, text, format, assemble, options, opening, texts, edited = false}) {
  if (!edited) model.assembling = assemble || [];
  const assembled = await model.penta.assemble(text, format, asOptions(model.assembling));
  const source = {text, format};
  if (assembled.ok && assembled.bytes) {
    await openBytes({name, bytes: assembled.bytes, format, options, opening, texts, source, assembled, edited});
  } else if (edited) {
    Object.assign(model, {source, assembled});
    emit("assembled", {});
  } else {
    Object.assign(model, {file: null, problem: null, name, format, bytes: new Uint8Array(0), before: null, texts: texts || {},
                          options: options || [], opening: opening || [], source, assembled, selection: null});
    emit("open", {edited});
  }
  return assembled;
}

// The same text again, with other options of assembling.
export async function reassemble() {
  if (!model.source) return tell("No text was assembled: edit the assembly first", true);
  const {ok, bytes, findings} = await openSource({name: model.name, ...model.source, edited: true});
  tell(ok ? `Assembled: ${bytes.length} bytes` : `Line ${findings[0]?.line}: ${findings[0]?.message}`, !ok);
}

// Text is assembled by the suffix of its name, anything else is opened as it is. Options may be for any use.
export async function openFile({name, bytes, format, options, texts}) {
  const textual = !format && formatOfSuffix(name);
  const known = textual || format || options?.length && (await model.penta.detect(bytes))[0]?.format;
  const [assemble, opening, run] = ["assemble", "open", "run"].map(use => optionsFor(options, known, use));
  const how = {name, options: run, opening: opening.length ? opening : undefined, texts};
  if (textual) return openSource({...how, text: new TextDecoder().decode(bytes), format: textual, assemble});
  return openBytes({...how, bytes, format});
}
