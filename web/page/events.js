// What the views tell each other. Names: open (a file is there), select (a range of bytes), machine (it moved
// or is gone), points (breakpoints changed), theme.

const listeners = new Map();

export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, []);
  listeners.get(name).push(listener);
}

export function emit(name, detail) {
  for (const listener of listeners.get(name) || []) listener(detail);
}
