/* Verifies a file under a policy (CVBC 9.3). The order matters, because each step protects the
 * next one. open_contents makes the steps from top to bottom: the signature, the digests of the
 * plain parts, the cipher, DEFLATE, the structure, the digest of the decoded bytecode. A step
 * that fails ends the verification. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/deflate.h"
#include "crypto/aead.h"
#include "crypto/hash.h"
#include "crypto/lms/lms.h"
#include "crypto/sign.h"
#include "cvbc/cvbc.h"

/* Computes what is signed (CVBC 7.1): the hash of the file with [12,16), [40,44) and the
 * signature as zeros. It hashes pieces of the file and makes no copy. No signature is larger than
 * the largest one of LMS with one of Ed25519. */
void cvbc_tbs(penta_bytes file, uint64_t signature_offset, uint64_t signature_size,
              uint8_t hash_algorithm, uint8_t out[40])
{
    enum { ZEROS = 4096, PIECES = 6 + HSS_SIGNATURE_MAX / ZEROS + 2 };
    static const uint8_t zeros[ZEROS];
    size_t at = (size_t)signature_offset, size = (size_t)signature_size, after = at + size;
    penta_bytes pieces[PIECES] = {
        {file.data, 12}, {zeros, 4}, {file.data + 16, 24}, {zeros, 4}, {file.data + 44, at - 44}};
    size_t count = 5;
    assert(size <= HSS_SIGNATURE_MAX + ED25519_SIGNATURE);
    for (size_t done = 0; done < size; done += ZEROS)
        pieces[count++] = (penta_bytes){zeros, size - done < ZEROS ? size - done : ZEROS};
    pieces[count++] = (penta_bytes){file.data + after, file.size - after};
    memcpy(out, "CVBC1SIG", 8);
    if (hash_algorithm == 2)
        hash_blake2b256_pieces(pieces, count, out + 8, NULL);
    else
        hash_sha256_pieces(pieces, count, out + 8);
}

void cvbc_digest(penta_bytes bytes, uint8_t out[32]) { hash_sha256(bytes, out); }

static bool fail_signature(struct cvbc_opened *o, uint64_t at, bool tried)
{
    error_at(&o->failure, CVBC_SIGNATURE, at, "the signature is wrong");
    return error_note(&o->failure, tried ? "the file was changed, or signed by another key"
                                         : "no key in the file or among the trusted ones fits it");
}

/* Records that the crypto library failed, so that it is not known whether the file is good. */
static bool fail_library(struct cvbc_opened *o, uint64_t at)
{
    error_at(&o->failure, BASE_MEMORY, at, "the crypto library failed");
    return error_note(&o->failure, "this says nothing about the file: try again");
}

static enum key_type signature_type(const struct cvbc_module *m)
{
    return m->has_protection ? (enum key_type)m->protection.signature_algorithm : KEY_NONE;
}

/* Finds out whether the signature is good, and which key made it. */
static bool check_signature(const struct cvbc_module *m, struct cvbc_opened *o)
{
    const struct cvbc_policy *policy = &m->policy;
    enum key_type type = signature_type(m);
    if (type == KEY_NONE) return true;
    uint64_t at = cvbc_offset(m, m->signature.data);
    uint8_t message[40];
    cvbc_tbs(m->base.file, at, m->signature.size, m->protection.hash_algorithm, message);
    penta_bytes tbs = {message, sizeof message};
    bool tried = false;
    for (size_t i = 0; i < policy->trusted_count; i++) {
        if (policy->trusted[i].type != type) continue;
        tried = true;
        enum verdict verdict = sign_check(&policy->trusted[i], tbs, m->signature);
        if (verdict == VERDICT_FAILED) return fail_library(o, at);
        if (verdict == VERDICT_WRONG) continue;
        o->trust = CVBC_TRUST_KEY;
        o->trusted_key = i;
        o->signature_good = true;
        return true;
    }
    if (!m->public_key.size) {
        if (tried) return fail_signature(o, at, true);
        error_at(&o->failure, CVBC_KEY, cvbc_offset(m, m->security.data) + 8,
                 "signed with %s, but no key is embedded and none of that kind was given",
                 cvbc_name("signature_algorithm", type));
        return error_note(&o->failure, "give the signer's public key with option 'trusted-key'");
    }
    struct public_key embedded;
    const char *why;
    if (!key_public_raw(type, m->public_key, &embedded, &why)) {
        error_at(&o->failure, CVBC_KEY, cvbc_offset(m, m->public_key.data), "the embedded key: %s",
                 why);
        return false;
    }
    enum verdict verdict = sign_check(&embedded, tbs, m->signature);
    if (verdict == VERDICT_FAILED) return fail_library(o, at);
    if (verdict == VERDICT_WRONG) return fail_signature(o, at, true);
    o->trust = CVBC_TRUST_EMBEDDED;
    o->signature_good = true;
    return true;
}

