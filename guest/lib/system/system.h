/* Declares all that the library needs of the machine and its host. Tests replace these
 * functions. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Grows the heap by n bytes. Returns its new end, or NULL if it cannot grow. */
char *penta_system_sbrk(size_t n);
/* These functions return a negated number of <errno.h> on failure. */
long penta_system_write(int fd, const void *from, size_t size);
long penta_system_read(int fd, void *to, size_t size);
long penta_system_open(const char *path, unsigned flags);
long penta_system_close(int fd);
long penta_system_seek(int fd, long offset, int whence);
/* Turns a negative result into -1 and errno. Returns other results as they are. */
long penta_system_result(long result);

/* A path as the host wants it, from the root on, because chdir() changes where other paths
 * start. */
struct penta_path {
    const char *text;
    size_t size;
    char place[4097];
};
extern const char *penta_folder; /* ends with '/'; NULL for the root */
/* Returns NULL when the path is too long. An empty path has no text. */
struct penta_path *penta_path_of(const char *path, struct penta_path *p);
/* Writes what waits in all streams. <stdio.h> sets it when a stream first has something to
 * write. */
extern void (*penta_flush_streams)(void);
/* Returns the texts of arguments or of the environment, each with a zero after it, as a list
 * that ends with NULL. `read` returns their size and copies as many bytes as it may. */
char **penta_words(long (*read)(char *to, size_t size), int *count);
