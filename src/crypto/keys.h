/* Signing keys: PEM in and out over libcrypto, and the raw public forms that containers embed.
 *
 *     Ed25519   32 bytes
 *     P-256     65 bytes: 04, X, Y
 *     RSA-2048  260 bytes: modulus (256, big-endian), exponent (4, big-endian)
 *
 * `rule` is the caller's code for a bad key. Private keys are in libcrypto's own memory, which
 * wipes them; texts that hold one are wiped by the caller that read them. */
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

const char *key_type_name(enum key_type type); /* "ed25519" */
size_t key_public_size(enum key_type type);
size_t key_signature_size(enum key_type type);

/* Checks the raw form: right size, a point on the curve and not of small order, a modulus of 2048
 * bits. False: *why says what is wrong, or is key_no_memory. */
extern const char key_no_memory[];
bool key_public_raw(enum key_type type, penta_bytes raw, struct public_key *out, const char **why);
/* SubjectPublicKeyInfo, or the public half of a private key. */
bool key_public_read(penta_bytes pem, struct public_key *out, uint32_t rule, penta_error *err);
void key_public_pem(const struct public_key *key, struct writer *out);
void key_fingerprint(const struct public_key *key, uint8_t out[32]); /* SHA-256 of the raw form */

/* PKCS#8, SEC1 or PKCS#1, never encrypted: nothing here asks for a passphrase. */
struct private_key *key_private_read(penta_bytes pem, uint32_t rule, penta_error *err);
struct private_key *key_generate(enum key_type type, penta_error *err);
void key_private_pem(const struct private_key *key, struct writer *out);
const struct public_key *key_public_of(const struct private_key *key);
void key_private_free(struct private_key *key); /* NULL is fine */
