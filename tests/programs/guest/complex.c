/* Prints the results of complex numbers and of what <tgmath.h> chooses, with 13 digits, to be
 * compared with the native library. Also checks that long double gives the same. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <tgmath.h>

static const double parts[] = {0.0,   -0.0,  1,  -1,       0.5,       -2.25, 3,
                               1e-10, -1e10, 20, INFINITY, -INFINITY, NAN};
enum { PARTS = sizeof parts / sizeof *parts };

/* Shows a part of a number. Signs of NaNs, and of infinities and zeros beside a NaN, are left
 * out, because they are not specified. */
static void show_part(double x, int plain)
{
    if (isnan(x))
        printf(" nan");
    else if (plain && (isinf(x) || x == 0))
        printf(" %g", fabs(x));
    else
        printf(" %.12e", x);
}

static void show_complex(const char *name, double complex z)
{
    int plain = isnan(creal(z)) || isnan(cimag(z));
    printf("%s", name);
    show_part(creal(z), plain);
    show_part(cimag(z), plain);
    putchar('\n');
}

static int complex_near(double complex a, long double complex b)
{
    double x = fabs(creal(a)) + fabs(cimag(a)),
           y = fabs(creal(a) - (double)creall(b)) + fabs(cimag(a) - (double)cimagl(b));
    return !(x < INFINITY) || y <= x * 1e-14;
}

/* clang-format off */
#define ALL(M)                                                                                     \
    M(cacos) M(casin) M(catan) M(ccos) M(csin) M(ctan) M(cacosh) M(casinh) M(catanh) M(ccosh)      \
    M(csinh) M(ctanh) M(cexp) M(clog) M(csqrt) M(conj) M(cproj)
/* clang-format on */
#define SHOW(g)                                                                                    \
    show_complex(#g, (g)(z));                                                                      \
    if (!complex_near((g)(z), g##l(z))) printf("%s of long double\n", #g);                         \
    if (usual && !(cabs((g)(z)-g##f((float complex)z)) <= 1e-5 * cabs((g)(z))))                    \
        printf("%s of float\n", #g);

int main(void)
{
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < PARTS; k++) {
            double complex z = CMPLX(parts[i], parts[k]);
            int usual = fabs(parts[i]) >= 0.5 && fabs(parts[i]) < 5 && fabs(parts[k]) >= 0.5 &&
                        fabs(parts[k]) < 5;
            printf("%g %g\n", parts[i], parts[k]);
            ALL(SHOW)
            show_part((cabs)(z), 0);
            show_part((carg)(z), 0);
            putchar('\n');
        }
    for (int i = 2; i < 8; i++)
        for (int k = 2; k < 8; k++) {
            double complex z = CMPLX(parts[i], parts[k]), w = CMPLX(parts[k], parts[9 - i]);
            show_complex("*", z * w);
            show_complex("/", z / w);
            show_complex("cpow", (cpow)(z, w));
            float complex f = (float complex)z / (float complex)w * (float complex)w;
            if (!(cabs(f - z) <= 1e-5 * cabs(z))) puts("float");
            long double complex l = (long double complex)z / w;
            if (!complex_near(z / w, l) || !complex_near(z, l * w)) puts("long double");
        }
    double complex infinite = CMPLX(INFINITY, NAN) * CMPLX(1, 1),
                   zero = CMPLX(1, 1) / CMPLX(INFINITY, NAN);
    printf("%d %g %g\n", isinf(creal(infinite)) || isinf(cimag(infinite)), fabs(creal(zero)),
           fabs(cimag(zero)));
    float x = 0.25f;
    printf("%zu %zu %zu %.6f\n", sizeof sqrt(x), sizeof sqrt(1.0L) > sizeof(double), sizeof exp(1),
           (double)pow(x, 2));
    printf("%.6f %.6f\n", creal(sqrt(CMPLX(-1, 0) + x)), fabs(CMPLX(3, 4)));
    printf("%.10f %.10f %.10f %.10f\n", erf(0.5), erfc(2.0), tgamma(4.5), lgamma(-2.5));
    printf("%.7f %.7f\n", (double)(erff)(0.5f), (double)(tgammaf)(3.5f));
    printf("%d %d\n", isnan((nan)("")), isnan((double)(nanf)("1")));
    printf("%d %d\n", nexttoward(1.0, 2.0L) == nextafter(1.0, 2.0),
           nexttoward(1.0f, 0.0L) == nextafter(1.0f, 0.0f));
    return 0;
}
