/* Signs and verifies by libcrypto's EVP. ECDSA signatures are made in ecdsa.c, which chooses the
 * nonce. */
#include "crypto/sign.h"
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <string.h>
#include "crypto/hash.h"
#include "base/bytes.h"
#include "crypto/internal.h"
#include "crypto/lms/state.h"

/* Ed25519 signs the message itself, RSA its SHA-256; EVP hashes and signs in one call. */
static const EVP_MD *key_digest(enum key_type type)
{
    return type == KEY_RSA2048 ? EVP_sha256() : NULL;
}

/* Signs by the half of the key that libcrypto knows. */
static bool sign_evp(const struct private_key *key, enum key_type type, penta_bytes message,
                     uint8_t *signature)
{
    size_t size = key_signature_size(type);
    if (type == KEY_P256) {
        uint8_t digest[HASH_BYTES];
        hash_sha256(message, digest);
        return ecdsa_sign(key->pkey, digest, signature);
    }
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestSignInit(ctx, NULL, key_digest(type), NULL, key->pkey) > 0 &&
              EVP_DigestSign(ctx, signature, &size, message.data, message.size) > 0;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return ok && size == key_signature_size(type);
}

/* Signs by the LMS half, whose file says which place comes next. */
static bool sign_lms(struct private_key *key, penta_bytes message, struct writer *signature,
                     penta_error *err)
{
    struct hss_file file = {key->path, key->folder, key->rule};
    size_t first = key->pkey ? ED25519_PUBLIC : 0;
    penta_bytes public = {key->public.bytes + first, key->public.size - first};
    uint64_t left;
    if (!key->path) {
        error_at(err, key->rule, 0,
                 "an LMS key signs only from its file, in which it counts its signatures");
        return error_note(err, "option 'sign-key' names the file");
    }
    if (!hss_file_sign(&file, public, message, signature, &left, err)) return false;
    key->hss->next = key->hss->end - left;
    return true;
}

bool sign_message(struct private_key *key, penta_bytes message, struct writer *signature,
                  penta_error *err)
{
    enum { EVP_SIGNATURE_MAX = 256 };
    enum key_type type = key->hss ? KEY_ED25519 : key->public.type;
    uint8_t bytes[EVP_SIGNATURE_MAX];
    if (key->pkey) {
        if (!sign_evp(key, type, message, bytes))
            return error_at(err, key->rule, 0, "the key could not sign");
        writer_bytes(signature, bytes, key_signature_size(type));
    }
    return (!key->hss || sign_lms(key, message, signature, err)) && writer_ok(signature, err);
}

/* Empties libcrypto's error queue. Returns true when an error in it is not about the input. */
static bool libcrypto_failed(void)
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
static enum verdict result_verdict(int result)
{
    bool failed = libcrypto_failed();
    return result == 1 ? VERDICT_GOOD : result < 0 || failed ? VERDICT_FAILED : VERDICT_WRONG;
}

/* Checks both signatures of a key of both kinds: each must hold. */
static enum verdict sign_check_both(penta_bytes key, penta_bytes message, penta_bytes signature)
{
    struct public_key first = {.type = KEY_ED25519, .size = ED25519_PUBLIC};
    memcpy(first.bytes, key.data, ED25519_PUBLIC);
    enum verdict verdict =
        sign_check(&first, message, bytes_slice(signature, 0, ED25519_SIGNATURE));
    if (verdict != VERDICT_GOOD) return verdict;
    return hss_check(bytes_slice(key, ED25519_PUBLIC, key.size), message,
                     bytes_slice(signature, ED25519_SIGNATURE, signature.size));
}

enum verdict sign_check(const struct public_key *key, penta_bytes message, penta_bytes signature)
{
    penta_bytes raw = {key->bytes, key->size};
    if (key->type == KEY_LMS) return hss_check(raw, message, signature);
    if (key->type == KEY_ED25519_LMS) return sign_check_both(raw, message, signature);
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
        if (ctx && EVP_DigestVerifyInit(ctx, NULL, key_digest(key->type), NULL, pkey) > 0)
            verdict = result_verdict(
                EVP_DigestVerify(ctx, signature.data, signature.size, message.data, message.size));
        EVP_MD_CTX_free(ctx);
    }
    EVP_PKEY_free(pkey);
    ERR_clear_error();
    return verdict;
}
