/* Describes a record by the table that the format's layout.def gave. */
#include "core/layout/layout.h"
#include "core/describe.h"

void layout_leaves(const penta_visitor *visitor, const struct layout_field *fields,
                   const uint8_t *bytes, uint64_t offset, bool big_endian, layout_note *note)
{
    for (; fields->name; fields++) {
        penta_field leaf = {
            .name = fields->name, .offset = offset, .size = fields->size, .kind = fields->kind};
        if (fields->kind == PENTA_RAW) {
            leaf.as.bytes = (penta_bytes){bytes, fields->size};
            leaf.encoding = PENTA_ARRAY;
        } else {
            leaf.encoding = big_endian ? PENTA_BIG : PENTA_LITTLE;
            leaf.meaning = note;
            leaf.as.u = bytes_uint(bytes, fields->size, big_endian);
            if (note) leaf.note = note(fields->name, leaf.as.u);
        }
        describe_field(visitor, leaf);
        bytes += fields->size;
        offset += fields->size;
    }
}

void layout_describe(const penta_visitor *visitor, const char *name,
                     const struct layout_field *fields, const uint8_t *bytes, uint64_t offset,
                     bool big_endian, layout_note *note)
{
    uint64_t size = 0;
    for (const struct layout_field *f = fields; f->name; f++) size += f->size;
    penta_node node = {.name = name, .offset = offset, .size = size};
    if (!describe_enter(visitor, node)) return;
    layout_leaves(visitor, fields, bytes, offset, big_endian, note);
    describe_leave(visitor, node);
}
