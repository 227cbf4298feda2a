/* Reads and writes messages: a header with the length, then JSON. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/bytes.h"
#include "base/number.h"
#include "cli/dap/dap.h"

enum { HEADER_MAX = 4096, MESSAGE_MAX = 16 << 20, PIECE = 16384 };

static penta_bytes dap_message_rest(const struct dap *d)
{
    return bytes_slice((penta_bytes){d->in.data, d->in.size}, d->in_at, SIZE_MAX);
}

/* Reads more bytes and appends them. Returns false when the input has ended. */
static bool dap_message_more(struct dap *d)
{
    uint8_t piece[PIECE];
    size_t n = d->io->read(d->io->user, piece, sizeof piece);
    if (d->in_at) {
        memmove(d->in.data, d->in.data + d->in_at, d->in.size - d->in_at);
        d->in.size -= d->in_at;
        d->in_at = 0;
    }
    size_t before = d->in.size;
    penta_buffer_append(&d->in, (penta_bytes){piece, n});
    return n && d->in.size == before + n;
}

static const uint8_t *header_end(penta_bytes in)
{
    return in.size < 4 ? NULL : memmem(in.data, in.size, "\r\n\r\n", 4);
}

/* Reads the number after Content-Length, which may stand among other lines. */
static bool length_of(penta_bytes header, uint64_t *length)
{
    static const char name[] = "content-length:";
    for (size_t at = 0; at < header.size;) {
        const uint8_t *end = memchr(header.data + at, '\n', header.size - at);
        size_t size = end ? (size_t)(end - header.data) - at : header.size - at;
        penta_bytes line = bytes_slice(header, at, size);
        at += size + 1;
        if (line.size < sizeof name || strncasecmp((const char *)line.data, name, sizeof name - 1))
            continue;
        line = bytes_slice(line, sizeof name - 1, line.size);
        while (line.size && isspace(line.data[0])) line = bytes_slice(line, 1, line.size);
        while (line.size && isspace(line.data[line.size - 1])) line.size--;
        return number_parse_bytes(line, length) && *length <= MESSAGE_MAX;
    }
    return false;
}

struct json_doc *dap_receive(struct dap *d)
{
    const uint8_t *end;
    uint64_t length = 0;
    penta_error err = {0};
    while (!(end = header_end(dap_message_rest(d)))) {
        if (dap_message_rest(d).size > HEADER_MAX) d->failed = true;
        if (d->failed || !dap_message_more(d)) return NULL;
    }
    size_t header = (size_t)(end - dap_message_rest(d).data);
    d->failed = !length_of(bytes_slice(dap_message_rest(d), 0, header), &length);
    if (d->failed) return NULL;
    while (dap_message_rest(d).size - header - 4 < length)
        if (!dap_message_more(d)) return NULL;
    struct json_doc *doc =
        json_parse(bytes_slice(dap_message_rest(d), header + 4, (size_t)length), &err);
    d->in_at += header + 4 + (size_t)length;
    d->failed = !doc;
    return doc;
}

bool dap_received(const struct dap *d)
{
    uint64_t length;
    const uint8_t *end = header_end(dap_message_rest(d));
    if (!end) return dap_message_rest(d).size > HEADER_MAX;
    size_t header = (size_t)(end - dap_message_rest(d).data);
    return !length_of(bytes_slice(dap_message_rest(d), 0, header), &length) ||
           dap_message_rest(d).size - header - 4 >= length;
}

bool dap_has_message(struct dap *d) { return d->in.size > d->in_at || d->io->pending(d->io->user); }

void dap_send(struct dap *d, const struct writer *message)
{
    struct writer out = {0};
    penta_bytes body = writer_view(message);
    while (body.size && body.data[body.size - 1] == '\n') body.size--;
    writer_print(&out, "Content-Length: %zu\r\n\r\n", body.size);
    writer_bytes(&out, body.data, body.size);
    if (out.failed || message->failed || !d->io->write(d->io->user, writer_view(&out)))
        d->ended = true;
    writer_free(&out);
}
