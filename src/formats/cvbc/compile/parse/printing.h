/* What a sketch prints: Serial and printf. */
#pragma once
#include "cvbc/compile/compiler.h"

/* printf("format", values), after its name was read. */
struct node *printing_printf(struct compiler *c, const struct word *name);
/* An expression that prints a value and, if asked for, the end of the line. */
struct node *printing_value(struct compiler *c, struct node *value, struct node *base, bool line,
                            uint32_t offset);
