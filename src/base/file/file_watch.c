/* Keeps the one watcher of each thread and calls it for every file that is read. */
#include "base/file/file_watch.h"
#include <stddef.h>

/* Each thread has its own watcher, so that a program that watches one command does not see the files of others. */
static _Thread_local struct {
    file_watch_fn *fn;
    void *user;
} watcher;

void file_watch(file_watch_fn *fn, void *user)
{
    watcher.fn = fn;
    watcher.user = user;
}

void file_watch_tell(const char *name, const struct stat *st)
{
    if (watcher.fn) watcher.fn(watcher.user, name, st);
}
