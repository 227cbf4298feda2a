/* Names of a source text: defined once, used before or after that. */
#pragma once
#include "text/lexer.h"

struct label {
    penta_bytes name;
    uint64_t value, size; /* size: the bytes that the name spans, if a directive says so; else 0 */
    uint64_t offset;      /* of the definition in the source */
    bool defined;
};

struct fixup {       /* a use that waits for its name */
    uint32_t label;  /* index into labels */
    uint64_t place;  /* in the output */
    uint32_t width;  /* bytes */
    uint64_t offset; /* of the use in the source */
};

struct labels {
    struct arena arena;
    struct label *items;
    size_t count, capacity;
    uint32_t *buckets; /* index + 1; 0 is empty */
    size_t bucket_count;
    struct fixup *fixups;
    size_t fixup_count, fixup_capacity;
};

void labels_free(struct labels *l);
/* The index of the name, added undefined when new; -1 when memory ran out. */
int64_t labels_intern(struct labels *l, penta_bytes name, penta_error *err);
/* NULL when the name was never seen. */
struct label *labels_find(const struct labels *l, penta_bytes name);
/* BASE_NAME_TWICE when it has a value already. */
bool labels_define(struct labels *l, penta_bytes name, uint64_t value, uint64_t offset,
                   penta_error *err);
bool labels_use(struct labels *l, penta_bytes name, uint64_t place, uint32_t width, uint64_t offset,
                penta_error *err);
/* An expr_name over the defined labels; user is the struct labels. */
bool labels_value(void *user, penta_bytes name, uint64_t *value);
