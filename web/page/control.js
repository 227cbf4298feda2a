// The machine of the open file: made when it is first needed, moved in both directions.
import {element, fill, plural, tell, openDialog} from "../views/dom.js";
import {emit, on} from "../views/events.js";
import {asOptions, giveTexts, model} from "./model.js";

export const machine = {
  handle: null,
  stop: null,       // the last one, or null
  line: null,       // of the listing, of the next instruction
  running: false,
  steps: 0,
  unverified: false,
  stopAtCalls: false,
  points: [],       // as the machine lists them
  output: "",       // what the program printed, and what it printed as errors
  errors: "",
  calls: [],
  logs: [],
  files: [],        // those of the program that lie in memory
  pointAt(pc) {
    return this.points.find(p => p.kind === "break" && String(p.pc) === String(pc));
  },
};

let making = null, generation = 0;

async function make() {
  if (!model.file) throw new Error("no program is open");
  await giveTexts();
  return model.file.machine({
    options: asOptions(model.options), unverified: machine.unverified, stopAtCalls: machine.stopAtCalls,
  });
}

// The machine, made now if there is none.
export async function theMachine() {
  if (machine.handle) return machine.handle;
  const mine = generation;
  making ||= make();
  try {
    const handle = await making;
    if (mine !== generation) throw new Error("another file was opened");
    if (!machine.handle) {
      machine.handle = handle;
      await arrive(await handle.at());
    }
    return handle;
  } finally {
    making = null;
  }
}

function forget() {
  generation++;
  machine.handle?.close().catch(() => {});
  Object.assign(machine, {handle: null, stop: null, line: null, running: false, steps: 0, points: [], output: "",
                          errors: "", calls: [], logs: [], files: []});
}

const decoder = new TextDecoder();

async function collect(handle) {
  const [printed, calls] = await Promise.all([handle.output(), handle.calls()]);
  machine.files = await handle.files().catch(() => []);  // most hosts have none
  machine.output += decoder.decode(printed.output);
  machine.errors += decoder.decode(printed.errors);
  machine.calls.push(...calls);
}

const WHY = {
  fuel: "", break: "breakpoint", host: "waits for the host", halt: "halted", trap: "trap", fault: "page fault",
  gas: "out of gas", interrupt: "stopped", disagree: "engines disagree",
};

export function stopText(stop) {
  if (!stop) return "not started";
  const watch = stop.point && machine.points.find(p => p.number === stop.point && p.kind !== "break");
  if (watch) return `${watch.kind}: ${watch.what}`;
  const why = stop.kind === "break" && !stop.point && !stop.detail ? "stopped" : WHY[stop.kind] ?? stop.kind;
  const value = stop.value !== undefined ? ` with ${stop.value}` : "";
  const detail = stop.detail ? `: ${stop.detail}` : "";
  return `${why}${detail}${value}`.trim() || "ready";
}

async function arrive(stop, quiet = false) {
  const handle = machine.handle;
  machine.stop = stop;
  machine.steps = Number(stop.steps);
  machine.line = stop.line ?? null;
  for (const entry of stop.log || []) machine.logs.push(entry.text);
  await collect(handle);
  machine.points = await handle.points();
  if (handle !== machine.handle) return;
  emit("machine", {moved: true});
  emit("points");
  if (!quiet)
    tell(`Step ${machine.steps.toLocaleString("en")}, ${stopText(stop)}${stop.text ? `. Next: ${stop.text}` : ""}`,
         ["trap", "fault", "gas"].includes(stop.kind));
}

let last = Promise.resolve();

// What changes the machine happens one after the other. Errors are told; then it gives undefined.
function inTurn(act) {
  const done = last.then(act).catch(error => {
    machine.running = false;
    emit("machine", {});
    refuse(error);
  });
  last = done;
  return done;
}

// Moves by a function of the machine. One of which there is news after a while is a run, like one that is asked
// for; while it is under way nothing else moves.
function move(how, isRun = false) {
  if (machine.running) return last;
  return inTurn(async () => {
    const handle = await theMachine();
    machine.running = isRun;
    if (isRun) emit("machine", {});
    const stop = await how(handle, {progress: at => {
      if (handle !== machine.handle) return;
      machine.running = true;
      machine.steps = Number(at.steps);
      emit("progress", at);
    }});
    machine.running = false;
    if (handle === machine.handle) await arrive(stop);
  });
}

