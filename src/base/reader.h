/* Reads a byte range with one bounds check and a sticky error. A decoder then reads like the
 * table in the specification and asks once per record whether all of the record was there. */
#pragma once
#include "base/bytes.h"
#include "base/error.h"

struct reader {
    penta_bytes in;
    size_t pos;
    uint64_t origin; /* the offset of in.data[0] in the whole file */
    bool big_endian;
    penta_error *err; /* The error is sticky: after a failure every read yields zero. */
};

static inline size_t reader_left(const struct reader *r) { return r->in.size - r->pos; }
static inline uint64_t reader_at(const struct reader *r) { return r->origin + r->pos; }

/* This is the only function that moves pos, so it has the only bounds check to review. */
static inline const uint8_t *reader_take(struct reader *r, size_t n)
{
    size_t left = r->in.size - r->pos;
    if (n > left)
        error_at(r->err, BASE_TRUNCATED, reader_at(r), "need %zu bytes, have %zu", n, left);
    if (r->err->code) return NULL;
    r->pos += n;
    return r->in.data + (r->pos - n);
}

static inline uint64_t reader_uint(struct reader *r, size_t n)
{
    const uint8_t *p = reader_take(r, n);
    return p ? bytes_uint(p, n, r->big_endian) : 0;
}

static inline penta_bytes reader_bytes(struct reader *r, size_t n)
{
    const uint8_t *p = reader_take(r, n);
    return p ? (penta_bytes){p, n} : (penta_bytes){NULL, 0};
}

/* A count in a file is a claim. This function believes it only when that many items could still
 * fit. */
static inline size_t reader_count(struct reader *r, uint64_t claimed, size_t item_bytes)
{
    if (claimed > (r->in.size - r->pos) / item_bytes)
        error_at(r->err, BASE_RANGE, reader_at(r), "%llu items of %zu bytes in %zu bytes",
                 (unsigned long long)claimed, item_bytes, reader_left(r));
    return r->err->code ? 0 : (size_t)claimed;
}
