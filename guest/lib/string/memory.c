/* Implements copies and comparisons. They work on words where both sides have the same
 * alignment. */
#include <stdint.h>
#include <string.h>

typedef unsigned long word __attribute__((may_alias));
enum { W = sizeof(word) };

static int unaligned(const void *p) { return (uintptr_t)p % W != 0; }

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *d = to;
    const unsigned char *s = from;
    if (((uintptr_t)d ^ (uintptr_t)s) % W == 0) {
        for (; n && unaligned(d); n--) *d++ = *s++;
        for (; n >= 4 * W; n -= 4 * W, d += 4 * W, s += 4 * W) {
            word a = ((const word *)s)[0], b = ((const word *)s)[1];
            word c = ((const word *)s)[2], e = ((const word *)s)[3];
            ((word *)d)[0] = a;
            ((word *)d)[1] = b;
            ((word *)d)[2] = c;
            ((word *)d)[3] = e;
        }
        for (; n >= W; n -= W, d += W, s += W) *(word *)d = *(const word *)s;
    }
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
    if (((uintptr_t)d ^ (uintptr_t)s) % W == 0) {
        for (; n && unaligned(d); n--) *--d = *--s;
        for (; n >= W; n -= W) {
            d -= W;
            s -= W;
            *(word *)d = *(const word *)s;
        }
    }
    while (n--) *--d = *--s;
    return to;
}

void *memset(void *to, int value, size_t n)
{
    unsigned char *d = to;
    word fill = (unsigned char)value * (~(word)0 / 255);
    for (; n && unaligned(d); n--) *d++ = (unsigned char)value;
    for (; n >= 4 * W; n -= 4 * W, d += 4 * W)
        ((word *)d)[0] = ((word *)d)[1] = ((word *)d)[2] = ((word *)d)[3] = fill;
    for (; n >= W; n -= W, d += W) *(word *)d = fill;
    while (n--) *d++ = (unsigned char)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    if (((uintptr_t)x ^ (uintptr_t)y) % W == 0) {
        for (; n && unaligned(x); n--, x++, y++)
            if (*x != *y) return *x - *y;
        for (; n >= W && *(const word *)x == *(const word *)y; n -= W) x += W, y += W;
    }
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
