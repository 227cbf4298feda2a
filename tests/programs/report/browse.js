// Opens pages in a headless browser: every view of a report in both themes, flame graphs and pages of coverage.
// Nothing may be logged as an error, asked of the network, or run by markup in a name.
//     node browse.js FOLDER [SCREENSHOTS]
"use strict";
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { chromium } = require("playwright-core");

const [folder, pictures] = process.argv.slice(2);
let passed = 0, failed = 0;

function check(good, text) {
  if (good) passed++;
  else {
    failed++;
    console.log(`FAIL ${text}`);
  }
}

async function picture(page, name) {
  if (pictures) await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}

// Rows are painted with the next frame, after what they show was asked for.
const painted = (page) => page.waitForTimeout(60);

const isDark = (page) => page.$eval("body", (body) => Number(getComputedStyle(body).backgroundColor.match(/\d+/)[0]) < 128);

// What each view must show, as a selector that finds something in it.
const shown = {
  overview: "th", bytes: ".hex .b", listing: ".listing .code", calls: ".calls rect", sizes: ".map > div",
  findings: "p", coverage: "td", profile: ".flame > div",
};

async function report(page, name, theme) {
  const tabs = await page.$$eval("nav button", (all) => all.map((tab) => tab.getAttribute("aria-controls")));
  check(tabs.includes("overview") && tabs.includes("bytes") && tabs.includes("findings"), `${name}: views ${tabs}`);
  for (const tab of tabs) {
    await page.click(`nav button[aria-controls=${tab}]`);
    await painted(page);
    const empty = await page.$eval(`#${tab}`, (view, found) => !view.querySelector(found) || view.hidden, shown[tab]);
    const views = await page.$$eval("main > section", (all) => all.filter((view) => view.offsetWidth).length);
    check(views === 1, `${name}: ${views} views at once`);
    check(!empty, `${name}: nothing in the view ${tab}`);
    await picture(page, `${name}-${tab}-${theme}`);
  }
  return tabs;
}

// From the tree to the bytes and back, along the listing, by the keyboard.
async function use(page, name, tabs) {
  await page.click("nav button[aria-controls=bytes]");
  await page.click(".tree-row");
  await painted(page);
  check(await page.$(".hex .b.on"), `${name}: a field shows no bytes`);
  const shown = (await page.$$(".tree-row")).length;
  await page.keyboard.press("ArrowRight");
  await painted(page);
  const open = (await page.$$(".tree-row")).length;
  for (const key of ["ArrowDown", "ArrowUp", "ArrowLeft"]) await page.keyboard.press(key);
  await painted(page);
  const inner = await page.$(".tree-row[aria-expanded]");
  check(open > shown === !!inner && (await page.$$(".tree-row")).length === shown && (await page.$$(".tree-row.here")).length === 1, `${name}: keys in the tree`);
  await page.fill("#bytes input", "1");
  await page.keyboard.press("Enter");
  await painted(page);
  check((await page.$(".tree-row.here")) && (await page.$(".hex .b.on[data-at='1']")), `${name}: an offset shows no field`);
  check((await page.textContent("#where")).startsWith("/"), `${name}: no path of the field`);
  await page.click(".hex .b[data-at='0']");
  await painted(page);
  check(await page.$(".hex .b.on[data-at='0']"), `${name}: a byte is not chosen`);
  if (tabs.includes("listing")) {
    await page.click("nav button[aria-controls=listing]");
    await page.click(".line:not(:has(.label)) .code");
    await painted(page);
    check((await page.$$(".line.on")).length === 1, `${name}: no line is chosen`);
    const bytes = await page.$(".bar button:has-text('bytes at')");
    if (bytes) {
      await bytes.click();
      await painted(page);
      check(!(await page.$eval("#bytes", (view) => view.hidden)) && (await page.$(".hex .b.on")), `${name}: no bytes of an instruction`);
      check((await page.textContent("#where")).startsWith("/"), `${name}: no field of an instruction`);
    }
  }
  if (name === "cut") {
    await page.click("nav button[aria-controls=findings]");
    check((await page.$(".finding .caret")) && (await page.textContent("nav .number.error")) === "1", `${name}: the finding`);
    await page.click(".finding summary");
    await painted(page);
    check((await page.textContent(".finding .explanation")).length > 20, `${name}: no explanation`);
    await page.click(".finding-head");
    await painted(page);
    check(!(await page.$eval("#bytes", (view) => view.hidden)) && (await page.$(".hex .b.on")), `${name}: no bytes of a finding`);
  }
  if (name === "coil") {
    await page.click("nav button[aria-controls=listing]");
    await page.click(".line:has-text('BR') .code");
    await painted(page);
    check((await page.$$(".arrows path.on")).length > 0, `${name}: the arrow of a jump`);
    check((await page.textContent("#listing .bar")).includes("jumps to 4124"), `${name}: where a jump leads`);
    await page.click("#listing .bar button:has-text('jumps to')");
    await painted(page);
    check((await page.textContent(".line.on")).includes("CALL"), `${name}: the target of a jump`);
    await page.fill("#listing input[placeholder=find]", "cmp");
    await page.keyboard.press("Enter");
    await painted(page);
    check((await page.textContent(".line.on")).includes("CMP"), `${name}: a text is found`);
  }
  await page.focus("nav button[aria-controls=bytes]");
  await page.keyboard.press("ArrowLeft");
  check(!(await page.$eval("#overview", (view) => view.hidden)), `${name}: keys`);
  const before = await isDark(page);
  await page.click("#theme");
  check((await isDark(page)) !== before, `${name}: the switch of the theme`);
}

async function open(browser, file, theme) {
  const name = path.basename(file).replace(/\.(html|svg)$/, ""), problems = [];
  const page = await browser.newPage({ colorScheme: theme, viewport: { width: 1280, height: 800 } });
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => { problems.push("a dialog"); dialog.dismiss(); });
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push(`asked for ${request.url()}`);
  });
  const start = Date.now();
  await page.goto(pathToFileURL(file).href);
  check(Date.now() - start < 15000, `${name}: opened after ${Date.now() - start} ms`);
  check((await page.evaluate(() => globalThis.hacked)) === undefined, `${name}: markup in a name ran`);
  if (file.endsWith(".svg")) {
    check(await page.$("rect, polygon"), `${name}: nothing is drawn`);
    await picture(page, `${name}-${theme}`);
  } else if (await page.$("#data")) {
    check((await isDark(page)) === (theme === "dark"), `${name}: the theme`);
    await use(page, name, await report(page, name, theme));
  } else {
    check(await page.$("tr.y, tr.n"), `${name}: nothing is covered or not`);
    await picture(page, `${name}-${theme}`);
  }
  check((await page.$$("img, iframe, object, embed, [onerror], [onload], [onclick]")).length === 0, `${name}: markup in the page`);
  check((await page.evaluate(() => globalThis.hacked)) === undefined, `${name}: markup in a name ran`);
  check(!problems.length, `${name}, ${theme}: ${problems.slice(0, 3).join("; ")}`);
  await page.close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const files = fs.readdirSync(folder).filter((file) => /\.(html|svg)$/.test(file)).sort();
  for (const file of files)
    for (const theme of ["light", "dark"]) await open(browser, path.join(folder, file), theme);
  await browser.close();
  check(files.length, "no pages");
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
})();
