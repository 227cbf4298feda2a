/* Reads formatted input. Characters come one at a time, and one can be put back. For narrow text
 * they are bytes, for wide text the characters of UTF-8. */
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "stdio/scanf.h"
#include "stdlib/strtod.h"

struct source {
    FILE *file; /* NULL when `text` is read */
    const char *text;
    size_t read; /* number of characters read so far */
    int next;    /* the character that was put back, or NONE */
    int wide;    /* The characters are those of UTF-8. */
};
enum { NONE = -2, WORD = 512 };

static int get_byte(struct source *s)
{
    return s->file ? fgetc(s->file) : *s->text ? (unsigned char)*s->text++ : EOF;
}

/* Reads a character of UTF-8 that starts with c. Bytes that are not a character end the input. */
static int get_rest(struct source *s, int c)
{
    mbstate_t state = {0};
    wchar_t wide;
    for (char byte = (char)c; mbrtowc(&wide, &byte, 1, &state) == (size_t)-2; byte = (char)c)
        if ((c = get_byte(s)) == EOF) return EOF;
    return mbsinit(&state) ? (int)wide : EOF;
}

static int source_get(struct source *s)
{
    int c = s->next;
    s->next = NONE;
    if (c == NONE) {
        c = get_byte(s);
        if (s->wide && c > 127) c = get_rest(s, c);
    }
    if (c != EOF) s->read++;
    return c;
}

static void source_back(struct source *s, int c)
{
    if (c != EOF) s->read--;
    s->next = c;
}

static int source_peek(struct source *s)
{
    int c = source_get(s);
    source_back(s, c);
    return c;
}

static void skip_space(struct source *s)
{
    int c;
    while (isspace(c = source_get(s))) continue;
    source_back(s, c);
}

struct place {    /* Where a result is stored. */
    int suppress; /* The result is not stored. */
    int width;    /* 0 when none was given */
    int size;     /* -2 char, -1 short, 0 int, 1 long, 2 long long, 3 size of a pointer */
};

static void place_store(va_list *args, const struct place *p, long long value)
{
    if (p->suppress) return;
    switch (p->size) {
    case -2: *va_arg(*args, signed char *) = (signed char)value; break;
    case -1: *va_arg(*args, short *) = (short)value; break;
    case 1: *va_arg(*args, long *) = (long)value; break;
    case 2: *va_arg(*args, long long *) = value; break;
    case 3: *va_arg(*args, ptrdiff_t *) = (ptrdiff_t)value; break;
    default: *va_arg(*args, int *) = (int)value; break;
    }
}

/* Reads the longest start of the input that may belong to an integer, at most `width`
 * characters. */
static size_t take_integer(struct source *s, char *word, int width, int *base)
{
    size_t n = 0, most = width && width < WORD - 1 ? (size_t)width : WORD - 1;
    int c = source_get(s);
    if (n < most && (c == '-' || c == '+')) word[n++] = (char)c, c = source_get(s);
    if (n < most && c == '0' && (!*base || *base == 16)) {
        word[n++] = (char)c;
        c = source_get(s);
        if (n < most && (c | 32) == 'x') {
            word[n++] = (char)c;
            c = source_get(s);
            *base = 16;
        } else if (!*base) {
            *base = 8;
        }
    }
    if (!*base) *base = 10;
    for (; n < most; c = source_get(s)) {
        int digit = isdigit(c) ? c - '0' : isalpha(c) ? (c | 32) - 'a' + 10 : 99;
        if (digit >= *base) break;
        word[n++] = (char)c;
    }
    source_back(s, c);
    word[n] = 0;
    return n;
}

