/* BLAKE2b by libb2. Builds without that library have blake2b_plain.c instead. */
#include <blake2.h>
#include "crypto/hash.h"

void hash_blake2b256(penta_bytes bytes, uint8_t out[HASH_BYTES])
{
    blake2b(out, bytes.data, NULL, HASH_BYTES, bytes.size, 0);
}

void hash_blake2b256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES])
{
    blake2b_state state;
    blake2b_init(&state, HASH_BYTES);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].size) blake2b_update(&state, pieces[i].data, pieces[i].size);
    blake2b_final(&state, out, HASH_BYTES);
}

void hash_blake2b256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work)
{
    enum { PIECE = 1 << 17, PIECE_UNITS = PIECE / 16 };
    blake2b_state state;
    blake2b_init(&state, HASH_BYTES);
    for (size_t at = 0; at < bytes.size && !long_work_over(work, PIECE_UNITS); at += PIECE)
        blake2b_update(&state, bytes.data + at, bytes.size - at < PIECE ? bytes.size - at : PIECE);
    blake2b_final(&state, out, HASH_BYTES);
}
