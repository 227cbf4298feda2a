/* Collects the headers that a sketch includes. These are files in its folder, found by a search
 * for all lines that include a name in quotes, even if a condition leaves them out. */
#include "cvbc/compile/text/sources.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"

enum { HEADERS_MAX = 64, HEADER_BYTES_MAX = 1 << 20, NAME_MAX_BYTES = 200 };

void sources_free(struct sources *s)
{
    free(s->macros);
    for (size_t i = 1; i < s->count; i++) free((void *)(uintptr_t)s->at[i].name.data);
    free(s->at);
    writer_free(&s->text);
}

struct source *sources_find(struct sources *s, penta_bytes name)
{
    for (size_t i = 1; i < s->count; i++)
        if (bytes_equal(s->at[i].name, name)) return &s->at[i];
    return NULL;
}

/* Tells whether a name stays inside the folder: neither /x nor ../x does. */
static bool source_is_beside(penta_bytes name)
{
    if (!name.size || name.size > NAME_MAX_BYTES || name.data[0] == '/' ||
        memchr(name.data, 0, name.size))
        return false;
    for (size_t i = 0; i + 1 < name.size; i++)
        if (name.data[i] == '.' && name.data[i + 1] == '.') return false;
    return true;
}

static bool source_add(struct sources *s, penta_bytes name, const char *folder,
                       uint32_t included_at, penta_error *err)
{
    char path[1024];
    penta_buffer file = {0};
    penta_error failed = {0};
    if (s->count == HEADERS_MAX)
        return error_at(err, BASE_LIMIT, included_at, "more than %d headers", HEADERS_MAX - 1);
    if (!ARRAY_GROW(s->at, s->capacity, s->count, err)) return false;
    uint8_t *copy = array_copy(name.data, name.size, 1);
    if (!copy) return error_at(err, BASE_MEMORY, 0, "no memory for a header");
    struct source *made = &s->at[s->count++];
    *made = (struct source){.name = {copy, name.size}, .included_at = included_at, .missing = true};
    int size = snprintf(path, sizeof path, "%s/%.*s", folder ? folder : "",
                        BYTES_ARG(name, NAME_MAX_BYTES));
    if (folder && source_is_beside(name) && size > 0 && (size_t)size < sizeof path &&
        file_read_regular(path, HEADER_BYTES_MAX, &file, &failed)) {
        made->missing = false;
        made->offset = s->text.out.size;
        made->size = file.size;
        writer_bytes(&s->text, file.data, file.size);
        writer_char(&s->text, '\n');
    }
    penta_buffer_free(&file);
    return true;
}

/* Finds the lines # include "name" of one text, from `offset` on. */
static bool source_scan(struct sources *s, size_t which, const char *folder, penta_error *err)
{
    size_t at = s->at[which].offset, end = at + s->at[which].size;
    while (at < end) {
        const char *text = (const char *)s->text.out.data;
        size_t line = at;
        while (at < end && text[at] != '\n') at++;
        size_t k = line, stop = at++;
        while (k < stop && isspace((unsigned char)text[k])) k++;
        if (k == stop || text[k++] != '#') continue;
        while (k < stop && isspace((unsigned char)text[k])) k++;
        if (stop - k < 7 || memcmp(text + k, "include", 7)) continue;
        for (k += 7; k < stop && isspace((unsigned char)text[k]);) k++;
        if (k == stop || text[k++] != '"') continue;
        const char *close = memchr(text + k, '"', stop - k);
        if (!close) continue;
        penta_bytes name = bytes_slice(writer_view(&s->text), k, (size_t)(close - text) - k);
        if (sources_find(s, name)) continue;
        uint32_t from = which ? s->at[which].included_at : (uint32_t)line;
        if (!source_add(s, name, folder, from, err)) return false;
    }
    return true;
}

bool sources_read(struct sources *s, penta_bytes sketch, const char *folder, penta_error *err)
{
    if (!ARRAY_GROW(s->at, s->capacity, s->count, err)) return false;
    s->at[s->count++] = (struct source){.size = sketch.size};
    writer_bytes(&s->text, sketch.data, sketch.size);
    writer_char(&s->text, '\n');
    for (size_t i = 0; i < s->count; i++)
        if (!writer_ok(&s->text, err) || !source_scan(s, i, folder, err)) return false;
    return true;
}

void sources_place(const struct sources *s, penta_error *err)
{
    for (size_t i = 1; i < s->count; i++) {
        const struct source *one = &s->at[i];
        if (one->missing || err->offset < one->offset || err->offset > one->offset + one->size)
            continue;
        unsigned line = 1, column = 1;
        for (size_t k = one->offset; k < err->offset; k++) {
            bool ends = s->text.out.data[k] == '\n';
            line += ends;
            column = ends ? 1 : column + 1;
        }
        char message[sizeof err->message];
        snprintf(message, sizeof message, "%s", err->message);
        char place[60];
        snprintf(place, sizeof place, "%.*s:%u:%u: ", BYTES_ARG(one->name, 30), line, column);
        snprintf(err->message, sizeof err->message, "%.59s%.*s", place,
                 (int)(sizeof err->message - 61), message);
        err->offset = one->included_at;
        return;
    }
    if (s->count && err->offset > s->at[0].size) err->offset = s->at[0].size;
}
