/* Reads and writes keys by libcrypto, and checks raw public keys for weaknesses that libcrypto
 * lets pass. */
#include "crypto/keys.h"
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "crypto/hash.h"
#include "crypto/internal.h"
#include "crypto/pem.h"

/* These are the y coordinates of the points of order 8 on the curve of Ed25519. */
static const uint8_t order_8[][32] = {
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
     0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
     0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
    {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
     0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
     0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
};

/* Tells whether a key is one of the eight points whose order divides 8. Under such a key one
 * signature can fit many messages, and libcrypto does not refuse it. The points of order 1, 2
 * and 4 have the y coordinates 1, -1 and 0 modulo 2^255 - 19. Encodings above the modulus count,
 * too; the sign of x does not matter. */
static bool key_is_small_order(const uint8_t raw[32])
{
    uint8_t y[32], rest = raw[31] & 0x7f;
    memcpy(y, raw, 32);
    y[31] = rest;
    if (!memcmp(y, order_8[0], 32) || !memcmp(y, order_8[1], 32)) return true;
    bool zeros = !rest, ones = rest == 0x7f;
    for (size_t i = 1; i < 31; i++) {
        zeros &= !y[i];
        ones &= y[i] == 0xff;
    }
    return (zeros && y[0] <= 1) || (ones && y[0] >= 0xec && y[0] <= 0xee);
}

static EVP_PKEY *key_from_params(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    if (ctx && params && EVP_PKEY_fromdata_init(ctx) > 0)
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params);
    OSSL_PARAM_free(params);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

EVP_PKEY *key_public_evp(enum key_type type, penta_bytes raw)
{
    if (type == KEY_NONE || raw.size != key_public_size(type)) return NULL;
    if (type == KEY_ED25519)
        return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw.data, raw.size);
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *n = NULL, *e = NULL;
    if (type == KEY_P256) {
        if (build &&
            OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
            OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, raw.data, raw.size))
            key = key_from_params("EC", build);
    } else {
        n = BN_bin2bn(raw.data, 256, NULL);
        e = BN_bin2bn(raw.data + 256, 4, NULL);
        if (build && n && e && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) &&
            OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e))
            key = key_from_params("RSA", build);
    }
    OSSL_PARAM_BLD_free(build);
    BN_free(n);
    BN_free(e);
    return key;
}

/* Finds flaws that libcrypto accepts, or refuses without a reason. Returns the reason, or NULL
 * for a good key. */
static const char *keys_flaw(enum key_type type, penta_bytes raw)
{
    if (type == KEY_NONE || type >= KEY_TYPES) return "the key type is not known";
    if (type == KEY_LMS) return hss_public_flaw(raw);
    if (type == KEY_ED25519_LMS) {
        const char *flaw = keys_flaw(KEY_ED25519, bytes_slice(raw, 0, ED25519_PUBLIC));
        return flaw ? flaw : hss_public_flaw(bytes_slice(raw, ED25519_PUBLIC, raw.size));
    }
    if (raw.size != key_public_size(type)) return "the key has the wrong size";
    switch (type) {
    case KEY_ED25519:
        return key_is_small_order(raw.data) ? "the key is a point of small order" : NULL;
    case KEY_P256: return raw.data[0] != 4 ? "the point is not in uncompressed form" : NULL;
    default: break;
    }
    uint64_t exponent = bytes_uint(raw.data + 256, 4, true);
    if (!(raw.data[0] & 0x80)) return "the modulus has fewer than 2048 bits";
    if (!(raw.data[255] & 1)) return "the modulus is even";
    return exponent < 65537 || !(exponent & 1) ? "the exponent is even or below 65537" : NULL;
}

const char key_no_memory[] = "no memory for a key";

/* Empties libcrypto's error queue after a failure, and tells whether memory ran out. It did when
 * an error in the queue says so, and when the queue is empty: libcrypto always explains why it
 * refuses something. */
static bool libcrypto_out_of_memory(void)
{
    bool explained = false, memory = false;
    for (unsigned long code; (code = ERR_get_error()); explained = true)
        memory |= ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
    return memory || !explained;
}

