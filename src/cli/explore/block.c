/* Writes the block of the explorer's page that holds the file, the options and the files that
 * options name. Base64 keeps their bytes out of the HTML. */
#include "cli/explore/block.h"
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/codec/base64.h"
#include "cli/terminal/terminal.h"

enum { NAME_MAX_BYTES = 256 };

/* Writes the name of a file without its folders, because these tell something about the user's
 * machine. */
static void own_name(const char *path, char *name)
{
    char *copy = strdup(path);
    snprintf(name, NAME_MAX_BYTES, "%s", copy ? basename(copy) : path);
    free(copy);
}

static void write_bytes(struct json *j, const char *name, penta_bytes bytes)
{
    struct writer text = {0};
    base64_write(&text, bytes);
    json_text(j, "name", name);
    json_string(j, "bytes", writer_view(&text));
    j->out->failed |= text.failed;
    writer_free(&text);
}

static void write_input(struct json *j, const struct input *in)
{
    char name[NAME_MAX_BYTES];
    own_name(in->name, name);
    write_bytes(j, name, input_bytes(in));
}

/* Returns the format of the file, or NULL when it is not known; every format's options are then
 * used. */
static const char *format_of(const struct cli *c, const struct input *in)
{
    penta_guess guess;
    const char *format = format_chosen(c);
    if (!format && penta_detect(input_bytes(in), &guess, 1)) format = guess.format;
    return format ? format : format_of_suffix(in->name);
}

/* Returns the file that an option reads, or NULL. */
static const char *file_of(const struct cli *c, const char *format, const penta_option *option)
{
    unsigned uses = commands[c->command].uses;
    const penta_option_info *info =
        format ? penta_option_find(format, option->key, uses) : format_option(option->key, uses);
    bool written = info && info->uses & (PENTA_USE_WRITES | PENTA_USE_REWRITES);
    if (!info || !info->argument || written) return NULL;
    if (!strcmp(info->argument, "FILE")) return option->value;
    const char *equals = strcmp(info->argument, "GUEST=FILE") ? NULL : strchr(option->value, '=');
    return equals ? equals + 1 : NULL;
}

/* Makes a unique name in the page, which has no folders, so that two files with one name are
 * kept apart. */
static void page_name(const char *path, size_t number, char *name)
{
    char own[NAME_MAX_BYTES];
    own_name(path, own);
    snprintf(name, NAME_MAX_BYTES, "%zu-%.200s", number, own);
}

static void write_options(const struct cli *c, const char *format, struct json *j)
{
    json_list(j, "options");
    for (size_t i = 0; i < c->format_option_count; i++) {
        const penta_option *option = &c->format_options[i];
        const char *path = file_of(c, format, option);
        char name[NAME_MAX_BYTES];
        if (path) page_name(path, i + 1, name);
        json_object(j, NULL);
        json_text(j, "key", option->key);
        struct writer value = {0}; /* the value, with the text before the name of the file */
        writer_bytes(&value, option->value, path ? (size_t)(path - option->value) : 0);
        writer_text(&value, path ? name : option->value);
        if (value.failed) j->out->failed = true;
        json_string(j, "value", writer_view(&value));
        writer_free(&value);
        json_end(j);
    }
    json_end(j);
}

static bool write_files(struct cli *c, const char *format, struct json *j)
{
    bool ok = true;
    json_list(j, "files");
    for (size_t i = 0; i < c->format_option_count && ok; i++) {
        const char *path = file_of(c, format, &c->format_options[i]);
        struct input in;
        char name[NAME_MAX_BYTES];
        if (!path) continue;
        ok = input_read(c, path, &in);
        if (!ok) break;
        page_name(path, i + 1, name);
        json_object(j, NULL);
        write_bytes(j, name, input_bytes(&in));
        json_end(j);
        input_close(&in);
        if (c->value[OPT_OUTPUT]) /* The page may be sent to others, and the file may be a key. */
            terminal_say(c, "note: the page has the contents of %s in it", path);
    }
    json_end(j);
    return ok;
}

/* Writes a text with each '<' replaced, so that no text in the block can end it. */
static void write_escaped(struct writer *out, penta_bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '<')
            writer_text(out, "\\u003c");
        else
            writer_char(out, (char)text.data[i]);
}

bool block_write(struct cli *c, const struct input *in, const struct input *other,
                 struct writer *out)
{
    struct writer text = {0};
    struct json j = {.out = &text};
    const char *format = format_of(c, in);
    if (format && !format_known(format)) {
        cli_usage(c, "penta formats lists them", "no format is called '%.40s'", format);
        return false;
    }
    if (format && !options_known(c, format)) return false;
    json_object(&j, NULL);
    write_input(&j, in);
    json_text(&j, "format", format_chosen(c));
    write_options(c, format, &j);
    bool ok = write_files(c, format, &j);
    if (other) {
        json_object(&j, "other");
        write_input(&j, other);
        json_end(&j);
    }
    json_finish(&j);
    writer_text(out, "<script type=\"application/json\" id=\"opened\">");
    write_escaped(out, writer_view(&text));
    writer_text(out, "</script>");
    out->failed |= text.failed;
    writer_free(&text);
    return ok;
}
