/* Compares a value with the form that the argument of its option draws. A form is a text in a
 * table of the program, so it is trusted, and short. */
#include "base/options/form.h"
#include <string.h>
#include "base/bytes.h"
#include "base/options/kinds.h"

/* The number of colons in a value with repeated parts is limited, which bounds the depth of
 * calls. */
enum { REPEATS_MAX = 64 };
static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

struct form {
    const penta_option_info *row;
    const uint8_t *end; /* the end of the value */
    struct form_miss *miss;
};

static bool form_name_is(penta_bytes name, const char *const *list)
{
    for (; *list; list++)
        if (bytes_equal(name, bytes_of(*list))) return true;
    return false;
}

/* Finds the bracket that closes the one before `at`. */
static const char *form_closing(const char *at)
{
    for (unsigned depth = 1;; at++) {
        if (*at == '[') depth++;
        if (*at == ']' && !--depth) return at;
    }
}

/* Finds the bracket that opens the group in which `at` stands. */
static const char *form_opening(const char *at)
{
    for (unsigned depth = 1;;) {
        at--;
        if (*at == ']') depth++;
        if (*at == '[' && !--depth) return at;
    }
}

/* Appends the characters with which the form may continue after `at`. */
static void form_next(const char *at, char *found, size_t *count, size_t most)
{
    for (;; at++) {
        if (*at == '[') {
            form_next(at + 1, found, count, most);
            at = form_closing(at + 1);
        } else if (!strncmp(at, "...", 3)) {
            form_next(form_opening(at) + 1, found, count, most);
            at += 2;
        } else if (*at != ']') {
            break;
        }
    }
    if (*at && *count + 1 < most) found[(*count)++] = *at;
    found[*count] = 0;
}

static bool form_word(struct form *f, penta_bytes text, unsigned part)
{
    penta_bytes word;
    if (part >= OPTION_PARTS || !f->row->words[part]) return text.size;
    for (size_t i = 0; option_word(f->row, part, i, &word); i++)
        if (words_equal(word, text)) return true;
    uint64_t number;
    if (number_fits(f->row, text, false, &number)) return true;
    if (text.size) *f->miss = (struct form_miss){text, part};
    return false;
}

static bool form_terminal(struct form *f, penta_bytes name, penta_bytes text, unsigned part)
{
    static const char *const numbers[] = {"N",    "X",     "Y",     "Z",    "ADDR",     "FIRST",
                                          "LAST", "MAJOR", "MINOR", "PORT", "PRIORITY", NULL};
    static const char *const sizes[] = {"LEN", "BYTES", NULL};
    uint64_t value;
    if (form_name_is(name, numbers)) return number_fits(f->row, text, false, &value);
    if (form_name_is(name, sizes)) return number_fits(f->row, text, true, &value);
    return form_word(f, text, part);
}

static bool form_from(struct form *f, const char *at, const uint8_t *text, unsigned part);

/* Matches one of the words of a choice such as "ro|rw", and then the rest of the form. */
static bool form_choice(struct form *f, const char *at, const uint8_t *text, unsigned part)
{
    size_t all = strspn(at, "abcdefghijklmnopqrstuvwxyz|");
    for (const char *word = at; word < at + all;) {
        size_t n = strcspn(word, "|");
        if (word + n > at + all) n = (size_t)(at + all - word);
        if ((size_t)(f->end - text) >= n && !memcmp(text, word, n) &&
            form_from(f, at + all, text + n, part))
            return true;
        word += n + 1;
    }
    return false;
}

static bool form_capitals(struct form *f, const char *at, const uint8_t *text, unsigned part)
{
    char ends[16];
    size_t count = 0, n = 0, size = strspn(at, capitals), left = (size_t)(f->end - text);
    form_next(at + size, ends, &count, sizeof ends);
    while (n < left && !(text[n] && strchr(ends, text[n]))) n++;
    penta_bytes name = {(const uint8_t *)at, size}, piece = {text, n};
    return form_terminal(f, name, piece, part) && form_from(f, at + size, text + n, part);
}

static bool form_from(struct form *f, const char *at, const uint8_t *text, unsigned part)
{
    if (!*at) return text == f->end;
    if (*at == '[')
        return form_from(f, at + 1, text, part) ||
               form_from(f, form_closing(at + 1) + 1, text, part);
    if (*at == ']') return form_from(f, at + 1, text, part);
    if (!strncmp(at, "...", 3)) {
        bool more =
            text < f->end && part < REPEATS_MAX && form_from(f, form_opening(at) + 1, text, part);
        return more || form_from(f, at + 3, text, part);
    }
    if (strchr(capitals, *at)) return form_capitals(f, at, text, part);
    if (*at >= 'a' && *at <= 'z') return form_choice(f, at, text, part);
    if (text == f->end || *text != (uint8_t)*at) return false;
    return form_from(f, at + 1, text + 1, part + (*at == ':'));
}

bool form_matches(const penta_option_info *row, penta_bytes value, struct form_miss *miss)
{
    char form[80];
    size_t n = strlen(row->argument);
    if (row->items && n > 4) n -= 4; /* This leaves out ",..." at the end of the form. */
    if (n >= sizeof form) return true;
    memcpy(form, row->argument, n);
    form[n] = 0;
    *miss = (struct form_miss){0};
    struct form f = {row, value.data + value.size, miss};
    return form_from(&f, form, value.data, 0);
}
