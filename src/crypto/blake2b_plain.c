/* Computes BLAKE2b with a result of 32 bytes (RFC 7693) by its compression function, for builds
 * without libb2. */
#include <string.h>
#include "base/bytes.h"
#include "crypto/hash.h"
#include "crypto/precompiles/precompiles.h"

enum { BLOCK = 128, ROUNDS = 12 };

struct blake2b {
    /* `count` says how many bytes were compressed so far, little-endian. */
    uint8_t h[64], block[BLOCK], count[16];
    size_t fill;
};

static void blake2b_compress(struct blake2b *s, bool last)
{
    bytes_put64(s->count, bytes_get64(s->count) + s->fill); /* an input never has 2^64 bytes */
    precompile_blake2f(ROUNDS, s->h, s->block, s->count, last, NULL);
    s->fill = 0;
}

/* Adds bytes. A full block waits until more bytes come, because the last block is compressed
 * differently. */
static void blake2b_update(struct blake2b *s, penta_bytes in)
{
    for (size_t at = 0; at < in.size;) {
        if (s->fill == BLOCK) blake2b_compress(s, false);
        size_t n = BLOCK - s->fill < in.size - at ? BLOCK - s->fill : in.size - at;
        memcpy(s->block + s->fill, in.data + at, n);
        s->fill += n;
        at += n;
    }
}

static void blake2b_update_work(struct blake2b *s, penta_bytes in, struct long_work *work)
{
    enum { PIECE = 1 << 17, PIECE_UNITS = PIECE / 16 };
    for (size_t at = 0; at < in.size && !long_work_over(work, PIECE_UNITS); at += PIECE)
        blake2b_update(s, bytes_slice(in, at, in.size - at < PIECE ? in.size - at : PIECE));
}

void hash_blake2b256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES],
                            struct long_work *work)
{
    static const uint64_t iv[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
                                   UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
                                   UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
                                   UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};
    struct blake2b s = {.fill = 0};
    for (unsigned i = 0; i < 8; i++) bytes_put64(s.h + 8 * i, iv[i]);
    /* The parameters are: 32 bytes of result, no key, one leaf. */
    bytes_put64(s.h, iv[0] ^ 0x01010000 ^ HASH_BYTES);
    for (size_t i = 0; i < count; i++) blake2b_update_work(&s, pieces[i], work);
    memset(s.block + s.fill, 0, BLOCK - s.fill);
    blake2b_compress(&s, true);
    memcpy(out, s.h, HASH_BYTES);
}

void hash_blake2b256(penta_bytes bytes, uint8_t out[HASH_BYTES])
{
    hash_blake2b256_pieces(&bytes, 1, out, NULL);
}

void hash_blake2b256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work)
{
    hash_blake2b256_pieces(&bytes, 1, out, work);
}