bool key_public_raw(enum key_type type, penta_bytes raw, struct public_key *out, const char **why)
{
    *why = keys_flaw(type, raw);
    if (*why) return false;
    ERR_clear_error();
    EVP_PKEY *key = key_public_size(type) ? key_public_evp(type, raw) : NULL;
    if (!key && key_public_size(type)) {
        /* Any 32 bytes are an Ed25519 key, so only memory can be missing. */
        bool memory = libcrypto_out_of_memory() || type == KEY_ED25519;
        *why = memory ? key_no_memory : "the key is not a point on the curve";
        return false;
    }
    EVP_PKEY_free(key);
    ERR_clear_error();
    *out = (struct public_key){.type = type, .size = raw.size};
    bytes_copy(out->bytes, raw);
    return true;
}

static bool export_rsa(EVP_PKEY *pkey, uint8_t *raw)
{
    BIGNUM *n = NULL, *e = NULL;
    bool ok = EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_N, &n) &&
              EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_E, &e) &&
              BN_bn2binpad(n, raw, 256) == 256 && BN_bn2binpad(e, raw + 256, 4) == 4;
    BN_free(n);
    BN_free(e);
    return ok;
}

static bool export_p256(EVP_PKEY *pkey, uint8_t *raw)
{
    char group[32] = "";
    size_t size = 0;
    BIGNUM *x = NULL, *y = NULL;
    bool ok = EVP_PKEY_get_utf8_string_param(pkey, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group,
                                             &size) &&
              !strcmp(group, "prime256v1") &&
              EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_EC_PUB_X, &x) &&
              EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_EC_PUB_Y, &y);
    raw[0] = 4;
    ok = ok && BN_bn2binpad(x, raw + 1, 32) == 32 && BN_bn2binpad(y, raw + 33, 32) == 32;
    BN_free(x);
    BN_free(y);
    return ok;
}

static bool export_public(EVP_PKEY *pkey, struct public_key *out, const char **why)
{
    uint8_t raw[KEY_PUBLIC_MAX];
    size_t size = 32;
    enum key_type type = KEY_NONE;
    if (EVP_PKEY_is_a(pkey, "ED25519") && EVP_PKEY_get_raw_public_key(pkey, raw, &size))
        type = KEY_ED25519;
    else if (EVP_PKEY_is_a(pkey, "EC") && export_p256(pkey, raw))
        type = KEY_P256;
    else if (EVP_PKEY_is_a(pkey, "RSA") && EVP_PKEY_get_bits(pkey) == 2048 && export_rsa(pkey, raw))
        type = KEY_RSA2048;
    ERR_clear_error();
    if (type == KEY_NONE) {
        *why = "only Ed25519, P-256, RSA-2048 and LMS keys are supported";
        return false;
    }
    return key_public_raw(type, (penta_bytes){raw, key_public_size(type)}, out, why);
}

/* Gives no passphrase; without this function libcrypto would ask for one on the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *user)
{
    (void)buffer, (void)size, (void)writing, (void)user;
    return -1;
}

/* Makes the reason of a failure an error of `rule`, or a memory error. Returns false. */
static bool key_error(penta_error *err, uint32_t rule, const char *why)
{
    return error_at(err, why == key_no_memory ? BASE_MEMORY : rule, 0, "%s", why);
}

static EVP_PKEY *read_pem(penta_bytes pem, bool private, const char **why)
{
    if (pem.size > INT_MAX) return NULL;
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.size);
    EVP_PKEY *key = NULL;
    if (bio)
        key = private ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL)
                      : PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    if (!key && libcrypto_out_of_memory()) *why = key_no_memory;
    ERR_clear_error();
    return key;
}

/* Reads a public key that libcrypto knows. */
static bool public_read_evp(penta_bytes pem, struct public_key *out, const char **why)
{
    EVP_PKEY *key = read_pem(pem, false, why);
    if (!key) key = read_pem(pem, true, why);
    bool ok = key && export_public(key, out, why);
    EVP_PKEY_free(key);
    return ok;
}

