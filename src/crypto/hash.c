/* Computes SHA-256, HMAC and key derivations by libcrypto. SHA-256 uses libcrypto's old
 * interface, which allocates nothing and cannot fail. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "crypto/hash.h"
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

void hash_sha256(penta_bytes bytes, uint8_t out[HASH_BYTES]) { hash_sha256_pieces(&bytes, 1, out); }

void hash_sha256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES])
{
    SHA256_CTX state;
    SHA256_Init(&state);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].size) SHA256_Update(&state, pieces[i].data, pieces[i].size);
    SHA256_Final(out, &state);
}

void hash_sha256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work)
{
    enum { PIECE = 1 << 17, PIECE_UNITS = PIECE / 16 };
    SHA256_CTX state;
    SHA256_Init(&state);
    for (size_t at = 0; at < bytes.size && !long_work_over(work, PIECE_UNITS); at += PIECE)
        SHA256_Update(&state, bytes.data + at, bytes.size - at < PIECE ? bytes.size - at : PIECE);
    SHA256_Final(out, &state);
}

bool hash_hmac_sha256(penta_bytes key, penta_bytes bytes, uint8_t out[HASH_BYTES])
{
    unsigned size = HASH_BYTES;
    return key.size <= INT_MAX &&
           HMAC(EVP_sha256(), key.data, (int)key.size, bytes.data, bytes.size, out, &size) != NULL;
}

bool hash_hkdf_sha256(penta_bytes key, penta_bytes salt, penta_bytes info, uint8_t out[32])
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
    size_t size = 32;
    bool ok = ctx && key.size <= INT_MAX && EVP_PKEY_derive_init(ctx) > 0 &&
              EVP_PKEY_CTX_set_hkdf_md(ctx, EVP_sha256()) > 0 &&
              EVP_PKEY_CTX_set1_hkdf_salt(ctx, salt.data, (int)salt.size) > 0 &&
              EVP_PKEY_CTX_set1_hkdf_key(ctx, key.data, (int)key.size) > 0 &&
              EVP_PKEY_CTX_add1_hkdf_info(ctx, info.data, (int)info.size) > 0 &&
              EVP_PKEY_derive(ctx, out, &size) > 0;
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

bool hash_pbkdf2_sha256(penta_bytes password, penta_bytes salt, uint32_t iterations,
                        uint8_t out[32])
{
    return iterations <= INT_MAX && password.size <= INT_MAX &&
           PKCS5_PBKDF2_HMAC((const char *)password.data, (int)password.size, salt.data,
                             (int)salt.size, (int)iterations, EVP_sha256(), 32, out);
}

void secret_wipe(void *bytes, size_t size) { OPENSSL_cleanse(bytes, size); }
bool secret_equal(const void *a, const void *b, size_t size) { return !CRYPTO_memcmp(a, b, size); }
bool random_bytes(void *out, size_t size)
{
    return size <= INT_MAX && RAND_bytes(out, (int)size) == 1;
}
