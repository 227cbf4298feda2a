/* Private HSS keys: trees over trees, of which only the topmost is in the public key. The places of a key are numbered
 * from 0 to 2^(sum of heights) - 1, and each signs once. A key has a range of them; penta cuts ranges off, so that several
 * signers share one public key.
 *
 * The text form is PEM around these bytes, all numbers big-endian:
 *     "HSSK", version 1 (4), levels (4), tree type and one-time type of each level (8 each), identifier (16), seed (24 or 32),
 *     first place of the range (8), next place (8), end of the range (8), place for which the crowns were computed (8),
 *     crown of each level, the first 8 bytes of the SHA-256 of all that
 */
#pragma once
#include "crypto/lms/tree.h"

#define HSS_PEM_NAME "PENTA HSS PRIVATE KEY"

struct hss_key {
    unsigned levels;
    struct lms_parameters p[HSS_LEVELS_MAX];
    uint8_t id[LMS_ID], seed[LMS_HASH_MAX];
    uint64_t first, next, end; /* the range of places, and the first one that has not signed */
    uint64_t crowns_at;        /* the place for whose trees the crowns are computed */
    /* the crowns of all levels, one after the other; crowns_size bytes */
    uint8_t *crowns;
    size_t crowns_size;
};

/* Reads the parameters of each level, such as "h10/w8,h5/w4", the topmost first. */
bool hss_parameters_read(const char *text, struct hss_key *key, penta_error *err);
/* Returns how many places keys with these parameters have. */
uint64_t hss_places(const struct hss_key *key);
size_t hss_key_signature_size(const struct hss_key *key);

/* Makes a key with the parameters that `key` has already. This takes seconds for high trees. */
bool hss_key_make(struct hss_key *key, struct long_work *work, penta_error *err);
/* Makes a key as hss_key_make does, from a given identifier and seed (RFC 8554, appendix A). */
bool hss_key_from_seed(struct hss_key *key, const uint8_t *id, const uint8_t *seed,
                       struct long_work *work, penta_error *err);
/* Copies everything of a key but its range. */
bool hss_key_copy(const struct hss_key *from, struct hss_key *to, penta_error *err);
/* Gets the crowns of a key ready for a place. After that, signing there cannot fail for lack of
 * time or memory. */
bool hss_key_prepare(struct hss_key *key, uint64_t place, struct long_work *work, penta_error *err);
/* Signs at a place for which the key is prepared, and which the caller has taken from the range
 * for good (state.h). */
void hss_key_sign(const struct hss_key *key, uint64_t place, penta_bytes message,
                  struct writer *out);
void hss_key_public(const struct hss_key *key, struct writer *out);
void hss_key_free(struct hss_key *key); /* Wipes the seed and frees the crowns. */

/* These functions write and read the text form of a key. Reading fails with BASE_MEMORY or
 * `rule`. */
void hss_key_pem(const struct hss_key *key, struct writer *out);
bool hss_key_read(penta_bytes pem, struct hss_key *key, uint32_t rule, penta_error *err);
