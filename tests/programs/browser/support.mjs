// A server for build/web, a browser, and what the tests say of a page.
import {chromium} from "playwright-core";
import {createServer} from "node:http";
import {execFileSync} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from "node:fs";
import {extname, join, normalize} from "node:path";

export const [penta, root, shared] = process.argv.slice(2);
export const pictures = process.env.PENTA_SCREENSHOTS;
if (pictures) mkdirSync(pictures, {recursive: true});

const TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json"};

// Serves a folder; `given` counts the bytes of each file.
export function serve(folder) {
  const given = new Map();
  const server = createServer((request, answer) => {
    const path = normalize(decodeURIComponent(request.url.split("?")[0]));
    const file = join(folder, path === "/" ? "index.html" : path);
    if (!file.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) {
      answer.writeHead(404).end();
      return;
    }
    const body = readFileSync(file);
    given.set(path, body);
    answer.writeHead(200, {"Content-Type": TYPES[extname(file)] || "application/octet-stream"}).end(body);
  });
  return new Promise(resolve => server.listen(0, "127.0.0.1", () =>
    resolve({url: `http://127.0.0.1:${server.address().port}/`, given, close: () => server.close()})));
}

export function run(...args) {
  return execFileSync(penta, args, {encoding: "utf-8", maxBuffer: 1 << 28});
}

// A source text of a format as a file: its bytes.
export function assembled(work, name, text, ...options) {
  writeFileSync(join(work, name), text);
  run("asm", join(work, name), ...options, "-o", join(work, `${name}.out`));
  return readFileSync(join(work, `${name}.out`));
}

export function check(condition, message) {
  if (!condition) throw new Error(typeof message === "string" ? message : JSON.stringify(message));
}

export function equal(have, want, what) {
  check(JSON.stringify(have) === JSON.stringify(want), `${what}: ${JSON.stringify(have)}, expected ${JSON.stringify(want)}`);
}

export async function launch() {
  return chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
}

// A page that fails the test on any error of its script; requests to other places are kept in `strays`.
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: 860}, ...options});
  const page = await context.newPage();
  page.problems = [];
  page.strays = [];
  page.on("pageerror", error => page.problems.push(error.stack || String(error)));
  page.on("console", message => message.type() === "error" && page.problems.push(message.text()));
  const origin = new URL(url).origin;
  page.on("request", request => {
    const to = request.url();
    if (!/^(data|blob):/.test(to) && !(origin === "null" ? to.startsWith("file:") : to.startsWith(origin))) page.strays.push(to);
  });
  await page.goto(url);
  await page.waitForSelector("body.ready", {timeout: 30000});
  return page;
}

export async function close(page) {
  equal(page.problems, [], "errors of the page");
  equal(page.strays, [], "requests to other places");
  await page.context().close();
}

export async function drop(page, name, bytes) {
  const data = await page.evaluateHandle(({name, text}) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
    return transfer;
  }, {name, text: Buffer.from(bytes).toString("base64")});
  await page.dispatchEvent("body", "dragenter", {dataTransfer: data});
  await page.dispatchEvent("body", "drop", {dataTransfer: data});
}

export async function choose(page, name, bytes) {
  await page.setInputFiles("#picker", {name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes)});
}

export async function example(page, name) {
  if (await page.isVisible("#welcome")) await page.click(`#examples button:has-text("${name}")`);
  else {
    await page.click("#actions button:has-text('Examples')");
    await page.click(`#dialog button:has-text("${name}")`);
  }
  await page.waitForFunction(name => document.querySelector("#file strong")?.textContent === name, name);
}

// What the page shows.
export const hexText = page => page.$$eval(".group[data-name=bytes] .hex-row", rows => rows
  .sort((a, b) => Number(a.dataset.index) - Number(b.dataset.index))
  .map(row => [...row.querySelectorAll(".b")].map(b => b.textContent).join("")).join(""));
export const selectedHex = page => page.$$eval(".group[data-name=bytes] .b.on", cells => cells
  .sort((a, b) => a.dataset.at - b.dataset.at).map(cell => cell.textContent).join(""));
export const codeLines = page => page.$$eval(".line", rows => rows
  .sort((a, b) => Number(a.dataset.index) - Number(b.dataset.index)).map(row => row.querySelector(".code")?.textContent || ""));
export const treeNames = page => page.$$eval(".tree-row .tree-name", names => names.map(name => name.textContent));
export const steps = page => page.textContent(".steps");
export const told = page => page.textContent("#told");

export async function key(page, ...keys) {
  await page.evaluate(() => document.activeElement?.blur());
  for (const one of keys) await page.keyboard.press(one);
}

export async function until(page, test, what) {
  const end = Date.now() + 15000;
  for (;;) {
    if (await test()) return;
    if (Date.now() > end) throw new Error(`not within 15 s: ${what}; the page says: ${await told(page)}`);
    await page.waitForTimeout(30);
  }
}

export async function picture(page, name) {
  if (pictures) await page.screenshot({path: join(pictures, `${name}.png`)});
}
