/* Reads lines of results back, to continue after a stop, to merge shards and to report. Only the
 * beginning and single members of a line are needed, so lines are not parsed into trees but
 * walked over once. A file with the name of results may contain anything, so no byte is read
 * beyond its end. */
#include "batch/lines/record.h"
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_write.h"

struct record_text {
    const uint8_t *p, *end;
};

static struct record_text record_text_of(penta_bytes text)
{
    return (struct record_text){text.data, text.size ? text.data + text.size : text.data};
}

static bool record_skip(struct record_text *t, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(t->end - t->p) < size || memcmp(t->p, word, size)) return false;
    t->p += size;
    return true;
}

static bool record_string_skip(struct record_text *t)
{
    if (!record_skip(t, "\"")) return false;
    while (t->p < t->end && *t->p != '"') t->p += *t->p == '\\' && t->end - t->p > 1 ? 2 : 1;
    return record_skip(t, "\"");
}

/* Skips any value. It counts brackets and skips strings. */
static bool record_value_skip(struct record_text *t)
{
    size_t depth = 0;
    const uint8_t *start = t->p;
    while (t->p < t->end) {
        uint8_t c = *t->p;
        if (c == '"') {
            if (!record_string_skip(t)) return false;
        } else if (c == '{' || c == '[') {
            depth++;
            t->p++;
        } else if (c == '}' || c == ']') {
            if (!depth) break;
            depth--;
            t->p++;
        } else if (c == ',' && !depth) {
            break;
        } else {
            t->p++;
        }
        if (!depth && (c == '}' || c == ']' || c == '"')) break;
    }
    return !depth && t->p > start;
}

static bool record_digest_read(struct record_text *t, struct record_head *out)
{
    if (record_skip(t, "null")) return true;
    if (t->end - t->p < 2 * BATCH_DIGEST + 2 || !record_skip(t, "\"")) return false;
    for (size_t i = 0; i < BATCH_DIGEST; i++, t->p += 2) {
        int high = hex_digit(t->p[0]), low = hex_digit(t->p[1]);
        if (high < 0 || low < 0) return false;
        out->digest[i] = (uint8_t)(high << 4 | low);
    }
    out->digested = true;
    return record_skip(t, "\"");
}

bool record_head_read(penta_bytes line, struct record_head *out)
{
    struct record_text t = record_text_of(line);
    *out = (struct record_head){0};
    if (line.size < 2 || line.data[line.size - 1] != '}' || !record_skip(&t, "{\"n\":"))
        return false;
    const uint8_t *digits = t.p;
    while (t.p < t.end && *t.p >= '0' && *t.p <= '9' && t.p - digits < 18)
        out->n = out->n * 10 + (uint64_t)(*t.p++ - '0');
    if (t.p == digits || !record_skip(&t, ",")) return false;
    const uint8_t *rest = t.p;
    if (!record_skip(&t, "\"source\":")) return false;
    const uint8_t *source = t.p;
    if (!record_string_skip(&t)) return false;
    out->source = (penta_bytes){source, (size_t)(t.p - source)};
    if (record_skip(&t, ",\"grid\":") && !record_string_skip(&t)) return false;
    out->key = (penta_bytes){source, (size_t)(t.p - source)};
    out->rest = (penta_bytes){rest, (size_t)(line.data + line.size - rest)};
    return record_skip(&t, ",\"digest\":") && record_digest_read(&t, out);
}

penta_bytes json_member_text(penta_bytes object, const char *name)
{
    struct record_text t = record_text_of(object);
    size_t size = strlen(name);
    if (!object.size || !record_skip(&t, "{")) return (penta_bytes){0};
    while (t.p < t.end && *t.p == '"') {
        const uint8_t *key = t.p + 1;
        if (!record_string_skip(&t)) break;
        bool found = (size_t)(t.p - key) == size + 1 && !memcmp(key, name, size);
        if (!record_skip(&t, ":")) break;
        const uint8_t *value = t.p;
        if (!record_value_skip(&t)) break;
        if (found) return (penta_bytes){value, (size_t)(t.p - value)};
        if (!record_skip(&t, ",")) break;
    }
    return (penta_bytes){0};
}

bool json_list_next(penta_bytes list, size_t *at, penta_bytes *value)
{
    struct record_text t = record_text_of(list);
    if (*at >= list.size) return false;
    t.p += *at;
    if (!record_skip(&t, *at ? "," : "[")) return false;
    const uint8_t *start = t.p;
    if (!record_value_skip(&t)) return false;
    *value = (penta_bytes){start, (size_t)(t.p - start)};
    *at = (size_t)(t.p - list.data);
    return true;
}

static unsigned record_hex4(const uint8_t *p)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return 0xfffd;
        value = value << 4 | (unsigned)digit;
    }
    return value;
}

static void record_utf8(struct writer *out, unsigned c)
{
    if (c < 0x80) {
        writer_char(out, (char)c);
    } else if (c < 0x800) {
        writer_char(out, (char)(0xc0 | c >> 6));
        writer_char(out, (char)(0x80 | (c & 63)));
    } else {
        writer_char(out, (char)(0xe0 | c >> 12));
        writer_char(out, (char)(0x80 | (c >> 6 & 63)));
        writer_char(out, (char)(0x80 | (c & 63)));
    }
}

void json_unquote(penta_bytes quoted, struct writer *out)
{
    static const char escapes[] = "b\bf\fn\nr\rt\t";
    for (size_t i = 1; i + 1 < quoted.size; i++) {
        char c = (char)quoted.data[i];
        if (c != '\\' || i + 2 >= quoted.size) {
            writer_char(out, c);
            continue;
        }
        c = (char)quoted.data[++i];
        const char *found = c ? strchr(escapes, c) : NULL;
        if (c == 'u' && i + 5 < quoted.size) {
            record_utf8(out, record_hex4(quoted.data + i + 1));
            i += 4;
        } else {
            writer_char(out, found && (found - escapes) % 2 == 0 ? found[1] : c);
        }
    }
}

void json_quote(struct writer *out, const char *text)
{
    struct json j = {.out = out};
    size_t start = out->out.size;
    json_list(&j, NULL);
    json_text(&j, NULL, text);
    if (out->failed) return;
    memmove(out->out.data + start, out->out.data + start + 1,
            out->out.size - start - 1); /* The bracket [ is left out. */
    out->out.size--;
}

void record_failure(struct writer *out, uint64_t n, const char *source, const char *grid,
                    const uint8_t *digest, int signal)
{
    struct json j = {.out = out};
    json_object(&j, NULL);
    json_uint(&j, "n", n);
    json_text(&j, "source", source);
    if (grid) json_text(&j, "grid", grid);
    if (digest)
        json_hex(&j, "digest", (penta_bytes){digest, BATCH_DIGEST});
    else
        json_null(&j, "digest");
    json_uint(&j, "exit", signal ? (uint64_t)(RECORD_SIGNAL + signal) : RECORD_DEADLINE);
    json_text(&j, "verdict", signal ? "signal" : "timeout");
    if (signal) json_uint(&j, "signal", (uint64_t)signal);
    json_finish(&j);
}
