/* Decides which texts fit the kinds of option values, makes the messages for those that do not,
 * and reads those that do. */
#include "base/options/kinds.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/options/form.h"
#include "base/suggest.h"

bool words_equal(penta_bytes word, penta_bytes text)
{
    if (word.size != text.size) return false;
    for (size_t i = 0; i < text.size; i++)
        if (tolower(word.data[i]) != tolower(text.data[i])) return false;
    return true;
}

bool number_fits(const penta_option_info *row, penta_bytes text, bool suffix, uint64_t *out)
{
    bool negative = row->least < 0 && text.size && text.data[0] == '-';
    if (negative) text = bytes_slice(text, 1, text.size);
    if (!(suffix ? number_parse_size_bytes : number_parse_bytes)(text, out)) return false;
    if (negative) {
        bool fits = *out <= 0 - (uint64_t)row->least;
        *out = 0 - *out;
        return fits;
    }
    return *out <= row->most && (row->least <= 0 || *out >= (uint64_t)row->least);
}

static bool real_parse(penta_bytes text, double *out)
{
    char copy[64], *end;
    if (!text.size || text.size >= sizeof copy || isspace(text.data[0])) return false;
    bytes_copy(copy, text);
    copy[text.size] = 0;
    *out = strtod(copy, &end);
    return !*end && isfinite(*out);
}

static bool real_fits(const penta_option_info *row, penta_bytes text)
{
    double value;
    return real_parse(text, &value) && value >= (double)row->least / 1000 &&
           value <= (double)row->most / 1000;
}

/* Tells whether the text is hex digits for as many bytes as the row allows; white space may
 * stand between bytes. */
static bool hex_fits(const penta_option_info *row, penta_bytes text)
{
    uint64_t bytes = 0;
    text = number_without_0x(text);
    for (size_t i = 0; i < text.size; i++) {
        if (isspace(text.data[i])) continue;
        if (i + 1 == text.size || hex_digit(text.data[i]) < 0 || hex_digit(text.data[i + 1]) < 0)
            return false;
        bytes++;
        i++;
    }
    return bytes >= (uint64_t)row->least && bytes <= row->most;
}

static bool word_fits(const penta_option_info *row, penta_bytes text)
{
    penta_bytes word;
    for (size_t i = 0; option_word(row, 0, i, &word); i++)
        if (words_equal(word, text)) return true;
    return false;
}

static bool item_fits(const penta_option_info *row, penta_bytes text, struct form_miss *miss)
{
    uint64_t number;
    switch (row->kind) {
    case PENTA_OPTION_SWITCH: return bytes_equal(text, bytes_of("1"));
    case PENTA_OPTION_WORDS: return word_fits(row, text);
    case PENTA_OPTION_NUMBER: return number_fits(row, text, false, &number);
    case PENTA_OPTION_REAL: return real_fits(row, text);
    case PENTA_OPTION_SIZE: return number_fits(row, text, true, &number);
    case PENTA_OPTION_HEX: return hex_fits(row, text);
    case PENTA_OPTION_FILE:
    case PENTA_OPTION_OUTPUT:
    case PENTA_OPTION_FOLDER: return text.size;
    case PENTA_OPTION_TEXT: return !row->items || text.size;
    case PENTA_OPTION_FORM: return form_matches(row, text, miss);
    }
    return false;
}

/* Writes bounds such as "from 1 to 64", as far as they differ from those of the type. */
static void bounds_text(const penta_option_info *row, char *out, size_t size)
{
    bool real = row->kind == PENTA_OPTION_REAL;
    unsigned bits = 0;
    while (bits < 63 && row->most >> bits) bits++;
    *out = 0;
    if (real)
        snprintf(out, size, " from %.10g to %.10g", (double)row->least / 1000,
                 (double)row->most / 1000);
    else if (row->most == UINT64_MAX && row->least > 0)
        snprintf(out, size, " of %lld or more", (long long)row->least);
    else if (row->most == UINT64_MAX)
        snprintf(out, size, "%s", row->least ? " of 64 bits" : "");
    else if (!row->least && bits >= 32 && !(row->most & (row->most + 1)))
        snprintf(out, size, " below 2^%u", bits);
    else
        snprintf(out, size, " from %lld to %llu", (long long)row->least,
                 (unsigned long long)row->most);
}

bool option_bounds(const penta_option_info *row, char *out, size_t size)
{
    bool number = row->kind == PENTA_OPTION_NUMBER || row->kind == PENTA_OPTION_SIZE;
    if (!number || row->most >= INT32_MAX) return false;
    bounds_text(row, out, size);
    return true;
}

void option_accepts(const penta_option_info *row, char *out, size_t size)
{
    char bounds[64], many[16] = "";
    bounds_text(row, bounds, sizeof bounds);
    if (row->items && row->items != PENTA_ITEMS_ANY) snprintf(many, sizeof many, "%u ", row->items);
    const char *of = row->unit ? " of " : "", *unit = row->unit ? row->unit : "";
    switch (row->kind) {
    case PENTA_OPTION_SWITCH: snprintf(out, size, "1: it is a switch"); return;
    case PENTA_OPTION_HEX:
        if ((uint64_t)row->least == row->most)
            snprintf(out, size, "%llu bytes in hex", (unsigned long long)row->most);
        else
            snprintf(out, size, "bytes in hex");
        return;
    case PENTA_OPTION_FILE:
    case PENTA_OPTION_OUTPUT: snprintf(out, size, "the name of a file"); return;
    case PENTA_OPTION_FOLDER: snprintf(out, size, "the name of a folder"); return;
    case PENTA_OPTION_FORM:
        snprintf(out, size, "%s%s%s", row->argument, *bounds ? ", numbers" : "", bounds);
        return;
    case PENTA_OPTION_NUMBER:
    case PENTA_OPTION_REAL:
        if (row->items)
            snprintf(out, size, "a list of %snumbers%s", many, bounds);
        else
            snprintf(out, size, "a number%s%s%s", of, unit, bounds);
        return;
    case PENTA_OPTION_SIZE:
        snprintf(out, size, "a number%s%s%s, or one with K, M or G", of, unit, bounds);
        return;
    case PENTA_OPTION_TEXT:
        snprintf(out, size, "%s", row->items ? "a list of names" : "text");
        return;
    case PENTA_OPTION_WORDS: snprintf(out, size, "one of the words"); return;
    }
}