/* Tells whether the signature, which was checked, satisfies the requirements. An ECDSA signature
 * may have to have the low form (CVBC 7.7); then the other form is refused although it is valid. */
static bool check_required(const struct cvbc_module *m, bool signature, bool low_s,
                           penta_error *err)
{
    const struct cvbc_opened *o = &m->opened;
    if (signature_type(m) == KEY_NONE) {
        if (!signature) return true;
        error_at(err, CVBC_UNSIGNED, 56, "the file is not signed");
        return error_note(err, "a signature is required");
    }
    if (low_s && signature_type(m) == KEY_P256 && !sign_is_low(m->signature.data)) {
        error_at(err, CVBC_SIGNATURE, cvbc_offset(m, m->signature.data) + 32,
                 "the signature is right, but its s is high");
        return error_note(err, "sign again, or attach it again: both write the low form");
    }
    if (!signature || o->trust != CVBC_TRUST_EMBEDDED) return true;
    error_at(err, CVBC_UNTRUSTED, cvbc_offset(m, m->public_key.data),
             "untrusted: the signature is good only under the key in the file");
    return error_note(err,
                      "anybody can embed a key; give those you trust with option 'trusted-key'");
}

static bool check_open_hashes(const struct cvbc_module *m, struct cvbc_opened *o)
{
    if (!m->has_protection) return true;
    const struct cvbc_integrity *i = &m->integrity;
    uint64_t at = cvbc_offset(m, m->security.data) + cvbc_security_bytes;
    uint8_t digest[HASH_BYTES];
    hash_sha256(m->metadata, digest);
    if (!secret_equal(digest, i->metadata_sha256, sizeof digest))
        return error_at(&o->failure, CVBC_HASH, at + 64, "metadata_sha256 is wrong");
    hash_sha256((penta_bytes){m->security.data + cvbc_security_bytes, 96}, digest);
    if (!secret_equal(digest, i->build_reproducible_hash, sizeof i->build_reproducible_hash))
        return error_at(&o->failure, CVBC_HASH, at + 96, "build_reproducible_hash is wrong");
    return true;
}

static bool check_bytecode_hash(const struct cvbc_module *m, struct cvbc_opened *o,
                                penta_bytes image)
{
    if (!m->has_protection) return true;
    uint8_t digest[HASH_BYTES];
    hash_sha256(image, digest);
    return secret_equal(digest, m->integrity.bytecode_sha256, sizeof digest) ||
           error_at(&o->failure, CVBC_HASH,
                    cvbc_offset(m, m->security.data) + cvbc_security_bytes + 32,
                    "bytecode_sha256 is wrong");
}

/* The functions below are for the cipher (CVBC 8.3, CVBC 8.4). */

void cvbc_aad(const struct cvbc_sealing *s, penta_bytes metadata, uint8_t out[48])
{
    memcpy(out, "CVBC1AAD", 8);
    out[8] = s->flags & (CVBC_ENCRYPTED | CVBC_COMPRESSED);
    out[9] = s->algorithm;
    bytes_put16(out + 10, 0);
    bytes_put32(out + 12, s->params);
    hash_sha256(metadata, out + 16);
}

