/* Fixed records, written once in a format's layout.def:
 *
 *     RECORD(header)
 *     FIELD(header, 32, magic, WORD, "0xB105B105")
 *     BYTES(header, 8, salt, "random")
 *     END(header)
 *
 * The file ends with the #undef of all four.
 * Including this file with LAYOUT(x) defined to prefix a name and LAYOUT_FILE to the .def gives,
 * for each record: struct, size in bytes, reader, writer, and the table that describes it. */
#pragma once
#include "base/reader.h"
#include "base/writer.h"

struct layout_field {
    const char *name; /* NULL ends the table */
    uint32_t size;    /* bytes */
    penta_kind kind;
    const char *meaning;
};

/* What a value means ("ed25519"), or NULL. */
typedef const char *layout_note(const char *field, uint64_t value);

/* A node for the record at `bytes`, which is at file offset `offset`, with one leaf per field. */
void layout_describe(const penta_visitor *visitor, const char *name,
                     const struct layout_field *fields, const uint8_t *bytes, uint64_t offset,
                     bool big_endian, layout_note *note);
/* Only the leaves. */
void layout_leaves(const penta_visitor *visitor, const struct layout_field *fields,
                   const uint8_t *bytes, uint64_t offset, bool big_endian, layout_note *note);
