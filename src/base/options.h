/* Options are pairs of strings, declared once where they are understood: a row says what kind of
 * value an option has, so that one function checks all values, and readers get numbers, places
 * of words and bytes. */
#pragma once
#include "base/error.h"

/* These numbers are for the rows of options.def: they say where an option may be given, and what
 * its value names. */
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

/* OPTION_ROW makes a row of an options.def: OPTION("key", KIND, uses, "help"). KIND is one of the macros
 * below without "KIND_":
 *
 *     SWITCH  FILE  OUTPUT  FOLDER  TEXT("NAME")
 *     WORDS("little|big")              these words
 *     WORDS_OF("NAME", list)           the words of a function (word_list)
 *     COUNT("N", "unit" or NULL)       any number of 64 bits without a sign
 *     SIZE("BYTES", "unit" or NULL)    such a number, and K, M or G may follow
 *     NUMBER("N", least, most, unit)   SIZE_IN and REAL likewise; HEX("HEX", least, most) counts bytes
 *     NUMBERS, FILES, TEXTS, FORMS_OF  several, with commas between them
 *     FORM("ADDR:LEN[:FILE]")          a value of several parts; options/form.h says how it is read
 *
 * Parser, checks, messages, help, manual pages, completions, Python's hints and the explorer's form
 * come from these rows. */
#define OPTION_ROW(name, type, given, ...)                                                         \
    {                                                                                              \
        .key = name, KIND_##type, .uses = given, .help = __VA_ARGS__                               \
    }
#define KIND_SWITCH .kind = PENTA_OPTION_SWITCH
#define KIND_WORDS(list) .kind = PENTA_OPTION_WORDS, .argument = list
#define KIND_WORDS_OF(shown, list) .kind = PENTA_OPTION_WORDS, .argument = shown, .words = {list}
#define KIND_NUMBER(shown, low, high, of)                                                          \
    .kind = PENTA_OPTION_NUMBER, .argument = shown, .least = low, .most = high, .unit = of
#define KIND_NUMBERS(shown, low, high, count)                                                      \
    .kind = PENTA_OPTION_NUMBER, .argument = shown, .least = low, .most = high, .items = count
#define KIND_REAL(shown, low, high, of)                                                            \
    .kind = PENTA_OPTION_REAL, .argument = shown, .least = low, .most = high, .unit = of
#define KIND_COUNT(shown, of) KIND_NUMBER(shown, 0, UINT64_MAX, of)
#define KIND_SIZE(shown, of) KIND_SIZE_IN(shown, 0, UINT64_MAX, of)
#define KIND_SIZE_IN(shown, low, high, of)                                                         \
    .kind = PENTA_OPTION_SIZE, .argument = shown, .least = low, .most = high, .unit = of
#define KIND_HEX(shown, low, high)                                                                 \
    .kind = PENTA_OPTION_HEX, .argument = shown, .least = low, .most = high
#define KIND_FILE .kind = PENTA_OPTION_FILE, .argument = "FILE"
#define KIND_FILES .kind = PENTA_OPTION_FILE, .argument = "FILE,...", .items = PENTA_ITEMS_ANY
/* The value is a file, or one of these words, which stand for something that is no file. */
#define KIND_FILE_OR(shown, list) .kind = PENTA_OPTION_FILE, .argument = shown, .words = {list}
#define KIND_OUTPUT .kind = PENTA_OPTION_OUTPUT, .argument = "FILE"
#define KIND_FOLDER .kind = PENTA_OPTION_FOLDER, .argument = "FOLDER"
#define KIND_TEXT(shown) .kind = PENTA_OPTION_TEXT, .argument = shown
#define KIND_TEXTS(shown) .kind = PENTA_OPTION_TEXT, .argument = shown, .items = PENTA_ITEMS_ANY
#define KIND_FORM(shown) KIND_FORM_OF(shown, 0, UINT64_MAX, NULL)
/* The value has several parts, as in KIND_FORM, with bounds for its numbers and the words of
 * each part. */
