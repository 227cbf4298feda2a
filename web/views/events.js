// What the views tell each other. Names: open (a file is there), select (a range of bytes), machine (it moved
// or is gone), points (breakpoints changed), theme.

const listeners = new Map();

export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, []);
  listeners.get(name).push(listener);
}

// Listeners may give promises. One that fails is about a file that was closed meanwhile, or a mistake of the page.
export function emit(name, detail) {
  for (const listener of listeners.get(name) || [])
    Promise.resolve(listener(detail)).catch(error => console.warn(name, error));
}
