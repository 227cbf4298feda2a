/* Replaces archive.c in builds without libarchive. Opening an archive then fails with an error. */
#include "batch/list/archive.h"

struct archive_reader *archive_reader_open(const char *path, penta_error *err)
{
    (void)path;
    error_at(err, BASE_UNSUPPORTED, 0, "this build reads no archives");
    error_note(err, "it was made without libarchive");
    return NULL;
}

double archive_part(struct archive_reader *a)
{
    (void)a;
    return 1;
}

void archive_reader_close(struct archive_reader *a) { (void)a; }

bool archive_member_next(struct archive_reader *a, const char **name, uint64_t *size,
                         penta_error *err)
{
    (void)a, (void)name, (void)size, (void)err;
    return false;
}

bool archive_member_read(struct archive_reader *a, uint64_t limit, penta_bytes *bytes,
                         penta_error *err)
{
    (void)a, (void)limit, (void)bytes, (void)err;
    return false;
}
