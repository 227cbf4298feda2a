/* Signs an existing file. The bytecode stays as it is stored, so no key is needed to read it. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "crypto/sign.h"
#include "cvbc/format/build.h"

static penta_bytes resign_trailing(const struct cvbc_module *m)
{
    struct cvbc_piece pieces[CVBC_PIECES];
    size_t count = cvbc_pieces(m, pieces);
    return count && pieces[count - 1].kind == CVBC_PIECE_GAP ? pieces[count - 1].bytes
                                                             : (penta_bytes){0};
}

penta_module *cvbc_parse_under(penta_bytes file, const struct cvbc_policy *policy, penta_error *err)
{
    penta_module *module = cvbc_parse(file, NULL, 0, err);
    if (!module) return NULL;
    cvbc_policy_free(&((struct cvbc_module *)module)->policy);
    /* The policy must be set before anything is verified. */
    ((struct cvbc_module *)module)->policy = *policy;
    return module;
}

void cvbc_close_under(penta_module *module)
{
    ((struct cvbc_module *)module)->policy = (struct cvbc_policy){0};
    cvbc_close(module);
}

/* Writes everything but the signature as it was, with the digests in `integrity`, or with the
 * old ones if it is NULL. */
static bool write_resigned(const struct cvbc_module *m, const struct cvbc_resigning *how,
                           const uint8_t *integrity, struct writer *out, penta_error *err)
{
    const struct cvbc_opened *o = cvbc_open(m);
    struct cvbc_build b = {.minor = m->header.format_version_minor,
                           .timestamp = m->header.compilation_timestamp,
                           .build_number = m->header.build_number,
                           .flags = (uint8_t)(m->header.flags & ~CVBC_SIGNED),
                           .has_metadata = true,
                           .metadata = m->metadata,
                           .has_stored = true,
                           .stored = m->stored,
                           .has_image = true,
                           .image = o->has_program ? o->program.image : (penta_bytes){0},
                           .programs_as_they_are = m->programs,
                           .debug = m->debug,
                           .trailing = resign_trailing(m),
                           .cipher = m->protection.encryption_algorithm,
                           .derivation = m->protection.key_derivation_params,
                           .sign_key = how->key,
                           .reserve = how->reserve,
                           .external_key = how->external_key,
                           .hash_algorithm = how->hash_algorithm ? how->hash_algorithm
                                                                 : m->protection.hash_algorithm};
    memcpy(b.header_over.bytes + 57, m->header.reserved, 7);
    memset(b.header_over.mask + 57, 1, 7);
    b.header_over.used = true;
    if (m->has_protection) {
        memcpy(b.integrity_over.bytes,
               integrity ? integrity : m->security.data + cvbc_security_bytes,
               cvbc_integrity_bytes);
        memset(b.integrity_over.mask, 1, cvbc_integrity_bytes);
        b.integrity_over.used = true;
    }
    bool ok = cvbc_build_write(&b, out, err);
    cvbc_build_fini(&b);
    return ok;
}

/* The functions below replace wrong digests. */

enum { BYTECODE_DIGEST = 32, METADATA_DIGEST = 64, SHORT_DIGEST = 96, SHORT_DIGEST_BYTES = 4 };

static void resign_tell(const struct cvbc_resigning *how, const penta_error *replaced)
{
    if (how->report) how->report(how->user, replaced);
}

static void replace_digest(const struct cvbc_module *m, const struct cvbc_resigning *how,
                           uint8_t *integrity, size_t at, penta_bytes of, size_t size,
                           const char *name)
{
    uint8_t digest[32];
    penta_error replaced = {0};
    cvbc_digest(of, digest);
    if (!memcmp(integrity + at, digest, size)) return;
    memcpy(integrity + at, digest, size);
    error_at(&replaced, CVBC_HASH, cvbc_offset(m, m->security.data) + cvbc_security_bytes + at,
             "replaced: %s was wrong", name);
    resign_tell(how, &replaced);
}

/* Replaces the digest of the bytecode. With a wrong signature the bytecode would not be decoded,
 * so it is read from a copy without a signature. */
