/* Colours for assembly text: mnemonics, registers, numbers, strings, labels, directives, comments.
 * Words are told apart by how they look and by what the format says about its registers; a listing
 * is never parsed again for it. */
#pragma once
#include "cli/cli.h"

/* A text of whole lines as the format's disassembler prints it. It passes the sanitiser first, so
 * that the only sequences in the result are those written here. Numbers at the start of a line are
 * where the instruction is. Without colours the text stays as it is. */
void highlight(struct writer *out, const struct palette *palette, const struct driver *driver,
               penta_bytes text);
