/* The types of a sketch. Every scalar is one word of the machine, whatever its type; sizeof counts as C does.
 * Types are made once in the arena of the compilation and never changed, but a record is completed later. */
#pragma once
#include "penta/penta.h"

enum type_kind {
    TYPE_WRONG, /* of an expression with an error, which is reported: fits everywhere */
    TYPE_VOID,
    TYPE_NUMBER,
    TYPE_FLOAT,
    TYPE_STRING, /* the class String */
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_RECORD, /* struct and union */
    TYPE_FUNCTION,
};
struct type {
    enum type_kind kind;
    uint8_t bits; /* of a number: 1 for bool, else 8, 16 or 32 */
    bool is_unsigned, is_char, is_const;
    bool is_reference;     /* of a pointer: int &a */
    const struct type *of; /* what a pointer points to, an array holds, a function returns */
    uint32_t count;        /* of an array: how many elements, 0 when the initialiser says it */
    uint16_t depth;        /* how many types it is made of: bounds the recursion over it */
    struct record *record;
    const struct type **parameters;
    uint32_t parameter_count;
};
struct member {
    penta_bytes name;
    const struct type *type;
    uint32_t word; /* where it begins in the words of the record */
};
struct record {
    penta_bytes name;
    bool is_union, complete;
    struct member *members;
    size_t count, capacity;
    uint32_t words, bytes, align;
    uint16_t depth;
};

enum { TYPE_DEPTH_MAX = 100 };
static inline uint16_t type_depth(const struct type *t)
{
    return t->kind == TYPE_RECORD ? t->record->depth : t->depth;
}

extern const struct type type_wrong, type_void, type_int, type_unsigned, type_bool, type_char,
    type_byte, type_float, type_string, type_text;

static inline bool type_is(const struct type *t, enum type_kind kind) { return t->kind == kind; }
static inline bool type_is_scalar(const struct type *t)
{
    return t->kind == TYPE_NUMBER || t->kind == TYPE_FLOAT || t->kind == TYPE_POINTER ||
           t->kind == TYPE_WRONG;
}
static inline bool type_is_arithmetic(const struct type *t)
{
    return t->kind == TYPE_NUMBER || t->kind == TYPE_FLOAT || t->kind == TYPE_WRONG;
}
/* A number that arithmetic treats as unsigned. */
static inline bool type_is_wide_unsigned(const struct type *t)
{
    return t->kind == TYPE_NUMBER && t->is_unsigned && t->bits == 32;
}
/* Whether const is all that may differ. */
bool type_same(const struct type *a, const struct type *b);
/* How many words an object has; 0 for void, functions and incomplete types. Saturates at UINT32_MAX. */
uint32_t type_words(const struct type *t);
uint32_t type_bytes(const struct type *t); /* sizeof */
uint32_t type_align(const struct type *t);
/* The value that a number type holds after a value was stored in it. */
uint32_t type_bounded(const struct type *t, uint32_t value);
/* Whether every value of one number type is a value of another. */
bool type_within(const struct type *from, const struct type *to);
/* Writes the name of a type for messages, cut to the size of the buffer. */
const char *type_text_of(const struct type *t, char *buffer, size_t size);
