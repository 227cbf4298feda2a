/* Archives (.a) of objects: "!<arch>\n", then members after 60-byte headers of text. */
#pragma once
#include "base/error.h"

bool archive_probe(penta_bytes bytes);
/* The first object of an archive; a file that is no archive is that itself. Empty: it has none, or is
 * damaged. */
penta_bytes archive_first(penta_bytes bytes);
/* The name of a member, "ARCHIVE(MEMBER)", as linkers write it, into text, which has 3 bytes more
 * than both names. */
void archive_member_name(char *text, const char *archive, penta_bytes name);
/* Calls visit with each object of the archive, and passes it the archive's own name. False with an
 * error when the archive is damaged, and without one when visit returned false. */
bool archive_each(penta_bytes bytes, const char *archive,
                  bool (*visit)(void *user, const char *archive, penta_bytes name,
                                penta_bytes object),
                  void *user, penta_error *err);
