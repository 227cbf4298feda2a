/* Shared by the files that implement include/penta/cvbc.h. */
#pragma once
#include "cvbc/format/build.h"
#include "penta/cvbc.h"

/* The caller's buffer as a writer that appends to it, and back; freed on failure. */
static inline struct writer cvbc_buffer_take(penta_buffer *out)
{
    struct writer w = {.out = *out};
    *out = (penta_buffer){0};
    return w;
}
bool cvbc_buffer_give(struct writer *w, bool ok, penta_buffer *out, penta_error *err);

/* Copies a public struct into a build. The caller frees key and secret. */
bool cvbc_api_sign(struct cvbc_build *b, const penta_cvbc_signing *how, struct private_key **key,
                   penta_error *err);
bool cvbc_api_seal(struct cvbc_build *b, const penta_cvbc_sealing *how, struct cvbc_secret *secret,
                   penta_error *err);
bool cvbc_secret_copy(penta_bytes from, struct cvbc_secret *out, penta_error *err);
