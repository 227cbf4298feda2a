/* Writes bytes or text into a growing buffer, or in pieces into a sink. A failed allocation is
 * remembered and not reported by each call: the caller asks writer_ok once, at the end. */
#pragma once
#include "base/error.h"

struct writer {
    penta_buffer out;
    /* `sink` receives the output in pieces. It is NULL when all output stays in `out`. */
    void (*sink)(void *user, penta_bytes piece);
    void *user;
    size_t given; /* how many bytes went to the sink so far */
    bool big_endian, failed;
};

void writer_free(struct writer *w);
void writer_flush(struct writer *w); /* Passes the buffered bytes to the sink. */
/* Returns false, with BASE_MEMORY, when memory ran out. */
bool writer_ok(const struct writer *w, penta_error *err);
/* Ends a public call that fills a caller's buffer: appends what was written to `out` and frees
 * w. When `ok` is false, or memory ran out, `out` stays as it was. */
bool writer_give(struct writer *w, bool ok, penta_buffer *out, penta_error *err);

void writer_bytes(struct writer *w, const void *data, size_t size);
/* Appends the bytes of `from`, and its failure. */
void writer_append(struct writer *w, const struct writer *from);
void writer_fill(struct writer *w, uint8_t byte, size_t count);
/* Appends n bytes in the byte order of the writer. */
void writer_uint(struct writer *w, uint64_t value, size_t n);
/* Overwrites n bytes at `at`. The writer must have no sink. */
void writer_patch(struct writer *w, size_t at, uint64_t value, size_t n);

void writer_text(struct writer *w, const char *text);
void writer_print(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes hex digits in lower case without spaces. */
void writer_hex(struct writer *w, penta_bytes bytes);
void writer_dec(struct writer *w, uint64_t value);
/* Writes a number such as 0x2a. Listings spend much of their time here. */
void writer_0x(struct writer *w, uint64_t value);

static inline void writer_char(struct writer *w, char c)
{
    if (w->out.size < w->out.capacity)
        w->out.data[w->out.size++] = (uint8_t)c;
    else
        writer_bytes(w, &c, 1);
}

/* Returns how many bytes were written, including those that went to the sink. */
static inline size_t writer_total(const struct writer *w) { return w->given + w->out.size; }

/* Returns a writer into memory of the caller, for records whose size is known. It must not be
 * freed. */
static inline struct writer writer_into(void *bytes, size_t size)
{
    return (struct writer){.out = {.data = bytes, .capacity = size}};
}

static inline penta_bytes writer_view(const struct writer *w)
{
    return (penta_bytes){w->out.data, w->out.size};
}
