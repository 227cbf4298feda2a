/* Writes formatted output into streams and memory. */
#include "stdio/printf.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

void penta_sink_text(struct sink *s, const char *text, size_t size)
{
    if (size) s->put(s, text, size);
    s->total += penta_sink_length(s, text, size);
}

size_t penta_sink_length(const struct sink *s, const char *text, size_t size)
{
    size_t n = size;
    for (size_t i = 0; s->wide && i < size; i++) n -= (text[i] & 0xc0) == 0x80;
    return n;
}

void penta_sink_fill(struct sink *s, char c, int count)
{
    char block[32];
    memset(block, c, sizeof block);
    for (; count > 0; count -= (int)sizeof block)
        penta_sink_text(s, block, count < (int)sizeof block ? (size_t)count : sizeof block);
}

void penta_sink_field(struct sink *s, const struct spec *f, const char *prefix, int zeros,
                      const char *body, size_t size)
{
    size_t front = strlen(prefix);
    int pad = f->width - (int)front - zeros - (int)penta_sink_length(s, body, size);
    if (!f->minus) penta_sink_fill(s, ' ', pad);
    penta_sink_text(s, prefix, front);
    penta_sink_fill(s, '0', zeros);
    penta_sink_text(s, body, size);
    if (f->minus) penta_sink_fill(s, ' ', pad);
}

static void print_integer(struct sink *s, struct spec *f, uintmax_t value, int negative)
{
    char digits[24], *p = digits + sizeof digits;
    char prefix[4] = "", *q = prefix;
    unsigned base = f->kind == 'o'                                       ? 8
                    : f->kind == 'x' || f->kind == 'X' || f->kind == 'p' ? 16
                                                                         : 10;
    const char *names = f->kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    if (f->kind == 'd') {
        if (negative)
            *q++ = '-';
        else if (f->plus)
            *q++ = '+';
        else if (f->space)
            *q++ = ' ';
    } else if (base == 16 && ((f->alternate && value) || f->kind == 'p')) {
        *q++ = '0';
        *q++ = f->kind == 'X' ? 'X' : 'x';
    }
    *q = 0;
    for (uintmax_t left = value; left; left /= base) *--p = names[left % base];
    int size = (int)(digits + sizeof digits - p), zeros = 0;
    if (f->precision >= 0)
        zeros = f->precision - size;
    else if (!size)
        zeros = 1;
    if (f->kind == 'o' && f->alternate && zeros <= 0 && (!size || *p != '0')) zeros = 1;
    if (f->precision < 0 && f->zero && !f->minus) {
        int fits = f->width - (int)(q - prefix) - size;
        if (fits > zeros) zeros = fits;
    }
    penta_sink_field(s, f, prefix, zeros > 0 ? zeros : 0, p, (size_t)size);
}

/* Returns the size in bytes of the first `most` characters of UTF-8. */
static size_t first_characters(const char *text, size_t most)
{
    size_t size = 0;
    for (; text[size]; size++)
        if ((text[size] & 0xc0) != 0x80 && !most--) break;
    return size;
}

static void print_string(struct sink *s, const struct spec *f, const char *text)
{
    size_t size;
    if (!text) text = f->precision < 0 || f->precision >= 6 ? "(null)" : "";
    if (f->precision < 0)
        size = strlen(text);
    else
        size = s->wide ? first_characters(text, (size_t)f->precision)
                       : strnlen(text, (size_t)f->precision);
    penta_sink_field(s, f, "", 0, text, size);
}

/* Prints a wide string. The precision limits bytes and never splits a character; for a wide sink
 * it limits characters. */
static void print_wide(struct sink *s, const struct spec *f, const wchar_t *text, size_t most)
{
    char bytes[4];
    size_t size = 0, length = 0, limit = f->precision < 0 ? SIZE_MAX : (size_t)f->precision, count;
    if (!text) text = L"(null)";
    for (count = 0; count < most && length < limit && (most == 1 || text[count]); count++) {
        size_t n = wcrtomb(bytes, text[count], NULL), add = s->wide ? 1 : n;
        if (n == (size_t)-1) {
            s->failed = 1;
            return;
        }
        if (add > limit - length) break;
        length += add;
        size += n;
    }
    int pad = f->width - (int)length;
    if (!f->minus) penta_sink_fill(s, ' ', pad);
    for (size_t i = 0; i < count; i++) penta_sink_text(s, bytes, wcrtomb(bytes, text[i], NULL));
    if (f->minus) penta_sink_fill(s, ' ', pad);
}

