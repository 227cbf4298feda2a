/* Declares helpers for formats that describe a module or a machine to a penta_visitor. Leaves
 * come in file order and tile the file. Computed values have size 0. A visitor may lack any of
 * its functions. */
#pragma once
#include "base/bytes.h"
#include "base/writer.h"

static inline bool describe_enter(const penta_visitor *v, penta_node node)
{
    return !v->enter || v->enter(v->user, &node);
}
static inline void describe_leave(const penta_visitor *v, penta_node node)
{
    if (v->leave) v->leave(v->user, &node);
}
static inline void describe_field(const penta_visitor *v, penta_field field)
{
    if (v->field) v->field(v->user, &field);
}

/* Reports a field named field_incomplete, because memory ran out and something is missing. Every
 * view fails when it sees this field. */
void describe_incomplete(const penta_visitor *v);
/* Reports a field whose value is the written text, and frees the text. */
void describe_written(const penta_visitor *v, penta_field field, struct writer *text);

/* These functions report computed values, which have no bytes of their own in the file. */
static inline void describe_uint(const penta_visitor *v, const char *name, uint64_t value)
{
    describe_field(v, (penta_field){.name = name, .kind = PENTA_UINT, .as.u = value});
}
static inline void describe_word(const penta_visitor *v, const char *name, uint64_t value)
{
    describe_field(v, (penta_field){.name = name, .kind = PENTA_WORD, .as.u = value});
}
static inline void describe_bool(const penta_visitor *v, const char *name, bool value)
{
    describe_field(v, (penta_field){.name = name, .kind = PENTA_BOOL, .as.u = value});
}
static inline void describe_text(const penta_visitor *v, const char *name, const char *text)
{
    describe_field(v, (penta_field){.name = name, .kind = PENTA_TEXT, .as.bytes = bytes_of(text)});
}
static inline void describe_computed_bytes(const penta_visitor *v, const char *name,
                                           penta_bytes bytes)
{
    describe_field(v, (penta_field){.name = name, .kind = PENTA_RAW, .as.bytes = bytes});
}
/* Reports an item of the list `memory` of a machine. */
static inline void describe_run(const penta_visitor *v, uint64_t address, penta_bytes bytes)
{
    penta_node run = {.name = "run"};
    if (!describe_enter(v, run)) return;
    describe_word(v, "address", address);
    describe_computed_bytes(v, "bytes", bytes);
    describe_leave(v, run);
}
/* Reports stored bytes as they are. */
static inline void describe_raw(const penta_visitor *v, const char *name, penta_bytes bytes,
                                uint64_t offset, const char *note)
{
    describe_field(v, (penta_field){.name = name,
                                    .offset = offset,
                                    .size = bytes.size,
                                    .kind = PENTA_RAW,
                                    .as.bytes = bytes,
                                    .note = note});
}

/* Runs of changed memory that are closer to each other than this count as one run. */
enum { DESCRIBE_JOIN = 8 };
/* Reports every run of bytes that differ. When `before` is NULL, the bytes were zeros. */
void describe_changed_bytes(const penta_visitor *v, uint64_t address, penta_bytes now,
                            const uint8_t *before);
