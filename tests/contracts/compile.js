// Compiles the sources of this folder: node compile.js PACKAGES OUT, where PACKAGES is a folder with
// node_modules of @parity/resolc 0.3.0 and solc 0.8.30. Writes OUT/NAME.polkavm per contract.
const fs = require("fs"), path = require("path");
const [packages, out] = process.argv.slice(2);
const resolc = require(path.resolve(packages, "node_modules/@parity/resolc"));

async function main() {
  const files = fs.readdirSync(__dirname).filter((name) => name.endsWith(".sol")).sort();
  for (const file of files) {
    const sources = { [file]: { content: fs.readFileSync(path.join(__dirname, file), "utf8") } };
    const optimizer = { mode: "3", enabled: true, runs: 200 };
    const result = await resolc.compile(sources, { optimizer });
    for (const e of result.errors || [])
      if (e.severity === "error") throw new Error(e.formattedMessage);
    for (const [name, contract] of Object.entries(result.contracts[file])) {
      const code = contract.evm.bytecode.object;
      fs.writeFileSync(path.join(out, name + ".polkavm"), Buffer.from(code, "hex"));
    }
  }
}

main().catch((error) => { console.error(error.message); process.exit(1); });
