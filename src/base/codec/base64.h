/* Bytes as text of 64 letters, with = at the end where the last group is not full. */
#pragma once
#include "base/writer.h"

void base64_write(struct writer *out, penta_bytes bytes);
/* Appends to out, as far as the text is good; false: a letter is none of the 64. */
bool base64_read(const char *text, struct writer *out);
