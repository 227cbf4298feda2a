// answers.mjs WEB FOLDER: what the WebAssembly module says about every file of a folder, a line of JSON for each:
// info, findings, tree, listing, and a run step by step, whose states are met again backwards.
import {existsSync, readFileSync, readdirSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [web, folder] = process.argv.slice(2), STEPS = 40;
const {load} = await import(pathToFileURL(`${web}/penta.js`));
// One engine makes no machine, so that its files stay in the module that is loaded first.
const options = existsSync(`${web}/penta-crypto.wasm`) ? {} : {crypto: null};
const [looking, running] = [await load(options), await load(options)];

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

async function run(file) {
  const machine = await file.machine({unverified: true});
  const states = [], stops = [await machine.at()];
  const state = async () => { const {state, steps, pc} = await machine.state({memory: 1000}); return {state, steps, pc}; };
  states.push(await state());
  for (let i = 0; i < STEPS; i++) {
    const stop = await machine.step();
    if (stop.steps === stops.at(-1).steps) { stops.push(stop); break; }
    stops.push(stop);
    states.push(await state());
  }
  const end = states.length - 1;
  for (const step of [end >> 1, end > 0 ? end - 1 : 0, 0]) {
    const at = await machine.goto(step);
    if (at.steps !== step) throw new Error(`goto ${step} is at ${at.steps}`);
    if (!same(await state(), {...states[step], pc: at.pc})) throw new Error(`another state at step ${step}`);
  }
  if (end > 0) {
    await machine.goto(1);
    await machine.back();
    if (!same((await state()).state, states[0].state)) throw new Error("another state one step back");
    await machine.goto(0);
  }
  const last = await machine.run({fuel: STEPS});
  const result = {stops: stops.map(({kind, pc, steps, text}) => ({kind, pc, steps, text})), end: last, state: (await state()).state};
  await machine.close();
  return result;
}

for (const name of readdirSync(folder).sort()) {
  const answer = {name};
  const attempt = async (key, get) => {
    try { answer[key] = await get(); } catch (error) { answer[key] = {error: error.code || error.stack}; }
  };
  try {
    const bytes = readFileSync(`${folder}/${name}`), how = {name, format: name.split("-")[0]};
    const file = await looking.open(bytes, how);
    await attempt("info", () => file.info());
    await attempt("findings", () => file.findings());
    await attempt("tree", () => file.tree("", {depth: 64, count: 1e9}));
    await attempt("lines", async () => (await file.lines(0, 10000)).lines);
    await file.close();
    const program = await running.open(bytes, how);
    await attempt("run", () => run(program));
    await program.close();
  } catch (error) {
    answer.error = error.code;
  }
  console.log(JSON.stringify(answer));
}
if ((await looking.usage()).machines && options.crypto === null) throw new Error("looking at files loaded the module with machines");
