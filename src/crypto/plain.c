/* Replaces this folder in builds without libcrypto, such as cross builds. It has SHA-256, so
 * that containers can be checked, and refuses everything that needs a key. */
#include <string.h>
#include "base/bytes.h"
#include "base/platform/missing.h"
#include "crypto/aead.h"
#include "crypto/hash.h"
#include "crypto/sign.h"

struct sha256 {
    uint32_t h[8];
    uint8_t block[64];
    uint64_t size;
};

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t crypto_rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void sha256_block(struct sha256 *s)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)bytes_uint(s->block + 4 * i, 4, true);
    for (int i = 16; i < 64; i++) {
        uint32_t a = crypto_rotate(w[i - 15], 7) ^ crypto_rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = crypto_rotate(w[i - 2], 17) ^ crypto_rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = crypto_rotate(v[4], 6) ^ crypto_rotate(v[4], 11) ^ crypto_rotate(v[4], 25);
        uint32_t t = v[7] + a + ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[i] + w[i];
        uint32_t b = crypto_rotate(v[0], 2) ^ crypto_rotate(v[0], 13) ^ crypto_rotate(v[0], 22);
        uint32_t u = b + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++) s->h[i] += v[i];
}

static void sha256_update(struct sha256 *s, penta_bytes in)
{
    for (size_t i = 0; i < in.size; i++) {
        s->block[s->size++ % 64] = in.data[i];
        if (s->size % 64 == 0) sha256_block(s);
    }
}

static void sha256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES],
                          struct long_work *work)
{
    enum { PIECE = 1 << 17, PIECE_UNITS = PIECE / 16 };
    struct sha256 s = {.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                             0x1f83d9ab, 0x5be0cd19}};
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0, n; at < pieces[i].size && !long_work_over(work, PIECE_UNITS); at += n) {
            n = pieces[i].size - at < PIECE ? pieces[i].size - at : PIECE;
            sha256_update(&s, bytes_slice(pieces[i], at, n));
        }
    uint64_t bits = s.size * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_update(&s, (penta_bytes){(const uint8_t *)"\x80", 1});
    while (s.size % 64 != 56) sha256_update(&s, (penta_bytes){(const uint8_t *)"", 1});
    sha256_update(&s, (penta_bytes){length, 8});
    for (int i = 0; i < 32; i++) out[i] = (uint8_t)(s.h[i / 4] >> (24 - 8 * (i % 4)));
}

void hash_sha256_pieces(const penta_bytes *pieces, size_t count, uint8_t out[HASH_BYTES])
{
    sha256_pieces(pieces, count, out, NULL);
}

void hash_sha256(penta_bytes bytes, uint8_t out[HASH_BYTES]) { hash_sha256_pieces(&bytes, 1, out); }

void hash_sha256_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work *work)
{
    sha256_pieces(&bytes, 1, out, work);
}

/* The functions below need libcrypto and refuse. */

static bool crypto_refuse(void) { return missing_refuse("crypto"); }

bool hash_hmac_sha256(penta_bytes key, penta_bytes bytes, uint8_t out[HASH_BYTES])
{
    (void)key, (void)bytes, (void)out;
    return crypto_refuse();
}
bool hash_hkdf_sha256(penta_bytes key, penta_bytes salt, penta_bytes info, uint8_t out[32])
{
    (void)key, (void)salt, (void)info, (void)out;
    return crypto_refuse();
}
bool hash_pbkdf2_sha256(penta_bytes password, penta_bytes salt, uint32_t iterations,
                        uint8_t out[32])
{
    (void)password, (void)salt, (void)iterations, (void)out;
    return crypto_refuse();
}
void secret_wipe(void *bytes, size_t size)
{
    volatile uint8_t *p = bytes;
    while (size--) *p++ = 0;
}
bool secret_equal(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a, *y = b;
    uint8_t different = 0;
    for (size_t i = 0; i < size; i++) different |= x[i] ^ y[i];
    return !different;
}
bool random_bytes(void *out, size_t size)
{
    (void)out, (void)size;
    return false;
}
bool aead_seal(enum aead algorithm, const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
               penta_bytes associated, penta_bytes in, uint8_t *out, penta_error *err)
{
    (void)algorithm, (void)key, (void)nonce, (void)associated, (void)in, (void)out;
    crypto_refuse();
    return error_at(err, BASE_UNSUPPORTED, 0, "this build has no ciphers");
}
enum verdict aead_open(enum aead algorithm, const uint8_t key[AEAD_KEY],
                       const uint8_t nonce[AEAD_NONCE], penta_bytes associated, penta_bytes in,
                       uint8_t *out)
{
    (void)algorithm, (void)key, (void)nonce, (void)associated, (void)in, (void)out;
    crypto_refuse();
    return VERDICT_FAILED;
}

/* The functions on keys below accept no key. */

const char key_no_memory[] = "no memory for a key";

bool key_public_raw(enum key_type type, penta_bytes raw, struct public_key *out, const char **why)
{
    (void)type, (void)raw, (void)out;
    *why = "this build cannot check signatures";
    return crypto_refuse();
}
bool key_public_read(penta_bytes pem, struct public_key *out, uint32_t rule, penta_error *err)
{
    (void)pem, (void)out;
    crypto_refuse();
    return error_at(err, rule, 0, "this build cannot read keys");
}
void key_public_pem(const struct public_key *key, struct writer *out)
{
    (void)key;
    out->failed = true;
}
void key_fingerprint(const struct public_key *key, uint8_t out[32])
{
    hash_sha256((penta_bytes){key->bytes, key->size}, out);
}
struct private_key *key_private_read(penta_bytes pem, uint32_t rule, penta_error *err)
{
    (void)pem;
    error_at(err, rule, 0, "this build cannot read keys");
    crypto_refuse();
    return NULL;
}
struct private_key *key_generate(enum key_type type, const char *parameters, penta_error *err)
{
    (void)type, (void)parameters;
    error_at(err, BASE_UNSUPPORTED, 0, "this build cannot make keys");
    return NULL;
}
void key_private_pem(const struct private_key *key, struct writer *out)
{
    (void)key;
    out->failed = true;
}
const struct public_key *key_public_of(const struct private_key *key)
{
    (void)key;
    return NULL;
}
void key_private_free(struct private_key *key) { (void)key; }
bool key_private_keep(struct private_key *key, const char *path, const char *folder,
                      penta_error *err)
{
    (void)key, (void)path, (void)folder, (void)err;
    return crypto_refuse();
}
uint64_t key_private_left(const struct private_key *key)
{
    (void)key;
    return 0;
}
size_t key_private_signature_size(const struct private_key *key)
{
    (void)key;
    return 0;
}
bool key_private_reserve(const char *path, const char *folder, uint64_t count, uint32_t rule,
                         struct writer *pem, penta_error *err)
{
    (void)path, (void)folder, (void)count, (void)rule, (void)pem;
    crypto_refuse();
    return error_at(err, BASE_UNSUPPORTED, 0, "this build cannot make keys");
}
bool sign_message(struct private_key *key, penta_bytes message, struct writer *signature,
                  penta_error *err)
{
    (void)key, (void)message, (void)signature;
    crypto_refuse();
    return error_at(err, BASE_UNSUPPORTED, 0, "this build cannot sign");
}
enum verdict sign_check(const struct public_key *key, penta_bytes message, penta_bytes signature)
{
    (void)key, (void)message, (void)signature;
    crypto_refuse();
    return VERDICT_FAILED;
}
