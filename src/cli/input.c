/* Reads the files of a command within the limit of --max-input, recognises their format and
 * opens them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file/file.h"
#include "base/file/file_list.h"
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/help/option_list.h"

bool input_read(struct cli *c, const char *name, struct input *in)
{
    *in = (struct input){.name = name};
    uint64_t limit = cli_number(c, OPT_MAX_INPUT, UINT64_C(1) << 30);
    penta_error err = {0};
    if (c->given_name && c->given_name == name && c->given.size <= limit) {
        in->bytes =
            (penta_buffer){(uint8_t *)(uintptr_t)c->given.data, c->given.size, c->given.size};
        in->borrowed = true;
        struct stat st;
        if (c->given_is_file && !stat(name, &st)) file_list_read(&st);
        return true;
    }
    bool ok = strcmp(name, "-")
                  ? file_read(name, limit, &in->bytes, &err)
                  : file_read_fd(STDIN_FILENO, "standard input", limit, &in->bytes, &err);
    if (err.code == BASE_LIMIT) error_note(&err, "--max-input raises the limit");
    if (!ok) cli_error(c, name, &err);
    return ok;
}

penta_option *options_for(const struct cli *c, const char *format, unsigned use, size_t *count)
{
    penta_option *found = calloc(c->format_option_count + 1, sizeof *found);
    *count = 0;
    for (size_t i = 0; found && i < c->format_option_count; i++)
        if (penta_option_find(format, c->format_options[i].key, use))
            found[(*count)++] = c->format_options[i];
    return found;
}

/* Says that files of this format do not have an option, and which files have it. */
static void option_refused(struct cli *c, const char *format, const penta_option *option)
{
    char note[100] = "files that have it:";
    const char *other;
    if (!strcmp(option->key, "argv")) {
        cli_usage(c, "words after FILE are arguments of the program: pvm has them",
                  "%s programs take no arguments: '%.40s'", format, option->value);
        return;
    }
    for (size_t i = 0; (other = penta_format_name(i)); i++) {
        if (!command_takes(c->command, other) || strlen(note) + strlen(other) + 2 > sizeof note ||
            !penta_option_find(other, option->key, commands[c->command].uses))
            continue;
        strcat(note, " ");
        strcat(note, other);
    }
    cli_usage(c, note, "%s files have no option '--%s'", format, option->key);
}

bool options_known(struct cli *c, const char *format)
{
    for (size_t i = 0; i < c->format_option_count; i++) {
        const char *key = c->format_options[i].key;
        if (penta_option_find(format, key, commands[c->command].uses)) continue;
        option_refused(c, format, &c->format_options[i]);
        return false;
    }
    return true;
}

/* Adds a hint at what to do instead: choose a format, or first make a file of the format from a
 * source. */
static void add_hint(const char *name, penta_error *err)
{
    const char *format = format_of_suffix(name);
    const char *dot = strrchr(name, '.');
    if (err->code == BASE_AMBIGUOUS) snprintf(err->note, sizeof err->note, "--format chooses one");
    if (err->code != BASE_UNKNOWN_FORMAT) return;
    if (format)
        snprintf(err->note, sizeof err->note, "this is %s text: penta asm %.50s -o FILE first",
                 format, name);
    else if (dot && !strcmp(dot, ".ino"))
        snprintf(err->note, sizeof err->note, "a source: penta compile %.50s -o FILE first", name);
}

const char *format_chosen(const struct cli *c)
{
    const char *format = c->value[OPT_FORMAT];
    for (size_t i = 0; !format && i < c->format_option_count; i++)
        format = penta_option_chooses(c->format_options[i].key);
    return format;
}

/* Returns the format whose text the suffix of the name promises, because run, trace and debug
 * take assembly text, too. */
static const char *source_format(const struct cli *c, const char *name)
{
    bool runs = commands[c->command].inputs == INPUTS_PROGRAM;
    return runs && !c->value[OPT_FORMAT] ? format_of_suffix(name) : NULL;
}

