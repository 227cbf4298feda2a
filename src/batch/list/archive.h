/* Members of tar and zip archives, one after the other, without unpacking anything. */
#pragma once
#include "base/error.h"

struct archive_reader;
/* Tells whether the name ends like that of an archive: .tar, .tar.gz, .tgz, .tar.xz, .tar.zst,
 * .tar.bz2, .zip. */
bool archive_named(const char *path);
/* Fails with BASE_IO or BASE_DAMAGED. */
struct archive_reader *archive_reader_open(const char *path, penta_error *err);
void archive_reader_close(struct archive_reader *a);
/* Goes to the next member that is a file. `*name` is borrowed until the next call; `*size` is
 * what the archive claims, 0 when it does not say. False at the end, and where the archive is
 * damaged: then err says so. */
bool archive_member_next(struct archive_reader *a, const char **name, uint64_t *size,
                         penta_error *err);
/* Which part of the file has been read, 0 to 1. */
double archive_part(struct archive_reader *a);
/* The bytes of this member, at most `limit`, borrowed until the next call. */
bool archive_member_read(struct archive_reader *a, uint64_t limit, penta_bytes *bytes,
                         penta_error *err);
