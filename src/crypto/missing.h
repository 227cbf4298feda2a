/* Builds without libcrypto refuse what needs it; this tells whoever has another build at hand. */
#pragma once
#include <stdbool.h>

/* Something was refused for this reason since the last call. */
bool crypto_missing(void);
/* Only in such builds: notes that something is refused; false. */
bool crypto_refuse(void);
