/* Tests the 128-bit numbers of hosts whose compiler has none (base/u128.h), against what must
 * hold for them and, where the compiler has such integers, against those. */
#define PENTA_PLAIN_U128
#include "base/u128.h"
#include "check.h"
#include <stddef.h>

static void u128_test_expect(const char *what, u128 a, u128 b, bool ok)
{
    CHECK(ok, "%s of %016llx%016llx and %016llx%016llx", what, (unsigned long long)a.high,
          (unsigned long long)a.low, (unsigned long long)b.high, (unsigned long long)b.low);
}

static bool u128_test_minus(u128 a) { return u128_is_negative(a); }
static u128 u128_test_amount(u128 a) { return u128_test_minus(a) ? u128_negate(a) : a; }

/* Checks what holds for every pair. */
static void u128_test_laws(u128 a, u128 b)
{
    u128_test_expect("sum", a, b, u128_equal(u128_sub(u128_add(a, b), b), a));
    u128_test_expect("order", a, b, u128_less(a, b) + u128_less(b, a) + u128_equal(a, b) == 1);
    u128_test_expect(
        "signed order", a, b,
        u128_less_signed(a, b) ==
            (u128_test_minus(a) != u128_test_minus(b) ? u128_test_minus(a) : u128_less(a, b)));
    u128_test_expect("bits", a, b,
                     u128_equal(u128_add(u128_xor(a, b), u128_and(a, b)), u128_or(a, b)));
    if (u128_is_zero(b)) return;
    u128 q = u128_div(a, b), r = u128_mod(a, b);
    u128_test_expect("quotient", a, b,
                     u128_equal(u128_add(u128_mul(q, b), r), a) && u128_less(r, b));
    q = u128_div_signed(a, b), r = u128_mod_signed(a, b);
    u128_test_expect("signed quotient", a, b,
                     u128_equal(u128_add(u128_mul(q, b), r), a) &&
                         u128_less(u128_test_amount(r), u128_test_amount(b)) &&
                         (u128_is_zero(r) || u128_test_minus(r) == u128_test_minus(a)));
}

static void u128_test_shifts(u128 a)
{
    u128 left = a, right = a;
    for (unsigned n = 0; n < 128; n++) {
        u128 by = u128_of(n), up = u128_not(u128_of(0));
        u128_test_expect("<<", a, by, u128_equal(u128_shl(a, n), left));
        u128_test_expect(">>", a, by, u128_equal(u128_shr(a, n), right));
        u128 sign = u128_test_minus(a) && n ? u128_shl(up, 128 - n) : u128_of(0);
        u128_test_expect("signed >>", a, by, u128_equal(u128_sar(a, n), u128_or(right, sign)));
        u128_test_expect("bit", a, by, u128_bit(a, n) == (right.low & 1));
        left = u128_add(left, left);
        right = u128_div(right, u128_of(2));
    }
}

static void u128_test_reals(void)
{
    static const struct {
        uint64_t high, low;
        double real, real32;
    } rows[] = {
        {0, 0, 0, 0},
        {0, 0x20000000000001, 0x1p53, 0x1p53},
        {0, 0xffffffffffffffff, 0x1p64, 0x1p64},
        {1, 0, 0x1p64, 0x1p64},
        {1, 0x800, 0x1p64, 0x1p64},                /* half of the last place, which rounds to
                                                    * even */
        {1, 0x801, 0x1.0000000000001p64, 0x1p64},  /* a little more than half */
        {1, 0x1800, 0x1.0000000000002p64, 0x1p64}, /* half again, which rounds to the other side */
        {0x100000000, 0x80000, 0x1p96, 0x1p96},    /* far below the last place */
        {0x8000008000000000, 0, 0x1.000001p127, 0x1p127},
        {0x8000008000000000, 1, 0x1.000001p127, 0x1.000002p127}, /* rounds once */
        {0xffffffffffffffff, 0xffffffffffffffff, 0x1p128, (double)INFINITY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        u128 v = u128_join(rows[i].high, rows[i].low);
        u128_test_expect("real", v, v, u128_real(v) == rows[i].real);
        u128_test_expect("real of 32 bits", v, v, (double)u128_real32(v) == rows[i].real32);
        if (rows[i].real < 0x1p128) {
            v = u128_of_real(rows[i].real);
            u128_test_expect("of real", v, v, u128_real(v) == rows[i].real);
        }
    }
    u128_test_expect("part", u128_of(0), u128_of(0), u128_is_zero(u128_of_real(0.9)));
}

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 wide;

static bool u128_test_same(u128 a, wide b)
{
    return a.low == (uint64_t)b && a.high == (uint64_t)(b >> 64);
}

static void u128_test_compared(u128 a, u128 b)
{
    wide x = (wide)a.high << 64 | a.low, y = (wide)b.high << 64 | b.low;
    u128_test_expect("+", a, b, u128_test_same(u128_add(a, b), x + y));
    u128_test_expect("-", a, b, u128_test_same(u128_sub(a, b), x - y));
    u128_test_expect("*", a, b, u128_test_same(u128_mul(a, b), x * y));
    u128_test_expect("product", a, b,
                     u128_test_same(u128_product(a.low, b.high), (wide)a.low * b.high));
    u128_test_expect("real", a, b, u128_real(a) == (double)x);
    u128_test_expect("real of 32 bits", a, b, u128_real32(a) == (float)x);
    if ((double)x < 0x1p128)
        u128_test_expect("of real", a, b, u128_test_same(u128_of_real((double)x), (wide)(double)x));
    if (!y) return;
    u128_test_expect(
        "/", a, b, u128_test_same(u128_div(a, b), x / y) && u128_test_same(u128_mod(a, b), x % y));
    if (x == (wide)1 << 127 && !~y) return; /* C does not define the least number divided by -1. */
    u128_test_expect("signed /", a, b,
                     u128_test_same(u128_div_signed(a, b), (wide)((__int128)x / (__int128)y)) &&
                         u128_test_same(u128_mod_signed(a, b), (wide)((__int128)x % (__int128)y)));
}
#else
static void u128_test_compared(u128 a, u128 b) { (void)a, (void)b; }
#endif

int main(void)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     10,
                                     0x7fffffff,
                                     0xffffffff,
                                     0x100000000,
                                     INT64_MAX,
                                     0x8000000000000000,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    enum { EDGES = sizeof edges / sizeof *edges };
    uint64_t seed = 1;
    for (unsigned i = 0; i < EDGES * EDGES; i++) {
        u128 a = u128_join(edges[i / EDGES], edges[i % EDGES]);
        u128_test_shifts(a);
        for (unsigned k = 0; k < EDGES * EDGES; k++) {
            u128 b = u128_join(edges[k / EDGES], edges[k % EDGES]);
            u128_test_laws(a, b);
            u128_test_compared(a, b);
        }
    }
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t part[4];
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            part[k] = (seed ^ seed >> 31) >> seed % 61;
        }
        u128 a = u128_join(part[0], part[1]), b = u128_join(i & 1 ? 0 : part[2], part[3]);
        u128_test_laws(a, b);
        u128_test_compared(a, b);
    }
    u128_test_reals();
    return checks_end();
}
