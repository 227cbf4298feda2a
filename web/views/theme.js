// Dark and light: as the system says, until the reader chooses.
const NAMES = ["system", "light", "dark"];

function stored() {
  try {
    return localStorage.getItem("penta-theme");
  } catch {
    return null;  // pages from file:// may have no storage
  }
}

function apply(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

let current = NAMES.includes(stored()) ? stored() : "system";
apply(current);

// The next one; gives its name.
export function switchTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  if (current === "system") current = dark ? "light" : "dark";
  else current = current === "dark" ? "light" : "dark";
  apply(current);
  try {
    localStorage.setItem("penta-theme", current);
  } catch {
    // it holds until the page is closed
  }
  return current;
}
