/* Checks that a failure of the crypto library is not a verdict. Functions of libcrypto are
 * replaced here by functions that can be made to fail. Also tests both forms of an ECDSA
 * signature. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <dlfcn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <string.h>
#include "check.h"
#include "crypto/aead.h"
#include "crypto/sign.h"

static bool failing;

/* Finds the function of this name in libcrypto. dlsym() gives it as a pointer to an object,
 * which POSIX makes the same bits, so these are copied. */
static void find_real(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

int ECDSA_do_verify(const unsigned char *digest, int size, const ECDSA_SIG *sig, EC_KEY *key)
{
    int (*real)(const unsigned char *, int, const ECDSA_SIG *, EC_KEY *);
    find_real("ECDSA_do_verify", &real);
    return failing ? -1 : real(digest, size, sig, key);
}

EVP_MD_CTX *EVP_MD_CTX_new(void)
{
    EVP_MD_CTX *(*real)(void);
    find_real("EVP_MD_CTX_new", &real);
    return failing ? NULL : real();
}

EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void)
{
    EVP_CIPHER_CTX *(*real)(void);
    find_real("EVP_CIPHER_CTX_new", &real);
    return failing ? NULL : real();
}

static void crypto_test_signatures(enum key_type type)
{
    penta_error err = {0};
    struct private_key *key = key_generate(type, NULL, &err);
    CHECK(key != NULL);
    if (!key) return;
    struct public_key public = *key_public_of(key);
    penta_bytes message = {(const uint8_t *)"message", 7};
    uint8_t bytes[256];
    struct writer made = writer_into(bytes, sizeof bytes);
    CHECK(sign_message(key, message, &made, &err));
    penta_bytes signature = writer_view(&made);
    CHECK(signature.size == key_signature_size(type));
    CHECK(sign_check(&public, message, signature) == VERDICT_GOOD);
    failing = true;
    CHECK(sign_check(&public, message, signature) == VERDICT_FAILED);
    failing = false;
    bytes[40] ^= 1;
    CHECK(sign_check(&public, message, signature) == VERDICT_WRONG);
    bytes[40] ^= 1;
    if (type == KEY_P256) {
        CHECK(sign_is_low(bytes));
        /* n - s is computed by its definition: s + (n - s) = n, digit by digit from the end. */
        static const uint8_t order[32] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
                                          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                          0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
                                          0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};
        uint8_t high[64];
        int borrow = 0;
        memcpy(high, bytes, 32);
        for (int i = 31; i >= 0; i--) {
            int digit = order[i] - bytes[32 + i] - borrow;
            borrow = digit < 0;
            high[32 + i] = (uint8_t)digit;
        }
        CHECK(!sign_is_low(high));
        CHECK(sign_check(&public, message, (penta_bytes){high, 64}) == VERDICT_GOOD);
        sign_make_low(high);
        CHECK(!memcmp(high, bytes, 64));
    }
    key_private_free(key);
}

static void crypto_test_ciphers(void)
{
    static const uint8_t key[AEAD_KEY] = {1}, nonce[AEAD_NONCE] = {2};
    uint8_t sealed[16 + AEAD_TAG], text[16] = "secret";
    penta_bytes none = {NULL, 0}, all = {sealed, sizeof sealed};
    penta_error err = {0};
    CHECK(aead_seal(AEAD_AES_256_GCM, key, nonce, none, (penta_bytes){text, 16}, sealed, &err));
    CHECK(aead_open(AEAD_AES_256_GCM, key, nonce, none, all, text) == VERDICT_GOOD);
    failing = true;
    CHECK(aead_open(AEAD_AES_256_GCM, key, nonce, none, all, text) == VERDICT_FAILED);
    failing = false;
    sealed[3] ^= 1;
    CHECK(aead_open(AEAD_AES_256_GCM, key, nonce, none, all, text) == VERDICT_WRONG);
    CHECK(!memcmp(text, (uint8_t[16]){0}, 16));
}

int main(void)
{
    crypto_test_signatures(KEY_ED25519);
    crypto_test_signatures(KEY_P256);
    crypto_test_signatures(KEY_RSA2048);
    crypto_test_ciphers();
    return checks_end();
}
