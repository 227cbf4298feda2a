/* Signs and verifies by libcrypto's EVP. ECDSA signatures are made in ecdsa.c, which chooses the nonce. */
#include "crypto/sign.h"
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <string.h>
#include "crypto/hash.h"
#include "crypto/internal.h"

/* Ed25519 signs the message itself, RSA its SHA-256; EVP hashes and signs in one call. */
static const EVP_MD *digest_of(enum key_type type)
{
    return type == KEY_RSA2048 ? EVP_sha256() : NULL;
}

bool sign_message(const struct private_key *key, penta_bytes message,
                  uint8_t signature[SIGNATURE_MAX])
{
    enum key_type type = key->public.type;
    if (type == KEY_P256) {
        uint8_t digest[HASH_BYTES];
        hash_sha256(message, digest);
        return ecdsa_sign(key->pkey, digest, signature);
    }
    size_t size = key_signature_size(type);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestSignInit(ctx, NULL, digest_of(type), NULL, key->pkey) > 0 &&
              EVP_DigestSign(ctx, signature, &size, message.data, message.size) > 0;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return ok && size == key_signature_size(type);
}

/* Empties libcrypto's error queue. Returns true when an error in it is not about the input. */
static bool library_failed(void)
{
    bool failed = false;
    for (unsigned long code; (code = ERR_get_error());) {
        int reason = ERR_GET_REASON(code);
        failed |= reason == ERR_R_MALLOC_FAILURE || reason == ERR_R_INTERNAL_ERROR ||
                  reason == ERR_R_FETCH_FAILED || reason == ERR_R_UNSUPPORTED;
    }
    return failed;
}

/* Turns a result of libcrypto into a verdict. libcrypto returns 1 for a right signature, 0 for a
 * wrong one, and 0 or less when it failed. */
static enum verdict verdict_of(int result)
{
    bool failed = library_failed();
    return result == 1 ? VERDICT_GOOD : result < 0 || failed ? VERDICT_FAILED : VERDICT_WRONG;
}

enum verdict sign_check(const struct public_key *key, penta_bytes message, penta_bytes signature)
{
    if (signature.size != key_signature_size(key->type)) return VERDICT_WRONG;
    EVP_PKEY *pkey = key_public_evp(key->type, (penta_bytes){key->bytes, key->size});
    /* The first value is not WRONG, because the key was valid when it was read. */
    enum verdict verdict = VERDICT_FAILED;
    ERR_clear_error();
    if (pkey && key->type == KEY_P256) {
        uint8_t digest[HASH_BYTES];
        hash_sha256(message, digest);
        verdict = ecdsa_check(pkey, digest, signature.data);
    } else if (pkey) {
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        if (ctx && EVP_DigestVerifyInit(ctx, NULL, digest_of(key->type), NULL, pkey) > 0)
            verdict = verdict_of(
                EVP_DigestVerify(ctx, signature.data, signature.size, message.data, message.size));
        EVP_MD_CTX_free(ctx);
    }
    EVP_PKEY_free(pkey);
    ERR_clear_error();
    return verdict;
}
