/* Implements what programs ask about the inside of a stream. The GNU programs' common library needs
 * it where it does not know the C library. */
#include <stdio_ext.h>
#include "stdio/file.h"

size_t __fbufsize(FILE *f) { return f->size; }
size_t __fpending(FILE *f) { return f->writing ? f->at : 0; }
int __freadable(FILE *f) { return f->can_read; }
int __fwritable(FILE *f) { return f->can_write; }
int __freading(FILE *f) { return !f->can_write || (f->can_read && !f->writing && f->end); }
int __fwriting(FILE *f) { return !f->can_read || f->writing; }
int __flbf(FILE *f) { return f->line; }

void __fpurge(FILE *f)
{
    f->at = f->end = 0;
    f->backs = 0;
    f->writing = 0;
}

void _flushlbf(void) { fflush(NULL); }

/* There are no threads, so that a stream needs no lock. */
int __fsetlocking(FILE *f, int how)
{
    (void)f, (void)how;
    return FSETLOCKING_BYCALLER;
}

size_t __freadahead(FILE *f) { return f->writing ? 0 : f->end - f->at + f->backs; }

const char *__freadptr(FILE *f, size_t *size)
{
    if (f->writing || f->backs || f->at == f->end) return NULL;
    *size = f->end - f->at;
    return (const char *)f->buffer + f->at;
}

void __freadptrinc(FILE *f, size_t count) { f->at += count; }
void __fseterr(FILE *f) { f->failed = 1; }
