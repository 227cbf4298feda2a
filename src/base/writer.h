/* Writes bytes or text into a growing buffer, or in pieces into a sink. A failed allocation is remembered and not
 * reported by each call: the caller asks writer_ok once, at the end. */
#pragma once
#include "base/error.h"

struct writer {
    penta_buffer out;
    void (*sink)(void *user, penta_bytes piece); /* NULL when everything stays in `out` */
    void *user;
    size_t given; /* how many bytes went to the sink */
    bool big_endian, failed;
};

void writer_free(struct writer *w);
void writer_flush(struct writer *w); /* passes the buffered bytes to the sink */
bool writer_ok(const struct writer *w,
               penta_error *err); /* false, with BASE_MEMORY, when memory ran out */
/* Ends a public call that fills a caller's buffer: appends what was written to `out` and frees w. When `ok` is false,
 * or memory ran out, `out` stays as it was. */
bool writer_give(struct writer *w, bool ok, penta_buffer *out, penta_error *err);

void writer_bytes(struct writer *w, const void *data, size_t size);
void writer_append(struct writer *w,
                   const struct writer *from); /* appends the bytes of `from`, and its failure */
void writer_fill(struct writer *w, uint8_t byte, size_t count);
void writer_uint(struct writer *w, uint64_t value,
                 size_t n); /* n bytes in the byte order of the writer */
void writer_patch(struct writer *w, size_t at, uint64_t value, size_t n); /* only without a sink */

void writer_text(struct writer *w, const char *text);
void writer_print(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void writer_hex(struct writer *w, penta_bytes bytes); /* lower-case, no spaces */
void writer_dec(struct writer *w, uint64_t value);
void writer_0x(struct writer *w, uint64_t value); /* 0x2a: the hot path of listings */

static inline void writer_char(struct writer *w, char c)
{
    if (w->out.size < w->out.capacity)
        w->out.data[w->out.size++] = (uint8_t)c;
    else
        writer_bytes(w, &c, 1);
}

/* How many bytes were written, those that went to the sink included. */
static inline size_t writer_total(const struct writer *w) { return w->given + w->out.size; }

/* A writer into memory of the caller, for records whose size is known. It must not be freed. */
static inline struct writer writer_into(void *bytes, size_t size)
{
    return (struct writer){.out = {.data = bytes, .capacity = size}};
}

static inline penta_bytes writer_view(const struct writer *w)
{
    return (penta_bytes){w->out.data, w->out.size};
}
