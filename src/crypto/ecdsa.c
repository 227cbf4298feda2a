/* Signs by ECDSA on P-256 with the nonce k of RFC 6979, which libcrypto 3.0 cannot derive by
 * itself. k is computed here with HMAC-SHA256, and k^-1 and r are passed to ECDSA_do_sign_ex.
 * That function is marked as deprecated, but no newer one takes a nonce. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <string.h>
#include "crypto/hash.h"
#include "crypto/internal.h"
#include "crypto/sign.h"

enum { N = 32 }; /* how many bytes the group order, the digest and the HMAC have */

struct drbg {
    uint8_t k[N], v[N];
};

/* Sets K = HMAC(K, V | tag | seed), then V = HMAC(K, V). */
static bool drbg_update(struct drbg *d, uint8_t tag, const uint8_t *seed, size_t size)
{
    uint8_t text[N + 1 + 2 * N];
    memcpy(text, d->v, N);
    text[N] = tag;
    if (size) memcpy(text + N + 1, seed, size);
    bool ok = hash_hmac_sha256((penta_bytes){d->k, N}, (penta_bytes){text, N + 1 + size}, d->k) &&
              hash_hmac_sha256((penta_bytes){d->k, N}, (penta_bytes){d->v, N}, d->v);
    secret_wipe(text, sizeof text);
    return ok;
}

/* Does steps b to g of RFC 6979, section 3.2, with the private key and the digest, both of 32
 * bytes and below the group order. */
static bool drbg_seed(struct drbg *d, const uint8_t key[N], const uint8_t digest[N])
{
    uint8_t seed[2 * N];
    memcpy(seed, key, N);
    memcpy(seed + N, digest, N);
    memset(d->k, 0, N);
    memset(d->v, 1, N);
    bool ok = drbg_update(d, 0, seed, sizeof seed) && drbg_update(d, 1, seed, sizeof seed);
    secret_wipe(seed, sizeof seed);
    return ok;
}

static bool number_in_range(const BIGNUM *x, const BIGNUM *order)
{
    return !BN_is_zero(x) && !BN_is_negative(x) && BN_cmp(x, order) < 0;
}

/* Computes r = x(kG) mod n and k^-1 for the first good k. The inverse is k^(n-2), which takes
 * constant time. */
static bool ecdsa_nonce(const EC_GROUP *group, const BIGNUM *key, const uint8_t digest[N],
                        BIGNUM *inverse, BIGNUM *r, BN_CTX *ctx)
{
    const BIGNUM *order = EC_GROUP_get0_order(group);
    struct drbg d;
    uint8_t secret[N], reduced[N];
    BIGNUM *k = BN_CTX_get(ctx), *x = BN_CTX_get(ctx), *h = BN_CTX_get(ctx);
    EC_POINT *point = EC_POINT_new(group);
    bool ok = h && point && BN_bin2bn(digest, N, h) && BN_nnmod(h, h, order, ctx) &&
              BN_bn2binpad(h, reduced, N) == N && BN_bn2binpad(key, secret, N) == N,
         found = false;
    ok = ok && drbg_seed(&d, secret, reduced);
    while (ok && !found) {
        ok = hash_hmac_sha256((penta_bytes){d.k, N}, (penta_bytes){d.v, N}, d.v) &&
             BN_bin2bn(d.v, N, k) != NULL;
        BN_set_flags(k, BN_FLG_CONSTTIME);
        found = ok && number_in_range(k, order) && EC_POINT_mul(group, point, k, NULL, NULL, ctx) &&
                EC_POINT_get_affine_coordinates(group, point, x, NULL, ctx) &&
                BN_nnmod(r, x, order, ctx) && !BN_is_zero(r);
        if (ok && !found) ok = drbg_update(&d, 0, NULL, 0);
    }
    ok = ok && BN_copy(x, order) && BN_sub_word(x, 2) &&
         BN_mod_exp_mont_consttime(inverse, k, x, order, ctx, NULL);
    BN_clear(k);
    secret_wipe(&d, sizeof d);
    secret_wipe(secret, sizeof secret);
    EC_POINT_free(point);
    return ok;
}

bool ecdsa_sign(EVP_PKEY *pkey, const uint8_t digest[N], uint8_t signature[64])
{
    EC_KEY *key = EVP_PKEY_get1_EC_KEY(pkey);
    BN_CTX *ctx = BN_CTX_secure_new();
    ECDSA_SIG *made = NULL;
    if (key && ctx) {
        BN_CTX_start(ctx);
        BIGNUM *inverse = BN_CTX_get(ctx), *r = BN_CTX_get(ctx);
        if (r && ecdsa_nonce(EC_KEY_get0_group(key), EC_KEY_get0_private_key(key), digest, inverse,
                             r, ctx))
            made = ECDSA_do_sign_ex(digest, N, inverse, r, key);
        if (inverse) BN_clear(inverse);
        BN_CTX_end(ctx);
    }
    bool ok = made && BN_bn2binpad(ECDSA_SIG_get0_r(made), signature, N) == N &&
              BN_bn2binpad(ECDSA_SIG_get0_s(made), signature + N, N) == N;
    if (ok) sign_make_low(signature);
    ECDSA_SIG_free(made);
    BN_CTX_free(ctx);
    EC_KEY_free(key);
    ERR_clear_error();
    return ok;
}

enum verdict ecdsa_check(EVP_PKEY *pkey, const uint8_t digest[N], const uint8_t signature[64])
{
    EC_KEY *key = EVP_PKEY_get1_EC_KEY(pkey);
    BIGNUM *r = BN_bin2bn(signature, N, NULL), *s = BN_bin2bn(signature + N, N, NULL);
    ECDSA_SIG *sig = ECDSA_SIG_new();
    enum verdict verdict = VERDICT_FAILED;
    if (key && r && s && sig) {
        const BIGNUM *order = EC_GROUP_get0_order(EC_KEY_get0_group(key));
        if (!number_in_range(r, order) || !number_in_range(s, order)) {
            verdict = VERDICT_WRONG;
        } else if (ECDSA_SIG_set0(sig, r, s)) {
            r = s = NULL; /* The signature owns r and s now. */
            int result = ECDSA_do_verify(digest, N, sig, key);
            verdict = result == 1 ? VERDICT_GOOD : result == 0 ? VERDICT_WRONG : VERDICT_FAILED;
        }
    }
    ECDSA_SIG_free(sig);
    BN_free(r);
    BN_free(s);
    EC_KEY_free(key);
    ERR_clear_error();
    return verdict;
}
