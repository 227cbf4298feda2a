/* Opens containers under a policy. Two bits of the last byte choose whether a signature is
 * required and whether there is a secret key. Magic number, size and CRCs are corrected, so that
 * mutated files pass these checks and reach the next ones. */
#include "fuzz.h"
#include "cvbc/format/build.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    if (size < 66) return;
    uint8_t mode = data[--size], *file = malloc(size);
    if (!file) return;
    memcpy(file, data, size);
    bytes_put32(file, CVBC_MAGIC_NUMBER);
    bytes_put32(file + 8, (uint32_t)size);
    cvbc_build_crcs(file, size);
    penta_error err = {0};
    penta_module *module = cvbc_parse((penta_bytes){file, size}, NULL, 0, &err);
    CHECK(module);
    struct cvbc_module *m = (struct cvbc_module *)module;
    m->policy.require_signature = mode & 1;
    m->policy.iterations_max = 1000;
    m->policy.inflate_max = 1 << 20;
    if (mode & 2) {
        m->policy.secret.bytes = calloc(1, 32);
        m->policy.secret.size = 32;
        m->policy.has_secret = m->policy.secret.bytes != NULL;
    }
    const struct cvbc_opened *o = cvbc_open(m);
    /* No key is trusted, so no signature can be accepted. */
    CHECK(!m->policy.require_signature || o->failure.code);
    CHECK(o->failure.code || o->contents_checked);
    penta_close(module);
    free(file);
}
