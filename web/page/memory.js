// Memory of the machine at an address, and what is mapped.
import {element, fill, hex, tell} from "../views/dom.js";
import {on} from "../views/events.js";
import {addView, isShown, showView} from "./tabs.js";
import {machine} from "./control.js";

const ROWS = 32;
let width = 16, field, table, regions, address = null, before = null, stale = true;

function draw(bytes, start) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += width) {
    const cells = [...bytes.subarray(at, at + width)].map((byte, i) => {
      const old = before && before.start === start ? before.bytes[at + i] : byte;
      return element(old === byte ? "span.b" : "span.b.changed", {}, byte.toString(16).padStart(2, "0"));
    });
    const text = [...bytes.subarray(at, at + width)].map(b => b >= 32 && b < 127 ? String.fromCharCode(b) : "·").join("");
    lines.push(element("div.hex-row", {}, element("span.hex-offset", {}, hex(start + BigInt(at), 8)),
                       element("span.hex-bytes", {}, cells), element("span.hex-text", {}, text)));
  }
  fill(table, lines);
}

// As many bytes from the address on as are mapped.
async function read(handle, start, length) {
  for (let size = length; size >= 1; size = size > width ? Math.floor(size / 2) : size - 1) {
    const bytes = await handle.memory(start, size);
    if (bytes) return bytes;
  }
  return null;
}

// Where something can be read: a heap that has not grown yet is in the map, too.
async function firstAddress(handle, map) {
  for (const region of [...map.filter(r => r.writable), ...map.filter(r => !r.writable)])
    if (await handle.memory(region.address, 1)) return BigInt(region.address);
  return null;
}

async function refresh() {
  const handle = machine.handle;
  width = table.clientWidth && table.clientWidth < 560 ? 8 : 16;
  table.dataset.width = String(width);
  if (!handle || !machine.stop) {
    fill(regions);
    fill(table, element("p.empty", {}, "The machine has not started."));
    return;
  }
  const map = await handle.map();
  if (address === null) address = await firstAddress(handle, map);
  fill(regions, map.map(region => element("button.plain.region", {type: "button", onclick: () => goTo(region.address)},
    `${region.address} +${region.size}${region.writable ? "" : " read only"}`)));
  if (address === null) return fill(table, element("p.empty", {}, "No memory is mapped."));
  if (document.activeElement !== field || !field.value) field.value = `0x${hex(address)}`;
  const bytes = await read(handle, address, ROWS * width);
  if (handle !== machine.handle) return;
  if (bytes) draw(bytes, address);
  else fill(table, element("p.empty", {}, `Nothing is mapped at 0x${hex(address)}.`));
  before = bytes && {start: address, bytes};
  stale = false;
}

async function goTo(text) {
  try {
    const value = /^(0x[0-9a-f]+|\d+)$/i.test(text.trim()) ? text.trim() : await machine.handle.evaluate(text, 16);
    address = BigInt(value);
    await refresh();
  } catch (error) {
    tell(error.message, true);
  }
}

export function makeMemory() {
  const panel = addView("machine", "memory", "Memory", {shown: () => stale && table && refresh().catch(() => {})});
  field = element("input", {type: "text", "aria-label": "Address or expression", placeholder: "address or expression"});
  const move = lines => () => {
    const to = address === null ? null : address + BigInt(lines * width);
    if (to !== null) goTo(`0x${hex(to > 0n ? to : 0n)}`);
  };
  table = element("div.hex.memory.scroll.fill", {tabindex: "0", role: "group", "aria-label": "Memory"});
  regions = element("div.regions");
  panel.append(
    element("form.row-form", {onsubmit: event => { event.preventDefault(); goTo(field.value); }},
      field, element("button", {}, "Show"),
      element("button", {type: "button", "aria-label": "Before", onclick: move(-ROWS)}, "▲"),
      element("button", {type: "button", "aria-label": "After", onclick: move(ROWS)}, "▼")),
    regions, table);
  on("machine", ({moved} = {}) => {
    stale = true;
    if (!machine.handle) before = address = null;
    if ((moved || !machine.handle) && isShown("memory")) refresh().catch(() => {});
  });
  on("memoryAt", text => {
    showView("memory");
    goTo(text);
  });
}
