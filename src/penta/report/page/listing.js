/* The instructions, with names, counts of a run and arrows of jumps. Only what is in sight is drawn. */

const LANE = 9, HEAD = 14; // width of a lane, and of the space between lanes and text
const listing = { lines: [], lineOf: [], marked: -1, lanes: 0 };

/* Names have lines of their own: a negative number is that of a name, ~n. */
function makeLines() {
  let name = 0;
  for (let row = 0; row < code.pc.length; row++) {
    for (; name < code.names.length && code.names[name][0] === row; name++) listing.lines.push(~name);
    listing.lineOf.push(listing.lines.length);
    listing.lines.push(row);
  }
}

/* Source lines by the row at which they begin. */
function makeSource() {
  let file = "";
  listing.source = new Map();
  for (const [row, line, other] of code.lines) {
    file = other ?? file;
    listing.source.set(row, { file, line });
  }
}

/* Arrows as lines of the listing. */
function makeArrows() {
  listing.arrows = [];
  for (let i = 0; i < code.arrows.length; i += 4) {
    const [from, to, jump, lane] = code.arrows.slice(i, i + 4);
    const a = listing.lineOf[from], b = listing.lineOf[to];
    if (lane !== STUB) listing.lanes = Math.max(listing.lanes, lane + 1);
    listing.arrows.push({ from: a, to: b, jump, lane, low: Math.min(a ?? b, b ?? a), high: Math.max(a ?? b, b ?? a) });
  }
}

function arrowPaths(arrow, first, last, width) {
  const y = (line) => (line - first) * LINE + LINE / 2;
  const near = width - 9, style = (arrow.jump ? "jump " : "") +
    (listing.marked >= 0 && (arrow.from === listing.marked || arrow.to === listing.marked) ? "chosen" : "");
  const paths = [], head = (line) => svg("path", { class: `head ${style}`,
    d: `M${near + 3} ${y(line)} l-7 -4 v8 z` });
  const seen = (line) => line !== undefined && line >= first && line < last;
  if (arrow.lane === STUB) {
    if (seen(arrow.from)) {
      const down = arrow.to === undefined || arrow.to > arrow.from ? 5 : -5;
      paths.push(svg("path", { class: style, d: `M${near} ${y(arrow.from)} h-6 v${down}` }));
    }
  } else {
    const x = near - HEAD + 4 - arrow.lane * LANE, top = Math.max(y(arrow.low), -LINE);
    const bottom = Math.min(y(arrow.high), y(last) + LINE);
    let d = `M${x} ${top} V${bottom}`;
    for (const line of [arrow.from, arrow.to]) if (seen(line)) d += ` M${x} ${y(line)} H${near - (line === arrow.to ? 3 : 0)}`;
    paths.push(svg("path", { class: style, d }));
  }
  if (seen(arrow.to)) paths.push(head(arrow.to));
  return paths;
}

function drawArrows(first, last, box) {
  const gap = box.querySelector(".lanes");
  if (!gap || !listing.arrows.length) return;
  const width = listing.width;
  const picture = svg("svg", { width, height: (last - first) * LINE, "aria-hidden": "true" });
  picture.style.left = `${gap.offsetLeft}px`;
  const chosen = [];
  for (const arrow of listing.arrows) {
    if (arrow.high < first || arrow.low >= last) continue;
    const mine = listing.marked >= 0 && (arrow.from === listing.marked || arrow.to === listing.marked);
    const paths = arrowPaths(arrow, first, last, width);
    if (mine) chosen.push(...paths);
    else picture.append(...paths);
  }
  picture.append(...chosen); // over the others
  box.append(picture);
}

/* The mnemonic stands out, except in texts like "a0 = a0 + 1". */
function instructionText(text) {
  const found = text.includes(" = ") ? null : /^[A-Za-z][\w.]*/.exec(text);
  return found ? [el("span", { class: "word" }, found[0]), text.slice(found[0].length)] : [text];
}

