/* The field tree beside the bytes: each leads to the other by the offset. */
import {element} from "../../../../web/views/dom.js";
import {makeHex} from "../../../../web/views/hex.js";
import {select} from "../../../../web/views/model.js";
import {showPlaceIn} from "../../../../web/views/place.js";
import {makeTree} from "../../../../web/views/tree.js";
import {file} from "./file.js";
import {placeIn} from "./tabs.js";

/* The leaf that holds an offset. */
export async function goToOffset(offset) {
  const found = await file.place(offset);
  if (found) select(found.offset, found.size, "page", { path: found.path });
}

export function showBytes(section) {
  section.className = "full";
  const goto = element("input", { placeholder: "offset: 0x1f0", "aria-label": "offset", size: 14, onchange: () => {
    const offset = Number(goto.value);
    if (Number.isInteger(offset) && offset >= 0) goToOffset(offset);
  } });
  const where = element("div", { id: "where", class: "mono soft" });
  const tree = element("div.view"), side = element("div.view", {}, where);
  section.append(element("div.bar", {}, goto, "A click on a field shows its bytes; a click on a byte shows its field."),
    element("div.split", {}, tree, side));
  makeTree(placeIn(tree, section));
  makeHex(placeIn(side, section));
  showPlaceIn(where);
}
