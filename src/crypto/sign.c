#include "crypto/sign.h"
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <string.h>
#include "crypto/hash.h"
#include "crypto/internal.h"

/* Ed25519 signs the message itself, RSA its SHA-256; EVP does both in one call. */
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

bool sign_check(const struct public_key *key, penta_bytes message, penta_bytes signature)
{
    if (signature.size != key_signature_size(key->type)) return false;
    EVP_PKEY *pkey = key_public_evp(key->type, (penta_bytes){key->bytes, key->size});
    bool ok = false;
    if (pkey && key->type == KEY_P256) {
        uint8_t digest[HASH_BYTES];
        hash_sha256(message, digest);
        ok = ecdsa_check(pkey, digest, signature.data);
    } else if (pkey) {
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        ok = ctx && EVP_DigestVerifyInit(ctx, NULL, digest_of(key->type), NULL, pkey) > 0 &&
             EVP_DigestVerify(ctx, signature.data, signature.size, message.data, message.size) == 1;
        EVP_MD_CTX_free(ctx);
    }
    EVP_PKEY_free(pkey);
    ERR_clear_error();
    return ok;
}
