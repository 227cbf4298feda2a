/* What only CVBC containers can do: keys, building, signing, verification, compiling, legacy files,
 * boards. Options are those of the command line, by the same names (penta help create). Ownership,
 * threads and errors are those of penta.h. Private keys are PEM texts; whoever holds one wipes it.
 */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* type: "ed25519", "p256" or "rsa2048". The text is PKCS#8 PEM. */
PENTA_API bool penta_cvbc_keygen(const char *type, penta_buffer *private_pem, penta_error *err);
/* The public half of a key, as PEM, in its raw form, or its fingerprint (SHA-256 of the raw form).
 */
typedef enum penta_cvbc_form {
    PENTA_CVBC_PEM,
    PENTA_CVBC_RAW,
    PENTA_CVBC_FINGERPRINT
} penta_cvbc_form;
PENTA_API bool penta_cvbc_public_key(penta_bytes pem, penta_cvbc_form form, penta_buffer *out,
                                     penta_error *err);

/* A container from the program and metadata of another one (penta_assemble makes the first), with
 * what the options of `penta create` say. */
PENTA_API bool penta_cvbc_create(const penta_module *module, const penta_option *options,
                                 size_t count, penta_buffer *out, penta_error *err);
/* A container from source text; findings point into it. */
PENTA_API bool penta_cvbc_compile(penta_bytes source, const char *name, const penta_option *options,
                                  size_t count, penta_buffer *out, penta_report *report,
                                  void *user);
/* Signed anew with a private key in PEM; the bytecode stays as it is stored. */
PENTA_API bool penta_cvbc_sign(const penta_module *module, penta_bytes private_pem, bool embed_key,
                               penta_buffer *out, penta_error *err);
/* The 40 bytes that the signature of a signed file is over. */
PENTA_API bool penta_cvbc_tbs(const penta_module *module, uint8_t out[40], penta_error *err);

typedef struct penta_cvbc_verdict {
    uint32_t status;         /* 0, or the code of the first failure of verification */
    const char *name; /* of the status, as the format calls it: "OK", "SIGNATURE", "KEY" ... */
    bool is_signed, signature_good, trusted, contents_checked;
    size_t key;              /* which of the trusted keys, when trusted */
} penta_cvbc_verdict;
/* Under the policy that the module was opened with (trusted-key, require-signature, key-file ...).
 */
PENTA_API void penta_cvbc_verify(const penta_module *module, penta_cvbc_verdict *out);
/* The decoded bytecode section, borrowed from the module; false when verification fails. */
PENTA_API bool penta_cvbc_bytecode(const penta_module *module, penta_bytes *out, penta_error *err);

/* A program of one of the five layouts from before the container. */
PENTA_API bool penta_cvbc_convert_legacy(penta_bytes file, bool repair, penta_buffer *out,
                                         penta_report *report, void *user);
/* The four board files: trinity_board.h, trinity_pins.hpp, trinity.ld, trinity_board.json. board
 * NULL: the one that the containers name. */
PENTA_API bool penta_cvbc_board(const penta_module *const *modules, size_t count, const char *board,
                                penta_buffer out[4], penta_error *err);

#ifdef __cplusplus
}
#endif
