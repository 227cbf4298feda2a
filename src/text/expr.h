/* Integer expressions (TEXT 2) have the operators + - * / % << >> & | ^ ~ ( ), numbers and
 * names. They are computed with 64 bits and wrap. */
#pragma once
#include "text/lexer.h"

/* A function of this type looks up the value of a name. When it returns false, the parser
 * reports the name as unknown. */
typedef bool expr_name(void *user, penta_bytes name, uint64_t *value);

/* Parses one expression. When `lookup` is NULL, every name is an error. */
bool expr_parse(struct source *s, expr_name *lookup, void *user, uint64_t *value);
/* Parses one expression for a field of `bits` bits. The value must fit the field, as a signed
 * number when it is negative. */
bool expr_field(struct source *s, expr_name *lookup, void *user, unsigned bits, uint64_t *value);
