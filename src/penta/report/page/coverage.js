/* How much of each function ran. */
import {element} from "../../../../web/views/dom.js";
import {grouped, percent, table} from "./common.js";
import {code, data, search} from "./data.js";
import {openView} from "./tabs.js";

function share({ all, run }) {
  return Number(all) ? Number(run) / Number(all) : 1;
}

export function showCoverage(section) {
  const { coverage } = data, total = [];
  for (const what of ["functions", "blocks", "instructions", "lines"]) {
    const part = what === "functions" ? { all: coverage.functions.length,
      run: coverage.functions.filter((f) => Number(f.instructions.run)).length } : coverage[what];
    if (Number(part.all)) total.push(`${grouped(part.run)} of ${grouped(part.all)} ${what} (${percent(part.run, part.all)})`);
  }
  const link = (f) => element("button", { class: "link mono", onclick: () => {
    openView("listing", search(code.pc.length, (i) => Number(code.pc[i]) >= Number(f.from)));
  } }, f.name);
  section.append(element("p", {}, `${total.join(", ")} ran. The listing shows how often each instruction did.`),
    table(coverage.functions, [
      ["function", link, false, (f) => f.name],
      ["blocks", (f) => `${grouped(f.blocks.run)} of ${grouped(f.blocks.all)}`, true, (f) => share(f.blocks)],
      ["instructions", (f) => `${grouped(f.instructions.run)} of ${grouped(f.instructions.all)}`, true, (f) => share(f.instructions)],
      ["share", (f) => percent(f.instructions.run, f.instructions.all), true, (f) => share(f.instructions)],
      ["", (f) => element("meter", { min: 0, max: 1, value: share(f.instructions) }), false, (f) => share(f.instructions)],
    ]));
}
