#include "math/real.h"
#include <math.h>

const uint64_t penta_inverse_factorial[21] = {0,
                                              0,
                                              0x8000000000000000,
                                              0x2aaaaaaaaaaaaaab,
                                              0x0aaaaaaaaaaaaaab,
                                              0x0222222222222222,
                                              0x005b05b05b05b05b,
                                              0x000d00d00d00d00d,
                                              0x0001a01a01a01a02,
                                              0x00002e3bc74aad8e,
                                              0x0000049f93edde28,
                                              0x0000006b99159fd5,
                                              0x00000008f76c77fc,
                                              0x00000000b092309d,
                                              0x000000000c9cba54,
                                              0x0000000000d73f9f,
                                              0x00000000000d73fa,
                                              0x000000000000ca96,
                                              0x0000000000000b41,
                                              0x0000000000000098,
                                              0x0000000000000008};

enum { FRACTION = 52, BIAS = 1023, TOP = 2047 };

struct real penta_real_make(bool negative, uint64_t significand, int exponent)
{
    if (!significand) return (struct real){0, 0, negative};
    int shift = __builtin_clzll(significand);
    return (struct real){significand << shift, exponent - shift, negative};
}

struct real penta_real_of(double x)
{
    uint64_t bits = double_bits(x), fraction = bits & ((UINT64_C(1) << FRACTION) - 1);
    int exponent = (int)(bits >> FRACTION & TOP);
    if (exponent) fraction |= UINT64_C(1) << FRACTION;
    return penta_real_make(bits >> 63, fraction, (exponent ? exponent : 1) - BIAS + 63 - FRACTION);
}

double penta_real_round(struct real a)
{
    uint64_t sign = (uint64_t)a.negative << 63;
    int biased = a.exponent + BIAS, drop = 63 - FRACTION;
    if (!a.significand) return double_from(sign);
    if (biased >= TOP) return double_from(sign | (uint64_t)TOP << FRACTION);
    if (biased <= 0) {
        drop += 1 - biased;
        biased = 0;
        if (drop > 64) return double_from(sign);
    }
    uint64_t half = UINT64_C(1) << (drop - 1);
    uint64_t kept = drop == 64 ? 0 : a.significand >> drop, below = a.significand & (2 * half - 1);
    if (below > half || (below == half && kept & 1)) kept++;
    return double_from(sign | ((biased ? (uint64_t)(biased - 1) << FRACTION : 0) + kept));
}

uint64_t penta_real_fraction(struct real a)
{
    int shift = -1 - a.exponent;
    return shift > 63 ? 0 : a.significand >> shift;
}

/* Returns high + low / 2^64, rounded to 64 bits. */
static struct real round_up(bool negative, uint64_t high, uint64_t low, int exponent)
{
    if (low >> 63 && !++high) return (struct real){UINT64_C(1) << 63, exponent + 1, negative};
    return (struct real){high, exponent, negative};
}

int penta_real_compare(struct real a, struct real b)
{
    if (!a.significand || !b.significand) return (a.significand != 0) - (b.significand != 0);
    if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
    return a.significand < b.significand ? -1 : a.significand > b.significand;
}

struct real penta_real_add(struct real a, struct real b)
{
    if (penta_real_compare(a, b) < 0) {
        struct real t = a;
        a = b;
        b = t;
    }
    int distance = a.exponent - b.exponent;
    if (!b.significand || distance > 126) return a;
    uint64_t high = a.significand, low = 0, bh = 0, bl = 0;
    if (distance >= 64) {
        bl = b.significand >> (distance - 64);
    } else {
        bh = b.significand >> distance;
        bl = distance ? b.significand << (64 - distance) : 0;
    }
    if (a.negative == b.negative) {
        low = bl;
        high += bh;
        if (high < bh) { /* The addition had a carry. */
            low = low >> 1 | high << 63;
            high = high >> 1 | UINT64_C(1) << 63;
            a.exponent++;
        }
        return round_up(a.negative, high, low, a.exponent);
    }
    high -= bh + (bl != 0);
    low = 0 - bl;
    if (!high) return penta_real_make(a.negative, low, a.exponent - 64);
    int shift = __builtin_clzll(high);
    if (shift) {
        high = high << shift | low >> (64 - shift);
        low <<= shift;
    }
    return round_up(a.negative, high, low, a.exponent - shift);
}

struct real penta_real_mul(struct real a, struct real b)
{
    uint64_t low, high = wide_mul(a.significand, b.significand, &low);
    int exponent = a.exponent + b.exponent + 1;
    if (!high) return (struct real){0, 0, a.negative != b.negative};
    if (!(high >> 63)) {
        high = high << 1 | low >> 63;
        low <<= 1;
        exponent--;
    }
    return round_up(a.negative != b.negative, high, low, exponent);
}

struct real penta_real_div(struct real a, struct real b) /* b is not zero */
{
    uint64_t rest, quotient;
    int exponent = a.exponent - b.exponent;
    if (!a.significand) return (struct real){0, 0, a.negative != b.negative};
    if (a.significand < b.significand) {
        quotient = wide_div(a.significand, 0, b.significand, &rest);
        exponent--;
    } else {
        quotient = wide_div(a.significand >> 1, a.significand << 63, b.significand, &rest);
    }
    uint64_t low = rest >= b.significand - rest ? UINT64_C(1) << 63 : 0;
    return round_up(a.negative != b.negative, quotient, low, exponent);
}

/* The root in double has 53 correct bits; one step of Newton's method doubles them. */
struct real penta_real_sqrt(struct real a)
{
    if (!a.significand) return a;
    int odd = a.exponent & 1, half = (a.exponent - odd) / 2;
    a.exponent = odd;
    struct real root = penta_real_of(sqrt(penta_real_round(a)));
    return real_scale(penta_real_add(root, penta_real_div(a, root)), half - 1);
}
