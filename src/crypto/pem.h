/* PEM is a text form of bytes: base64 between two lines that name what it is. These functions
 * read and write keys that libcrypto does not know. */
#pragma once
#include "base/writer.h"

void pem_write(struct writer *out, const char *name, penta_bytes bytes);
/* Reads the first block of this name. Returns false when there is none, or when it is malformed.
 * What was read may be secret: the caller wipes it. */
bool pem_read(penta_bytes text, const char *name, struct writer *out);
/* Finds the first block of this name: the text before it and the text after it. Returns false
 * when there is none. */
bool pem_around(penta_bytes text, const char *name, penta_bytes *before, penta_bytes *after);
