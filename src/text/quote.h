/* Writes bytes as a string token, readable where they are ASCII: the inverse of token_string. */
#pragma once
#include "base/writer.h"

void writer_quoted(struct writer *w, penta_bytes text);
