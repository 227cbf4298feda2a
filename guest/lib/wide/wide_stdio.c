/* Implements streams of wide characters, whose bytes are UTF-8. Formats become UTF-8, too, and
 * go to the functions of narrow text, which then count characters. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "stdio/file.h"
#include "stdio/printf.h"
#include "stdio/scanf.h"

int fwide(FILE *f, int mode)
{
    if (!f->orientation) f->orientation = (signed char)((mode > 0) - (mode < 0));
    return f->orientation;
}

wint_t fgetwc(FILE *f)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t used;
    fwide(f, 1);
    do {
        int c = fgetc(f);
        char byte = (char)c;
        if (c == EOF) {
            if (mbsinit(&state)) return WEOF;
            errno = EILSEQ;
            used = (size_t)-1;
        } else {
            used = mbrtowc(&wide, &byte, 1, &state);
        }
    } while (used == (size_t)-2);
    if (used != (size_t)-1) return (wint_t)wide;
    f->failed = 1;
    return WEOF;
}

wint_t ungetwc(wint_t c, FILE *f)
{
    char bytes[4];
    size_t size = c == WEOF ? (size_t)-1 : wcrtomb(bytes, (wchar_t)c, NULL);
    if (size > sizeof f->back - f->backs) return WEOF;
    while (size)
        if (ungetc((unsigned char)bytes[--size], f) == EOF) return WEOF;
    return c;
}

wint_t fputwc(wchar_t c, FILE *f)
{
    char bytes[4];
    size_t size = wcrtomb(bytes, c, NULL);
    fwide(f, 1);
    if (size == (size_t)-1) f->failed = 1;
    return size == (size_t)-1 || fwrite(bytes, 1, size, f) != size ? WEOF : (wint_t)c;
}

wchar_t *fgetws(wchar_t *line, int size, FILE *f)
{
    int n = 0;
    wint_t c = 0;
    while (n < size - 1 && c != L'\n' && (c = fgetwc(f)) != WEOF) line[n++] = (wchar_t)c;
    if (size < 1 || (!n && size > 1) || (c == WEOF && f->failed)) return NULL;
    line[n] = 0;
    return line;
}

int fputws(const wchar_t *text, FILE *f)
{
    fwide(f, 1);
    for (; *text; text++)
        if (fputwc(*text, f) == WEOF) return -1;
    return 0;
}

wint_t getwc(FILE *f) { return fgetwc(f); }
wint_t getwchar(void) { return fgetwc(stdin); }
wint_t putwc(wchar_t c, FILE *f) { return fputwc(c, f); }
wint_t putwchar(wchar_t c) { return fputwc(c, stdout); }

/* Returns the text in UTF-8, which the caller frees, or NULL. */
static char *utf8_of(const wchar_t *text)
{
    size_t size = 4 * wcslen(text) + 1;
    char *bytes = malloc(size);
    if (bytes && wcsrtombs(bytes, &text, size, NULL) != (size_t)-1) return bytes;
    free(bytes);
    return NULL;
}

struct stream_sink {
    struct sink sink;
    FILE *file;
};

static void stream_put(struct sink *s, const char *text, size_t size)
{
    struct stream_sink *to = (struct stream_sink *)s;
    if (fwrite(text, 1, size, to->file) != size) s->failed = 1;
}

int vfwprintf(FILE *file, const wchar_t *format, va_list args)
{
    struct stream_sink s = {.sink = {.put = stream_put, .wide = 1}, .file = file};
    char *narrow = utf8_of(format);
    fwide(file, 1);
    int n = narrow ? penta_format(&s.sink, narrow, args) : -1;
    free(narrow);
    return n;
}

struct wide_sink {
    struct sink sink;
    wchar_t *to;
    size_t left; /* number of places before the zero at the end */
    mbstate_t state;
};

static void wide_put(struct sink *s, const char *text, size_t size)
{
    struct wide_sink *w = (struct wide_sink *)s;
    while (size) {
        wchar_t c;
        size_t used = mbrtowc(&c, text, size, &w->state);
        if (used == (size_t)-1) s->failed = 1;
        if (used > size) break;
        if (!used) used = 1; /* The character is a zero. */
        text += used;
        size -= used;
        if (!w->left) {
            s->failed = 1; /* Unlike snprintf, vswprintf does not return the size. */
            break;
        }
        *w->to++ = c;
        w->left--;
    }
}

int vswprintf(wchar_t *to, size_t size, const wchar_t *format, va_list args)
{
    struct wide_sink w = {
        .sink = {.put = wide_put, .wide = 1}, .to = to, .left = size ? size - 1 : 0};
    char *narrow = utf8_of(format);
    int n = narrow && size ? penta_format(&w.sink, narrow, args) : -1;
    free(narrow);
    if (size) *w.to = 0;
    return n;
}

int vwprintf(const wchar_t *format, va_list args) { return vfwprintf(stdout, format, args); }

int vfwscanf(FILE *file, const wchar_t *format, va_list args)
{
    char *narrow = utf8_of(format);
    fwide(file, 1);
    int n = narrow ? penta_scan(file, NULL, narrow, args) : EOF;
    free(narrow);
    return n;
}

int vswscanf(const wchar_t *text, const wchar_t *format, va_list args)
{
    char *narrow = utf8_of(format), *bytes = utf8_of(text);
    int n = narrow && bytes ? penta_scan(NULL, bytes, narrow, args) : EOF;
    free(narrow);
    free(bytes);
    return n;
}

int vwscanf(const wchar_t *format, va_list args) { return vfwscanf(stdin, format, args); }

#define FORWARD(call)                                                                              \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    int n = call;                                                                                  \
    va_end(args);                                                                                  \
    return n

int wprintf(const wchar_t *format, ...) { FORWARD(vfwprintf(stdout, format, args)); }
int fwprintf(FILE *file, const wchar_t *format, ...) { FORWARD(vfwprintf(file, format, args)); }
int swprintf(wchar_t *to, size_t size, const wchar_t *format, ...)
{
    FORWARD(vswprintf(to, size, format, args));
}
int wscanf(const wchar_t *format, ...) { FORWARD(vfwscanf(stdin, format, args)); }
int fwscanf(FILE *file, const wchar_t *format, ...) { FORWARD(vfwscanf(file, format, args)); }
int swscanf(const wchar_t *text, const wchar_t *format, ...)
{
    FORWARD(vswscanf(text, format, args));
}
