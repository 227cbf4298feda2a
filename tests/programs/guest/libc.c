/* Compares the guest's C library, compiled for this machine under names that start with guest_,
 * with the machine's own. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "random.h"

extern int guest_errno;
extern size_t heap_end; /* defined in system.c */
int guest_snprintf(char *, size_t, const char *, ...);
int guest_sscanf(const char *, const char *, ...);
double guest_strtod(const char *, char **);
float guest_strtof(const char *, char **);
long guest_strtol(const char *, char **, int);
unsigned long guest_strtoul(const char *, char **, int);
void *guest_memcpy(void *, const void *, size_t), *guest_memmove(void *, const void *, size_t);
void *guest_memset(void *, int, size_t), *guest_memchr(const void *, int, size_t);
int guest_memcmp(const void *, const void *, size_t), guest_strcmp(const char *, const char *);
int guest_strncmp(const char *, const char *, size_t);
size_t guest_strlen(const char *), guest_strspn(const char *, const char *);
size_t guest_strcspn(const char *, const char *);
char *guest_strchr(const char *, int), *guest_strrchr(const char *, int);
char *guest_strstr(const char *, const char *), *guest_strtok(char *, const char *);
void guest_qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *guest_bsearch(const void *, const void *, size_t, size_t,
                    int (*)(const void *, const void *));
void *guest_malloc(size_t), *guest_calloc(size_t, size_t), *guest_realloc(void *, size_t);
void *guest_aligned_alloc(size_t, size_t), guest_free(void *);
double guest_floor(double), guest_ceil(double), guest_trunc(double), guest_round(double);
double guest_sqrt(double), guest_fmod(double, double), guest_frexp(double, int *);
double guest_ldexp(double, int), guest_modf(double, double *);

