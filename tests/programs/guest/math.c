/* Compares the guest's mathematics, compiled for this machine under names that start with
 * guest_, with libquadmath: no error may be larger than 0.51 units in the last place. Exact
 * functions are compared with the machine's own library, bit for bit. */
#include <math.h>
#include <quadmath.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "random.h"

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* Returns any double, one near one, one of a usual size, a whole one, or a special one. */
static double random_double(void)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     1,
                                     -1,
                                     0.5,
                                     -0.5,
                                     2,
                                     10,
                                     1000,
                                     0x1p-1074,
                                     0x1p-1022,
                                     0x1.fffffffffffffp1023,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     M_PI,
                                     M_PI_2,
                                     -M_PI_4,
                                     M_E,
                                     0x1.921fb54442d18p+0,
                                     0x1.6ac5b262ca1ffp+849};
    uint64_t r = random_next(), how = random_next();
    double x = (double)(int64_t)r / 9223372036854775808.0;
    switch (how % 8) {
    case 0: return of_bits(r);
    case 1: return special[r % (sizeof special / sizeof *special)];
    case 2: return 1 + ldexp(x, -(int)(how >> 8 & 63));
    case 3: return ldexp(x, (int)(how >> 8 & 63) - 32);
    case 4: return (double)((int64_t)(r % 2001) - 1000);
    case 5: return x * 800;
    case 6: return x;
    default: return x * 30;
    }
}

struct worst {
    const char *name;
    double error, x, y;
};

static void worst_judge(struct worst *w, double ours, __float128 exact, double x, double y)
{
    double nearest = (double)exact, error = 0;
    if (isnan(nearest) || isinf(nearest) || nearest == 0) {
        /* The largest doubles, and infinities, are half a unit apart, too. */
        int same =
            isnan(nearest) ? isnan(ours) : ours == nearest && signbit(ours) == signbit(nearest);
        error = same ? 0
                : isinf(nearest) && fabs(ours) == 0x1.fffffffffffffp1023 &&
                        fabsq(exact) < 0x1.fffffffffffffcp1023Q
                    ? 0.5
                    : 1e9;
        if (nearest == 0 && fabs(ours) == 0x1p-1074)
            error = (double)fabsq(((__float128)ours - exact) / 0x1p-1074Q);
    } else if (isnan(ours) || isinf(ours)) {
        error = isinf(ours) && fabsq(exact) >= 0x1.fffffffffffff7fp1023Q ? 0.5 : 1e9;
    } else {
        int exponent;
        frexp(nearest, &exponent);
        __float128 unit = scalbnq(1, exponent - 53 < -1074 ? -1074 : exponent - 53);
        error = (double)(fabsq((__float128)ours - exact) / unit);
    }
    if (error <= w->error) return;
    *w = (struct worst){w->name, error, x, y};
}

/* clang-format off */
#define ONE(M)                                                                                     \
    M(exp) M(expm1) M(exp2) M(log) M(log2) M(log10) M(log1p) M(sin) M(cos) M(tan) M(asin) M(acos)  \
    M(atan) M(sinh) M(cosh) M(tanh) M(asinh) M(acosh) M(atanh) M(cbrt)  \
    M(erf) M(erfc) M(tgamma) M(lgamma)
#define TWO(M) M(pow) M(atan2) M(hypot)
/* clang-format on */

#define DECLARE_ONE(f) double guest_##f(double);
#define DECLARE_TWO(f) double guest_##f(double, double);
ONE(DECLARE_ONE)
TWO(DECLARE_TWO)
double guest_fma(double, double, double), guest_remainder(double, double);
double guest_fmod(double, double), guest_remquo(double, double, int *), guest_rint(double);
double guest_nextafter(double, double), guest_logb(double), guest_fdim(double, double);
long guest_lrint(double), guest_lround(double);
int guest_ilogb(double);
float guest_fmaf(float, float, float), guest_sinf(float), guest_powf(float, float);
float guest_nextafterf(float, float), guest_sqrtf(float), guest_expf(float);

static double of_one(double (*ours)(double), __float128 (*exact)(__float128), struct worst *w,
                     unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++) {
        double x = random_double();
        worst_judge(w, ours(x), exact(x), x, 0);
    }
    return w->error;
}

