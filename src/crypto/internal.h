/* Declares what keys.c, sign.c and ecdsa.c share: keys in the form of libcrypto. */
#pragma once
#include <openssl/evp.h>
#include "crypto/hash.h"
#include "crypto/keys.h"

struct private_key {
    EVP_PKEY *pkey;
    struct public_key public;
};

/* Returns a raw public key in libcrypto's form, which the caller frees, or NULL when the bytes
 * are no key. */
EVP_PKEY *key_public_evp(enum key_type type, penta_bytes raw);

/* Signs a SHA-256 digest: the signature is r and s, 32 bytes each, with the nonce of RFC 6979 (ecdsa.c). */
bool ecdsa_sign(EVP_PKEY *key, const uint8_t digest[32], uint8_t signature[64]);
enum verdict ecdsa_check(EVP_PKEY *key, const uint8_t digest[32], const uint8_t signature[64]);
