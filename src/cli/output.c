/* Decides which files a command may write: never one that it has read, one that holds a key, or
 * one file under two names. Then it writes each file completely or not at all. */
#include "cli/output.h"
#include <ctype.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"

static bool output_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void output_watch(struct cli *c) { file_list_begin(&c->touched); }

void output_unwatch(struct cli *c)
{
    file_list_begin(NULL);
    file_list_free(&c->touched);
}

enum { KEY_FILE_MAX = 65536, RAW_KEY = 32 };

static bool pem_key(penta_bytes text)
{
    static const char begin[] = "-----BEGIN ", end[] = "KEY-----";
    for (const uint8_t *p = text.data, *stop = p + text.size; p < stop;) {
        p = memmem(p, (size_t)(stop - p), begin, sizeof begin - 1);
        if (!p) return false;
        const uint8_t *line = memchr(p, '\n', (size_t)(stop - p));
        if (memmem(p, (size_t)((line ? line : stop) - p), end, sizeof end - 1)) return true;
        p += sizeof begin - 1;
    }
    return false;
}

/* Recognises one line of at least 32 bytes in hex, which may be a symmetric key or a raw public
 * key of any kind. */
static bool hex_key(penta_bytes text)
{
    size_t n = 0;
    while (n < text.size && isxdigit(text.data[n])) n++;
    for (size_t i = n; i < text.size; i++)
        if (!isspace(text.data[i])) return false;
    return n >= 2 * RAW_KEY && n % 2 == 0;
}

/* Recognises 32 bytes that look random: nearly all different, and about half with the top bit
 * set. */
static bool raw_key(penta_bytes bytes)
{
    bool seen[256] = {false};
    size_t distinct = 0, high = 0;
    if (bytes.size != RAW_KEY) return false;
    for (size_t i = 0; i < bytes.size; i++) {
        distinct += !seen[bytes.data[i]];
        seen[bytes.data[i]] = true;
        high += bytes.data[i] >> 7;
    }
    penta_guess guess;
    return distinct >= 20 && high >= 4 && !penta_detect(bytes, &guess, 1);
}

static bool holds_key(penta_bytes bytes)
{
    return pem_key(bytes) || hex_key(bytes) || raw_key(bytes);
}

