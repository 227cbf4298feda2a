/* Compares the text of the guest's long double, compiled for this machine under names that start
 * with guest_, with libquadmath's. arith.c tests the arithmetic. */
#include <quadmath.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "random.h"

typedef unsigned __int128 u128;

int guest_snprintf(char *, size_t, const char *, ...);
int guest_sscanf(const char *, const char *, ...);
void guest_penta_read_quad(const char *, char **, __float128 *);

static __float128 a_quad(void)
{
    uint64_t high = random_next(), low = random_next();
    switch (random_below(8)) {
    case 0: return (__float128)(int64_t)(high >> 40) / 1024;
    case 1: return (__float128)random_below(1000000) / 1000;
    case 2: low = 0; /* fall through */
    case 3: break;   /* any number */
    case 4:
        high &= UINT64_C(0x8000ffffffffffff) >> random_below(48);
        break; /* a subnormal number */
    default: high = (high & UINT64_C(0x8000ffffffffffff)) | (16383 - 60 + random_below(120)) << 48;
    }
    u128 bits = (u128)high << 64 | low;
    __float128 x;
    memcpy(&x, &bits, 16);
    return isnanq(x) ? 0 : x;
}

static void check_text_result(int ok, const char *what, const char *text, const char *ours,
                              const char *theirs)
{
    if (ok || failures++ > 20) return;
    printf("%s %.80s: [%.120s], not [%.120s]\n", what, text, ours, theirs);
}

static void check_printf(void)
{
    static char ours[30000], theirs[30000];
    static const char flags[] = "-+ #0";
    char spec[40] = "%", format[64], *to = spec + 1;
    for (const char *f = flags; *f; f++)
        if (!random_below(4)) *to++ = *f;
    if (random_below(2)) to += sprintf(to, "%d", (int)random_below(40));
    if (random_below(2)) to += sprintf(to, ".%d", (int)random_below(random_below(8) ? 45 : 12000));
    *to = 0;
    char kind = "fFeEgGaA"[random_below(8)];
    __float128 x = a_quad();
    if (kind == 'a' ||
        kind == 'A') { /* libquadmath does not always choose the same hex digits before the
                        * point. */
        if (strchr(spec, '.')) return;
    }
    snprintf(format, sizeof format, "%sL%c|", spec, kind);
    int n = guest_snprintf(ours, sizeof ours, format, x);
    snprintf(format, sizeof format, "%sQ%c", spec, kind);
    int m = quadmath_snprintf(theirs, sizeof theirs, format, x);
    strcat(theirs, "|");
    check_text_result(n == m + 1 && !strcmp(ours, theirs), "printf", format, ours, theirs);
}

static int same_quad(__float128 a, __float128 b) { return !memcmp(&a, &b, 16); }

static void check_text(const char *text)
{
    char *ours, *theirs, one[80], other[80];
    __float128 x, y = strtoflt128(text, &theirs);
    guest_penta_read_quad(text, &ours, &x);
    quadmath_snprintf(one, sizeof one, "%Qa", x);
    quadmath_snprintf(other, sizeof other, "%Qa", y);
    check_text_result(same_quad(x, y) && ours == theirs, "strtold", text, one, other);
}

static void check_strtold(void)
{
    static char text[30000];
    __float128 x = a_quad();
    char format[16];
    snprintf(format, sizeof format, "%%.%dQe", (int)random_below(60));
    quadmath_snprintf(text, sizeof text, format, x);
    check_text(text);
    snprintf(format, sizeof format, "%%.%dQa", (int)random_below(35));
    quadmath_snprintf(text, sizeof text, format, x);
    check_text(text);
    if (random_below(50)) return;
    quadmath_snprintf(text, sizeof text, "%.11600Qe", x); /* The text has all digits. */
    check_text(text);
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    static const char *const texts[] = {"1",
                                        "-0",
                                        "inf",
                                        "nan",
                                        "1e4932",
                                        "1.2e4932",
                                        "1e-4966",
                                        "1e-4965",
                                        "3.3621e-4932",
                                        "0x1p-16494",
                                        "0x1.8p-16495",
                                        "0x1p16384",
                                        "0x1.ffffffffffffffffffffffffffff8p0",
                                        "0x1.ffffffffffffffffffffffffffff7p0",
                                        "1e99999999",
                                        "1e-99999999",
                                        ".5e1",
                                        "1e+",
                                        "0x",
                                        "z"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_text(texts[i]);
    for (unsigned long i = 0; i < count; i++) {
        check_printf();
        check_strtold();
    }
    __float128 read = 0;
    char rest[8] = "";
    if (guest_sscanf("  -1.25e3xyz", "%Lf%3s", &read, rest) != 2 || read != -1250 ||
        strcmp(rest, "xyz"))
        failures++;
    printf("%lu rounds, %u differences\n", count, failures);
    return failures != 0;
}