#define KIND_FORM_OF(shown, low, high, ...)                                                        \
    .kind = PENTA_OPTION_FORM, .argument = shown, .least = low, .most = high, .words = {__VA_ARGS__}
#define KIND_FORMS_OF(shown, low, high, ...)                                                       \
    .items = PENTA_ITEMS_ANY, KIND_FORM_OF(shown, low, high, __VA_ARGS__)
/* The value is a word of a list that depends on the command. Only options of the tool have this
 * kind. */
#define KIND_WORDS_BY(shown) .kind = PENTA_OPTION_WORDS, .argument = shown

/* Gives the i-th word of an argument like "little|big". Returns false when there is no such
 * word, or the argument is no such list. */
bool argument_word(const char *argument, size_t i, penta_bytes *word);
/* Gives the i-th word that this part of an option's value may be. */
bool option_word(const penta_option_info *option, unsigned part, size_t i, penta_bytes *word);

/* Checks options: every key must be declared for this use, and every value must fit the kind of
 * its row. `known` ends with a NULL key and may be NULL. After this check, the functions below
 * that read options cannot fail. */
bool options_check(const penta_option *options, size_t count, const penta_option_info *known,
                   unsigned use, penta_error *err);
/* Checks one value. All messages about values that do not fit their rows are made here. */
bool option_fits(const penta_option_info *row, const char *value, penta_error *err);
/* Writes which values fit the row, as messages say it after "is not": "a number of bytes from
 * 4096 to 65536". */
void option_accepts(const penta_option_info *row, char *out, size_t size);
/* Writes bounds such as " from 1 to 64". Returns false when the bounds of the numbers are not
 * narrower than 32 bits. */
bool option_bounds(const penta_option_info *row, char *out, size_t size);
/* Makes the error for a value that fits its row but not its purpose: "option 'pc': '5' " and the
 * text. Returns false. */
bool option_refuse(penta_error *err, const char *key, const char *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Makes the error for a value that is none of these words, with the nearest word as a note.
 * Returns false. */
typedef bool word_source(const void *user, size_t i, penta_bytes *word);
bool option_none_of(penta_error *err, const char *key, penta_bytes value, word_source *words,
                    const void *user);
/* Makes the error "isa 'x' is none of a, b, c", with the nearest word as a note, and returns
 * false. It is for words that are no values of options. */
bool error_not_in(penta_error *err, const char *what, const char *value, word_list *words);

/* The functions below read the last value of a key from options that were checked. */

bool option_given(const penta_option *options, size_t count, const char *key);
/* Returns the value of an option of any kind as text, or NULL when the option was not given. */
const char *option_text(const penta_option *options, size_t count, const char *key);
/* Returns the value of an option that is a number or size; a negative number comes as two's
 * complement. */
uint64_t option_number(const penta_option *options, size_t count, const char *key,
                       uint64_t missing);
double option_real(const penta_option *options, size_t count, const char *key, double missing);
/* Tells whether the value of an option that takes words is this word. */
bool option_is(const penta_option *options, size_t count, const char *key, const char *word);
/* Returns the place of the value of an option that takes words in the list of these words. */
size_t option_index(const penta_option *options, size_t count, const char *key, word_list *words,
                    size_t missing);

/* The functions below read one value that was checked. */

uint64_t value_number(const char *value);
/* Reads the next of several numbers that commas separate. Returns false when there are no more. */
bool value_next_number(const char **rest, uint64_t *out);
/* Compares words without the case of letters. */
bool words_equal(penta_bytes word, penta_bytes text);
/* Returns the place of a word in a list, or the length of the list when it does not have the
 * word. */
size_t value_index(const char *value, word_list *words);
/* Returns the bytes of hex digits in a new buffer, or NULL with an error when memory ran out. */
uint8_t *value_hex(const char *value, size_t *size, penta_error *err);
/* Reads a number and may fail. option_number, which cannot fail, is to replace this function. */
bool option_uint(const penta_option *options, size_t count, const char *key, uint64_t *out,
                 penta_error *err);
