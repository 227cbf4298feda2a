/* The instructions, with counts of a run, and what leads to the one that is chosen and from it. */
import {element, fill, hex, plural} from "../../../../web/views/dom.js";
import {on} from "../../../../web/views/events.js";
import {cursorLine, goToLine, makeListing} from "../../../../web/views/listing.js";
import {grouped} from "./common.js";
import {code, search} from "./data.js";
import {file} from "./file.js";
import {openView, placeIn} from "./tabs.js";

export const goToRow = (row) => goToLine(file.lineOfRow(row), true);

function edge(line) {
  const counted = line.count !== undefined;
  return { lead: [element("span.count", {}, Number(line.count) ? grouped(line.count) : "")],
    look: counted ? (Number(line.count) ? "ran" : "not") : "" };
}

/* What the line is, and where it leads. */
async function about(into, index) {
  const [line] = (await file.lines(index, 1)).lines, parts = [];
  if (line.kind === "insn") {
    const around = await file.arrows(index, 1);
    const link = (text, act) => element("button", { class: "link mono", onclick: act }, text);
    const jumps = async (to, word) => {
      const { lines } = await file.lines(to, 1);
      return lines.length ? link(`${word} ${lines[0].pc}`, () => goToLine(to, true)) : "";
    };
    const f = code.functions[search(code.functions.length, (i) => code.functions[i][1] > line.row) - 1];
    if (f) parts.push(`in ${f[0]}`);
    if (line.source) parts.push(line.source);
    if (line.offset !== undefined) parts.push(link(`bytes at 0x${hex(line.offset)}`, () => openView("bytes", line.offset)));
    for (const arrow of around.filter((a) => a.from === index)) parts.push(await jumps(arrow.to, "jumps to"));
    const from = around.filter((a) => a.to === index);
    for (const arrow of from.slice(0, 6)) parts.push(await jumps(arrow.from, "from"));
    if (from.length > 6) parts.push(`and ${from.length - 6} more`);
  }
  if (index === cursorLine()) fill(into, parts.flatMap((part) => [part, "  "]));
}

export function showListing(section) {
  section.className = "full";
  const find = element("input", { placeholder: "find", "aria-label": "find text", size: 18, onkeydown: (event) => {
    if (event.key === "Enter") goToLine(file.search(find.value, cursorLine() + 1), true);
  } });
  const names = element("datalist", { id: "function-names" },
    code.functions.slice(0, 5000).map(([name]) => element("option", { value: name })));
  const choose = element("input", { placeholder: "function", "aria-label": "function", size: 24, list: "function-names", onchange: () => {
    const found = code.functions.find(([name]) => name === choose.value);
    if (found) goToRow(found[1]);
  } });
  const told = element("span.mono", {}, `${plural(code.pc.length, "instruction")}, ${plural(code.functions.length, "function")}`);
  const panel = element("div.view");
  section.append(element("div.bar", {}, choose, names, find, told), panel);
  if (code.counts) panel.classList.add("counted");
  makeListing(placeIn(panel, section), edge);
  on("line", (index) => about(told, index));
}
