/* Declares fixed records, which are written once in a format's layout.def:
 *
 *     RECORD(header)
 *     FIELD(header, 32, magic, WORD, "0xB105B105")
 *     BYTES(header, 8, salt, "random")
 *     END(header)
 *
 * The file ends with the #undef of all four macros. A format defines LAYOUT(x), which puts a prefix before a name, and
 * LAYOUT_FILE, the name of the .def, and includes this file. For each record that gives a struct, its size in bytes, a
 * reader, a writer, and the table that describes the record. parts.h says how they make up a file. */
#pragma once
#include "base/reader.h"
#include "base/writer.h"

struct layout_field {
    const char *name; /* NULL at the end of the table */
    uint32_t size;    /* size in bytes */
    penta_kind kind;
    const char *meaning;
};

struct layout_record {
    const char *name; /* NULL ends the table, LAYOUT(records) */
    const struct layout_field *fields;
};

/* Returns what a value means such as "ed25519", or NULL. */
typedef const char *layout_note(const char *field, uint64_t value);

/* Reports a node for the record at `bytes`, which starts at `offset` in the file, with a leaf for each field. */
void layout_describe(const penta_visitor *visitor, const char *name,
                     const struct layout_field *fields, const uint8_t *bytes, uint64_t offset,
                     bool big_endian, layout_note *note);
/* Reports only the leaves of a record. */
void layout_leaves(const penta_visitor *visitor, const struct layout_field *fields,
                   const uint8_t *bytes, uint64_t offset, bool big_endian, layout_note *note);