static bool output_unchanged(penta_bytes a, penta_bytes b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

/* Checks that a key is not overwritten. `bytes` is what would be written, or NULL when it is not
 * known yet. A key file that stays as it is may be written, because a build that runs twice is
 * no error. */
static bool spares_keys(const char *path, const struct stat *st, const penta_bytes *bytes,
                        penta_error *err)
{
    penta_buffer old = {0};
    if (st->st_size > KEY_FILE_MAX) return true;
    if (!file_read(path, KEY_FILE_MAX, &old, err)) return error_note(err, "it may hold a key");
    penta_bytes view = {old.data, old.size};
    if (holds_key(view) && !(bytes && output_unchanged(view, *bytes))) {
        error_at(err, BASE_IO, 0, "'%.60s' holds a key", path);
        error_note(err, "keys are never overwritten; choose another name, or remove it first");
    }
    penta_buffer_free(&old);
    return !err->code;
}

/* Tells whether a file is in the folder of an option marked OPTION_FOLDER. Such files belong to
 * the machine alone. */
static bool in_own_folder(const struct cli *c, const char *path)
{
    struct stat parent, folder;
    char *copy = strdup(path);
    bool found = false, known = copy && !stat(dirname(copy), &parent);
    for (size_t i = 0; known && i < c->format_option_count; i++) {
        const penta_option_info *o = format_option(c->format_options[i].key, OPTION_FOLDER);
        if (o && !stat(c->format_options[i].value, &folder) && output_same(&parent, &folder))
            found = true;
    }
    free(copy);
    return found;
}

static bool output_permitted(struct cli *c, const char *path, bool rewrite,
                             const penta_bytes *bytes, penta_error *err)
{
    struct stat st;
    if (in_own_folder(c, path)) {
        error_at(err, BASE_OPTION, 0, "'%.60s' is in the store of this command", path);
        return error_note(err, "choose another name");
    }
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return true;
    if (c->touched.lost) /* Without the whole list, writing would not be safe. */
        return error_at(err, BASE_MEMORY, 0, "no memory to remember the files that were read");
    const struct file_listed *touched = file_list_find(&c->touched, &st);
    if (touched && !(rewrite && !touched->written)) {
        error_at(err, BASE_OPTION, 0,
                 touched->written ? "'%.60s' is an output twice"
                                  : "'%.60s' is input and output at once",
                 path);
        return error_note(err, "choose another name");
    }
    file_list_begin(NULL); /* This read is not one of the command's. */
    bool ok = spares_keys(path, &st, bytes, err);
    output_watch(c);
    return ok;
}

static bool output_reported(struct cli *c, bool ok, const penta_error *err)
{
    if (!ok) cli_error(c, NULL, err);
    return ok;
}

bool output_allowed(struct cli *c, const char *path)
{
    penta_error err = {0};
    return output_reported(c, output_permitted(c, path, false, NULL, &err), &err);
}

/* Tells whether the state may be written: it may go to the file from which it came, and to no
 * other file that was read. */
static bool state_allowed(struct cli *c)
{
    penta_error err = {0};
    for (size_t i = 0; i < c->format_option_count; i++) {
        const char *path = c->format_options[i].value;
        if (!format_option(c->format_options[i].key, OPTION_REWRITES)) continue;
        bool again =
            output_same_file(path, option_text(c->format_options, c->format_option_count, "state"));
        if (!output_permitted(c, path, again, NULL, &err)) return output_reported(c, false, &err);
    }
    return true;
}

bool output_options_allowed(struct cli *c)
{
    for (size_t i = 0; i < c->format_option_count; i++)
        if (format_option(c->format_options[i].key, OPTION_WRITES) &&
            !output_allowed(c, c->format_options[i].value))
            return false;
    return state_allowed(c);
}

struct named_output {
    const char *option, *path;
    bool rewrites; /* The command may read the file first. */
};

/* Returns the files that options name for writing. The caller frees the list. */
static struct named_output *named_outputs(const struct cli *c, size_t *count)
{
    struct named_output *all = calloc(OPTS + c->format_option_count, sizeof *all);
    if (!all) abort(); /* Without the list, writing would not be safe. */
    *count = 0;
    for (size_t i = 0; i < OPTS; i++)
        if (tool_options[i].row.kind == PENTA_OPTION_OUTPUT && c->value[i] &&
            strcmp(c->value[i], "-"))
            all[(*count)++] =
                (struct named_output){tool_options[i].row.key, c->value[i], i == OPT_DATA};
    for (size_t i = 0; i < c->format_option_count; i++) {
        const penta_option *o = &c->format_options[i];
        bool rewrites = format_option(o->key, OPTION_REWRITES);
        if ((rewrites || format_option(o->key, OPTION_WRITES)) && strcmp(o->value, "-"))
            all[(*count)++] = (struct named_output){o->key, o->value, rewrites};
    }
    return all;
}

bool outputs_distinct(struct cli *c)
{
    size_t count;
    penta_error err = {0};
    struct named_output *all = named_outputs(c, &count);
    for (size_t i = 0; i < count && !err.code; i++)
        for (size_t n = 0; n < i && !err.code; n++)
            if (file_same_target(all[n].path, all[i].path)) {
                error_at(&err, BASE_OPTION, 0, "'%.60s' is an output twice", all[i].path);
                error_note(&err, "--%s and --%s name the same file", all[n].option, all[i].option);
            }
    free(all);
    return output_reported(c, !err.code, &err);
}

/* Checks, before the first file is written, whether the other files may be written, too. The
 * command has read its inputs, so the files that must not be written are known. */
static bool others_permitted(struct cli *c, const char *first, penta_error *err)
{
    size_t count;
    if (c->has_written) return true;
    c->has_written = true;
    struct named_output *all = named_outputs(c, &count);
    for (size_t i = 0; i < count && !err->code; i++)
        if (!all[i].rewrites && !file_same_target(all[i].path, first))
            output_permitted(c, all[i].path, false, NULL, err);
    free(all);
    return !err->code;
}

bool output_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return a && b && !stat(a, &x) && !stat(b, &y) && output_same(&x, &y);
}

static bool write_checked(struct cli *c, const char *path, bool rewrite, penta_bytes bytes)
{
    penta_error err = {0};
    struct stat st;
    bool ok = output_permitted(c, path, rewrite, &bytes, &err) && others_permitted(c, path, &err) &&
              file_write(path, bytes, &err);
    if (ok && !stat(path, &st)) file_list_add(&c->touched, &st, true);
    return output_reported(c, ok, &err);
}

bool output_write(struct cli *c, const char *path, penta_bytes bytes)
{
    return write_checked(c, path, false, bytes);
}

bool output_rewrite(struct cli *c, const char *path, penta_bytes bytes)
{
    return write_checked(c, path, true, bytes);
}
