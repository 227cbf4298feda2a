#include "crypto/missing.h"

bool crypto_missing(void) { return false; }
