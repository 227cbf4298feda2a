#pragma once
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
#define FSETLOCKING_QUERY 0
#define FSETLOCKING_INTERNAL 1
#define FSETLOCKING_BYCALLER 2

/* The state of a stream, as in GNU's library. */
size_t __fbufsize(FILE *file);
size_t __fpending(FILE *file);
int __freadable(FILE *file);
int __fwritable(FILE *file);
int __freading(FILE *file);
int __fwriting(FILE *file);
int __flbf(FILE *file);
void __fpurge(FILE *file);
void _flushlbf(void);
int __fsetlocking(FILE *file, int how);
/* The bytes that were read ahead, as in musl. */
size_t __freadahead(FILE *file);
const char *__freadptr(FILE *file, size_t *size);
void __freadptrinc(FILE *file, size_t count);
void __fseterr(FILE *file);
#ifdef __cplusplus
}
#endif
