/* Arithmetic in the three fields of alt_bn128: numbers modulo its prime p in Montgomery's form
 * (x * 2^256 mod p), this field extended by i with i^2 = -1, and the field of degree 12 that
 * comes from extending the second by w with w^6 = 9 + i. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct fp {
    uint64_t limb[4]; /* The lowest limb comes first; the number is below p. */
};
struct fp2 {
    struct fp re, im;
};
struct fp12 {
    struct fp2 at[6]; /* the coefficients of w^0 to w^5 */
};

extern const struct fp fp_one;

/* Reads a big-endian number. Returns false when it is not below p. */
bool fp_read(struct fp *out, const uint8_t bytes[32]);
struct fp fp_small(unsigned n);

/* The imaginary part comes first in the bytes. */
bool fp2_read(struct fp2 *out, const uint8_t bytes[64]);
bool fp2_equal(const struct fp2 *a, const struct fp2 *b);
bool fp2_is_zero(const struct fp2 *a);
struct fp2 fp2_add(struct fp2 a, struct fp2 b);
struct fp2 fp2_sub(struct fp2 a, struct fp2 b);
struct fp2 fp2_negate(struct fp2 a);
struct fp2 fp2_mul(struct fp2 a, struct fp2 b);
struct fp2 fp2_scale(struct fp2 a, struct fp b);
struct fp2 fp2_invert(struct fp2 a); /* `a` must not be zero. */
struct fp2 fp2_conjugate(struct fp2 a);
/* Returns the number 3 / (9 + i) of the equation y^2 = x^3 + 3 / (9 + i) of the twist. */
struct fp2 fp2_twist(void);
/* Returns the factor (9 + i)^(n (p - 1) / 6) by which w^n is multiplied when it is raised to the
 * power of p. */
struct fp2 fp2_frobenius_factor(unsigned n);

struct fp12 fp12_one(void);
bool fp12_is_one(const struct fp12 *a);
struct fp12 fp12_mul(const struct fp12 *a, const struct fp12 *b);
struct fp12 fp12_invert(const struct fp12 *a);    /* `a` must not be zero. */
struct fp12 fp12_frobenius(const struct fp12 *a); /* Computes a^p. */
struct fp12 fp12_conjugate(const struct fp12 *a); /* Computes a^(p^6). */
