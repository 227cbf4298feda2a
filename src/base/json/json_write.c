/* Writes JSON piece by piece. Keeps the open objects and lists, so that commas, unique keys and
 * closing brackets never depend on the caller. */
#include "base/json/json_write.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "base/utf8.h"

/* Counts the bytes at the start of a text that are ASCII and need no escape; nearly always these
 * are all of them. */
static size_t plain_prefix(penta_bytes text)
{
#define EIGHT 1, 1, 1, 1, 1, 1, 1, 1
    static const bool special[256] = {
        EIGHT, EIGHT, EIGHT, EIGHT, ['"'] = 1, ['\\'] = 1, [0x7f] = 1, EIGHT,
        EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,     EIGHT,      EIGHT,      EIGHT,
        EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,     EIGHT,      EIGHT};
#undef EIGHT
    size_t n = 0;
    while (n < text.size && !special[text.data[n]]) n++;
    return n;
}

static void json_write_quoted(struct writer *w, penta_bytes text)
{
    writer_char(w, '"');
    while (text.size) {
        size_t plain = plain_prefix(text);
        writer_bytes(w, text.data, plain);
        text = (penta_bytes){text.data + plain, text.size - plain};
        if (!text.size) break;
        uint32_t point = 0;
        size_t n = utf8_next(text, &point);
        if (!n) {
            writer_text(w, "\\ufffd");
            n = 1;
        } else if (point == '"' || point == '\\') {
            writer_char(w, '\\');
            writer_char(w, (char)point);
        } else if (point == '\n') {
            writer_text(w, "\\n");
        } else if (point > 0xffff && is_deceptive(point)) {
            writer_print(w, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(point >> 10),
                         0xdc00 + (unsigned)(point & 0x3ff));
        } else if (point < 0x20 || point == 0x7f || is_deceptive(point)) {
            writer_print(w, "\\u%04x", (unsigned)point);
        } else {
            writer_bytes(w, text.data, n);
        }
        text.data += n;
        text.size -= n;
    }
    writer_char(w, '"');
}

/* Writes the key of a member, with a number appended where the object has this key already. */
static void new_key(struct json *j, const char *key)
{
    uint64_t object = j->objects[j->depth - 1];
    if (members_add(&j->members, object, key, &j->out->failed)) {
        json_write_quoted(j->out, bytes_of(key));
        return;
    }
    /* A key that occurs twice is no mistake of the caller, because names may come from a file. */
    struct writer other = {0};
    unsigned n = 2;
    do {
        other.out.size = 0;
        writer_print(&other, "%s_%u", key, n++);
        writer_char(&other, 0);
    } while (!other.failed &&
             !members_add(&j->members, object, (const char *)other.out.data, &j->out->failed));
    if (!other.failed) json_write_quoted(j->out, bytes_of((const char *)other.out.data));
    j->out->failed |= other.failed;
    writer_free(&other);
}

/* Writes the comma and the key that stand before a value. */
static void json_write_before(struct json *j, const char *key)
{
    if (!j->depth) {
        assert(!key);
        return;
    }
    unsigned top = j->depth - 1;
    assert(j->in_list[top] == !key);
    if (j->has_items[top]) writer_char(j->out, ',');
    j->has_items[top] = true;
    if (!key) return;
    new_key(j, key);
    writer_char(j->out, ':');
}

static void json_write_begin(struct json *j, const char *key, bool list)
{
    assert(j->depth < JSON_DEPTH);
    json_write_before(j, key);
    writer_char(j->out, list ? '[' : '{');
    j->in_list[j->depth] = list;
    j->members_before[j->depth] = j->members.count;
    j->objects[j->depth] = ++j->serial;
    j->has_items[j->depth++] = false;
}

void json_object(struct json *j, const char *key) { json_write_begin(j, key, false); }
void json_list(struct json *j, const char *key) { json_write_begin(j, key, true); }

void json_end(struct json *j)
{
    assert(j->depth);
    j->depth--;
    writer_char(j->out, j->in_list[j->depth] ? ']' : '}');
    members_shrink(&j->members, j->members_before[j->depth]);
    if (!j->depth) members_free(&j->members);
}

