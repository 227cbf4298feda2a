// Finding text in the code and bytes in the file, and going to a place.
import {element, hex, openDialog, tell} from "../views/dom.js";
import {model, select} from "./model.js";
import {cursorLine, goToLine} from "../views/listing.js";
import {goToStep} from "./control.js";
import {showView} from "./tabs.js";

let last = "";

// Bytes that a search means: hex:DEADBEEF, or "text" in quotes; null: it is about the code.
function pattern(text) {
  const quoted = /^"(.+)"$/.exec(text);
  if (quoted) return new TextEncoder().encode(quoted[1]);
  const digits = /^hex:\s*((?:[0-9a-f]{2}\s*)+)$/i.exec(text);
  return digits ? Uint8Array.from(digits[1].replace(/\s/g, "").match(/../g), pair => parseInt(pair, 16)) : null;
}

function findBytes(wanted, from, backwards) {
  const {bytes} = model, size = bytes.length;
  for (let n = 0, at = from; n < size; n++, at += backwards ? -1 : 1) {
    const start = (at % size + size) % size;
    let i = 0;
    while (i < wanted.length && bytes[start + i] === wanted[i]) i++;
    if (i === wanted.length) return start;
  }
  return -1;
}

export async function search(backwards = false) {
  if (!last || !model.bytes.length) return;
  const wanted = pattern(last);
  if (wanted) {
    const from = model.selection ? model.selection.offset + (backwards ? -1 : 1) : 0;
    const at = findBytes(wanted, from, backwards);
    if (at < 0) return tell(`No ${last} in the bytes`, true);
    showView("hex");
    select(at, wanted.length, "search");
    return tell(`Found at offset 0x${hex(at)}`);
  }
  if (!model.file) return;
  const from = cursorLine() + (backwards ? -1 : 1);
  let line = from < 0 ? null : await model.file.search(last, from, backwards);
  if (line === null) line = await model.file.search(last, backwards ? Number.MAX_SAFE_INTEGER : 0, backwards);
  if (line === null) return tell(`No '${last}' in the code`, true);
  showView("listing");
  await goToLine(line, true);
  tell(`Found in line ${line + 1}`);
}

export function askSearch() {
  openDialog("Search", (body, close) => {
    const field = element("input", {type: "search", value: last, "aria-label": "Search for", placeholder: "ecalli"});
    body.append(element("form.row-form", {onsubmit: event => {
      event.preventDefault();
      last = field.value;
      close();
      search();
    }}, field, element("button.main", {}, "Search")),
    element("p.quiet", {}, "Text of the code; hex:b105 finds bytes, \"hello\" finds letters in the file. n and N find more."));
    return field;
  });
}

// 0x40 is an offset of the file, #100 a step, anything else a label, function, FILE:LINE or pc.
async function goTo(text) {
  const wanted = text.trim();
  if (/^#\d+$/.test(wanted)) return goToStep(Number(wanted.slice(1)));
  if (/^0x[0-9a-f]+$/i.test(wanted)) {
    const offset = Number(wanted);
    if (offset >= model.bytes.length) return tell(`The file ends before ${wanted}`, true);
    return select(offset, 1, "search");
  }
  if (!model.file) return;
  const line = await model.file.lineOf({source: wanted.replace(/^pc\s*/, "")}).catch(() => null);
  if (line === null) return tell(`No place is called '${wanted}'`, true);
  showView("listing");
  goToLine(line, true);
}

export function askPlace() {
  openDialog("Go to", (body, close) => {
    const field = element("input", {type: "text", "aria-label": "Place", list: "places", placeholder: "main, 0x40, #100"});
    const names = element("datalist", {id: "places"});
    body.append(element("form.row-form", {onsubmit: event => {
      event.preventDefault();
      close();
      goTo(field.value);
    }}, field, names, element("button.main", {}, "Go")),
    element("p.quiet", {}, "A label or function, FILE:LINE, a pc; 0x40 is an offset of the file; #100 a step."));
    model.file?.symbols().then(symbols => {
      for (const {name} of symbols.slice(0, 2000)) if (name) names.append(element("option", {value: name}));
    }, () => {});
    return field;
  });
}
