/* An archive (.a) holds objects: "!<arch>\n", then members, each after a header of 60 bytes of
 * text. */
#pragma once
#include "base/error.h"

bool archive_probe(penta_bytes bytes);
/* Returns the first object of an archive, or all the bytes when the file is no archive. The
 * result is empty when the archive has no object or is damaged. */
penta_bytes archive_first(penta_bytes bytes);
/* Writes the name of a member as linkers do, "ARCHIVE(MEMBER)". `text` has room for both names
 * and 3 bytes more. */
void archive_member_name(char *text, const char *archive, penta_bytes name);
/* Calls visit with each object of the archive and with the archive's own name. Returns false
 * with an error when the archive is damaged, and false without an error when visit returned
 * false. */
bool archive_each(penta_bytes bytes, const char *archive,
                  bool (*visit)(void *user, const char *archive, penta_bytes name,
                                penta_bytes object),
                  void *user, penta_error *err);
