/* Parses the words of the command line into commands and options, by the tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/options.h"
#include "cli/help/option_list.h"
#include "cli/help/suggestions.h"

const char *const command_groups[GROUPS] = {
#define GROUP(id, purpose) [GROUP_##id] = purpose,
#include "cli/commands.def"
};
const struct command_info commands[COMMANDS] = {
#define COMMAND(id, name, group, inputs, uses, formats, ...)                                       \
    [COMMAND_##id] = {name, GROUP_##group, INPUTS_##inputs, uses, formats, __VA_ARGS__},
#define EVERY NULL, PENTA_USE_OPEN
#define ONLY(format) #format, 0
#define WITH(use) NULL, PENTA_USE_##use
#include "cli/commands.def"
};

#define ON(name) (UINT64_C(1) << COMMAND_##name)
#define ALL (~UINT64_C(0))
#define READERS                                                                                    \
    (ON(INFO) | ON(INSPECT) | ON(HEX) | ON(VALIDATE) | ON(DIS) | ON(CONVERT) | ON(ROUNDTRIP) |     \
     ON(SEAL) | ON(OPEN) | ON(SIGN) | ON(VERIFY) | ON(EXTRACT) | ON(CREATE) | ON(COMPILE) |        \
     ON(BOARD) | MACHINES | ON(DIFF) | ON(SIZE) | ON(GRAPH) | ON(DETECT) | ON(JIT) | ON(TRAIN) |   \
     ON(EXPLORE) | ON(REPORT) | ON(EDIT))
#define MACHINES (ON(RUN) | ON(TRACE) | ON(DEBUG) | ON(GDBSERVER) | ON(PROFILE) | ON(COVER))
const struct tool_option tool_options[OPTS] = {
#define OPTION(id, name, short_name, type, on, ...)                                                \
    [OPT_##id] = {.row = {.key = name, KIND_##type, .help = TOOL_HELP(__VA_ARGS__, )},             \
                  .letter = short_name,                                                            \
                  .commands = on,                                                                  \
                  .words = TOOL_WORDS(__VA_ARGS__, NULL, )},
#define TOOL_HELP(help, ...) help
#define TOOL_WORDS(help, words, ...) words
#include "cli/options.def"
};

const penta_option_info *format_option(const char *key, unsigned uses)
{
    const penta_option_info *found = NULL;
    for (size_t i = 0; !found && penta_format_name(i); i++)
        found = penta_option_find(penta_format_name(i), key, uses);
    return found;
}

/* Returns the option of a command by its name or, with name NULL, its letter; -1 when it does
 * not exist. */
static int tool_option_find(enum command command, const char *name, char letter)
{
    for (int i = OPTS - 1; i >= 0; i--) {
        const struct tool_option *o = &tool_options[i];
        if ((name ? !strcmp(o->row.key, name) : o->letter == letter) &&
            (o->commands >> command & 1))
            return i;
    }
    return -1;
}

static bool unknown_option(struct cli *c, const char *dashes, const char *word, size_t size)
{
    char note[SUGGESTION_SIZE] = "";
    const char *name = commands[c->command].name;
    int shown = (int)(size > 40 ? 40 : size);
    suggest_option(c, (penta_bytes){(const uint8_t *)word, size}, note);
    if (!*note && c->named) snprintf(note, sizeof note, "penta help %s lists its options", name);
    if (!*note) snprintf(note, sizeof note, "a command comes first: penta help lists them");
    if (c->named)
        cli_usage(c, note, "unknown option '%s%.*s' for penta %s", dashes, shown, word, name);
    else
        cli_usage(c, note, "unknown option '%s%.*s'", dashes, shown, word);
    return false;
}

static bool add_format_option(struct cli *c, const char *key, const char *value)
{
    penta_option *more = realloc(c->format_options, (c->format_option_count + 1) * sizeof *more);
    if (!more) return false;
    c->format_options = more;
    c->format_options[c->format_option_count++] = (penta_option){key, value};
    return true;
}

/* Adds an option of the verb of a batch, for its workers: "--name=value" as one word, or two
 * words. */
static bool add_verb_option(struct cli *c, const char *name, const char *value)
{
    const char **more = realloc(c->verb_words, (c->verb_word_count + 1) * sizeof *more);
    size_t size = strlen(name) + (value ? strlen(value) : 0) + 4;
    char *word = more ? malloc(size) : NULL;
    if (more) c->verb_words = more;
    if (!word) return false;
    snprintf(word, size, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    c->verb_words[c->verb_word_count++] = word;
    return true;
}

/* Finds the verb of a batch. It decides which options exist, and may come after some of them. */
static void find_verb(struct cli *c, int argc, char **argv)
{
    bool seen = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        const char *word = argv[i];
        if (word[0] == '-' && word[1]) {
            char key[64] = "";
            bool is_long = word[1] == '-';
            snprintf(key, sizeof key, "%s", word + 2);
            int found = tool_option_find(COMMAND_BATCH, is_long ? key : NULL, word[1]);
            if (found >= 0 && tool_options[found].row.argument && (is_long || !word[2])) i++;
        } else if (!seen) {
            seen = true; /* The word is "batch". */
        } else if (strcmp(word, "submit")) {
            for (int k = 0; k < COMMANDS; k++)
                if (!strcmp(commands[k].name, word)) c->verb = (enum command)k;
            return;
        }
    }
}

