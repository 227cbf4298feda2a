#include "cli/help/option_list.h"
#include <string.h>
#include "base/bytes.h"
#include "core/engine.h"

bool command_takes(enum command command, const struct driver *driver)
{
    const struct command_info *info = &commands[command];
    const void *entry;
    if (info->format) return !strcmp(driver->name, info->format);
    memcpy(&entry, (const char *)driver + info->entry, sizeof entry);
    return entry;
}

/* ---- words of the tool's own options ---- */

static bool takes_one_of(enum command command, const struct driver *only, size_t i)
{
    return (!only || drivers[i] == only) && command_takes(command, drivers[i]);
}

const char *format_words(enum command command, const struct driver *only, size_t i)
{
    for (size_t d = 0; drivers[d]; d++)
        if (takes_one_of(command, only, d) && !i--) return drivers[d]->name;
    return NULL;
}

/* Whether a format before this one has an engine of this name. */
static bool engine_listed(enum command command, const struct driver *only, size_t before,
                          const char *name)
{
    for (size_t d = 0; d < before; d++)
        for (size_t k = 0; drivers[d]->engines && drivers[d]->engines[k]; k++)
            if (takes_one_of(command, only, d) && !strcmp(drivers[d]->engines[k]->name, name))
                return true;
    return false;
}

const char *engine_words(enum command command, const struct driver *only, size_t i)
{
    for (size_t d = 0; drivers[d]; d++) {
        if (!takes_one_of(command, only, d)) continue;
        for (size_t k = 0; drivers[d]->engines && drivers[d]->engines[k]; k++) {
            const char *name = drivers[d]->engines[k]->name;
            if (!engine_listed(command, only, d, name) && !i--) return name;
        }
    }
    return NULL;
}

bool listed_word(const struct listed_option *o, unsigned part, size_t i, penta_bytes *word)
{
    if (o->row) return option_word(o->row, part, i, word);
    if (part) return false;
    if (!o->tool->words) return argument_word(o->argument, i, word);
    const char *text = o->tool->words(o->command, o->only, i);
    if (text) *word = bytes_of(text);
    return text;
}

/* ---- options of the formats ---- */

static bool accepts(enum command command, const struct driver *driver, const struct option_info *o)
{
    return o->uses & commands[command].uses && command_takes(command, driver);
}

const struct option_info *command_option(enum command command, const char *key)
{
    for (size_t i = 0; drivers[i]; i++)
        for (const struct option_info *o = drivers[i]->options; o && o->key; o++)
            if (accepts(command, drivers[i], o) && !strcmp(o->key, key)) return o;
    return NULL;
}

static bool tool_has(enum command command, const char *name)
{
    for (int i = 0; i < OPTS; i++)
        if (tool_options[i].commands >> command & 1 && !strcmp(tool_options[i].name, name))
            return true;
    return false;
}

static bool same_row(const struct option_info *a, const struct option_info *b)
{
    return !strcmp(a->key, b->key) && !strcmp(a->help, b->help) &&
           !strcmp(a->argument ? a->argument : "", b->argument ? b->argument : "");
}

/* The first format that declares this row for the command, or NULL. */
static const struct driver *first_with(const struct option_info *row, enum command command)
{
    for (size_t i = 0; drivers[i]; i++)
        for (const struct option_info *o = drivers[i]->options; o && o->key; o++)
            if (accepts(command, drivers[i], o) && same_row(o, row)) return drivers[i];
    return NULL;
}

static void names_of(const struct option_info *row, enum command command, char *names, size_t size)
{
    *names = 0;
    for (size_t i = 0; drivers[i]; i++)
        for (const struct option_info *o = drivers[i]->options; o && o->key; o++)
            if (accepts(command, drivers[i], o) && same_row(o, row) &&
                strlen(names) + strlen(drivers[i]->name) + 2 < size) {
                if (*names) strcat(names, " ");
                strcat(names, drivers[i]->name);
                break;
            }
}

/* ---- the list ---- */

static void format_options_each(struct listed_option *listed, const struct driver *driver,
                                listed_option_fn *fn, void *user)
{
    enum command command = listed->command;
    for (const struct option_info *o = driver->options; o && o->key; o++) {
        char formats[128];
        if (!accepts(command, driver, o) || tool_has(command, o->key)) continue;
        if (!listed->only && first_with(o, command) != driver) continue;
        names_of(o, command, formats, sizeof formats);
        listed->name = o->key;
        listed->argument = o->argument;
        listed->help = o->help;
        listed->formats = formats;
        listed->row = o;
        fn(user, listed);
    }
}

void listed_options_each(enum command command, const struct driver *only, listed_option_fn *fn,
                         void *user)
{
    for (int i = 0; i < OPTS; i++) {
        const struct tool_option *o = &tool_options[i];
        struct listed_option listed = {.name = o->name,
                                       .argument = o->argument,
                                       .help = o->help,
                                       .letter = o->letter,
                                       .common = o->commands == ~UINT64_C(0),
                                       .command = command,
                                       .only = only,
                                       .tool = o};
        if (o->commands >> command & 1) fn(user, &listed);
    }
    for (size_t i = 0; drivers[i]; i++) {
        struct listed_option listed = {.command = command, .only = only};
        if (!only || drivers[i] == only) format_options_each(&listed, drivers[i], fn, user);
    }
}
