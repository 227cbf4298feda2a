/* What is wrong, each finding with the bytes that it is about. */

function bytesWithCarets(finding) {
  const whole = finding.bytes <= 16; // else only where it begins
  const from = whole ? finding.from : finding.offset, count = whole ? Math.max(1, finding.bytes) : 1;
  const lines = [];
  for (let at = from - (from % 16); at < from + count && at < fileBytes.length; at += 16) {
    const row = Array.from(fileBytes.subarray(at, at + 16));
    const carets = row.map((_, k) => (at + k >= from && at + k < from + count ? "^^" : "  ")).join(" ");
    lines.push(`${hex(at, 8)}  ${row.map((byte) => hex(byte, 2)).join(" ").padEnd(48)} ${row.map(shownByte).join("")}\n`,
      el("span", { class: "caret" }, " ".repeat(10) + carets.trimEnd() + "\n"));
  }
  return lines.length ? el("pre", {}, ...lines) : "";
}

function showFindings(section) {
  if (!data.findings.length) section.append(el("p", {}, "Nothing: the file keeps every rule of its format."));
  for (const finding of data.findings) {
    const box = el("div", { class: `finding ${finding.severity}` },
      el("h3", {}, `${finding.severity} ${finding.code}: ${finding.message}`));
    if (finding.note) box.append(el("p", {}, finding.note));
    box.append(el("p", {}, finding.decoded ? `offset ${hex(finding.offset)} of the decoded image`
      : el("button", { class: "link mono", onclick: () => openView("bytes", finding.offset) }, `0x${hex(finding.offset)}`),
      finding.path ? el("span", { class: "mono" }, `  ${finding.path}`) : ""));
    if (!finding.decoded) box.append(bytesWithCarets(finding));
    if (finding.explanation) box.append(el("p", {}, finding.explanation));
    section.append(box);
  }
}
