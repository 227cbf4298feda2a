/* Signatures over a short message: Ed25519 pure, ECDSA and RSA PKCS#1 v1.5 with SHA-256. All are
 * deterministic: the same key and message give the same bytes. */
#pragma once
#include "crypto/hash.h"
#include "crypto/keys.h"

/* Writes key_signature_size bytes to `signature`. Returns false when the library failed or this build cannot sign. */
bool sign_message(const struct private_key *key, penta_bytes message,
                  uint8_t signature[SIGNATURE_MAX]);
/* Only for P-256, where a signature has two right forms, of which sign_message writes the low one (low_s.c). */
bool sign_is_low(const uint8_t signature[64]);
void sign_make_low(uint8_t signature[64]); /* the same signature in its low form */
enum verdict sign_check(const struct public_key *key, penta_bytes message, penta_bytes signature);
