/* All that the library needs of the machine and its host; tests replace these functions. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Grows the heap by n bytes; gives its new end, or NULL if it cannot grow. */
char *penta_system_sbrk(size_t n);
/* These give a negated number of <errno.h> on failure. */
long penta_system_write(int fd, const void *from, size_t size);
long penta_system_read(int fd, void *to, size_t size);
long penta_system_open(const char *path, unsigned flags);
long penta_system_close(int fd);
long penta_system_seek(int fd, long offset, int whence);
/* Makes -1 and errno of such a failure; gives other results as they are. */
long penta_system_result(long result);
