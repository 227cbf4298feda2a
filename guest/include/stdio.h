#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
#define EOF (-1)
#define BUFSIZ 4096
#define FOPEN_MAX 64
#define FILENAME_MAX 4096
#define TMP_MAX 238328
#define L_tmpnam 20
#define P_tmpdir "/tmp"
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
typedef struct penta_file FILE;
typedef long fpos_t;
extern FILE *const stdin, *const stdout, *const stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr

FILE *fopen(const char *path, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *file);
int fclose(FILE *file);
int fflush(FILE *file);
int setvbuf(FILE *file, char *buffer, int mode, size_t size);
void setbuf(FILE *file, char *buffer);
size_t fread(void *to, size_t size, size_t count, FILE *file);
size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
int ungetc(int c, FILE *file);
char *fgets(char *line, int size, FILE *file);
int fputc(int c, FILE *file);
int putc(int c, FILE *file);
int putchar(int c);
int fputs(const char *text, FILE *file);
int puts(const char *text);
int fseek(FILE *file, long offset, int whence);
long ftell(FILE *file);
int fgetpos(FILE *file, fpos_t *position);
int fsetpos(FILE *file, const fpos_t *position);
void rewind(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
void clearerr(FILE *file);
void setlinebuf(FILE *file);
void setbuffer(FILE *file, char *buffer, size_t size);
int fseeko(FILE *file, off_t offset, int whence);
off_t ftello(FILE *file);
int fileno(FILE *file);
FILE *fdopen(int fd, const char *mode);
FILE *tmpfile(void);
char *tmpnam(char *to);
ssize_t getline(char **line, size_t *size, FILE *file);
ssize_t getdelim(char **line, size_t *size, int end, FILE *file);
void flockfile(FILE *file); /* Does nothing, because there is only one thread. */
void funlockfile(FILE *file);
int getc_unlocked(FILE *file);
int getchar_unlocked(void);
int putc_unlocked(int c, FILE *file);
int putchar_unlocked(int c);
int fgetc_unlocked(FILE *file);
int fputc_unlocked(int c, FILE *file);
size_t fread_unlocked(void *to, size_t size, size_t count, FILE *file);
size_t fwrite_unlocked(const void *from, size_t size, size_t count, FILE *file);
FILE *popen(const char *command, const char *mode); /* Returns NULL with ENOSYS, because there is
                                                     * only one process. */
int pclose(FILE *file);
int remove(const char *path);
int rename(const char *from, const char *to);
void perror(const char *text);

#define PENTA_PRINTF_(f, a) __attribute__((format(printf, f, a)))
#define PENTA_SCANF_(f, a) __attribute__((format(scanf, f, a)))
int printf(const char *format, ...) PENTA_PRINTF_(1, 2);
int fprintf(FILE *file, const char *format, ...) PENTA_PRINTF_(2, 3);
int sprintf(char *to, const char *format, ...) PENTA_PRINTF_(2, 3);
int snprintf(char *to, size_t size, const char *format, ...) PENTA_PRINTF_(3, 4);
int vprintf(const char *format, va_list args) PENTA_PRINTF_(1, 0);
int vfprintf(FILE *file, const char *format, va_list args) PENTA_PRINTF_(2, 0);
int vsprintf(char *to, const char *format, va_list args) PENTA_PRINTF_(2, 0);
int vsnprintf(char *to, size_t size, const char *format, va_list args) PENTA_PRINTF_(3, 0);
int asprintf(char **to, const char *format, ...) PENTA_PRINTF_(2, 3);
int vasprintf(char **to, const char *format, va_list args) PENTA_PRINTF_(2, 0);
int dprintf(int fd, const char *format, ...) PENTA_PRINTF_(2, 3);
int vdprintf(int fd, const char *format, va_list args) PENTA_PRINTF_(2, 0);
int scanf(const char *format, ...) PENTA_SCANF_(1, 2);
int fscanf(FILE *file, const char *format, ...) PENTA_SCANF_(2, 3);
int sscanf(const char *text, const char *format, ...) PENTA_SCANF_(2, 3);
int vscanf(const char *format, va_list args) PENTA_SCANF_(1, 0);
int vfscanf(FILE *file, const char *format, va_list args) PENTA_SCANF_(2, 0);
int vsscanf(const char *text, const char *format, va_list args) PENTA_SCANF_(2, 0);
#ifdef __cplusplus
}
#endif
