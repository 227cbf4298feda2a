/* Runs the contracts that are part of the chain (CONTRACT 4), at addresses 1 to 255. Invalid
 * input fails the call; valid input that is not supported stops the run. */
#include "crypto/precompiles/precompiles.h"
#include <stdlib.h>
#include <string.h>
#include "crypto/hash.h"
#include "pvm/host/keccak.h"
#include "pvm/host/revive/revive.h"

enum { MODEXP_MAX = 1024, PAIRS_MAX = 256, ROUNDS_MAX = 1 << 24 };

bool revive_precompile_is(const uint8_t address[ADDRESS])
{
    for (size_t i = 0; i + 1 < ADDRESS; i++)
        if (address[i]) return false;
    return address[ADDRESS - 1] != 0;
}

/* Copies `size` bytes of the input from the offset on. Bytes after the end of the input are
 * zeros. */
static void contract_take(penta_bytes in, size_t offset, uint8_t *into, size_t size)
{
    memset(into, 0, size);
    if (offset >= in.size) return;
    size_t left = in.size - offset;
    memcpy(into, in.data + offset, left < size ? left : size);
}

static enum precompiled contract_done(struct blob *out, const void *bytes, size_t size)
{
    return revive_blob_set(out, bytes, size) ? PRECOMPILE_DONE : PRECOMPILE_FAILED;
}

/* Recovers the address of the signer. A wrong signature does not fail the call: its output is
 * empty. */
static enum precompiled contract_recover(penta_bytes in, struct blob *out, struct long_work *work)
{
    (void)work;
    uint8_t all[128], key[64], hash[HASH];
    bool valid = true;
    contract_take(in, 0, all, sizeof all);
    for (size_t i = 32; i < 63; i++) valid = valid && !all[i];
    valid = valid && (all[63] == 27 || all[63] == 28);
    if (valid && !precompile_recover(all, all[63] == 28, all + 64, all + 96, key, &valid))
        return PRECOMPILE_UNSUPPORTED;
    if (!valid) return contract_done(out, NULL, 0);
    keccak256_digest((penta_bytes){key, sizeof key}, hash);
    memset(hash, 0, HASH - ADDRESS);
    return contract_done(out, hash, HASH);
}

static enum precompiled contract_sha256(penta_bytes in, struct blob *out, struct long_work *work)
{
    uint8_t hash[HASH];
    hash_sha256_work(in, hash, work);
    return contract_done(out, hash, HASH);
}

static enum precompiled contract_ripemd160(penta_bytes in, struct blob *out, struct long_work *work)
{
    uint8_t hash[HASH] = {0};
    if (!precompile_ripemd160(in, hash + HASH - ADDRESS, work)) return PRECOMPILE_UNSUPPORTED;
    return contract_done(out, hash, HASH);
}

static enum precompiled contract_identity(penta_bytes in, struct blob *out, struct long_work *work)
{
    (void)work;
    return contract_done(out, in.data, in.size);
}

/* Returns the length that the input has at this offset, or a number above MODEXP_MAX when the
 * length has more than 16 bits. */
static size_t modexp_length_at(penta_bytes in, size_t offset)
{
    uint8_t word[WORD];
    contract_take(in, offset, word, WORD);
    for (size_t i = 0; i < WORD - 2; i++)
        if (word[i]) return MODEXP_MAX + 1;
    return (size_t)(word[WORD - 2] << 8 | word[WORD - 1]);
}

static enum precompiled contract_modexp(penta_bytes in, struct blob *out, struct long_work *work)
{
    uint8_t base[MODEXP_MAX], exponent[MODEXP_MAX], modulus[MODEXP_MAX], power[MODEXP_MAX];
    size_t b = modexp_length_at(in, 0), e = modexp_length_at(in, WORD),
           m = modexp_length_at(in, 2 * WORD);
    bool valid;
    if (b > MODEXP_MAX || m > MODEXP_MAX) return PRECOMPILE_FAILED;
    if (!b && !m) return contract_done(out, NULL, 0);
    if (e > MODEXP_MAX) return PRECOMPILE_FAILED;
    contract_take(in, 3 * WORD, base, b);
    contract_take(in, 3 * WORD + b, exponent, e);
    contract_take(in, 3 * WORD + b + e, modulus, m);
    if (!m) return contract_done(out, NULL, 0);
    if (!precompile_modexp((penta_bytes){base, b}, (penta_bytes){exponent, e},
                           (penta_bytes){modulus, m}, power, &valid, work))
        return PRECOMPILE_UNSUPPORTED;
    return contract_done(out, power, m);
}

