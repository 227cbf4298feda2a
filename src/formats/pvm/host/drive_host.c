/* Makes a drive of a folder of the host. Paths are opened by pvm_open_beneath, which cannot
 * leave the folder. Where the system has no such call they are opened name by name, by
 * descriptors that follow no link; so in both ways nothing can change between the check of a
 * path and its use. */
#include "pvm/host/drive.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/error.h"
#include "pvm/host/beneath.h"

enum { NAME_BYTES = 256 };

struct host_drive {
    struct pvm_drive base;
    int root;
};

static struct host_drive *host_drive_of(struct pvm_drive *d) { return (struct host_drive *)d; }

static int host_error(int host_errno)
{
    switch (host_errno) {
    case ENOENT: return -PVM_ENOENT;
    case EINTR: return -PVM_EINTR;
    case EBADF: return -PVM_EBADF;
    case ENOMEM: return -PVM_ENOMEM;
    case EACCES:
    case EPERM:
    case ELOOP: return -PVM_EACCES;
    case EBUSY: return -PVM_EBUSY;
    case EEXIST: return -PVM_EEXIST;
    case EXDEV: return -PVM_EXDEV;
    case ENOTDIR: return -PVM_ENOTDIR;
    case EISDIR: return -PVM_EISDIR;
    case EINVAL: return -PVM_EINVAL;
    case EMFILE:
    case ENFILE: return -PVM_EMFILE;
    case ENOSPC:
    case EFBIG:
    case EDQUOT: return -PVM_ENOSPC;
    case ESPIPE: return -PVM_ESPIPE;
    case EROFS: return -PVM_EROFS;
    case ENAMETOOLONG: return -PVM_ENAMETOOLONG;
    case ENOTEMPTY: return -PVM_ENOTEMPTY;
    default: return -PVM_EIO;
    }
}

/* Takes the next name off the path. Returns false at its end, or when the name is too long. */
static bool host_name_next(const char **path, char *name)
{
    size_t size = strcspn(*path, "/");
    if (!size || size >= NAME_BYTES) return false;
    memcpy(name, *path, size);
    name[size] = 0;
    *path += size + ((*path)[size] == '/');
    return true;
}