static size_t take_float(struct source *s, char *word, int width)
{
    size_t n = 0, most = width && width < WORD - 1 ? (size_t)width : WORD - 1;
    int c = source_get(s), hex = 0, exponent = 0;
    for (; n < most && c != EOF; c = source_get(s)) {
        int sign =
            (c == '-' || c == '+') && (!n || (exponent && (word[n - 1] | 32) == (hex ? 'p' : 'e')));
        if ((c | 32) == 'x' && n && word[n - 1] == '0')
            hex = 1;
        else if (!exponent && (c | 32) == (hex ? 'p' : 'e') && n)
            exponent = 1;
        else if (!sign && c != '.' && !(hex ? isxdigit(c) : isdigit(c)) &&
                 !(isalpha(c) && !hex && !exponent && strchr("infatyINFATY", c)))
            break;
        word[n++] = (char)c;
    }
    source_back(s, c);
    word[n] = 0;
    return n;
}

/* Reads the next character of a set. */
static int set_next(const char **p, const char *end, int wide)
{
    wchar_t c;
    mbstate_t state = {0};
    size_t size = wide ? mbrtowc(&c, *p, (size_t)(end - *p), &state) : 1;
    if (!wide || size > 4) return (unsigned char)*(*p)++;
    *p += size;
    return (int)c;
}

static int in_set(const char *set, const char *end, int c, int wide)
{
    int inverted = *set == '^', found = 0;
    set += inverted;
    while (set < end) {
        int first = set_next(&set, end, wide), last = first;
        if (set + 1 < end && *set == '-') {
            set++;
            last = set_next(&set, end, wide);
        }
        found |= first <= c && c <= last;
    }
    return found != inverted;
}

struct text_place { /* Where %s, %c and %[ store bytes or wide characters. Both are NULL when
                  * nothing is stored. */
    char *bytes;
    wchar_t *wide;
};

/* Stores a character, or the zero at the end. A narrow source gives bytes, which `state` turns
 * into wide characters. */
static int text_put(const struct source *s, struct text_place *to, int c, mbstate_t *state)
{
    if (to->bytes && s->wide) {
        to->bytes += wcrtomb(to->bytes, (wchar_t)c, NULL);
    } else if (to->bytes) {
        *to->bytes++ = (char)c;
    } else if (to->wide && s->wide) {
        *to->wide++ = (wchar_t)c;
    } else if (to->wide) {
        char byte = (char)c;
        size_t size = mbrtowc(to->wide, &byte, 1, state);
        if (size == (size_t)-1) return 0;
        to->wide += size != (size_t)-2;
    }
    return 1;
}

/* Reads for %s, %c and %[. Returns 1 if anything was read. `set` has the characters to read;
 * NULL means all for %c, and all but white space for %s. */
static int take_text(struct source *s, struct text_place to, int width, const char *set,
                     const char *end, int all)
{
    int n = 0, c = source_get(s);
    mbstate_t state = {0};
    for (; c != EOF && (!width || n < width); c = source_get(s)) {
        if (set ? !in_set(set, end, c, s->wide) : !all && isspace(c)) break;
        if (!text_put(s, &to, c, &state)) return 0;
        n++;
    }
    source_back(s, c);
    if (!all && n) text_put(s, &to, 0, &state);
    return n > 0;
}

static struct text_place text_place_of(va_list *args, const struct place *p)
{
    struct text_place to = {NULL, NULL};
    if (p->suppress) return to;
    if (p->size == 1)
        to.wide = va_arg(*args, wchar_t *);
    else
        to.bytes = va_arg(*args, char *);
    return to;
}

