/* Replaces whole files. The bytes first go to a file without a name, of which nothing is left
 * after a kill. It gets a temporary name only to be renamed over the old file. On filesystems
 * without nameless files it has the temporary name from the start. Either way its writer holds a
 * lock on it. So a temporary file without a lock was left by a writer that was killed, and the
 * next write removes it. */
#include "base/codec/checksum.h"
#include "base/file/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40, /* how many symbolic links are followed: as many as the Linux kernel follows */
    /* A file has so many numbered temporary names, so that so many processes may write it at the
     * same time. */
    SLOTS = 4,
    ACL_MAX = 4096,
};

struct target { /* A struct target is the file to be replaced. */
    char path[PATH_MAX];
    const char *name; /* the last part of the path of the file */
    int folder;
    bool readable; /* The folder is readable, so it can be synced. */
    bool exists;
    struct stat old;
};

struct temporary {
    int fd;
    /* `name` is the name of the temporary file in the folder of the target, or empty while it
     * has none. */
    char name[64];
};

static bool io_error(penta_error *err, const char *path, const char *verb)
{
    return error_at(err, BASE_IO, 0, "cannot %s '%.60s': %s", verb, path, strerror(errno));
}

static bool file_write_fail(int code)
{
    errno = code;
    return false;
}

/* Returns the length of the path up to and with its last slash, or 0 for a name in the current
 * folder. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static int open_folder(const char *path, bool *readable)
{
    char folder[PATH_MAX];
    size_t n = folder_length(path);
    if (n >= sizeof folder) return errno = ENAMETOOLONG, -1;
    memcpy(folder, n ? path : ".", n ? n : 1);
    folder[n ? n : 1] = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *readable = fd >= 0;
    if (fd < 0 && errno == EACCES) fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd;
}

/* Tells whether a symbolic link may be followed. In a folder where everybody may create files, a
 * link that somebody else made is not, because it would choose which of our files is replaced. */
static bool link_may_follow(const char *path, const struct stat *link)
{
    char folder[PATH_MAX];
    struct stat st;
    size_t n = folder_length(path);
    memcpy(folder, n ? path : ".", n ? n : 1);
    folder[n ? n : 1] = 0;
    if (stat(folder, &st)) return false;
    bool shared = (st.st_mode & S_ISVTX) && (st.st_mode & S_IWOTH);
    return !shared || link->st_uid == geteuid() || link->st_uid == st.st_uid ||
           file_write_fail(EACCES);
}

/* Replaces the last name of the path by the name that it links to. */
static bool file_write_follow(char path[PATH_MAX])
{
    char to[PATH_MAX];
    ssize_t length = readlink(path, to, sizeof to);
    if (length < 0) return false;
    size_t n = to[0] == '/' ? 0 : folder_length(path);
    if (!length || n + (size_t)length >= PATH_MAX) return file_write_fail(ENAMETOOLONG);
    memcpy(path + n, to, (size_t)length);
    path[n + (size_t)length] = 0;
    return true;
}

/* Finds the file that the symbolic links at the path lead to. The file need not exist. */
static bool file_write_resolve(struct target *t, const char *path)
{
    if (strlen(path) >= sizeof t->path) return file_write_fail(ENAMETOOLONG);
    strcpy(t->path, path);
    for (unsigned i = 0;; i++) {
        t->exists = !lstat(t->path, &t->old);
        if (!t->exists && errno != ENOENT) return false;
        if (!t->exists || !S_ISLNK(t->old.st_mode)) break;
        if (i == LINKS_MAX) return file_write_fail(ELOOP);
        if (!link_may_follow(t->path, &t->old) || !file_write_follow(t->path)) return false;
    }
    t->name = t->path + folder_length(t->path);
    return *t->name || file_write_fail(*path ? EISDIR : ENOENT);
}

static bool folder_stat(struct target *t, struct stat *st)
{
    size_t n = folder_length(t->path);
    char name = t->path[n];
    if (!n) return !stat(".", st);
    t->path[n] = 0;
    bool ok = !stat(t->path, st);
    t->path[n] = name;
    return ok;
}

