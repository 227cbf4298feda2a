/* Signs with a private HSS key that lies in a file. A place of the key must never sign twice,
 * so the file is changed, and is on the disk, before a signature exists:
 *
 *     1. lock the folder of reservations
 *     2. read the key; refuse it when its next place is below the reserved one: it is an old copy
 *     3. write the key with the place taken
 *     4. write the reservation
 *     5. sign
 *
 * A process that ends in between loses a place and never frees one. The reservations lie in a
 * folder of this host and user, $XDG_STATE_HOME/penta/lms or ~/.local/state/penta/lms. They find
 * copies of a key file that are used on this host; nothing finds those on other hosts. */
#pragma once
#include "crypto/lms/hss.h"

/* A struct hss_file is the file of a key. Changes replace the key in the file's text; other text
 * stays. `folder` is that of the reservations, and NULL stands for the default. `rule` is the
 * caller's code for a key that cannot sign. */
struct hss_file {
    const char *path, *folder;
    uint32_t rule;
};

/* Signs, and says in *left how many places are left. `public_key` is the one that the caller
 * expects in the file. */
bool hss_file_sign(const struct hss_file *file, penta_bytes public_key, penta_bytes message,
                   struct writer *out, uint64_t *left, penta_error *err);
/* Cuts `count` places off the range of the key and makes them a key of its own, with the same
 * public key. `rest` gets the other text of the file. */
bool hss_file_cut(const struct hss_file *file, uint64_t count, struct hss_key *part,
                  struct writer *rest, penta_error *err);
