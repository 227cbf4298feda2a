/* Reads and writes signing keys as PEM by libcrypto, and gives the raw public forms that
 * containers embed:
 *
 *     Ed25519   32 bytes
 *     P-256     65 bytes: 04, X, Y
 *     RSA-2048  260 bytes: modulus (256, big-endian), exponent (4, big-endian)
 *     LMS       52 or 60 bytes: an HSS key (lms/lms.h)
 *     both      an Ed25519 key, then an LMS key: both signatures must hold
 *
 * A private key of LMS changes with each signature, so it signs only as a file
 * (key_private_keep). `rule` is the caller's code for a bad key. Private keys stay in memory of
 * libcrypto, which wipes them; a caller wipes the texts of private keys that it has read. */
#pragma once
#include "base/error.h"
#include "base/writer.h"

enum key_type {
    KEY_NONE,
#define KEY(id, ...) KEY_##id,
#include "crypto/keys.def"
    KEY_TYPES
};
enum { KEY_PUBLIC_MAX = 260, ED25519_PUBLIC = 32, ED25519_SIGNATURE = 64 };

struct public_key {
    enum key_type type;
    uint8_t bytes[KEY_PUBLIC_MAX];
    size_t size;
};
struct private_key;

const char *key_type_name(enum key_type type); /* Returns a name such as "ed25519". */
size_t key_public_size(enum key_type type);
size_t key_signature_size(enum key_type type);
/* Tells whether a raw public key, or a signature, of this type can have this form. For types of
 * one size only the size is looked at. */
bool key_public_fits(enum key_type type, penta_bytes raw);
/* Zeros count as the space for a signature of LMS. */
bool key_signature_fits(enum key_type type, penta_bytes signature);
/* Returns the space that a signature of this key takes. A public key of LMS tells only the
 * parameters of its topmost level, so all levels are taken to be like that one. */
size_t key_signature_space(const struct public_key *key);

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

/* Reads a private key in PKCS#8, SEC1 or PKCS#1. Encrypted keys are refused: no function here
 * asks for a passphrase. */
struct private_key *key_private_read(penta_bytes pem, uint32_t rule, penta_error *err);
/* Makes a key. `parameters` are those of LMS, such as "h10/w8,h5/w8"; NULL stands for the
 * default. Other types have none. */
struct private_key *key_generate(enum key_type type, const char *parameters, penta_error *err);
/* Says from which file the key comes, and the folder in which this host keeps the state of such
 * keys (NULL stands for the default). A key of LMS signs only after that. */
bool key_private_keep(struct private_key *key, const char *path, const char *folder,
                      penta_error *err);
/* Returns how many signatures the key can still make, or UINT64_MAX when there is no limit. */
uint64_t key_private_left(const struct private_key *key);
size_t key_private_signature_size(const struct private_key *key);
/* Takes `count` signatures from the LMS key in a file and writes a private key that makes only
 * these. */
bool key_private_reserve(const char *path, const char *folder, uint64_t count, uint32_t rule,
                         struct writer *pem, penta_error *err);
void key_private_pem(const struct private_key *key, struct writer *out);
const struct public_key *key_public_of(const struct private_key *key);
void key_private_free(struct private_key *key); /* `key` may be NULL. */