function refuse(error) {
  const way = machine.handle ? "" : " The options of the run (O) may help.";
  tell((error.note ? `${error.message}: ${error.note}.` : `${error.message}.`) + way, true);
}

export const step = (n = 1) => move(handle => handle.step(n));
export const next = () => move((handle, news) => handle.next(news));
export const finish = () => move((handle, news) => handle.finish(news));
export const back = (n = 1) => move(handle => handle.back(n));
export const reverse = () => move(handle => handle.reverse());
export const goToStep = n => move((handle, news) => handle.goto(n, news));
export const answer = results => move(handle => handle.answer(results));

export function run() {
  if (machine.running) return machine.handle?.stop();
  return move((handle, news) => handle.run(news), true);
}

export function stopRun() {
  if (machine.running) machine.handle?.stop();
}

// From the beginning, with the options as they are now; breakpoints stay.
export function restart() {
  stopRun();
  return inTurn(async () => {
    const points = machine.points.filter(p => !p.once);
    forget();
    const handle = await theMachine();
    for (const {kind, what, pc, condition, log, ignore, disabled} of points)
      await handle.addPoint({kind, what: kind === "break" ? pc : what, condition, log, ignore, disabled});
    await listPoints(handle);
  });
}

// ---- points ----

async function listPoints(handle) {
  machine.points = await handle.points();
  emit("points");
}

// True: it is there.
export async function addPoint(options) {
  return await inTurn(async () => {
    const handle = await theMachine();
    await handle.addPoint(options);
    await listPoints(handle);
    return true;
  }) === true;
}

export function changePoint(number, change) {
  return inTurn(async () => {
    await machine.handle.changePoint(number, change);
    await listPoints(machine.handle);
  });
}

export function removePoint(number) {
  return inTurn(async () => {
    await machine.handle.removePoint(number);
    await listPoints(machine.handle);
  });
}

export async function toggleBreak(line) {
  if (!line || line.kind === "label" || !model.file) return;
  const point = machine.pointAt(line.pc);
  if (point) await removePoint(point.number);
  else await addPoint({kind: "break", what: line.pc});
  tell(`${point ? "Removed the breakpoint" : "Breakpoint"} at ${line.pc}`);
}

// ---- the bar ----

export function askStep() {
  openDialog("Go to step", (body, close) => {
    const field = element("input", {type: "text", inputmode: "numeric", value: String(machine.steps), "aria-label": "Step"});
    body.append(element("form.row-form", {onsubmit: event => {
      event.preventDefault();
      close();
      const wanted = Number(field.value);
      if (Number.isSafeInteger(wanted) && wanted >= 0) goToStep(wanted);
      else tell(`${field.value} is no number of a step`, true);
    }}, field, element("button.main", {}, "Go")),
    element("p.quiet", {}, "Forwards or backwards, whatever breakpoints there are."));
    return field;
  });
}

export function makeBar(host) {
  const button = (text, title, act) =>
    element("button", {type: "button", title, "aria-label": title, onclick: act}, text);
  const runButton = button("Run", "Run until something stops it (r)", run);
  const count = element("button.plain.steps", {type: "button", title: "Go to a step (G)", onclick: askStep});
  const why = element("span.why");
  fill(host, element("div.bar-buttons", {role: "toolbar", "aria-label": "Run"},
    runButton, button("Step", "One instruction (s)", () => step()),
    button("Next", "One instruction, calls as a whole (v)", next),
    button("Back", "One instruction back (b)", () => back()),
    button("Reverse", "Back to the last breakpoint or the start (R)", reverse),
    button("Restart", "From the start (q)", restart)),
    element("div.bar-state", {}, count, why));
  const show = () => {
    count.textContent = machine.stop || machine.running ? plural(machine.steps, "step") : "no step yet";
    why.textContent = machine.running ? "running" : machine.stop ? stopText(machine.stop) : "not started";
    why.dataset.kind = machine.running ? "running" : machine.stop?.kind || "";
    runButton.textContent = machine.running ? "Stop" : "Run";
    runButton.classList.toggle("running", machine.running);
  };
  on("machine", show);
  on("progress", show);
  show();
}

on("open", () => {
  forget();
  emit("machine", {});
  emit("points");
});
