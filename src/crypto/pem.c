/* Writes and finds blocks of PEM (RFC 7468), in lines of 64 letters. */
#include "crypto/pem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/base64.h"
#include "crypto/hash.h"

void pem_write(struct writer *out, const char *name, penta_bytes bytes)
{
    enum { LINE_BYTES = 48 };
    writer_print(out, "-----BEGIN %s-----\n", name);
    for (size_t at = 0; at < bytes.size; at += LINE_BYTES) {
        base64_write(out, bytes_slice(bytes, at, LINE_BYTES));
        writer_char(out, '\n');
    }
    writer_print(out, "-----END %s-----\n", name);
}

/* Returns where a text is in the bytes, or NULL. */
static const uint8_t *pem_find(penta_bytes in, const char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; size <= in.size && i <= in.size - size; i++)
        if (!memcmp(in.data + i, text, size)) return in.data + i;
    return NULL;
}

/* Gives the letters of a block, with the ends of lines. */
static bool pem_block(penta_bytes text, const char *name, penta_bytes *before, penta_bytes *letters,
                      penta_bytes *after)
{
    char begin[80], end[80];
    snprintf(begin, sizeof begin, "-----BEGIN %s-----", name);
    snprintf(end, sizeof end, "-----END %s-----", name);
    const uint8_t *from = pem_find(text, begin);
    if (!from) return false;
    size_t at = (size_t)(from - text.data);
    *before = bytes_slice(text, 0, at);
    *letters = bytes_slice(text, at + strlen(begin), text.size);
    const uint8_t *to = pem_find(*letters, end);
    if (!to) return false;
    letters->size = (size_t)(to - letters->data);
    size_t past = (size_t)(to - text.data) + strlen(end);
    if (past < text.size && text.data[past] == '\r') past++;
    if (past < text.size && text.data[past] == '\n') past++;
    *after = bytes_slice(text, past, text.size);
    return true;
}

bool pem_around(penta_bytes text, const char *name, penta_bytes *before, penta_bytes *after)
{
    penta_bytes letters;
    return pem_block(text, name, before, &letters, after);
}

bool pem_read(penta_bytes text, const char *name, struct writer *out)
{
    penta_bytes before, block, after;
    if (!pem_block(text, name, &before, &block, &after)) return false;
    char *letters = malloc(block.size + 1);
    size_t count = 0;
    if (!letters) {
        out->failed = true;
        return false;
    }
    for (size_t i = 0; i < block.size; i++)
        if (block.data[i] != '\n' && block.data[i] != '\r') letters[count++] = (char)block.data[i];
    letters[count] = 0;
    bool ok = base64_read(letters, out);
    secret_wipe(letters, count);
    free(letters);
    return ok;
}