/* Opens the path name by name. Returns a descriptor, or -1 and errno. */
static int host_walk(int root, const char *path, int flags, unsigned mode)
{
    char name[NAME_BYTES];
    int folder = -1, next;
    while (strchr(path, '/') && host_name_next(&path, name)) {
        next =
            openat(folder < 0 ? root : folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        if (folder >= 0) close(folder);
        errno = error;
        if (next < 0) return -1;
        folder = next;
    }
    if (!host_name_next(&path, name)) strcpy(name, ".");
    next = openat(folder < 0 ? root : folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    int error = errno;
    if (folder >= 0) close(folder);
    errno = error;
    return next;
}

/* Opens the path. Returns a descriptor or an error. */
static int host_open_path(struct pvm_drive *d, const char *path, int flags)
{
    int root = host_drive_of(d)->root;
    int fd = pvm_open_beneath(root, *path ? path : ".", flags, 0666);
    if (fd < 0 && errno == EXDEV) return -PVM_EACCES;
    if (fd < 0 && errno == ENOSYS) fd = host_walk(root, path, flags, 0666);
    return fd < 0 ? host_error(errno) : fd;
}

/* Opens the folder that has the last name of the path, and gives that name. */
static int host_open_parent(struct pvm_drive *d, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!**name) return -PVM_EBUSY; /* The path is the folder of the drive itself. */
    char *parent = strdup(path);
    if (!parent) return -PVM_ENOMEM;
    parent[slash ? slash - path : 0] = 0;
    int fd = host_open_path(d, parent, O_PATH | O_DIRECTORY);
    free(parent);
    return fd;
}

static void stat_fill(struct pvm_drive *d, const struct stat *s, struct pvm_file_stat *out)
{
    unsigned kind = s->st_mode & S_IFMT;
    *out = (struct pvm_file_stat){
        .number = pvm_files_number(d->files, s->st_dev, s->st_ino),
        .size = S_ISREG(s->st_mode) && s->st_size > 0 ? (uint64_t)s->st_size : 0,
        .modified = s->st_mtim.tv_sec > 0
                        ? (uint64_t)s->st_mtim.tv_sec * 1000000000 + (uint64_t)s->st_mtim.tv_nsec
                        : 0,
        /* Whether a file may be run is taken from the host; its owner and other rights are not
         * shown. */
        .mode = kind | (S_ISDIR(s->st_mode) || s->st_mode & S_IXUSR ? 0755u : 0644u)};
}

static int host_fstat(struct pvm_file *f, struct pvm_file_stat *out)
{
    struct stat status;
    if (fstat(f->fd, &status)) return host_error(errno);
    stat_fill(f->drive, &status, out);
    return 0;
}

static int host_stat(struct pvm_drive *d, const char *path, struct pvm_file_stat *out)
{
    int fd = host_open_path(d, path, O_PATH);
    if (fd < 0) return fd;
    struct pvm_file f = {.drive = d, .fd = fd};
    int error = host_fstat(&f, out);
    close(fd);
    return error;
}

static int host_access_flags(unsigned flags)
{
    bool read = flags & PVM_FILE_READ, write = flags & PVM_FILE_WRITE;
    int how = write ? (read ? O_RDWR : O_WRONLY) : O_RDONLY;
    if (flags & PVM_FILE_CREATE) how |= O_CREAT;
    if (flags & PVM_FILE_EXCLUSIVE) how |= O_EXCL;
    if (flags & PVM_FILE_APPEND) how |= O_APPEND;
    return how | O_NOCTTY | O_NONBLOCK; /* A pipe must not block. */
}

static int host_refused(unsigned mode)
{
    if (S_ISREG(mode)) return 0;
    return S_ISDIR(mode) ? -PVM_EISDIR : -PVM_EACCES;
}

/* Opens a regular file. It is tested before it is opened, as opening a device may do something,
 * and again afterwards, as the name may belong to another file by then. */
static int host_open(struct pvm_drive *d, const char *path, unsigned flags, struct pvm_file *out)
{
    struct pvm_file_stat before;
    struct stat status;
    int error = host_stat(d, path, &before);
    if (!error && flags & PVM_FILE_EXCLUSIVE && flags & PVM_FILE_CREATE) return -PVM_EEXIST;
    if (!error) error = host_refused(before.mode);
    if (error && (error != -PVM_ENOENT || !(flags & PVM_FILE_CREATE))) return error;
    int fd = host_open_path(d, path, host_access_flags(flags));
    if (fd < 0) return fd;
    error = fstat(fd, &status) ? host_error(errno) : host_refused(status.st_mode);
    if (!error && flags & PVM_FILE_TRUNCATE && flags & PVM_FILE_WRITE && ftruncate(fd, 0))
        error = host_error(errno);
    if (error) {
        close(fd);
        return error;
    }
    out->fd = fd;
    return 0;
}

static void host_close(struct pvm_file *f) { close(f->fd); }

static int64_t host_read(struct pvm_file *f, uint8_t *to, size_t size)
{
    int64_t done = read(f->fd, to, size);
    return done < 0 ? host_error(errno) : done;
}

static int64_t host_write(struct pvm_file *f, penta_bytes bytes)
{
    int64_t done = write(f->fd, bytes.data, bytes.size);
    return done < 0 ? host_error(errno) : done;
}

static int64_t host_seek(struct pvm_file *f, int64_t offset, int whence)
{
    static const int how[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    off_t at = lseek(f->fd, (off_t)offset, how[whence]);
    return at < 0 ? host_error(errno) : (int64_t)at;
}

static int host_truncate(struct pvm_file *f, uint64_t size)
{
    return ftruncate(f->fd, (off_t)size) ? host_error(errno) : 0;
}

static int host_sync(struct pvm_file *f) { return fsync(f->fd) ? host_error(errno) : 0; }

static uint8_t entry_kind(unsigned char type)
{
    return type == DT_DIR ? 4 : type == DT_REG ? 8 : 0;
}

static int host_list(struct pvm_drive *d, const char *path, struct pvm_list *out)
{
    struct stat status;
    int fd = host_open_path(d, path, O_RDONLY | O_DIRECTORY), error = 0;
    if (fd < 0) return fd;
    DIR *folder = fstat(fd, &status) ? NULL : fdopendir(fd);
    if (!folder) {
        error = host_error(errno);
        close(fd);
        return error;
    }
    const struct dirent *entry;
    while (!error && (errno = 0, entry = readdir(folder))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (!pvm_list_add(out, entry->d_ino, entry_kind(entry->d_type), entry->d_name))
            error = -PVM_ENOMEM;
    }
    if (!error && errno) error = host_error(errno);
    closedir(folder);
    /* Numbers are given in the order of names, which is the same on every host. */
    pvm_list_sort(out);
    for (size_t i = 0; i < out->count; i++)
        out->items[i].number = pvm_files_number(d->files, status.st_dev, out->items[i].number);
    return error;
}

static int host_remove(struct pvm_drive *d, const char *path, bool folder)
{
    const char *name;
    int parent = host_open_parent(d, path, &name);
    if (parent < 0) return parent;
    int error = unlinkat(parent, name, folder ? AT_REMOVEDIR : 0) ? host_error(errno) : 0;
    close(parent);
    return error;
}

static int host_make_folder(struct pvm_drive *d, const char *path)
{
    const char *name;
    int parent = host_open_parent(d, path, &name);
    if (parent == -PVM_EBUSY) return -PVM_EEXIST;
    if (parent < 0) return parent;
    int error = mkdirat(parent, name, 0777) ? host_error(errno) : 0;
    close(parent);
    return error;
}

static int host_rename(struct pvm_drive *d, const char *from, const char *to)
{
    const char *name, *other;
    int folder = host_open_parent(d, from, &name);
    if (folder < 0) return folder;
    int target = host_open_parent(d, to, &other), error = target < 0 ? target : 0;
    if (!error && renameat(folder, name, target, other)) error = host_error(errno);
    close(folder);
    if (target >= 0) close(target);
    return error;
}

static void host_free(struct pvm_drive *d)
{
    close(host_drive_of(d)->root);
    free(d);
}

static const struct pvm_drive_calls host_calls = {
    .open = host_open,
    .close = host_close,
    .read = host_read,
    .write = host_write,
    .seek = host_seek,
    .truncate = host_truncate,
    .sync = host_sync,
    .fstat = host_fstat,
    .stat = host_stat,
    .list = host_list,
    .remove = host_remove,
    .make_folder = host_make_folder,
    .rename = host_rename,
    .free = host_free,
};

struct pvm_drive *pvm_drive_host_new(struct pvm_files *files, const char *path, penta_error *err)
{
    struct host_drive *d = zeros_new(sizeof *d, "a folder", err);
    if (!d) return NULL;
    d->base = (struct pvm_drive){&host_calls, files};
    d->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (d->root >= 0) return &d->base;
    error_at(err, BASE_IO, 0, "files: '%.80s': %s", path, strerror(errno));
    free(d);
    return NULL;
}
