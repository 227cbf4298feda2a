/* The options of a command, those of the tool and those of the formats, with the words that their
 * values may be. Help, manual pages, completions and suggestions use this list. */
#pragma once
#include "cli/cli.h"

struct listed_option {
    const char *name, *argument, *help; /* argument NULL: a switch */
    char letter;                        /* or 0 */
    const char *formats; /* the formats that know it; NULL: it is an option of the tool */
    bool common;         /* every command has it */
    /* for listed_word */
    enum command command;
    const char *only;
    const struct tool_option *tool; /* or NULL */
    const penta_option_info *row;   /* kind and bounds of the value */
};
/* Whether the command works on files of this format. */
bool command_takes(enum command command, const char *format);

typedef void listed_option_fn(void *user, const struct listed_option *option);

/* Each distinct option; with `only`, of that format alone. An option that means something else in
 * another format counts as another option. */
void listed_options_each(enum command command, const char *only, listed_option_fn *fn, void *user);
/* The i-th word that this part of the value may be; false: there are no more. */
bool listed_word(const struct listed_option *option, unsigned part, size_t i, penta_bytes *word);
/* The row of a format option that the command accepts, or NULL. */
const penta_option_info *command_option(enum command command, const char *key);
