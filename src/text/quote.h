/* Writes bytes as a string token, readable where they are ASCII. token_string reads such a token
 * back. */
#pragma once
#include "base/writer.h"

void writer_quoted(struct writer *w, penta_bytes text);
