/* Converts multibyte text, which is UTF-8: characters up to U+10FFFF, without surrogates, in
 * their shortest form. A state has the bits of a character that were read, and how many of its
 * bytes are missing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>
#include "system/weak.h"

/* state.left has the number of missing bytes, and the length of the whole character. */
enum { MISSING = 7, LENGTH_SHIFT = 4 };

static const size_t bad = (size_t)-1, unfinished = (size_t)-2;

int mbsinit(const mbstate_t *state) { return !state || !state->left; }

static size_t multibyte_error(mbstate_t *state)
{
    *state = (mbstate_t){0};
    errno = EILSEQ;
    return bad;
}

/* Tells whether these first bits of a character of `length` bytes, of which `left` are missing,
 * can become a character. */
static int multibyte_possible(unsigned value, unsigned length, unsigned left)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned low = value << 6 * left, high = low | ((1u << 6 * left) - 1);
    return high >= least[length] && low <= 0x10ffff && !(low >= 0xd800 && high <= 0xdfff);
}

static size_t multibyte_next(unsigned *to, const char *from, size_t size, mbstate_t *state)
{
    size_t used = 0;
    unsigned left = state->left & MISSING, length = state->left >> LENGTH_SHIFT;
    unsigned value = state->value;
    while (used < size) {
        unsigned char c = (unsigned char)from[used++];
        if (!left) {
            if (c < 0x80) {
                *to = c;
                return c ? used : 0;
            }
            if (c < 0xc2 || c > 0xf4) return multibyte_error(state);
            length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
            left = length - 1;
            value = c & (0x7fu >> length);
        } else {
            if (c >> 6 != 2) return multibyte_error(state);
            value = value << 6 | (c & 63);
            left--;
        }
        if (!multibyte_possible(value, length, left)) return multibyte_error(state);
        if (!left) {
            *state = (mbstate_t){0};
            *to = value;
            return used;
        }
    }
    *state = (mbstate_t){value, left | length << LENGTH_SHIFT};
    return unfinished;
}

size_t mbrtoc32(char32_t *to, const char *from, size_t size, mbstate_t *state)
{
    static mbstate_t own;
    unsigned c;
    if (!state) state = &own;
    if (!from) to = NULL, from = "", size = 1;
    size_t used = multibyte_next(&c, from, size, state);
    if (to && used < unfinished) *to = c;
    return used;
}

size_t c32rtomb(char *to, char32_t c, mbstate_t *state)
{
    if (!to) return 1;
    if (state) *state = (mbstate_t){0};
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        errno = EILSEQ;
        return bad;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length; --i; c >>= 6) to[i] = (char)(0x80 | (c & 63));
    to[0] = (char)((0xf00u >> length & 0xf0) | c);
    return length;
}

size_t mbrtowc(wchar_t *to, const char *from, size_t size, mbstate_t *state)
{
    static mbstate_t own;
    char32_t c;
    size_t used = mbrtoc32(&c, from, size, state ? state : &own);
    if (from && to && used < unfinished) *to = (wchar_t)c;
    return used;
}

size_t wcrtomb(char *to, wchar_t c, mbstate_t *state) { return c32rtomb(to, (char32_t)c, state); }

size_t mbrlen(const char *from, size_t size, mbstate_t *state)
{
    static mbstate_t own;
    return mbrtowc(NULL, from, size, state ? state : &own);
}

wint_t btowc(int c) { return (unsigned)c < 128 ? (wint_t)c : WEOF; }
int wctob(wint_t c) { return c < 128 ? (int)c : -1; }

/* A flag in state.left: `value` is the second surrogate, which comes next. */
enum { SECOND = 0x100 };

size_t mbrtoc16(char16_t *to, const char *from, size_t size, mbstate_t *state)
{
    static mbstate_t own;
    char32_t c;
    if (!state) state = &own;
    if (!from) to = NULL, from = "", size = 1;
    if (state->left == SECOND) {
        if (to) *to = (char16_t)state->value;
        *state = (mbstate_t){0};
        return (size_t)-3;
    }
    size_t used = mbrtoc32(&c, from, size, state);
    if (used >= unfinished) return used;
    if (c >= 0x10000) {
        *state = (mbstate_t){0xdc00 + (c & 0x3ff), SECOND};
        c = 0xd800 + ((c - 0x10000) >> 10);
    }
    if (to) *to = (char16_t)c;
    return used;
}

size_t c16rtomb(char *to, char16_t c, mbstate_t *state)
{
    static mbstate_t own;
    if (!state) state = &own;
    if (!to) {
        *state = (mbstate_t){0};
        return 1;
    }
    if (state->left == SECOND) {
        unsigned first = state->value;
        if (c < 0xdc00 || c > 0xdfff) return multibyte_error(state);
        return c32rtomb(to, 0x10000 + ((first - 0xd800) << 10) + (c - 0xdc00u), state);
    }
    if (c >= 0xd800 && c < 0xdc00) {
        *state = (mbstate_t){c, SECOND};
        return 0;
    }
    return c32rtomb(to, c, state);
}

size_t mbsnrtowcs(wchar_t *to, const char **from, size_t bytes, size_t size, mbstate_t *state)
{
    static mbstate_t own;
    const char *at = *from;
    size_t count = 0;
    if (!state) state = &own;
    mbstate_t copy = *state;
    if (!to) state = &copy;
    for (; !to || count < size; count++) {
        wchar_t c = 0;
        size_t used = mbrtowc(&c, at, bytes, state);
        if (used == bad) {
            if (to) *from = at;
            return bad;
        }
        if (used == unfinished) {
            at += bytes;
            break;
        }
        if (to) to[count] = c;
        if (!used) {
            if (to) *from = NULL;
            return count;
        }
        at += used;
        bytes -= used;
    }
    if (to) *from = at;
    return count;
}

size_t mbsrtowcs(wchar_t *to, const char **from, size_t size, mbstate_t *state)
{
    return mbsnrtowcs(to, from, strlen(*from) + 1, size, state);
}

size_t wcsnrtombs(char *to, const wchar_t **from, size_t count, size_t size, mbstate_t *state)
{
    const wchar_t *at = *from;
    size_t used = 0;
    for (; count; at++, count--) {
        char bytes[4];
        size_t n = wcrtomb(bytes, *at, state);
        if (n == bad) {
            if (to) *from = at;
            return bad;
        }
        if (to && n > size - used) break;
        if (to) memcpy(to + used, bytes, n);
        if (!*at) {
            if (to) *from = NULL;
            return used;
        }
        used += n;
    }
    if (to) *from = at;
    return used;
}

size_t wcsrtombs(char *to, const wchar_t **from, size_t size, mbstate_t *state)
{
    return wcsnrtombs(to, from, (size_t)-1, size, state);
}

int mbtowc(wchar_t *to, const char *from, size_t size)
{
    mbstate_t state = {0};
    if (!from) return 0;
    size_t used = mbrtowc(to, from, size, &state);
    if (used < unfinished) return (int)used;
    errno = EILSEQ;
    return -1;
}

int mblen(const char *from, size_t size) { return mbtowc(NULL, from, size); }
int wctomb(char *to, wchar_t c) { return to ? (int)wcrtomb(to, c, NULL) : 0; }

size_t mbstowcs(wchar_t *to, const char *from, size_t size)
{
    mbstate_t state = {0};
    return mbsrtowcs(to, &from, size, &state);
}

size_t wcstombs(char *to, const wchar_t *from, size_t size)
{
    return wcsrtombs(to, &from, size, NULL);
}
