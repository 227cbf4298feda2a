/* Options are pairs of strings, declared once where they are understood. The same rows check the
 * library's callers and feed the command line's parser, help, man pages and completions. */
#pragma once
#include "base/error.h"

/* For the rows of options.def: where an option may be given, and what its value names. */
enum option_use {
    OPTION_OPEN = PENTA_USE_OPEN,
    OPTION_PRINT = PENTA_USE_PRINT,
    OPTION_ASSEMBLE = PENTA_USE_ASSEMBLE,
    OPTION_RUN = PENTA_USE_RUN,
    OPTION_CONVERT = PENTA_USE_CONVERT,
    OPTION_SEAL = PENTA_USE_SEAL,
    OPTION_UNSEAL = PENTA_USE_UNSEAL,
    OPTION_CREATE = PENTA_USE_CREATE,
    OPTION_SIGN = PENTA_USE_SIGN,
    OPTION_VERIFY = PENTA_USE_VERIFY,
    OPTION_BOARD = PENTA_USE_BOARD,
    OPTION_LINK = PENTA_USE_LINK,
    OPTION_BLOCK = PENTA_USE_BLOCK,
    OPTION_TRAIN = PENTA_USE_TRAIN,
    OPTION_WRITES = PENTA_USE_WRITES,
    OPTION_FOLDER = PENTA_USE_FOLDER,
    OPTION_REWRITES = PENTA_USE_REWRITES,
    OPTION_CHOOSES = PENTA_USE_CHOOSES,
};

typedef penta_words word_list;
enum { OPTION_PARTS = PENTA_OPTION_PARTS };

/* A row of an options.def: its lists, if any, come after the help. */
#define OPTION_ROW(key, argument, uses, ...) OPTION_ROW_OF(key, argument, uses, __VA_ARGS__, NULL)
#define OPTION_ROW_OF(key, argument, uses, help, ...)                                              \
    {                                                                                              \
        key, argument, uses, help, { __VA_ARGS__ }                                                 \
    }

/* The i-th word of an argument like "little|big"; false: there is none, or it is no such list. */
bool argument_word(const char *argument, size_t i, penta_bytes *word);
/* The i-th word that this part of an option's value may be. */
bool option_word(const penta_option_info *option, unsigned part, size_t i, penta_bytes *word);
/* The error "isa 'x' is none of a, b, c", with the nearest word as a note; returns false. */
bool error_not_in(penta_error *err, const char *what, const char *value, word_list *words);

/* Every key must be declared for this use; known ends with a NULL key and may be NULL. */
bool options_check(const penta_option *options, size_t count, const penta_option_info *known,
                   unsigned use, penta_error *err);
/* The last value of a key, or NULL. */
const char *option_text(const penta_option *options, size_t count, const char *key);
/* False only on a malformed number; *out keeps its value when the key is absent. */
bool option_uint(const penta_option *options, size_t count, const char *key, uint64_t *out,
                 penta_error *err);
