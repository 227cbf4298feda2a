/* Prints the SHA-256 digest of standard input, as sha256sum does. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct sha256 {
    uint32_t state[8];
    uint64_t size;
    uint8_t block[64];
};

static uint32_t word_rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

/* Returns the first 32 bits of the fraction of a square or cube root, by Newton's method. */
static uint32_t root_bits(double x, int cubic)
{
    double root = x;
    for (int i = 0; i < 64; i++)
        root = cubic ? (2 * root + x / (root * root)) / 3 : (root + x / root) / 2;
    return (uint32_t)((root - (uint32_t)root) * 4294967296.0);
}

static uint32_t constants[64], start[8];

static void find_constants(void)
{
    unsigned found = 0;
    for (unsigned n = 2; found < 64; n++) {
        unsigned d = 2;
        while (d * d <= n && n % d) d++;
        if (d * d <= n) continue;
        if (found < 8) start[found] = root_bits(n, 0);
        constants[found++] = root_bits(n, 1);
    }
}

static void sha256_compress(struct sha256 *h, const uint8_t *p)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | p[4 * i + 2] << 8 |
               p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (word_rotate(a, 7) ^ word_rotate(a, 18) ^ a >> 3) +
               (word_rotate(b, 17) ^ word_rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, h->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t t = v[7] + (word_rotate(e, 6) ^ word_rotate(e, 11) ^ word_rotate(e, 25)) +
                     ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
        uint32_t u = (word_rotate(a, 2) ^ word_rotate(a, 13) ^ word_rotate(a, 22)) +
                     ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++) h->state[i] += v[i];
}

static void sha256_add(struct sha256 *h, const uint8_t *p, size_t size)
{
    for (; size; p++, size--) {
        h->block[h->size++ % 64] = *p;
        if (h->size % 64 == 0) sha256_compress(h, h->block);
    }
}

int main(void)
{
    struct sha256 h = {.size = 0};
    uint8_t buffer[4096], length[8];
    find_constants();
    memcpy(h.state, start, sizeof start);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, stdin));) sha256_add(&h, buffer, n);
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(h.size * 8 >> (56 - 8 * i));
    sha256_add(&h, (const uint8_t *)"\x80", 1);
    while (h.size % 64 != 56) sha256_add(&h, (const uint8_t *)"", 1);
    sha256_add(&h, length, 8);
    for (int i = 0; i < 8; i++) printf("%08x", (unsigned)h.state[i]);
    puts("  -");
    return 0;
}
