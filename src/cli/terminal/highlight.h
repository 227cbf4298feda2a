/* Declares colours for assembly text: mnemonics, registers, numbers, strings, labels,
 * directives, comments. Words are recognised by their form and by the format's names of
 * registers. The text is not parsed. */
#pragma once
#include "cli/cli.h"

/* Writes a text of whole lines, as the format's disassembler prints it. It goes through writer_safe
 * first, so that the only colour sequences in the result are those written here. Numbers at the
 * start of a line are the place of the instruction. Without colours the text stays as it is. */
void highlight_text(struct writer *out, const struct palette *palette, const char *format,
                    penta_bytes text);
