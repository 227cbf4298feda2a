/* Declares signing with a key that stays in a token, over PKCS #11. */
#pragma once
#include "cli/cli.h"

struct pkcs11_key {
    const char *module;   /* the library of the token */
    const char *label;    /* the label of the private key */
    const char *pin_file; /* the file of the PIN; one newline at its end is not part of the PIN */
};
/* Appends the signature of the message, raw: r and s for ECDSA. */
bool pkcs11_sign(const struct pkcs11_key *key, penta_bytes message, penta_buffer *signature,
                 penta_error *err);
