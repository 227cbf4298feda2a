// What everybody needs: names for screen readers, a focus that can be seen, views that follow each other, ways that can be ended.
import {check, close, codeLines, drop, equal, example, key, picture, selectedHex, steps, told, until} from "./support.mjs";

const CONTROLS = new Set(["button", "textbox", "searchbox", "combobox", "checkbox", "link", "tab", "listbox", "tree", "option", "treeitem",
                          "spinbutton", "dialog", "tabpanel", "tablist", "navigation", "toolbar", "log", "grid"]);
const TABS = ["tree", "findings", "info", "listing", "source", "compare", "state", "memory", "output", "calls", "points", "options"];

export default ({start, kernel}) => {
  // What a screen reader is told of the page as it is.
  async function unnamed(page, where) {
    const cdp = await page.context().newCDPSession(page);
    const {nodes} = await cdp.send("Accessibility.getFullAXTree");
    await cdp.detach();
    const controls = nodes.filter(node => !node.ignored && CONTROLS.has(node.role?.value));
    check(controls.length > 1, `${where}: only ${controls.length} controls`);
    equal(controls.filter(node => !node.name?.value?.trim()).map(node => node.role.value), [], `${where}: controls without a name`);
    return controls.length;
  }

  return {
    async every_control_has_a_name() {
      const page = await start();
      let seen = await unnamed(page, "welcome");
      await example(page, "fibonacci.pvmasm");
      await key(page, "s", "s");
      await until(page, async () => (await steps(page)).startsWith("2 steps"), "two steps");
      for (const tab of TABS) {
        await page.click(`#tab-${tab}`);
        if (tab === "options")
          for (const add of await page.$$("#view-options button:has-text('Add an option')")) await add.click();
        if (tab === "calls") await page.check("#stop-at-calls");
        await page.waitForTimeout(60);
        seen += await unnamed(page, tab);
      }
      await key(page, "r");
      await until(page, async () => (await page.$(".asked")) !== null, "a call that waits");
      await unnamed(page, "a call that waits");
      for (const dialog of ["p", "e", "/", "g", "G", "?"]) {
        await key(page, dialog);
        await page.waitForSelector("dialog[open]");
        await page.waitForTimeout(60);
        seen += await unnamed(page, `the dialog of ${dialog}`);
        await page.keyboard.press("Escape");
      }
      const live = await page.$$eval("[aria-live], [role=status], [role=log], [role=alert]", found => found.map(one => one.id || one.className));
      check(live.includes("told") && live.includes("file"), live);
      await close(page);
      return `${seen} controls`;
    },

    async focus_can_be_seen_and_leaves_every_view() {
      for (const colorScheme of ["light", "dark"]) {
        const page = await start({colorScheme});
        await example(page, "fibonacci.pvmasm");
        const seen = new Set();
        for (let i = 0; i < 60; i++) {
          await page.keyboard.press("Tab");
          const now = await page.evaluate(() => {
            const one = document.activeElement, style = getComputedStyle(one);
            return {name: one.id || one.getAttribute("aria-label") || one.textContent.slice(0, 20), body: one === document.body,
                    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2};
          });
          if (now.body) break;
          check(now.outline, `no outline at ${now.name}`);
          seen.add(now.name);
        }
        for (const name of ["tab-tree", "tab-listing", "tab-hex", "tab-state"]) check(seen.has(name), `${name} is not reached: ${[...seen].join(", ")}`);
        await picture(page, `focus-${colorScheme}`);
        await close(page);
      }
    },

    async assembly_findings_and_differences_follow_the_selection() {
      const page = await start(), bytes = kernel(), other = Buffer.from(bytes);
      await drop(page, "fill.kblob", bytes);
      await page.click("#tab-source");
      await until(page, async () => (await page.inputValue(".source-text")).includes("SLEEP"), "the text");
      await page.click(".hex-row .b[data-at='80']");
      const marked = async () => {
        const line = await page.$eval(".gutter .here", one => Number(one.textContent)).catch(() => 0);
        return (await page.inputValue(".source-text")).split("\n")[line - 1] || "";
      };
      await until(page, async () => (await marked()).includes("SLEEP"), "the line of the byte");
      await page.click(".tree-row:has-text('header')");
      await until(page, async () => (await marked()) === "", "no line is the header's");
      other[84] = 99;
      other[68] = 1;
      await page.click("#tab-compare");
      await drop(page, "b.kblob", other);
      await until(page, async () => (await page.$$(".diff")).length === 2, "two differences");
      await page.click(".hex-row .b[data-at='84']");
      await until(page, async () => (await page.textContent(".diff.here")).includes("insn[4]"), "the difference of the byte");
      await example(page, "broken.kasm");
      await page.click("#tab-findings");
      await page.click(".hex-row .b[data-at='32']");
      await until(page, async () => (await page.$(".finding.on")) !== null, "the finding of the byte");
      await until(page, async () => (await selectedHex(page)) === "ff", "the byte");
      await close(page);
    },

    async long_ways_can_be_ended() {
      const page = await start();
      await key(page, "p");
      await page.keyboard.type("%isa = latest64\n%export \"main\" = @main\n@main:\n    ra = @after, jump @body\n@after:\n    ret\n" +
        "@body:\n    a0 = a0 + 1\n    jump @body\n");
      await page.selectOption("#dialog select", "pvm");
      await page.click("#dialog button.main");
      await until(page, async () => (await codeLines(page)).filter(line => line.includes("jump")).length > 1, "the code");
      for (const way of ["next", "goto"]) {
        await key(page, "q");
        await until(page, async () => (await steps(page)).startsWith("0 steps"), "the start");
        if (way === "next") await key(page, "v");
        else {
          await key(page, "G");
          await page.keyboard.type("999999999999");
          await page.keyboard.press("Enter");
        }
        await until(page, async () => (await page.textContent(".bar-buttons button")) === "Stop", `${way} is under way`);
        await key(page, "Escape");
        await until(page, async () => (await page.textContent(".why")).startsWith("stopped"), `${way} ends`);
        check(Number((await steps(page)).replace(/[^0-9]/g, "")) > 1000, await told(page));
      }
      await close(page);
    },
  };
};
