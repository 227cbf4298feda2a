/* Appends bytes, numbers and text to a buffer that grows, or passes them to a sink in pieces.
 * After a failed allocation every call does nothing. */
#include "base/writer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

enum { SINK_BYTES = 1 << 16, FIRST = 256 };

void penta_buffer_free(penta_buffer *buffer)
{
    free(buffer->data);
    *buffer = (penta_buffer){0};
}

void writer_free(struct writer *w)
{
    free(w->out.data);
    w->out = (penta_buffer){0};
}

void writer_flush(struct writer *w)
{
    if (!w->sink || !w->out.size) return;
    w->sink(w->user, writer_view(w));
    w->given += w->out.size;
    w->out.size = 0;
}

bool writer_ok(const struct writer *w, penta_error *err)
{
    if (w->failed) return error_at(err, BASE_MEMORY, 0, "no memory for the output");
    return true;
}

bool writer_give(struct writer *w, bool ok, penta_buffer *out, penta_error *err)
{
    ok = ok && writer_ok(w, err);
    if (ok && !out->size) {
        free(out->data);
        *out = w->out;
        w->out = (penta_buffer){0};
    } else if (ok) {
        struct writer all = {.out = *out};
        writer_bytes(&all, w->out.data, w->out.size);
        *out = all.out;
        ok = writer_ok(&all, err);
    }
    writer_free(w);
    return ok;
}

/* Makes room for n more bytes and returns the place, or NULL when memory ran out. */
static uint8_t *writer_reserve(struct writer *w, size_t n)
{
    if (w->failed) return NULL;
    if (w->sink && w->out.size + n > SINK_BYTES) writer_flush(w);
    if (n > w->out.capacity - w->out.size) {
        size_t need = n > SIZE_MAX - w->out.size ? SIZE_MAX : w->out.size + n;
        w->failed = !ARRAY_RESERVE(w->out.data, w->out.capacity, need < FIRST ? FIRST : need);
        if (w->failed) return NULL;
    }
    uint8_t *at = w->out.data + w->out.size;
    w->out.size += n;
    return at;
}

void writer_bytes(struct writer *w, const void *data, size_t size)
{
    uint8_t *at = size ? writer_reserve(w, size) : NULL;
    if (at) memcpy(at, data, size);
}

void writer_append(struct writer *w, const struct writer *from)
{
    writer_bytes(w, from->out.data, from->out.size);
    w->failed |= from->failed;
}

void writer_fill(struct writer *w, uint8_t byte, size_t count)
{
    uint8_t *at = count ? writer_reserve(w, count) : NULL;
    if (at) memset(at, byte, count);
}

static void writer_store(uint8_t *at, uint64_t value, size_t n, bool big_endian)
{
    for (size_t i = 0; i < n; i++) at[big_endian ? n - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void writer_uint(struct writer *w, uint64_t value, size_t n)
{
    uint8_t *at = writer_reserve(w, n);
    if (at) writer_store(at, value, n, w->big_endian);
}

void writer_patch(struct writer *w, size_t at, uint64_t value, size_t n)
{
    if (!w->failed) writer_store(w->out.data + at, value, n, w->big_endian);
}

void writer_text(struct writer *w, const char *text) { writer_bytes(w, text, strlen(text)); }

void writer_print(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    uint8_t *at = n >= 0 ? writer_reserve(w, (size_t)n + 1) : NULL;
    if (!at) return;
    va_start(args, format);
    vsnprintf((char *)at, (size_t)n + 1, format, args);
    va_end(args);
    w->out.size--; /* The terminating zero is not part of the output. */
}

void writer_hex(struct writer *w, penta_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        char two[2] = {"0123456789abcdef"[bytes.data[i] >> 4],
                       "0123456789abcdef"[bytes.data[i] & 15]};
        writer_bytes(w, two, 2);
    }
}

static void writer_digits(struct writer *w, uint64_t value, unsigned base)
{
    char text[20];
    size_t n = sizeof text;
    do text[--n] = "0123456789abcdef"[value % base];
    while (value /= base);
    writer_bytes(w, text + n, sizeof text - n);
}

void writer_dec(struct writer *w, uint64_t value) { writer_digits(w, value, 10); }

void writer_0x(struct writer *w, uint64_t value)
{
    writer_bytes(w, "0x", 2);
    writer_digits(w, value, 16);
}
