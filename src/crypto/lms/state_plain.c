/* Replaces state.c on hosts without folders, where the state of a private key cannot be kept
 * safely. */
#include "crypto/lms/state.h"

static bool state_refuse(penta_error *err)
{
    return error_at(err, BASE_UNSUPPORTED, 0, "this build cannot sign with LMS keys");
}

bool hss_file_sign(const struct hss_file *file, penta_bytes public_key, penta_bytes message,
                   struct writer *out, uint64_t *left, penta_error *err)
{
    (void)file, (void)public_key, (void)message, (void)out, (void)left;
    return state_refuse(err);
}

bool hss_file_cut(const struct hss_file *file, uint64_t count, struct hss_key *part,
                  struct writer *rest, penta_error *err)
{
    (void)file, (void)count, (void)rest;
    *part = (struct hss_key){0};
    return state_refuse(err);
}
