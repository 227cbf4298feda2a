/* Reads members of JSON documents and remembers the path to them for messages (json.h). Byte
 * strings are hex digits or names of files. */
#include "pvm/host/jam_json/json.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_bad(struct jam_json *j, const char *what, const char *wanted)
{
    error_at(j->err, BASE_JSON, 0, "%.40s is not %s", what, wanted);
}

size_t jam_json_enter(struct jam_json *j, const char *key, size_t index)
{
    size_t mark = strlen(j->path), left = sizeof j->path - mark;
    if (j->err->code) return mark;
    int size = snprintf(j->path + mark, left, "%s%.60s", mark && *key ? "." : "", key);
    if (index != JAM_NO_INDEX && size >= 0 && (size_t)size < left)
        snprintf(j->path + mark + size, left - (size_t)size, "[%zu]", index);
    return mark;
}

void jam_json_leave(struct jam_json *j, size_t mark)
{
    if (!j->err->code) j->path[mark] = 0;
}

bool jam_json_done(struct jam_json *j)
{
    if (j->err->code && *j->path && !*j->err->note)
        snprintf(j->err->note, sizeof j->err->note, "at %s", j->path);
    return !j->err->code;
}

static const struct json_object *json_member(struct jam_json *j, const struct json_object *v,
                                             const char *key, bool list)
{
    const struct json_object *found = json_get(v, key);
    if (!found || (list ? json_is_list(found) : json_is_object(found))) return found;
    json_bad(j, key, list ? "a list" : "an object");
    return NULL;
}

const struct json_object *jam_json_list(struct jam_json *j, const struct json_object *v,
                                        const char *key)
{
    return json_member(j, v, key, true);
}

const struct json_object *jam_json_object(struct jam_json *j, const struct json_object *v,
                                          const char *key)
{
    return json_member(j, v, key, false);
}

static void file_bytes(struct jam_json *j, const char *name, penta_buffer *out)
{
    enum { LIMIT = 1 << 28 };
    char path[4096];
    if (!j->folder || strstr(name, "..") || *name == '/') {
        error_at(j->err, BASE_JSON, 0, "file '%.60s' is not beside the document", name);
        return;
    }
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    file_read(path, LIMIT, out, j->err);
}

void jam_json_bytes(struct jam_json *j, const struct json_object *v, const char *what, int64_t size,
                    struct writer *out)
{
    const char *text = json_as_text(v);
    penta_buffer bytes = {0};
    if (j->err->code) return;
    if (!text) {
        json_bad(j, what, "a hex string");
        return;
    }
    if (*text == '@') {
        file_bytes(j, text + 1, &bytes);
    } else {
        if (!strncmp(text, "0x", 2)) text += 2;
        bytes.data = hex_parse(bytes_of(text), &bytes.size, j->err);
        if (!bytes.data) json_bad(j, what, "a hex string");
    }
    if (!j->err->code && size >= 0 && bytes.size != (size_t)size)
        error_at(j->err, BASE_JSON, 0, "%.40s has %zu bytes instead of %lld", what, bytes.size,
                 (long long)size);
    if (!j->err->code) writer_bytes(out, bytes.data, bytes.size);
    writer_ok(out, j->err);
    penta_buffer_free(&bytes);
}

void jam_json_hash(struct jam_json *j, const struct json_object *v, const char *key,
                   struct writer *out)
{
    jam_json_bytes(j, json_get(v, key), key, JAM_HASH, out);
}

uint64_t jam_json_uint(struct jam_json *j, const struct json_object *v, const char *key,
                       unsigned bits)
{
    uint64_t number = 0;
    if (j->err->code) return 0;
    if (!json_as_uint(json_get(v, key), &number))
        json_bad(j, key, "a number");
    else if (bits < 64 && number >> bits)
        error_at(j->err, BASE_JSON, 0, "%.40s does not fit %u bits", key, bits);
    return j->err->code ? 0 : number;
}

uint64_t jam_json_uint_or(struct jam_json *j, const struct json_object *v, const char *key,
                          unsigned bits, uint64_t missing)
{
    return json_get(v, key) ? jam_json_uint(j, v, key, bits) : missing;
}

void jam_slices_end(struct jam_json *j, struct jam_slices *s)
{
    if (!ARRAY_RESERVE(s->ends, s->capacity, s->count + 1)) {
        error_at(j->err, BASE_MEMORY, 0, "no memory for a list");
        return;
    }
    s->ends[s->count++] = s->bytes.out.size;
}

bool jam_slices_done(struct jam_json *j, struct jam_slices *s)
{
    s->list = calloc(s->count + 1, sizeof *s->list);
    if (!s->list) error_at(j->err, BASE_MEMORY, 0, "no memory for a list");
    for (size_t i = 0, from = 0; s->list && i < s->count; from = s->ends[i++])
        s->list[i] = bytes_slice(writer_view(&s->bytes), from, s->ends[i] - from);
    writer_ok(&s->bytes, j->err);
    return !j->err->code;
}

void jam_slices_free(struct jam_slices *s)
{
    writer_free(&s->bytes);
    free(s->ends);
    free(s->list);
    *s = (struct jam_slices){0};
}
