// One screen of facts.
import {element, fill} from "../views/dom.js";
import {on} from "../views/events.js";
import {model} from "./model.js";
import {addView} from "./tabs.js";

const MOST = 200;  // items of a list
const words = key => key.replaceAll("_", " ");

export function facts(value) {
  if (Array.isArray(value)) return list(value);
  if (value && typeof value === "object")
    return element("dl.facts", {}, Object.entries(value).map(([key, inner]) =>
      [element("dt", {}, words(key)), element("dd", {}, facts(inner))]));
  return element("span.value", {}, value === null ? "none" : value === "" ? "–" : String(value));
}

function list(items) {
  if (!items.length) return element("span.quiet", {}, "none");
  const rest = items.length > MOST && element("p.quiet", {}, `and ${items.length - MOST} more`);
  const some = items.slice(0, MOST);
  if (some.every(item => item && typeof item === "object" && !Array.isArray(item))) {
    const keys = [...new Set(some.flatMap(item => Object.keys(item)))];
    return [element("table.plain-table", {},
      element("thead", {}, element("tr", {}, keys.map(key => element("th", {scope: "col"}, words(key))))),
      element("tbody", {}, some.map(item =>
        element("tr", {}, keys.map(key => element("td", {}, key in item ? facts(item[key]) : "")))))), rest];
  }
  return [element("span.value", {}, some.map(item => typeof item === "object" ? JSON.stringify(item) : item).join(", ")), rest];
}

export function makeInfo() {
  const panel = addView("structure", "info", "Info");
  panel.classList.add("scroll");
  on("open", async () => {
    fill(panel);
    const file = model.file;
    if (!file) return;
    const info = await file.info().catch(error => ({problem: error.message}));
    if (file !== model.file) return;
    const head = {name: file.name, format: file.format, size: `${file.size.toLocaleString("en")} bytes`};
    if (file.damage) head.damage = file.damage.message;
    fill(panel, facts({...head, ...info}));
  });
}
