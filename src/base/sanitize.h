/* Strings from files may hold anything, and a terminal acts on some of it. Control characters,
 * invalid UTF-8 and characters that reorder or hide text become \x.. or \u{...}. */
#pragma once
#include "base/writer.h"

/* Invisible characters that change what a reader sees: bidirectional controls, zero-width
 * characters, line separators, 8-bit control characters. */
bool is_deceptive(uint32_t point);

/* Writes a string on one line, whatever is in it. */
void writer_safe(struct writer *w, penta_bytes text);
void writer_safe_text(struct writer *w, const char *text);

/* Writes a text of several lines: newlines and tabs pass, and so do sequences that set a colour, but
 * only with `mark` after their first byte, which is taken out. Nobody but this process knows the
 * mark, so a string of a file cannot set one. NULL: none may. The tool does this last with all text
 * that it prints, so that a string that was not passed to writer_safe does no harm. */
void writer_safe_lines(struct writer *w, penta_bytes text, const char *mark);
/* True when writer_safe_lines without a mark would change nothing. */
bool is_safe_lines(penta_bytes text);
