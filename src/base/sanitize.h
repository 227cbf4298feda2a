/* Strings from files may hold anything, and a terminal acts on some of it. Control characters,
 * invalid UTF-8 and characters that reorder or hide text become \x.. or \u{...}. */
#pragma once
#include "base/writer.h"

/* Tells whether a character is invisible and changes what a reader sees: bidirectional controls,
 * zero-width characters, line separators, 8-bit control characters. */
bool is_deceptive(uint32_t point);

/* Writes a string on one line, whatever the string has in it. */
void writer_safe(struct writer *w, penta_bytes text);
void writer_safe_text(struct writer *w, const char *text);

/* Writes a text of several lines. Newlines and tabs pass. Sequences that set a colour pass only
 * with `mark` after their first byte, and the mark is taken out; when `mark` is NULL, none
 * passes. Nobody but this process knows the mark, so a string of a file cannot set a colour. The
 * tool passes all text that it prints through this function, so that a string that was not
 * passed to writer_safe does no harm. */
void writer_safe_lines(struct writer *w, penta_bytes text, const char *mark);
/* Tells whether writer_safe_lines without a mark would change nothing. */
bool is_safe_lines(penta_bytes text);
