// Facts as JSON, for people: objects as lists of names and values, lists of objects as tables.
import {element, fill} from "./dom.js";

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
  const box = element("div");
  show(box, items, MOST);
  return box;
}

function show(box, items, most) {
  const rest = items.length > most && element("button.plain.quiet", {type: "button", onclick: () => show(box, items, items.length)},
    `and ${(items.length - most).toLocaleString("en")} more`);
  fill(box, rows(items.slice(0, most)), rest);
}

function rows(some) {
  if (some.every(item => item && typeof item === "object" && !Array.isArray(item))) {
    const keys = [...new Set(some.flatMap(item => Object.keys(item)))];
    return element("table.plain-table", {},
      element("thead", {}, element("tr", {}, keys.map(key => element("th", {scope: "col"}, words(key))))),
      element("tbody", {}, some.map(item =>
        element("tr", {}, keys.map(key => element("td", {}, key in item ? facts(item[key]) : ""))))));
  }
  return element("span.value", {}, some.map(item => typeof item === "object" ? JSON.stringify(item) : item).join(", "));
}
