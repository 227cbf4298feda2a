/* Bytes or text into a growing buffer, or in pieces into a sink. A failed allocation is
 * remembered, not reported at each call: ask writer_ok once, at the end. */
#pragma once
#include "base/error.h"

struct writer {
    penta_buffer out;
    void (*sink)(void *user, penta_bytes piece); /* NULL: everything stays in out */
    void *user;
    size_t given; /* bytes that went to the sink */
    bool big_endian, failed;
};

void writer_free(struct writer *w);
void writer_flush(struct writer *w);                      /* what is buffered goes to the sink */
bool writer_ok(const struct writer *w, penta_error *err); /* false: BASE_MEMORY */
/* For public calls that fill a caller's buffer: appends what was written to out, and frees w. Where
 * `ok` is false, or memory ran out, out stays as it was. */
bool writer_give(struct writer *w, bool ok, penta_buffer *out, penta_error *err);

void writer_bytes(struct writer *w, const void *data, size_t size);
void writer_append(struct writer *w, const struct writer *from); /* its bytes, and its failure */
void writer_fill(struct writer *w, uint8_t byte, size_t count);
void writer_uint(struct writer *w, uint64_t value, size_t n); /* n bytes in the writer's order */
void writer_patch(struct writer *w, size_t at, uint64_t value, size_t n); /* not with a sink */

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

/* All that was written, wherever it is now. */
static inline size_t writer_total(const struct writer *w) { return w->given + w->out.size; }

/* A writer of records whose size is known, into memory of the caller: not to be freed. */
static inline struct writer writer_into(void *bytes, size_t size)
{
    return (struct writer){.out = {.data = bytes, .capacity = size}};
}

static inline penta_bytes writer_view(const struct writer *w)
{
    return (penta_bytes){w->out.data, w->out.size};
}
