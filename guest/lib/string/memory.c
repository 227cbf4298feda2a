/* Implements copies and comparisons. They work on words at any address, as the machine reads and
 * writes them. Loops over several words are unrolled here, so the compiler need not do it. */
#include <stdint.h>
#include <string.h>

typedef unsigned long word __attribute__((may_alias, aligned(1)));
enum { W = sizeof(word) };

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    for (; n >= 4 * W; n -= 4 * W, d += 4 * W, s += 4 * W) {
        word a = ((const word *)s)[0], b = ((const word *)s)[1];
        word c = ((const word *)s)[2], e = ((const word *)s)[3];
        ((word *)d)[0] = a;
        ((word *)d)[1] = b;
        ((word *)d)[2] = c;
        ((word *)d)[3] = e;
    }
    for (; n >= W; n -= W, d += W, s += W) *(word *)d = *(const word *)s;
    while (n--) *d++ = *s++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    if ((uintptr_t)d - (uintptr_t)s >= n) return memcpy(to, from, n);
    d += n;
    s += n;
    for (; n >= 4 * W; n -= 4 * W) {
        d -= 4 * W;
        s -= 4 * W;
        word a = ((const word *)s)[0], b = ((const word *)s)[1];
        word c = ((const word *)s)[2], e = ((const word *)s)[3];
        ((word *)d)[0] = a;
        ((word *)d)[1] = b;
        ((word *)d)[2] = c;
        ((word *)d)[3] = e;
    }
    for (; n >= W; n -= W) {
        d -= W;
        s -= W;
        *(word *)d = *(const word *)s;
    }
    while (n--) *--d = *--s;
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *d = to;
    word fill = (unsigned char)value * (~(word)0 / 255);
    for (; n >= 4 * W; n -= 4 * W, d += 4 * W)
        ((word *)d)[0] = ((word *)d)[1] = ((word *)d)[2] = ((word *)d)[3] = fill;
    for (; n >= W; n -= W, d += W) *(word *)d = fill;
    while (n--) *d++ = (unsigned char)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n >= W && *(const word *)x == *(const word *)y; n -= W) x += W, y += W;
    for (; n; n--, x++, y++)
        if (*x != *y) return *x - *y;
    return 0;
}

void *memchr(const void *s, int c, size_t n)
{
    for (const unsigned char *p = s; n; n--, p++)
        if (*p == (unsigned char)c) return (void *)p;
    return NULL;
}
