// A list of very many rows of one height, of which only the visible ones exist as elements.

const TALLEST = 12000000;  // pixels; browsers stop near 16 million
const SPARE = 8;           // rows above and below what is visible
let lists = 0;

export class Rows {
  // paint(element, index) fills a row that is shown again and again for other indices.
  constructor(host, {height, label, role = "listbox", paint, onvisible}) {
    this.host = host;
    this.height = height;
    this.paint = paint;
    this.onvisible = onvisible;
    this.count = 0;
    this.shown = new Map();  // index -> element
    this.free = [];
    this.rowRole = role === "tree" ? "treeitem" : "option";
    this.id = `rows-${++lists}`;
    this.active = -1;        // the row that the keys move, for screen readers
    host.classList.add("rows");
    host.tabIndex = 0;
    host.setAttribute("role", role);
    host.setAttribute("aria-label", label);
    this.space = document.createElement("div");
    this.space.className = "rows-space";
    this.space.setAttribute("role", "presentation");
    host.replaceChildren(this.space);
    host.addEventListener("scroll", () => this.later(), {passive: true});
    new ResizeObserver(() => this.later()).observe(host);
  }

  setCount(count) {
    this.count = count;
    this.space.style.height = `${Math.min(count * this.height, TALLEST)}px`;
    this.refresh();
  }

  // Rows that fit, and pixels that one row takes on the scroll bar.
  get fitting() {
    return Math.max(1, Math.floor(this.host.clientHeight / this.height));
  }

  get scale() {
    const full = this.count * this.height;
    return full <= TALLEST ? 1
      : (TALLEST - this.host.clientHeight) / (full - this.host.clientHeight);
  }

  scrollTo(index, place = "near") {
    const top = index * this.height;
    const view = this.host.clientHeight;
    const current = this.host.scrollTop / this.scale;
    if (place === "near" && top >= current && top + this.height <= current + view) return;
    const wanted = place === "near" && Math.abs(top - current) < view * 1.5
      ? (top < current ? top : top + this.height - view)
      : top - view / 3;
    this.host.scrollTop = Math.max(0, wanted) * this.scale;
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  // Paints all visible rows anew; `active` is the row with the cursor.
  refresh(active = this.active) {
    this.active = active;
    this.stale = true;
    this.later();
  }

  draw() {
    if (!this.host.clientHeight) return;
    const offset = this.host.scrollTop / this.scale;
    const first = Math.max(0, Math.floor(offset / this.height) - SPARE);
    const last = Math.min(this.count, Math.ceil((offset + this.host.clientHeight) / this.height) + SPARE);
    const shift = this.host.scrollTop - offset;  // 0 unless the scroll bar is scaled
    for (const [index, row] of this.shown) {
      if (index >= first && index < last) continue;
      this.shown.delete(index);
      this.free.push(row);
    }
    for (let index = first; index < last; index++) {
      let row = this.shown.get(index);
      const fresh = !row;
      if (fresh) {
        row = this.free.pop() || this.newRow();
        this.shown.set(index, row);
      }
      if (fresh || this.stale) this.fillRow(row, index);
      row.style.transform = `translateY(${index * this.height + shift}px)`;
    }
    for (const row of this.free) row.remove();
    this.free.length = 0;
    this.stale = false;
    if (this.shown.has(this.active)) this.host.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.host.removeAttribute("aria-activedescendant");
    if (this.onvisible) this.onvisible(first, last, shift);
  }

  newRow() {
    const row = document.createElement("div");
    row.className = "row";
    row.setAttribute("role", this.rowRole);
    this.space.append(row);
    return row;
  }

  fillRow(row, index) {
    if (!row.isConnected) this.space.append(row);
    row.id = `${this.id}-${index}`;
    row.setAttribute("aria-posinset", String(index + 1));
    row.setAttribute("aria-setsize", String(this.count));
    row.dataset.index = String(index);
    this.paint(row, index);
  }

  rowOf(target) {
    const row = target.closest(".row");
    return row && this.space.contains(row) ? Number(row.dataset.index) : -1;
  }
}

// Items fetched in pages as they are asked for; the oldest pages are forgotten. Only a few requests wait at a time: whoever
// scrolls past a page before its turn comes does not ask for it again.
const AT_ONCE = 2;

export class Pages {
  constructor(size, fetch, arrived, keep = 64) {
    this.size = size;
    this.fetch = fetch;      // (first, count) -> promise of a list
    this.arrived = arrived;
    this.keep = keep;
    this.pages = new Map();  // number -> list
    this.coming = new Map(); // number -> promise of it
  }

  get(index) {
    return index < 0 ? undefined : this.page(Math.floor(index / this.size))?.[index % this.size];
  }

  // The page if it is there; else it is fetched, unless too many are under way.
  page(number) {
    const found = this.pages.get(number);
    if (!found && this.coming.size < AT_ONCE) this.request(number);
    return found;
  }

  // An item, however long it takes.
  async wait(index) {
    const number = Math.floor(index / this.size);
    const page = this.pages.get(number) || await this.request(number);
    return page[index % this.size];
  }

  request(number) {
    if (this.coming.has(number)) return this.coming.get(number);
    const coming = this.fetch(number * this.size, this.size).catch(() => []).then(items => {
      this.coming.delete(number);
      this.pages.set(number, items);
      for (const old of this.pages.keys()) {
        if (this.pages.size <= this.keep) break;
        if (Math.abs(old - number) > 2) this.pages.delete(old);
      }
      this.arrived();
      return items;
    });
    this.coming.set(number, coming);
    return coming;
  }
}
