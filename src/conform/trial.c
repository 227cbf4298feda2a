/* Begins, judges and ends a case, and compares values with those that a vector expects. */
#include "conform/trial.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"

/* Returns the name of the case, or the name of the file that it is about. */
static const char *name_of(const struct json_object *item)
{
    const char *name = json_as_text(json_get(item, "name"));
    return name ? name : json_as_text(json_get(item, "file"));
}

struct trial trial_begin(struct conform *c, const struct json_object *item)
{
    const char *name = name_of(item);
    return (struct trial){.c = c, .name = name ? name : "unnamed"};
}

void trial_where(struct trial *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(t->where, sizeof t->where, format, args);
    va_end(args);
}

void trial_end(struct trial *t)
{
    if (!t->judged) conform_pass(t->c, t->name);
    t->judged = true;
}

static void trial_deliver(struct trial *t, const char *expected, const char *format, va_list args)
{
    char got[300];
    vsnprintf(got, sizeof got, format, args);
    if (!t->judged)
        conform_fail(t->c, t->name, expected, "%s%s%s", got, t->where[0] ? " in " : "", t->where);
    t->judged = true;
}

bool trial_fail(struct trial *t, const char *expected, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    trial_deliver(t, expected, format, args);
    va_end(args);
    return false;
}

bool trial_malformed(struct trial *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    trial_deliver(t, "a well-formed case", format, args);
    va_end(args);
    return false;
}

bool trial_skip(struct trial *t, const char *why)
{
    if (!t->judged) conform_skip(t->c, t->name, why);
    t->judged = true;
    return false;
}

bool trial_uint(struct trial *t, const char *what, uint64_t expected, uint64_t got)
{
    if (expected == got) return true;
    char text[80];
    snprintf(text, sizeof text, "%s %llu", what, (unsigned long long)expected);
    return trial_fail(t, text, "%llu", (unsigned long long)got);
}

bool trial_word(struct trial *t, const char *what, uint64_t expected, uint64_t got)
{
    if (expected == got) return true;
    char text[80];
    snprintf(text, sizeof text, "%s 0x%llx", what, (unsigned long long)expected);
    return trial_fail(t, text, "0x%llx", (unsigned long long)got);
}

bool trial_text(struct trial *t, const char *what, const char *expected, const char *got)
{
    if (!strcmp(expected, got)) return true;
    char text[120];
    snprintf(text, sizeof text, "%s %s", what, expected);
    return trial_fail(t, text, "%s", got);
}

bool trial_bytes(struct trial *t, const char *what, penta_bytes expected, penta_bytes got)
{
    if (bytes_equal(expected, got)) return true;
    size_t at = 0;
    while (at < expected.size && at < got.size && expected.data[at] == got.data[at]) at++;
    struct writer want = {0}, have = {0};
    writer_print(&want, "%s, %zu bytes, from %zu on ", what, expected.size, at);
    writer_hex(&want, bytes_slice(expected, at, 16));
    writer_print(&have, "%zu bytes, ", got.size);
    writer_hex(&have, bytes_slice(got, at, 16));
    writer_char(&want, 0);
    writer_char(&have, 0);
    if (want.failed || have.failed)
        trial_fail(t, what, "other bytes");
    else
        trial_fail(t, (const char *)want.out.data, "%s", (const char *)have.out.data);
    writer_free(&want);
    writer_free(&have);
    return false;
}

bool trial_hex(struct trial *t, const char *what, const struct json_object *expected,
               penta_bytes got)
{
    size_t size = 0;
    uint8_t *bytes = json_as_hex(expected, &size);
    bool ok = bytes ? trial_bytes(t, what, (penta_bytes){bytes, size}, got)
                    : trial_malformed(t, "%s is no hex", what);
    free(bytes);
    return ok;
}

bool trial_member(struct trial *t, const struct json_object *object, const char *key, uint64_t *out)
{
    return json_as_uint(json_get(object, key), out) ||
           trial_malformed(t, "'%s' is not a number", key);
}

struct key_check {
    struct trial *trial;
    const char *const *known;
};

static void check_key(void *user, const char *key, const struct json_object *value)
{
    (void)value;
    struct key_check *c = user;
    for (size_t i = 0; c->known[i]; i++)
        if (!strcmp(c->known[i], key)) return;
    trial_malformed(c->trial, "unknown field '%.60s'", key);
}

bool trial_keys(struct trial *t, const struct json_object *object, const char *const *known)
{
    struct key_check c = {t, known};
    if (!json_is_object(object)) return trial_malformed(t, "no object where one belongs");
    json_each(object, check_key, &c);
    return !t->judged;
}

void trial_each(struct conform *c, const struct json_object *list, const char *kind,
                trial_case *run)
{
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json_object *item = json_item(list, i);
        const char *name = name_of(item);
        char numbered[64];
        snprintf(numbered, sizeof numbered, "%s %zu", kind, i);
        struct trial t = {.c = c, .name = name ? name : numbered};
        run(&t, item);
        trial_end(&t);
    }
}

void first_error_keep(void *user, const penta_error *finding)
{
    struct first_error *f = user;
    if (!f->error.code && finding->severity == PENTA_ERROR) f->error = *finding;
}

char *conform_path_beside(const struct conform *c, const char *name)
{
    const char *slash = strrchr(c->path, '/');
    size_t folder = slash ? (size_t)(slash - c->path) + 1 : 0, size = folder + strlen(name) + 1;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%.*s%s", (int)folder, c->path, name);
    return path;
}

bool conform_beside(const struct conform *c, const char *name, penta_buffer *out, penta_error *err)
{
    char *path = conform_path_beside(c, name);
    bool ok = path && file_read_regular(path, UINT64_C(1) << 30, out, err);
    free(path);
    return ok;
}
