/* Converts ECDSA signatures to their low form. The signatures (r, s) and (r, n - s) fit the same
 * message, and the one with the smaller s is called low. Penta writes only that one, so that the
 * bytes of a signature are unique. */
#include "crypto/sign.h"
#include <string.h>

enum { N = 32 };

static const uint8_t order[N] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
                                 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};

/* Computes n - s for s below n; both are big-endian. */
static void low_s_negated(const uint8_t s[N], uint8_t out[N])
{
    int borrow = 0;
    for (int i = N - 1; i >= 0; i--) {
        int digit = order[i] - s[i] - borrow;
        borrow = digit < 0;
        out[i] = (uint8_t)(digit & 255);
    }
}

bool sign_is_low(const uint8_t signature[2 * N])
{
    uint8_t other[N];
    if (memcmp(signature + N, order, N) >= 0) return false;
    low_s_negated(signature + N, other);
    return memcmp(signature + N, other, N) < 0;
}

void sign_make_low(uint8_t signature[2 * N])
{
    uint8_t other[N];
    if (sign_is_low(signature) || memcmp(signature + N, order, N) >= 0) return;
    low_s_negated(signature + N, other);
    memcpy(signature + N, other, N);
}