bool file_same_target(const char *a, const char *b)
{
    struct target x, y;
    struct stat in_x, in_y;
    if (!file_write_resolve(&x, a) || !file_write_resolve(&y, b) || x.exists != y.exists)
        return false;
    if (x.exists)
        return S_ISREG(x.old.st_mode) && x.old.st_dev == y.old.st_dev &&
               x.old.st_ino == y.old.st_ino;
    return folder_stat(&x, &in_x) && folder_stat(&y, &in_y) && in_x.st_dev == in_y.st_dev &&
           in_x.st_ino == in_y.st_ino && !strcmp(x.name, y.name);
}

static bool bytes_write_all(int fd, penta_bytes bytes)
{
    while (bytes.size) {
        ssize_t n = write(fd, bytes.data, bytes.size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes.data += n;
        bytes.size -= (size_t)n;
    }
    return true;
}

/* Copies the access list of the old file. Returns false when the new file does not get it. */
static bool copy_acl(const struct target *t, int fd)
{
    static const char acl[] = "system.posix_acl_access";
    char list[ACL_MAX];
    ssize_t size = getxattr(t->path, acl, list, sizeof list);
    if (size < 0 && errno == ENODATA) return !fremovexattr(fd, acl) || errno == ENODATA;
    if (size < 0) return errno == ENOTSUP;
    return !fsetxattr(fd, acl, list, (size_t)size, 0);
}

/* Gives the new file the rights of the old one. Where the group or the access list cannot be
 * kept, the group gets the rights of everybody, so that no other group gains any. Set-id bits
 * are dropped, as any write drops them. */
static bool copy_rights(const struct target *t, int fd)
{
    struct stat now;
    mode_t mode = t->old.st_mode & 0777;
    if (fstat(fd, &now)) return false;
    bool owned = now.st_uid == t->old.st_uid && now.st_gid == t->old.st_gid;
    bool group = owned || !fchown(fd, t->old.st_uid, t->old.st_gid) ||
                 now.st_gid == t->old.st_gid || !fchown(fd, (uid_t)-1, t->old.st_gid);
    if (!copy_acl(t, fd) || !group) mode &= ~(mode_t)070 | ((mode & 07) << 3);
    return !fchmod(fd, mode);
}

static bool file_write_fill(const struct target *t, int fd, penta_bytes bytes)
{
    return bytes_write_all(fd, bytes) && (!t->exists || copy_rights(t, fd)) && !fsync(fd);
}

/* Makes a temporary name, which is short however long the target's name is. The name after the
 * numbered ones is random, for a folder in which other writers hold all of the numbered names. */
static void temporary_name(const struct target *t, unsigned slot, char name[64])
{
    uint32_t crc = checksum_crc32((penta_bytes){(const uint8_t *)t->name, strlen(t->name)});
    uint64_t chance = 0;
    if (slot < SLOTS) {
        snprintf(name, 64, ".penta-%08x-%u", (unsigned)crc, slot);
    } else {
        if (getrandom(&chance, sizeof chance, 0) < 0) chance = (uint64_t)getpid();
        snprintf(name, 64, ".penta-%08x-%016llx", (unsigned)crc, (unsigned long long)chance);
    }
}

/* Removes a temporary file that no writer holds any more. */
static void remove_stale(const struct target *t, const char *name)
{
    struct stat st, now;
    int fd = openat(t->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    /* The temporary file has the rights of its target, which may be unreadable. */
    if (fd < 0 && errno == EACCES)
        fd = openat(t->folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB) &&
        !fstatat(t->folder, name, &now, AT_SYMLINK_NOFOLLOW) && now.st_ino == st.st_ino &&
        now.st_dev == st.st_dev)
        unlinkat(t->folder, name, 0);
    close(fd);
}

static void remove_all_stale(const struct target *t)
{
    char name[64];
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        temporary_name(t, slot, name);
        remove_stale(t, name);
    }
}

/* Gives the nameless file a name. This goes through /proc, because linking by descriptor takes a
 * privilege. */
static bool link_as(const struct target *t, int fd, const char *name)
{
    char path[40];
    if (!linkat(fd, "", t->folder, name, AT_EMPTY_PATH)) return true;
    if (errno == EEXIST) return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return !linkat(AT_FDCWD, path, t->folder, name, AT_SYMLINK_FOLLOW);
}

/* Creates a file and locks it. Between the two, another writer may take the file for a leftover
 * and remove it; then this function tries again. */
