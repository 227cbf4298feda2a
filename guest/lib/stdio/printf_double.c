/* Prints %f, %e, %g and %a, of double and long double. All decimal digits are exact, however
 * many are printed. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include "stdlib/decimal.h"
#include "stdio/printf.h"

/* The parts of a double or long double. */
struct binary {
    quad_bits fraction;
    int fraction_bits, exponent, exponent_max; /* exponent_max is the exponent of infinities */
    int negative;
};

static int spec_is_upper(const struct spec *f) { return isupper((unsigned char)f->kind); }

/* The destination of a number. A number is formatted twice: first only to know its size, and so
 * the padding before it. */
struct output {
    struct sink *s; /* NULL when characters are only counted */
    int size;
};

/* Counts and writes characters. It is called at many places, and is not inlined so that programs stay small. */
__attribute__((noinline)) static void put(struct output *p, const char *text, int size)
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

/* Writes `count` digits of the number from digit `from` on. There are zeros before the first
 * digit and after the last. */
__attribute__((noinline)) static void put_digits(struct output *p, const struct decimal *d,
                                                 int from, int count)
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

static void put_hex(struct output *p, const struct spec *f, const struct binary *b)
{
    const char *names = spec_is_upper(f) ? "0123456789ABCDEF" : "0123456789abcdef";
    quad_bits fraction = b->fraction, one = 1;
    int precision = f->precision, most = b->fraction_bits / 4, bias = b->exponent_max / 2;
    unsigned lead = b->exponent != 0;
    int power = lead ? b->exponent - bias : fraction ? 1 - bias : 0;
    if (precision >= 0 && precision < most) {
        int drop = b->fraction_bits - 4 * precision;
        quad_bits all = (quad_bits)lead << b->fraction_bits | fraction, half = one << (drop - 1);
        quad_bits below = all & (2 * half - 1);
        all >>= drop;
        if (below > half || (below == half && all & 1)) all++;
        lead = (unsigned)(all >> 4 * precision);
        fraction = (all & ((one << 4 * precision) - 1)) << drop;
    }
    if (precision < 0)
        for (precision = most; precision && !(fraction >> (b->fraction_bits - 4 * precision) & 15);)
            precision--;
    put(p, &names[lead], 1);
    if (precision || f->alternate) put(p, ".", 1);
    for (int i = 1; i <= precision; i++)
        if (i <= most)
            put(p, &names[(unsigned)(fraction >> (b->fraction_bits - 4 * i)) & 15], 1);
        else
            put(p, "0", 1);
    put_exponent(p, spec_is_upper(f) ? 'P' : 'p', power, 1);
}

static void put_number(struct output *p, const struct spec *f, const struct decimal *d,
                       const struct binary *b)
{
    int precision = f->precision < 0 ? 6 : f->precision;
    char letter = spec_is_upper(f) ? 'E' : 'e';
    switch (tolower((unsigned char)f->kind)) {
    case 'a': put_hex(p, f, b); return;
    case 'f': put_fixed(p, d, precision, f->alternate); return;
    case 'e': put_scientific(p, d, precision, f->alternate, letter); return;
    }
    if (!precision) precision = 1;
    int exponent = d->count ? d->point - 1 : 0;
    int fixed = exponent >= -4 && exponent < precision;
    int digits = fixed ? precision - 1 - exponent : precision - 1;
    if (!f->alternate) { /* Zeros at the end are left out. */
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

static void double_print(struct sink *s, const struct spec *f, const struct binary *b,
                         struct decimal *d)
{
    char prefix[4] = "", *q = prefix;
    if (b->negative)
        *q++ = '-';
    else if (f->plus)
        *q++ = '+';
    else if (f->space)
        *q++ = ' ';
    if (b->exponent == b->exponent_max) {
        *q = 0;
        const char *name = b->fraction        ? spec_is_upper(f) ? "NAN" : "nan"
                           : spec_is_upper(f) ? "INF"
                                              : "inf";
        penta_sink_field(s, f, prefix, 0, name, 3);
        return;
    }
    if ((f->kind | 32) == 'a') {
        *q++ = '0';
        *q++ = spec_is_upper(f) ? 'X' : 'x';
    } else {
        quad_bits lead = b->exponent ? (quad_bits)1 << b->fraction_bits : 0;
        int exponent = (b->exponent ? b->exponent : 1) - b->exponent_max / 2 - b->fraction_bits;
        penta_decimal_of(d, lead | b->fraction, exponent);
        round_for(f, d);
    }
    *q = 0;
    struct output counted = {0}, printed = {.s = s};
    put_number(&counted, f, d, b);
    int front = (int)(q - prefix), pad = f->width - front - counted.size;
    if (!f->minus && !f->zero) penta_sink_fill(s, ' ', pad);
    penta_sink_text(s, prefix, (size_t)front);
    if (!f->minus && f->zero) penta_sink_fill(s, '0', pad);
    put_number(&printed, f, d, b);
    if (f->minus) penta_sink_fill(s, ' ', pad);
}

/* Both functions have a frame of their own, because the digits of a long double take 20 KB of
 * stack. */
__attribute__((noinline)) void penta_print_double(struct sink *s, const struct spec *f,
                                                  double value)
{
    char digits[DOUBLE_DIGITS];
    uint32_t limbs[DOUBLE_LIMBS];
    struct decimal d = {.digit = digits, .limb = limbs, .limbs = DOUBLE_LIMBS};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    struct binary b = {bits & ((UINT64_C(1) << 52) - 1), 52, (int)(bits >> 52 & 2047), 2047,
                       (int)(bits >> 63)};
    double_print(s, f, &b, &d);
}

__attribute__((noinline)) void penta_print_quad(struct sink *s, const struct spec *f,
                                                const quad *value)
{
    char digits[QUAD_DIGITS];
    uint32_t limbs[QUAD_LIMBS];
    struct decimal d = {.digit = digits, .limb = limbs, .limbs = QUAD_LIMBS};
    quad_bits bits;
    memcpy(&bits, value, sizeof bits);
    struct binary b = {bits & (((quad_bits)1 << 112) - 1), 112, (int)(bits >> 112) & 32767, 32767,
                       (int)(bits >> 127)};
    double_print(s, f, &b, &d);
}
