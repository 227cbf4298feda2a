/* Declares the destination of formatted text, and what integers and doubles share. */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include "arith/quad.h"

struct sink {
    void (*put)(struct sink *s, const char *text, size_t size);
    size_t total; /* number of characters so far */
    /* Set for wide text. Widths, precisions and `total` then count characters of UTF-8 instead
     * of bytes. */
    int wide;
    int failed; /* A wide character had no multibyte form. */
};

struct spec { /* One conversion, such as %-8.3f. */
    int minus, plus, space, alternate, zero;
    int width, precision; /* a precision of -1 means that none was given */
    char kind;            /* the letter of the conversion: d, x, f ... */
};

void penta_sink_text(struct sink *s, const char *text, size_t size);
void penta_sink_fill(struct sink *s, char c, int count);
/* Writes the prefix, zeros and the body, padded to the width. */
void penta_sink_field(struct sink *s, const struct spec *f, const char *prefix, int zeros,
                      const char *body, size_t size);
/* Returns how many characters of this sink `size` bytes are. */
size_t penta_sink_length(const struct sink *s, const char *text, size_t size);
int penta_format(struct sink *s, const char *format, va_list args);
void penta_print_double(struct sink *s, const struct spec *f, double value);
void penta_print_quad(struct sink *s, const struct spec *f, const quad *value);
