/* Has the table of key types, from keys.def. It needs no libcrypto, so every build has it. */
#include "crypto/keys.h"
#include <string.h>

static const struct {
    const char *name;
    size_t public_size, signature_size;
} types[KEY_TYPES] = {
#define KEY(id, name, public_size, signature_size) [KEY_##id] = {name, public_size, signature_size},
#include "crypto/keys.def"
};
#define KEY(id, name, public_size, signature_size)                                                 \
    _Static_assert(public_size <= KEY_PUBLIC_MAX && signature_size <= SIGNATURE_MAX, name);
#include "crypto/keys.def"

const char *key_type_name(enum key_type type) { return types[type].name; }
size_t key_public_size(enum key_type type) { return types[type].public_size; }
size_t key_signature_size(enum key_type type) { return types[type].signature_size; }
