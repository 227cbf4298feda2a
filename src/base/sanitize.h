/* Strings from files may hold anything; a terminal obeys some of it. All such text passes here:
 * control characters, invalid UTF-8 and characters that reorder or hide text become \x.. or \u... */
#pragma once
#include "base/writer.h"

void writer_safe(struct writer *w, penta_bytes text);
