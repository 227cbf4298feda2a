// Ways in and out: choosing, dropping, pasting, examples, links, saving.
import {byId, element, fill, openDialog, tell} from "../views/dom.js";
import {model, openBytes, openFile, openSource} from "./model.js";
import {LINK_MAX, makeLink} from "./share.js";
import {compareWith} from "./compare.js";
import {isShown} from "./tabs.js";

const LARGEST = 256 << 20;

async function readFile(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} has more than ${LARGEST >> 20} MiB: too large for a page`);
  return {name: file.name, bytes: new Uint8Array(await file.arrayBuffer())};
}

async function take(file, then) {
  try {
    await then(await readFile(file));
  } catch (error) {
    tell(error.message, true);
  }
}

// ---- choosing and dropping ----

let chosen = openFile;

function pick(then) {
  chosen = then;
  byId("picker").value = "";
  byId("picker").click();
}

export const pickFile = () => pick(openFile);
export const pickPeer = () => pick(compareWith);

export function listenToFiles() {
  byId("picker").addEventListener("change", event => {
    if (event.target.files[0]) take(event.target.files[0], chosen);
  });
  let inside = 0;
  const show = on => document.body.classList.toggle("dropping-file", on);
  document.addEventListener("dragenter", event => {
    event.preventDefault();
    show(++inside > 0);
  });
  document.addEventListener("dragleave", () => show(--inside > 0));
  document.addEventListener("dragover", event => event.preventDefault());
  document.addEventListener("drop", event => {
    event.preventDefault();
    show((inside = 0) > 0);
    const [file, second] = event.dataTransfer.files;
    if (!file) return;
    const comparing = model.file && isShown("compare") && !byId("work").hidden;
    take(file, comparing ? compareWith : openFile).then(() => second && take(second, compareWith));
  });
}

// ---- pasting ----

function hexBytes(text) {
  const digits = text.replace(/0x/gi, "").replace(/[\s,:;]+/g, "");
  if (!digits || digits.length % 2 || /[^0-9a-f]/i.test(digits)) return null;
  return Uint8Array.from(digits.match(/../g), pair => parseInt(pair, 16));
}

async function openPasted(text, format) {
  const bytes = format === "hex" || !format ? hexBytes(text) : null;
  if (bytes) return openBytes({name: "pasted", bytes});
  if (format === "hex") throw new Error("this is no hex: pairs of digits, with spaces or commas between them");
  if (format) return openSource({name: "pasted", text, format});
  for (const {name, uses} of model.formats) {
    if (!uses.includes("assemble")) continue;
    if ((await model.penta.assemble(text, name)).ok) return openSource({name: "pasted", text, format: name});
  }
  throw new Error("no assembler takes this text as it is: choose a format to see why");
}

export function askPaste() {
  openDialog("Paste hex or assembly", (body, close) => {
    const text = element("textarea", {rows: "12", "aria-label": "Hex or assembly", spellcheck: "false"});
    const format = element("select", {"aria-label": "What it is"},
      element("option", {value: ""}, "find out"), element("option", {value: "hex"}, "hex"),
      model.formats.filter(f => f.uses.includes("assemble")).map(f => element("option", {value: f.name}, `${f.name} assembly`)));
    const problem = element("p.bad", {role: "alert"});
    body.append(element("form.column-form", {onsubmit: async event => {
      event.preventDefault();
      try {
        await openPasted(text.value, format.value);
        close();
      } catch (error) {
        problem.textContent = error.message;
      }
    }}, text, problem, element("div.row-form", {}, format, element("button.main", {}, "Open"))));
    return text;
  });
}

// ---- examples ----

async function openExample(example) {
  const options = example.run.map(([key, value]) => ({key, value}));
  const texts = {};
  if (example.host) {
    const name = example.host.replace(/.*\//, "");
    texts[name] = example.hostText;
    options.push({key: "host", value: name});
  }
  await openSource({name: example.file.replace(/.*\//, ""), text: example.text, format: example.format,
                    assemble: Object.entries(example.assemble || {}).map(([key, value]) => ({key, value})), options, texts});
}

// The list is a file beside the page, or a block in the page that is one file.
async function readExamples() {
  const block = byId("examples-data");
  return block ? JSON.parse(block.textContent) : (await fetch("examples.json")).json();
}

export async function listExamples(host) {
  const examples = await readExamples().catch(() => []);
  fill(host, [...new Set(examples.map(e => e.format))].map(format => element("div.example-group", {},
    element("h4", {}, format),
    element("ul", {}, examples.filter(e => e.format === format).map(example => element("li", {},
      element("button.plain.example", {type: "button", onclick: () => {
        byId("dialog").open && byId("dialog").close();
        openExample(example).catch(error => tell(error.message, true));
      }}, element("code", {}, example.file.replace(/.*\//, "")), element("span.quiet", {}, example.about))))))));
}

export function askExample() {
  openDialog("Examples", body => {
    const list = element("div.examples");
    body.append(list);
    listExamples(list);
  });
}

// ---- out ----

export async function copyLink() {
  if (!model.bytes.length) return tell("Nothing is open", true);
  const link = await makeLink({name: model.name, format: model.file?.format, bytes: model.bytes,
                               options: [...model.opening, ...model.options].filter(o => !(o.value in model.texts || o.value.split("=").pop() in model.texts))});
  if (!link) return tell(`Too large for a link: packed it must stay below ${LINK_MAX >> 10} Ki characters. Send the file instead.`, true);
  history.replaceState(null, "", link);
  await navigator.clipboard?.writeText(link).then(() => tell("The link is in the clipboard, and in the address bar"),
    () => tell("The link is in the address bar"));
  if (!navigator.clipboard) tell("The link is in the address bar");
}

export function saveAs(bytes, name) {
  const url = URL.createObjectURL(new Blob([bytes]));
  element("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function saveBytes() {
  if (!model.bytes.length) return tell("Nothing is open", true);
  const suffixed = model.name.replace(/\.\w*asm$/, "") + (/\.\w*asm$/.test(model.name) ? `.${model.format}` : "");
  saveAs(model.bytes, suffixed);
}

