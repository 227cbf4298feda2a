/* Shared by keys.c, sign.c and ecdsa.c: keys as libcrypto has them. */
#pragma once
#include <openssl/evp.h>
#include "crypto/hash.h"
#include "crypto/keys.h"

struct private_key {
    EVP_PKEY *pkey;
    struct public_key public;
};

/* The libcrypto form of a raw public key (free it); NULL when raw is no key. */
EVP_PKEY *key_public_evp(enum key_type type, penta_bytes raw);

/* ecdsa.c: r and s, 32 bytes each, over a SHA-256 digest; the nonce is that of RFC 6979. */
bool ecdsa_sign(EVP_PKEY *key, const uint8_t digest[32], uint8_t signature[64]);
enum verdict ecdsa_check(EVP_PKEY *key, const uint8_t digest[32], const uint8_t signature[64]);