bool cvbc_derive(const struct cvbc_sealing *s, const struct cvbc_secret *secret,
                 const uint8_t nonce[12], uint64_t iterations_max, uint8_t key[32],
                 penta_error *err)
{
    penta_bytes material = {secret->bytes, secret->size};
    uint64_t rounds = (uint64_t)(s->params >> 8 & 0xffff) * 1000;
    bool ok = false;
    if ((s->params & 255) == CVBC_KEY_RAW) {
        if (secret->size != 32)
            return error_at(err, CVBC_DECRYPT, 0, "the file needs a key of 32 bytes, not %zu",
                            secret->size);
        memcpy(key, secret->bytes, 32);
        ok = true;
    } else if ((s->params & 255) == CVBC_KEY_HKDF) {
        uint8_t info[9] = "CVBC1KEY";
        info[8] = s->algorithm;
        ok = hash_hkdf_sha256(material, (penta_bytes){nonce, 12}, (penta_bytes){info, 9}, key);
    } else {
        uint8_t salt[20] = "CVBC1KEY";
        memcpy(salt + 8, nonce, 12);
        if (rounds > iterations_max) {
            error_at(err, CVBC_LIMIT, 0, "%llu rounds of key stretching, at most %llu",
                     (unsigned long long)rounds, (unsigned long long)iterations_max);
            return error_note(err, "option 'max-iterations' raises the limit");
        }
        ok = hash_pbkdf2_sha256(material, (penta_bytes){salt, 20}, (uint32_t)rounds, key);
    }
    return ok || error_at(err, BASE_MEMORY, 0, "the crypto library failed to derive the key");
}

/* Decrypts into a buffer of the module, which is overwritten before the module is freed. */
static bool verify_protection_decrypt(struct cvbc_module *m, struct cvbc_opened *o,
                                      penta_bytes *bytes)
{
    uint64_t at = cvbc_offset(m, bytes->data);
    if (!m->policy.has_secret) {
        error_at(&o->failure, CVBC_DECRYPT, at, "the bytecode is encrypted and no key was given");
        return error_note(&o->failure, "option 'key-file' or option 'password-file' names it");
    }
    struct cvbc_sealing s = {m->header.flags, m->protection.encryption_algorithm,
                             m->protection.key_derivation_params};
    uint8_t key[32], aad[48];
    const uint8_t *nonce = bytes->data;
    cvbc_aad(&s, m->metadata, aad);
    if (!cvbc_derive(&s, &m->policy.secret, nonce, m->policy.iterations_max, key, &o->failure)) {
        o->failure.offset = at;
        return false;
    }
    penta_bytes sealed = {nonce + AEAD_NONCE, bytes->size - AEAD_NONCE};
    m->image_size = sealed.size - AEAD_TAG;
    m->image = malloc(m->image_size + 1);
    enum verdict verdict = VERDICT_FAILED;
    if (m->image)
        verdict = aead_open((enum aead)s.algorithm, key, nonce, (penta_bytes){aad, sizeof aad},
                            sealed, m->image);
    secret_wipe(key, sizeof key);
    if (!m->image)
        return error_at(&o->failure, BASE_MEMORY, at, "no memory to decrypt the bytecode");
    *bytes = (penta_bytes){m->image, m->image_size};
    if (verdict == VERDICT_GOOD) return true;
    if (verdict == VERDICT_FAILED) return fail_library(o, at);
    error_at(&o->failure, CVBC_DECRYPT, at, "the bytecode does not decrypt with this key");
    return error_note(&o->failure, "the key is wrong, or the file was changed");
}

static bool verify_protection_inflate(struct cvbc_module *m, struct cvbc_opened *o,
                                      penta_bytes *bytes)
{
    uint64_t at = cvbc_offset(m, m->stored.data), limit = m->policy.inflate_max;
    if (limit > SIZE_MAX / 2) limit = SIZE_MAX / 2;
    penta_buffer out = {0};
    enum deflate_result result = deflate_inflate(*bytes, (size_t)limit, &out);
    bool zlib = bytes->size > 2 && (bytes->data[0] & 15) == 8 &&
                (bytes->data[0] * 256u + bytes->data[1]) % 31 == 0;
    if (m->image) secret_wipe(m->image, m->image_size);
    free(m->image);
    m->image = out.data;
    m->image_size = out.size;
    *bytes = (penta_bytes){out.data, out.size};
    switch (result) {
    case DEFLATE_OK: return true;
    case DEFLATE_TRAILING:
        return error_at(&o->failure, CVBC_DECOMPRESS, at,
                        "bytes follow the end of the DEFLATE stream");
    case DEFLATE_LIMIT:
        error_at(&o->failure, CVBC_LIMIT, at, "the bytecode inflates to more than %llu bytes",
                 (unsigned long long)limit);
        return error_note(&o->failure, "option 'max-inflate' raises the limit");
    case DEFLATE_MEMORY:
        return error_at(&o->failure, BASE_MEMORY, at, "no memory to inflate the bytecode");
    default:
        error_at(&o->failure, CVBC_DECOMPRESS, at, "the bytecode is not a DEFLATE stream");
        return zlib ? error_note(&o->failure, "this is a zlib stream; raw DEFLATE is expected")
                    : false;
    }
}

