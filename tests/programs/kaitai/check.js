// Compares what a parser made by Kaitai Struct finds in files with what `penta inspect` finds: the same fields of records at
// the same offsets. Both ways: a record that only inspect finds must lie in a part that the description leaves as bytes.
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { execFileSync, spawnSync } = require("child_process");
const YAML = require("yaml");
const compiler = require("kaitai-struct-compiler");
const { KaitaiStream } = require("kaitai-struct");

const [penta, folder] = process.argv.slice(2);
// Symbols of kblob that break their rules are a warning: the program runs, and inspect leaves them as bytes.
const LEFT_AS_BYTES = ["KBLOB0019", "KBLOB0105"];
const COMPUTED = new Set(["prefix", "leb", "u24"]);

function ask(...words) {
    const done = spawnSync(penta, [...words, "--json"], { maxBuffer: 1 << 28 });
    return JSON.parse(done.stdout);
}

const plain = (name) => name.replace(/^_m_/, "").replace(/_/g, "").toLowerCase();
const key = (offset, size, name) => `${offset} ${size} ${plain(name)}`;

async function load(format) {
    const text = execFileSync(penta, ["formats", format, "--spec", "ksy"]).toString();
    const files = await compiler.compile("javascript", YAML.parse(text), null, true);
    const [name] = Object.keys(files);
    const module = { exports: {} };
    new Function("module", "exports", "require", files[name])(module, module.exports, require);
    const exported = module.exports;
    return typeof exported === "function" ? exported : Object.values(exported)[0];
}

// The fields of an object that a parser made: with their places, and whether they are of a record.
function walk(node, records, out) {
    const type = node.constructor.name;
    const isRecord = records.has(plain(type));
    const names = new Set(Object.keys(node._debug));
    const getters = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(node));
    for (const [name, property] of Object.entries(getters)) {
        if (property.get && node[name] !== undefined) names.add("_m_" + name);
    }
    for (const name of names) {
        const place = node._debug[name];
        if (!place || place.start === undefined) continue;
        const value = node[name.replace(/^_m_/, "")];
        const items = Array.isArray(value) ? value : [value];
        items.forEach((item, i) => {
            const at = Array.isArray(value) ? place.arr[i] : place;
            if (item instanceof Object && item._debug && !COMPUTED.has(plain(item.constructor.name))) {
                walk(item, records, out);
            } else if (item !== undefined && !plain(name).endsWith("ahead")) {
                const isBytes = item instanceof Uint8Array;
                out.push({ offset: at.start, size: at.end - at.start, name: plain(name), isBytes, record: isRecord && plain(type) });
            }
        });
    }
}

// The leaves of the tree that lie in the file, and which of them are fields of a record.
function leaves(nodes, records, out) {
    for (const node of nodes) {
        if (node.decoded) continue;
        if (!node.children) continue;
        const fields = node.children.filter((child) => !child.children && child.size);
        const names = fields.map((field) => plain(field.name));
        const record = [...records].find(([, wanted]) => wanted.every((field) => names.includes(field.name)) &&
            wanted.every((field) => fields.some((leaf) => plain(leaf.name) === field.name && leaf.size === field.size)));
        for (const field of fields) {
            const ofRecord = record && record[1].some((wanted) => wanted.name === plain(field.name));
            out.push({ offset: field.offset, size: field.size, name: plain(field.name), record: ofRecord && record[0] });
        }
        leaves(node.children, records, out);
    }
    return out;
}

function compare(structure, file, records, seen) {
    const tree = ask("inspect", file).tree;
    const found = leaves([{ children: tree }], records, []);
    const known = new Set(found.map((leaf) => key(leaf.offset, leaf.size, leaf.name)));
    const parsed = new structure(new KaitaiStream(fs.readFileSync(file)));
    if (parsed._is_le === undefined && parsed._read) parsed._read();
    const mine = [];
    walk(parsed, records, mine);
    const had = new Set(mine.map((leaf) => key(leaf.offset, leaf.size, leaf.name)));
    for (const leaf of mine) {
        if (leaf.isBytes && !leaf.record) continue;
        assert(known.has(key(leaf.offset, leaf.size, leaf.name)),
            `${file}: Kaitai has ${leaf.name} at ${leaf.offset}, ${leaf.size} bytes, inspect has not`);
        if (leaf.record) seen.add(leaf.record);
    }
    const opaque = mine.filter((leaf) => leaf.isBytes && !leaf.record);
    for (const leaf of found.filter((one) => one.record)) {
        const inside = opaque.some((part) => part.offset <= leaf.offset && leaf.offset + leaf.size <= part.offset + part.size);
        assert(inside || had.has(key(leaf.offset, leaf.size, leaf.name)),
            `${file}: inspect has ${leaf.name} of ${leaf.record} at ${leaf.offset}, Kaitai has not`);
    }
    return mine.length;
}

// The structure of the file: the first one, or the one that begins as the tree does.
function structureOf(spec, Parser, file) {
    const first = ask("inspect", file).tree[0];
    const own = spec.structures.slice(1).find((one) => one.parts[0].name === first.name && !first.children);
    return own ? Object.entries(Parser).find(([name]) => plain(name) === plain(own.name))[1] : Parser;
}

async function main() {
    const all = fs.readdirSync(folder).sort();
    let failed = 0;
    for (const { name } of ask("formats").formats) {
        const spec = ask("formats", name, "--spec", "json");
        const document = JSON.parse(spec.text);
        if (!document.structures.length) continue;
        const Parser = await load(name);
        const records = new Map(document.records.map((record) => [plain(record.name), record.fields.map((field) => (
            { name: plain(field.name), size: field.size }))]));
        const seen = new Set();
        let files = 0, fields = 0;
        for (const base of all.filter((one) => one.startsWith(name + "-"))) {
            const file = path.join(folder, base);
            const valid = ask("validate", file);
            if (LEFT_AS_BYTES.some((code) => JSON.stringify(valid).includes(code))) continue;
            if (!valid.ok || !fs.statSync(file).size) continue;
            const detected = ask("detect", file);
            if (!JSON.stringify(detected).includes(`"format":"${name}"`)) continue;
            try {
                fields += compare(structureOf(document, Parser, file), file, records, seen);
                files++;
            } catch (error) {
                failed++;
                console.log(`FAIL ${base}: ${error.message.split("\n")[0]}`);
            }
        }
        const unseen = [...records.keys()].filter((record) => !seen.has(record));
        console.log(`${name}: ${files} files, ${fields} fields; records that no file has: ${unseen.join(" ") || "none"}`);
        if (!files) failed++;
        failed += unseen.length;
    }
    process.exit(failed ? 1 : 0);
}

main();
