/* Formatted input: characters come one at a time, and one can be put back. */
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stdlib/strtod.h"

struct source {
    FILE *file; /* NULL: read `text` */
    const char *text;
    size_t read; /* characters read so far */
    int next;    /* the character that was put back, or NONE */
};
enum { NONE = -2, WORD = 512 };

static int get(struct source *s)
{
    int c = s->next;
    s->next = NONE;
    if (c == NONE) c = s->file ? fgetc(s->file) : *s->text ? (unsigned char)*s->text++ : EOF;
    if (c != EOF) s->read++;
    return c;
}

static void back(struct source *s, int c)
{
    if (c != EOF) s->read--;
    s->next = c;
}

static int peek(struct source *s)
{
    int c = get(s);
    back(s, c);
    return c;
}

static void skip_space(struct source *s)
{
    int c;
    while (isspace(c = get(s))) continue;
    back(s, c);
}

struct place {    /* where a result is stored */
    int suppress; /* nowhere */
    int width;    /* 0: not given */
    int size;     /* -2 char, -1 short, 0 int, 1 long, 2 long long, 3 size of a pointer */
};

static void store(va_list *args, const struct place *p, long long value)
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

/* The longest start of the input that may belong to an integer, at most `width` characters. */
static size_t take_integer(struct source *s, char *word, int width, int *base)
{
    size_t n = 0, most = width && width < WORD - 1 ? (size_t)width : WORD - 1;
    int c = get(s);
    if (n < most && (c == '-' || c == '+')) word[n++] = (char)c, c = get(s);
    if (n < most && c == '0' && (!*base || *base == 16)) {
        word[n++] = (char)c;
        c = get(s);
        if (n < most && (c | 32) == 'x') {
            word[n++] = (char)c;
            c = get(s);
            *base = 16;
        } else if (!*base) {
            *base = 8;
        }
    }
    if (!*base) *base = 10;
    for (; n < most; c = get(s)) {
        int digit = isdigit(c) ? c - '0' : isalpha(c) ? (c | 32) - 'a' + 10 : 99;
        if (digit >= *base) break;
        word[n++] = (char)c;
    }
    back(s, c);
    word[n] = 0;
    return n;
}

static size_t take_float(struct source *s, char *word, int width)
{
    size_t n = 0, most = width && width < WORD - 1 ? (size_t)width : WORD - 1;
    int c = get(s), hex = 0, exponent = 0;
    for (; n < most && c != EOF; c = get(s)) {
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
    back(s, c);
    word[n] = 0;
    return n;
}

static int in_set(const char *set, const char *end, int c)
{
    int inverted = *set == '^', found = 0;
    set += inverted;
    for (const char *p = set; p < end; p++) {
        if (p + 2 < end && p[1] == '-') {
            found |= (unsigned char)p[0] <= c && c <= (unsigned char)p[2];
            p += 2;
        } else {
            found |= (unsigned char)*p == c;
        }
    }
    return found != inverted;
}

/* %s, %c and %[: gives 1 if anything was read. set: the characters to read; NULL: all (%c), or all but
 * white space (%s). */
static int take_text(struct source *s, char *to, int width, const char *set, const char *end,
                     int all)
{
    int n = 0, c = get(s);
    for (; c != EOF && (!width || n < width); c = get(s)) {
        if (set ? !in_set(set, end, c) : !all && isspace(c)) break;
        if (to) to[n] = (char)c;
        n++;
    }
    back(s, c);
    if (to && !all && n) to[n] = 0;
    return n > 0;
}

static int scan(struct source *s, const char *f, va_list outer)
{
    int done = 0;
    char text[WORD];
    va_list args;
    va_copy(args, outer);
    for (; *f; f++) {
        if (isspace((unsigned char)*f)) {
            skip_space(s);
            continue;
        }
        if (*f != '%' || f[1] == '%') {
            if (*f == '%') skip_space(s), f++;
            int c = get(s);
            if (c == (unsigned char)*f) continue;
            back(s, c);
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
            store(&args, &p, (long long)s->read);
            continue;
        }
        if (*f != 'c' && *f != '[') skip_space(s);
        if (peek(s) == EOF) {
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
            if (ok) store(&args, &p, value);
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
                    *va_arg(args, quad *) = wide;
                else if (p.size > 0)
                    *va_arg(args, double *) = x;
                else
                    *va_arg(args, float *) = strtof(text, NULL);
            }
            break;
        }
        case 's':
            ok = take_text(s, p.suppress ? NULL : va_arg(args, char *), p.width, NULL, NULL, 0);
            break;
        case 'c':
            ok = take_text(s, p.suppress ? NULL : va_arg(args, char *), p.width ? p.width : 1, NULL,
                           NULL, 1);
            break;
        case '[': {
            const char *set = ++f;
            if (*f == '^') f++;
            if (*f == ']') f++;
            while (*f && *f != ']') f++;
            ok = take_text(s, p.suppress ? NULL : va_arg(args, char *), p.width, set, f, 0);
            if (!*f) f--;
            break;
        }
        }
        if (!ok) break;
        done += !p.suppress;
    }
    if (s->file && s->next != NONE && s->next != EOF) ungetc(s->next, s->file);
    va_end(args);
    return done;
}

int vfscanf(FILE *file, const char *format, va_list args)
{
    struct source s = {.file = file, .next = NONE};
    return scan(&s, format, args);
}

int vsscanf(const char *text, const char *format, va_list args)
{
    struct source s = {.text = text, .next = NONE};
    return scan(&s, format, args);
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
