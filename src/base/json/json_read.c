/* Reads JSON with json-c and then scans the text once more for what json-c accepts and penta
 * does not. */
#include "base/json/json_read.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "base/writer.h"

struct json_doc {
    struct json_object *root;
};

enum { DEPTH = 64 };

/* A struct scan goes over the text once more after json-c. Even when strict, json-c rounds
 * numbers that it cannot hold, keeps the last of two equal keys, and takes NaN and single
 * quotes. A test vector must not be read as something else. */
struct scan {
    const char *p, *end;
    penta_error *err;
    const char *start;
};

static bool scan_fail(struct scan *s, const char *what)
{
    return error_at(s->err, BASE_JSON, (uint64_t)(s->p - s->start), "%s", what);
}

static void scan_string(struct scan *s, const char **text, size_t *size)
{
    *text = ++s->p;
    while (s->p < s->end && *s->p != '"') s->p += *s->p == '\\' ? 2 : 1;
    *size = (size_t)(s->p - *text);
    s->p++;
}

/* Checks a literal. An integer must be from -2^63 to 2^64-1. */
static bool scan_literal(struct scan *s)
{
    const char *from = s->p;
    bool integer = true;
    if (*from != '-' && !isdigit((unsigned char)*from)) {
        static const char *const words[] = {"true", "false", "null"};
        for (size_t i = 0; i < 3; i++) {
            size_t n = strlen(words[i]);
            if ((size_t)(s->end - from) >= n && !memcmp(from, words[i], n)) {
                s->p += n;
                return true;
            }
        }
        return scan_fail(s, "not a JSON value");
    }
    while (s->p < s->end && (isalnum((unsigned char)*s->p) || strchr("+-.", *s->p))) {
        if (strchr(".eE", *s->p)) integer = false;
        s->p++;
    }
    if (!integer) return true;
    bool negative = *from == '-';
    uint64_t value = 0;
    for (const char *c = from + negative; c < s->p; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            s->p = from;
            return scan_fail(s, "the number does not fit 64 bits");
        }
        value = value * 10 + digit;
    }
    if (negative && value > UINT64_C(1) << 63) {
        s->p = from;
        return scan_fail(s, "the number does not fit 64 bits");
    }
    return true;
}

struct key {
    const char *text;
    size_t size;
    const char *at; /* where the key stands in the document */
    /* `resolved` owns the text of a key that has escapes in the document; else it is NULL. */
    struct json_object *resolved;
};

/* Resolves the escapes of a key as json-c does ("\u0061" is "a"), up to the first zero byte. */
static bool resolve_key(struct key *key, penta_error *err)
{
    if (!memchr(key->text, '\\', key->size)) return true;
    struct json_tokener *tok = json_tokener_new();
    if (tok) {
        key->resolved = json_tokener_parse_ex(tok, key->text - 1, (int)key->size + 2);
        json_tokener_free(tok); /* json_tokener_free does not take NULL. */
    }
    if (!key->resolved) return error_at(err, BASE_MEMORY, 0, "no memory for a key");
    key->text = json_object_get_string(key->resolved);
    key->size = strlen(key->text);
    return true;
}

