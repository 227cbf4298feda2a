// The four groups of views, each with tabs. On narrow screens one group is shown at a time.
import {element, byId, fill} from "../views/dom.js";

const GROUPS = [
  {name: "structure", title: "Structure"},
  {name: "code", title: "Code"},
  {name: "bytes", title: "Bytes"},
  {name: "machine", title: "Machine"},
];
const views = new Map();  // name -> {group, tab, panel, shown}

function group(name) {
  return document.querySelector(`.group[data-name="${name}"]`);
}

// A view in a group; gives the element that is its own. `shown` is called when it becomes visible.
export function addView(groupName, name, title, {shown} = {}) {
  const host = group(groupName);
  let list = host.querySelector(".tabs");
  if (!list) {
    list = element("div.tabs", {role: "tablist", "aria-label": host.getAttribute("aria-label")});
    list.addEventListener("keydown", moveTab);
    host.append(list);
  }
  const tab = element("button.tab", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, "aria-selected": "false",
    tabindex: "-1", onclick: () => showView(name),
  }, title);
  const panel = element("div.view", {role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}`,
                                     hidden: true});
  list.append(tab);
  host.append(panel);
  views.set(name, {group: groupName, tab, panel, shown});
  if (list.children.length === 1) activate(name);
  return panel;
}

// The same for a view of views/, which knows no tabs: what it needs to know about its place.
export function place(groupName, name, title) {
  const panel = addView(groupName, name, title);
  return {
    panel,
    isShown: () => isShown(name),
    onShown: act => { views.get(name).shown = act; },
    badge: (text, bad) => badge(name, text, bad),
  };
}

function moveTab(event) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  const tabs = [...event.currentTarget.children];
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
  event.preventDefault();
}

function activate(name) {
  const view = views.get(name);
  for (const other of views.values()) {
    if (other.group !== view.group) continue;
    const on = other === view;
    other.panel.hidden = !on;
    other.tab.setAttribute("aria-selected", String(on));
    other.tab.tabIndex = on ? 0 : -1;
  }
  if (view.shown) view.shown();
}

export function showView(name, focus = false) {
  const view = views.get(name);
  showGroup(view.group);
  activate(name);
  if (focus) (view.panel.querySelector('[tabindex="0"], textarea, input, button') || view.panel).focus();
}

export function isShown(name) {
  return !views.get(name).panel.hidden;
}

// A small number beside the title of a tab.
export function badge(name, text, bad = false) {
  const {tab} = views.get(name);
  tab.querySelector(".badge")?.remove();
  if (text) tab.append(element(bad ? "span.badge.bad" : "span.badge", {}, String(text)));
}

export function showGroup(name) {
  document.body.dataset.group = name;
  for (const button of byId("groups").children)
    button.setAttribute("aria-current", String(button.dataset.name === name));
}

export function makeGroups() {
  fill(byId("groups"), GROUPS.map(({name, title}) =>
    element("button", {type: "button", "data-name": name, onclick: () => showGroup(name)}, title)));
  showGroup("code");
}
