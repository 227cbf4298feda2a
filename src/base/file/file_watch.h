/* Reports every file that is read. The tool uses this to never write over a file that a command has read, whichever
 * layer read it. Each thread has at most one watcher, and none at first. */
#pragma once
#include <sys/stat.h>

typedef void file_watch_fn(void *user, const char *name, const struct stat *st);
void file_watch(file_watch_fn *fn, void *user); /* NULL removes the watcher */
/* The functions of file.h that read call this. */
void file_watch_tell(const char *name, const struct stat *st);
