/* Authenticated encryption over libcrypto uses 32-byte keys, 12-byte nonces and 16-byte tags. */
#pragma once
#include "crypto/hash.h"

enum aead { AEAD_AES_256_GCM = 1, AEAD_CHACHA20_POLY1305 = 2 };
enum { AEAD_KEY = 32, AEAD_NONCE = 12, AEAD_TAG = 16 };

/* Writes in.size bytes of ciphertext and then the tag to out. Returns false when memory ran out. */
bool aead_seal(enum aead algorithm, const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
               penta_bytes associated, penta_bytes in, uint8_t *out, penta_error *err);
/* Decrypts `in`, which is ciphertext and tag, to in.size - 16 bytes. `out` is wiped unless the
 * tag is right. */
enum verdict aead_open(enum aead algorithm, const uint8_t key[AEAD_KEY],
                       const uint8_t nonce[AEAD_NONCE], penta_bytes associated, penta_bytes in,
                       uint8_t *out);
