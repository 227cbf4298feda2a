/* Turns bytes into integers and back without casting pointers, for both byte orders and every
 * alignment. */
#pragma once
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include "penta/penta.h"

static inline penta_bytes bytes_slice(penta_bytes in, size_t from, size_t size)
{
    if (from > in.size) from = in.size;
    if (size > in.size - from) size = in.size - from;
    return (penta_bytes){in.size ? in.data + from : in.data, size};
}

static inline penta_bytes bytes_of(const char *text)
{
    return (penta_bytes){(const uint8_t *)text, strlen(text)};
}

/* Gives the two arguments that "%.*s" takes, for at most `most` bytes. */
#define BYTES_ARG(bytes, most)                                                                     \
    (int)((bytes).size < (size_t)(most) ? (bytes).size : (size_t)(most)), (const char *)(bytes).data

/* memcpy and memcmp must not be given NULL, not even for 0 bytes, and an empty range may have
 * NULL for data. */
static inline void bytes_copy(void *to, penta_bytes from)
{
    if (from.size) memcpy(to, from.data, from.size);
}

static inline bool bytes_equal(penta_bytes a, penta_bytes b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static inline uint64_t bytes_uint(const uint8_t *p, size_t n, bool big_endian)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) value = value << 8 | p[big_endian ? i : n - 1 - i];
    return value;
}

/* The functions below read and write little-endian integers of fixed width. Compilers turn each
 * function into one load or store. */
static inline uint16_t bytes_get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t bytes_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t bytes_get64(const uint8_t *p)
{
    return (uint64_t)bytes_get32(p) | (uint64_t)bytes_get32(p + 4) << 32;
}
static inline void bytes_put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
static inline void bytes_put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * i);
}
static inline void bytes_put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
}

/* Writes a big-endian integer of n bytes. */
static inline void bytes_put_big(uint8_t *p, uint64_t v, size_t n)
{
    for (size_t i = n; i--; v >>= 8) p[i] = (uint8_t)v;
}

static inline int hex_digit(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
