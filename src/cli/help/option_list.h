/* Declares the options of a command, those of the tool and those of the formats, with the words
 * that their values may be. Help, manual pages, completions and suggestions use this list. */
#pragma once
#include "cli/cli.h"

struct listed_option {
    const char *name, *argument, *help; /* the argument is NULL for a switch */
    char letter;                        /* the letter of the short form, or 0 */
    const char *formats; /* the formats that know the option; NULL for an option of the tool */
    bool common;         /* Every command has the option. */
    /* These two are for listed_word. */
    enum command command;
    const char *only;
    const struct tool_option *tool; /* the row of an option of the tool, or NULL */
    const penta_option_info *row;   /* the kind and bounds of the value */
};
/* Tells whether the command works on files of this format. */
bool command_takes(enum command command, const char *format);

typedef void listed_option_fn(void *user, const struct listed_option *option);

/* Calls fn for each distinct option; with `only`, for those of that format alone. An option that
 * means something else in another format counts as another option. */
void listed_options_each(enum command command, const char *only, listed_option_fn *fn, void *user);
/* Finds the i-th word that this part of the value may be. Returns false after the last. */
bool listed_word(const struct listed_option *option, unsigned part, size_t i, penta_bytes *word);
/* Returns the row of a format option that the command accepts, or NULL. */
const penta_option_info *command_option(enum command command, const char *key);
