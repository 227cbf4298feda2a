/* Replaces file_write.c on hosts whose file systems have no links, locks or syncing, because one
 * program uses them alone. */
#include "base/file/file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool io_error(penta_error *err, const char *path, const char *verb)
{
    return error_at(err, BASE_IO, 0, "cannot %s '%.60s': %s", verb, path, strerror(errno));
}

bool file_write(const char *path, penta_bytes bytes, penta_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool ok = fd >= 0;
    for (size_t done = 0; ok && done < bytes.size;) {
        ssize_t n = write(fd, bytes.data + done, bytes.size - done);
        ok = n > 0;
        if (ok) done += (size_t)n;
    }
    if (!ok) io_error(err, path, "write");
    if (fd >= 0) close(fd);
    return ok;
}

bool file_sync_folder_of(const char *path, penta_error *err) { return (void)path, (void)err, true; }

bool file_remove(const char *path, penta_error *err)
{
    return !unlink(path) || errno == ENOENT || io_error(err, path, "remove");
}
