/* Digests and key derivation, and what secrets need: wiping, comparison in constant time and
 * random bytes. */
#pragma once
#include "base/error.h"
#include "base/long_work.h"

enum { HASH_BYTES = 32 };

/* An enum verdict is the result of a check. VERDICT_FAILED means that the library could not
 * check (no memory, no entropy, no such algorithm); it says nothing about what was to be
 * checked. */
enum verdict { VERDICT_WRONG, VERDICT_GOOD, VERDICT_FAILED };

void hash_sha256(penta_bytes bytes, uint8_t out[HASH_BYTES]);
/* Computes BLAKE2b with a result of 32 bytes. */
void hash_blake2b256(penta_bytes bytes, uint8_t out[HASH_BYTES]);
/* These functions compute the digests as the functions above, but end early when `work` says so. */
void hash_sha256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work);
void hash_blake2b256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work);
/* These functions compute the digest of all pieces, one after the other. `work` may be NULL:
 * nothing ends it then. */
void hash_sha256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES]);
void hash_blake2b256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES],
                            struct long_work *work);
/* The functions below return false when the library failed. */
bool hash_hmac_sha256(penta_bytes key, penta_bytes bytes, uint8_t out[HASH_BYTES]);
bool hash_hkdf_sha256(penta_bytes key, penta_bytes salt, penta_bytes info, uint8_t out[32]);
bool hash_pbkdf2_sha256(penta_bytes password, penta_bytes salt, uint32_t iterations,
                        uint8_t out[32]);

void secret_wipe(void *bytes, size_t size);
bool secret_equal(const void *a, const void *b, size_t size); /* Compares in constant time. */
bool random_bytes(void *out, size_t size);
