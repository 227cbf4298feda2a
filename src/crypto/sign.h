/* Signatures over a short message are made with Ed25519 (pure), ECDSA, RSA PKCS#1 v1.5, the
 * last two with SHA-256, or LMS. All but those of LMS are deterministic: the same key and message
 * give the same bytes. A key of LMS signs each message at another place. */
#pragma once
#include "crypto/hash.h"
#include "crypto/keys.h"

/* Appends key_private_signature_size bytes to `signature`. */
bool sign_message(struct private_key *key, penta_bytes message, struct writer *signature,
                  penta_error *err);
/* Tells whether a signature for P-256 has the low form. Such a signature has two right forms, of
 * which sign_message writes the low one (low_s.c). */
bool sign_is_low(const uint8_t signature[64]);
void sign_make_low(uint8_t signature[64]); /* Converts a signature to its low form. */
enum verdict sign_check(const struct public_key *key, penta_bytes message, penta_bytes signature);
