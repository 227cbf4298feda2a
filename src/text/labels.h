/* The names of a source text. A name is defined once and may be used before or after its
 * definition. */
#pragma once
#include "text/lexer.h"

struct label {
    penta_bytes name;
    uint64_t value, size; /* size: the bytes that the name spans when a directive says so, else 0 */
    uint64_t offset;      /* where the source has the definition: bytes from its start */
    bool defined;
};

struct fixup {       /* a use of a name that is not defined so far */
    uint32_t label;  /* the index of the name in `labels` */
    uint64_t place;  /* where the value goes in the output */
    uint32_t width;  /* how many bytes the value takes in the output */
    uint64_t offset; /* where the source has the use: bytes from its start */
};

struct labels {
    struct arena arena;
    struct label *items;
    size_t count, capacity;
    uint32_t *buckets; /* A bucket has the index of a name + 1, or 0 when it is empty. */
    size_t bucket_count;
    struct fixup *fixups;
    size_t fixup_count, fixup_capacity;
};

void labels_free(struct labels *l);
/* Returns the index of the name, and adds the name without a definition when it is new. Returns
 * -1 when memory ran out. */
int64_t labels_intern(struct labels *l, penta_bytes name, penta_error *err);
/* Finds a name. Returns NULL when the name was never seen. */
struct label *labels_find(const struct labels *l, penta_bytes name);
/* Defines a name. The error is BASE_NAME_TWICE when the name has a value already. */
bool labels_define(struct labels *l, penta_bytes name, uint64_t value, uint64_t offset,
                   penta_error *err);
bool labels_use(struct labels *l, penta_bytes name, uint64_t place, uint32_t width, uint64_t offset,
                penta_error *err);
/* Is an expr_name function that knows the defined labels; `user` is the struct labels. */
bool labels_value(void *user, penta_bytes name, uint64_t *value);
