// Where the library's parts are: files beside the page, or, in the page that is one file, blocks of text.
import {fromBase64} from "./share.js";

async function unpacked(id) {
  const block = document.getElementById(id);
  if (!block) return null;
  const stream = new Blob([fromBase64(block.textContent.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  block.remove();
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// What penta.js is loaded with; nothing where the parts are files. One file has everything at once, so its first module has
// machines.
export async function loadOptions() {
  const wasm = await unpacked("part-wasm");
  if (!wasm) return {};
  const worker = await unpacked("part-worker");
  return {wasm, machines: null, crypto: await unpacked("part-crypto"), workerText: new TextDecoder().decode(worker)};
}
