// Keys that move in a list of rows, the same in every view.

// at: {get() -> index, set(index, act), keys: more of them by name}; act: the reader chose it.
export function followCursor(host, rows, at) {
  const moves = {
    ArrowDown: () => at.get() + 1,
    ArrowUp: () => at.get() - 1,
    j: () => at.get() + 1,
    k: () => at.get() - 1,
    PageDown: () => at.get() + rows.fitting,
    PageUp: () => at.get() - rows.fitting,
    Home: () => 0,
    End: () => rows.count - 1,
  };
  host.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (at.keys?.[event.key]) {
      at.keys[event.key](event);
    } else if (moves[event.key] && !(event.shiftKey && event.key.startsWith("Arrow") && at.extend?.(event))) {
      at.set(Math.max(0, Math.min(rows.count - 1, moves[event.key]())), true);
    } else if (event.key === "Enter" || event.key === " ") {
      at.set(at.get(), true);
    } else {
      return;
    }
    event.preventDefault();
  });
}