typedef bool bn128_function(const uint8_t *a, const uint8_t *b, uint8_t *out, bool *valid);

/* Reads a point, then another point or a number, and does the operation with them. */
static enum precompiled bn128_operation(penta_bytes in, struct blob *out, bn128_function *operation)
{
    uint8_t all[128], point[64];
    bool valid;
    contract_take(in, 0, all, sizeof all);
    if (!operation(all, all + 64, point, &valid)) return PRECOMPILE_UNSUPPORTED;
    return valid ? contract_done(out, point, sizeof point) : PRECOMPILE_FAILED;
}

static enum precompiled bn128_add(penta_bytes in, struct blob *out, struct long_work *work)
{
    (void)work;
    return bn128_operation(in, out, precompile_bn128_add);
}

static enum precompiled bn128_multiply(penta_bytes in, struct blob *out, struct long_work *work)
{
    (void)work;
    return bn128_operation(in, out, precompile_bn128_multiply);
}

static enum precompiled bn128_pairing(penta_bytes in, struct blob *out, struct long_work *work)
{
    uint8_t result[WORD] = {0};
    bool one = false;
    if (in.size % BN128_PAIR_BYTES) return PRECOMPILE_FAILED;
    size_t count = in.size / BN128_PAIR_BYTES;
    if (count > PAIRS_MAX) return PRECOMPILE_UNSUPPORTED;
    if (!precompile_bn128_pairing(in.data, count, &one, work)) return PRECOMPILE_FAILED;
    result[WORD - 1] = one;
    return contract_done(out, result, WORD);
}

static enum precompiled contract_blake2f(penta_bytes in, struct blob *out, struct long_work *work)
{
    enum { H = 4, M = H + 64, T = M + 128, LAST = T + 16, SIZE = LAST + 1 };
    uint8_t h[64];
    if (in.size != SIZE || in.data[LAST] > 1) return PRECOMPILE_FAILED;
    uint32_t rounds = (uint32_t)in.data[0] << 24 | (uint32_t)in.data[1] << 16 |
                      (uint32_t)in.data[2] << 8 | in.data[3];
    if (rounds > ROUNDS_MAX) return PRECOMPILE_UNSUPPORTED;
    memcpy(h, in.data + H, sizeof h);
    precompile_blake2f(rounds, h, in.data + M, in.data + T, in.data[LAST], work);
    return contract_done(out, h, sizeof h);
}

static const struct {
    /* `unsupported` is the name of the contract, for the message that it is not supported. */
    const char *unsupported;
    enum precompiled (*run)(penta_bytes in, struct blob *out, struct long_work *work);
} precompiles[] = {
    {NULL, NULL},
    {"precompile ecrecover", contract_recover},
    {"precompile sha256", contract_sha256},
    {"precompile ripemd160", contract_ripemd160},
    {"precompile identity", contract_identity},
    {"precompile modexp", contract_modexp},
    {"precompile bn128 add", bn128_add},
    {"precompile bn128 multiply", bn128_multiply},
    {"precompile bn128 pairing of more than 256 pairs", bn128_pairing},
    {"precompile blake2f of more than 2^24 rounds", contract_blake2f},
};

enum precompiled revive_precompile_run(const uint8_t address[ADDRESS], penta_bytes in,
                                       struct blob *out, struct long_work *work, const char **name)
{
    uint8_t number = address[ADDRESS - 1];
    if (number >= sizeof precompiles / sizeof *precompiles) return PRECOMPILE_FAILED;
    *name = precompiles[number].unsupported;
    enum precompiled how = precompiles[number].run(in, out, work);
    return work->ended ? PRECOMPILE_ENDED : how;
}
