/* Authenticated encryption over libcrypto: 32-byte keys, 12-byte nonces, 16-byte tags. */
#pragma once
#include "crypto/hash.h"

enum aead { AEAD_AES_256_GCM = 1, AEAD_CHACHA20_POLY1305 = 2 };
enum { AEAD_KEY = 32, AEAD_NONCE = 12, AEAD_TAG = 16 };

/* out gets in.size bytes of ciphertext followed by the tag. False: BASE_MEMORY. */
bool aead_seal(enum aead algorithm, const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
               penta_bytes associated, penta_bytes in, uint8_t *out, penta_error *err);
/* in is ciphertext and tag; out gets in.size - 16 bytes. Wiped unless the tag is right. */
enum verdict aead_open(enum aead algorithm, const uint8_t key[AEAD_KEY],
                       const uint8_t nonce[AEAD_NONCE], penta_bytes associated, penta_bytes in,
                       uint8_t *out);