static bool replace_bytecode_digest(const struct cvbc_module *m, const struct cvbc_resigning *how,
                                    uint8_t *integrity, penta_error *err)
{
    struct writer bytes = {0};
    struct cvbc_resigning unsigned_copy = {.hash_algorithm = how->hash_algorithm};
    struct cvbc_policy policy = m->policy;
    policy.require_signature = false;
    penta_module *copy = write_resigned(m, &unsigned_copy, integrity, &bytes, err)
                             ? cvbc_parse_under(writer_view(&bytes), &policy, err)
                             : NULL;
    if (!copy) {
        writer_free(&bytes);
        return false;
    }
    const struct cvbc_opened *o = cvbc_open(cvbc_module(copy));
    bool sealed = o->failure.code == CVBC_DECRYPT && !m->policy.has_secret;
    if (o->failure.code == CVBC_HASH && o->has_program)
        replace_digest(m, how, integrity, BYTECODE_DIGEST, o->program.image, 32, "bytecode_sha256");
    else if (o->failure.code && !sealed)
        *err = o->failure;
    cvbc_close_under(copy);
    writer_free(&bytes);
    return !err->code;
}

/* Replaces digests. The short digest covers the other two, so it is computed last, and once
 * before the copy is opened. */
static bool replace_digests(const struct cvbc_module *m, const struct cvbc_resigning *how,
                            uint8_t *integrity, penta_error *err)
{
    uint8_t *part = integrity;
    replace_digest(m, how, part, METADATA_DIGEST, m->metadata, 32, "metadata_sha256");
    penta_bytes digests = {integrity, SHORT_DIGEST};
    replace_digest(m, how, part, SHORT_DIGEST, digests, SHORT_DIGEST_BYTES,
                   "build_reproducible_hash");
    if (!replace_bytecode_digest(m, how, integrity, err)) return false;
    uint8_t digest[32];
    cvbc_digest(digests, digest);
    memcpy(integrity + SHORT_DIGEST, digest, SHORT_DIGEST_BYTES);
    return true;
}

