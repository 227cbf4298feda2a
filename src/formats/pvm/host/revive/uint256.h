/* Unsigned numbers of 256 bits are used for balances, values and times. */
#pragma once
#include "penta/penta.h"

enum { WORD = 32 };

struct u256 {
    uint64_t w[4]; /* The lowest word comes first. */
};

static inline struct u256 revive_u256_of(uint64_t n) { return (struct u256){{n, 0, 0, 0}}; }
bool revive_u256_is_zero(const struct u256 *a);
bool revive_u256_fits(const struct u256 *a); /* Tells whether the number fits in 64 bits. */
int revive_u256_compare(const struct u256 *a, const struct u256 *b);
struct u256 revive_u256_add(const struct u256 *a, const struct u256 *b, bool *carry);
/* Computes modulo 2^256. */
struct u256 revive_u256_subtract(const struct u256 *a, const struct u256 *b);
struct u256 revive_u256_get(const uint8_t little_endian[WORD]);
void revive_u256_put(const struct u256 *a, uint8_t little_endian[WORD]);
/* Reads a text that is one number, decimal or with 0x. Returns false for any other text. */
bool revive_u256_parse(penta_bytes text, struct u256 *out);
enum { U256_DIGITS = 80 };
void revive_u256_print(const struct u256 *a, char text[U256_DIGITS]); /* Writes decimal digits. */
