// Sealed and signed files in the page: keys that are typed, chosen as files, and given by the tool.
import {existsSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {assembled, check, close, codeLines, drop, equal, hexText, key, open, root, run, until} from "./support.mjs";

const KEYS = join(root, "tests/keys");
const keyText = name => readFileSync(join(KEYS, name), "utf-8");

export default ({start, browser, work}) => {
  const at = name => join(work, name);
  const missing = () => !existsSync(join(root, "build/web/penta-crypto.wasm")) && "skipped: no penta-crypto.wasm";

  function makePlain() {
    writeFileSync(at("plain.cvbc"), assembled(work, "plain.cvasm", '.string "told in confidence"\n    PUSH 0\n    PRINTF 0\n    HALT\n'));
  }
  const hasCode = async (page, word) => (await codeLines(page)).some(line => line.includes(word));

  // An option of opening, its file typed as text or chosen; then the file is opened again.
  async function giveKey(page, option, {text, file}, last = true) {
    await page.click("#tab-options");
    await page.click("[aria-label='Add an option: Opening, with keys for example']");
    const row = page.locator("#view-options section:has-text('Opening') .option").last();
    await row.locator("select").selectOption(option);
    const filled = page.locator("#view-options section:has-text('Opening') .option").last();
    if (text !== undefined) await filled.locator("textarea").fill(text);
    if (file) await filled.locator("input[type=file]").setInputFiles(file);
    if (file) await until(page, async () => (await page.textContent("#told")).includes("bytes of"), "the file of the key");
    if (last) await page.click("text=Open again with these");
  }

  return {
    async sealed_files_open_with_a_key_that_is_typed() {
      if (missing()) return missing();
      makePlain();
      run("seal", at("plain.cvbc"), "--key-file", join(KEYS, "symmetric.hex"), "--sign-key", join(KEYS, "signer.pem"), "-o", at("sealed.cvbc"));
      const page = await start();
      await drop(page, "sealed.cvbc", readFileSync(at("sealed.cvbc")));
      await until(page, async () => (await page.textContent("#file")).includes("cvbc"), "the file");
      check(!await hasCode(page, "PRINTF"), "the code is not sealed");
      await giveKey(page, "key-file", {text: "00".repeat(32)});
      await page.click("#tab-findings");
      await until(page, async () => (await page.$("#view-findings .finding.error")) !== null, "the wrong key is told");
      check(!await hasCode(page, "PRINTF"), "the wrong key opens it");
      await page.fill("#view-options section:has-text('Opening') textarea", keyText("symmetric.hex"));
      await page.click("text=Open again with these");
      await until(page, () => hasCode(page, "PRINTF"), "the code");
      await key(page, "r");
      await until(page, async () => (await page.textContent(".why")).startsWith("halted"), "it runs");
      await key(page, "l");
      await until(page, async () => page.url().includes("#"), "a link");
      check(!decodeURIComponent(page.url()).includes("key-file"), "the link names the key");
      await close(page);
    },

    async sealed_files_open_with_a_key_that_is_chosen() {
      if (missing()) return missing();
      run("asm", join(root, "examples/tvmr/relu.tasm"), "-o", at("plain.tvmr"));
      run("seal", at("plain.tvmr"), "--key-file", join(KEYS, "symmetric.hex"), "-o", at("sealed.tvmr"));
      const page = await start();
      await drop(page, "sealed.tvmr", readFileSync(at("sealed.tvmr")));
      await until(page, async () => (await page.textContent("#file")).includes("sealed.tvmr"), "the file");
      await giveKey(page, "key-file", {file: join(KEYS, "symmetric.hex")});
      await until(page, () => hasCode(page, "load_input"), "the code");
      await close(page);
    },

    async signatures_of_three_kinds_are_checked() {
      if (missing()) return missing();
      makePlain();
      for (const [kind, name] of [["ed25519", "signer"], ["p256", "p256"], ["rsa2048", "rsa2048"]]) {
        run("sign", at("plain.cvbc"), "--sign-key", join(KEYS, `${name}.pem`), "-o", at("signed.cvbc"));
        const page = await start(), findings = () => page.textContent("#view-findings");
        await drop(page, `${kind}.cvbc`, readFileSync(at("signed.cvbc")));
        await until(page, async () => (await page.textContent("#file")).includes(kind), "the file");
        await giveKey(page, "require-signature", {}, false);
        await giveKey(page, "trusted-key", {text: keyText(`${name}.pub`)});
        await page.click("#tab-findings");
        await until(page, async () => (await findings()).includes("No findings"), `${kind}: the right key`);
        await page.fill("#view-options section:has-text('Opening') textarea", keyText("other.pub"));
        await page.click("text=Open again with these");
        await until(page, async () => (await page.$("#view-findings .finding.error")) !== null, `${kind}: another key`);
        await close(page);
      }
    },

    async tool_gives_keys_programs_and_a_second_file() {
      if (missing()) return missing();
      makePlain();
      run("seal", at("plain.cvbc"), "--key-file", join(KEYS, "symmetric.hex"), "-o", at("sealed.cvbc"));
      run("explore", at("sealed.cvbc"), "--key-file", join(KEYS, "symmetric.hex"), "-o", at("sealed.html"));
      const page = await open(browser, `file://${at("sealed.html")}`);
      await until(page, () => hasCode(page, "PRINTF"), "the code of the sealed file");
      await close(page);
      writeFileSync(at("other.cvbc"), assembled(work, "other.cvasm", "    PUSH 7\n    HALT\n"));
      run("create", at("plain.cvbc"), at("other.cvbc"), "-o", at("two.cvbc"));
      run("explore", at("two.cvbc"), "--program", "other", "-o", at("two.html"));
      const second = await open(browser, `file://${at("two.html")}`);
      await until(second, () => hasCode(second, "PUSH 7"), "the chosen program");
      await close(second);
      run("explore", at("plain.cvbc"), at("other.cvbc"), "-o", at("compare.html"));
      const both = await open(browser, `file://${at("compare.html")}`);
      await until(both, async () => (await both.$$(".diff")).length > 1, "the differences");
      equal((await hexText(both)).slice(0, 8), "43425643", "the bytes of the first");
      await close(both);
    },
  };
};
