/* Implements the functions that take a path of a file or folder. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <fcntl.h>
#include <unistd.h>
#include <utime.h>
#include "penta_console.h"
#include "system/system.h"
#include "system/weak.h"

static int path_fails(int number)
{
    errno = number;
    return -1;
}

static void stat_of(const struct console_stat *from, struct stat *to)
{
    struct timespec time = {(time_t)(from->modified / 1000000000),
                            (long)(from->modified % 1000000000)};
    *to = (struct stat){.st_dev = from->folder + 1,
                        .st_ino = from->number,
                        .st_mode = from->mode,
                        .st_nlink = 1,
                        .st_size = (off_t)from->size,
                        .st_blksize = 4096,
                        .st_blocks = (blkcnt_t)((from->size + 511) / 512),
                        .st_atim = time,
                        .st_mtim = time,
                        .st_ctim = time};
}

static int path_stat(const char *path, struct console_stat *status)
{
    struct penta_path p;
    if (!penta_path_of(path, &p)) return path_fails(ENAMETOOLONG);
    if (!p.size) return path_fails(ENOENT);
    return (int)penta_system_result(console_stat(p.text, p.size, status));
}

WEAK int stat(const char *path, struct stat *into)
{
    struct console_stat status;
    if (path_stat(path, &status) < 0) return -1;
    stat_of(&status, into);
    return 0;
}
WEAK int lstat(const char *path, struct stat *into) { return stat(path, into); }

WEAK int fstat(int fd, struct stat *into)
{
    struct console_stat status;
    if (penta_system_result(console_fstat(fd, &status)) < 0) return -1;
    stat_of(&status, into);
    return 0;
}

WEAK int access(const char *path, int how)
{
    struct console_stat status;
    if (path_stat(path, &status) < 0) return -1;
    if (how & W_OK && !(status.mode & S_IWUSR)) return path_fails(EROFS);
    if (how & X_OK && !(status.mode & S_IXUSR)) return path_fails(EACCES);
    return 0;
}

static int path_exists(const char *path)
{
    struct console_stat status;
    return path_stat(path, &status) < 0 ? -1 : 0;
}
static int fd_exists(int fd)
{
    struct console_stat status;
    return penta_system_result(console_fstat(fd, &status)) < 0 ? -1 : 0;
}
WEAK int chmod(const char *path, mode_t mode) { return (void)mode, path_exists(path); }
WEAK int fchmod(int fd, mode_t mode) { return (void)mode, fd_exists(fd); }
WEAK int chown(const char *path, uid_t u, gid_t g) { return (void)u, (void)g, path_exists(path); }
WEAK int lchown(const char *path, uid_t u, gid_t g) { return (void)u, (void)g, path_exists(path); }
WEAK int fchown(int fd, uid_t u, gid_t g) { return (void)u, (void)g, fd_exists(fd); }
WEAK int utime(const char *path, const struct utimbuf *t) { return (void)t, path_exists(path); }
WEAK int utimes(const char *path, const struct timeval t[2]) { return (void)t, path_exists(path); }
WEAK int futimens(int fd, const struct timespec t[2]) { return (void)t, fd_exists(fd); }
WEAK int utimensat(int folder, const char *path, const struct timespec t[2], int flags)
{
    (void)t, (void)flags;
    return folder == AT_FDCWD || *path == '/' ? path_exists(path) : path_fails(ENOSYS);
}

WEAK mode_t umask(mode_t mask)
{
    static mode_t now = 022;
    mode_t old = now;
    now = mask & 0777;
    return old;
}

static int path_call(const char *path, long (*call)(const char *path, size_t size))
{
    struct penta_path p;
    if (!penta_path_of(path, &p)) return path_fails(ENAMETOOLONG);
    if (!p.size) return path_fails(ENOENT);
    return (int)penta_system_result(call(p.text, p.size));
}

WEAK int unlink(const char *path) { return path_call(path, console_remove); }
WEAK int rmdir(const char *path) { return path_call(path, console_remove_folder); }
WEAK int mkdir(const char *path, mode_t mode)
{
    return (void)mode, path_call(path, console_make_folder);
}

WEAK int truncate(const char *path, off_t size)
{
    long fd = penta_system_result(penta_system_open(path, CONSOLE_WRITE));
    uint64_t wanted = (uint64_t)size;
    if (fd < 0) return -1;
    long result = size < 0 ? -EINVAL : console_truncate((int)fd, &wanted);
    console_close((int)fd);
    return (int)penta_system_result(result);
}

WEAK int link(const char *path, const char *other)
{
    return (void)path, (void)other, path_fails(EPERM);
}
WEAK int symlink(const char *path, const char *other)
{
    return (void)path, (void)other, path_fails(EPERM);
}
WEAK ssize_t readlink(const char *path, char *to, size_t size)
{
    (void)to, (void)size;
    return path_exists(path) < 0 ? -1 : path_fails(EINVAL);
}

/* Writes the path from the root, without ".", ".." and double slashes. `to` has PATH_MAX bytes. */
static char *path_clean(const char *path, char *to)
{
    struct penta_path p;
    if (!penta_path_of(path, &p)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    size_t used = 0;
    for (const char *at = p.text, *end; *at; at = end) {
        while (*at == '/') at++;
        end = at + strcspn(at, "/");
        size_t size = (size_t)(end - at);
        if (!size || (size == 1 && *at == '.')) continue;
        if (size == 2 && !memcmp(at, "..", 2)) {
            while (used && to[--used] != '/') continue;
            continue;
        }
        if (used + size + 2 > PATH_MAX) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        to[used++] = '/';
        memcpy(to + used, at, size);
        used += size;
    }
    if (!used) to[used++] = '/';
    to[used] = 0;
    return to;
}

WEAK char *realpath(const char *path, char *to)
{
    char place[PATH_MAX];
    if (path_exists(path) < 0 || !path_clean(path, place)) return NULL;
    return to ? strcpy(to, place) : strdup(place);
}

WEAK int chdir(const char *path)
{
    static char folder[PATH_MAX + 1];
    char place[PATH_MAX];
    struct console_stat status;
    if (path_stat(path, &status) < 0) return -1;
    if (!S_ISDIR(status.mode)) return path_fails(ENOTDIR);
    if (!path_clean(path, place)) return -1;
    strcpy(folder, place);
    if (folder[1]) strcat(folder, "/");
    penta_folder = folder;
    return 0;
}

WEAK char *getcwd(char *to, size_t size)
{
    const char *folder = penta_folder ? penta_folder : "/";
    size_t length = strlen(folder);
    if (length > 1) length--;
    if (!to) {
        if (!size) size = length + 1;
        to = size > length ? malloc(size) : NULL;
        if (!to && size > length) return NULL;
    }
    if (size <= length) {
        errno = ERANGE;
        return NULL;
    }
    memcpy(to, folder, length);
    to[length] = 0;
    return to;
}
