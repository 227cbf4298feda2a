/* Strings from files may hold anything, and a terminal obeys some of it. Control characters, invalid
 * UTF-8 and characters that reorder or hide text become \x.. or \u{...}. */
#pragma once
#include "base/writer.h"

/* Invisible characters that change what a reader believes to see: bidirectional controls, zero-width
 * characters, line separators, controls of eight bits. */
bool is_deceptive(uint32_t point);

/* A string: on one line, whatever is in it. */
void writer_safe(struct writer *w, penta_bytes text);
void writer_safe_text(struct writer *w, const char *text);

/* A finished text of several lines: newlines and tabs pass, and with `colour` the sequences that set
 * one. The tool's last step before any text leaves it, so that a string that somebody forgot to
 * pass to writer_safe does no harm. */
void writer_safe_lines(struct writer *w, penta_bytes text, bool colour);
/* Nothing would change. */
bool is_safe_lines(penta_bytes text, bool colour);
