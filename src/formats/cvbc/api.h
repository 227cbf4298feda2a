/* Shared by the files that implement include/penta/cvbc.h. */
#pragma once
#include "cvbc/format/build.h"
#include "penta/cvbc.h"

/* Copies a public struct into a build. The caller frees key and secret. */
bool cvbc_api_sign(struct cvbc_build *b, const penta_cvbc_signing *how, struct private_key **key,
                   penta_error *err);
bool cvbc_api_seal(struct cvbc_build *b, const penta_cvbc_sealing *how, struct cvbc_secret *secret,
                   penta_error *err);
bool cvbc_secret_copy(penta_bytes from, struct cvbc_secret *out, penta_error *err);
