/* Encrypts and decrypts with a tag by libcrypto's EVP, for AES-256-GCM and ChaCha20-Poly1305. */
#include "crypto/aead.h"
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

static const EVP_CIPHER *aead_cipher(enum aead algorithm)
{
    return algorithm == AEAD_AES_256_GCM ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
}

/* Encrypts or decrypts everything but the tag. EVP counts in int, so large inputs go to it in
 * pieces. */
static bool aead_pass(EVP_CIPHER_CTX *ctx, penta_bytes associated, penta_bytes in, uint8_t *out)
{
    enum { PIECE = 1 << 30 };
    int n;
    if (associated.size > INT_MAX) return false;
    if (associated.size && !EVP_CipherUpdate(ctx, NULL, &n, associated.data, (int)associated.size))
        return false;
    for (size_t at = 0; at < in.size;) {
        int piece = in.size - at > PIECE ? PIECE : (int)(in.size - at);
        if (!EVP_CipherUpdate(ctx, out + at, &n, in.data + at, piece)) return false;
        at += (size_t)piece;
    }
    return true;
}

bool aead_seal(enum aead algorithm, const uint8_t key[AEAD_KEY], const uint8_t nonce[AEAD_NONCE],
               penta_bytes associated, penta_bytes in, uint8_t *out, penta_error *err)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n;
    uint8_t none[16];
    bool ok = ctx && EVP_CipherInit_ex(ctx, aead_cipher(algorithm), NULL, key, nonce, 1) &&
              aead_pass(ctx, associated, in, out) && EVP_CipherFinal_ex(ctx, none, &n) &&
              EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, AEAD_TAG, out + in.size);
    EVP_CIPHER_CTX_free(ctx);
    return ok || error_at(err, BASE_MEMORY, 0, "the cipher could not be set up");
}

enum verdict aead_open(enum aead algorithm, const uint8_t key[AEAD_KEY],
                       const uint8_t nonce[AEAD_NONCE], penta_bytes associated, penta_bytes in,
                       uint8_t *out)
{
    if (in.size < AEAD_TAG) return VERDICT_WRONG;
    penta_bytes text = {in.data, in.size - AEAD_TAG};
    uint8_t tag[AEAD_TAG], none[16];
    for (int i = 0; i < AEAD_TAG; i++) tag[i] = in.data[text.size + (size_t)i];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n;
    enum verdict verdict = VERDICT_FAILED; /* Only the last call checks the tag. */
    if (ctx && EVP_CipherInit_ex(ctx, aead_cipher(algorithm), NULL, key, nonce, 0) &&
        aead_pass(ctx, associated, text, out) &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, AEAD_TAG, tag))
        verdict = EVP_CipherFinal_ex(ctx, none, &n) > 0 ? VERDICT_GOOD : VERDICT_WRONG;
    EVP_CIPHER_CTX_free(ctx);
    if (verdict != VERDICT_GOOD) OPENSSL_cleanse(out, text.size); /* The text may be forged. */
    return verdict;
}
