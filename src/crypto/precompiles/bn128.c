/* Adds and multiplies points of the curve alt_bn128, y^2 = x^3 + 3, by libcrypto's curves over
 * prime fields. */
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <string.h>
#include "crypto/precompiles/precompiles.h"

static const char prime[] = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";

struct curve {
    BN_CTX *ctx;
    BIGNUM *p, *x, *y;
    EC_GROUP *group;
    EC_POINT *a, *b;
};

static bool bn128_begin(struct curve *c)
{
    *c = (struct curve){.ctx = BN_CTX_new()};
    if (!c->ctx) return false;
    BN_CTX_start(c->ctx);
    BIGNUM *zero = BN_CTX_get(c->ctx), *three = BN_CTX_get(c->ctx);
    c->p = BN_CTX_get(c->ctx);
    c->x = BN_CTX_get(c->ctx);
    c->y = BN_CTX_get(c->ctx);
    if (!c->y || !BN_hex2bn(&c->p, prime) || !BN_set_word(three, 3)) return false;
    c->group = EC_GROUP_new_curve_GFp(c->p, zero, three, c->ctx);
    c->a = c->group ? EC_POINT_new(c->group) : NULL;
    c->b = c->group ? EC_POINT_new(c->group) : NULL;
    return c->a && c->b;
}

static void bn128_end(struct curve *c)
{
    EC_POINT_free(c->a);
    EC_POINT_free(c->b);
    EC_GROUP_free(c->group);
    if (c->ctx) BN_CTX_end(c->ctx);
    BN_CTX_free(c->ctx);
}

/* Reads a point. Returns false when the coordinates are no point of the curve. */
static bool read_point(struct curve *c, const uint8_t bytes[64], EC_POINT *out)
{
    if (!BN_bin2bn(bytes, 32, c->x) || !BN_bin2bn(bytes + 32, 32, c->y)) return false;
    if (BN_is_zero(c->x) && BN_is_zero(c->y)) return EC_POINT_set_to_infinity(c->group, out);
    return BN_cmp(c->x, c->p) < 0 && BN_cmp(c->y, c->p) < 0 &&
           EC_POINT_set_affine_coordinates(c->group, out, c->x, c->y, c->ctx);
}

static bool write_point(struct curve *c, const EC_POINT *point, uint8_t out[64])
{
    memset(out, 0, 64);
    if (EC_POINT_is_at_infinity(c->group, point)) return true;
    return EC_POINT_get_affine_coordinates(c->group, point, c->x, c->y, c->ctx) &&
           BN_bn2binpad(c->x, out, 32) == 32 && BN_bn2binpad(c->y, out + 32, 32) == 32;
}

bool precompile_bn128_add(const uint8_t a[64], const uint8_t b[64], uint8_t out[64], bool *valid)
{
    struct curve c;
    bool ok = bn128_begin(&c);
    *valid = ok && read_point(&c, a, c.a) && read_point(&c, b, c.b);
    if (*valid) ok = EC_POINT_add(c.group, c.a, c.a, c.b, c.ctx) && write_point(&c, c.a, out);
    bn128_end(&c);
    return ok;
}

bool precompile_bn128_multiply(const uint8_t a[64], const uint8_t scalar[32], uint8_t out[64],
                               bool *valid)
{
    struct curve c;
    BIGNUM *k = BN_bin2bn(scalar, 32, NULL);
    bool ok = bn128_begin(&c) && k;
    *valid = ok && read_point(&c, a, c.a);
    if (*valid) ok = EC_POINT_mul(c.group, c.b, NULL, c.a, k, c.ctx) && write_point(&c, c.b, out);
    BN_free(k);
    bn128_end(&c);
    return ok;
}
