/* The views, one at a time; each is made when it is opened first. */

const views = [
  { id: "overview", title: "Overview", make: showOverview },
  { id: "bytes", title: "Bytes", make: showBytes, go: openAt },
  { id: "listing", title: "Listing", make: showListing, go: showRow, when: code.pc.length },
  { id: "calls", title: "Calls", make: showCalls, when: code.functions.length > 1 },
  { id: "sizes", title: "Sizes", make: showSizes },
  { id: "findings", title: "Findings", make: showFindings },
  { id: "coverage", title: "Coverage", make: showCoverage, when: data.coverage },
  { id: "profile", title: "Profile", make: showProfile, when: data.folded },
].filter((view) => !("when" in view) || view.when);

/* place: an offset, or a row of the listing. */
function openView(id, place) {
  const chosen = views.find((view) => view.id === id) || views[0];
  for (const view of views) {
    view.section.hidden = view !== chosen;
    view.tab.setAttribute("aria-selected", String(view === chosen));
    view.tab.tabIndex = view === chosen ? 0 : -1;
  }
  if (!chosen.made) {
    chosen.made = true;
    chosen.make(chosen.section);
  }
  if (place !== undefined && chosen.go) chosen.go(place);
  if (location.hash !== `#${chosen.id}`) history.replaceState(null, "", `#${chosen.id}`);
}

function findingsNumber() {
  const errors = data.findings.filter((f) => f.severity === "error").length;
  return data.findings.length ? el("span", { class: errors ? "number error" : "number" }, grouped(data.findings.length)) : "";
}

function makeTabs() {
  const tabs = document.getElementById("tabs");
  for (const view of views) {
    view.section = el("section", { id: view.id, role: "tabpanel", hidden: true, "aria-label": view.title });
    view.tab = el("button", { type: "button", role: "tab", onclick: () => openView(view.id) }, view.title,
      view.id === "findings" ? findingsNumber() : "");
    view.tab.setAttribute("aria-controls", view.id);
    tabs.append(view.tab);
    document.getElementById("views").append(view.section);
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

/* The theme of the system, until the switch says otherwise. */
function makeTheme() {
  const button = document.getElementById("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    const dark = chosen ?? system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "light" : "dark";
  };
  button.addEventListener("click", () => {
    chosen = !(chosen ?? system.matches);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

document.getElementById("about").textContent = `${data.format}, ${plural(data.size, "byte")} · penta ${data.version}`;
makeTheme();
makeTabs();
window.addEventListener("hashchange", () => openView(location.hash.slice(1)));
openView(location.hash.slice(1));
