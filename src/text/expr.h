/* Integer expressions over 64 bits, wrapping (TEXT 2): + - * / % << >> & | ^ ~ ( ) and names. */
#pragma once
#include "text/lexer.h"

/* The value of a name; false when it is not known, which is then reported as an error. */
typedef bool expr_name(void *user, penta_bytes name, uint64_t *value);

/* Parses one expression. lookup may be NULL: then names are errors. */
bool expr_parse(struct source *s, expr_name *lookup, void *user, uint64_t *value);
/* The same for a field of so many bits: the value must fit, if negative as a signed one. */
bool expr_field(struct source *s, expr_name *lookup, void *user, unsigned bits, uint64_t *value);