/* Recognises the format of a file. *sure is set when the other formats are less likely. */
static const char *format_guessed(penta_bytes bytes, bool *sure)
{
    penta_guess guesses[2];
    size_t count = penta_detect(bytes, guesses, 2);
    *sure = count == 1 || (count == 2 && guesses[0].confidence > guesses[1].confidence);
    return count ? guesses[0].format : NULL;
}

static bool open_source(struct cli *c, struct input *in, const char *format)
{
    if (options_known(c, format)) in->module = assemble_input(c, in, format);
    if (!in->module) input_close(in);
    return in->module != NULL;
}

bool format_known(const char *name) { return penta_format_uses(name) != 0; }

/* Refuses a file of a format that the command is not for. */
static bool format_served(struct cli *c, const char *name, const char *format)
{
    const struct command_info *command = &commands[c->command];
    penta_error err = {0};
    if (!command->format || command_takes(c->command, format)) return true;
    error_at(&err, BASE_UNSUPPORTED, 0, "penta %s is not for %s files", command->name, format);
    error_note(&err, "files it is for: %s", command->format);
    cli_error(c, name, &err);
    return false;
}

static void deviation_add(void *user, const penta_error *finding)
{
    const penta_rule *rule = penta_rule_find(finding->code);
    if (finding->severity == PENTA_WARNING && rule && rule->scope == PENTA_SCOPE_RECOVERABLE)
        finding_sink_add(user, finding);
}

/* Lists what was passed over in a file because of --lenient. The command validate lists it among
 * all findings. */
static void input_deviations(struct cli *c, const struct input *in)
{
    struct finding_sink sink;
    bool lenient = option_given(c->format_options, c->format_option_count, "lenient");
    if (!lenient || c->command == COMMAND_VALIDATE) return;
    finding_sink_init(&sink, c, in->name);
    sink.module = in->module;
    sink.uncounted = true;
    penta_validate(in->module, deviation_add, &sink);
    if (sink.count)
        finding_sink_tell(&sink);
    else
        finding_sink_drop(&sink);
}

bool input_open(struct cli *c, const char *name, struct input *in)
{
    if (!input_read(c, name, in)) return false;
    penta_error err = {0};
    const char *named = format_chosen(c), *format = named;
    const char *text = source_format(c, name), *guessed = NULL;
    bool sure = true;
    if (!in->bytes.size) format = NULL; /* An empty file has no format, whatever --format is. */
    if (!format || text) guessed = format_guessed(input_bytes(in), &sure);
    if (text && !guessed) return open_source(c, in, text);
    if (!format)
        format = guessed;
    else
        sure = true;
    bool known = format && format_known(format);
    if (known && !format_served(c, name, format)) {
        input_close(in);
        return false;
    }
    if (known && !options_known(c, format)) {
        input_close(in);
        return false;
    }
    size_t count = 0;
    penta_option *options = known ? options_for(c, format, OPTION_OPEN, &count) : NULL;
    /* Without a format the library reports why it chooses none. */
    in->module = penta_open(input_bytes(in), sure ? format : NULL, options, count, &err);
    free(options);
    if (in->module) c->format_seen = penta_module_format(in->module);
    if (in->module && format_accepts(c, name, in->module)) {
        input_deviations(c, in);
        return true;
    }
    if (in->module) {
        input_close(in);
        return false;
    }
    add_hint(name, &err);
    bool forced = named && cli_exit_of(err.code) == EXIT_NO;
    cli_error(c, name, &err);
    /* The file cannot be parsed although the format was given. */
    if (forced) cli_fail(c, EXIT_DAMAGED);
    input_close(in);
    return false;
}

void input_close(struct input *in)
{
    penta_close(in->module);
    if (!in->borrowed) penta_buffer_free(&in->bytes);
    in->module = NULL;
}
