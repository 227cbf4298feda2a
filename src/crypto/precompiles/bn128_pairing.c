/* Checks pairings (EIP-197) by the optimal ate pairing of alt_bn128. Points of the curve have
 * coordinates modulo p; points of its twist have them in the field with i. (x, y) of the twist
 * stands for (x w^2, y w^3) of the curve. */
#include "crypto/precompiles/bn128_field.h"
#include "crypto/precompiles/precompiles.h"
#include <string.h>

struct point { /* a point of the curve */
    struct fp x, y;
    bool infinite;
};
struct twist_point {
    struct fp2 x, y;
    bool infinite;
};

static struct fp2 bn128_pairing_real(struct fp a) { return (struct fp2){a, {{0}}}; }

static bool bytes_all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return false;
    return true;
}

/* Adds a and b, neither of which is infinite: the sum is the next point on the line through them
 * (a tangent when they are equal), mirrored. Writes the slope of the line to *slope. Returns
 * false when the line is vertical, because the sum is infinite then. */
static bool line_sum(const struct twist_point *a, const struct twist_point *b,
                     struct twist_point *out, struct fp2 *slope)
{
    struct fp2 rise = fp2_sub(b->y, a->y), run = fp2_sub(b->x, a->x);
    if (fp2_is_zero(&run)) {
        if (!fp2_is_zero(&rise) || fp2_is_zero(&a->y)) return false;
        rise = fp2_scale(fp2_mul(a->x, a->x), fp_small(3));
        run = fp2_add(a->y, a->y);
    }
    *slope = fp2_mul(rise, fp2_invert(run));
    struct fp2 x = fp2_sub(fp2_sub(fp2_mul(*slope, *slope), a->x), b->x);
    struct fp2 y = fp2_sub(fp2_mul(*slope, fp2_sub(a->x, x)), a->y);
    *out = (struct twist_point){x, y, false};
    return true;
}

static struct twist_point twist_sum(struct twist_point a, struct twist_point b)
{
    struct twist_point out = {.infinite = true};
    struct fp2 slope;
    if (a.infinite) return b;
    if (b.infinite) return a;
    if (!line_sum(&a, &b, &out, &slope)) out.infinite = true;
    return out;
}

/* Tells whether a point of the twist has the order of the curve. The twist has other points,
 * which are refused. */
static bool twist_has_order(const struct twist_point *q, struct long_work *work)
{
    enum { UNITS = 200 };
    static const uint64_t order[4] = {0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d,
                                      0x30644e72e131a029};
    struct twist_point sum = {.infinite = true};
    for (int i = 255; i >= 0 && !long_work_over(work, UNITS); i--) {
        sum = twist_sum(sum, sum);
        if (order[i / 64] >> i % 64 & 1) sum = twist_sum(sum, *q);
    }
    return sum.infinite;
}

static bool pairing_read_point(const uint8_t bytes[64], struct point *out)
{
    out->infinite = bytes_all_zero(bytes, 64);
    if (out->infinite) return true;
    if (!fp_read(&out->x, bytes) || !fp_read(&out->y, bytes + 32)) return false;
    struct fp2 x = bn128_pairing_real(out->x), y = bn128_pairing_real(out->y),
               square = fp2_mul(y, y);
    struct fp2 cube = fp2_add(fp2_mul(fp2_mul(x, x), x), bn128_pairing_real(fp_small(3)));
    return fp2_equal(&square, &cube);
}

static bool read_twist_point(const uint8_t bytes[128], struct twist_point *out,
                             struct long_work *work)
{
    out->infinite = bytes_all_zero(bytes, 128);
    if (out->infinite) return true;
    if (!fp2_read(&out->x, bytes) || !fp2_read(&out->y, bytes + 64)) return false;
    struct fp2 square = fp2_mul(out->y, out->y);
    struct fp2 cube = fp2_add(fp2_mul(fp2_mul(out->x, out->x), out->x), fp2_twist());
    return fp2_equal(&square, &cube) && twist_has_order(out, work);
}

