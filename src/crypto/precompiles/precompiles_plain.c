/* Replaces bn128.c, modexp.c, recover.c and ripemd160.c in builds without libcrypto: their
 * functions return false. */
#include "crypto/precompiles/precompiles.h"

bool precompile_ripemd160(penta_bytes in, uint8_t out[20], struct long_work *work)
{
    (void)in, (void)out, (void)work;
    return false;
}
bool precompile_recover(const uint8_t hash[32], bool odd, const uint8_t r[32], const uint8_t s[32],
                        uint8_t key[64], bool *valid)
{
    (void)hash, (void)odd, (void)r, (void)s, (void)key, (void)valid;
    return false;
}
bool precompile_modexp(penta_bytes base, penta_bytes exponent, penta_bytes modulus, uint8_t *out,
                       bool *valid, struct long_work *work)
{
    (void)base, (void)exponent, (void)modulus, (void)out, (void)valid, (void)work;
    return false;
}
bool precompile_bn128_add(const uint8_t a[64], const uint8_t b[64], uint8_t out[64], bool *valid)
{
    (void)a, (void)b, (void)out, (void)valid;
    return false;
}
bool precompile_bn128_multiply(const uint8_t a[64], const uint8_t scalar[32], uint8_t out[64],
                               bool *valid)
{
    (void)a, (void)scalar, (void)out, (void)valid;
    return false;
}
bool precompile_bn128_points(const uint8_t g1[64], const uint8_t g2[128], bool *valid)
{
    (void)g1, (void)g2, (void)valid;
    return false;
}
