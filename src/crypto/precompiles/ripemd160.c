#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ripemd.h>
#include "crypto/precompiles/precompiles.h"

/* By the old interface: the new one needs a provider that may not be installed. */
bool precompile_ripemd160(penta_bytes in, uint8_t out[20])
{
#ifdef OPENSSL_NO_RMD160
    (void)in, (void)out;
    return false;
#else
    return RIPEMD160(in.data, in.size, out) != NULL;
#endif
}
