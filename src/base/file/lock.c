/* Locks a folder for one process with flock on a file in it, which also names the holder for
 * messages. The system releases the lock when the holder ends, however that happens. */
#include "base/file/lock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* A waiting process asks so often, once a millisecond, for a name that the holder has not
 * written yet. */
enum { TRIES = 200 };

struct holder {
    int pid;
    char host[65];
};

static void host_name(char host[65])
{
    if (gethostname(host, 64)) strcpy(host, "?");
    host[64] = 0;
}

static void write_holder(int fd)
{
    char host[65], text[100];
    host_name(host);
    int n = snprintf(text, sizeof text, "%d %s\n", (int)getpid(), host);
    /* The process holds the lock even when its name cannot be written. */
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n) return;
}

/* Reads who holds the lock. Returns false when the file names nobody, or a process of this host
 * that has ended. */
static bool read_holder(int fd, struct holder *out, bool *here)
{
    char host[65], text[100];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%d %64[A-Za-z0-9._-]", &out->pid, out->host) != 2) return false;
    host_name(host);
    *here = !strcmp(host, out->host);
    return !*here || (out->pid > 0 && (!kill(out->pid, 0) || errno == EPERM));
}

static bool folder_lock_busy(const char *folder, const struct holder *holder, bool known, bool here,
                             penta_error *err)
{
    char who[120] = "another process";
    if (known && here && holder->pid == (int)getpid())
        snprintf(who, sizeof who, "another machine of this process (%d)", holder->pid);
    else if (known && here)
        snprintf(who, sizeof who, "process %d", holder->pid);
    else if (known)
        snprintf(who, sizeof who, "process %d on the host %s", holder->pid, holder->host);
    return error_at(err, BASE_IO, 0, "the folder '%.60s' is in use by %s", folder, who);
}

/* Takes the lock, or reports its holder. Tries again while the holder has not written its name into
 * the file, and for as many seconds as the caller waits. */
static bool folder_lock_take(int fd, int kind, const char *folder, unsigned seconds,
                             penta_error *err)
{
    struct holder holder;
    bool known = false, here = false;
    for (unsigned i = 0; i < TRIES + seconds * 1000; i++) {
        if (!flock(fd, kind | LOCK_NB)) return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_at(err, BASE_IO, 0, "cannot lock '%.60s': %s", folder, strerror(errno));
        known = read_holder(fd, &holder, &here);
        if (known && i >= seconds * 1000) break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return folder_lock_busy(folder, &holder, known, here, err);
}

bool folder_lock(const char *folder, int *fd, penta_error *err)
{
    return folder_lock_within(folder, 0, fd, err);
}

bool folder_lock_within(const char *folder, unsigned seconds, int *fd, penta_error *err)
{
    char path[PATH_MAX];
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    *fd = -1;
    if (snprintf(path, sizeof path, "%s/lock", folder) >= (int)sizeof path)
        return error_at(err, BASE_IO, 0, "the path is too long");
    int file = open(path, O_RDWR | O_CREAT | flags, 0666), reason = errno;
    bool writable = file >= 0 || !access(folder, W_OK);
    if (file < 0 && (reason == EACCES || reason == EROFS)) file = open(path, O_RDONLY | flags);
    if (file < 0 && !writable && errno == ENOENT) return true;
    if (file < 0)
        return error_at(err, BASE_IO, 0, "cannot lock '%.60s': %s", folder, strerror(reason));
    if (!folder_lock_take(file, writable ? LOCK_EX : LOCK_SH, folder, seconds, err)) {
        close(file);
        return false;
    }
    if (writable) write_holder(file);
    *fd = file;
    return true;
}

/* Releases the lock. Removes the name of the holder while the lock is still held, so that others
 * never read the name of a past holder; they try again while there is no name. */
void folder_unlock(int fd)
{
    if (fd < 0) return;
    /* The file of a shared lock is open for reading only, and has no name of this process. */
    if (ftruncate(fd, 0)) {
    }
    close(fd);
}