/* Tells whether a text has a key besides the LMS key that was cut out of it. */
static bool has_other_key(penta_bytes rest)
{
    for (size_t i = 0; i + 11 <= rest.size; i++)
        if (!memcmp(rest.data + i, "-----BEGIN ", 11)) return true;
    return false;
}

/* Makes a key of both kinds from an Ed25519 key and an LMS key. */
static bool public_join(const struct public_key *ed25519, struct public_key *lms, const char **why)
{
    *why = "besides an LMS key only an Ed25519 key may stand in the text";
    if (ed25519->type != KEY_ED25519) return false;
    memmove(lms->bytes + ED25519_PUBLIC, lms->bytes, lms->size);
    memcpy(lms->bytes, ed25519->bytes, ED25519_PUBLIC);
    lms->type = KEY_ED25519_LMS;
    lms->size += ED25519_PUBLIC;
    return true;
}

/* Makes a private key of its halves, and takes them over also when it fails. */
static struct private_key *keys_adopt(EVP_PKEY *pkey, struct hss_key *hss, const char **why)
{
    struct public_key first = {0};
    struct private_key *key = calloc(1, sizeof *key);
    bool ok = key && (!pkey || export_public(pkey, &first, why));
    if (!key) *why = key_no_memory;
    if (ok && hss) {
        struct writer w = writer_into(key->public.bytes, sizeof key->public.bytes);
        hss_key_public(hss, &w);
        key->public.type = KEY_LMS;
        key->public.size = w.out.size;
        ok = !pkey || public_join(&first, &key->public, why);
    } else if (ok) {
        key->public = first;
    }
    if (ok) {
        key->pkey = pkey;
        key->hss = hss;
        return key;
    }
    free(key);
    EVP_PKEY_free(pkey);
    if (hss) hss_key_free(hss);
    free(hss);
    return NULL;
}

static void text_wipe(struct writer *w)
{
    if (w->out.data) secret_wipe(w->out.data, w->out.capacity);
    writer_free(w);
}

struct private_key *key_private_read(penta_bytes pem, uint32_t rule, penta_error *err)
{
    const char *why = "not an unencrypted private key in PEM form";
    struct hss_key *hss;
    struct writer rest = {0};
    penta_error bad = {0};
    struct private_key *key = NULL;
    if (key_lms_cut_private(pem, &hss, &rest, rule, &bad)) pem = writer_view(&rest);
    EVP_PKEY *pkey = NULL;
    bool other = !hss || has_other_key(pem);
    if (!bad.code && other) pkey = read_pem(pem, true, &why);
    if (!bad.code && (pkey || !other)) {
        key = keys_adopt(pkey, hss, &why);
    } else if (hss) {
        hss_key_free(hss);
        free(hss);
    }
    text_wipe(&rest);
    if (key) key->rule = rule;
    if (bad.code)
        *err = bad;
    else if (!key)
        key_error(err, rule, why);
    return key;
}

/* Reads the public half of a private key that has an LMS half. */
static bool public_of_private(penta_bytes pem, struct public_key *out, uint32_t rule,
                              penta_error *err)
{
    struct private_key *key = key_private_read(pem, rule, err);
    if (key) *out = key->public;
    key_private_free(key);
    return key;
}

bool key_public_read(penta_bytes pem, struct public_key *out, uint32_t rule, penta_error *err)
{
    const char *why = "not a public key in PEM form", *flaw = NULL;
    struct writer rest = {0};
    penta_bytes before, after;
    struct public_key other;
    if (pem_around(pem, HSS_PEM_NAME, &before, &after))
        return public_of_private(pem, out, rule, err);
    bool ok = key_lms_cut_public(pem, out, &rest, &flaw);
    if (ok && has_other_key(writer_view(&rest)))
        ok = public_read_evp(writer_view(&rest), &other, &why) && public_join(&other, out, &why);
    else if (flaw)
        why = flaw;
    else if (!ok)
        ok = public_read_evp(pem, out, &why);
    if (rest.failed) ok = false, why = key_no_memory;
    writer_free(&rest);
    return ok || key_error(err, rule, why);
}

