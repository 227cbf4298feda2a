/* Which files are read, told to whoever wants to know: the tool never writes over a file that a
 * command has read, whichever layer read it. One watcher per thread; none by default. */
#pragma once
#include <sys/stat.h>

typedef void file_watch_fn(void *user, const char *name, const struct stat *st);
void file_watch(file_watch_fn *fn, void *user); /* NULL: nobody */
/* Said by file_read and file_read_fd. */
void file_watch_tell(const char *name, const struct stat *st);
