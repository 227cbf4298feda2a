// The start: loads the library, makes the views, opens what the page was given.
import {load} from "../penta.js";
import {byId, element, fill, plural, tell} from "../views/dom.js";
import {on} from "../views/events.js";
import {model, openFile} from "./model.js";
import {makeGroups, place, showView} from "./tabs.js";
import {switchTheme} from "../views/theme.js";
import {command, listenToKeys, showKeys} from "./keys.js";
import {readLink, readOpened} from "./share.js";
import {askExample, askPaste, copyLink, listenToFiles, listExamples, pickFile, pickPeer, saveBytes} from "./files.js";
import {showPlaceIn} from "../views/place.js";
import {makeTree} from "../views/tree.js";
import {makeInfo} from "./info.js";
import {makeFindings, moveFinding} from "../views/findings.js";
import {currentLine, goToLine, makeListing} from "../views/listing.js";
import {makeSource} from "./source.js";
import {compareWith, makeCompare} from "./compare.js";
import {makeHex} from "../views/hex.js";
import {makeState} from "./state.js";
import {makeMemory} from "./memory.js";
import {makeOutput} from "./output.js";
import * as marks from "./marks.js";
import {makePoints} from "./points.js";
import {makeOptions} from "./options.js";
import {askPlace, askSearch, search} from "./search.js";
import * as control from "./control.js";
import {loadOptions} from "./parts.js";

function makeViews() {
  makeGroups();
  makeTree(place("structure", "tree", "Tree"));
  makeFindings(place("structure", "findings", "Findings"), async ({code}) => (await model.penta.explain(code))?.explanation);
  makeInfo();
  makeListing(place("code", "listing", "Listing"), marks.edge, marks.clicked);
  marks.follow();
  makeSource();
  makeCompare(pickPeer);
  makeHex(place("bytes", "hex", "Hex"));
  makeState();
  makeMemory();
  makeOutput();
  makePoints();
  makeOptions();
}

function changeTheme() {
  tell(`${switchTheme()} theme`);
}

function makeCommands() {
  command("o", "File", "open a file", pickFile);
  command("p", "File", "paste hex or assembly", askPaste);
  command("e", "File", "open an example", askExample);
  command("c", "File", "compare with another file", pickPeer);
  command("l", "File", "make a link that carries the file", copyLink);
  command("d", "File", "save the bytes", saveBytes);
  const views = ["tree", "findings", "info", "listing", "source", "compare", "hex", "state", "memory"];
  const titles = ["the tree", "findings", "info", "the listing", "the assembly, to edit it", "differences", "bytes", "the machine", "memory"];
  views.forEach((view, i) => command(String(i + 1), "Views", titles[i], () => showView(view, true)));
  command("0", "Views", "output", () => showView("output", true));
  command("h", "Views", "host calls", () => showView("calls", true));
  command("B", "Views", "breakpoints and watches", () => showView("points", true));
  command("O", "Views", "options of the run", () => showView("options", true));
  command("/ Ctrl+f", "Finding", "search code or bytes", askSearch);
  command("n", "Finding", "next match", () => search());
  command("N", "Finding", "previous match", () => search(true));
  command("g", "Finding", "go to a label, offset or step", askPlace);
  command("]", "Finding", "next finding", () => moveFinding(1));
  command("[", "Finding", "previous finding", () => moveFinding(-1));
  command("r", "Running", "run, or stop", control.run);
  command("s", "Running", "one instruction", () => control.step());
  command("v", "Running", "one instruction, calls as a whole", control.next);
  command("u", "Running", "until the call returns", control.finish);
  command("b", "Running", "one instruction back", () => control.back());
  command("R", "Running", "back to the last breakpoint, or the start", control.reverse);
  command("q", "Running", "restart", control.restart);
  command("G", "Running", "go to a step", control.askStep);
  command("m", "Running", "breakpoint at the line, on or off", () => control.toggleBreak(currentLine()));
  command("Escape", "Running", "stop the run", control.stopRun);
  command("t", "Page", "dark or light", changeTheme);
  command("?", "Page", "these keys", showKeys);
}

function makeActions() {
  const button = (text, title, act) => element("button", {type: "button", title, onclick: act}, text);
  const ofFile = (...args) => {
    const made = button(...args);
    made.classList.add("of-file");
    return made;
  };
  fill(byId("actions"),
    button("Open", "Open a file (o)", pickFile), button("Paste", "Paste hex or assembly (p)", askPaste),
    button("Examples", "Open an example (e)", askExample), ofFile("Compare", "Compare with another file (c)", pickPeer),
    ofFile("Link", "A link that carries the file (l)", copyLink), ofFile("Save", "Save the bytes (d)", saveBytes),
    ofFile("Search", "Search code or bytes (/)", askSearch),
    element("button", {type: "button", title: "Dark or light (t)", "aria-label": "Dark or light", onclick: changeTheme}, "◐"),
    element("button", {type: "button", title: "Keys (?)", "aria-label": "Keys", onclick: showKeys}, "?"));
  byId("choose").addEventListener("click", pickFile);
  byId("paste-hex").addEventListener("click", askPaste);
}

function showOpened() {
  byId("welcome").hidden = true;
  byId("work").hidden = false;
  document.body.classList.add("open");
  document.title = `${model.name} – penta explorer`;
  fill(byId("file"), element("strong", {}, model.name), element("span.chip", {}, model.format || "unknown"),
    element("span.quiet", {}, plural(model.bytes.length, "byte")));
  byId("place").textContent = "";
}

// Whoever looks at a program will run it: once it is on screen, the module with machines is loaded.
function prepareMachines() {
  setTimeout(() => model.penta.prepare().catch(() => {}), 500);
}

async function openGiven() {
  const given = readOpened() || await readLink();
  if (given) await openFile(given);
  if (given?.other) await compareWith(given.other);
}

async function start() {
  makeViews();
  makeCommands();
  makeActions();
  listenToKeys();
  listenToFiles();
  on("open", showOpened);
  on("open", prepareMachines);
  showPlaceIn(byId("place"));
  on("goToLine", line => {
    showView("listing");
    goToLine(line, true);
  });
  addEventListener("hashchange", () => readLink().then(given => given && openFile(given), error => tell(error.message, true)));
  listExamples(byId("examples"));
  model.penta = await load(await loadOptions());
  model.formats = await model.penta.formats();
  document.body.classList.add("ready");
  await openGiven();
}

start().catch(error => tell(`The page cannot start: ${error.message}`, true));
