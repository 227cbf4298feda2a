/* The curve alt_bn128, y^2 = x^3 + 3, with libcrypto's arithmetic of curves over prime fields; and
 * whether a point is on its twist, over the field extended by i^2 = -1. */
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <string.h>
#include "crypto/precompiles.h"

static const char prime[] = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
/* 3 / (9 + i): the twist is y^2 = x^3 + this. */
static const char twist_real[] = "2b149d40ceb8aaae81be18991be06ac3b5b4c5e559dbefa33267e6dc24a138e5";
static const char twist_imaginary[] =
    "009713b03af0fed4cd2cafadeed8fdf4a74fa084e52d1852e4a2bd0685c315d2";

struct curve {
    BN_CTX *ctx;
    BIGNUM *p, *x, *y;
    EC_GROUP *group;
    EC_POINT *a, *b;
};

static bool begin(struct curve *c)
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

static void end(struct curve *c)
{
    EC_POINT_free(c->a);
    EC_POINT_free(c->b);
    EC_GROUP_free(c->group);
    if (c->ctx) BN_CTX_end(c->ctx);
    BN_CTX_free(c->ctx);
}

/* False: this is no point of the curve. */
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
    bool ok = begin(&c);
    *valid = ok && read_point(&c, a, c.a) && read_point(&c, b, c.b);
    if (*valid) ok = EC_POINT_add(c.group, c.a, c.a, c.b, c.ctx) && write_point(&c, c.a, out);
    end(&c);
    return ok;
}

bool precompile_bn128_multiply(const uint8_t a[64], const uint8_t scalar[32], uint8_t out[64],
                               bool *valid)
{
    struct curve c;
    BIGNUM *k = BN_bin2bn(scalar, 32, NULL);
    bool ok = begin(&c) && k;
    *valid = ok && read_point(&c, a, c.a);
    if (*valid) ok = EC_POINT_mul(c.group, c.b, NULL, c.a, k, c.ctx) && write_point(&c, c.b, out);
    BN_free(k);
    end(&c);
    return ok;
}

/* ---- the twist ---- */

struct complex { /* real and imaginary part */
    BIGNUM *re, *im;
};

static bool new_complex(struct curve *c, struct complex *out)
{
    out->re = BN_CTX_get(c->ctx);
    out->im = BN_CTX_get(c->ctx);
    return out->im != NULL;
}

/* out may not be a or b. */
static bool multiply(struct curve *c, const struct complex *a, const struct complex *b,
                     struct complex *out)
{
    return BN_mod_mul(out->re, a->re, b->re, c->p, c->ctx) &&
           BN_mod_mul(c->x, a->im, b->im, c->p, c->ctx) &&
           BN_mod_sub(out->re, out->re, c->x, c->p, c->ctx) &&
           BN_mod_mul(out->im, a->re, b->im, c->p, c->ctx) &&
           BN_mod_mul(c->x, a->im, b->re, c->p, c->ctx) &&
           BN_mod_add(out->im, out->im, c->x, c->p, c->ctx);
}

static bool read_complex(struct curve *c, const uint8_t bytes[64], struct complex *out)
{
    return BN_bin2bn(bytes, 32, out->im) && BN_bin2bn(bytes + 32, 32, out->re) &&
           BN_cmp(out->im, c->p) < 0 && BN_cmp(out->re, c->p) < 0;
}

static bool on_twist(struct curve *c, const uint8_t bytes[128])
{
    static const uint8_t infinity[128];
    struct complex x, y, square, cube, b;
    if (!memcmp(bytes, infinity, sizeof infinity)) return true;
    return new_complex(c, &x) && new_complex(c, &y) && new_complex(c, &square) &&
           new_complex(c, &cube) && new_complex(c, &b) && read_complex(c, bytes, &x) &&
           read_complex(c, bytes + 64, &y) && BN_hex2bn(&b.re, twist_real) &&
           BN_hex2bn(&b.im, twist_imaginary) && multiply(c, &x, &x, &square) &&
           multiply(c, &square, &x, &cube) && BN_mod_add(cube.re, cube.re, b.re, c->p, c->ctx) &&
           BN_mod_add(cube.im, cube.im, b.im, c->p, c->ctx) && multiply(c, &y, &y, &square) &&
           !BN_cmp(cube.re, square.re) && !BN_cmp(cube.im, square.im);
}

bool precompile_bn128_points(const uint8_t g1[64], const uint8_t g2[128], bool *valid)
{
    struct curve c;
    bool ok = begin(&c);
    *valid = ok && read_point(&c, g1, c.a) && on_twist(&c, g2);
    end(&c);
    return ok;
}
