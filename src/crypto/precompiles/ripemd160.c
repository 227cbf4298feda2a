/* Computes RIPEMD-160 by libcrypto. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ripemd.h>
#include "crypto/precompiles/precompiles.h"

/* The function uses the old interface of libcrypto, because the new one needs a provider that
 * may not be installed. */
bool precompile_ripemd160(penta_bytes in, uint8_t out[20], struct long_work *work)
{
#ifdef OPENSSL_NO_RMD160
    (void)in, (void)out, (void)work;
    return false;
#else
    enum { PIECE = 1 << 16, PIECE_UNITS = PIECE / 16 };
    RIPEMD160_CTX state;
    bool ok = RIPEMD160_Init(&state);
    for (size_t at = 0; ok && at < in.size && !long_work_over(work, PIECE_UNITS); at += PIECE)
        ok = RIPEMD160_Update(&state, in.data + at, in.size - at < PIECE ? in.size - at : PIECE);
    return ok && RIPEMD160_Final(out, &state);
#endif
}
