/* Compares the guest's arithmetic, compiled for this machine under names that start with guest_,
 * with the machine's own: bit for bit, except for NaNs, whose payload is not specified. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "random.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

/* Returns a number with runs of ones and zeros, or with few bits, because these are where
 * roundings and carries happen. */
static uint64_t edge_number(void)
{
    uint64_t x = random_next(), how = random_next();
    switch (how & 7) {
    case 0: return x;
    case 1: return x >> (how >> 8 & 63);
    case 2: return x << (how >> 8 & 63);
    case 3: return UINT64_C(1) << (x & 63);
    case 4: return (UINT64_C(1) << (x & 63)) - 1;
    case 5: return ~(UINT64_C(0)) << (x & 63);
    case 6: return x & 3;
    default: return (uint64_t)0 - (x & 3);
    }
}

static double a_double(void)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x0010000000000001,
                                       0x3ff0000000000000,
                                       0x3fefffffffffffff,
                                       0x3ff0000000000001,
                                       0x4330000000000000,
                                       0x43e0000000000000,
                                       0x43dfffffffffffff,
                                       0x41e0000000000000,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0x7ff8000000000000,
                                       0x7ff0000000000001,
                                       0x36a0000000000000,
                                       0x3690000000000000,
                                       0x380fffffffffffff,
                                       0x47efffffe0000000,
                                       0x47effffff0000000,
                                       0x47efffffefffffff};
    uint64_t bits = random_next(), how = random_next();
    if (how % 8 == 0) bits = special[bits % (sizeof special / sizeof *special)] | (how & 256) << 55;
    if (how % 8 == 1) bits = edge_number();
    if (how % 8 == 2) bits = (edge_number() & 0xfffffffffffff) | (bits & UINT64_C(0xfff) << 52);
    if (how % 8 >= 5)
        bits =
            (edge_number() & 0xfffffffffffff) | (1023 - 60 + bits % 120) << 52 | (how & 256) << 55;
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static float a_float(void)
{
    uint32_t bits = (uint32_t)random_next(), how = (uint32_t)random_next();
    if (how % 4 == 0) bits = (uint32_t)edge_number();
    if (how % 4 == 1)
        bits =
            ((uint32_t)edge_number() & 0x7fffff) | (127 - 30 + bits % 60) << 23 | (how & 256) << 23;
    if (how % 4 == 2) bits &= 0x807fffff | (how << 16 & 0x7f000000);
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static void check_fail(const char *what, const void *a, const void *b, size_t size)
{
    if (failures++ > 20) return;
    printf("%s(", what);
    for (size_t i = size; i--;) printf("%02x", ((const uint8_t *)a)[i]);
    printf(", ");
    for (size_t i = size; i--;) printf("%02x", ((const uint8_t *)b)[i]);
    printf(") differs\n");
}

#define SAME(what, ours, theirs, a, b)                                                             \
    do {                                                                                           \
        __typeof__(theirs) o_ = (ours), t_ = (theirs);                                             \
        if (memcmp(&o_, &t_, sizeof o_) && !(o_ != o_ && t_ != t_))                                \
            check_fail(what, &a, &b, sizeof a);                                                    \
    } while (0)

#define FLOATS(T, S, A)                                                                            \
    T guest___add##S##3(T, T), guest___sub##S##3(T, T), guest___mul##S##3(T, T);                   \
    T guest___div##S##3(T, T), guest___neg##S##2(T);                                               \
    int guest___eq##S##2(T, T), guest___ne##S##2(T, T), guest___lt##S##2(T, T);                    \
    int guest___le##S##2(T, T), guest___gt##S##2(T, T), guest___ge##S##2(T, T);                    \
    int guest___unord##S##2(T, T);                                                                 \
    T guest___floatsi##S(int32_t), guest___floatunsi##S(uint32_t), guest___floatdi##S(int64_t);    \
    T guest___floatundi##S(uint64_t), guest___floatti##S(i128), guest___floatunti##S(u128);        \
    int32_t guest___fix##S##si(T);                                                                 \
    int64_t guest___fix##S##di(T);                                                                 \
    i128 guest___fix##S##ti(T);                                                                    \
    uint32_t guest___fixuns##S##si(T);                                                             \
    uint64_t guest___fixuns##S##di(T);                                                             \
    u128 guest___fixuns##S##ti(T);                                                                 \
    static void check_##S(void)                                                                    \
    {                                                                                              \
        T a = A(), b = A();                                                                        \
        uint64_t n = edge_number();                                                                \
        u128 w = (u128)edge_number() << 64 | edge_number();                                        \
        SAME("add" #S, guest___add##S##3(a, b), a + b, a, b);                                      \
        SAME("sub" #S, guest___sub##S##3(a, b), a - b, a, b);                                      \
        SAME("mul" #S, guest___mul##S##3(a, b), a *b, a, b);                                       \
        SAME("div" #S, guest___div##S##3(a, b), a / b, a, b);                                      \
        SAME("neg" #S, guest___neg##S##2(a), -a, a, b);                                            \
        SAME("eq" #S, guest___eq##S##2(a, b) == 0, a == b, a, b);                                  \
        SAME("ne" #S, guest___ne##S##2(a, b) != 0, a != b, a, b);                                  \
        SAME("lt" #S, guest___lt##S##2(a, b) < 0, a < b, a, b);                                    \
        SAME("le" #S, guest___le##S##2(a, b) <= 0, a <= b, a, b);                                  \
        SAME("gt" #S, guest___gt##S##2(a, b) > 0, a > b, a, b);                                    \
        SAME("ge" #S, guest___ge##S##2(a, b) >= 0, a >= b, a, b);                                  \
        SAME("unord" #S, guest___unord##S##2(a, b) != 0, a != a || b != b, a, b);                  \
        SAME("floatsi" #S, guest___floatsi##S((int32_t)n), (T)(int32_t)n, n, n);                   \
        SAME("floatunsi" #S, guest___floatunsi##S((uint32_t)n), (T)(uint32_t)n, n, n);             \
        SAME("floatdi" #S, guest___floatdi##S((int64_t)n), (T)(int64_t)n, n, n);                   \
        SAME("floatundi" #S, guest___floatundi##S(n), (T)n, n, n);                                 \
        SAME("floatti" #S, guest___floatti##S((i128)w), (T)(i128)w, w, w);                         \
        SAME("floatunti" #S, guest___floatunti##S(w), (T)w, w, w);                                 \
        double x = (double)a; /* These are the conversions that C defines. */                      \
        if (x > -2147483649.0 && x < 2147483648.0)                                                 \
            SAME("fixsi" #S, guest___fix##S##si(a), (int32_t)a, a, b);                             \
        if (x >= -0x1p63 && x < 0x1p63) SAME("fixdi" #S, guest___fix##S##di(a), (int64_t)a, a, b); \
        if (x >= -0x1p127 && x < 0x1p127) SAME("fixti" #S, guest___fix##S##ti(a), (i128)a, a, b);  \
        if (x > -1 && x < 4294967296.0)                                                            \
            SAME("fixunssi" #S, guest___fixuns##S##si(a), (uint32_t)a, a, b);                      \
        if (x > -1 && x < 0x1p64)                                                                  \
            SAME("fixunsdi" #S, guest___fixuns##S##di(a), (uint64_t)a, a, b);                      \
        if (x > -1 && x < 0x1p128) SAME("fixunsti" #S, guest___fixuns##S##ti(a), (u128)a, a, b);   \
    }

/* Makes a number as a_double does, with a longer fraction. */
static __float128 a_quad(void)
{
    static const uint64_t special[] = {0,
                                       0x0000ffffffffffff,
                                       0x0001000000000000,
                                       0x3fff000000000000,
                                       0x3ffeffffffffffff,
                                       0x7ffeffffffffffff,
                                       0x7fff000000000000,
                                       0x7fff800000000000,
                                       0x3c00ffffffffffff,
                                       0x3bff000000000000,
                                       0x43fefffffffffffe,
                                       0x407effffffffffff,
                                       0x3f80ffffffffffff,
                                       0x403e000000000000};
    uint64_t high = random_next(), low = edge_number(), how = random_next();
    if (how % 8 == 0) high = special[high % (sizeof special / sizeof *special)] | (how & 256) << 55;
    if (how % 8 == 1) high = edge_number();
    if (how % 8 == 2) high = (edge_number() & 0xffffffffffff) | (high & UINT64_C(0xffff) << 48);
    if (how % 8 == 3) high = (edge_number() & 0xffffffffffff) | (16383 - 1080 + high % 2160) << 48;
    if (how % 8 >= 5)
        high =
            (edge_number() & 0xffffffffffff) | (16383 - 120 + high % 240) << 48 | (how & 256) << 55;
    if (how >> 16 & 1) low = how >> 20 & 3 ? 0 : UINT64_C(1) << 59;
    u128 bits = (u128)high << 64 | low;
    __float128 x;
    memcpy(&x, &bits, 16);
    return x;
}

FLOATS(__float128, tf, a_quad)
FLOATS(double, df, a_double)
FLOATS(float, sf, a_float)

double guest___extendsfdf2(float);
float guest___truncdfsf2(double);
__float128 guest___extenddftf2(double), guest___extendsftf2(float);
double guest___trunctfdf2(__float128);
float guest___trunctfsf2(__float128);
u128 guest___multi3(u128, u128), guest___udivti3(u128, u128), guest___umodti3(u128, u128);
i128 guest___divti3(i128, i128), guest___modti3(i128, i128), guest___ashrti3(i128, int);
u128 guest___ashlti3(u128, int), guest___lshrti3(u128, int);
i128 guest___muloti4(i128, i128, int *);
int64_t guest___mulodi4(int64_t, int64_t, int *);
uint64_t guest___udivdi3(uint64_t, uint64_t), guest___umoddi3(uint64_t, uint64_t);
uint64_t guest___muldi3(uint64_t, uint64_t), guest___ashldi3(uint64_t, int);
uint64_t guest___lshrdi3(uint64_t, int);
int64_t guest___divdi3(int64_t, int64_t), guest___moddi3(int64_t, int64_t);
int64_t guest___ashrdi3(int64_t, int);

static void check_conversions(void)
{
    float f = a_float();
    double d = a_double();
    SAME("extendsfdf2", guest___extendsfdf2(f), (double)f, f, f);
    __float128 q = a_quad();
    SAME("extenddftf2", guest___extenddftf2(d), (__float128)d, d, d);
    SAME("extendsftf2", guest___extendsftf2(f), (__float128)f, f, f);
    SAME("trunctfdf2", guest___trunctfdf2(q), (double)q, q, q);
    SAME("trunctfsf2", guest___trunctfsf2(q), (float)q, q, q);
    SAME("truncdfsf2", guest___truncdfsf2(d), (float)d, d, d);
}

static void check_integers(void)
{
    uint64_t a = edge_number(), b = edge_number();
    int n = (int)(random_next() & 63), m = (int)(random_next() & 127), ours, theirs;
    u128 x = (u128)edge_number() << 64 | edge_number(),
         y = (random_next() & 1 ? (u128)edge_number() << 64 : 0) | edge_number();
    i128 p, q = (i128)x, r = (i128)y;
    int64_t c;
    SAME("muldi3", guest___muldi3(a, b), a * b, a, b);
    SAME("ashldi3", guest___ashldi3(a, n), a << n, a, n);
    SAME("lshrdi3", guest___lshrdi3(a, n), a >> n, a, n);
    SAME("ashrdi3", guest___ashrdi3((int64_t)a, n), (int64_t)a >> n, a, n);
    SAME("multi3", guest___multi3(x, y), x * y, x, y);
    SAME("ashlti3", guest___ashlti3(x, m), x << m, x, m);
    SAME("lshrti3", guest___lshrti3(x, m), x >> m, x, m);
    SAME("ashrti3", guest___ashrti3(q, m), q >> m, x, m);
    theirs = __builtin_mul_overflow((int64_t)a, (int64_t)b, &c);
    SAME("mulodi4", guest___mulodi4((int64_t)a, (int64_t)b, &ours), c, a, b);
    SAME("mulodi4", ours, theirs, a, b);
    theirs = __builtin_mul_overflow(q, r, &p);
    SAME("muloti4", guest___muloti4(q, r, &ours), p, x, y);
    SAME("muloti4", ours, theirs, x, y);
    if (b) {
        SAME("udivdi3", guest___udivdi3(a, b), a / b, a, b);
        SAME("umoddi3", guest___umoddi3(a, b), a % b, a, b);
    }
    if (b && !(a == UINT64_C(1) << 63 && b == UINT64_MAX)) {
        SAME("divdi3", guest___divdi3((int64_t)a, (int64_t)b), (int64_t)a / (int64_t)b, a, b);
        SAME("moddi3", guest___moddi3((int64_t)a, (int64_t)b), (int64_t)a % (int64_t)b, a, b);
    }
    if (y) {
        SAME("udivti3", guest___udivti3(x, y), x / y, x, y);
        SAME("umodti3", guest___umodti3(x, y), x % y, x, y);
    }
    if (y && !(x == (u128)1 << 127 && y == ~(u128)0)) {
        SAME("divti3", guest___divti3(q, r), q / r, x, y);
        SAME("modti3", guest___modti3(q, r), q % r, x, y);
    }
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    if (argc > 2) state = strtoull(argv[2], NULL, 10);
    for (unsigned long i = 0; i < count; i++) {
        check_tf();
        check_df();
        check_sf();
        check_conversions();
        check_integers();
    }
    printf("%lu rounds, %u differences\n", count, failures);
    return failures != 0;
}