bool option_none_of(penta_error *err, const char *key, penta_bytes value, word_source *words,
                    const void *user)
{
    enum { WORD_MAX = 48, VALUE_MAX = 40 };
    char list[sizeof err->message] = "", copy[WORD_MAX], best[WORD_MAX];
    size_t used = 0, shown = value.size < VALUE_MAX ? value.size : VALUE_MAX,
           rest = sizeof "option '': '' is none of " + strlen(key) + shown,
           room = rest < sizeof list ? sizeof list - rest : 0;
    penta_bytes word;
    struct suggest near = {.word = value};
    for (size_t i = 0; words(user, i, &word); i++) {
        snprintf(copy, sizeof copy, "%.*s", BYTES_ARG(word, WORD_MAX - 1));
        suggest_offer(&near, copy);
        if (near.best == copy) near.best = strcpy(best, copy);
        if (used > room) continue; /* The list is full. */
        size_t need = strlen(copy) + (i ? 2 : 0);
        bool fits = used + need + sizeof ", ..." <= room;
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", fits ? copy : "...");
        used = fits ? used + need : room + 1;
    }
    error_at(err, BASE_OPTION_VALUE, 0, "option '%s': '%.*s' is none of %s", key,
             BYTES_ARG(value, VALUE_MAX), list);
    return near.best ? error_note(err, "did you mean '%s'?", near.best) : false;
}

struct part_words { /* A struct part_words gives the words that a part of a value may be. */
    const penta_option_info *row;
    unsigned part;
};

static bool part_word(const void *user, size_t i, penta_bytes *word)
{
    const struct part_words *p = user;
    return option_word(p->row, p->part, i, word);
}

static bool refuse_value(const penta_option_info *row, const char *value,
                         const struct form_miss *miss, penta_error *err)
{
    char accepted[100];
    bool word = row->kind == PENTA_OPTION_WORDS;
    if (word || miss->word.size) {
        struct part_words words = {row, miss->part};
        return option_none_of(err, row->key, word ? bytes_of(value) : miss->word, part_word,
                              &words);
    }
    option_accepts(row, accepted, sizeof accepted);
    option_refuse(err, row->key, value, "is not %s", accepted);
    return row->kind == PENTA_OPTION_FORM && *row->help ? error_note(err, "%s", row->help) : false;
}

bool option_refuse(penta_error *err, const char *key, const char *value, const char *format, ...)
{
    char text[100];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_at(err, BASE_OPTION_VALUE, 0, "option '%s': '%.40s' %s", key, value, text);
}

bool option_fits(const penta_option_info *row, const char *value, penta_error *err)
{
    struct form_miss miss = {0};
    penta_bytes all = bytes_of(value);
    if (!row->items) return item_fits(row, all, &miss) || refuse_value(row, value, &miss, err);
    unsigned items = 0;
    for (size_t at = 0; all.size && at <= all.size; items++) {
        size_t n = strcspn(value + at, ",");
        if (!item_fits(row, bytes_slice(all, at, n), &miss))
            return refuse_value(row, value, &miss, err);
        at += n + 1;
    }
    bool right = row->items == PENTA_ITEMS_ANY || items == row->items;
    return right || refuse_value(row, value, &miss, err);
}

static bool value_parse(penta_bytes text, uint64_t *out)
{
    static const penta_option_info any = {.least = INT64_MIN, .most = UINT64_MAX};
    return number_fits(&any, text, true, out);
}

uint64_t value_number(const char *value)
{
    uint64_t out = 0;
    value_parse(bytes_of(value), &out);
    return out;
}

bool value_next_number(const char **rest, uint64_t *out)
{
    const char *text = *rest;
    size_t n = strcspn(text, ",");
    *out = 0;
    *rest = text[n] ? text + n + 1 : text + n;
    return n && value_parse((penta_bytes){(const uint8_t *)text, n}, out);
}

size_t value_index(const char *value, word_list *words)
{
    size_t i = 0;
    while (words(i) && !words_equal(bytes_of(words(i)), bytes_of(value))) i++;
    return i;
}

uint8_t *value_hex(const char *value, size_t *size, penta_error *err)
{
    return hex_parse(number_without_0x(bytes_of(value)), size, err);
}

uint64_t option_number(const penta_option *options, size_t count, const char *key, uint64_t missing)
{
    const char *text = option_text(options, count, key);
    return text ? value_number(text) : missing;
}

double option_real(const penta_option *options, size_t count, const char *key, double missing)
{
    const char *text = option_text(options, count, key);
    double value = missing;
    return text && real_parse(bytes_of(text), &value) ? value : missing;
}

bool option_is(const penta_option *options, size_t count, const char *key, const char *word)
{
    const char *text = option_text(options, count, key);
    return text && words_equal(bytes_of(word), bytes_of(text));
}

size_t option_index(const penta_option *options, size_t count, const char *key, word_list *words,
                    size_t missing)
{
    const char *text = option_text(options, count, key);
    return text ? value_index(text, words) : missing;
}
