/* Declares hash-based signatures: LMS and HSS of RFC 8554, with the parameter sets of SP 800-208 that use SHA-256. They stay
 * secure against quantum computers, and each private key makes a limited number of signatures: signing twice with
 * one place of the key would let others forge. The place is therefore kept in the key's file (state.h).
 *
 *     public key   levels (4), tree type (4), one-time type (4), identifier (16), root (24 or 32)
 *     signature    levels - 1 (4), for each level but the last: signature of the next level's key, that key;
 *                  signature of the message
 *
 * All numbers in keys and signatures are big-endian. Verifying needs no libcrypto but for SHA-256. */
#pragma once
#include "base/writer.h"
#include "crypto/hash.h"

enum {
    LMS_HASH_MAX = 32,
    LMS_ID = 16,
    LMS_CHAINS_MAX = 265,
    LMS_HEIGHT_MAX = 25,
    HSS_LEVELS_MAX = 8,
    LMS_PUBLIC_MAX = 4 + 4 + LMS_ID + LMS_HASH_MAX,
    HSS_PUBLIC_MAX = 4 + LMS_PUBLIC_MAX,
    LMS_SIGNATURE_MAX =
        4 + 4 + (1 + LMS_CHAINS_MAX) * LMS_HASH_MAX + 4 + LMS_HEIGHT_MAX * LMS_HASH_MAX,
    HSS_SIGNATURE_MAX = 4 + HSS_LEVELS_MAX * (LMS_SIGNATURE_MAX + LMS_PUBLIC_MAX),
};

struct lms_parameters {
    uint32_t tree, ots;    /* the types of tree and one-time key, as files have them */
    unsigned hash, height; /* hash: bytes of a hash; height: the tree has 2^height leaves */
    unsigned digit,
        /* digit: bits of a digit of the message's hash; chains: hash chains of a one-time key */
        chains;
    unsigned shift; /* the shift of the checksum of the digits */
};

/* Finds a parameter set. Returns false when a type is not known, or when the two have hashes of
 * different sizes. */
bool lms_parameters_find(uint32_t tree, uint32_t ots, struct lms_parameters *out);
/* Reads "h10/w8" or "h10/w8/n24". Returns false when the text names no parameter set. */
bool lms_parameters_read(penta_bytes text, struct lms_parameters *out);
void lms_parameters_write(const struct lms_parameters *p, struct writer *out);

size_t lms_public_size(const struct lms_parameters *p);
size_t lms_signature_size(const struct lms_parameters *p);

/* Finds what is wrong with an HSS public key. Returns NULL for a good one. */
const char *hss_public_flaw(penta_bytes key);
/* Returns the size of the HSS signature at the start of these bytes, or 0 when they do not start
 * with one. Only the types in the signature are looked at. */
size_t hss_signature_size(penta_bytes bytes);
/* lms_check and hss_check verify a signature. They never return VERDICT_FAILED. */
enum verdict lms_check(penta_bytes key, penta_bytes message, penta_bytes signature);
enum verdict hss_check(penta_bytes key, penta_bytes message, penta_bytes signature);

/* check.c and tree.c share the hashes of RFC 8554, which the declarations below are for. */
enum lms_purpose { LMS_MESSAGE = 0x8181, LMS_KEY = 0x8080, LMS_LEAF = 0x8282, LMS_NODE = 0x8383 };

/* Hashes identifier, number, purpose and the pieces; out has LMS_HASH_MAX bytes, of which
 * p->hash count. */
void lms_hash(const uint8_t id[LMS_ID], uint32_t number, enum lms_purpose purpose, penta_bytes a,
              penta_bytes b, uint8_t out[LMS_HASH_MAX]);
/* Goes from step `from` to step `to` of a hash chain, in place. */
void lms_chain(const struct lms_parameters *p, const uint8_t id[LMS_ID], uint32_t q, unsigned chain,
               unsigned from, unsigned to, uint8_t value[LMS_HASH_MAX]);
/* Computes the digits that a one-time key signs: those of the message's hash and of their
 * checksum. */
void lms_digits(const struct lms_parameters *p, const uint8_t hash[LMS_HASH_MAX],
                uint8_t digits[LMS_CHAINS_MAX]);
/* Returns how many steps a chain has. */
static inline unsigned lms_steps(const struct lms_parameters *p) { return (1u << p->digit) - 1; }