function listingRow(i) {
  const row = listing.lines[i], isName = row < 0;
  const gap = el("span", { class: "lanes" });
  gap.style.width = `${listing.width}px`;
  const line = el("div", { class: "row" });
  if (i === listing.marked) line.classList.add("marked");
  if (code.counts) {
    const count = isName ? "" : code.counts[row];
    line.append(el("span", { class: "count" }, count === 0 || count === "" ? "" : grouped(count)));
    if (!isName && i !== listing.marked) line.classList.add(Number(count) ? "ran" : "not");
  }
  line.append(el("span", { class: "pc" }, isName ? "" : String(code.pc[row])), gap);
  if (isName) line.append(el("span", { class: "name" }, code.names[~row][1] + ":"));
  else line.append(el("span", { class: "text" }, ...instructionText(code.text[row])));
  const source = listing.source.get(row), place = source ? `${source.file.split("/").pop()}:${source.line}` : "";
  if (source && !code.text[row].endsWith(place)) // some formats write it as a comment
    line.append(el("span", { class: "source" }, place));
  line.addEventListener("click", () => chooseLine(i));
  return line;
}

function functionOfRow(row) {
  return search(code.functions.length, (i) => code.functions[i][1] > row) - 1;
}

/* Marks a line and says in the bar what it is and where it leads. */
function chooseLine(i) {
  listing.marked = i;
  listing.rows.show(i);
  const row = listing.lines[i], parts = [];
  const jumpTo = (line, text) => el("button", { class: "link mono", onclick: () => chooseLine(line) }, text);
  if (row >= 0) {
    const f = code.functions[functionOfRow(row)];
    if (f) parts.push(`in ${f[0]}`);
    const begins = search(code.lines.length, (k) => code.lines[k][0] > row) - 1;
    if (begins >= 0) {
      const source = listing.source.get(code.lines[begins][0]);
      parts.push(`${source.file}:${source.line}`);
    }
    if (code.offset[row] >= 0)
      parts.push(el("button", { class: "link mono", onclick: () => openView("bytes", code.offset[row]) },
        `bytes at 0x${hex(code.offset[row])}`));
    for (const arrow of listing.arrows.filter((a) => a.from === i && a.to !== undefined))
      parts.push(jumpTo(arrow.to, `jumps to ${code.pc[listing.lines[arrow.to]]}`));
    const from = listing.arrows.filter((a) => a.to === i && a.from !== undefined);
    for (const arrow of from.slice(0, 6)) parts.push(jumpTo(arrow.from, `from ${code.pc[listing.lines[arrow.from]]}`));
    if (from.length > 6) parts.push(`and ${from.length - 6} more`);
  }
  listing.about.replaceChildren(...parts.flatMap((part) => [part, "  "]));
}

function findText(text) {
  const wanted = text.toLowerCase();
  for (let k = 1; wanted && k <= listing.lines.length; k++) {
    const i = (listing.marked + k + listing.lines.length) % listing.lines.length, row = listing.lines[i];
    const line = row < 0 ? code.names[~row][1] : code.text[row];
    if (line.toLowerCase().includes(wanted)) return chooseLine(i);
  }
  return undefined;
}

function showRow(row) {
  if (row < listing.lineOf.length) chooseLine(listing.lineOf[row]);
}

function showListing(section) {
  section.className = "full";
  makeLines();
  makeSource();
  makeArrows();
  listing.width = listing.arrows.length ? listing.lanes * LANE + HEAD + 8 : 16;
  const find = el("input", { placeholder: "find", "aria-label": "find text", size: 18 });
  find.addEventListener("keydown", (event) => { if (event.key === "Enter") findText(find.value); });
  const names = el("datalist", { id: "function-names" },
    ...code.functions.slice(0, 5000).map(([name]) => el("option", { value: name })));
  const choose = el("input", { placeholder: "function", "aria-label": "function", size: 24 });
  choose.setAttribute("list", "function-names");
  choose.addEventListener("change", () => {
    const found = code.functions.find(([name]) => name === choose.value);
    if (found) showRow(found[1]);
  });
  listing.about = el("span", { class: "mono" }, `${plural(code.pc.length, "instruction")}, ${plural(code.functions.length, "function")}`);
  const box = el("div", { class: "listing" });
  section.append(el("div", { class: "bar" }, choose, names, find, listing.about), box);
  listing.rows = new Rows(box, listing.lines.length, listingRow, drawArrows);
}
