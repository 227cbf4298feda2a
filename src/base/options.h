/* Options are pairs of strings, declared once where they are understood. The same rows check the
 * library's callers and feed the command line's parser, help, man pages and completions. */
#pragma once
#include "base/error.h"

/* Bits: where an option may be given, and what its value names. */
enum option_use {
    OPTION_OPEN = 1,     /* opening a file: every command that reads one */
    OPTION_PRINT = 2,    /* dis */
    OPTION_ASSEMBLE = 4, /* asm */
    OPTION_RUN = 8,      /* run, trace, debug */
    OPTION_CONVERT = 16, /* convert */
    OPTION_SEAL = 32,    /* seal */
    OPTION_UNSEAL = 64,  /* open */
    OPTION_CREATE = 128, /* create, compile */
    OPTION_SIGN = 256,   /* sign */
    OPTION_VERIFY = 512, /* verify */
    OPTION_BOARD = 1024, /* board */
    OPTION_LINK = 2048,  /* link */
    OPTION_BLOCK = 4096, /* block */
    /* Its value names, for checks before anything is written: */
    OPTION_WRITES = 1 << 16,   /* a file to write */
    OPTION_FOLDER = 1 << 17,   /* a folder whose files are the machine's own */
    OPTION_REWRITES = 1 << 18, /* a file to write, perhaps one that was read */
};

/* The words of a table, one by one; NULL after the last. */
typedef const char *word_list(size_t i);

enum { OPTION_PARTS = 5 };

struct option_info {
    const char *key;
    const char *argument; /* "ADDR:LEN"; "little|big" lists its words itself; NULL: a switch */
    unsigned uses;        /* of enum option_use */
    const char *help;
    /* The words that each part of the value may be; colons separate parts, most values have one.
     * NULL: any. Files and numbers may be allowed besides the words. */
    word_list *words[OPTION_PARTS];
};
/* A row of an options.def: its lists, if any, come after the help. */
#define OPTION_ROW(key, argument, uses, ...) OPTION_ROW_OF(key, argument, uses, __VA_ARGS__, NULL)
#define OPTION_ROW_OF(key, argument, uses, help, ...)                                              \
    {                                                                                              \
        key, argument, uses, help, { __VA_ARGS__ }                                                 \
    }

/* The i-th word of an argument like "little|big"; false: there is none, or it is no such list. */
bool argument_word(const char *argument, size_t i, penta_bytes *word);
/* The i-th word that this part of an option's value may be. */
bool option_word(const struct option_info *option, unsigned part, size_t i, penta_bytes *word);
/* The error "isa 'x' is none of a, b, c", with the nearest word as a note; returns false. */
bool error_not_in(penta_error *err, const char *what, const char *value, word_list *words);

/* Every key must be declared for this use; known ends with a NULL key and may be NULL. */
bool options_check(const penta_option *options, size_t count, const struct option_info *known,
                   unsigned use, penta_error *err);
/* The last value of a key, or NULL. */
const char *option_text(const penta_option *options, size_t count, const char *key);
/* False only on a malformed number; *out keeps its value when the key is absent. */
bool option_uint(const penta_option *options, size_t count, const char *key, uint64_t *out,
                 penta_error *err);
