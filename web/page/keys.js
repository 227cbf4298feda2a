// Every command of the page, once: its keys, what it does. The list that `?` shows is this one.
import {element, openDialog} from "../views/dom.js";

const commands = [];  // {keys, title, group, run}

// keys: "s", "Shift+S", "Ctrl+Enter", "?"; several with spaces between them.
export function command(keys, group, title, run) {
  commands.push({keys: keys.split(" "), group, title, run});
}

function nameOf(event) {
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "") + event.key;
}

const typing = target =>
  target.closest?.("textarea, input:not([type=checkbox]), select, [contenteditable]");

export function listenToKeys() {
  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.isComposing) return;
    const name = nameOf(event);
    if (document.querySelector("dialog[open]")) return;
    const inText = typing(event.target) && !name.startsWith("Ctrl+");
    if (inText && name !== "Escape") return;
    const found = commands.find(c => c.keys.includes(name));
    if (!found) return;
    event.preventDefault();
    found.run(event);
  });
}

export function showKeys() {
  openDialog("Keys", body => {
    body.classList.add("columns");
    for (const group of new Set(commands.map(c => c.group))) {
      body.append(element("section", {}, element("h3", {}, group), element("table.keys", {},
        element("tbody", {}, commands.filter(c => c.group === group).map(c =>
          element("tr", {},
            element("td", {}, c.keys.map(key => element("kbd", {}, key))),
            element("td", {}, c.title)))))));
    }
    body.append(element("p.quiet", {},
      "In lists: arrows, Page Up, Page Down, Home and End move; Enter or Space selects; in the tree, left and right close and open; in the listing, f follows a jump."));
  });
}
