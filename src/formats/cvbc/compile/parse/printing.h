/* These functions read the output of a sketch: Serial and printf. */
#pragma once
#include "cvbc/compile/compiler.h"

/* Reads the call printf("format", values), after its name was read. */
struct node *printing_printf(struct compiler *c, const struct word *name);
/* Makes an expression that prints a value and, if `line` is true, the end of the line. */
struct node *printing_value(struct compiler *c, struct node *value, struct node *base, bool line,
                            uint32_t offset);
