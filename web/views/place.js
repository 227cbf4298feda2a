// What is selected, as a path and offsets.
import {hex, plural} from "./dom.js";
import {on} from "./events.js";
import {model} from "./model.js";

export function showPlaceIn(into) {
  on("select", async selection => {
    const text = `offset 0x${hex(selection.offset)} · ${plural(selection.size, "byte")}`;
    into.textContent = selection.path ? `${selection.path} · ${text}` : text;
    if (selection.path || !model.file) return;
    const place = await model.file.place(selection.offset).catch(() => null);
    if (place && model.selection === selection) into.textContent = `${place.path} · ${text}`;
  });
}
