/* Computes BLAKE2b by libb2. Builds without that library have blake2b_plain.c instead. */
#include <blake2.h>
#include "crypto/hash.h"

void hash_blake2b256(penta_bytes bytes, uint8_t out[HASH_BYTES])
{
    blake2b(out, bytes.data, NULL, HASH_BYTES, bytes.size, 0);
}

static void blake2b_update_work(blake2b_state *state, penta_bytes in, struct long_work *work)
{
    enum { PIECE = 1 << 17, PIECE_UNITS = PIECE / 16 };
    for (size_t at = 0; at < in.size && !long_work_over(work, PIECE_UNITS); at += PIECE)
        blake2b_update(state, in.data + at, in.size - at < PIECE ? in.size - at : PIECE);
}

void hash_blake2b256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES],
                            struct long_work *work)
{
    blake2b_state state;
    blake2b_init(&state, HASH_BYTES);
    for (size_t i = 0; i < count; i++) blake2b_update_work(&state, pieces[i], work);
    blake2b_final(&state, out, HASH_BYTES);
}

void hash_blake2b256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work)
{
    hash_blake2b256_pieces(&bytes, 1, out, work);
}