/* Multiplies f by the value, at the point p of the curve, of the line through t and q, and sets
 * t to the sum of t and q. Vertical lines are left out, because the last power makes their
 * values one. */
static void bn128_pairing_step(struct fp12 *f, struct twist_point *t, const struct twist_point *q,
                               const struct point *p)
{
    struct twist_point sum;
    struct fp12 line = {0};
    struct fp2 slope;
    if (!line_sum(t, q, &sum, &slope)) return;
    line.at[0] = bn128_pairing_real(p->y);
    line.at[1] = fp2_negate(fp2_scale(slope, p->x));
    line.at[3] = fp2_sub(fp2_mul(slope, t->x), t->y);
    *f = fp12_mul(f, &line);
    *t = sum;
}

/* Raises the coordinates of a point of the twist to the power of p; the result is again such a
 * point. */
static struct twist_point bn128_pairing_frobenius(const struct twist_point *q)
{
    return (struct twist_point){fp2_mul(fp2_conjugate(q->x), fp2_frobenius_factor(2)),
                                fp2_mul(fp2_conjugate(q->y), fp2_frobenius_factor(3)), false};
}

/* Runs Miller's loop over the 65 bits of 6 u + 2, where u is the parameter of the curve. */
static struct fp12 bn128_pairing_miller(const struct point *p, const struct twist_point *q,
                                        struct long_work *work)
{
    enum { UNITS = 600 };
    static const uint64_t low_bits = 0x9d797039be763ba8;
    struct fp12 f = fp12_one();
    struct twist_point t = *q;
    for (int i = 63; i >= 0 && !long_work_over(work, UNITS); i--) {
        f = fp12_mul(&f, &f);
        bn128_pairing_step(&f, &t, &t, p);
        if (low_bits >> i & 1) bn128_pairing_step(&f, &t, q, p);
    }
    struct twist_point first = bn128_pairing_frobenius(q), second = bn128_pairing_frobenius(&first);
    second.y = fp2_negate(second.y);
    bn128_pairing_step(&f, &t, &first, p);
    bn128_pairing_step(&f, &t, &second, p);
    return f;
}

/* Raises f to the power of (p^12 - 1) / r, in three factors: p^6 - 1, p^2 + 1 and (p^4 - p^2 +
 * 1) / r. */
static struct fp12 last_power(const struct fp12 *f, struct long_work *work)
{
    enum { UNITS = 150 };
    static const uint64_t hard[12] = {0x01baaa710b0759ad, 0x331ec15183177faf, 0x6c0eb522d5b12278,
                                      0x4e529a5861876f6b, 0x3b1b1355d189227d, 0x79581e16f3fd90c6,
                                      0x6b887d56d5095f23, 0xaaa441e3954bcf8a, 0xdcc7b44c87cdbacf,
                                      0xf1154e7e1da014fd, 0x5abf5cc4f49c36d4, 0xe81bb482ccdf42b1};
    struct fp12 conjugate = fp12_conjugate(f), inverse = fp12_invert(f), out = fp12_one();
    struct fp12 base = fp12_mul(&conjugate, &inverse), power = fp12_frobenius(&base);
    power = fp12_frobenius(&power);
    base = fp12_mul(&power, &base);
    for (int i = 0; i < 12 * 64 && !long_work_over(work, UNITS); i++) {
        out = fp12_mul(&out, &out);
        if (hard[i / 64] >> (63 - i % 64) & 1) out = fp12_mul(&out, &base);
    }
    return out;
}

bool precompile_bn128_pairing(const uint8_t *pairs, size_t count, bool *one, struct long_work *work)
{
    struct fp12 product = fp12_one();
    for (size_t i = 0; i < count; i++, pairs += BN128_PAIR_BYTES) {
        struct point p;
        struct twist_point q;
        if (!pairing_read_point(pairs, &p) || !read_twist_point(pairs + 64, &q, work)) return false;
        if (p.infinite || q.infinite) continue;
        struct fp12 f = bn128_pairing_miller(&p, &q, work);
        product = fp12_mul(&product, &f);
    }
    product = last_power(&product, work);
    *one = fp12_is_one(&product);
    return true;
}
