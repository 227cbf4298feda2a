/* Computes the compression function of BLAKE2b with any number of rounds, which libb2 does not
 * offer. */
#include <string.h>
#include "base/bytes.h"
#include "crypto/precompiles/precompiles.h"

static const uint64_t iv[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
                               UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
                               UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
                               UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

static const uint8_t order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t blake2f_rotate(uint64_t v, unsigned n) { return v >> n | v << (64 - n); }

static void blake2f_mix(uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x,
                        uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = blake2f_rotate(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = blake2f_rotate(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = blake2f_rotate(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = blake2f_rotate(v[b] ^ v[c], 63);
}

void precompile_blake2f(uint32_t rounds, uint8_t h[64], const uint8_t m[128], const uint8_t t[16],
                        bool last, struct long_work *work)
{
    enum { PIECE = 4096 };
    uint64_t v[16], w[16];
    for (unsigned i = 0; i < 8; i++) v[i] = bytes_get64(h + 8 * i);
    memcpy(v + 8, iv, sizeof iv);
    for (unsigned i = 0; i < 16; i++) w[i] = bytes_get64(m + 8 * i);
    v[12] ^= bytes_get64(t);
    v[13] ^= bytes_get64(t + 8);
    if (last) v[14] = ~v[14];
    for (uint32_t round = 0; round < rounds; round++) {
        if (!(round % PIECE) && long_work_over(work, PIECE)) return;
        const uint8_t *o = order[round % 10];
        for (unsigned i = 0; i < 4; i++)
            blake2f_mix(v, i, 4 + i, 8 + i, 12 + i, w[o[2 * i]], w[o[2 * i + 1]]);
        for (unsigned i = 0; i < 4; i++)
            blake2f_mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, w[o[8 + 2 * i]],
                        w[o[9 + 2 * i]]);
    }
    for (unsigned i = 0; i < 8; i++)
        bytes_put64(h + 8 * i, bytes_get64(h + 8 * i) ^ v[i] ^ v[8 + i]);
}
