/* The files that implement include/penta/cvbc.h share these declarations. */
#pragma once
#include "cvbc/format/build.h"
#include "penta/cvbc.h"

bool cvbc_secret_copy(penta_bytes from, struct cvbc_secret *out, penta_error *err);
