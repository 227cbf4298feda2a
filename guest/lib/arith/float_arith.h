/* Implements floating point arithmetic with integers, because the machine has none: IEEE 754,
 * rounding to nearest, ties to even. The file is included once for each width, with these defined:
 *
 *     FLOAT, REP, WIDTH, FRACTION    double, uint64_t, 64, 52; float, uint32_t, 32, 23; or quad with 128, 112
 *     NAME(add, 3)                   the compiler's name of a function: __adddf3
 *     MUL_HIGH(a, b, &low)           the high half of a * b
 *     DIV_BY(high, low, d, &rest)    the quotient of high:low by d
 *
 * A number is unpacked into a biased exponent and a significand with its leading one at bit FRACTION,
 * also if it is subnormal. Results are packed from a significand with its leading one at bit
 * WIDTH - 2; its bit 0 is also set if any lower bits were lost. */
#include <stdint.h>
#include <string.h>

enum {
    EXPONENT_MAX = (1 << (WIDTH - 1 - FRACTION)) - 1, /* the exponent of infinities and NaNs */
    BIAS = EXPONENT_MAX / 2,
    SPARE = WIDTH - 2 - FRACTION, /* number of bits of a result below its fraction */
};
#define SIGN ((REP)1 << (WIDTH - 1))
#define ONE ((REP)1 << FRACTION)
#define INFINITE ((REP)EXPONENT_MAX << FRACTION)
#define QUIET_NAN (INFINITE | ONE >> 1)

