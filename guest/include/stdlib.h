#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX 4 /* the most bytes of a UTF-8 character */
typedef struct {
    int quot, rem;
} div_t;
typedef struct {
    long quot, rem;
} ldiv_t;
typedef struct {
    long long quot, rem;
} lldiv_t;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *p);
int posix_memalign(void **to, size_t alignment, size_t size);
void *reallocarray(void *old, size_t count, size_t size);

__attribute__((noreturn)) void exit(int code);
__attribute__((noreturn)) void _Exit(int code);
__attribute__((noreturn)) void abort(void);
int atexit(void (*function)(void));
__attribute__((noreturn)) void quick_exit(int code);
int at_quick_exit(void (*function)(void));
int system(const char *command); /* Returns 0 for NULL, else -1, because there is no command
                                  * processor. */
char *getenv(const char *name);
int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);
int putenv(char *assignment);
int clearenv(void);
char *realpath(const char *path, char *to);
const char *getprogname(void);
int mkstemp(char *path);
char *mkdtemp(char *path);

int abs(int n);
long labs(long n);
long long llabs(long long n);
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b);
int rand(void);
void srand(unsigned seed);
int rand_r(unsigned *seed);
long random(void);
void srandom(unsigned seed);
double drand48(void);
long lrand48(void);
long mrand48(void);
void srand48(long seed);

int atoi(const char *s);
long atol(const char *s);
long long atoll(const char *s);
double atof(const char *s);
long strtol(const char *s, char **end, int base);
long long strtoll(const char *s, char **end, int base);
unsigned long strtoul(const char *s, char **end, int base);
unsigned long long strtoull(const char *s, char **end, int base);
double strtod(const char *s, char **end);
long double strtold(const char *s, char **end);
float strtof(const char *s, char **end);

int mblen(const char *s, size_t size);
int mbtowc(wchar_t *to, const char *from, size_t size);
int wctomb(char *to, wchar_t c);
size_t mbstowcs(wchar_t *to, const char *from, size_t size);
size_t wcstombs(char *to, const wchar_t *from, size_t size);

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void qsort_r(void *base, size_t count, size_t size,
             int (*compare)(const void *, const void *, void *), void *more);
void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *));
#ifdef __cplusplus
}
#endif
