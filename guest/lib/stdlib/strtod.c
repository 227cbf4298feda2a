/* Converts text of any length to the nearest float, double or long double, ties to even. It
 * computes digits * 10^exponent with large integers. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "arith/quad.h"
#include "stdlib/strtod.h"

enum { FIVES = 13 }; /* 5^13 fits in a limb. */

struct big {
    uint32_t *limb; /* the lowest limb first */
    int count, capacity;
};

static void big_mul_add(struct big *b, uint32_t factor, uint32_t more)
{
    uint64_t carry = more;
    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->count < b->capacity) b->limb[b->count++] = (uint32_t)carry;
}

/* Divides by a small number and returns the remainder. */
static uint32_t big_div(struct big *b, uint32_t by)
{
    uint64_t rest = 0;
    for (int i = b->count; i--;) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    while (b->count && !b->limb[b->count - 1]) b->count--;
    return (uint32_t)rest;
}

static void big_shift_limbs(struct big *b, int n)
{
    memmove(b->limb + n, b->limb, (size_t)b->count * sizeof *b->limb);
    memset(b->limb, 0, (size_t)n * sizeof *b->limb);
    b->count += n;
}

static uint32_t power_of_5(int n)
{
    uint32_t p = 1;
    while (n--) p *= 5;
    return p;
}

struct float_format {
    int fraction, bits; /* number of bits of the fraction, and of the whole number */
    int exponent_max;   /* the exponent of infinities */
    int digits;         /* most digits that count; of later ones it only matters whether all are
                         * zero */
    /* With a larger power of ten the number is infinite, with a smaller one zero, whatever its
     * digits are. */
    int ten_max, ten_min;
};
static const struct float_format floats = {23, 32, 255, 800, 400, -1300},
                                 doubles = {52, 64, 2047, 800, 400, -1300},
                                 quads = {112, 128, 32767, 11600, 5000, -16700};
/* Numbers of 32-bit limbs that are enough for the digits times a power of ten, and for dividing
 * by a power. */
enum { DOUBLE_LIMBS = 320, QUAD_LIMBS = 2500 };

/* Returns the bits of the number nearest to top * 2^exponent. The highest bit of top must be
 * set, and bit 0 of top must also be set if the number has any lower bits. */
static quad_bits nearest_float(const struct float_format *f, quad_bits top, int exponent)
{
    int biased = exponent + 127 + f->exponent_max / 2, drop = 127 - f->fraction;
    if (biased >= f->exponent_max) {
        errno = ERANGE;
        return (quad_bits)f->exponent_max << f->fraction;
    }
    if (biased <= 0) {
        drop += 1 - biased;
        biased = 0;
    }
    if (drop > 128) {
        errno = ERANGE;
        return 0;
    }
    quad_bits kept = drop == 128 ? 0 : top >> drop, half = (quad_bits)1 << (drop - 1);
    quad_bits below = drop == 128 ? top : top & (2 * half - 1);
    if (below > half || (below == half && kept & 1)) kept++;
    quad_bits bits = (biased ? (quad_bits)(biased - 1) << f->fraction : 0) + kept;
    if (bits >> f->fraction == (quad_bits)f->exponent_max || (!biased && below)) errno = ERANGE;
    return bits;
}

static quad_bits from_big(const struct float_format *f, struct big *b, int exponent, int more)
{
    if (!b->count) return 0;
    quad_bits top = 0;
    int at = b->count - 1, zeros = __builtin_clz(b->limb[at]);
    for (int i = 0; i < 4; i++) top = top << 32 | (at >= i ? b->limb[at - i] : 0);
    uint32_t fifth = at >= 4 ? b->limb[at - 4] : 0;
    if (zeros) top = top << zeros | fifth >> (32 - zeros);
    if (zeros ? (uint32_t)(fifth << zeros) : fifth) more = 1;
    for (int i = 0; i < at - 4; i++) more |= b->limb[i] != 0;
    return nearest_float(f, top | (more != 0), exponent + 32 * (at - 3) - zeros);
}

static quad_bits from_decimal(const struct float_format *f, struct big *b, long ten, int more)
{
    if (b->count && ten > f->ten_max) ten = f->ten_max;
    if (ten < f->ten_min) ten = f->ten_min;
    int exponent = (int)ten;
    if (ten >= 0) {
        for (; ten > 0; ten -= FIVES) big_mul_add(b, power_of_5(ten < FIVES ? (int)ten : FIVES), 0);
        return from_big(f, b, exponent, more);
    }
    /* 5^-ten has fewer than -ten * 7/3 bits. With 160 more, the quotient has enough of them. */
    int limbs = (int)(-ten * 7 / 3 + 160) / 32 + 1;
    if (b->count) big_shift_limbs(b, limbs);
    for (; ten < 0; ten += FIVES)
        more |= big_div(b, power_of_5(-ten < FIVES ? (int)-ten : FIVES)) != 0;
    return from_big(f, b, exponent - 32 * limbs, more);
}

