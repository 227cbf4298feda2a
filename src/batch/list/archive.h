/* Declares a reader of tar and zip archives, which gives one member after the other without
 * unpacking anything. */
#pragma once
#include "base/error.h"

struct archive_reader;
/* Tells whether the name has the ending of an archive: .tar, .tar.gz, .tgz, .tar.xz, .tar.zst,
 * .tar.bz2, .zip. */
bool archive_named(const char *path);
/* Opens an archive. Fails with BASE_IO or BASE_DAMAGED. */
struct archive_reader *archive_reader_open(const char *path, penta_error *err);
void archive_reader_close(struct archive_reader *a);
/* Goes to the next member that is a file. `*name` is borrowed until the next call. `*size` is
 * the size in the archive's header, or 0 when it gives none. Returns false at the end, and with
 * an error in err when the archive is damaged. */
bool archive_member_next(struct archive_reader *a, const char **name, uint64_t *size,
                         penta_error *err);
/* Returns which part of the file has been read, from 0 to 1. */
double archive_part(struct archive_reader *a);
/* Reads the bytes of this member, at most `limit`. They are borrowed until the next call. */
bool archive_member_read(struct archive_reader *a, uint64_t limit, penta_bytes *bytes,
                         penta_error *err);
