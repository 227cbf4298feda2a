/* %f, %e, %g and %a. All decimal digits are exact, however many are printed. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include "stdlib/decimal.h"
#include "stdio/printf.h"

enum { FRACTION = 52, BIAS = 1023 };

static int upper(const struct spec *f) { return isupper((unsigned char)f->kind); }

/* A number is formatted twice: first only to know its size, and so the padding before it. */
struct output {
    struct sink *s; /* NULL: only count characters */
    int size;
};

static void put(struct output *p, const char *text, int size)
{
    if (size <= 0) return;
    if (p->s) penta_sink_text(p->s, text, (size_t)size);
    p->size += size;
}

static void put_zeros(struct output *p, int count)
{
    if (count <= 0) return;
    if (p->s) penta_sink_fill(p->s, '0', count);
    p->size += count;
}

/* `count` digits of the number from digit `from` on; zeros before the first digit and after the last. */
static void put_digits(struct output *p, const struct decimal *d, int from, int count)
{
    if (from < 0) {
        int zeros = -from < count ? -from : count;
        put_zeros(p, zeros);
        from += zeros;
        count -= zeros;
    }
    int have = d->count - from < count ? d->count - from : count;
    for (int i = 0; i < have; i++) put(p, &(char){(char)('0' + d->digit[from + i])}, 1);
    put_zeros(p, have > 0 ? count - have : count);
}

static void put_fixed(struct output *p, const struct decimal *d, int precision, int point)
{
    if (d->count && d->point > 0)
        put_digits(p, d, 0, d->point);
    else
        put(p, "0", 1);
    if (precision || point) put(p, ".", 1);
    put_digits(p, d, d->count ? d->point : 0, precision);
}

static void put_exponent(struct output *p, char letter, int exponent, int least)
{
    char text[8], *end = text + sizeof text, *q = end;
    unsigned left = (unsigned)(exponent < 0 ? -exponent : exponent);
    for (; left || end - q < least; left /= 10) *--q = (char)('0' + left % 10);
    *--q = exponent < 0 ? '-' : '+';
    *--q = letter;
    put(p, q, (int)(end - q));
}

static void put_scientific(struct output *p, const struct decimal *d, int precision, int point,
                           char letter)
{
    put_digits(p, d, 0, 1);
    if (precision || point) put(p, ".", 1);
    put_digits(p, d, 1, precision);
    put_exponent(p, letter, d->count ? d->point - 1 : 0, 2);
}

static void put_hex(struct output *p, const struct spec *f, uint64_t bits)
{
    const char *names = upper(f) ? "0123456789ABCDEF" : "0123456789abcdef";
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION) - 1);
    int exponent = (int)(bits >> FRACTION & 2047), precision = f->precision;
    uint64_t lead = exponent != 0;
    int power = lead ? exponent - BIAS : fraction ? 1 - BIAS : 0;
    if (precision >= 0 && precision < FRACTION / 4) {
        int drop = FRACTION - 4 * precision;
        uint64_t all = lead << FRACTION | fraction, half = UINT64_C(1) << (drop - 1);
        uint64_t below = all & (2 * half - 1);
        all >>= drop;
        if (below > half || (below == half && all & 1)) all++;
        lead = all >> 4 * precision;
        fraction = (all & ((UINT64_C(1) << 4 * precision) - 1)) << drop;
    }
    if (precision < 0)
        for (precision = FRACTION / 4; precision && !(fraction >> (FRACTION - 4 * precision) & 15);)
            precision--;
    put(p, &names[lead], 1);
    if (precision || f->alternate) put(p, ".", 1);
    for (int i = 1; i <= precision; i++)
        if (i <= FRACTION / 4)
            put(p, &names[fraction >> (FRACTION - 4 * i) & 15], 1);
        else
            put(p, "0", 1);
    put_exponent(p, upper(f) ? 'P' : 'p', power, 1);
}

static void put_number(struct output *p, const struct spec *f, const struct decimal *d,
                       uint64_t bits)
{
    int precision = f->precision < 0 ? 6 : f->precision;
    char letter = upper(f) ? 'E' : 'e';
    switch (tolower((unsigned char)f->kind)) {
    case 'a': put_hex(p, f, bits); return;
    case 'f': put_fixed(p, d, precision, f->alternate); return;
    case 'e': put_scientific(p, d, precision, f->alternate, letter); return;
    }
    if (!precision) precision = 1;
    int exponent = d->count ? d->point - 1 : 0;
    int fixed = exponent >= -4 && exponent < precision;
    int digits = fixed ? precision - 1 - exponent : precision - 1;
    if (!f->alternate) { /* no zeros at the end */
        int needed = fixed ? d->count - d->point : d->count - 1;
        if (!d->count || needed < 0) needed = 0;
        if (digits > needed) digits = needed;
    }
    if (fixed)
        put_fixed(p, d, digits, f->alternate);
    else
        put_scientific(p, d, digits, f->alternate, letter);
}

static void round_for(const struct spec *f, struct decimal *d)
{
    int precision = f->precision < 0 ? 6 : f->precision;
    switch (tolower((unsigned char)f->kind)) {
    case 'f': penta_decimal_round(d, d->point + precision); break;
    case 'e': penta_decimal_round(d, precision + 1); break;
    default: penta_decimal_round(d, precision ? precision : 1); break;
    }
}

void penta_print_double(struct sink *s, const struct spec *f, double value)
{
    struct decimal d = {0};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int hex = (f->kind | 32) == 'a', exponent = (int)(bits >> FRACTION & 2047);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION) - 1);
    char prefix[4] = "", *q = prefix;
    if (bits >> 63)
        *q++ = '-';
    else if (f->plus)
        *q++ = '+';
    else if (f->space)
        *q++ = ' ';
    if (exponent == 2047) {
        *q = 0;
        const char *name = fraction ? upper(f) ? "NAN" : "nan" : upper(f) ? "INF" : "inf";
        penta_sink_field(s, f, prefix, 0, name, 3);
        return;
    }
    if (hex) {
        *q++ = '0';
        *q++ = upper(f) ? 'X' : 'x';
    } else {
        uint64_t significand = exponent ? fraction | UINT64_C(1) << FRACTION : fraction;
        penta_decimal_of(&d, significand, (exponent ? exponent : 1) - BIAS - FRACTION);
        round_for(f, &d);
    }
    *q = 0;
    struct output counted = {0}, printed = {.s = s};
    put_number(&counted, f, &d, bits);
    int front = (int)(q - prefix), pad = f->width - front - counted.size;
    if (!f->minus && !f->zero) penta_sink_fill(s, ' ', pad);
    penta_sink_text(s, prefix, (size_t)front);
    if (!f->minus && f->zero) penta_sink_fill(s, '0', pad);
    put_number(&printed, f, &d, bits);
    if (f->minus) penta_sink_fill(s, ' ', pad);
}
