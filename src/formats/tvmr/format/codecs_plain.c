/* Replaces codecs.c in builds without the libraries. Such a build cannot open compressed or
 * encrypted files. */
#include "tvmr/tvmr.h"
#include <string.h>

bool tvmr_lz4_expand(penta_bytes in, uint8_t *out, size_t size)
{
    (void)in, (void)out, (void)size;
    return false;
}

bool tvmr_lz4_pack(penta_bytes in, struct writer *out)
{
    (void)in, (void)out;
    return false;
}

enum verdict tvmr_cipher_open(const uint8_t key[32], penta_bytes header, penta_bytes in,
                              uint8_t *out)
{
    (void)key, (void)header, (void)in, (void)out;
    return VERDICT_FAILED;
}

bool tvmr_cipher_seal(const uint8_t key[32], const uint8_t *nonce, penta_bytes header,
                      penta_bytes in, struct writer *out, penta_error *err)
{
    (void)key, (void)nonce, (void)header, (void)in, (void)out;
    return error_at(err, BASE_UNSUPPORTED, 0, "this build has no ciphers");
}

void tvmr_wipe(void *bytes, size_t size)
{
    volatile uint8_t *p = bytes;
    while (size--) *p++ = 0;
}
