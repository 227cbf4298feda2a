/* Reads and writes signing keys as PEM by libcrypto, and gives the raw public forms that containers embed:
 *
 *     Ed25519   32 bytes
 *     P-256     65 bytes: 04, X, Y
 *     RSA-2048  260 bytes: modulus (256, big-endian), exponent (4, big-endian)
 *
 * `rule` is the caller's code for a bad key. Private keys stay in memory of libcrypto, which wipes them; a caller wipes
 * the texts of private keys that it has read. */
#pragma once
#include "base/error.h"
#include "base/writer.h"

enum key_type {
    KEY_NONE,
#define KEY(id, ...) KEY_##id,
#include "crypto/keys.def"
    KEY_TYPES
};
enum { KEY_PUBLIC_MAX = 260, SIGNATURE_MAX = 256 };

struct public_key {
    enum key_type type;
    uint8_t bytes[KEY_PUBLIC_MAX];
    size_t size;
};
struct private_key;

const char *key_type_name(enum key_type type); /* Returns a name such as "ed25519". */
size_t key_public_size(enum key_type type);
size_t key_signature_size(enum key_type type);

/* Checks the raw form: its size, that a point is on the curve and not of small order, that a
 * modulus has 2048 bits. When the function returns false, *why says what is wrong or is
 * key_no_memory. */
extern const char key_no_memory[];
bool key_public_raw(enum key_type type, penta_bytes raw, struct public_key *out, const char **why);
/* Reads a SubjectPublicKeyInfo, or the public half of a private key. */
bool key_public_read(penta_bytes pem, struct public_key *out, uint32_t rule, penta_error *err);
void key_public_pem(const struct public_key *key, struct writer *out);
/* Computes the SHA-256 of the raw form. */
void key_fingerprint(const struct public_key *key, uint8_t out[32]);

/* Reads a private key in PKCS#8, SEC1 or PKCS#1. Encrypted keys are refused: no function here asks for a
 * passphrase. */
struct private_key *key_private_read(penta_bytes pem, uint32_t rule, penta_error *err);
struct private_key *key_generate(enum key_type type, penta_error *err);
void key_private_pem(const struct private_key *key, struct writer *out);
const struct public_key *key_public_of(const struct private_key *key);
void key_private_free(struct private_key *key); /* `key` may be NULL. */
