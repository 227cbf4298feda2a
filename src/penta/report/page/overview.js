/* What the file is: facts, digests, sections, and what the page lacks. */
import {element, plural} from "../../../../web/views/dom.js";
import {facts} from "../../../../web/views/facts.js";
import {grouped, percent, table} from "./common.js";
import {data} from "./data.js";
import {openView} from "./tabs.js";

export function showOverview(section) {
  const errors = data.findings.filter((f) => f.severity === "error").length;
  if (data.damage)
    section.append(element("div", { class: "notice error" },
      `This file is damaged: ${data.damage}. What is shown ends there.`));
  else if (errors)
    section.append(element("div", { class: "notice error" }, plural(errors, "error"), " in this file: ",
      element("button", { class: "link", onclick: () => openView("findings") }, "see the findings"), "."));
  if (data.leftOut.length)
    section.append(element("div", { class: "notice" }, "This page has only the beginning of what is long. Left out are:",
      element("ul", {}, ...data.leftOut.map((text) => element("li", {}, text)))));
  const file = { format: `${data.format}: ${data.formatTitle}`, size: plural(data.size, "byte"), "SHA-256": data.sha256, "CRC-32": data.crc32 };
  const sections = data.sizes.filter(([kind]) => kind === "section");
  section.append(element("div", { class: "columns" },
    element("div", {}, element("h2", {}, "File"), facts(file), element("h2", {}, "Facts"), facts(data.info || {})),
    element("div", {}, element("h2", {}, "Sections"), table(sections, [
      ["section", (row) => row[1]], ["bytes", (row) => grouped(row[2]), true, (row) => Number(row[2])],
      ["share", (row) => percent(row[2], data.size), true, (row) => Number(row[2])],
    ]))));
}
