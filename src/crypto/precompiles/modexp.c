#include <limits.h>
#include <openssl/bn.h>
#include <string.h>
#include "crypto/precompiles/precompiles.h"

static BIGNUM *number(penta_bytes bytes)
{
    return bytes.size <= INT_MAX ? BN_bin2bn(bytes.data, (int)bytes.size, NULL) : NULL;
}

bool precompile_modexp(penta_bytes base, penta_bytes exponent, penta_bytes modulus, uint8_t *out,
                       bool *valid)
{
    BIGNUM *b = number(base), *e = number(exponent), *m = number(modulus), *power = BN_new();
    BN_CTX *ctx = BN_CTX_new();
    bool ok = b && e && m && power && ctx;
    *valid = ok;
    memset(out, 0, modulus.size);
    if (ok && !BN_is_zero(m) && !BN_is_one(m))
        ok = BN_mod_exp(power, b, e, m, ctx) &&
             BN_bn2binpad(power, out, (int)modulus.size) == (int)modulus.size;
    BN_free(b);
    BN_free(e);
    BN_free(m);
    BN_free(power);
    BN_CTX_free(ctx);
    return ok;
}