static void check_result(int ok, const char *format, ...)
{
    if (ok || failures++ > 30) return;
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

static double a_double(void)
{
    uint64_t bits = random_next();
    double x;
    switch (random_below(6)) {
    case 0: return (double)(int64_t)(bits >> 40) / (double)(1 << random_below(20));
    case 1: return (double)(bits >> random_below(64));
    case 2: return (double)(int64_t)random_below(2000) / 16 - 60;
    case 3: bits &= UINT64_C(0x800fffffffffffff); break;
    case 4: return (double)random_below(1000000) / 1000;
    }
    memcpy(&x, &bits, 8);
    return x;
}

static int same_double(double a, double b) { return !memcmp(&a, &b, 8) || (isnan(a) && isnan(b)); }

static void a_format(char *to, const char *length, const char *kinds)
{
    static const char flags[] = "-+ #0";
    *to++ = '%';
    for (const char *f = flags; *f; f++)
        if (!random_below(3)) *to++ = *f;
    if (random_below(2)) to += sprintf(to, "%d", (int)random_below(30));
    if (random_below(2))
        to += random_below(8) ? sprintf(to, ".%d", (int)random_below(20)) : sprintf(to, ".");
    sprintf(to, "%s%c|", length, kinds[random_below(strlen(kinds))]);
}

#define PRINT(length, kinds, ...)                                                                  \
    do {                                                                                           \
        char format_[64], ours_[3000], theirs_[3000];                                              \
        a_format(format_, length, kinds);                                                          \
        int n_ = guest_snprintf(ours_, sizeof ours_, format_, __VA_ARGS__);                        \
        int m_ = snprintf(theirs_, sizeof theirs_, format_, __VA_ARGS__);                          \
        check_result(n_ == m_ && !strcmp(ours_, theirs_), "%s: [%s] %d, not [%s] %d", format_,     \
                     ours_, n_, theirs_, m_);                                                      \
    } while (0)

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat"

static void check_printf(void)
{
    uint64_t x = random_next() >> random_below(64);
    double d = a_double();
    PRINT("", "diuxXo", (int)x);
    PRINT("hh", "diuxXo", (int)x);
    PRINT("h", "diuxXo", (int)x);
    PRINT("l", "diuxXo", (long)x);
    PRINT("ll", "diuxXo", (long long)x);
    PRINT("z", "uxX", (size_t)x);
    PRINT("j", "dux", (intmax_t)x);
    const char *text = random_below(2) ? "some text" : "";
    PRINT("", "c", 'a' + (int)(x & 15));
    PRINT("", "s", text);
    if (!isnan(d)) {
        PRINT("", "fFeEgG", d);
        PRINT("", "aA", d);
    }
    char format[32], ours[3000], theirs[3000];
    snprintf(format, sizeof format, "%%.%d%c", (int)random_below(1100), "feg"[random_below(3)]);
    if (!isnan(d)) {
        guest_snprintf(ours, sizeof ours, format, d);
        snprintf(theirs, sizeof theirs, format, d);
        check_result(!strcmp(ours, theirs), "%s: [%s], not [%s]", format, ours, theirs);
    }
    size_t cut = random_below(12);
    int n = guest_snprintf(ours, cut, "%s-%d", "abcdef", 12345);
    check_result(n == 12 && (!cut || (strlen(ours) == (cut < 13 ? cut - 1 : 12))), "cut at %zu",
                 cut);
    n = guest_snprintf(ours, sizeof ours, "%*d|%-*d|%.*f|%%", 7, 1, -5, 2, 3, 1.5);
    check_result(!strcmp(ours, "      1|2    |1.500|%"), "stars: %s", ours);
}

static void a_number(char *to, int decimal)
{
    if (!random_below(4)) *to++ = " \t-+"[random_below(4)];
    if (!decimal && !random_below(3)) to += sprintf(to, "0x");
    int digits = (int)random_below(random_below(8) ? 25 : 900),
        point = random_below(3) ? (int)random_below((uint64_t)digits + 1) : -1;
    for (int i = 0; i < digits; i++) {
        if (i == point) *to++ = '.';
        *to++ = decimal || random_below(2) ? (char)('0' + random_below(10))
                                           : "abcdefABCDEF"[random_below(12)];
    }
    if (random_below(3))
        to += sprintf(to, "%c%d", "ep"[random_below(8) == 0], (int)random_below(700) - 350);
    strcpy(to, random_below(2) ? "" : "zz");
}

static void check_text(const char *text)
{
    char *ours, *theirs;
    double a = guest_strtod(text, &ours), b = strtod(text, &theirs);
    check_result(same_double(a, b) && ours == theirs,
                 "strtod(\"%s\") = %a, not %a; %td characters, not %td", text, a, b, ours - text,
                 theirs - text);
    float c = guest_strtof(text, &ours), d = strtof(text, &theirs);
    check_result((c == d || (isnan(c) && isnan(d))) && ours == theirs,
                 "strtof(\"%s\") = %a, not %a", text, (double)c, (double)d);
    for (int base = 0; base < 37; base += base == 0 ? 2 : 7) {
        long l = guest_strtol(text, &ours, base), m = strtol(text, &theirs, base);
        check_result(l == m && ours == theirs, "strtol(\"%s\", %d) = %ld, not %ld", text, base, l,
                     m);
        unsigned long u = guest_strtoul(text, &ours, base), v = strtoul(text, &theirs, base);
        check_result(u == v && ours == theirs, "strtoul(\"%s\", %d) = %lu, not %lu", text, base, u,
                     v);
    }
}

static void check_numbers(void)
{
    char text[2000];
    a_number(text, random_below(2) != 0);
    check_text(text);
    double x = a_double(), back;
    snprintf(text, sizeof text, "%.*g", 1 + (int)random_below(25), x);
    check_text(text);
    if (isfinite(x)) { /* The text is halfway between two doubles, or just beside that. */
        uint64_t bits;
        memcpy(&bits, &x, 8);
        bits++;
        memcpy(&back, &bits, 8);
        if (isfinite(back)) {
            snprintf(text, sizeof text, "%.1150Lf", ((long double)x + (long double)back) / 2);
            if (fabs(x) < 1e15) check_text(text);
            strcat(text, "1");
            if (fabs(x) < 1e15) check_text(text);
        }
    }
}

static void check_scanf(void)
{
    int a = 0, b = 0, c = 0, d = 0, n = 0, m = 0;
    unsigned u = 0, v = 0;
    double x = 0, y = 0;
    char s[64] = "", t[64] = "", p[8] = "", q[8] = "";
    char text[200];
    snprintf(text, sizeof text, "%d, %x word-%s %g %c%c", (int)random_next(),
             (unsigned)random_next() & 0xffff, random_below(2) ? "abc" : "a9z", a_double() / 7, 'x',
             'y');
    if (!random_below(4)) text[random_below(strlen(text))] = 0;
    static const char format[] = "%d , %x word-%[a-z0-8]%n %lf %2c";
    int i = guest_sscanf(text, format, &a, &u, s, &n, &x, p);
    int j = sscanf(text, format, &b, &v, t, &m, &y, q);
    check_result(i == j && a == b && u == v && !strcmp(s, t) && n == m && same_double(x, y) &&
                     !memcmp(p, q, 8),
                 "sscanf of \"%s\": %d, not %d", text, i, j);
    i = guest_sscanf("12 0x1f 017 zz", "%*d%i%i%3s", &c, &d, s);
    check_result(i == 3 && c == 31 && d == 15 && !strcmp(s, "zz"), "sscanf %%i: %d %d %d", i, c, d);
}

static void check_strings(void)
{
    static char a[256], b[256], c[256];
    for (int i = 0; i < 256; i++) a[i] = b[i] = c[i] = "abc\0"[random_below(4)];
    a[255] = b[255] = c[255] = 0;
    size_t from = random_below(100), to = random_below(100), n = random_below(100);
    guest_memmove(a + to, a + from, n);
    memmove(b + to, b + from, n);
    check_result(!memcmp(a, b, 256), "memmove");
    guest_memcpy(a + to, c + from, n);
    memcpy(b + to, c + from, n);
    check_result(!memcmp(a, b, 256), "memcpy");
    guest_memset(a + to, (int)random_next(), 0);
    guest_memset(a + to, 'x', n);
    memset(b + to, 'x', n);
    check_result(!memcmp(a, b, 256), "memset");
    int x = guest_memcmp(a + from, c + to, n), y = memcmp(a + from, c + to, n);
    check_result((x < 0) == (y < 0) && (x > 0) == (y > 0), "memcmp");
    const char *s = c + from, *t = c + to;
    x = guest_strcmp(s, t), y = strcmp(s, t);
    check_result((x < 0) == (y < 0) && (x > 0) == (y > 0), "strcmp");
    x = guest_strncmp(s, t, n), y = strncmp(s, t, n);
    check_result((x < 0) == (y < 0) && (x > 0) == (y > 0), "strncmp");
    check_result(guest_strlen(s) == strlen(s), "strlen");
    check_result(guest_strchr(s, 'b') == strchr(s, 'b') && guest_strchr(s, 0) == strchr(s, 0),
                 "strchr");
    check_result(guest_strrchr(s, 'b') == strrchr(s, 'b'), "strrchr");
    check_result(guest_memchr(s, 'c', n) == memchr(s, 'c', n), "memchr");
    check_result(guest_strstr(s, "ab") == strstr(s, "ab") && guest_strstr(s, "") == s, "strstr");
    check_result(guest_strspn(s, "ab") == strspn(s, "ab") &&
                     guest_strcspn(s, "c") == strcspn(s, "c"),
                 "strspn");
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void check_sort(void)
{
    uint32_t a[200], b[200];
    size_t n = random_below(200);
    for (size_t i = 0; i < n; i++) a[i] = b[i] = (uint32_t)random_below(300);
    guest_qsort(a, n, sizeof *a, by_value);
    qsort(b, n, sizeof *b, by_value);
    check_result(!memcmp(a, b, n * sizeof *a), "qsort of %zu", n);
    uint32_t key = (uint32_t)random_below(300);
    uint32_t *found = guest_bsearch(&key, a, n, sizeof *a, by_value);
    check_result(!found == !bsearch(&key, b, n, sizeof *b, by_value) && (!found || *found == key),
                 "bsearch");
}

static void check_heap(unsigned long count)
{
    enum { SLOTS = 300 };
    static struct {
        unsigned char *p;
        size_t size;
        unsigned char fill;
    } slot[SLOTS];
    for (unsigned long i = 0; i < count; i++) {
        size_t k = random_below(SLOTS), size = random_below(random_below(20) ? 300 : 30000);
        for (size_t j = 0; j < slot[k].size; j++)
            if (slot[k].p[j] != slot[k].fill) {
                check_result(0, "the heap lost bytes");
                break;
            }
        switch (random_below(4)) {
        case 0: slot[k].p = guest_realloc(slot[k].p, size); break;
        case 1:
            guest_free(slot[k].p);
            slot[k].p = guest_calloc(1, size);
            for (size_t j = 0; slot[k].p && j < size; j++)
                check_result(!slot[k].p[j], "calloc: not zero");
            break;
        case 2:
            guest_free(slot[k].p);
            slot[k].p = guest_aligned_alloc(256, size);
            check_result((uintptr_t)slot[k].p % 256 == 0, "aligned_alloc");
            break;
        default:
            guest_free(slot[k].p);
            slot[k].p = guest_malloc(size);
            break;
        }
        check_result(slot[k].p && (uintptr_t)slot[k].p % 16 == 0, "no memory, or not aligned");
        if (!slot[k].p) size = 0;
        slot[k].size = size;
        slot[k].fill = (unsigned char)random_next();
        memset(slot[k].p, slot[k].fill, size);
    }
    for (size_t k = 0; k < SLOTS; k++) guest_free(slot[k].p);
    size_t high = heap_end;
    void *all = guest_malloc(high - 65536);
    check_result(all && heap_end == high, "free blocks are not joined: %zu of %zu", high, heap_end);
    guest_free(all);
    check_result(!guest_malloc((size_t)-100) && !guest_calloc((size_t)1 << 40, (size_t)1 << 40) &&
                     !guest_malloc((size_t)1 << 40),
                 "too much memory");
}

static void check_math(void)
{
    double x = a_double(), y = a_double(), i, j;
    int e, f;
    check_result(same_double(guest_floor(x), floor(x)), "floor %a", x);
    check_result(same_double(guest_ceil(x), ceil(x)), "ceil %a", x);
    check_result(same_double(guest_trunc(x), trunc(x)), "trunc %a", x);
    check_result(same_double(guest_round(x), round(x)), "round %a", x);
    check_result(same_double(guest_sqrt(x), sqrt(x)), "sqrt %a", x);
    check_result(same_double(guest_fmod(x, y), fmod(x, y)), "fmod %a %a", x, y);
    check_result(same_double(guest_modf(x, &i), modf(x, &j)) && same_double(i, j), "modf %a", x);
    check_result(same_double(guest_frexp(x, &e), frexp(x, &f)) && (!isfinite(x) || e == f),
                 "frexp %a", x);
    e = (int)random_below(3000) - 1500;
    check_result(same_double(guest_ldexp(x, e), ldexp(x, e)), "ldexp %a %d", x, e);
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 30000;
    if (argc > 2) state = strtoull(argv[2], NULL, 10);
    static const char *const texts[] = {"",
                                        " ",
                                        "-",
                                        "+.",
                                        ".",
                                        ".e5",
                                        "1e",
                                        "1e+",
                                        "0x",
                                        "0x.p1",
                                        "inf",
                                        "-INFINITY",
                                        "nan",
                                        "infin",
                                        "0x1p-1074",
                                        "0x1.8p-1075",
                                        "4.9e-324",
                                        "2.4703282292062328e-324",
                                        "2.4703282292062327e-324",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1e400",
                                        "-1e-400",
                                        "0e999999999",
                                        "1e-999999999",
                                        "00012",
                                        "08",
                                        "0x1.fffffffffffff8p0",
                                        "0x1.fffffffffffff7p0",
                                        "9007199254740993",
                                        "3.4028236e38",
                                        "1.1754943e-38",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "-9223372036854775808",
                                        "-9223372036854775809"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_text(texts[i]);
    for (unsigned long i = 0; i < count; i++) {
        check_printf();
        check_numbers();
        check_scanf();
        check_strings();
        check_sort();
        check_math();
    }
    check_heap(count * 2);
    printf("%lu rounds, %u differences\n", count, failures);
    return failures != 0;
}