static int key_order(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    size_t n = x->size < y->size ? x->size : y->size;
    int order = memcmp(x->text, y->text, n);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static bool scan_value(struct scan *s, unsigned depth);

static void scan_space(struct scan *s)
{
    while (s->p < s->end && isspace((unsigned char)*s->p)) s->p++;
}

static bool scan_object(struct scan *s, unsigned depth)
{
    struct key *keys = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    s->p++;
    for (scan_space(s); ok && s->p < s->end && *s->p != '}'; scan_space(s)) {
        ok = ARRAY_GROW(keys, capacity, count, s->err);
        if (!ok) break;
        if (*s->p != '"') {
            ok = scan_fail(s, "a key in double quotes belongs here");
            break;
        }
        keys[count] = (struct key){.at = s->p + 1};
        scan_string(s, &keys[count].text, &keys[count].size);
        ok = resolve_key(&keys[count++], s->err);
        scan_space(s);
        s->p++; /* This skips the colon. */
        ok = ok && scan_value(s, depth + 1);
        scan_space(s);
        if (ok && s->p < s->end && *s->p == ',') s->p++;
    }
    if (ok && count > 1) {
        qsort(keys, count, sizeof *keys, key_order);
        for (size_t i = 1; ok && i < count; i++)
            if (!key_order(&keys[i - 1], &keys[i])) {
                s->p = keys[i].at;
                ok = scan_fail(s, "the same key twice");
            }
    }
    for (size_t i = 0; i < count; i++) json_object_put(keys[i].resolved);
    free(keys);
    s->p++;
    return ok;
}

/* Scans one value. The text was accepted by json-c, so grammar and depth need no check here. */
static bool scan_value(struct scan *s, unsigned depth)
{
    scan_space(s);
    if (s->p >= s->end || depth > DEPTH) return true;
    if (*s->p == '{') return scan_object(s, depth);
    if (*s->p == '"') {
        const char *text;
        size_t size;
        scan_string(s, &text, &size);
        return true;
    }
    if (*s->p != '[') return scan_literal(s);
    s->p++;
    for (scan_space(s); s->p < s->end && *s->p != ']'; scan_space(s)) {
        if (!scan_value(s, depth + 1)) return false;
        scan_space(s);
        if (s->p < s->end && *s->p == ',') s->p++;
    }
    s->p++;
    return true;
}

struct json_doc *json_parse(penta_bytes text, penta_error *err)
{
    if (text.size > INT32_MAX) {
        error_at(err, BASE_LIMIT, 0, "a JSON text of more than 2 GiB");
        return NULL;
    }
    const void *zero = text.size ? memchr(text.data, 0, text.size) : NULL;
    if (zero) {
        error_at(err, BASE_JSON, (uint64_t)((const uint8_t *)zero - text.data),
                 "a zero byte in the text");
        return NULL;
    }
    struct json_tokener *tok = json_tokener_new_ex(DEPTH);
    struct json_doc *doc = calloc(1, sizeof *doc);
    if (!tok || !doc) {
        error_at(err, BASE_MEMORY, 0, "no memory for a JSON document");
    } else {
        json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
        doc->root = json_tokener_parse_ex(tok, (const char *)text.data, (int)text.size);
        enum json_tokener_error why = json_tokener_get_error(tok);
        size_t at = json_tokener_get_parse_end(tok);
        if (why == json_tokener_continue && text.size) {
            /* A zero byte tells json-c that a top-level number has ended. */
            doc->root = json_tokener_parse_ex(tok, "", 1);
            why = json_tokener_get_error(tok);
            at = text.size;
        }
        for (; at < text.size && isspace(text.data[at]); at++) {
        }
        struct scan scan = {(const char *)text.data, (const char *)text.data + text.size, err,
                            (const char *)text.data};
        if (why != json_tokener_success)
            error_at(err, BASE_JSON, at, "%s",
                     why == json_tokener_continue ? "the text ends too early"
                                                  : json_tokener_error_desc(why));
        else if (at < text.size)
            error_at(err, BASE_JSON, at, "more text after the document");
        else
            scan_value(&scan, 0);
    }
    if (tok) json_tokener_free(tok); /* json_tokener_free does not take NULL. */
    if (err->code) {
        json_doc_free(doc);
        return NULL;
    }
    return doc;
}

const struct json_object *json_root(const struct json_doc *doc) { return doc->root; }

void json_doc_free(struct json_doc *doc)
{
    if (!doc) return;
    json_object_put(doc->root);
    free(doc);
}

/* Removes const, because json-c's accessors take non-const pointers although they only read. */
static struct json_object *value_without_const(const struct json_object *v)
{
    return (struct json_object *)(uintptr_t)v;
}

bool json_is_object(const struct json_object *v)
{
    return json_object_is_type(value_without_const(v), json_type_object);
}
bool json_is_list(const struct json_object *v)
{
    return json_object_is_type(value_without_const(v), json_type_array);
}
bool json_is_text(const struct json_object *v)
{
    return json_object_is_type(value_without_const(v), json_type_string);
}
bool json_is_int(const struct json_object *v)
{
    return json_object_is_type(value_without_const(v), json_type_int);
}
bool json_is_bool(const struct json_object *v)
{
    return json_object_is_type(value_without_const(v), json_type_boolean);
}
bool json_is_null(const struct json_object *v) { return !v; }

bool json_has(const struct json_object *v, const char *key)
{
    return json_is_object(v) && json_object_object_get_ex(value_without_const(v), key, NULL);
}

const struct json_object *json_get(const struct json_object *v, const char *key)
{
    struct json_object *value = NULL;
    if (json_is_object(v)) json_object_object_get_ex(value_without_const(v), key, &value);
    return value;
}

size_t json_length(const struct json_object *v)
{
    return json_is_list(v) ? json_object_array_length(value_without_const(v)) : 0;
}

const struct json_object *json_item(const struct json_object *v, size_t i)
{
    return i < json_length(v) ? json_object_array_get_idx(value_without_const(v), i) : NULL;
}

const char *json_as_text(const struct json_object *v)
{
    return json_is_text(v) ? json_object_get_string(value_without_const(v)) : NULL;
}

size_t json_text_size(const struct json_object *v)
{
    return json_is_text(v) ? (size_t)json_object_get_string_len(v) : 0;
}

bool json_as_bool(const struct json_object *v)
{
    return json_is_bool(v) && json_object_get_boolean(v);
}

double json_as_float(const struct json_object *v) { return v ? json_object_get_double(v) : 0; }

bool json_as_sint(const struct json_object *v, int64_t *out)
{
    if (!json_is_int(v)) return false;
    if (json_object_get_uint64(v) > INT64_MAX && json_object_get_int64(v) > 0) return false;
    *out = json_object_get_int64(v);
    return true;
}

char *json_scalar_text(const struct json_object *v)
{
    struct writer text = {0};
    uint64_t number;
    int64_t integer;
    if (json_is_text(v)) return strdup(json_as_text(v));
    if (json_is_bool(v)) return strdup(json_as_bool(v) ? "1" : "");
    if (json_as_uint(v, &number))
        writer_print(&text, "%" PRIu64, number);
    else if (json_as_sint(v, &integer))
        writer_print(&text, "%" PRId64, integer);
    else
        return NULL;
    writer_char(&text, 0);
    return (char *)text.out.data;
}

bool json_as_uint(const struct json_object *v, uint64_t *out)
{
    if (json_is_text(v)) return number_parse(json_as_text(v), out);
    if (!json_is_int(v) || json_object_get_int64(v) < 0) return false;
    *out = json_object_get_uint64(v);
    return true;
}

uint8_t *json_as_hex(const struct json_object *v, size_t *size)
{
    const char *text = json_as_text(v);
    return text ? hex_parse((penta_bytes){(const uint8_t *)text, json_text_size(v)}, size, NULL)
                : NULL;
}

void json_each(const struct json_object *v, json_member_fn *fn, void *user)
{
    if (!json_is_object(v)) return;
    struct json_object_iterator it = json_object_iter_begin(value_without_const(v));
    struct json_object_iterator end = json_object_iter_end(value_without_const(v));
    for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it))
        fn(user, json_object_iter_peek_name(&it), json_object_iter_peek_value(&it));
}
