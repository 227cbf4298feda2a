/* Descriptions of a format that other tools read, made of its tables: a form is a function that writes one. */
#pragma once
#include "core/driver.h"
#include "core/layout/parts.h"

struct spec {
    const struct driver *driver;
    struct writer *out;
    penta_error *err;
};
typedef void spec_form(struct spec *s);
spec_form spec_json, spec_ksy, spec_hexpat, spec_markdown;

/* What the type of a part is. */
enum spec_type {
    SPEC_RECORD,    /* of layout.def */
    SPEC_STRUCTURE, /* of parts.def */
    SPEC_NUMBER,    /* u8 to u64 */
    SPEC_COMPUTED,  /* u24, prefix, leb: its value is made of its bytes */
    SPEC_BYTES,
    SPEC_TEXT,
    SPEC_UNKNOWN,
};
/* The type without "be ", and which kind of type it is. */
const char *spec_type_name(const struct layout_part *part, bool *big_endian);
enum spec_type spec_type_of(const struct spec *s, const struct layout_part *part);
const struct layout_record *spec_record(const struct spec *s, const char *name);
/* The structures, one after the other; NULL beyond the last. */
const struct layout_part *spec_structure_at(const struct spec *s, size_t i);
/* The parts of a structure. */
const struct layout_part *spec_part_at(const struct spec *s, const char *owner, size_t i);
const char *spec_parent(const struct spec *s,
                        const char *structure); /* that has it as a part, or NULL */
bool spec_record_is_big(const struct spec *s, const char *record); /* in every file */
bool spec_is_ahead(const struct layout_part *part);
/* The condition after "while ", or NULL when the count is a number. */
const char *spec_while(const struct layout_part *part);
uint64_t spec_record_size(const struct layout_record *record);

void spec_snake(struct writer *out, const char *name); /* entryOffset as entry_offset */
/* The words of another language for what expressions of parts.def have. */
struct spec_words {
    const char *and, * or, *parent, *here, *end;
    bool snake; /* names are written in lower case */
};
/* Writes an expression of a part of `owner` in another language. What names no part is an error. */
void spec_expression(struct spec *s, const char *owner, const char *text,
                     const struct spec_words *words);