/* Makes the LMS half of a key. */
static struct hss_key *generate_lms(const char *parameters, penta_error *err)
{
    struct hss_key *hss = calloc(1, sizeof *hss);
    if (!hss) error_at(err, BASE_MEMORY, 0, "no memory for a key");
    if (hss && hss_parameters_read(parameters, hss, err) && hss_key_make(hss, NULL, err))
        return hss;
    if (hss) hss_key_free(hss);
    free(hss);
    return NULL;
}

struct private_key *key_generate(enum key_type type, const char *parameters, penta_error *err)
{
    bool lms = type == KEY_LMS || type == KEY_ED25519_LMS;
    struct hss_key *hss = lms ? generate_lms(parameters ? parameters : "h10/w8", err) : NULL;
    if (lms && !hss) return NULL;
    if (!lms && parameters) {
        error_at(err, BASE_OPTION_VALUE, 0, "only keys of LMS have parameters");
        return NULL;
    }
    EVP_PKEY *pkey = type == KEY_LMS           ? NULL
                     : type == KEY_ED25519_LMS ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                     : type == KEY_ED25519     ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                     : type == KEY_P256        ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256")
                                               : EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
    const char *why = "the key could not be generated";
    struct private_key *key = pkey || type == KEY_LMS ? keys_adopt(pkey, hss, &why) : NULL;
    if (!key && !pkey && hss) {
        hss_key_free(hss);
        free(hss);
    }
    if (!key) error_at(err, BASE_MEMORY, 0, "%s", why);
    return key;
}

static void write_bio(BIO *bio, bool ok, struct writer *out)
{
    char *text;
    long size = ok ? BIO_get_mem_data(bio, &text) : 0;
    if (size > 0)
        writer_bytes(out, text, (size_t)size);
    else
        out->failed = true;
    BIO_free(bio);
}

void key_private_pem(const struct private_key *key, struct writer *out)
{
    if (key->pkey) {
        BIO *bio = BIO_new(BIO_s_secmem()); /* A secure BIO is wiped when it is freed. */
        write_bio(bio,
                  bio && PEM_write_bio_PKCS8PrivateKey(bio, key->pkey, NULL, NULL, 0, NULL, NULL),
                  out);
    }
    if (key->hss) hss_key_pem(key->hss, out);
}

void key_public_pem(const struct public_key *key, struct writer *out)
{
    penta_bytes raw = {key->bytes, key->size};
    if (key->type == KEY_LMS) {
        key_lms_public_pem(raw, out);
        return;
    }
    bool both = key->type == KEY_ED25519_LMS;
    EVP_PKEY *pkey = both ? key_public_evp(KEY_ED25519, bytes_slice(raw, 0, ED25519_PUBLIC))
                          : key_public_evp(key->type, raw);
    BIO *bio = BIO_new(BIO_s_mem());
    write_bio(bio, bio && pkey && PEM_write_bio_PUBKEY(bio, pkey), out);
    EVP_PKEY_free(pkey);
    if (both) key_lms_public_pem(bytes_slice(raw, ED25519_PUBLIC, raw.size), out);
}

void key_fingerprint(const struct public_key *key, uint8_t out[32])
{
    hash_sha256((penta_bytes){key->bytes, key->size}, out);
}

const struct public_key *key_public_of(const struct private_key *key) { return &key->public; }

void key_private_free(struct private_key *key)
{
    if (!key) return;
    EVP_PKEY_free(key->pkey);
    if (key->hss) hss_key_free(key->hss);
    free(key->hss);
    free(key->path);
    free(key->folder);
    free(key);
}

bool key_private_keep(struct private_key *key, const char *path, const char *folder,
                      penta_error *err)
{
    if (!key->hss) return true;
    key->path = strdup(path);
    key->folder = folder ? strdup(folder) : NULL;
    return (key->path && (key->folder || !folder)) ||
           error_at(err, BASE_MEMORY, 0, "no memory for a key");
}

uint64_t key_private_left(const struct private_key *key)
{
    return key->hss ? key->hss->end - key->hss->next : UINT64_MAX;
}

size_t key_private_signature_size(const struct private_key *key)
{
    if (!key->hss) return key_signature_size(key->public.type);
    return (key->pkey ? ED25519_SIGNATURE : 0) + hss_key_signature_size(key->hss);
}
