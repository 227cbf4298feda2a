/* Text inside XML and HTML: names come from files, and must not become markup. */
#pragma once
#include "base/writer.h"

/* The text with < > & " ' escaped; what neither XML nor a terminal takes is written as writer_safe
 * does. */
void markup_text(struct writer *w, const char *text);
void markup_bytes(struct writer *w, penta_bytes text);
/* At most so many characters of it, ".." at its end where something is missing; fewer than 3: none. */
void markup_cut(struct writer *w, const char *text, size_t most);
