/* Text of any length to the nearest double, ties to even: digits * 10^exponent is computed with large
 * integers. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 800, /* of later ones only matters whether all are zero */
    LIMBS = 320,  /* of 32 bits: enough for DIGITS digits times 10^310 or 2^3900 */
    FIVES = 13,   /* 5^13 fits in a limb */
};

struct big {
    uint32_t limb[LIMBS]; /* lowest first */
    int count;
};

static void big_mul_add(struct big *b, uint32_t factor, uint32_t more)
{
    uint64_t carry = more;
    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->count < LIMBS) b->limb[b->count++] = (uint32_t)carry;
}

/* Gives the remainder. */
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
    int fraction;     /* bits */
    int exponent_max; /* of infinities */
};
static const struct float_format doubles = {52, 2047}, floats = {23, 255};

/* The bits of the number nearest to top * 2^exponent. The highest bit of top is set, and its bit 0 if the
 * number has any lower bits. */
static uint64_t nearest(const struct float_format *f, uint64_t top, int exponent)
{
    int biased = exponent + 63 + f->exponent_max / 2, drop = 63 - f->fraction;
    if (biased >= f->exponent_max) {
        errno = ERANGE;
        return (uint64_t)f->exponent_max << f->fraction;
    }
    if (biased <= 0) {
        drop += 1 - biased;
        biased = 0;
    }
    if (drop > 64) {
        errno = ERANGE;
        return 0;
    }
    uint64_t kept = drop == 64 ? 0 : top >> drop, half = UINT64_C(1) << (drop - 1);
    uint64_t below = drop == 64 ? top : top & (2 * half - 1);
    if (below > half || (below == half && kept & 1)) kept++;
    uint64_t bits = (biased ? (uint64_t)(biased - 1) << f->fraction : 0) + kept;
    if (bits >> f->fraction == (uint64_t)f->exponent_max || (!biased && below)) errno = ERANGE;
    return bits;
}

static uint64_t from_big(const struct float_format *f, struct big *b, int exponent, int more)
{
    if (!b->count) return 0;
    uint64_t top = 0;
    int at = b->count - 1, zeros = __builtin_clz(b->limb[at]);
    uint32_t third = at >= 2 ? b->limb[at - 2] : 0;
    top = (uint64_t)b->limb[at] << 32 | (at >= 1 ? b->limb[at - 1] : 0);
    if (zeros) top = top << zeros | third >> (32 - zeros);
    if (zeros ? (uint32_t)(third << zeros) : third) more = 1;
    for (int i = 0; i < at - 2; i++) more |= b->limb[i] != 0;
    return nearest(f, top | (more != 0), exponent + 32 * (at - 1) - zeros);
}

static uint64_t from_decimal(const struct float_format *f, struct big *b, long ten, int more)
{
    if (b->count && ten > 400) ten = 400; /* the result is infinite */
    if (ten < -1300) ten = -1300;         /* the result is zero */
    int exponent = (int)ten;
    if (ten >= 0) {
        for (; ten > 0; ten -= FIVES) big_mul_add(b, power_of_5(ten < FIVES ? (int)ten : FIVES), 0);
        return from_big(f, b, exponent, more);
    }
    /* 5^-ten has fewer than -ten * 7/3 bits: with 96 more, the quotient has enough of them. */
    int limbs = (int)(-ten * 7 / 3 + 96) / 32 + 1;
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

static uint64_t read_hex(const struct float_format *f, const char **p)
{
    const char *q = *p;
    uint64_t top = 0;
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
        if (top >> 60) {
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
    int zeros = __builtin_clzll(top);
    exponent -= zeros;
    if (exponent > 4000) exponent = 4000;
    if (exponent < -4000) exponent = -4000;
    return nearest(f, top << zeros | (more != 0), (int)exponent);
}

static uint64_t read_decimal(const struct float_format *f, const char **p)
{
    const char *q = *p;
    struct big b = {.count = 0};
    long ten = 0;
    int kept = 0, more = 0, point = 0;
    for (;; q++) {
        if (*q == '.' && !point) {
            point = 1;
            continue;
        }
        if (!isdigit((unsigned char)*q)) break;
        ten -= point;
        if (kept == DIGITS) {
            ten++;
            more |= *q != '0';
        } else if (kept || *q != '0') {
            kept++;
            if (b.count)
                big_mul_add(&b, 10, (uint32_t)(*q - '0'));
            else
                b.limb[b.count++] = (uint32_t)(*q - '0');
        }
    }
    *p = q;
    ten += read_exponent(p, 'e');
    return from_decimal(f, &b, ten, more);
}

static int starts_with(const char *p, const char *name)
{
    for (; *name; p++, name++)
        if ((*p | 32) != *name) return 0;
    return 1;
}

static uint64_t read_float(const struct float_format *f, const char *s, char **end)
{
    const char *p = s;
    while (isspace((unsigned char)*p)) p++;
    uint64_t sign = (uint64_t)(*p == '-') << (f->fraction == 52 ? 63 : 31), bits = 0;
    uint64_t infinite = (uint64_t)f->exponent_max << f->fraction;
    if (*p == '-' || *p == '+') p++;
    const char *first = p[0] == '.' ? p + 1 : p;
    if (starts_with(p, "inf")) {
        p += starts_with(p, "infinity") ? 8 : 3;
        bits = infinite;
    } else if (starts_with(p, "nan")) {
        p += 3;
        bits = infinite | UINT64_C(1) << (f->fraction - 1);
    } else if (p[0] == '0' && (p[1] | 32) == 'x' &&
               isxdigit((unsigned char)(p[2] == '.' ? p[3] : p[2]))) {
        p += 2;
        bits = read_hex(f, &p);
    } else if (isdigit((unsigned char)*first)) {
        bits = read_decimal(f, &p);
    } else {
        p = s;
        sign = 0;
    }
    if (end) *end = (char *)p;
    return sign | bits;
}

double strtod(const char *s, char **end)
{
    double x;
    memcpy(&x, &(uint64_t){read_float(&doubles, s, end)}, sizeof x);
    return x;
}

float strtof(const char *s, char **end)
{
    float x;
    memcpy(&x, &(uint32_t){(uint32_t)read_float(&floats, s, end)}, sizeof x);
    return x;
}

double atof(const char *s) { return strtod(s, NULL); }
