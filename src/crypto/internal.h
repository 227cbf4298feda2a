/* Declares what keys.c, sign.c and ecdsa.c share: keys in the form of libcrypto. */
#pragma once
#include <openssl/evp.h>
#include "crypto/hash.h"
#include "crypto/keys.h"
#include "crypto/lms/hss.h"

struct private_key {
    EVP_PKEY *pkey;      /* the half of the key that libcrypto knows, or NULL */
    struct hss_key *hss; /* the LMS half of the key, or NULL */
    char *path, *folder; /* path: the file of an LMS key; folder: that of reservations, or NULL */
    uint32_t rule;       /* the caller's code for a key that cannot sign */
    struct public_key public;
};

/* Returns a raw public key in libcrypto's form, which the caller frees, or NULL when the bytes
 * are no key. */
EVP_PKEY *key_public_evp(enum key_type type, penta_bytes raw);

/* Signs a SHA-256 digest: the signature is r and s, 32 bytes each, with the nonce of RFC 6979
 * (ecdsa.c). */
bool ecdsa_sign(EVP_PKEY *key, const uint8_t digest[32], uint8_t signature[64]);
enum verdict ecdsa_check(EVP_PKEY *key, const uint8_t digest[32], const uint8_t signature[64]);

/* The functions below are about the LMS half of keys as text (key_lms.c). A text may hold an HSS
 * key and a key of libcrypto. Cutting the HSS key out fills `out` and appends the other text to
 * `rest`; it returns false, and leaves `rest` alone, when there is no HSS key or when it is
 * malformed. Then *why says what is wrong, or stays. */
bool key_lms_cut_public(penta_bytes pem, struct public_key *out, struct writer *rest,
                        const char **why);
bool key_lms_cut_private(penta_bytes pem, struct hss_key **out, struct writer *rest, uint32_t rule,
                         penta_error *err);
void key_lms_public_pem(penta_bytes raw, struct writer *out);