void json_finish(struct json *j)
{
    while (j->depth) json_end(j);
    writer_char(j->out, '\n');
}

void json_string(struct json *j, const char *key, penta_bytes value)
{
    json_write_before(j, key);
    json_write_quoted(j->out, value);
}

void json_text(struct json *j, const char *key, const char *value)
{
    if (value)
        json_string(j, key, bytes_of(value));
    else
        json_null(j, key);
}

/* Readers that use doubles lose integers above 2^53, so those become strings. */
static const uint64_t exact_max = UINT64_C(1) << 53;

void json_uint(struct json *j, const char *key, uint64_t value)
{
    json_write_before(j, key);
    if (value > exact_max) writer_char(j->out, '"');
    writer_dec(j->out, value);
    if (value > exact_max) writer_char(j->out, '"');
}

void json_sint(struct json *j, const char *key, int64_t value)
{
    if (value >= 0) {
        json_uint(j, key, (uint64_t)value);
        return;
    }
    uint64_t magnitude = 0 - (uint64_t)value;
    json_write_before(j, key);
    writer_text(j->out, magnitude > exact_max ? "\"-" : "-");
    writer_dec(j->out, magnitude);
    if (magnitude > exact_max) writer_char(j->out, '"');
}

/* Writes everything up to and with the opening quote of a string. */
static struct writer *open_quote(struct json *j, const char *key)
{
    json_write_before(j, key);
    writer_char(j->out, '"');
    return j->out;
}

void json_word(struct json *j, const char *key, uint64_t value)
{
    writer_0x(open_quote(j, key), value);
    writer_char(j->out, '"');
}

void json_float(struct json *j, const char *key, double value)
{
    if (!isfinite(value)) {
        json_text(j, key, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    char text[40];
    /* The loop finds the shortest text that reads back as the same number. */
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    json_write_before(j, key);
    writer_text(j->out, text);
}

void json_hex(struct json *j, const char *key, penta_bytes value)
{
    writer_hex(open_quote(j, key), value);
    writer_char(j->out, '"');
}

void json_bool(struct json *j, const char *key, bool value)
{
    json_write_before(j, key);
    writer_text(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_write_before(j, key);
    writer_text(j->out, "null");
}

void json_embed(struct json *j, const char *key, struct json *value)
{
    while (value->depth) json_end(value);
    json_write_before(j, key);
    writer_bytes(j->out, value->out->out.data, value->out->out.size);
}

void json_raw(struct json *j, const char *key, penta_bytes value)
{
    while (value.size && value.data[value.size - 1] == '\n') value.size--;
    if (!value.size) value = bytes_of("null");
    json_write_before(j, key);
    writer_bytes(j->out, value.data, value.size);
}

/* Returns the size of the value at the start of the text. The value ends before a comma or
 * before the bracket that closes the list or object around it. */
static size_t value_size(penta_bytes text)
{
    unsigned depth = 0;
    bool quoted_text = false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (quoted_text && c == '\\')
            i++;
        else if (c == '"')
            quoted_text = !quoted_text;
        else if (quoted_text)
            continue;
        else if (c == '{' || c == '[')
            depth++;
        else if (!depth && (c == ',' || c == ':' || c == '}' || c == ']'))
            return i;
        else if (c == '}' || c == ']')
            depth--;
    }
    return text.size;
}

void json_members_of(struct json *j, penta_bytes object)
{
    penta_bytes left = bytes_slice(object, 1, SIZE_MAX);
    while (left.size && left.data[0] == '"') {
        size_t key = value_size(left);
        struct writer name = {0};
        writer_bytes(&name, left.data + 1, key - 2);
        writer_char(&name, 0);
        left = bytes_slice(left, key + 1, SIZE_MAX);
        size_t value = value_size(left);
        if (!name.failed) json_raw(j, (const char *)name.out.data, bytes_slice(left, 0, value));
        j->out->failed |= name.failed;
        writer_free(&name);
        left = bytes_slice(left, value + 1, SIZE_MAX);
    }
}