static inline REP bits_of(FLOAT x)
{
    REP bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline FLOAT float_of(REP bits)
{
    FLOAT x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int leading_zeros(REP x)
{
#if WIDTH == 128
    uint64_t high = (uint64_t)(x >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
#else
    return WIDTH == 64 ? __builtin_clzll(x) : __builtin_clz((unsigned)x);
#endif
}

static inline REP float_magnitude(REP bits) { return bits & ~SIGN; }

/* Unpacks a number that is not zero, infinite or NaN. */
static inline int float_unpack(REP bits, REP *significand)
{
    int exponent = (int)(bits >> FRACTION & EXPONENT_MAX);
    *significand = bits & (ONE - 1);
    if (exponent) {
        *significand |= ONE;
        return exponent;
    }
    int shift = leading_zeros(*significand) - (WIDTH - 1 - FRACTION);
    *significand <<= shift;
    return 1 - shift;
}

/* Shifts x right. Sets bit 0 of the result if any bit that is lost was set. */
static inline REP shift_right(REP x, int n)
{
    if (n >= WIDTH) return x != 0;
    return n ? x >> n | ((REP)(x << (WIDTH - n)) != 0) : x;
}

static FLOAT float_pack(REP sign, int exponent, REP significand)
{
    const REP half = (REP)1 << (SPARE - 1);
    if (exponent >= EXPONENT_MAX) return float_of(sign | INFINITE);
    if (exponent <= 0) {
        significand = shift_right(significand, 1 - exponent);
        exponent = 0;
    }
    REP below = significand & (2 * half - 1);
    significand >>= SPARE;
    if (below > half || (below == half && significand & 1)) significand++;
    /* The leading one of the significand adds one to the exponent, as does a carry of rounding. */
    return float_of(sign | ((exponent ? (REP)(exponent - 1) << FRACTION : 0) + significand));
}

static inline FLOAT add_finite(REP a, REP b) /* requires |a| >= |b| > 0 */
{
    REP sa, sb, sign = a & SIGN;
    int exponent = float_unpack(float_magnitude(a), &sa),
        other = float_unpack(float_magnitude(b), &sb);
    sa <<= SPARE;
    sb = shift_right(sb << SPARE, exponent - other);
    if ((a ^ b) & SIGN) {
        sa -= sb;
        if (!sa) return float_of(0);
        int shift = leading_zeros(sa) - 1;
        return float_pack(sign, exponent - shift, sa << shift);
    }
    sa += sb;
    if (sa & SIGN) return float_pack(sign, exponent + 1, shift_right(sa, 1));
    return float_pack(sign, exponent, sa);
}

static FLOAT add_bits(REP a, REP b)
{
    if (float_magnitude(a) < float_magnitude(b)) {
        REP t = a;
        a = b;
        b = t;
    }
    if (float_magnitude(a) > INFINITE) return float_of(QUIET_NAN);
    if (float_magnitude(a) == INFINITE) return float_of(a == (b ^ SIGN) ? QUIET_NAN : a);
    if (!float_magnitude(b)) return float_of(float_magnitude(a) ? a : a & b);
    return add_finite(a, b);
}

FLOAT NAME(add, 3)(FLOAT a, FLOAT b) { return add_bits(bits_of(a), bits_of(b)); }
FLOAT NAME(sub, 3)(FLOAT a, FLOAT b) { return add_bits(bits_of(a), bits_of(b) ^ SIGN); }
FLOAT NAME(neg, 2)(FLOAT a) { return float_of(bits_of(a) ^ SIGN); }

FLOAT NAME(mul, 3)(FLOAT x, FLOAT y)
{
    REP a = bits_of(x), b = bits_of(y), sign = (a ^ b) & SIGN, low;
    a = float_magnitude(a);
    b = float_magnitude(b);
    if (a > INFINITE || b > INFINITE) return float_of(QUIET_NAN);
    if (a == INFINITE || b == INFINITE) return float_of(a && b ? sign | INFINITE : QUIET_NAN);
    if (!a || !b) return float_of(sign);
    int exponent = float_unpack(a, &a) + float_unpack(b, &b) - BIAS;
    REP high = MUL_HIGH(a << (SPARE + 1), b << (SPARE + 1), &low);
    if (high & SIGN) {
        high = shift_right(high, 1);
        exponent++;
    }
    return float_pack(sign, exponent, high | (low != 0));
}

FLOAT NAME(div, 3)(FLOAT x, FLOAT y)
{
    REP a = bits_of(x), b = bits_of(y), sign = (a ^ b) & SIGN, rest;
    a = float_magnitude(a);
    b = float_magnitude(b);
    if (a > INFINITE || b > INFINITE || a == b) {
        if (a == b && a && a < INFINITE) return float_of(sign | (REP)BIAS << FRACTION);
        return float_of(QUIET_NAN);
    }
    if (a == INFINITE || !b) return float_of(sign | INFINITE);
    if (b == INFINITE || !a) return float_of(sign);
    int exponent = float_unpack(a, &a) - float_unpack(b, &b) + BIAS;
    if (a < b) {
        a <<= 1;
        exponent--;
    }
    REP quotient = DIV_BY(a >> 2, (REP)(a << (WIDTH - 2)), b, &rest);
    return float_pack(sign, exponent, quotient | (rest != 0));
}

static inline int float_compare(FLOAT x, FLOAT y, int unordered)
{
    REP a = bits_of(x), b = bits_of(y);
    if (float_magnitude(a) > INFINITE || float_magnitude(b) > INFINITE) return unordered;
    if (!float_magnitude(a | b)) return 0;
    if ((a ^ b) & SIGN) return a & SIGN ? -1 : 1;
    int order = a < b ? -1 : a > b;
    return a & SIGN ? -order : order;
}

long NAME(eq, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, 1); }
long NAME(ne, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, 1); }
long NAME(lt, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, 1); }
long NAME(le, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, 1); }
long NAME(gt, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, -1); }
long NAME(ge, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, -1); }
long NAME(unord, 2)(FLOAT a, FLOAT b) { return float_compare(a, b, 2) == 2; }

/* Converts x * 2^exponent with a sign. Bit 0 of x is also set if the number has any lower bits. */
static FLOAT from_u64(REP sign, uint64_t x, int exponent)
{
    if (!x) return float_of(0);
    int shift = __builtin_clzll(x);
    x <<= shift;
#if WIDTH == 128
    REP significand = (REP)x << (WIDTH - 2 - 63);
#else
    uint64_t below = x & (((uint64_t)1 << (66 - WIDTH - 1)) - 1);
    REP significand = (REP)(x >> (66 - WIDTH - 1)) | (below != 0);
#endif
    return float_pack(sign, BIAS + 63 - shift + exponent, significand);
}

