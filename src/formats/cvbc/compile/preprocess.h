/* Lines that begin with # (CVBC 16.3): macros, conditions, includes. */
#pragma once
#include "cvbc/compile/lexer.h"

/* Words without directives and with macros replaced. The words of the library come after an end of their
 * own; *library is the first of them. Errors are told; false: memory, or too many words, which is told. */
bool words_preprocess(const struct words *in, size_t library, struct words *out,
                      size_t *out_library, struct findings *findings, penta_error *err);
