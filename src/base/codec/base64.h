/* Base64 writes bytes as text of 64 letters. The text ends with = where the last group is not
 * full. */
#pragma once
#include "base/writer.h"

void base64_write(struct writer *out, penta_bytes bytes);
/* Appends the bytes to out, as far as the text is valid. Returns false when a letter is none of
 * the 64. */
bool base64_read(const char *text, struct writer *out);
