/* Computes powers modulo a number by libcrypto, in pieces, so that long computations can be
 * ended early. */
#include <limits.h>
#include <openssl/bn.h>
#include <string.h>
#include "crypto/precompiles/precompiles.h"

static BIGNUM *modexp_number(penta_bytes bytes)
{
    return bytes.size <= INT_MAX ? BN_bin2bn(bytes.data, (int)bytes.size, NULL) : NULL;
}

/* Returns the units of work of one multiplication with reduction. An even modulus has no
 * Montgomery form and takes longer. */
static uint64_t modexp_units(penta_bytes modulus)
{
    uint64_t words = modulus.size / 8 + 1;
    bool odd = modulus.data[modulus.size - 1] & 1;
    return words * words * (odd ? 3 : 12) / 100 + 1;
}

/* Raises to an exponent in pieces of n bytes, the highest piece first: power = power^(256^n) *
 * base^piece. */
static bool power_in_pieces(BIGNUM *power, const BIGNUM *b, penta_bytes exponent, const BIGNUM *m,
                            uint64_t units, BN_CTX *ctx, struct long_work *work)
{
    enum { PIECE_UNITS = 1 << 14 };
    size_t piece = PIECE_UNITS / (16 * units) + 1;
    BIGNUM *shift = BN_new(), *part = BN_new(), *digits = BN_new();
    bool ok = shift && part && digits && BN_one(power);
    for (size_t at = 0, n; ok && at < exponent.size; at += n) {
        n = exponent.size - at < piece ? exponent.size - at : piece;
        if (long_work_over(work, 16 * n * units)) break;
        BN_zero(shift);
        ok = BN_set_bit(shift, (int)(8 * n)) && BN_mod_exp(power, power, shift, m, ctx) &&
             BN_bin2bn(exponent.data + at, (int)n, digits) && BN_mod_exp(part, b, digits, m, ctx) &&
             BN_mod_mul(power, power, part, m, ctx);
    }
    BN_free(shift);
    BN_free(part);
    BN_free(digits);
    return ok;
}

bool precompile_modexp(penta_bytes base, penta_bytes exponent, penta_bytes modulus, uint8_t *out,
                       bool *valid, struct long_work *work)
{
    enum { SHORT = 1 << 14 }; /* A power of at most SHORT units of work is computed in one piece. */
    BIGNUM *b = modexp_number(base), *e = modexp_number(exponent), *m = modexp_number(modulus),
           *power = BN_new();
    BN_CTX *ctx = BN_CTX_new();
    bool ok = b && e && m && power && ctx;
    *valid = ok;
    memset(out, 0, modulus.size);
    if (ok && !BN_is_zero(m) && !BN_is_one(m)) {
        uint64_t units = modexp_units(modulus), all = 8 * exponent.size * units;
        ok = !work || all <= SHORT ? BN_mod_exp(power, b, e, m, ctx)
                                   : power_in_pieces(power, b, exponent, m, units, ctx, work);
        ok = ok && BN_bn2binpad(power, out, (int)modulus.size) == (int)modulus.size;
    }
    BN_free(b);
    BN_free(e);
    BN_free(m);
    BN_free(power);
    BN_CTX_free(ctx);
    return ok;
}