static int scan_format(struct source *s, const char *f, va_list outer)
{
    int done = 0;
    char text[WORD];
    struct {
        va_list list; /* A va_list may be an array, which has no address as an argument. */
    } a;
    va_copy(a.list, outer);
    for (; *f; f++) {
        if (isspace((unsigned char)*f)) {
            skip_space(s);
            continue;
        }
        if (*f != '%' || f[1] == '%') {
            if (*f == '%') skip_space(s), f++;
            const char *next = f;
            int c = source_get(s);
            if (c == set_next(&next, f + strlen(f), s->wide)) {
                f = next - 1;
                continue;
            }
            source_back(s, c);
            if (c == EOF && !done) done = EOF;
            break;
        }
        struct place p = {0};
        if (*++f == '*') p.suppress = 1, f++;
        for (; isdigit((unsigned char)*f); f++) p.width = p.width * 10 + (*f - '0');
        for (;; f++) {
            if (*f == 'h')
                p.size--;
            else if (*f == 'l')
                p.size++;
            else if (*f == 'L' || *f == 'j' || *f == 'q')
                p.size = 2;
            else if (*f == 'z' || *f == 't')
                p.size = 3;
            else
                break;
        }
        if (*f == 'n') {
            place_store(&a.list, &p, (long long)s->read);
            continue;
        }
        if (*f != 'c' && *f != '[') skip_space(s);
        if (source_peek(s) == EOF) {
            if (!done) done = EOF;
            break;
        }
        int ok = 0, base = 10;
        char *end;
        switch (*f) {
        case 'i': base = 0; goto integer;
        case 'o': base = 8; goto integer;
        case 'x':
        case 'X': base = 16; goto integer;
        case 'p':
            base = 16;
            p.size = 3;
            goto integer;
        case 'd':
        case 'u':
        integer:
            take_integer(s, text, p.width, &base);
            long long value = *f == 'd' || *f == 'i' ? strtoll(text, &end, base)
                                                     : (long long)strtoull(text, &end, base);
            ok = end != text;
            if (ok) place_store(&a.list, &p, value);
            break;
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
        case 'a':
        case 'A': {
            take_float(s, text, p.width);
            quad wide = 0;
            double x = 0;
            if (p.size > 1)
                penta_read_quad(text, &end, &wide);
            else
                x = strtod(text, &end);
            ok = end != text;
            if (ok && !p.suppress) {
                if (p.size > 1)
                    *va_arg(a.list, quad *) = wide;
                else if (p.size > 0)
                    *va_arg(a.list, double *) = x;
                else
                    *va_arg(a.list, float *) = strtof(text, NULL);
            }
            break;
        }
        case 's': ok = take_text(s, text_place_of(&a.list, &p), p.width, NULL, NULL, 0); break;
        case 'c':
            ok = take_text(s, text_place_of(&a.list, &p), p.width ? p.width : 1, NULL, NULL, 1);
            break;
        case '[': {
            const char *set = ++f;
            if (*f == '^') f++;
            if (*f == ']') f++;
            while (*f && *f != ']') f++;
            ok = take_text(s, text_place_of(&a.list, &p), p.width, set, f, 0);
            if (!*f) f--;
            break;
        }
        }
        if (!ok) break;
        done += !p.suppress;
    }
    if (s->file && s->next != NONE && s->next != EOF) {
        char bytes[4] = {(char)s->next};
        size_t size = s->wide ? wcrtomb(bytes, (wchar_t)s->next, NULL) : 1;
        while (size) ungetc((unsigned char)bytes[--size], s->file);
    }
    va_end(a.list);
    return done;
}

int penta_scan(FILE *file, const char *text, const char *format, va_list args)
{
    struct source s = {.file = file, .text = text, .next = NONE, .wide = 1};
    return scan_format(&s, format, args);
}

int vfscanf(FILE *file, const char *format, va_list args)
{
    struct source s = {.file = file, .next = NONE};
    return scan_format(&s, format, args);
}

int vsscanf(const char *text, const char *format, va_list args)
{
    struct source s = {.text = text, .next = NONE};
    return scan_format(&s, format, args);
}

int vscanf(const char *format, va_list args) { return vfscanf(stdin, format, args); }

#define FORWARD(call)                                                                              \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    int n = call;                                                                                  \
    va_end(args);                                                                                  \
    return n

int scanf(const char *format, ...) { FORWARD(vfscanf(stdin, format, args)); }
int fscanf(FILE *file, const char *format, ...) { FORWARD(vfscanf(file, format, args)); }
int sscanf(const char *text, const char *format, ...) { FORWARD(vsscanf(text, format, args)); }
