/* Reads numbers and writes times in wide text. Numbers are in ASCII, so the longest ASCII start
 * of the text is read as narrow text, character for character. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

enum { SHORT = 128 };

/* Copies the part that can belong to a number to memory of its own, or to `place`, which has
 * SHORT bytes. */
static char *narrow_number(const wchar_t *s, char *place)
{
    size_t size = 0;
    while (s[size] > 0 && s[size] < 128 &&
           (iswalnum((wint_t)s[size]) || iswspace((wint_t)s[size]) || wcschr(L"+-._()", s[size])))
        size++;
    char *text = size < SHORT ? place : malloc(size + 1);
    if (!text) { /* Without memory only the start fits. */
        text = place;
        size = SHORT - 1;
    }
    for (size_t i = 0; i < size; i++) text[i] = (char)s[i];
    text[size] = 0;
    return text;
}

#define READ(type, name, narrow, ...)                                                              \
    type name                                                                                      \
    {                                                                                              \
        char place[SHORT], *text = narrow_number(s, place), *stop;                                 \
        type result = narrow(text, &stop __VA_OPT__(, ) __VA_ARGS__);                              \
        if (end) *end = (wchar_t *)s + (stop - text);                                              \
        if (text != place) free(text);                                                             \
        return result;                                                                             \
    }

READ(long, wcstol(const wchar_t *s, wchar_t **end, int base), strtol, base)
READ(long long, wcstoll(const wchar_t *s, wchar_t **end, int base), strtoll, base)
READ(unsigned long, wcstoul(const wchar_t *s, wchar_t **end, int base), strtoul, base)
READ(unsigned long long, wcstoull(const wchar_t *s, wchar_t **end, int base), strtoull, base)
READ(intmax_t, wcstoimax(const wchar_t *s, wchar_t **end, int base), strtoll, base)
READ(uintmax_t, wcstoumax(const wchar_t *s, wchar_t **end, int base), strtoull, base)
READ(double, wcstod(const wchar_t *s, wchar_t **end), strtod)
READ(float, wcstof(const wchar_t *s, wchar_t **end), strtof)
#if __LDBL_MANT_DIG__ == 113
READ(long double, wcstold(const wchar_t *s, wchar_t **end), strtold)
#endif

size_t wcsftime(wchar_t *to, size_t size, const wchar_t *format, const struct tm *tm)
{
    size_t bytes = 4 * wcslen(format) + 1, room = 4 * size, used = 0;
    char *narrow = malloc(bytes), *text = malloc(room);
    const wchar_t *from = format;
    mbstate_t state = {0};
    if (narrow && text && wcsrtombs(narrow, &from, bytes, &state) != (size_t)-1 &&
        strftime(text, room, narrow, tm)) {
        const char *at = text;
        used = mbsrtowcs(to, &at, size, &state);
        if (at) used = 0; /* The text does not fit. */
    }
    free(narrow);
    free(text);
    return used;
}