static long read_exponent(const char **p, char letter)
{
    const char *q = *p;
    long n = 0;
    if ((*q | 32) != letter) return 0;
    int negative = *++q == '-';
    if (*q == '-' || *q == '+') q++;
    if (!isdigit((unsigned char)*q)) return 0;
    for (; isdigit((unsigned char)*q); q++)
        if (n < 100000) n = n * 10 + (*q - '0');
    *p = q;
    return negative ? -n : n;
}

static quad_bits read_hex(const struct float_format *f, const char **p)
{
    const char *q = *p;
    quad_bits top = 0;
    long exponent = 0;
    int more = 0, point = 0;
    for (;; q++) {
        int c = (unsigned char)*q | 32;
        if (*q == '.' && !point) {
            point = 1;
            continue;
        }
        if (!isxdigit((unsigned char)*q)) break;
        unsigned digit = (unsigned)(isdigit((unsigned char)*q) ? *q - '0' : c - 'a' + 10);
        if (top >> 124) {
            more |= digit != 0;
            exponent += point ? 0 : 4;
        } else {
            top = top << 4 | digit;
            exponent -= point ? 4 : 0;
        }
    }
    *p = q;
    exponent += read_exponent(p, 'p');
    if (!top) return 0;
    int zeros =
        top >> 64 ? __builtin_clzll((uint64_t)(top >> 64)) : 64 + __builtin_clzll((uint64_t)top);
    exponent -= zeros;
    if (exponent > 40000) exponent = 40000;
    if (exponent < -40000) exponent = -40000;
    return nearest_float(f, top << zeros | (more != 0), (int)exponent);
}

static quad_bits read_decimal(const struct float_format *f, const char **p, struct big *b)
{
    const char *q = *p;
    long ten = 0;
    int kept = 0, more = 0, point = 0;
    for (;; q++) {
        if (*q == '.' && !point) {
            point = 1;
            continue;
        }
        if (!isdigit((unsigned char)*q)) break;
        ten -= point;
        if (kept == f->digits) {
            ten++;
            more |= *q != '0';
        } else if (kept || *q != '0') {
            kept++;
            if (b->count)
                big_mul_add(b, 10, (uint32_t)(*q - '0'));
            else
                b->limb[b->count++] = (uint32_t)(*q - '0');
        }
    }
    *p = q;
    ten += read_exponent(p, 'e');
    return from_decimal(f, b, ten, more);
}

static int starts_with(const char *p, const char *name)
{
    for (; *name; p++, name++)
        if ((*p | 32) != *name) return 0;
    return 1;
}

static quad_bits read_float(const struct float_format *f, const char *s, char **end, struct big b)
{
    const char *p = s;
    while (isspace((unsigned char)*p)) p++;
    quad_bits sign = (quad_bits)(*p == '-') << (f->bits - 1), bits = 0;
    quad_bits infinite = (quad_bits)f->exponent_max << f->fraction;
    if (*p == '-' || *p == '+') p++;
    const char *first = p[0] == '.' ? p + 1 : p;
    if (starts_with(p, "inf")) {
        p += starts_with(p, "infinity") ? 8 : 3;
        bits = infinite;
    } else if (starts_with(p, "nan")) {
        p += 3;
        bits = infinite | (quad_bits)1 << (f->fraction - 1);
    } else if (p[0] == '0' && (p[1] | 32) == 'x' &&
               isxdigit((unsigned char)(p[2] == '.' ? p[3] : p[2]))) {
        p += 2;
        bits = read_hex(f, &p);
    } else if (isdigit((unsigned char)*first)) {
        bits = read_decimal(f, &p, &b);
    } else {
        p = s;
        sign = 0;
    }
    if (end) *end = (char *)p;
    return sign | bits;
}

double strtod(const char *s, char **end)
{
    uint32_t limbs[DOUBLE_LIMBS];
    uint64_t bits = (uint64_t)read_float(&doubles, s, end, (struct big){limbs, 0, DOUBLE_LIMBS});
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

float strtof(const char *s, char **end)
{
    uint32_t limbs[DOUBLE_LIMBS];
    uint32_t bits = (uint32_t)read_float(&floats, s, end, (struct big){limbs, 0, DOUBLE_LIMBS});
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void penta_read_quad(const char *s, char **end, quad *to)
{
    uint32_t limbs[QUAD_LIMBS];
    quad_bits bits = read_float(&quads, s, end, (struct big){limbs, 0, QUAD_LIMBS});
    memcpy(to, &bits, sizeof bits);
}

#if __LDBL_MANT_DIG__ == 113
long double strtold(const char *s, char **end)
{
    long double x;
    penta_read_quad(s, end, &x);
    return x;
}
#endif

double atof(const char *s) { return strtod(s, NULL); }
