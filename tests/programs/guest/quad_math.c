/* Compares the guest's functions of long double with those of libquadmath, whose own errors are
 * below one unit in the last place for most functions. Results of exact functions must be the
 * same. */
#include <math.h>
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "random.h"

typedef __float128 quad;

/* clang-format off */
#define ONE(M)                                                                                     \
    M(cbrt, 2) M(exp, 2) M(exp2, 2) M(expm1, 2) M(log, 2) M(log2, 2) M(log10, 2) M(log1p, 2)       \
    M(sin, 2) M(cos, 2) M(tan, 2) M(asin, 2) M(acos, 2) M(atan, 2) M(sinh, 3) M(cosh, 2)           \
    M(tanh, 3) M(asinh, 3) M(acosh, 3) M(atanh, 3) M(erf, 2) M(erfc, 3) M(tgamma, 8)
#define TWO(M) M(pow, 3) M(hypot, 2) M(atan2, 2)
#define EXACT_ONE(M) M(floor) M(ceil) M(trunc) M(round) M(rint) M(logb)
#define EXACT_TWO(M) M(fmod) M(remainder) M(fmin) M(fmax) M(fdim) M(nextafter)
/* clang-format on */

#define DECLARE_ONE(f, most) quad guest_penta_quad_##f(quad);
#define DECLARE_TWO(f, most) quad guest_penta_quad_##f(quad, quad);
#define DECLARE_EXACT_ONE(f) quad guest_penta_quad_##f(quad);
#define DECLARE_EXACT_TWO(f) quad guest_penta_quad_##f(quad, quad);
ONE(DECLARE_ONE)
TWO(DECLARE_TWO)
EXACT_ONE(DECLARE_EXACT_ONE)
EXACT_TWO(DECLARE_EXACT_TWO)
quad guest_penta_quad_sqrt(quad);
quad guest_penta_quad_fma(quad, quad, quad), guest_penta_quad_remquo(quad, quad, int *);
quad guest_penta_quad_modf(quad, quad *), guest_penta_quad_frexp(quad, int *);
quad guest_penta_quad_ldexp(quad, int), guest_penta_quad_lgamma(quad, int *);
int guest_penta_quad_ilogb(quad);

/* Returns numbers of all sizes, most of them not far from 1, and whole and half ones, zeros and
 * infinities. */
static quad random_quad(void)
{
    unsigned __int128 bits = (unsigned __int128)random_next() << 64 | random_next();
    quad x;
    switch (random_next() % 8) {
    case 0: memcpy(&x, &bits, sizeof x); return x;
    case 1: return (quad)(int)(random_next() % 4000) / 4 - 500;
    case 2: {
        static const quad special[] = {0, -0.0Q, 1, -1, 2, 0.5Q, 1e-4940Q, 1e4900Q};
        return special[random_next() % 8];
    }
    case 3:
        return nextafterq((quad)(int)(random_next() % 9) - 4, (quad)(int)(random_next() % 3) - 1);
    default: break;
    }
    x = scalbnq((quad)bits, (int)(random_next() % 24) - 12 - 128);
    return random_next() & 1 ? -x : x;
}

static void show_quad(const char *name, quad x, quad y, quad ours, quad theirs)
{
    char text[4][64];
    quad all[] = {x, y, ours, theirs};
    if (failures++ > 20) return;
    for (int i = 0; i < 4; i++) quadmath_snprintf(text[i], sizeof text[i], "%Qa", all[i]);
    printf("%s(%s, %s) = %s, not %s\n", name, text[0], text[1], text[2], text[3]);
}

static int same_quad(quad a, quad b)
{
    return !memcmp(&a, &b, sizeof a) || (isnanq(a) && isnanq(b));
}

/* Returns the distance in units in the last place of the larger number. */
static double quad_distance(quad ours, quad theirs)
{
    int exponent;
    if (same_quad(ours, theirs)) return 0;
    if (isnanq(ours) || isnanq(theirs)) return 1e9;
    if (isinfq(ours) || isinfq(theirs)) { /* The distance to infinity is counted from the largest
                                           * number. */
        quad other = isinfq(ours) ? theirs : ours;
        return fabsq(other) > FLT128_MAX * 0.99999999999999999999999999999999Q ? 1 : 1e9;
    }
    frexpq(fmaxq(fabsq(ours), fabsq(theirs)), &exponent);
    quad unit = scalbnq(1, exponent - 113 < -16494 ? -16494 : exponent - 113);
    return (double)(fabsq(ours - theirs) / unit);
}

