/* Arithmetic in the fields of alt_bn128, written here because libcrypto has no field extensions.
 * Numbers are in Montgomery's form; nothing runs in constant time, since all inputs of a
 * contract are public. */
#include "crypto/precompiles/bn128_field.h"
#include <string.h>
#include "base/u128.h"

static const uint64_t prime[4] = {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d,
                                  0x30644e72e131a029};
static const uint64_t prime_inverse = 0x87d20782e4866389; /* -1/p mod 2^64 */
const struct fp fp_one = {
    {0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d, 0x666ea36f7879462c, 0x0e0a77c19a07df2f}};
/* This is 2^512 mod p. Multiplying by it brings a number into Montgomery's form. */
static const struct fp to_form = {
    {0xf32cfc5b538afa89, 0xb5e71911d44501fb, 0x47ab1eff0a417ff6, 0x06d89f71cab8351f}};

/* Subtracts p from a number that is not below p. The number is below 2 p, which fits 256 bits. */
static struct fp bn128_field_reduce(struct fp a)
{
    struct fp less;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 difference =
            u128_sub(u128_sub(u128_of(a.limb[i]), u128_of(prime[i])), u128_of(borrow));
        less.limb[i] = u128_low(difference);
        borrow = u128_high(difference) & 1;
    }
    return borrow ? a : less;
}

static struct fp bn128_field_add(struct fp a, struct fp b)
{
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        u128 sum = u128_add(u128_add(u128_of(a.limb[i]), u128_of(b.limb[i])), u128_of(carry));
        a.limb[i] = u128_low(sum);
        carry = u128_high(sum);
    }
    return bn128_field_reduce(a);
}

static struct fp bn128_field_negate(struct fp a)
{
    struct fp out;
    uint64_t borrow = 0, any = 0;
    for (int i = 0; i < 4; i++) {
        u128 difference =
            u128_sub(u128_sub(u128_of(prime[i]), u128_of(a.limb[i])), u128_of(borrow));
        out.limb[i] = u128_low(difference);
        borrow = u128_high(difference) & 1;
        any |= a.limb[i];
    }
    return any ? out : a;
}

static struct fp bn128_field_sub(struct fp a, struct fp b)
{
    return bn128_field_add(a, bn128_field_negate(b));
}

/* Computes a * b + c + carry, which always fits 128 bits. Returns the low half; the high half is
 * the next carry. */
static uint64_t multiply_add(uint64_t a, uint64_t b, uint64_t c, uint64_t *carry)
{
    u128 sum = u128_add(u128_add(u128_product(a, b), u128_of(c)), u128_of(*carry));
    *carry = u128_high(sum);
    return u128_low(sum);
}

/* Computes Montgomery's product a * b / 2^256 modulo p, one limb of b after the other. */
static struct fp bn128_field_mul(struct fp a, struct fp b)
{
    uint64_t t[5] = {0};
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0, factor;
        for (int k = 0; k < 4; k++) t[k] = multiply_add(a.limb[k], b.limb[i], t[k], &carry);
        u128 top = u128_add(u128_of(t[4]), u128_of(carry));
        factor = t[0] * prime_inverse;
        carry = 0;
        multiply_add(factor, prime[0], t[0], &carry); /* The low half of this sum becomes zero. */
        for (int k = 1; k < 4; k++) t[k - 1] = multiply_add(factor, prime[k], t[k], &carry);
        top = u128_add(top, u128_of(carry));
        t[3] = u128_low(top);
        t[4] = u128_high(top);
    }
    return bn128_field_reduce((struct fp){{t[0], t[1], t[2], t[3]}});
}

/* Computes the inverse by Fermat's theorem: it is a^(p - 2). */
static struct fp bn128_field_invert(struct fp a)
{
    struct fp out = fp_one;
    for (int i = 255; i >= 0; i--) {
        uint64_t limb = prime[i / 64] - (i < 64 ? 2 : 0);
        out = bn128_field_mul(out, out);
        if (limb >> i % 64 & 1) out = bn128_field_mul(out, a);
    }
    return out;
}

bool fp_read(struct fp *out, const uint8_t bytes[32])
{
    struct fp plain = {{0}};
    for (int i = 0; i < 32; i++) plain.limb[(31 - i) / 8] |= (uint64_t)bytes[i] << (31 - i) % 8 * 8;
    for (int i = 3; i >= 0; i--) {
        if (plain.limb[i] < prime[i]) break;
        if (plain.limb[i] > prime[i] || !i) return false;
    }
    *out = bn128_field_mul(plain, to_form);
    return true;
}

struct fp fp_small(unsigned n) { return bn128_field_mul((struct fp){{n}}, to_form); }

/* The functions below compute in the field extended by i. */

bool fp2_read(struct fp2 *out, const uint8_t bytes[64])
{
    return fp_read(&out->im, bytes) && fp_read(&out->re, bytes + 32);
}

bool fp2_equal(const struct fp2 *a, const struct fp2 *b) { return !memcmp(a, b, sizeof *a); }
bool fp2_is_zero(const struct fp2 *a) { return fp2_equal(a, &(struct fp2){{{0}}, {{0}}}); }