enum length { CHAR, SHORT, INT, LONG, LONG_LONG, MAX, SIZE, DIFF };

static const char *read_number(const char *p, int *n)
{
    for (*n = 0; *p >= '0' && *p <= '9'; p++)
        if (*n < 100000000) *n = *n * 10 + (*p - '0');
    return p;
}

/* The list is in a struct, so that functions can take its address: a va_list may be an array. */
struct arguments {
    va_list list;
};

static const char *read_spec(const char *p, struct spec *f, enum length *length,
                             struct arguments *a)
{
    *f = (struct spec){.precision = -1};
    for (;; p++) {
        if (*p == '-')
            f->minus = 1;
        else if (*p == '+')
            f->plus = 1;
        else if (*p == ' ')
            f->space = 1;
        else if (*p == '#')
            f->alternate = 1;
        else if (*p == '0')
            f->zero = 1;
        else
            break;
    }
    if (*p == '*') {
        f->width = va_arg(a->list, int);
        if (f->width < 0) {
            f->minus = 1;
            f->width = -f->width;
        }
        p++;
    } else {
        p = read_number(p, &f->width);
    }
    if (*p == '.') {
        if (p[1] == '*') {
            f->precision = va_arg(a->list, int);
            if (f->precision < 0) f->precision = -1;
            p += 2;
        } else {
            p = read_number(p + 1, &f->precision);
        }
    }
    *length = INT;
    switch (*p) {
    case 'h': *length = *++p == 'h' ? p++, CHAR : SHORT; break;
    case 'l': *length = *++p == 'l' ? p++, LONG_LONG : LONG; break;
    case 'L':
    case 'q':
        p++;
        *length = LONG_LONG;
        break;
    case 'j':
        p++;
        *length = MAX;
        break;
    case 'z':
        p++;
        *length = SIZE;
        break;
    case 't':
        p++;
        *length = DIFF;
        break;
    }
    f->kind = *p;
    return *p ? p + 1 : p;
}

static intmax_t signed_argument(enum length length, struct arguments *a)
{
    switch (length) {
    case CHAR: return (signed char)va_arg(a->list, int);
    case SHORT: return (short)va_arg(a->list, int);
    case LONG: return va_arg(a->list, long);
    case LONG_LONG: return va_arg(a->list, long long);
    case MAX: return va_arg(a->list, intmax_t);
    case SIZE:
    case DIFF: return va_arg(a->list, ptrdiff_t);
    default: return va_arg(a->list, int);
    }
}

static uintmax_t unsigned_argument(enum length length, struct arguments *a)
{
    switch (length) {
    case CHAR: return (unsigned char)va_arg(a->list, int);
    case SHORT: return (unsigned short)va_arg(a->list, int);
    case LONG: return va_arg(a->list, unsigned long);
    case LONG_LONG: return va_arg(a->list, unsigned long long);
    case MAX: return va_arg(a->list, uintmax_t);
    case SIZE:
    case DIFF: return va_arg(a->list, size_t);
    default: return va_arg(a->list, unsigned);
    }
}

static void store_count(enum length length, size_t total, struct arguments *a)
{
    switch (length) {
    case CHAR: *va_arg(a->list, signed char *) = (signed char)total; break;
    case SHORT: *va_arg(a->list, short *) = (short)total; break;
    case LONG: *va_arg(a->list, long *) = (long)total; break;
    case LONG_LONG: *va_arg(a->list, long long *) = (long long)total; break;
    case MAX: *va_arg(a->list, intmax_t *) = (intmax_t)total; break;
    case SIZE:
    case DIFF: *va_arg(a->list, ptrdiff_t *) = (ptrdiff_t)total; break;
    default: *va_arg(a->list, int *) = (int)total; break;
    }
}