static void tell_signature(const struct cvbc_module *m, const struct cvbc_resigning *how)
{
    penta_error replaced = {0};
    struct public_key key;
    const char *why, *kind = cvbc_name("signature_algorithm", m->protection.signature_algorithm);
    bool wrong = cvbc_open(m)->failure.code == CVBC_SIGNATURE;
    error_at(&replaced, wrong ? CVBC_SIGNATURE : CVBC_KEY, cvbc_offset(m, m->signature.data),
             wrong ? "replaced: a wrong %s signature" : "replaced: an %s signature, not checked",
             kind);
    if (key_public_raw((enum key_type)m->protection.signature_algorithm, m->public_key, &key,
                       &why)) {
        uint8_t print[32];
        char text[65];
        key_fingerprint(&key, print);
        for (int i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", print[i]);
        error_note(&replaced, "the file names key %s", text);
    }
    resign_tell(how, &replaced);
}

static const struct public_key *key_of(const struct cvbc_resigning *how)
{
    return how->key ? key_public_of(how->key) : how->reserve;
}

/* Tries whether a signature whose key is not in the file was made by the key that signs now. */
static bool resign_own(const struct cvbc_module *m, const struct cvbc_resigning *how,
                       struct writer *out, penta_error *err)
{
    struct public_key key = *key_of(how);
    struct cvbc_policy policy = m->policy;
    policy.trusted = &key;
    policy.trusted_count = 1;
    penta_module *copy = cvbc_parse_under(m->base.file, &policy, err);
    bool ok = copy && cvbc_resign(cvbc_module(copy), how, out, err);
    if (copy) cvbc_close_under(copy);
    return ok;
}

/* Signs a file. A signature confirms the contents, so a file that was changed after its last
 * signature is not signed. The requirements of the policy hold in any case. */
bool cvbc_resign(const struct cvbc_module *m, const struct cvbc_resigning *how, struct writer *out,
                 penta_error *err)
{
    const struct cvbc_opened *o = cvbc_open(m);
    uint32_t code = o->failure.code;
    bool signs = how->key || how->reserve;
    /* The signature was checked, and only decrypting failed. */
    bool sealed = code == CVBC_DECRYPT && !m->policy.has_secret;
    bool unsure = code == CVBC_SIGNATURE || code == CVBC_KEY, changed = code == CVBC_HASH;
    if (!code || sealed || (unsure && !signs)) return write_resigned(m, how, NULL, out, err);
    if (code == CVBC_KEY && !m->policy.require_signature && !m->public_key.size &&
        key_of(how)->type == (enum key_type)m->protection.signature_algorithm)
        return resign_own(m, how, out, err);
    if (m->policy.require_signature || !how->replace || !(unsure || changed)) {
        *err = o->failure;
        return false;
    }
    uint8_t integrity[cvbc_integrity_bytes];
    memcpy(integrity, m->security.data + cvbc_security_bytes, sizeof integrity);
    if (unsure) tell_signature(m, how);
    return replace_digests(m, how, integrity, err) && write_resigned(m, how, integrity, out, err);
}

/* Reads an INTEGER of a DER sequence as 32 bytes. */
static bool der_integer(penta_bytes *in, uint8_t out[32])
{
    if (in->size < 3 || in->data[0] != 2 || in->data[1] > 33 || in->data[1] + 2u > in->size)
        return false;
    penta_bytes v = {in->data + 2, in->data[1]};
    *in = (penta_bytes){in->data + 2 + v.size, in->size - 2 - v.size};
    while (v.size && !v.data[0]) v.data++, v.size--;
    if (v.size > 32) return false;
    memset(out, 0, 32);
    bytes_copy(out + 32 - v.size, v);
    return true;
}

/* Converts a signature to the form that containers have. A signature of ECDSA may also be DER;
 * the result then has the low s. */
static bool raw_signature(penta_bytes in, enum key_type type, uint8_t der[64], penta_bytes *out)
{
    *out = in;
    if (type == KEY_P256) *out = (penta_bytes){der, 64};
    if (key_signature_fits(type, in)) {
        if (type == KEY_P256) bytes_copy(der, in);
        return true;
    }
    if (type != KEY_P256 || in.size < 8 || in.data[0] != 0x30 || in.data[1] + 2u != in.size)
        return false;
    penta_bytes rest = {in.data + 2, in.size - 2};
    return der_integer(&rest, der) && der_integer(&rest, der + 32) && !rest.size;
}

/* Checks a signature. A wrong one is refused. One that cannot be checked is accepted, unless the
 * policy requires a good one. */
static bool resign_fits(const struct cvbc_module *m, penta_bytes file, penta_error *err)
{
    penta_module *made = cvbc_parse_under(file, &m->policy, err);
    if (!made) return false;
    const penta_error *objection = cvbc_objection(cvbc_module(made));
    if (objection) *err = *objection;
    cvbc_close_under(made);
    return !err->code;
}

bool cvbc_attach(const struct cvbc_module *m, penta_bytes signature, struct writer *out,
                 penta_error *err)
{
    uint8_t p256[64];
    penta_bytes raw;
    if (!m->has_protection || !(m->header.flags & CVBC_SIGNED) || !m->signature.size ||
        m->protection.signature_algorithm >= KEY_TYPES)
        return error_at(err, CVBC_UNSIGNED, 56, "the file has no space for a signature");
    enum key_type type = (enum key_type)m->protection.signature_algorithm;
    if (!raw_signature(signature, type, p256, &raw) || raw.size != m->signature.size)
        return error_at(err, CVBC_SIGNATURE, 0, "%zu bytes are not a signature of %s",
                        signature.size, cvbc_name("signature_algorithm", type));
    if (type == KEY_P256) sign_make_low(p256);
    writer_bytes(out, m->base.file.data, m->base.file.size);
    if (!writer_ok(out, err)) return false;
    bytes_copy(out->out.data + cvbc_offset(m, m->signature.data), raw);
    cvbc_build_crcs(out->out.data, out->out.size);
    return resign_fits(m, writer_view(out), err);
}
