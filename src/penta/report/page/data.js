/* What the page of penta report knows of the file:
 *
 *   title, format, formatTitle, version, size, sha256, crc32, damage, info (the facts of the file),
 *   bytes (base 64, perhaps only the first), leftOut (sentences)
 *   tree      {c: nodes}; a node or field {n: name, o: offset, s: size}, a field with {v: value, t: note},
 *             a node with {c: children, l: how many are left out, lo: offset and ls: size of these}, and
 *             with d when offsets below are not those of the file, i when the children are items of a list
 *   findings  severity, code, message, note, explanation, offset, decoded, path, from and bytes of the field
 *   sizes     [kind, name, bytes]
 *   code      pc, offset (-1: not known), text and counts by row; names [row, name];
 *             lines [row, line, file], where source lines begin, without the file where it stays the same;
 *             arrows, four numbers each: row, target row, 1 for jumps that are always taken, lane;
 *             functions [name, row, instructions, bytes]; calls [caller, callee (-1: not known), times]
 *   coverage  blocks, instructions, lines, functions: each with all and run
 *   folded    call paths as lines "outer;inner 12"
 *
 * Text of the file gets into the page as text nodes only. */
export const data = JSON.parse(document.getElementById("data").textContent);
export const code = data.code || {pc: [], offset: [], text: [], names: [], lines: [], arrows: [], functions: [], calls: []};
export const bytes = Uint8Array.from(atob(data.bytes), letter => letter.charCodeAt(0));

/* The first index in 0 .. count - 1 for which the test holds, or count; it must hold for all after it. */
export function search(count, test) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