struct fp2 fp2_add(struct fp2 a, struct fp2 b)
{
    return (struct fp2){bn128_field_add(a.re, b.re), bn128_field_add(a.im, b.im)};
}
struct fp2 fp2_sub(struct fp2 a, struct fp2 b)
{
    return (struct fp2){bn128_field_sub(a.re, b.re), bn128_field_sub(a.im, b.im)};
}
struct fp2 fp2_negate(struct fp2 a)
{
    return (struct fp2){bn128_field_negate(a.re), bn128_field_negate(a.im)};
}
struct fp2 fp2_conjugate(struct fp2 a) { return (struct fp2){a.re, bn128_field_negate(a.im)}; }
struct fp2 fp2_scale(struct fp2 a, struct fp b)
{
    return (struct fp2){bn128_field_mul(a.re, b), bn128_field_mul(a.im, b)};
}

/* Multiplies with three products instead of four (Karatsuba). */
struct fp2 fp2_mul(struct fp2 a, struct fp2 b)
{
    struct fp re = bn128_field_mul(a.re, b.re), im = bn128_field_mul(a.im, b.im);
    struct fp both = bn128_field_mul(bn128_field_add(a.re, a.im), bn128_field_add(b.re, b.im));
    return (struct fp2){bn128_field_sub(re, im), bn128_field_sub(both, bn128_field_add(re, im))};
}

struct fp2 fp2_invert(struct fp2 a)
{
    struct fp norm = bn128_field_invert(
        bn128_field_add(bn128_field_mul(a.re, a.re), bn128_field_mul(a.im, a.im)));
    return fp2_scale(fp2_conjugate(a), norm);
}

/* Returns the number 9 + i, to which w^6 is equal. */
static struct fp2 bn128_field_xi(void) { return (struct fp2){fp_small(9), fp_one}; }
static struct fp2 times_xi(struct fp2 a)
{
    struct fp2 twice = fp2_add(a, a), four = fp2_add(twice, twice);
    struct fp2 nine = fp2_add(fp2_add(four, four), a);
    return fp2_add(nine, (struct fp2){bn128_field_negate(a.im), a.re});
}

struct fp2 fp2_twist(void) { return fp2_scale(fp2_invert(bn128_field_xi()), fp_small(3)); }

struct fp2 fp2_frobenius_factor(unsigned n)
{
    static const uint64_t sixth[4] = {0x34b017592414d4e1, 0xee9591c2e6bda1c2, 0xf40d60f3c0403964,
                                      0x0810b7bdd032f006}; /* (p - 1) / 6 */
    struct fp2 base = bn128_field_xi(), power = {fp_one, {{0}}}, out = power;
    for (int i = 255; i >= 0; i--) {
        power = fp2_mul(power, power);
        if (sixth[i / 64] >> i % 64 & 1) power = fp2_mul(power, base);
    }
    while (n--) out = fp2_mul(out, power);
    return out;
}

/* The functions below compute in the field extended by w. */

struct fp12 fp12_one(void)
{
    struct fp12 out = {0};
    out.at[0].re = fp_one;
    return out;
}

bool fp12_is_one(const struct fp12 *a)
{
    struct fp12 one = fp12_one();
    return !memcmp(a, &one, sizeof one);
}

struct fp12 fp12_mul(const struct fp12 *a, const struct fp12 *b)
{
    struct fp2 sum[11] = {0};
    struct fp12 out;
    for (int i = 0; i < 6; i++) {
        /* Half of these coefficients are zero in the lines of a pairing. */
        if (fp2_is_zero(&b->at[i])) continue;
        for (int k = 0; k < 6; k++) sum[i + k] = fp2_add(sum[i + k], fp2_mul(a->at[k], b->at[i]));
    }
    out.at[5] = sum[5];
    for (int i = 0; i < 5; i++) out.at[i] = fp2_add(sum[i], times_xi(sum[i + 6]));
    return out;
}

struct fp12 fp12_conjugate(const struct fp12 *a)
{
    struct fp12 out = *a;
    for (int i = 1; i < 6; i += 2) out.at[i] = fp2_negate(a->at[i]);
    return out;
}

struct fp12 fp12_frobenius(const struct fp12 *a)
{
    struct fp2 step = fp2_frobenius_factor(1), factor = {fp_one, {{0}}};
    struct fp12 out;
    for (int i = 0; i < 6; i++) {
        out.at[i] = fp2_mul(fp2_conjugate(a->at[i]), factor);
        factor = fp2_mul(factor, step);
    }
    return out;
}

/* Computes the inverse of a. The product of a and its conjugate has even powers of w only. It is
 * x + y w^2 + z w^4, and the inverse of that is (x^2 - xi y z, xi z^2 - x y, y^2 - x z) divided
 * by the norm. */
struct fp12 fp12_invert(const struct fp12 *a)
{
    struct fp12 conjugate = fp12_conjugate(a), norm = fp12_mul(a, &conjugate), even = {0};
    struct fp2 x = norm.at[0], y = norm.at[2], z = norm.at[4];
    struct fp2 p = fp2_sub(fp2_mul(x, x), times_xi(fp2_mul(y, z)));
    struct fp2 q = fp2_sub(times_xi(fp2_mul(z, z)), fp2_mul(x, y));
    struct fp2 r = fp2_sub(fp2_mul(y, y), fp2_mul(x, z));
    struct fp2 cross = fp2_add(fp2_mul(z, q), fp2_mul(y, r));
    struct fp2 scale = fp2_invert(fp2_add(fp2_mul(x, p), times_xi(cross)));
    even.at[0] = fp2_mul(p, scale);
    even.at[2] = fp2_mul(q, scale);
    even.at[4] = fp2_mul(r, scale);
    return fp12_mul(&conjugate, &even);
}
