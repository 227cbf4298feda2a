/* Reads whole files, pipes and devices under a limit. Relies on POSIX read and fstat. */
#include "base/file/file.h"
#include "base/file/file_list.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool io_error(penta_error *err, const char *name, const char *verb)
{
    return error_at(err, BASE_IO, 0, "cannot %s '%.60s': %s", verb, name, strerror(errno));
}

static bool file_over_limit(penta_error *err, const char *name, uint64_t limit)
{
    return error_at(err, BASE_LIMIT, limit, "'%.60s' has more than %llu bytes", name,
                    (unsigned long long)limit);
}

bool file_read_fd(int fd, const char *name, uint64_t limit, penta_buffer *out, penta_error *err)
{
    struct stat st;
    if (fstat(fd, &st)) return io_error(err, name, "read");
    file_list_read(&st);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return io_error(err, name, "read");
    }
    size_t expected = 0;
    if (S_ISREG(st.st_mode)) {
        if ((uint64_t)st.st_size > limit) return file_over_limit(err, name, limit);
        expected = (size_t)st.st_size;
    }
    /* With room for one byte more, the first read shows that the file has ended. */
    size_t capacity = expected + 1 > 65536 ? expected + 1 : 65536;
    *out = (penta_buffer){.data = malloc(capacity), .capacity = capacity};
    while (out->data) {
        if (out->size == out->capacity) {
            uint8_t *more = realloc(out->data, out->capacity * 2);
            if (!more) break;
            out->data = more;
            out->capacity *= 2;
        }
        ssize_t n = read(fd, out->data + out->size, out->capacity - out->size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (n < 0) io_error(err, name, "read");
            if (n == 0) return true;
            penta_buffer_free(out);
            return false;
        }
        out->size += (size_t)n;
        if (out->size > limit) {
            penta_buffer_free(out);
            return file_over_limit(err, name, limit);
        }
    }
    penta_buffer_free(out);
    return error_at(err, BASE_MEMORY, 0, "no memory to read '%.60s'", name);
}

static bool read_path(const char *path, int flags, uint64_t limit, penta_buffer *out,
                      penta_error *err)
{
    *out = (penta_buffer){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
    if (fd < 0) return io_error(err, path, "open");
    struct stat st;
    bool ok = true;
    if (flags & O_NONBLOCK && !fstat(fd, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        ok = error_at(err, BASE_IO, 0, "'%.60s' is not a regular file", path);
    ok = ok && file_read_fd(fd, path, limit, out, err);
    close(fd);
    return ok;
}

bool file_read(const char *path, uint64_t limit, penta_buffer *out, penta_error *err)
{
    return read_path(path, 0, limit, out, err);
}

/* Opens with O_NONBLOCK, because opening a pipe must not wait for its writer. */
bool file_read_regular(const char *path, uint64_t limit, penta_buffer *out, penta_error *err)
{
    return read_path(path, O_NONBLOCK, limit, out, err);
}
