/* The views, one at a time. Those that need to know how large they are are made when they are opened first. */
import {element} from "../../../../web/views/dom.js";

let views = [];

function make(view) {
  if (!view.made) view.make(view.section);
  view.made = true;
}

/* place: an offset, or a row of the listing. */
export function openView(id, place) {
  const chosen = views.find((view) => view.id === id) || views[0];
  for (const view of views) {
    view.section.hidden = view !== chosen;
    view.tab.setAttribute("aria-selected", String(view === chosen));
    view.tab.tabIndex = view === chosen ? 0 : -1;
  }
  make(chosen);
  chosen.section.dispatchEvent(new Event("shown"));
  if (place !== undefined && chosen.go) chosen.go(place);
  if (location.hash !== `#${chosen.id}`) history.replaceState(null, "", `#${chosen.id}`);
}

/* What a view of web/views knows about its place: an element, within a section that is shown or not. */
export function placeIn(panel, section) {
  const number = element("span.number");
  views.find((view) => view.section === section).tab.append(number);
  return {
    panel,
    isShown: () => !section.hidden,
    onShown: (act) => section.addEventListener("shown", act),
    badge: (text, bad) => {
      number.textContent = text;
      number.classList.toggle("error", !!bad);
    },
  };
}

/* all: {id, title, make(section), go(place), early: it is made at once}. */
export function makeTabs(all) {
  const tabs = document.getElementById("tabs");
  views = all;
  for (const view of views) {
    view.section = element("section", { id: view.id, role: "tabpanel", hidden: true, "aria-label": view.title });
    view.tab = element("button", { type: "button", role: "tab", "aria-controls": view.id, onclick: () => openView(view.id) },
      view.title);
    tabs.append(view.tab);
    document.getElementById("views").append(view.section);
    if (view.early) make(view);
  }
  tabs.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const now = views.findIndex((view) => view.tab === document.activeElement);
    const next = views[(now + step + views.length) % views.length];
    openView(next.id);
    next.tab.focus();
  });
}
