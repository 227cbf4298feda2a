/* The start: the file of the page is given to the views. */
import {plural} from "../../../../web/views/dom.js";
import {emit, on} from "../../../../web/views/events.js";
import {makeFindings} from "../../../../web/views/findings.js";
import {model} from "../../../../web/views/model.js";
import {switchTheme} from "../../../../web/views/theme.js";
import {goToOffset, showBytes} from "./bytes.js";
import {showCalls} from "./calls.js";
import {showCoverage} from "./coverage.js";
import {bytes, code, data} from "./data.js";
import {file} from "./file.js";
import {showProfile} from "./flame.js";
import {goToRow, showListing} from "./listing.js";
import {showOverview} from "./overview.js";
import {makeTabs, openView, placeIn} from "./tabs.js";
import {showSizes} from "./treemap.js";

function showFindings(section) {
  makeFindings(placeIn(section, section), (finding) => finding.explanation);
}

model.file = file;
model.bytes = bytes;
document.getElementById("about").textContent = `${data.format}, ${plural(data.size, "byte")} · penta ${data.version}`;
document.getElementById("theme").addEventListener("click", switchTheme);
makeTabs([
  { id: "overview", title: "Overview", make: showOverview },
  { id: "bytes", title: "Bytes", make: showBytes, go: goToOffset, early: true },
  { id: "listing", title: "Listing", make: showListing, go: goToRow, early: true, when: code.pc.length },
  { id: "calls", title: "Calls", make: showCalls, when: code.functions.length > 1 },
  { id: "sizes", title: "Sizes", make: showSizes },
  { id: "findings", title: "Findings", make: showFindings, early: true },
  { id: "coverage", title: "Coverage", make: showCoverage, when: data.coverage },
  { id: "profile", title: "Profile", make: showProfile, when: data.folded },
].filter((view) => !("when" in view) || view.when));
on("select", ({ from }) => from === "findings" && openView("bytes"));
emit("open", {});
addEventListener("hashchange", () => openView(location.hash.slice(1)));
openView(location.hash.slice(1));