static void printf_convert(struct sink *s, struct spec *f, enum length length, struct arguments *a)
{
    char c;
    switch (f->kind) {
    case 'd':
    case 'i': {
        intmax_t value = signed_argument(length, a);
        f->kind = 'd';
        print_integer(s, f, value < 0 ? 0 - (uintmax_t)value : (uintmax_t)value, value < 0);
        break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': print_integer(s, f, unsigned_argument(length, a), 0); break;
    case 'p': {
        void *p = va_arg(a->list, void *);
        f->precision = -1;
        if (p)
            print_integer(s, f, (uintptr_t)p, 0);
        else
            penta_sink_field(s, f, "", 0, "(nil)", 5);
        break;
    }
    case 'c':
        if (length == LONG || s->wide) {
            wchar_t wide = (wchar_t)va_arg(a->list, wint_t);
            f->precision = -1;
            print_wide(s, f, &wide, 1);
            break;
        }
        c = (char)va_arg(a->list, int);
        penta_sink_field(s, f, "", 0, &c, 1);
        break;
    case 's':
        if (length == LONG)
            print_wide(s, f, va_arg(a->list, const wchar_t *), SIZE_MAX);
        else
            print_string(s, f, va_arg(a->list, const char *));
        break;
    case 'n': store_count(length, s->total, a); break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (length == LONG_LONG) {
            quad value = va_arg(a->list, quad);
            penta_print_quad(s, f, &value);
        } else {
            penta_print_double(s, f, va_arg(a->list, double));
        }
        break;
    case '%': penta_sink_text(s, "%", 1); break;
    default: break;
    }
}

int penta_format(struct sink *s, const char *p, va_list list)
{
    struct arguments a;
    va_copy(a.list, list);
    while (*p) {
        const char *percent = strchr(p, '%');
        size_t plain = percent ? (size_t)(percent - p) : strlen(p);
        penta_sink_text(s, p, plain);
        p += plain;
        if (!*p) break;
        struct spec f;
        enum length length;
        p = read_spec(p + 1, &f, &length, &a);
        printf_convert(s, &f, length, &a);
    }
    va_end(a.list);
    return s->failed || s->total > 0x7fffffff ? -1 : (int)s->total;
}

struct file_sink {
    struct sink sink;
    FILE *file;
    size_t used;
    int failed;
    char buffer[128]; /* The buffer joins small pieces into few calls of fwrite. */
};

static void file_flush(struct file_sink *f)
{
    if (f->used && fwrite(f->buffer, 1, f->used, f->file) != f->used) f->failed = 1;
    f->used = 0;
}

static void file_put(struct sink *s, const char *text, size_t size)
{
    struct file_sink *f = (struct file_sink *)s;
    if (size > sizeof f->buffer - f->used) file_flush(f);
    if (size > sizeof f->buffer) {
        if (fwrite(text, 1, size, f->file) != size) f->failed = 1;
        return;
    }
    memcpy(f->buffer + f->used, text, size);
    f->used += size;
}

int vfprintf(FILE *file, const char *text, va_list args)
{
    struct file_sink f = {.sink = {.put = file_put}, .file = file};
    int n = penta_format(&f.sink, text, args);
    file_flush(&f);
    return f.failed ? -1 : n;
}

struct memory_sink {
    struct sink sink;
    char *to;
    size_t left;
};

static void memory_put(struct sink *s, const char *text, size_t size)
{
    struct memory_sink *m = (struct memory_sink *)s;
    if (size > m->left) size = m->left;
    memcpy(m->to, text, size);
    m->to += size;
    m->left -= size;
}

int vsnprintf(char *to, size_t size, const char *text, va_list args)
{
    struct memory_sink m = {{.put = memory_put}, to, size ? size - 1 : 0};
    int n = penta_format(&m.sink, text, args);
    if (size) *m.to = 0;
    return n;
}

int vsprintf(char *to, const char *text, va_list args)
{
    return vsnprintf(to, SIZE_MAX / 2, text, args);
}
int vprintf(const char *text, va_list args) { return vfprintf(stdout, text, args); }

#define FORWARD(call)                                                                              \
    va_list args;                                                                                  \
    va_start(args, text);                                                                          \
    int n = call;                                                                                  \
    va_end(args);                                                                                  \
    return n

int printf(const char *text, ...) { FORWARD(vfprintf(stdout, text, args)); }
int fprintf(FILE *file, const char *text, ...) { FORWARD(vfprintf(file, text, args)); }
int sprintf(char *to, const char *text, ...) { FORWARD(vsprintf(to, text, args)); }
int snprintf(char *to, size_t size, const char *text, ...)
{
    FORWARD(vsnprintf(to, size, text, args));
}
