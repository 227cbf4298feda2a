/* Computes the expression of an #if (CVBC 16.3), which has the operators of C over integers, and
 * `defined`. */
#pragma once
#include "cvbc/compile/text/lexer.h"

struct condition_macro {
    size_t from, to; /* the range of the macro's words */
};
/* Tells whether a name is a macro and which words it stands for. A macro with parameters stands
 * for no words. */
typedef bool condition_find(void *user, const struct word *name, struct condition_macro *out);

/* Computes the words from `at` up to `end` as true or false. *wrong becomes NULL, or the word
 * that is wrong. */
bool condition_truth(const struct words *in, size_t at, size_t end, condition_find *find,
                     void *user, const struct word **wrong);
