/* Is a JAM authorizer: a package may be reported when its token is the authorizer's configuration.
 *
 *     penta-cc -O2 authorizer.c --to jam --dispatch is_authorized --metadata 0005746f6b656e -o authorizer.jam */
#include <penta_jam.h>
#include <string.h>

enum { TOKEN_BYTES_MAX = 2048 };

static uint8_t configuration[TOKEN_BYTES_MAX], token[TOKEN_BYTES_MAX];

struct jam_bytes is_authorized(void)
{
    uint64_t size = jam_fetch(configuration, 0, sizeof configuration, JAM_CONFIGURATION, 0, 0);
    uint64_t given = jam_fetch(token, 0, sizeof token, JAM_TOKEN, 0, 0);
    if (size != given || size > sizeof token || memcmp(configuration, token, size)) penta_trap();
    return (struct jam_bytes){0, 0}; /* A trace of the authorization would be returned here. */
}
PENTA_EXPORT(is_authorized, 0);
