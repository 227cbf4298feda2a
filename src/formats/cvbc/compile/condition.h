/* The expression of an #if (CVBC 16.3): C's operators over integers, and defined. */
#pragma once
#include "cvbc/compile/lexer.h"

struct condition_macro {
    size_t from, to; /* its words */
};
/* Whether a name is a macro, and which words it stands for; none when it takes parameters. */
typedef bool condition_find(void *user, const struct word *name, struct condition_macro *out);

/* Words from `at` up to `end` as a truth. NULL in *wrong, or the word that cannot be understood. */
bool condition_truth(const struct words *in, size_t at, size_t end, condition_find *find,
                     void *user, const struct word **wrong);