struct worst {
    double error;
    quad x, y;
};

static void worst_judge(const char *name, struct worst *w, double most, quad x, quad y, quad ours,
                        quad theirs)
{
    double error = quad_distance(ours, theirs);
    if (error > w->error) w->error = error;
    if (error > most) show_quad(name, x, y, ours, theirs);
}

#define EXPECT_ONE(f) check_result(#f, x, 0, guest_penta_quad_##f(x), f##q(x));
#define EXPECT_TWO(f) check_result(#f, x, y, guest_penta_quad_##f(x, y), f##q(x, y));
static void check_result(const char *name, quad x, quad y, quad ours, quad theirs)
{
    if (!same_quad(ours, theirs)) show_quad(name, x, y, ours, theirs);
}

/* Checks that a root is the nearest: its square is not farther from x than the root times half a
 * unit, twice. (sqrtq itself is off by a unit now and then.) */
static void check_sqrt(quad x)
{
    quad root = guest_penta_quad_sqrt(x);
    if (!(x > 1e-4000Q) || isinfq(x)) {
        if (!(x > 0) || isinfq(x)) check_result("sqrt", x, 0, root, sqrtq(x));
        return;
    }
    quad unit = nextafterq(root, HUGE_VALQ) - root;
    if (fabsq(fmaq(-root, root, x)) > root * unit) show_quad("sqrt", x, 0, root, sqrtq(x));
}

static void exact_ones(void)
{
    quad x = random_quad(), y = random_quad(), z = random_quad(), i = 0, j = 0;
    int p = 0, q = 0;
    if (random_next() & 1) z = -x * y; /* The sum cancels. */
    check_sqrt(x);
    EXACT_ONE(EXPECT_ONE)
    EXACT_TWO(EXPECT_TWO)
    check_result("fma", x, y, guest_penta_quad_fma(x, y, z), fmaq(x, y, z));
    quad ours = guest_penta_quad_remquo(x, y, &p), theirs = remquoq(x, y, &q);
    check_result("remquo", x, y, ours, theirs);
    if (!isnanq(theirs) && p % 8 != q % 8) show_quad("remquo quotient", x, y, p, q);
    ours = guest_penta_quad_modf(x, &i), theirs = modfq(x, &j);
    check_result("modf", x, 0, ours, theirs);
    check_result("modf whole", x, 0, i, j);
    ours = guest_penta_quad_frexp(x, &p), theirs = frexpq(x, &q);
    check_result("frexp", x, 0, ours, theirs);
    if (finiteq(x) && p != q) show_quad("frexp exponent", x, 0, p, q);
    p = (int)(random_next() % 80000) - 40000;
    check_result("ldexp", x, p, guest_penta_quad_ldexp(x, p), ldexpq(x, p));
    if (finiteq(x) && x != 0 && guest_penta_quad_ilogb(x) != ilogbq(x))
        show_quad("ilogb", x, 0, 0, 0);
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    if (argc > 2) state = strtoull(argv[2], NULL, 10);
    for (unsigned long i = 0; i < 5 * rounds; i++) exact_ones();
#define MEASURE_ONE(f, most)                                                                       \
    {                                                                                              \
        struct worst w = {0};                                                                      \
        for (unsigned long i = 0; i < rounds; i++) {                                               \
            quad x = random_quad();                                                                \
            worst_judge(#f, &w, most, x, 0, guest_penta_quad_##f(x), f##q(x));                     \
        }                                                                                          \
        printf("%-6s %.4f\n", #f, w.error);                                                        \
    }
#define MEASURE_TWO(f, most)                                                                       \
    {                                                                                              \
        struct worst w = {0};                                                                      \
        for (unsigned long i = 0; i < rounds; i++) {                                               \
            quad x = random_quad(), y = random_quad();                                             \
            worst_judge(#f, &w, most, x, y, guest_penta_quad_##f(x, y), f##q(x, y));               \
        }                                                                                          \
        printf("%-6s %.4f\n", #f, w.error);                                                        \
    }
    ONE(MEASURE_ONE)
    TWO(MEASURE_TWO)
    struct worst w = {0};
    for (unsigned long i = 0; i < rounds; i++) {
        quad x = fabsq(random_quad());
        int sign;
        worst_judge("lgamma", &w, 8, x, 0, guest_penta_quad_lgamma(x, &sign), lgammaq(x));
    }
    printf("lgamma %.4f\n%lu rounds, %u failures\n", w.error, rounds, failures);
    return failures != 0;
}
