// Links that carry a small file: #name=...&format=...&data=BASE64URL, where data is raw DEFLATE.

export const LINK_MAX = 32768;  // characters; longer addresses break in mail programs and chats

async function through(bytes, stream) {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

export function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8190)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + 8190)));
  return text;
}

export function fromBase64(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The link, or null: the file is too large for one.
export async function makeLink(file) {
  const packed = await through(file.bytes, new CompressionStream("deflate-raw"));
  const data = toBase64(packed).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const part = new URLSearchParams({name: file.name, format: file.format || ""});
  for (const option of file.options || []) part.append("option", `${option.key}=${option.value}`);
  part.append("data", data);
  const link = `${location.href.split("#")[0]}#${part}`;
  return link.length <= LINK_MAX ? link : null;
}

// Reads at most so many bytes: a short link may unpack to gigabytes.
async function unpack(bytes, limit) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      reader.cancel().catch(() => {});
      throw new Error(`the link unpacks to more than ${limit >> 20} MiB`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// The file in the address, or null.
export async function readLink() {
  const part = new URLSearchParams(location.hash.slice(1));
  const data = part.get("data");
  if (!data) return null;
  const bytes = await unpack(fromBase64(data.replaceAll("-", "+").replaceAll("_", "/")), 16 << 20);
  const options = part.getAll("option").map(text => {
    const at = text.indexOf("=");
    return {key: text.slice(0, at), value: text.slice(at + 1)};
  });
  return {name: part.get("name") || "shared", format: part.get("format") || undefined, bytes, options};
}

// What `penta explore` put into the page, or null: a file with its options and the files that these name, perhaps
// another to compare it with.
export function readOpened() {
  const block = document.getElementById("opened");
  if (!block) return null;
  const opened = JSON.parse(block.textContent);
  block.remove();
  const {name, format, options, other} = opened;
  return {name, format: format || undefined, options, bytes: fromBase64(opened.bytes),
          texts: Object.fromEntries(opened.files.map(file => [file.name, fromBase64(file.bytes)])),
          other: other && {name: other.name, bytes: fromBase64(other.bytes)}};
}