static bool bad_value(struct cli *c, const penta_error *err)
{
    cli_error(c, NULL, err);
    return false;
}

static bool tool_word(const void *user, size_t i, penta_bytes *word)
{
    return listed_word(user, 0, i, word);
}

static bool add_repeated(struct cli *c, const char *value)
{
    const char **more = realloc(c->repeated, (c->repeated_count + 1) * sizeof *more);
    if (!more) return false;
    c->repeated = more;
    c->repeated[c->repeated_count++] = value;
    return true;
}

/* Sets an option of the tool. A word that is in the list of words is stored in the case of the
 * list. */
static bool set_value(struct cli *c, int option, const char *value)
{
    penta_error err = {0};
    const struct tool_option *o = &tool_options[option];
    c->value[option] = value;
    if (option == OPT_SET && !add_repeated(c, value)) return false;
    if (!o->words || !o->words(c->command, NULL, 0))
        return option_fits(&o->row, value, &err) || bad_value(c, &err);
    const char *word;
    for (size_t i = 0; (word = o->words(c->command, NULL, i)); i++) {
        if (!words_equal(bytes_of(word), bytes_of(value))) continue;
        c->value[option] = word;
        return true;
    }
    struct listed_option listed = {.command = c->command, .tool = o};
    option_none_of(&err, o->row.key, bytes_of(value), tool_word, &listed);
    return bad_value(c, &err);
}

/* Checks the value of an option by the rows of the formats that the command takes. Where the
 * rows differ and no format is named, the value is checked when the format of the file is known. */
static bool check_format_option(struct cli *c, const penta_option *given)
{
    const char *format, *only = format_chosen(c);
    penta_error err = {0};
    for (size_t i = 0; (format = penta_format_name(i)); i++) {
        const penta_option_info *row =
            penta_option_find(format, given->key, commands[c->command].uses);
        penta_error other = {0};
        if (!row || !command_takes(c->command, format) || (only && strcmp(only, format))) continue;
        if (option_fits(row, given->value, &other)) return true;
        if (err.code && strcmp(err.message, other.message)) return true;
        err = other;
    }
    return !err.code || bad_value(c, &err);
}

static bool check_format_options(struct cli *c)
{
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!check_format_option(c, &c->format_options[i])) return false;
    return true;
}

/* Parses --name, --name=value or --name value. *used grows when the value is the next word. */
static bool long_option(struct cli *c, const char *word, const char *next, int *used)
{
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    char key[64] = "";
    if (size < sizeof key) memcpy(key, word, size);
    int found = tool_option_find(c->command, key, 0);
    const penta_option_info *row = found < 0 ? command_option(c->command, key) : NULL;
    bool of_verb = found < 0 && !row && c->verb < COMMANDS;
    if (of_verb) {
        found = tool_option_find(c->verb, key, 0);
        row = found < 0 ? command_option(c->verb, key) : NULL;
    }
    if (found < 0 && !row) return unknown_option(c, "--", word, size);
    bool wants = found >= 0 ? tool_options[found].row.argument != NULL : row->argument != NULL;
    const char *value = equals ? equals + 1 : NULL;
    if (!wants && value) {
        cli_usage(c, NULL, "option '--%s' takes no value", key);
        return false;
    }
    if (wants && !value) {
        value = next;
        ++*used;
        if (!value) {
            cli_usage(c, NULL, "option '--%s' needs a value: %s", key,
                      found >= 0 ? tool_options[found].row.argument : row->argument);
            return false;
        }
    }
    if (of_verb) return add_verb_option(c, word, equals ? NULL : value);
    if (!value) value = "1";
    if (found >= 0) return set_value(c, found, value);
    return add_format_option(c, row->key, value);
}

static bool short_options(struct cli *c, const char *word, const char *next, int *used)
{
    for (; *word; word++) {
        int found = tool_option_find(c->command, NULL, *word);
        bool of_verb = found < 0 && c->verb < COMMANDS;
        if (of_verb) found = tool_option_find(c->verb, NULL, *word);
        if (found < 0) return unknown_option(c, "-", word, 1);
        if (of_verb && !tool_options[found].row.argument) {
            if (!add_verb_option(c, tool_options[found].row.key, NULL)) return false;
            continue;
        }
        if (!tool_options[found].row.argument) {
            c->value[found] = "1";
            if (found == OPT_HELP) c->value[found] = "short";
            continue;
        }
        const char *value = word[1] ? word + 1 : next;
        if (!word[1]) ++*used;
        if (value && of_verb) return add_verb_option(c, tool_options[found].row.key, value);
        if (value) return set_value(c, found, value);
        cli_usage(c, NULL, "option '-%c' needs a value: %s", *word,
                  tool_options[found].row.argument);
        return false;
    }
    return true;
}

