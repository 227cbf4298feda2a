/* Writes text into XML and HTML. Names come from files and must not become markup. */
#pragma once
#include "base/writer.h"

/* Writes the text with < > & " ' escaped. Characters that XML or a terminal does not take are written as writer_safe
 * writes them. */
void markup_text(struct writer *w, const char *text);
void markup_bytes(struct writer *w, penta_bytes text);
/* Writes at most `most` characters of the text, with ".." at the end when something is missing. Writes nothing when
 * `most` is below 3. */
void markup_cut(struct writer *w, const char *text, size_t most);
