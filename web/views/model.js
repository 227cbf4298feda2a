// What the views show: one file and what is selected in it. Whoever has the page puts them here: the explorer a file of
// penta.js, a report one over its own data. The views ask only what web/penta.d.ts says of a file: tree, fields, place,
// lineCount, lines, lineOf, arrows and findings.
import {emit} from "./events.js";

export const model = {
  file: null,       // null: none, or one that cannot be opened
  bytes: new Uint8Array(0),
  before: null,     // the bytes before the last edit
  problem: null,    // why the file could not be opened
  assembled: null,  // what penta.assemble gave for it
  selection: null,  // {offset, size, from}: from is the view where it began
};

export function select(offset, size, from, more = {}) {
  if (offset === undefined || offset === null) return;
  model.selection = {offset: Number(offset), size: Math.max(1, Number(size) || 1), from, ...more};
  emit("select", model.selection);
}