static bool find_command(struct cli *c, const char *word)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, word)) {
            c->command = (enum command)i;
            return true;
        }
    char note[SUGGESTION_SIZE] = "penta help lists the commands";
    struct stat file;
    if (!stat(word, &file) && S_ISREG(file.st_mode))
        snprintf(note, sizeof note, "it is a file: penta info %.40s, penta run %.40s", word, word);
    else
        suggest_command(word, note);
    cli_usage(c, note, "unknown command '%.60s'", word);
    return false;
}

/* Tells whether the words after the file are arguments of the program. */
static bool program_arguments(struct cli *c)
{
    if (commands[c->command].inputs != INPUTS_PROGRAM) return true;
    for (size_t i = 1; i < c->word_count; i++)
        if (!add_format_option(c, "argv", c->words[i])) return false;
    if (c->word_count > 1) c->word_count = 1;
    return true;
}

static bool check_words(struct cli *c)
{
    static const size_t least[] = {0, 1, 2, 1, 0, 1, 1};
    static const size_t most[] = {0, 1, 2, SIZE_MAX, SIZE_MAX, 1, SIZE_MAX};
    const struct command_info *info = &commands[c->command];
    if (c->value[OPT_HELP]) return true;
    if (c->word_count >= least[info->inputs] && c->word_count <= most[info->inputs]) return true;
    char note[160];
    snprintf(note, sizeof note, "usage: penta %s [options] %s", info->name, info->arguments);
    cli_usage(c, note, c->word_count ? "too many arguments for penta %s" : "penta %s needs %s",
              info->name, info->arguments);
    return false;
}

/* Reports a word after a switch that prints. It may be meant as a file to write, and as an
 * argument of the program it would silently be lost. Arguments after "--" are never in doubt. */
static bool after_printing_switch(struct cli *c, const char *before, const char *word)
{
    static const enum option printing[] = {OPT_FOLDED, OPT_HOST_LOG, OPT_RAW_OUTPUT};
    if (commands[c->command].inputs != INPUTS_PROGRAM || !c->word_count) return false;
    for (size_t i = 0; i < sizeof printing / sizeof *printing; i++) {
        const char *name = tool_options[printing[i]].row.key;
        if (strncmp(before, "--", 2) || strcmp(before + 2, name)) continue;
        char note[120];
        snprintf(note, sizeof note,
                 "it prints: '> %.40s' keeps that; arguments of the program follow --", word);
        cli_usage(c, note, "--%s takes no file '%.40s'", name, word);
        return true;
    }
    return false;
}

bool cli_parse(struct cli *c, int argc, char **argv)
{
    bool has_command = false, only_words = false;
    c->command = COMMAND_HELP;
    c->verb = COMMANDS;
    c->words = calloc((size_t)argc + 1, sizeof *c->words);
    if (!c->words) return false;
    /* --json is found first of all, so that usage errors are in the document, too. */
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--json")) c->value[OPT_JSON] = "1";
    /* The command decides which options exist, and may come after some of them. */
    for (int i = 1; i < argc && !has_command; i++) {
        if (argv[i][0] != '-') {
            if (!find_command(c, argv[i])) return false;
            has_command = true;
        } else if (!strcmp(argv[i], "--color") && i + 1 < argc) {
            i++;
        }
    }
    c->named = has_command;
    if (c->command == COMMAND_BATCH) find_verb(c, argc, argv);
    bool past_command = !has_command;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        int used = 0;
        if (only_words || word[0] != '-' || !word[1]) {
            if (!past_command && !only_words && !strcmp(word, commands[c->command].name))
                past_command = true;
            else if (!only_words && after_printing_switch(c, argv[i - 1], word))
                return false;
            else
                c->words[c->word_count++] = word;
        } else if (!strcmp(word, "--")) {
            only_words = true;
        } else if (word[1] == '-') {
            if (!long_option(c, word + 2, next, &used)) return false;
        } else if (!short_options(c, word + 1, next, &used)) {
            return false;
        }
        i += used;
    }
    if (!has_command && c->value[OPT_VERSION]) c->command = COMMAND_VERSION;
    return program_arguments(c) && check_words(c) && check_format_options(c);
}

void cli_parse_free(struct cli *c)
{
    for (size_t i = 0; i < c->verb_word_count; i++) free((char *)(uintptr_t)c->verb_words[i]);
    free(c->verb_words);
    free(c->format_options);
    free(c->repeated);
    free(c->words);
}
