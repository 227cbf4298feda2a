/* Opens, removes and renames the files of a program. A path is opened name by name from the
 * program's folder down, by descriptors that follow no link. So nothing can change between the
 * check of a path and its use. */
#include "pvm/host/files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 256, PATH_BYTES = 4096 };

int pvm_file_error(int host_errno)
{
    switch (host_errno) {
    case ENOENT: return -PVM_ENOENT;
    case EINTR: return -PVM_EINTR;
    case EBADF: return -PVM_EBADF;
    case EACCES:
    case EPERM:
    case ELOOP:
    case EROFS: return -PVM_EACCES;
    case EEXIST: return -PVM_EEXIST;
    case ENOTDIR: return -PVM_ENOTDIR;
    case EISDIR: return -PVM_EISDIR;
    case EINVAL: return -PVM_EINVAL;
    case EMFILE:
    case ENFILE: return -PVM_EMFILE;
    case ENOSPC:
    case EFBIG:
    case EDQUOT: return -PVM_ENOSPC;
    case ENAMETOOLONG: return -PVM_ENAMETOOLONG;
    default: return -PVM_EIO;
    }
}

int pvm_folder_open(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

/* Takes the next name off the path. Returns 0 at the end of the path, and a negative number when
 * the name is refused. */
static int next_name(penta_bytes *path, char *name)
{
    for (;;) {
        while (path->size && *path->data == '/') path->data++, path->size--;
        const uint8_t *slash = path->size ? memchr(path->data, '/', path->size) : NULL;
        size_t size = slash ? (size_t)(slash - path->data) : path->size;
        if (!size) return 0;
        if (size >= NAME_BYTES) return -PVM_ENAMETOOLONG;
        memcpy(name, path->data, size);
        name[size] = 0;
        path->data += size;
        path->size -= size;
        if (!strcmp(name, "..")) return -PVM_EACCES;
        if (strcmp(name, ".")) return 1;
    }
}

/* Returns a descriptor of the folder that holds the last name of the path, and copies that name
 * to `last`. The caller closes the descriptor. */
static int files_walk(int root, penta_bytes path, char *last)
{
    char name[NAME_BYTES];
    if (root < 0) return -PVM_EACCES;
    if (path.size > PATH_BYTES) return -PVM_ENAMETOOLONG;
    if (memchr(path.data, 0, path.size)) return -PVM_EINVAL;
    int found = next_name(&path, last);
    if (found <= 0) return found ? found : -PVM_EISDIR; /* the path is the folder itself */
    int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
    while (at >= 0 && (found = next_name(&path, name)) > 0) {
        int below = openat(at, last, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int reason = errno;
        close(at);
        if (below < 0) return pvm_file_error(reason);
        at = below;
        memcpy(last, name, sizeof name);
    }
    if (at < 0) return pvm_file_error(errno);
    if (!found) return at;
    close(at);
    return found;
}

static int access_of(unsigned flags)
{
    bool write = flags & (PVM_FILE_WRITE | PVM_FILE_APPEND);
    int how = !write ? O_RDONLY : flags & PVM_FILE_READ ? O_RDWR : O_WRONLY;
    if (flags & PVM_FILE_CREATE) how |= O_CREAT;
    if (flags & PVM_FILE_EXCLUSIVE) how |= O_EXCL;
    if (flags & PVM_FILE_APPEND) how |= O_APPEND;
    return how | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK; /* a pipe must not block */
}

int pvm_file_open(int root, penta_bytes path, unsigned flags)
{
    char name[NAME_BYTES];
    struct stat status;
    if (flags & ~(unsigned)PVM_FILE_FLAGS || !flags) return -PVM_EINVAL;
    int folder = files_walk(root, path, name);
    if (folder < 0) return folder;
    int file = openat(folder, name, access_of(flags), 0666);
    int error = file < 0 ? pvm_file_error(errno) : 0;
    close(folder);
    if (file < 0) return error;
    if (fstat(file, &status))
        error = pvm_file_error(errno);
    else if (!S_ISREG(status.st_mode))
        error = S_ISDIR(status.st_mode) ? -PVM_EISDIR : -PVM_EACCES;
    else if (flags & PVM_FILE_TRUNCATE && flags & PVM_FILE_WRITE && ftruncate(file, 0))
        error = pvm_file_error(errno);
    if (!error) return file;
    close(file);
    return error;
}

int pvm_file_remove(int root, penta_bytes path)
{
    char name[NAME_BYTES];
    int folder = files_walk(root, path, name);
    if (folder < 0) return folder;
    int error = unlinkat(folder, name, 0) ? pvm_file_error(errno) : 0;
    close(folder);
    return error;
}

int pvm_file_rename(int root, penta_bytes from, penta_bytes to)
{
    char name[NAME_BYTES], other[NAME_BYTES];
    int folder = files_walk(root, from, name);
    if (folder < 0) return folder;
    int target = files_walk(root, to, other);
    int error = target < 0 ? target : 0;
    if (!error && renameat(folder, name, target, other)) error = pvm_file_error(errno);
    close(folder);
    if (target >= 0) close(target);
    return error;
}
