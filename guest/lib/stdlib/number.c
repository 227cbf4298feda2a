/* Implements integers from text, simple arithmetic, and random numbers. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include "system/weak.h"

/* Returns the magnitude of the number at s. *end is where it ends, or s if there is none. */
static unsigned long long read_number(const char *s, const char **end, int base, int *negative,
                                      int *too_large)
{
    const char *p = s;
    unsigned long long n = 0;
    *end = s;
    *too_large = 0;
    while (isspace((unsigned char)*p)) p++;
    *negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    if ((!base || base == 16) && p[0] == '0' && (p[1] | 32) == 'x' &&
        isxdigit((unsigned char)p[2])) {
        p += 2;
        base = 16;
    }
    if (!base) base = *p == '0' ? 8 : 10;
    for (;; p++, *end = p) {
        int c = (unsigned char)*p;
        int digit = isdigit(c) ? c - '0' : isalpha(c) ? (c | 32) - 'a' + 10 : 99;
        if (digit >= base) return n;
        unsigned long long more;
        if (__builtin_mul_overflow(n, (unsigned long long)base, &more) ||
            __builtin_add_overflow(more, (unsigned long long)digit, &n))
            *too_large = 1;
    }
}

static unsigned long long to_unsigned(const char *s, char **end, int base, unsigned long long most)
{
    const char *stop;
    int negative, too_large;
    unsigned long long n = read_number(s, &stop, base, &negative, &too_large);
    if (end) *end = (char *)stop;
    if (too_large || n > most) {
        errno = ERANGE;
        return most;
    }
    return negative ? 0 - n : n;
}

static long long to_signed(const char *s, char **end, int base, long long least, long long most)
{
    const char *stop;
    int negative, too_large;
    unsigned long long n = read_number(s, &stop, base, &negative, &too_large);
    if (end) *end = (char *)stop;
    unsigned long long limit = (unsigned long long)most + (unsigned)negative;
    if (too_large || n > limit) {
        errno = ERANGE;
        return negative ? least : most;
    }
    return (long long)(negative ? 0 - n : n);
}

long strtol(const char *s, char **end, int base)
{
    return (long)to_signed(s, end, base, LONG_MIN, LONG_MAX);
}
long long strtoll(const char *s, char **end, int base)
{
    return to_signed(s, end, base, LLONG_MIN, LLONG_MAX);
}
unsigned long strtoul(const char *s, char **end, int base)
{
    return (unsigned long)to_unsigned(s, end, base, ULONG_MAX);
}
unsigned long long strtoull(const char *s, char **end, int base)
{
    return to_unsigned(s, end, base, ULLONG_MAX);
}

intmax_t strtoimax(const char *s, char **end, int base) { return strtoll(s, end, base); }
uintmax_t strtoumax(const char *s, char **end, int base) { return strtoull(s, end, base); }

int atoi(const char *s) { return (int)strtol(s, NULL, 10); }
long atol(const char *s) { return strtol(s, NULL, 10); }
long long atoll(const char *s) { return strtoll(s, NULL, 10); }

int abs(int n) { return n < 0 ? -n : n; }
long labs(long n) { return n < 0 ? -n : n; }
long long llabs(long long n) { return n < 0 ? -n : n; }
div_t div(int a, int b) { return (div_t){a / b, a % b}; }
ldiv_t ldiv(long a, long b) { return (ldiv_t){a / b, a % b}; }
lldiv_t lldiv(long long a, long long b) { return (lldiv_t){a / b, a % b}; }
intmax_t imaxabs(intmax_t n) { return n < 0 ? -n : n; }
imaxdiv_t imaxdiv(intmax_t a, intmax_t b) { return (imaxdiv_t){a / b, a % b}; }

static unsigned long long seed = 1;
void srand(unsigned from) { seed = from; }
int rand(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (int)(seed >> 33);
}

WEAK int rand_r(unsigned *from)
{
    unsigned long long next = *from * 6364136223846793005ull + 1442695040888963407ull;
    *from = (unsigned)(next >> 32);
    return (int)(next >> 33);
}
WEAK long random(void) { return rand(); }
WEAK void srandom(unsigned from) { srand(from); }

/* The random numbers come from the generator of 48 bits that POSIX defines. */
static unsigned long long seed48_state = 0x1234abcd330e;
static long rand48_bits(int shift)
{
    seed48_state = (seed48_state * 0x5deece66d + 11) & 0xffffffffffff;
    return (long)(seed48_state >> shift);
}
WEAK void srand48(long from) { seed48_state = (unsigned long long)(unsigned)from << 16 | 0x330e; }
WEAK long lrand48(void) { return rand48_bits(17); }
WEAK long mrand48(void) { return (int)rand48_bits(16); }
WEAK double drand48(void)
{
    rand48_bits(0);
    return (double)seed48_state * 0x1p-48;
}
