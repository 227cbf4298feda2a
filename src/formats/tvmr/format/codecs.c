/* Compresses with LZ4 and encrypts with the ciphers of src/crypto, for packed files. */
#include "crypto/aead.h"
#include "crypto/hash.h"
#include "tvmr/tvmr.h"
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

bool tvmr_lz4_expand(penta_bytes in, uint8_t *out, size_t size)
{
    if (in.size > LZ4_MAX_INPUT_SIZE || size > LZ4_MAX_INPUT_SIZE) return false;
    return LZ4_decompress_safe((const char *)in.data, (char *)out, (int)in.size, (int)size) ==
           (int)size;
}

bool tvmr_lz4_pack(penta_bytes in, struct writer *out)
{
    if (in.size > LZ4_MAX_INPUT_SIZE) return false;
    int bound = LZ4_compressBound((int)in.size);
    size_t at = out->out.size;
    writer_fill(out, 0, (size_t)bound);
    if (out->failed) return false;
    int size = LZ4_compress_default((const char *)in.data, (char *)out->out.data + at, (int)in.size,
                                    bound);
    out->out.size = at + (size_t)(size > 0 ? size : 0);
    return size > 0;
}

enum verdict tvmr_cipher_open(const uint8_t key[32], penta_bytes header, penta_bytes in,
                              uint8_t *out)
{
    penta_bytes sealed = bytes_slice(in, AEAD_NONCE, in.size);
    if (in.size < AEAD_NONCE + AEAD_TAG) return VERDICT_WRONG;
    return aead_open(AEAD_CHACHA20_POLY1305, key, in.data, header, sealed, out);
}

bool tvmr_cipher_seal(const uint8_t key[32], const uint8_t *nonce, penta_bytes header,
                      penta_bytes in, struct writer *out, penta_error *err)
{
    uint8_t fresh[AEAD_NONCE];
    if (!nonce) {
        if (!random_bytes(fresh, sizeof fresh))
            return error_at(err, BASE_IO, 0, "the system gives no random numbers");
        nonce = fresh;
    }
    writer_bytes(out, nonce, AEAD_NONCE);
    size_t at = out->out.size;
    writer_fill(out, 0, in.size + AEAD_TAG);
    if (!writer_ok(out, err)) return false;
    return aead_seal(AEAD_CHACHA20_POLY1305, key, nonce, header, in, out->out.data + at, err);
}

void tvmr_wipe(void *bytes, size_t size) { secret_wipe(bytes, size); }
