/* Signing a file that exists: the bytecode stays as it is stored, so no key is needed to read it.
 */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/build.h"

/* Only a file whose contents are what it says is signed; a bad old signature does not matter. */
static bool may_sign(const struct cvbc_opened *o, penta_error *err)
{
    switch (o->failure.code) {
    case 0:
    case CVBC_UNSIGNED:
    case CVBC_KEY:
    case CVBC_SIGNATURE:
    case CVBC_UNTRUSTED:
    case CVBC_DECRYPT: return true;
    default: *err = o->failure; return false;
    }
}

static penta_bytes trailing(const struct cvbc_module *m)
{
    struct cvbc_piece pieces[9];
    size_t count = cvbc_pieces(m, pieces);
    return count && pieces[count - 1].kind == CVBC_PIECE_GAP ? pieces[count - 1].bytes
                                                             : (penta_bytes){0};
}

bool cvbc_resign(const struct cvbc_module *m, const struct cvbc_resigning *how, struct writer *out,
                 penta_error *err)
{
    const struct cvbc_opened *o = cvbc_open(m);
    if (!may_sign(o, err)) return false;
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
                           .debug = m->debug,
                           .trailing = trailing(m),
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
        memcpy(b.integrity_over.bytes, m->security.data + cvbc_security_bytes,
               cvbc_integrity_bytes);
        memset(b.integrity_over.mask, 1, cvbc_integrity_bytes);
        b.integrity_over.used = true;
    }
    bool ok = cvbc_build_write(&b, out, err);
    cvbc_build_fini(&b);
    return ok;
}

/* One INTEGER of a DER sequence as 32 bytes. */
static bool der_integer(penta_bytes *in, uint8_t out[32])
{
    if (in->size < 3 || in->data[0] != 2 || in->data[1] > 33 || in->data[1] + 2u > in->size)
        return false;
    penta_bytes v = {in->data + 2, in->data[1]};
    *in = (penta_bytes){in->data + 2 + v.size, in->size - 2 - v.size};
    while (v.size && !v.data[0]) v.data++, v.size--;
    if (v.size > 32) return false;
    memset(out, 0, 32);
    if (v.size) memcpy(out + 32 - v.size, v.data, v.size);
    return true;
}

static bool raw_signature(penta_bytes in, enum key_type type, uint8_t out[SIGNATURE_MAX])
{
    if (in.size == key_signature_size(type)) {
        memcpy(out, in.data, in.size);
        return true;
    }
    if (type != KEY_P256 || in.size < 8 || in.data[0] != 0x30 || in.data[1] + 2u != in.size)
        return false;
    penta_bytes rest = {in.data + 2, in.size - 2};
    return der_integer(&rest, out) && der_integer(&rest, out + 32) && !rest.size;
}

bool cvbc_attach(const struct cvbc_module *m, penta_bytes signature, struct writer *out,
                 penta_error *err)
{
    uint8_t raw[SIGNATURE_MAX];
    if (!m->has_protection || !(m->header.flags & CVBC_SIGNED) || !m->signature.size ||
        m->protection.signature_algorithm >= KEY_TYPES) {
        error_at(err, CVBC_UNSIGNED, 56, "the file has no room for a signature");
        return error_note(err, "penta sign --public-key FILE --export-tbs FILE makes it");
    }
    enum key_type type = (enum key_type)m->protection.signature_algorithm;
    if (!raw_signature(signature, type, raw) || key_signature_size(type) != m->signature.size)
        return error_at(err, CVBC_SIGNATURE, 0, "%zu bytes are not a signature of %s",
                        signature.size, cvbc_name("signature_algorithm", type));
    writer_bytes(out, m->base.file.data, m->base.file.size);
    if (!writer_ok(out, err)) return false;
    memcpy(out->out.data + cvbc_offset(m, m->signature.data), raw, m->signature.size);
    cvbc_build_crcs(out->out.data, out->out.size);
    return true;
}