FLOAT NAME(floatunsi, )(uint32_t x) { return from_u64(0, x, 0); }
FLOAT NAME(floatundi, )(uint64_t x) { return from_u64(0, x, 0); }
FLOAT NAME(floatsi, )(int32_t x)
{
    return from_u64(x < 0 ? SIGN : 0, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, 0);
}
FLOAT NAME(floatdi, )(int64_t x)
{
    return from_u64(x < 0 ? SIGN : 0, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, 0);
}

/* Returns |a| as an integer, at most 2^bits - 1. */
static uint64_t to_u64(REP a, int bits)
{
    const uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    REP significand;
    a = float_magnitude(a);
    if (a < (REP)BIAS << FRACTION) return 0;
    int exponent = float_unpack(a, &significand) - BIAS;
    if (exponent >= bits) return most;
    if (exponent <= FRACTION) return significand >> (FRACTION - exponent);
    return (uint64_t)significand << (exponent - FRACTION);
}

static int64_t to_i64(FLOAT x, int bits)
{
    REP a = bits_of(x);
    if (float_magnitude(a) > INFINITE) return 0;
    uint64_t most = ((uint64_t)1 << (bits - 1)) - 1, n = to_u64(a, 64);
    if (a & SIGN) return n > most ? -(int64_t)most - 1 : -(int64_t)n;
    return (int64_t)(n > most ? most : n);
}

static uint64_t to_unsigned(FLOAT x, int bits)
{
    REP a = bits_of(x);
    return a & SIGN || float_magnitude(a) > INFINITE ? 0 : to_u64(a, bits);
}

int32_t NAME(fix, si)(FLOAT x) { return (int32_t)to_i64(x, 32); }
int64_t NAME(fix, di)(FLOAT x) { return to_i64(x, 64); }
uint32_t NAME(fixuns, si)(FLOAT x) { return (uint32_t)to_unsigned(x, 32); }
uint64_t NAME(fixuns, di)(FLOAT x) { return to_unsigned(x, 64); }

#ifdef __SIZEOF_INT128__

static FLOAT from_u128(REP sign, unsigned __int128 x)
{
#if WIDTH == 128
    if (!x) return float_of(0);
    int shift = leading_zeros(x);
    return float_pack(sign, BIAS + 127 - shift, shift_right(x << shift, 1));
#else
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    if (!high) return from_u64(sign, low, 0);
    int shift = __builtin_clzll(high);
    if (shift) {
        high = high << shift | low >> (64 - shift);
        low <<= shift;
    }
    return from_u64(sign, high | (low != 0), 64 - shift);
#endif
}

FLOAT NAME(floatunti, )(unsigned __int128 x) { return from_u128(0, x); }
FLOAT NAME(floatti, )(__int128 x)
{
    return x < 0 ? from_u128(SIGN, 0 - (unsigned __int128)x) : from_u128(0, (unsigned __int128)x);
}

static unsigned __int128 to_u128(REP a, int bits)
{
    REP significand;
    a = float_magnitude(a);
    if (a < (REP)BIAS << FRACTION) return 0;
    int exponent = float_unpack(a, &significand) - BIAS;
    if (exponent >= bits) return ~(unsigned __int128)0 >> (128 - bits);
    if (exponent <= FRACTION) return significand >> (FRACTION - exponent);
    return (unsigned __int128)significand << (exponent - FRACTION);
}

unsigned __int128 NAME(fixuns, ti)(FLOAT x)
{
    REP a = bits_of(x);
    return a & SIGN || float_magnitude(a) > INFINITE ? 0 : to_u128(a, 128);
}
__int128 NAME(fix, ti)(FLOAT x)
{
    REP a = bits_of(x);
    if (float_magnitude(a) > INFINITE) return 0;
    __int128 n = (__int128)to_u128(a, 127);
    bool least = a & SIGN && float_magnitude(a) >= (REP)(BIAS + 127) << FRACTION;
    return a & SIGN ? -n - least : n;
}

#endif
