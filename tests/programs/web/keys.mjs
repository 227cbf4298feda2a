// keys.mjs WEB KEYS FILES: sealed and signed files in the module with OpenSSL. KEYS is tests/keys; FILES has what the tool
// signed and sealed.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const [web, keys, files] = process.argv.slice(2);
const {load, PentaError} = await import(pathToFileURL(`${web}/penta.js`));
const penta = await load();
const read = name => new Uint8Array(readFileSync(join(files, name)));
let checks = 0;
const equal = (...args) => { assert.deepEqual(...args); checks++; };
for (const name of ["signer.pem", "signer.pub", "p256.pub", "rsa2048.pub", "other.pub", "symmetric.hex", "password"])
  await penta.setFile(name, new Uint8Array(readFileSync(join(keys, name))));
await penta.setFile("wrong.hex", "00".repeat(32));
await penta.setFile("wrong-password", "another\n");

// What findings say of bytes that are opened with some options.
async function verdict(bytes, format, options) {
  const file = await penta.open(bytes, {format, options});
  const {valid, items} = await file.findings();
  await file.close();
  return {valid, codes: items.filter(one => one.severity === "error").map(one => one.name)};
}

// Three kinds of signatures: the right key, another, none, a changed byte, every cut.
for (const [kind, key] of [["ed25519", "signer"], ["p256", "p256"], ["rsa2048", "rsa2048"]]) {
  const signed = read(`${kind}.cvbc`), trust = name => ({"trusted-key": `${name}.pub`, "require-signature": true});
  equal(await verdict(signed, "cvbc", trust(key)), {valid: true, codes: []}, kind);
  const stranger = await verdict(signed, "cvbc", trust("other"));
  equal([stranger.valid, stranger.codes.length > 0], [false, true], `${kind}, another key`);
  const changed = signed.slice();
  changed[changed.length >> 1] ^= 1;
  equal((await verdict(changed, "cvbc", trust(key))).valid, false, `${kind}, changed`);
  for (let size = 0; size < signed.length; size += 17) {
    const cut = await verdict(signed.subarray(0, size), "cvbc", trust(key)).catch(error => error);
    equal(cut instanceof PentaError || !cut.valid, true, `${kind}, cut to ${size}`);
  }
}

// Sealed files: by a key and by a password; the wrong ones; none.
for (const [name, format, option, good, wrong] of [["sealed.cvbc", "cvbc", "key-file", "symmetric.hex", "wrong.hex"],
                                                   ["password.cvbc", "cvbc", "password-file", "password", "wrong-password"],
                                                   ["sealed.tvmr", "tvmr", "key-file", "symmetric.hex", "wrong.hex"]]) {
  const sealed = read(name), open = value => penta.open(sealed, {format, options: value ? {[option]: value} : {}});
  const file = await open(good);
  equal((await file.findings()).valid, true, name);
  equal(await file.lineCount() > 1, true, name);
  const machine = await file.machine();
  equal((await machine.run()).kind, "halt", name);
  equal((await penta.usage()).crypto, true);
  const refused = await open(wrong).then(file => file.findings()).catch(error => error);
  equal(refused instanceof PentaError || !refused.valid, true, `${name}, the wrong key`);
  await assert.rejects(async () => (await open()).machine().then(machine => machine.run()), PentaError, `${name}, no key`);
  await assert.rejects(open("absent"), PentaError, `${name}, no such file`);
  for (let size = 0; size < sealed.length; size += 17) {
    const cut = await verdict(sealed.subarray(0, size), format, {[option]: good}).catch(error => error);
    equal(cut instanceof PentaError || !cut.valid, true, `${name}, cut to ${size}`);
  }
}

// Sealing here, opening here.
const plain = await penta.open(read("plain.cvbc"), {format: "cvbc"});
const sealed = await plain.seal({"key-file": "symmetric.hex", "sign-key": "signer.pem"});
equal((await verdict(sealed, "cvbc", {"key-file": "symmetric.hex", "trusted-key": "signer.pub", "require-signature": true})).valid, true);
equal((await verdict(sealed, "cvbc", {"key-file": "wrong.hex"})).valid, false);
const again = await (await penta.open(sealed, {format: "cvbc", options: {"key-file": "symmetric.hex"}})).unseal({"drop-signature": true, "key-file": "symmetric.hex"});
equal(await (await penta.open(again, {format: "cvbc"})).lines(0, 10), await plain.lines(0, 10));
await assert.rejects(plain.seal({}), PentaError);
await assert.rejects(plain.seal({"key-file": "absent"}), PentaError);
console.log(checks);
process.exit(0);
