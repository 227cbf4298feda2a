/* What the file is: facts, digests, sections, and what the page lacks. */

function factTable(object) {
  const rows = Object.entries(object).map(([name, value]) =>
    el("tr", {}, el("th", {}, name), el("td", {}, factValue(value))));
  return el("table", {}, el("tbody", {}, ...rows));
}

function factValue(value) {
  if (Array.isArray(value)) return factList(value);
  if (value !== null && typeof value === "object") return factTable(value);
  return value === true ? "yes" : value === false ? "no" : value === null || value === "" ? "none" : String(value);
}

function factList(list) {
  const plain = list.every((item) => item === null || typeof item !== "object");
  const box = el("div"), few = 20;
  const draw = (count) => {
    const items = list.slice(0, count);
    box.replaceChildren(plain ? el("span", {}, items.join(", ")) : el("div", {}, ...items.map(factValue)));
    if (count < list.length)
      box.append(" ", el("button", { class: "link", onclick: () => draw(list.length) },
        `${grouped(list.length - count)} more`));
  };
  draw(few);
  return list.length ? box : "none";
}

function showOverview(section) {
  const errors = data.findings.filter((f) => f.severity === "error").length;
  if (data.damage)
    section.append(el("div", { class: "note error" },
      `This file is damaged: ${data.damage}. What is shown ends there.`));
  else if (errors)
    section.append(el("div", { class: "note error" }, plural(errors, "error"), " in this file: ",
      el("button", { class: "link", onclick: () => openView("findings") }, "see the findings"), "."));
  if (data.leftOut.length)
    section.append(el("div", { class: "note" }, "This page has only the beginning of what is long. Left out are:",
      el("ul", {}, ...data.leftOut.map((text) => el("li", {}, text)))));
  const digests = {
    format: `${data.format}: ${data.formatTitle}`, size: plural(data.size, "byte"),
    "SHA-256": el("span", { class: "mono" }, data.sha256), "CRC-32": el("span", { class: "mono" }, data.crc32),
  };
  const file = el("table", {}, el("tbody", {}, ...Object.entries(digests).map(([name, value]) =>
    el("tr", {}, el("th", {}, name), el("td", {}, value)))));
  const sections = data.sizes.filter(([kind]) => kind === "section");
  section.append(el("div", { class: "columns" },
    el("div", { class: "facts" }, el("h2", {}, "File"), file, el("h2", {}, "Facts"), factTable(data.info || {})),
    el("div", {}, el("h2", {}, "Sections"), table(sections, [
      ["section", (row) => row[1]], ["bytes", (row) => grouped(row[2]), true, (row) => Number(row[2])],
      ["share", (row) => percent(row[2], data.size), true, (row) => Number(row[2])],
    ]))));
}
