/* The destination of formatted text, and what integers and doubles share. */
#pragma once
#include <stddef.h>
#include "arith/quad.h"

struct sink {
    void (*put)(struct sink *s, const char *text, size_t size);
    size_t total; /* characters so far */
};

struct spec { /* one conversion, such as %-8.3f */
    int minus, plus, space, alternate, zero;
    int width, precision; /* precision -1: not given */
    char kind;            /* d, x, f ... */
};

void penta_sink_text(struct sink *s, const char *text, size_t size);
void penta_sink_fill(struct sink *s, char c, int count);
/* The prefix, zeros and the body, padded to the width. */
void penta_sink_field(struct sink *s, const struct spec *f, const char *prefix, int zeros,
                      const char *body, size_t size);
void penta_print_double(struct sink *s, const struct spec *f, double value);
void penta_print_quad(struct sink *s, const struct spec *f, const quad *value);
