/* Walks the members of an archive (ar format): names, also long ones and those of BSD, sizes and
 * bytes. Every length is checked against the bytes that are left. */
#include "base/archive.h"
#include "base/bytes.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 8, HEADER = 60 };

bool archive_probe(penta_bytes bytes)
{
    return bytes.size >= MAGIC &&
           (!memcmp(bytes.data, "!<arch>\n", MAGIC) || !memcmp(bytes.data, "!<thin>\n", MAGIC));
}

static size_t archive_decimal(const uint8_t *p, size_t size)
{
    size_t value = 0;
    for (size_t i = 0; i < size && p[i] >= '0' && p[i] <= '9' && value < SIZE_MAX / 16; i++)
        value = value * 10 + (size_t)(p[i] - '0');
    return value;
}

/* Returns the name of a member: up to 16 bytes in the header, or "/N", where N is an offset in
 * the table of long names. */
static penta_bytes member_name(const uint8_t *head, penta_bytes names)
{
    bool is_long = head[0] == '/';
    penta_bytes name = {head, 16};
    if (is_long) name = bytes_slice(names, archive_decimal(head + 1, 15), names.size);
    size_t n = 0;
    while (n < name.size && name.data[n] != '/' && name.data[n] != '\n' &&
           (is_long || name.data[n] != ' '))
        n++;
    return bytes_slice(name, 0, n);
}

bool archive_each(penta_bytes bytes, const char *archive,
                  bool (*visit)(void *user, const char *archive, penta_bytes name,
                                penta_bytes object),
                  void *user, penta_error *err)
{
    penta_bytes names = {0};
    if (bytes.data[2] == 't')
        return error_at(err, BASE_DAMAGED, 0, "a thin archive holds no objects, only their names");
    for (size_t at = MAGIC; at < bytes.size;) {
        if (bytes.size - at < HEADER || memcmp(bytes.data + at + 58, "`\n", 2))
            return error_at(err, BASE_DAMAGED, at, "the archive is damaged");
        const uint8_t *head = bytes.data + at;
        size_t size = archive_decimal(head + 48, 10);
        at += HEADER;
        if (size > bytes.size - at)
            return error_at(err, BASE_DAMAGED, at, "a member of the archive is cut short");
        penta_bytes member = bytes_slice(bytes, at, size);
        at += size + size % 2;
        if (head[0] == '/' && head[1] == '/') {
            names = member;
            continue;
        }
        /* This member is an index of symbols. */
        if (head[0] == '/' && (head[1] < '0' || head[1] > '9')) continue;
        if (!visit(user, archive, member_name(head, names), member)) return false;
    }
    return true;
}

static bool archive_keep_first(void *user, const char *archive, penta_bytes name,
                               penta_bytes object)
{
    (void)archive, (void)name;
    *(penta_bytes *)user = object;
    return false;
}

penta_bytes archive_first(penta_bytes bytes)
{
    penta_bytes first = {0};
    penta_error err = {0};
    if (!archive_probe(bytes)) return bytes;
    archive_each(bytes, "", archive_keep_first, &first, &err);
    return first;
}

void archive_member_name(char *text, const char *archive, penta_bytes name)
{
    sprintf(text, "%s(%.*s)", archive, BYTES_ARG(name, INT_MAX));
}
