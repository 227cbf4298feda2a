/* The preprocessor handles the lines that begin with # (CVBC 16.3): macros, conditions,
 * includes. */
#pragma once
#include "cvbc/compile/text/lexer.h"
#include "cvbc/compile/text/sources.h"

/* Gives the words without the lines that begin with #, and with macros replaced. The words of
 * the library come after an end mark; *out_library is the first of them. Errors are reported.
 * Returns false if memory ran out, or if there are too many words, which is reported. */
bool words_preprocess(const struct words *in, struct sources *sources, size_t library,
                      struct words *out, size_t *out_library, struct findings *findings,
                      penta_error *err);
