/* The inverse of token_string: bytes as a string token, readable where they are ASCII. */
#pragma once
#include "base/writer.h"

void writer_quoted(struct writer *w, penta_bytes text);
