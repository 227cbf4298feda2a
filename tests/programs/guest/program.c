/* Prints results of arithmetic, formats and library functions. It must print the same compiled
 * for this machine and by penta-cc. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 12345;
static uint64_t random_next(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double a_double(void)
{
    uint64_t bits = random_next();
    double x;
    if (bits % 3) bits = (bits & UINT64_C(0x800fffffffffffff)) | (1023 - 40 + bits % 80) << 52;
    memcpy(&x, &bits, sizeof x);
    return isnan(x) || isinf(x) ? 1.5 : x;
}

static void show_double(const char *what, double x)
{
    if (isnan(x))
        printf("%s nan\n", what); /* The sign of a NaN differs between machines. */
    else
        printf("%s %a %.17g %f\n", what, x, x, x);
}

/* Prints results of functions with 14 digits, on which all good libraries agree. */
static void use_functions(void)
{
    volatile double a = fmod(a_double(), 600), b = fabs(a_double());
    double whole, u = a / 600;
    int exponent;
    printf("%.14g %.14g %.14g %.14g %.14g %.14g\n", sin(a), cos(a), tan(a), exp(a), exp2(a),
           expm1(u));
    printf("%.14g %.14g %.14g %.14g %.14g\n", log(b), log2(b), log10(b), log1p(b), pow(b, u));
    printf("%.14g %.14g %.14g %.14g\n", asin(u), acos(u), atan(a), atan2(a, b));
    printf("%.14g %.14g %.14g\n", sinh(a), cosh(a), tanh(u));
    printf("%.14g %.14g %.14g %.14g\n", asinh(a), acosh(b + 1), atanh(u), cbrt(a));
    show_double("hypot", hypot(3 * b, 4 * b));
    show_double("fma", fma(a, b, -a * b));
    show_double("remainder", remainder(b, a));
    show_double("rint", rint(a * 8) + modf(a, &whole) + whole + frexp(a, &exponent) + exponent);
    printf("%g %g %g\n", (double)sinf((float)a), (double)powf((float)fabs(u), 2.5f),
           (double)logf((float)b));
}

static void use_doubles(void)
{
    volatile double a = a_double(), b = a_double();
    volatile float f = (float)a, g = (float)b;
    show_double("a", a);
    show_double("add", a + b);
    show_double("sub", a - b);
    show_double("mul", a * b);
    show_double("div", a / b);
    show_double("sqrt", sqrt(fabs(a)));
    show_double("floor", floor(a));
    show_double("addf", (double)(f + g));
    show_double("mulf", (double)(f * g));
    show_double("divf", (double)(f / g));
    printf("%d%d%d%d%d%d\n", a<b, a <= b, a == b, f> g, f >= g, f != g);
    if (fabs(a) < 1e9) printf("%d %" PRId64 "\n", (int)a, (int64_t)a);
    if (a >= 0 && a < 1e18) printf("%" PRIu64 " %u\n", (uint64_t)a, (unsigned)(a / 1e9));
    uint64_t n = random_next();
    show_double("from", (double)n + (double)(int64_t)n + (double)(int)n + (double)(float)n);
    volatile long double w = (long double)(int)n / 16; /* The number is exact on both machines. */
    printf("%Lf %.3Le %Lg %d %g\n", w * 3 - 1, w, -w, (int)(w / 4), (double)(w + 0.5L));
    char text[64];
    snprintf(text, sizeof text, "%.*g", (int)(n % 20), a);
    show_double(text, strtod(text, NULL));
    printf("[%12.3f] [%-12.4e] [%+g] [%#.0f] [%010.2f] [%G]\n", b, b, b, b, b, b);
}

