/* Declares expressions that a debugger evaluates. penta/debug.h has the grammar. */
#pragma once
#include "base/error.h"
#include "penta/debug.h"

struct expression_scope { /* The functions that know names and memory. */
    void *user;
    /* Finds the value of a name. Returns false without an error when the name is unknown or has
     * no number, and with an error when memory ran out. */
    bool (*name)(void *user, penta_bytes name, penta_value *value, penta_error *err);
    bool (*path)(void *user, penta_bytes path, penta_value *value, penta_error *err);
    bool (*peek)(void *user, uint64_t address, uint8_t *into, size_t size);
    bool big_endian;
};

/* Computes the expression. The offsets of errors are positions in the text. */
bool expression_eval(const char *text, const struct expression_scope *scope, penta_value *value,
                     penta_error *err);

struct expression_memory { /* A memory operand such as u32[E]. */
    char type;             /* the letter 'u', 'i' or 'f' */
    unsigned bytes;
    uint64_t address;
};
/* Tells whether the text is one memory operand and nothing else. */
bool expression_is_memory(const char *text, const struct expression_scope *scope,
                          struct expression_memory *memory);