/* The functions below make the whole verification. */

static bool parse_image(struct cvbc_module *m, struct cvbc_opened *o, penta_bytes image)
{
    penta_error err = {0};
    if (!cvbc_program_parse(image, &m->arena, &o->program, &err)) {
        o->failure = err;
        return false;
    }
    o->has_program = true;
    o->program.minor = cvbc_program_minor(m);
    if (!o->program.flaw.code) return true;
    o->failure = o->program.flaw;
    o->failure.decoded = !cvbc_plain(m);
    if (cvbc_plain(m)) o->failure.offset += cvbc_offset(m, m->stored.data);
    return false;
}

static bool open_contents(struct cvbc_module *m, struct cvbc_opened *o)
{
    penta_bytes bytes = m->stored;
    if (!check_required(m, m->policy.require_signature, m->policy.require_low_s, &o->failure)) {
        if (o->failure.code == CVBC_SIGNATURE) o->signature_good = false;
        return false;
    }
    if (!check_open_hashes(m, o) || !cvbc_programs_digests(m, o)) return false;
    if (m->header.flags & CVBC_ENCRYPTED && !verify_protection_decrypt(m, o, &bytes)) return false;
    if (m->header.flags & CVBC_COMPRESSED && !verify_protection_inflate(m, o, &bytes)) return false;
    if (!parse_image(m, o, bytes)) return false;
    if (!check_bytecode_hash(m, o, bytes)) return false;
    if (!cvbc_programs_open(m, o)) return false;
    o->contents_checked = true;
    return true;
}

/* Checks the structure and the signature, if that was not done before. It must be called under
 * the lock. */
static bool open_signature(struct cvbc_module *m)
{
    struct cvbc_opened *o = &m->opened;
    if (!o->signature_checked) {
        struct findings f = {.rules = cvbc_rules, .report = error_keep_first, .user = &o->failure};
        f.lenient = module_lenient(&m->base);
        cvbc_check_full(m, &f);
        o->signature_passed = !o->failure.code && check_signature(m, o);
        o->signature_checked = true;
    }
    return o->signature_passed;
}

bool cvbc_meets(const struct cvbc_module *module, bool require_signature, bool require_low_s,
                penta_error *why)
{
    struct cvbc_module *m = (struct cvbc_module *)module;
    lock_take(&m->lock);
    bool met = !open_signature(m) || check_required(m, require_signature, require_low_s, why);
    lock_give(&m->lock);
    return met;
}

const struct cvbc_opened *cvbc_open(const struct cvbc_module *module)
{
    /* The module is not const here, because `opened` is filled once, under the lock. */
    struct cvbc_module *m = (struct cvbc_module *)module;
    struct cvbc_opened *o = &m->opened;
    lock_take(&m->lock);
    if (!m->is_opened) {
        if (open_signature(m)) open_contents(m, o);
        /* Plain contents can be shown even if their protection is wrong, but they do not run. */
        if (!o->has_program && !m->base.damage.code && cvbc_plain(m) && m->stored.size) {
            penta_error err = {0};
            o->has_program = cvbc_program_parse(m->stored, &m->arena, &o->program, &err);
            o->program.minor = cvbc_program_minor(m);
        }
        m->is_opened = true;
    }
    lock_give(&m->lock);
    return o;
}

const penta_error *cvbc_objection(const struct cvbc_module *m)
{
    const penta_error *failure = &cvbc_open(m)->failure;
    bool sealed = failure->code == CVBC_DECRYPT && !m->policy.has_secret;
    bool unknown = failure->code == CVBC_KEY && !m->policy.require_signature;
    return failure->code && !sealed && !unknown ? failure : NULL;
}
