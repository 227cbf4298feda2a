/* Has the table of key types, from keys.def. It needs no libcrypto, so every build has it. */
#include "crypto/keys.h"
#include "base/bytes.h"
#include "crypto/lms/hss.h"
#include <string.h>

static const struct {
    const char *name;
    size_t public_size, signature_size;
} types[KEY_TYPES] = {
#define KEY(id, name, public_size, signature_size) [KEY_##id] = {name, public_size, signature_size},
#include "crypto/keys.def"
};
#define KEY(id, name, public_size, signature_size)                                                 \
    _Static_assert(public_size <= KEY_PUBLIC_MAX, name);
#include "crypto/keys.def"
_Static_assert(ED25519_PUBLIC + HSS_PUBLIC_MAX <= KEY_PUBLIC_MAX, "both");

const char *key_type_name(enum key_type type) { return types[type].name; }
size_t key_public_size(enum key_type type) { return types[type].public_size; }
size_t key_signature_size(enum key_type type) { return types[type].signature_size; }

/* Cuts off the Ed25519 half of a key or signature of both. */
static bool key_types_lms_part(enum key_type type, penta_bytes *bytes, size_t ed25519)
{
    if (type == KEY_LMS) return true;
    if (type != KEY_ED25519_LMS || bytes->size < ed25519) return false;
    *bytes = bytes_slice(*bytes, ed25519, bytes->size);
    return true;
}

bool key_public_fits(enum key_type type, penta_bytes raw)
{
    if (key_public_size(type)) return raw.size == key_public_size(type);
    return key_types_lms_part(type, &raw, ED25519_PUBLIC) && !hss_public_flaw(raw);
}

static bool key_types_zeros(penta_bytes bytes)
{
    return bytes.size && !bytes.data[0] && !memcmp(bytes.data, bytes.data + 1, bytes.size - 1);
}

bool key_signature_fits(enum key_type type, penta_bytes signature)
{
    if (key_signature_size(type)) return signature.size == key_signature_size(type);
    return key_types_lms_part(type, &signature, ED25519_SIGNATURE) && signature.size &&
           signature.size <= HSS_SIGNATURE_MAX &&
           (key_types_zeros(signature) || hss_signature_size(signature) == signature.size);
}

size_t key_signature_space(const struct public_key *key)
{
    penta_bytes lms = {key->bytes, key->size};
    struct hss_key like = {0};
    if (key_signature_size(key->type)) return key_signature_size(key->type);
    size_t first = key->type == KEY_ED25519_LMS ? ED25519_SIGNATURE : 0;
    if (!key_types_lms_part(key->type, &lms, ED25519_PUBLIC) || hss_public_flaw(lms)) return 0;
    uint32_t tree = (uint32_t)bytes_uint(lms.data + 4, 4, true),
             ots = (uint32_t)bytes_uint(lms.data + 8, 4, true);
    for (uint64_t levels = bytes_uint(lms.data, 4, true); like.levels < levels; like.levels++)
        lms_parameters_find(tree, ots, &like.p[like.levels]);
    return first + hss_key_signature_size(&like);
}
