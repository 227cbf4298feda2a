/* Collects the options of a command from the table of the tool and the tables of the formats, each
 * name once, with the words that its value may be. */
#include "cli/help/option_list.h"
#include <string.h>
#include "base/bytes.h"

bool command_takes(enum command command, const char *format)
{
    const struct command_info *info = &commands[command];
    /* The loop goes over the words of the text. */
    for (const char *at = info->format; at; at = *at ? at + 1 : NULL) {
        size_t n = strcspn(at, " ");
        if (n == strlen(format) && !memcmp(at, format, n)) return true;
        at += n;
    }
    if (info->format) return false;
    return penta_format_uses(format) & info->needs;
}

/* Returns the i-th format that the command takes, or NULL after the last. */
static const char *option_list_taken(enum command command, const char *only, size_t i)
{
    const char *format;
    for (size_t k = 0; (format = penta_format_name(k)); k++)
        if ((!only || !strcmp(format, only)) && command_takes(command, format) && !i--)
            return format;
    return NULL;
}

const char *format_words(enum command command, const char *only, size_t i)
{
    return option_list_taken(command, only, i);
}

static bool has_engine(const char *format, const char *name)
{
    const char *engine;
    for (size_t i = 0; (engine = penta_engine_name(format, i)); i++)
        if (!strcmp(engine, name)) return true;
    return false;
}

const char *engine_words(enum command command, const char *only, size_t i)
{
    const char *format, *name;
    for (size_t f = 0; (format = option_list_taken(command, only, f)); f++)
        for (size_t k = 0; (name = penta_engine_name(format, k)); k++) {
            bool listed = false; /* A format before this one has listed the option. */
            for (size_t before = 0; before < f; before++)
                listed |= has_engine(option_list_taken(command, only, before), name);
            if (!listed && !i--) return name;
        }
    return NULL;
}

const char *spec_words(enum command command, const char *only, size_t i)
{
    (void)command, (void)only;
    return penta_spec_form(i);
}

bool listed_word(const struct listed_option *o, unsigned part, size_t i, penta_bytes *word)
{
    if (!o->tool || !o->tool->words) return option_word(o->row, part, i, word);
    if (part) return false;
    const char *text = o->tool->words(o->command, o->only, i);
    if (text) *word = bytes_of(text);
    return text;
}

const penta_option_info *command_option(enum command command, const char *key)
{
    const char *format;
    const penta_option_info *found = NULL;
    for (size_t i = 0; !found && (format = option_list_taken(command, NULL, i)); i++)
        found = penta_option_find(format, key, commands[command].uses);
    return found;
}

static bool tool_has(enum command command, const char *name)
{
    for (int i = 0; i < OPTS; i++)
        if (tool_options[i].commands >> command & 1 && !strcmp(tool_options[i].row.key, name))
            return true;
    return false;
}

static bool same_row(const penta_option_info *a, const penta_option_info *b)
{
    return !strcmp(a->key, b->key) && !strcmp(a->help, b->help) &&
           !strcmp(a->argument ? a->argument : "", b->argument ? b->argument : "");
}

/* Tells whether the format declares this row for the command. */
static bool option_list_declares(const char *format, const penta_option_info *row,
                                 enum command command)
{
    const penta_option_info *o = penta_option_find(format, row->key, commands[command].uses);
    return o && same_row(o, row);
}

/* Writes the formats that declare a row. Tells whether `first` is the first of them. */
static bool names_of(const penta_option_info *row, enum command command, const char *first,
                     char *names, size_t size)
{
    const char *format;
    bool is_first = false;
    *names = 0;
    for (size_t i = 0; (format = option_list_taken(command, NULL, i)); i++) {
        if (!option_list_declares(format, row, command)) continue;
        if (!*names) is_first = !strcmp(format, first);
        if (strlen(names) + strlen(format) + 2 >= size) continue;
        if (*names) strcat(names, " ");
        strcat(names, format);
    }
    return is_first;
}

static void format_options_each(struct listed_option *listed, const char *format,
                                listed_option_fn *fn, void *user)
{
    enum command command = listed->command;
    const penta_option_info *o;
    for (size_t i = 0; (o = penta_option_at(format, i)); i++) {
        char formats[128];
        if (!(o->uses & commands[command].uses) || tool_has(command, o->key)) continue;
        bool first = names_of(o, command, format, formats, sizeof formats);
        if (!listed->only && !first) continue;
        listed->name = o->key;
        listed->argument = o->argument;
        listed->help = o->help;
        listed->formats = formats;
        listed->row = o;
        fn(user, listed);
    }
}

void listed_options_each(enum command command, const char *only, listed_option_fn *fn, void *user)
{
    for (int i = 0; i < OPTS; i++) {
        const struct tool_option *o = &tool_options[i];
        struct listed_option listed = {.name = o->row.key,
                                       .argument = o->row.argument,
                                       .help = o->row.help,
                                       .letter = o->letter,
                                       .common = o->commands == ~UINT64_C(0),
                                       .command = command,
                                       .only = only,
                                       .row = &o->row,
                                       .tool = o};
        if (o->commands >> command & 1) fn(user, &listed);
    }
    const char *format;
    for (size_t i = 0; (format = option_list_taken(command, only, i)); i++) {
        struct listed_option listed = {.command = command, .only = only};
        format_options_each(&listed, format, fn, user);
    }
}
