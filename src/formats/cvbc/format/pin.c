/* Pins as text states them: the place of a pin (C13), and fields of its record by name. Options, the assembler and the
 * compiler read pins with these functions, over the rows of layout.def. */
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "cvbc/format/build.h"

bool cvbc_pin_place(penta_bytes text, uint8_t *record)
{
    uint64_t number = 0;
    uint8_t port = text.size > 1 ? (uint8_t)(text.data[0] & ~32) : 0;
    if (port < 'A' || port > 'Z' || !number_parse_bytes(bytes_slice(text, 1, text.size), &number) ||
        number > UINT8_MAX)
        return false;
    record[0] = (uint8_t)number;
    record[1] = (uint8_t)(port - 'A');
    return true;
}

const struct layout_field *cvbc_field_find(const struct layout_field *fields, const char *prefix,
                                           penta_bytes name, size_t *offset)
{
    size_t skip = strlen(prefix);
    for (*offset = 0; fields->name; *offset += fields->size, fields++) {
        if (strncmp(fields->name, prefix, skip)) continue;
        penta_bytes rest = bytes_of(fields->name + skip);
        bool starts = name.size && bytes_equal(bytes_slice(rest, 0, name.size), name);
        if (starts && (rest.size == name.size || (skip && rest.data[name.size] == '_')))
            return fields;
    }
    return NULL;
}

bool cvbc_field_put(const struct layout_field *field, uint64_t value, uint8_t *out)
{
    if (field->size < 8 && value >> 8 * field->size) return false;
    for (uint32_t i = 0; i < field->size; i++) out[i] = (uint8_t)(value >> 8 * i);
    return true;
}

void cvbc_build_pin_record(struct cvbc_build *b, const uint8_t *record)
{
    writer_bytes(&b->pins, record, cvbc_pin_bytes);
    b->pin_count++;
}
