/* Has the verbs of a batch, and checks which of their options make sense for many files at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/batch/batch.h"
#include "cli/terminal/terminal.h"

const struct batch_verb batch_verbs[] = {
#define VERB(command, ...) {COMMAND_##command, __VA_ARGS__},
#include "cli/batch/verbs.def"
};

const struct batch_verb *batch_verb_find(enum command command)
{
    for (size_t i = 0; i < sizeof batch_verbs / sizeof *batch_verbs; i++)
        if (batch_verbs[i].command == command) return &batch_verbs[i];
    return NULL;
}

/* Returns the first option that names a file to write, or NULL. */
static const char *batch_writing_option(const struct cli *parsed)
{
    for (int i = 0; i < OPTS; i++)
        if (tool_options[i].row.kind == PENTA_OPTION_OUTPUT && parsed->value[i])
            return tool_options[i].row.key;
    for (size_t i = 0; i < parsed->format_option_count; i++)
        if (format_option(parsed->format_options[i].key, OPTION_WRITES | OPTION_REWRITES))
            return parsed->format_options[i].key;
    return NULL;
}

bool batch_options_allowed(struct cli *c, const struct cli *parsed)
{
    const struct batch_verb *verb = batch_verb_find(parsed->command);
    const char *engine = parsed->value[OPT_ENGINE], *writes = batch_writing_option(parsed);
    if (parsed->command == COMMAND_PROFILE && engine && strcmp(engine, "interp")) {
        cli_usage(
            c, "--engine interp counts instructions",
            "a profile by time differs from run to run, and batch gives the same lines always");
        return false;
    }
    for (size_t i = 0; i < parsed->format_option_count; i++)
        if (format_option(parsed->format_options[i].key, OPTION_FOLDER)) {
            cli_usage(c, "each file would see the changes of the files before it",
                      "--%s keeps a state between runs, and is not for a batch",
                      parsed->format_options[i].key);
            return false;
        }
    if (c->value[OPT_FILES_TO] || !(verb->makes_file || writes)) return true;
    if (writes)
        cli_usage(c, "--files-to DIR says where, for each source", "--%s writes a file", writes);
    else
        cli_usage(c, "--files-to DIR says where, for each source", "penta %s makes a file",
                  commands[parsed->command].name);
    return false;
}

static bool batch_word_add(char **argv, int *argc, const char *prefix, const char *word,
                           size_t size)
{
    size_t first = strlen(prefix);
    argv[*argc] = malloc(first + size + 1);
    if (!argv[*argc]) return false;
    memcpy(argv[*argc], prefix, first);
    memcpy(argv[*argc] + first, word, size);
    argv[*argc][first + size] = 0;
    ++*argc;
    return true;
}

bool batch_verb_parse(struct cli *parsed, const char *verb, const char *const *options,
                      size_t count, const char *grid, char ***argv)
{
    size_t points = 1;
    for (const char *p = grid; p && *p; p++) points += *p == ',';
    char **words = calloc(count + points + 6, sizeof *words);
    int argc = 0;
    *argv = words;
    *parsed = (struct cli){.program = "penta", .captured = true};
    bool ok = words && batch_word_add(words, &argc, "", "penta", 5) &&
              batch_word_add(words, &argc, "", "--json", 6) &&
              batch_word_add(words, &argc, "", verb, strlen(verb));
    for (size_t i = 0; ok && i < count; i++)
        ok = batch_word_add(words, &argc, "", options[i], strlen(options[i]));
    for (const char *p = grid; ok && p && *p;) {
        size_t size = strcspn(p, ",");
        ok = batch_word_add(words, &argc, "--", p, size);
        p += size + (p[size] == ',');
    }
    ok = ok && batch_word_add(words, &argc, "", "--", 2) &&
         batch_word_add(words, &argc, "", "FILE", 4);
    /* A block runs on a state, which comes first. */
    if (ok && !strcmp(verb, "block")) ok = batch_word_add(words, &argc, "", "FILE", 4);
    return ok && cli_parse(parsed, argc, words);
}