static void use_integers(void)
{
    volatile int64_t a = (int64_t)random_next() >> (random_next() & 63),
                     b = (int64_t)(random_next() >> (random_next() & 63)) | 1;
    volatile uint64_t u = (uint64_t)a, v = (uint64_t)b;
    volatile int n = (int)(random_next() & 63);
    if (b != -1) printf("%" PRId64 " %" PRId64 " ", a / b, a % b);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", u / v, u % v, u * v);
    printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", u << n, u >> n, (uint64_t)(a >> n));
    int64_t product;
    printf("%d\n", __builtin_mul_overflow(a, b, &product));
    printf("%d %d %d\n", __builtin_popcountll(u), __builtin_clzll(v), __builtin_ctzll(v));
#ifdef WIDE
    volatile unsigned __int128 x = (unsigned __int128)u << 64 | v,
                               y = ((unsigned __int128)v << (n & 32)) | 1;
    volatile unsigned __int128 q = x / y, r = x % y, p = x * y;
    printf("%" PRIx64 "%016" PRIx64 " %" PRIx64 "%016" PRIx64 " %" PRIx64 "%016" PRIx64 "\n",
           (uint64_t)(q >> 64), (uint64_t)q, (uint64_t)(r >> 64), (uint64_t)r, (uint64_t)(p >> 64),
           (uint64_t)p);
    show_double("wide", (double)x + (double)(__int128)y);
#endif
}

static int by_length(const void *a, const void *b)
{
    size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
    return x < y ? -1 : x > y ? 1 : strcmp(*(char *const *)a, *(char *const *)b);
}

static jmp_buf place;
static void jump_from(int depth)
{
    if (!depth) longjmp(place, 7);
    jump_from(depth - 1);
}

static void use_library(void)
{
    char *words[] = {"pear", "fig", "apple", "kiwi", "banana", "date"};
    qsort(words, 6, sizeof *words, by_length);
    for (int i = 0; i < 6; i++) printf("%s ", words[i]);
    printf("\n%s %ld %lu %d\n", strstr("hello world", "wor"), strtol("-0x1f", NULL, 0),
           strtoul("777", NULL, 8), atoi(" 42"));
    char text[32];
    printf("%d ", snprintf(text, 8, "%s", "too long for it"));
    puts(text);
    int a, b;
    double d;
    printf("%d ", sscanf("12 abc 0x1f 2.5e3", "%d %*s %i %lf", &a, &b, &d));
    printf("%d %d %g\n", a, b, d);
    volatile int step = 0;
    int value = setjmp(place);
    if (!value) {
        step = 1;
        jump_from(10);
    }
    printf("longjmp %d %d\n", value, step);
    char *blocks[50];
    for (int i = 0; i < 50; i++) {
        blocks[i] = malloc((size_t)(1 + i * 37));
        memset(blocks[i], i, (size_t)(1 + i * 37));
    }
    for (int i = 0; i < 50; i += 2) free(blocks[i]);
    int sum = 0;
    for (int i = 1; i < 50; i += 2) sum += blocks[i][i * 37];
    printf("sum %d\n", sum);
    errno = 0;
    long most = strtol("99999999999999999999", NULL, 10);
    printf("%d %d\n", most > 0, errno == ERANGE);
}

static void use_files(void)
{
    FILE *f = fopen("data.txt", "w+");
    if (!f) {
        printf("no file: %d\n", errno != 0);
        return;
    }
    for (int i = 0; i < 2000; i++) fprintf(f, "line %d\n", i);
    fseek(f, 0, SEEK_SET);
    char line[64];
    int count = 0;
    while (fgets(line, sizeof line, f)) count++;
    printf("%d lines, %ld bytes, %d\n", count, ftell(f), feof(f) != 0);
    fseek(f, -10, SEEK_END);
    printf("%s", fgets(line, sizeof line, f));
    ungetc('x', f);
    printf("%c\n", fgetc(f));
    fclose(f);
    f = fopen("data.txt", "a");
    fputs("end", f);
    fclose(f);
    f = fopen("data.txt", "rb");
    fseek(f, -3, SEEK_END);
    printf("%zu ", fread(line, 1, 10, f));
    printf("%.3s\n", line);
    fclose(f);
    printf("%d ", rename("data.txt", "other.txt"));
    printf("%d %d\n", fopen("data.txt", "r") == NULL, remove("other.txt"));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < rounds; i++) {
        use_doubles();
        use_functions();
        use_integers();
    }
    use_library();
    use_files();
    char line[32];
    while (fgets(line, sizeof line, stdin)) printf("read %s", line);
    fprintf(stderr, "done\n");
    return 3;
}
