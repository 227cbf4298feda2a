/* Keeps the results of files. A result can also serve for a file with another name, if the name
 * occurs only in members "file", where it can be replaced. Where a part of the name occurs
 * elsewhere, the entry is for this name alone. */
#include "batch/lines/cache.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "batch/lines/record.h"
#include "crypto/hash.h"

enum { CACHE_PATH = 4096, CACHE_NEAR = 12 };
static const char cache_magic[] = "penta.batch-cache/1 ";

static bool cache_path(const struct cache_key *key, bool make, char path[CACHE_PATH])
{
    uint8_t hash[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1];
    const char *suffix = strrchr(key->name, '.'); /* The ending of the name may decide how a
                                                   * source text is read. */
    penta_bytes parts[] = {{key->job, BATCH_DIGEST},
                           {key->digest, BATCH_DIGEST},
                           bytes_of(suffix && !strchr(suffix, '/') ? suffix : ""),
                           bytes_of(key->grid ? key->grid : "")};
    hash_sha256_pieces(parts, sizeof parts / sizeof *parts, hash);
    for (size_t i = 0; i < HASH_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    int n = snprintf(path, CACHE_PATH, "%s/%.2s", key->folder, hex);
    if (n < 0 || n > CACHE_PATH - 100) return false;
    if (make && mkdir(path, 0777) && errno != EEXIST) return false;
    snprintf(path + n, CACHE_PATH - (size_t)n, "/%s", hex + 2);
    return true;
}

/* Writes the member as documents have it: "file":"NAME". */
static void cache_member(struct writer *out, const char *name)
{
    writer_text(out, "\"file\":");
    json_quote(out, name);
}

/* Copies the text and replaces one member by the other. The text between the members is also
 * appended to `others`, unless it is NULL. */
static void cache_rename(struct writer *out, struct writer *others, penta_bytes text,
                         penta_bytes from, penta_bytes to)
{
    const uint8_t *p = text.data, *end = text.data + text.size, *found;
    while (p < end && (found = memmem(p, (size_t)(end - p), from.data, from.size))) {
        if (out) writer_bytes(out, p, (size_t)(found - p));
        if (others) writer_bytes(others, p, (size_t)(found - p));
        if (out) writer_bytes(out, to.data, to.size);
        p = found + from.size;
    }
    if (out) writer_bytes(out, p, (size_t)(end - p));
    if (others) writer_bytes(others, p, (size_t)(end - p));
}

static bool cache_holds(const struct writer *text, const char *word, size_t size)
{
    return !size || memmem(text->out.data, text->out.size, word, size);
}

/* Tells whether the name, or the beginning of it, occurs anywhere but in members "file". */
static bool cache_named(penta_bytes object, const char *name)
{
    struct writer member = {0}, others = {0};
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    size_t near = strlen(name) < CACHE_NEAR ? strlen(name) : CACHE_NEAR;
    cache_member(&member, name);
    cache_rename(NULL, &others, object, writer_view(&member), (penta_bytes){0});
    bool named = member.failed || others.failed || cache_holds(&others, base, strlen(base)) ||
                 cache_holds(&others, name, near);
    writer_free(&member);
    writer_free(&others);
    return named;
}

/* Splits an entry. It consists of the line "penta.batch-cache/1 CHECKSUM", a line with 0 or 1
 * (1: for this name alone), a line with the name as JSON, and the object. Returns false when the
 * checksum is wrong. */
static bool cache_open(penta_bytes file, bool *alone, penta_bytes *name, penta_bytes *object)
{
    size_t magic = sizeof cache_magic - 1, start = magic + 2 * HASH_BYTES + 1;
    if (file.size < start + 2 || memcmp(file.data, cache_magic, magic)) return false;
    uint8_t hash[HASH_BYTES];
    penta_bytes body = bytes_slice(file, start, file.size - start);
    hash_sha256(body, hash);
    for (size_t i = 0; i < HASH_BYTES; i++)
        if (hex_digit(file.data[magic + 2 * i]) != hash[i] >> 4 ||
            hex_digit(file.data[magic + 2 * i + 1]) != (hash[i] & 15))
            return false;
    *alone = body.data[0] == '1';
    body = bytes_slice(body, 2, body.size - 2);
    const uint8_t *end = body.size ? memchr(body.data, '\n', body.size) : NULL;
    if (!end) return false;
    *name = (penta_bytes){body.data, (size_t)(end - body.data)};
    *object = bytes_slice(body, name->size + 1, body.size - name->size - 1);
    return true;
}

bool cache_find(const struct cache_key *key, struct writer *out)
{
    char path[CACHE_PATH];
    penta_buffer file = {0};
    penta_error err = {0};
    penta_bytes name, object;
    struct writer member = {0};
    bool alone, found = false;
    out->out.size = 0;
    if (!cache_path(key, false, path) || access(path, R_OK) ||
        !file_read(path, UINT32_MAX, &file, &err))
        return false;
    cache_member(&member, key->name);
    if (cache_open((penta_bytes){file.data, file.size}, &alone, &name, &object)) {
        bool same = bytes_equal(name, writer_view(&member));
        found = same || !alone;
        if (found) cache_rename(out, NULL, object, name, writer_view(&member));
    }
    found = found && !out->failed && !member.failed;
    writer_free(&member);
    penta_buffer_free(&file);
    return found;
}

void cache_keep(const struct cache_key *key, penta_bytes object)
{
    static unsigned serial;
    char path[CACHE_PATH], own[CACHE_PATH + 100], host[65] = "";
    struct writer body = {0};
    uint8_t hash[HASH_BYTES];
    if (!cache_path(key, true, path)) return;
    writer_text(&body, cache_named(object, key->name) ? "1\n" : "0\n");
    cache_member(&body, key->name);
    writer_char(&body, '\n');
    writer_bytes(&body, object.data, object.size);
    if (gethostname(host, sizeof host - 1)) strcpy(host, "host");
    snprintf(own, sizeof own, "%s.%s-%d-%u", path, host, (int)getpid(), serial++);
    int fd = body.failed ? -1 : open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        struct writer head = {0};
        hash_sha256(writer_view(&body), hash);
        writer_text(&head, cache_magic);
        writer_hex(&head, (penta_bytes){hash, sizeof hash});
        writer_char(&head, '\n');
        writer_append(&head, &body);
        bool ok = !head.failed && write(fd, head.out.data, head.out.size) == (ssize_t)head.out.size;
        ok = !close(fd) && ok;
        if (!ok || rename(own, path)) unlink(own);
        writer_free(&head);
    }
    writer_free(&body);
}
