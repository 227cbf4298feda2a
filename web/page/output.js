// What the program prints, and what it asks the host: calls so far, and the answer to one that waits.
import {element, fill} from "../views/dom.js";
import {on} from "../views/events.js";
import {addView, badge, showView} from "./tabs.js";
import {answer, machine, restart} from "./control.js";
import {saveAs} from "./files.js";

const MOST = 200000;  // characters
const CALLS = 500;
let printed, calls, form;

const tail = text => text.length > MOST ? `… ${text.slice(-MOST)}` : text;

// A file that the program has in memory, to be saved.
function fileRow({path, size}) {
  const save = async () => saveAs(await machine.handle.file(path), path.split("/").pop());
  return element("li", {}, element("code", {}, path), ` ${size} bytes `,
    element("button.plain", {type: "button", onclick: save}, "Save"));
}

function showOutput() {
  fill(printed, machine.output && element("pre", {}, tail(machine.output)),
    machine.errors && element("pre.bad", {}, tail(machine.errors)),
    machine.files.length > 0 && [element("h3", {}, "Files"), element("ul.points", {}, machine.files.map(fileRow))],
    machine.logs.length > 0 && [element("h3", {}, "Log of breakpoints"), element("pre", {}, tail(machine.logs.join("\n")))],
    !machine.output && !machine.errors && !machine.logs.length && !machine.files.length && element("p.empty", {}, "Nothing was printed."));
  badge("output", machine.output || machine.errors ? "•" : "");
  printed.scrollTop = printed.scrollHeight;
}

// Results are written like numbers in C, with spaces or commas between them.
function give(text) {
  const words = text.trim().split(/[\s,]+/).filter(Boolean);
  answer(words.map(word => /^-/.test(word) ? BigInt.asUintN(64, BigInt(word)) : BigInt(word)));
}

function waiting(call) {
  const field = element("input", {type: "text", "aria-label": "Results", placeholder: "results: 0 or 0x2a"});
  const problem = element("p.bad", {role: "alert"});
  return element("form.asked", {onsubmit: event => {
    event.preventDefault();
    try {
      give(field.value);
    } catch {
      problem.textContent = `${field.value} is no list of numbers`;
    }
  }},
    element("p", {}, "The program asks ", element("code", {}, `${call.name || `call ${call.number}`}(${call.args.join(", ")})`)),
    element("div.row-form", {}, field, element("button.main", {}, "Answer"),
      element("button", {type: "button", onclick: () => answer("default")}, "As the default host")), problem);
}

function showCalls() {
  const call = machine.stop?.kind === "host" && !machine.running ? machine.stop.call : null;
  const list = machine.calls.slice(-CALLS);
  fill(form, call && waiting(call));
  fill(calls, machine.calls.length > CALLS && element("li.quiet", {}, `${machine.calls.length - CALLS} earlier ones`),
    list.map(line => element("li", {}, element("code", {}, line))));
  if (!machine.calls.length && !call) fill(calls, element("li.empty", {}, "No call to the host yet."));
  badge("calls", call ? "?" : machine.calls.length || "", !!call);
  calls.parentElement.scrollTop = calls.parentElement.scrollHeight;
}

export function makeOutput() {
  const panel = addView("machine", "output", "Output");
  printed = element("div.scroll.fill.output", {tabindex: "0", role: "log", "aria-label": "Output of the program"});
  panel.append(printed);
  const host = addView("machine", "calls", "Calls");
  form = element("div");
  calls = element("ol.calls");
  const all = element("input", {type: "checkbox", id: "stop-at-calls", onchange: () => {
    machine.stopAtCalls = all.checked;
    if (machine.handle) restart();
  }});
  host.append(element("div.options-line", {}, all, element("label", {for: "stop-at-calls"}, "Stop at every call, I answer")),
    form, element("div.scroll.fill", {tabindex: "0"}, calls));
  let asked = null;
  on("machine", () => {
    showOutput();
    showCalls();
    const call = machine.stop?.kind === "host" ? machine.stop : null;
    if (call && call !== asked && !machine.running) showView("calls");
    asked = call;
  });
}
