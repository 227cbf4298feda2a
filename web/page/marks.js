// The left edge of the listing: breakpoints, and where the machine is.
import {element} from "../views/dom.js";
import {on} from "../views/events.js";
import {showLine} from "../views/listing.js";
import {machine, toggleBreak} from "./control.js";

export function edge(line, index) {
  const here = machine.stop && machine.line === index;
  const label = line.kind === "label";
  const point = !label && machine.pointAt(line.pc);
  const mark = element(`button.mark${point ? point.disabled ? ".off" : ".set" : ""}`, {
    type: "button", tabindex: "-1", hidden: label,
    "aria-label": point ? `Breakpoint at ${line.pc}, remove` : `Set a breakpoint at ${line.pc}`,
  }, here ? "▶" : point ? "●" : "");
  return {lead: [mark], look: here ? "pc" : "", said: here ? ", next" : ""};
}

export function clicked(target, line) {
  if (target.closest(".mark")) toggleBreak(line);
}

export function follow() {
  on("points", () => showLine());
  on("machine", ({moved} = {}) => showLine(moved && machine.line !== null ? machine.line : undefined));
}
