/* Archives (.a) of objects: "!<arch>\n", then members after 60-byte headers of text. */
#pragma once
#include "base/error.h"

bool archive_probe(penta_bytes bytes);
/* Calls visit with each object of the archive, and passes it the archive's own name. False with an
 * error when the archive is damaged, and without one when visit returned false. */
bool archive_each(penta_bytes bytes, const char *archive,
                  bool (*visit)(void *user, const char *archive, penta_bytes name,
                                penta_bytes object),
                  void *user, penta_error *err);
