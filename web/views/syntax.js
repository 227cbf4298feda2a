// Colours for assembly of any format: comments, strings, numbers, labels, registers, directives.

const TOKEN = new RegExp([
  /(?<comment>;.*$|\/\/.*$)/,
  /(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/,
  /(?<label>@[\w.$+-]+|^\s*[\w.$]+:)/,
  /(?<directive>^\s*\.[a-z_]+|^\s*%\w+(?=\s*(?:=|")))/,
  /(?<register>%\w+|\b(?:ra|sp|[atsrv]\d{1,2}|[HC]\d+)\b)/,
  /(?<number>\b(?:0x[0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?)\b)/,
  /(?<word>[A-Za-z_][\w.]*)/,
].map(part => part.source).join("|"), "gd");

// Puts the text into a parent as spans; the first word of a line is the mnemonic.
export function highlight(parent, text) {
  let at = 0, mnemonic = false;
  const pieces = [];
  for (const match of text.matchAll(TOKEN)) {
    let kind = Object.keys(match.groups).find(name => match.groups[name] !== undefined);
    if (kind === "word") {
      if (mnemonic) continue;
      kind = "mnemonic";
      mnemonic = true;
    } else if (kind === "register" && !mnemonic) {
      mnemonic = true;
    }
    if (match.index > at) pieces.push(text.slice(at, match.index));
    const span = document.createElement("span");
    span.className = `s-${kind}`;
    span.textContent = match[0];
    pieces.push(span);
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  parent.append(...pieces);
}
