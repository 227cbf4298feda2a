// One screen of facts.
import {element, fill} from "../views/dom.js";
import {on} from "../views/events.js";
import {facts} from "../views/facts.js";
import {model} from "./model.js";
import {addView} from "./tabs.js";

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
