/* Reports every file that is read. The tool needs it so that it never writes over a file that a
 * command has read, whichever layer read it. One watcher per thread; none by default. */
#pragma once
#include <sys/stat.h>

typedef void file_watch_fn(void *user, const char *name, const struct stat *st);
void file_watch(file_watch_fn *fn, void *user); /* NULL: no watcher */
/* Called by the functions of file.h that read. */
void file_watch_tell(const char *name, const struct stat *st);
