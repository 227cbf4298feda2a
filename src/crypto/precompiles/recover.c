/* Computes public keys from signatures with libcrypto's curve secp256k1. */
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>
#include "crypto/precompiles/precompiles.h"

struct numbers {
    EC_GROUP *group;
    BN_CTX *ctx;
    EC_POINT *point, *key;
    const BIGNUM *order;
    BIGNUM *r, *s, *z, *x, *y;
};

static bool recover_begin(struct numbers *n)
{
    n->group = EC_GROUP_new_by_curve_name(NID_secp256k1);
    n->ctx = BN_CTX_new();
    if (!n->group || !n->ctx) return false;
    BN_CTX_start(n->ctx);
    n->order = EC_GROUP_get0_order(n->group);
    n->point = EC_POINT_new(n->group);
    n->key = EC_POINT_new(n->group);
    n->r = BN_CTX_get(n->ctx);
    n->s = BN_CTX_get(n->ctx);
    n->z = BN_CTX_get(n->ctx);
    n->x = BN_CTX_get(n->ctx);
    n->y = BN_CTX_get(n->ctx);
    return n->point && n->key && n->y;
}

static void recover_end(struct numbers *n)
{
    EC_POINT_free(n->point);
    EC_POINT_free(n->key);
    if (n->ctx) BN_CTX_end(n->ctx);
    BN_CTX_free(n->ctx);
    EC_GROUP_free(n->group);
}

static bool below_order(const struct numbers *n, const BIGNUM *a)
{
    return !BN_is_zero(a) && BN_cmp(a, n->order) < 0;
}

/* Computes key = (s * point - z * generator) / r. Returns false when there is no such key. */
static bool recover_solve(struct numbers *n, bool odd)
{
    return below_order(n, n->r) && below_order(n, n->s) &&
           EC_POINT_set_compressed_coordinates(n->group, n->point, n->r, odd, n->ctx) &&
           BN_mod_inverse(n->x, n->r, n->order, n->ctx) &&
           BN_mod_mul(n->s, n->s, n->x, n->order, n->ctx) &&
           BN_mod_mul(n->z, n->z, n->x, n->order, n->ctx) &&
           BN_mod_sub(n->z, n->order, n->z, n->order, n->ctx) &&
           EC_POINT_mul(n->group, n->key, n->z, n->point, n->s, n->ctx) &&
           !EC_POINT_is_at_infinity(n->group, n->key) &&
           EC_POINT_get_affine_coordinates(n->group, n->key, n->x, n->y, n->ctx);
}

bool precompile_recover(const uint8_t hash[32], bool odd, const uint8_t r[32], const uint8_t s[32],
                        uint8_t key[64], bool *valid)
{
    struct numbers n = {0};
    bool ok = recover_begin(&n) && BN_bin2bn(hash, 32, n.z) && BN_bin2bn(r, 32, n.r) &&
              BN_bin2bn(s, 32, n.s);
    *valid = ok && recover_solve(&n, odd);
    if (*valid) ok = BN_bn2binpad(n.x, key, 32) == 32 && BN_bn2binpad(n.y, key + 32, 32) == 32;
    recover_end(&n);
    return ok;
}
