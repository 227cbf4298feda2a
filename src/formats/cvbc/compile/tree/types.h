/* This file has the types of a sketch. Every scalar is one word of the machine, whatever its
 * type; sizeof counts bytes as C does. Types are made once in the arena of the compilation and
 * never changed, except that a record is completed later. */
#pragma once
#include "penta/penta.h"

enum type_kind {
    TYPE_WRONG, /* type of an expression with an error that was reported; it fits everywhere */
    TYPE_VOID,
    TYPE_NUMBER,
    TYPE_FLOAT,
    TYPE_STRING, /* the class String */
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_RECORD, /* a struct or union */
    TYPE_FUNCTION,
};
struct type {
    enum type_kind kind;
    uint8_t bits; /* for a number: 1 for bool, else 8, 16 or 32 */
    bool is_unsigned, is_char, is_const;
    bool is_reference;     /* for a pointer: it is a reference, as in int &a */
    bool is_settings;      /* for a number: it is an SPISettings, whose value does not matter */
    const struct type *of; /* what a pointer points to, an array contains, or a function returns */
    /* An array has this many elements, or 0 if the initialiser decides the number. */
    uint32_t count;
    /* This is the number of types inside of each other, which limits the recursion over the
     * type. */
    uint16_t depth;
    struct record *record;
    const struct type **parameters;
    uint32_t parameter_count;
};
struct member {
    penta_bytes name;
    const struct type *type;
    uint32_t word; /* where the member begins, in words of the record */
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
    type_byte, type_float, type_string, type_text, type_handler;

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
/* Tells whether arithmetic treats a number type as unsigned. */
static inline bool type_is_wide_unsigned(const struct type *t)
{
    return t->kind == TYPE_NUMBER && t->is_unsigned && t->bits == 32;
}
/* Tells whether two types are the same except for const. */
bool type_same(const struct type *a, const struct type *b);
/* Returns the number of words of an object; 0 for void, functions and incomplete types. The
 * result is at most UINT32_MAX. */
uint32_t type_words(const struct type *t);
uint32_t type_bytes(const struct type *t); /* returns the size in bytes, as sizeof gives it */
uint32_t type_align(const struct type *t);
/* Returns the value that a number type has after `value` was stored in it. */
uint32_t type_bounded(const struct type *t, uint32_t value);
/* Tells whether every value of one number type is a value of another. */
bool type_within(const struct type *from, const struct type *to);
/* Writes the name of a type for messages, cut to the size of the buffer. */
const char *type_text_of(const struct type *t, char *buffer, size_t size);
