// Elements. Text from files goes in as text nodes only: nothing in the page parses markup.

// element("button.main", {type: "button", onclick: f}, "text", child, ...)
export function element(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const made = document.createElement(tag || "div");
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value") made.value = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  add(made, children);
  return made;
}

function add(parent, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) add(parent, child);
    else parent.append(typeof child === "string" ? visible(child) : child);
  }
}

// Characters that reorder or hide what stands around them, as their numbers.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    c => `\\u{${hex(c.charCodeAt(0))}}`);
}

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  add(made, children);
  return made;
}

export function fill(parent, ...children) {
  parent.replaceChildren();
  add(parent, children);
  return parent;
}

export function byId(id) {
  return document.getElementById(id);
}

export function hex(value, digits = 0) {
  return BigInt(value).toString(16).padStart(digits, "0");
}

export function plural(count, word) {
  return `${Number(count).toLocaleString("en")} ${word}${Number(count) === 1 ? "" : "s"}`;
}

// A line for the reader, also read aloud; `bad` marks errors.
export function tell(text, bad = false) {
  const told = byId("told");
  told.textContent = text;
  told.classList.toggle("bad", bad);
}

// A dialog with a title, which closes with Escape or its button. build(body, close) fills it, and gives the field to start in.
export function openDialog(title, build) {
  const dialog = byId("dialog");
  if (dialog.open) dialog.close();
  const close = () => dialog.close();
  const body = element("div.dialog-body");
  fill(dialog,
    element("div.dialog-head", {},
      element("h2", {id: "dialog-title"}, title),
      element("button.plain", {type: "button", "aria-label": "Close", onclick: close}, "×")),
    body);
  const field = build(body, close);
  dialog.showModal();
  field?.focus();
  field?.select?.();
}
