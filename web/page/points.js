// Breakpoints and watches with conditions.
import {element, fill, plural} from "../views/dom.js";
import {emit, on} from "../views/events.js";
import {addView, badge} from "./tabs.js";
import {addPoint, changePoint, machine, removePoint} from "./control.js";

let list;

function pointRow(point) {
  const condition = element("input", {type: "text", value: point.condition || "", placeholder: "condition",
    "aria-label": "Condition", onchange: event => changePoint(point.number, {condition: event.target.value || null})});
  const on = element("input", {type: "checkbox", "aria-label": "On",
    onchange: event => changePoint(point.number, {disabled: !event.target.checked})});
  on.checked = !point.disabled;
  const place = point.kind === "break" ? `pc ${point.pc}` : String(point.what);
  return element("li.point", {}, on,
    point.line === undefined ? element("span", {}, `${point.kind} ${place}`)
      : element("button.plain", {type: "button", title: "Show it in the listing", onclick: () => emit("goToLine", point.line)},
                `${point.kind} ${place}`),
    condition, element("span.quiet", {title: point.log || undefined}, `${point.log ? "logs, " : ""}${plural(point.hits, "hit")}`),
    element("button.plain", {type: "button", "aria-label": "Remove", onclick: () => removePoint(point.number)}, "×"));
}

function makePointForm() {
  const kind = element("select", {"aria-label": "Kind"}, ["break", "watch", "read", "write", "access"].map(name =>
    element("option", {value: name}, name)));
  const what = element("input", {type: "text", "aria-label": "Where or what", placeholder: "pc, name, a0, 0x10000:8"});
  const condition = element("input", {type: "text", "aria-label": "Condition", placeholder: "condition: a0 == 5"});
  const log = element("input", {type: "text", "aria-label": "Text to log instead of stopping", placeholder: "log, not stop: a0 is {a0}"});
  return element("form.row-form.wrap", {onsubmit: async event => {
    event.preventDefault();
    const added = await addPoint({kind: kind.value, what: what.value.trim(), condition: condition.value.trim() || null,
                                   log: log.value.trim() || null});
    if (added) what.value = condition.value = log.value = "";
  }}, kind, what, condition, log, element("button", {}, "Add"));
}

export function makePoints() {
  const panel = addView("machine", "points", "Points");
  list = element("ul.points");
  panel.append(makePointForm(), element("div.scroll.fill", {}, list));
  on("points", () => {
    fill(list, machine.points.map(pointRow),
      !machine.points.length && element("li.empty", {}, "None. Click beside an instruction, or press m there."));
    badge("points", machine.points.length || "");
  });
}
