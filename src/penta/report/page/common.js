/* Numbers, colours and tables. */
import {element} from "../../../../web/views/dom.js";

export const grouped = (number) => Number(number).toLocaleString("en-US");
export const percent = (part, all) => (all ? ((100 * part) / all).toFixed(1) : "0.0") + " %";

/* A colour for a name, the same each time, of either theme. */
export function colourOf(name, saturation) {
  let sum = 7;
  for (const c of name) sum = (sum * 31 + c.codePointAt(0)) >>> 0;
  const colour = (light) => `hsl(${sum % 360} ${saturation || 55}% ${light}%)`;
  return `light-dark(${colour(82)}, ${colour(30)})`;
}

/* A table whose columns [title, of a row, is a number] can be sorted by a click on the title. */
export function table(rows, columns, most) {
  const body = element("tbody"), shown = most || 500;
  let sorted = rows, by = -1;
  const draw = (all) => {
    const cell = ([, of, number], row) => {
      const value = of(row);
      return element("td", { class: number ? "number" : "" }, value instanceof Node ? value : String(value));
    };
    body.replaceChildren(...sorted.slice(0, all ? sorted.length : shown)
      .map((row) => element("tr", {}, ...columns.map((column) => cell(column, row)))));
    if (!all && sorted.length > shown)
      body.append(element("tr", {}, element("td", { colSpan: columns.length },
        element("button", { class: "link", onclick: () => draw(true) }, `${grouped(sorted.length - shown)} more rows`))));
  };
  const key = (column, row) => (column[3] ? column[3](row) : column[1](row));
  const sort = (i) => {
    const sign = columns[i][2] ? -1 : 1, back = by === i ? -1 : 1;
    by = back < 0 ? -1 : i;
    sorted = [...rows].sort((a, b) => {
      const x = key(columns[i], a), y = key(columns[i], b);
      return sign * back * (x < y ? -1 : x > y ? 1 : 0);
    });
    draw(false);
  };
  const head = columns.map(([title, , number], i) =>
    element("th", { class: number ? "number" : "" }, element("button", { class: "link soft", onclick: () => sort(i) }, title)));
  draw(false);
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), body);
}