static double of_two(double (*ours)(double, double), __float128 (*exact)(__float128, __float128),
                     struct worst *w, unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++) {
        double x = random_double(), y = random_double();
        if (random_next() % 4 == 0) y = (double)(int)(random_next() % 200) / 4 - 20;
        if (random_next() % 8 == 0) { /* These results are near the ends of the range. */
            x = 1 + ldexp((double)random_next(), -70);
            y = (700 + (double)(random_next() % 50)) / log(x);
        }
        worst_judge(w, ours(x, y), exact(x, y), x, y);
    }
    return w->error;
}

static void worst_report(const struct worst *w)
{
    printf("%-6s %.4f at %a %a\n", w->name, w->error, w->x, w->y);
    failures += w->error >= 0.51;
}

static int same_double(double a, double b) { return !memcmp(&a, &b, 8) || (isnan(a) && isnan(b)); }

static void check_result(int ok, const char *name, double x, double y, double z)
{
    if (ok || failures++ > 20) return;
    printf("%s(%a, %a, %a) differs\n", name, x, y, z);
}

static void exact_ones(void)
{
    double x = random_double(), y = random_double(), z = random_double();
    uint64_t how = random_next();
    if (how & 1) z = -x * y; /* The sum cancels. */
    if ((how & 6) == 2) z = ldexp(z, (int)(how >> 8 & 127) - 64);
    if ((how & 24) == 8) y = x / (double)(random_next() % 64 + 1) * 2;
    int p = 0, q = 0;
    check_result(same_double(guest_fma(x, y, z), fma(x, y, z)), "fma", x, y, z);
    check_result(same_double(guest_fmod(x, y), fmod(x, y)), "fmod", x, y, 0);
    /* The machine's own library gives some zeros the wrong sign when y is subnormal. */
    double ours = guest_remainder(x, y), theirs = remainder(x, y);
    check_result(same_double(ours, theirs) ||
                     (ours == 0 && theirs == 0 && signbit(ours) == signbit(x)),
                 "remainder", x, y, 0);
    ours = guest_remquo(x, y, &p), theirs = remquo(x, y, &q);
    check_result(same_double(ours, theirs) && (isnan(theirs) || p % 8 == q % 8), "remquo", x, y, 0);
    check_result(same_double(guest_rint(x), rint(x)), "rint", x, 0, 0);
    check_result(same_double(guest_nextafter(x, y), nextafter(x, y)), "nextafter", x, y, 0);
    check_result(same_double(guest_logb(x), logb(x)), "logb", x, 0, 0);
    check_result(same_double(guest_fdim(x, y), fdim(x, y)), "fdim", x, y, 0);
    if (fabs(x) < 1e18)
        check_result(guest_lrint(x) == lrint(x) && guest_lround(x) == lround(x), "lrint", x, 0, 0);
    if (x - x == 0 && x != 0) check_result(guest_ilogb(x) == ilogb(x), "ilogb", x, 0, 0);
    float a = (float)x, b = (float)y, c = (float)z;
    check_result(same_double(guest_fmaf(a, b, c), fmaf(a, b, c)), "fmaf", a, b, c);
    check_result(same_double(guest_nextafterf(a, b), nextafterf(a, b)), "nextafterf", a, b, 0);
    check_result(same_double(guest_sqrtf(a), sqrtf(a)), "sqrtf", a, 0, 0);
    /* These are rounded again to a float, which is right but for ties within 2^-28. */
    check_result(same_double(guest_sinf(a), (float)guest_sin(a)) &&
                     same_double(guest_powf(a, b), (float)guest_pow(a, b)) &&
                     same_double(guest_expf(a), (float)guest_exp(a)),
                 "floats", a, b, 0);
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    if (argc > 2) state = strtoull(argv[2], NULL, 10);
    for (unsigned long i = 0; i < 10 * rounds; i++) exact_ones();
#define MEASURE_ONE(f)                                                                             \
    {                                                                                              \
        struct worst w = {#f, 0, 0, 0};                                                            \
        of_one(guest_##f, f##q, &w, rounds);                                                       \
        worst_report(&w);                                                                          \
    }
#define MEASURE_TWO(f)                                                                             \
    {                                                                                              \
        struct worst w = {#f, 0, 0, 0};                                                            \
        of_two(guest_##f, f##q, &w, rounds);                                                       \
        worst_report(&w);                                                                          \
    }
    ONE(MEASURE_ONE)
    TWO(MEASURE_TWO)
    printf("%lu rounds, %u failures\n", rounds, failures);
    return failures != 0;
}
