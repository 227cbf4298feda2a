/* Declarations that the files share which implement include/penta/cvbc.h. */
#pragma once
#include "cvbc/format/build.h"
#include "penta/cvbc.h"

bool cvbc_secret_copy(penta_bytes from, struct cvbc_secret *out, penta_error *err);