static int create_locked(const struct target *t, const char *name, mode_t mode)
{
    struct stat st;
    for (unsigned tries = 0; tries < 100; tries++) {
        int fd = openat(t->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0) return fd;
        while (flock(fd, LOCK_EX) && errno == EINTR) {
        }
        if (!fstat(fd, &st) && st.st_nlink) return fd;
        close(fd);
    }
    return errno = EAGAIN, -1;
}

/* Writes the bytes to a nameless file and gives it a name. Returns false with errno 0 when this
 * filesystem has no nameless files or cannot name them. A file that did not exist before gets
 * its own name at once. */
static bool write_nameless(const struct target *t, penta_bytes bytes, struct temporary *out)
{
    out->fd = openat(t->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, t->exists ? 0600 : 0666);
    if (out->fd < 0) return file_write_fail(0);
    flock(out->fd, LOCK_EX | LOCK_NB);
    if (!file_write_fill(t, out->fd, bytes)) return false;
    if (!t->exists && link_as(t, out->fd, t->name)) return true;
    for (unsigned slot = 0; slot <= SLOTS; slot++) {
        temporary_name(t, slot, out->name);
        if (link_as(t, out->fd, out->name)) return true;
        if (errno != EEXIST) break;
    }
    *out->name = 0;
    return errno == EEXIST ? false : file_write_fail(0);
}

static bool write_named(const struct target *t, penta_bytes bytes, struct temporary *out)
{
    out->fd = -1;
    for (unsigned slot = 0; slot <= SLOTS && out->fd < 0; slot++) {
        temporary_name(t, slot, out->name);
        out->fd = create_locked(t, out->name, t->exists ? 0600 : 0666);
        if (out->fd < 0 && errno != EEXIST) break;
    }
    if (out->fd < 0) *out->name = 0;
    return out->fd >= 0 && file_write_fill(t, out->fd, bytes);
}

/* Waits until the names in the folder are on the disk. A folder that may be written but not read
 * cannot be synced by itself. */
static bool sync_folder(int folder, bool readable, int file)
{
    if (!readable) return file < 0 || !syncfs(file);
    /* EINVAL means that this filesystem has nothing to sync. */
    return !fsync(folder) || errno == EINVAL;
}

static bool file_write_replace(const struct target *t, penta_bytes bytes)
{
    struct temporary file = {.fd = -1};
    remove_all_stale(t);
    bool ok = write_nameless(t, bytes, &file);
    if (!ok && !errno) {
        if (file.fd >= 0) close(file.fd);
        ok = write_named(t, bytes, &file);
    }
    if (ok && *file.name && renameat(t->folder, file.name, t->folder, t->name)) ok = false;
    if (!ok && *file.name) {
        int saved = errno;
        unlinkat(t->folder, file.name, 0);
        errno = saved;
    }
    ok = ok && sync_folder(t->folder, t->readable, file.fd);
    int saved = errno;
    if (file.fd >= 0 && close(file.fd) && ok) return false;
    return ok || file_write_fail(saved);
}

static bool write_special(const char *path, penta_bytes bytes)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    bool ok = fd >= 0 && bytes_write_all(fd, bytes);
    int saved = errno;
    if (fd >= 0 && close(fd) && ok) return false;
    return ok || file_write_fail(saved);
}

bool file_write(const char *path, penta_bytes bytes, penta_error *err)
{
    struct stat st;
    struct target t = {.folder = -1};
    bool special = !stat(path, &st) && !S_ISREG(st.st_mode), ok;
    if (special) return write_special(path, bytes) || io_error(err, path, "write");
    ok = file_write_resolve(&t, path) && (t.folder = open_folder(t.path, &t.readable)) >= 0 &&
         file_write_replace(&t, bytes);
    if (!ok) io_error(err, path, "write");
    if (t.folder >= 0) close(t.folder);
    return ok;
}

bool file_sync_folder_of(const char *path, penta_error *err)
{
    bool readable;
    char plain[PATH_MAX];
    int n = snprintf(plain, sizeof plain, "%s", path);
    while (n > 1 && n < (int)sizeof plain && plain[n - 1] == '/') plain[--n] = 0;
    int folder = open_folder(plain, &readable);
    bool ok = folder >= 0 && sync_folder(folder, readable, -1);
    if (!ok) io_error(err, path, "sync the folder of");
    if (folder >= 0) close(folder);
    return ok;
}

bool file_remove(const char *path, penta_error *err)
{
    if (!unlink(path)) return file_sync_folder_of(path, err);
    return errno == ENOENT || io_error(err, path, "remove");
}
