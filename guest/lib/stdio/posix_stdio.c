/* Implements the functions of streams that POSIX and GNU add, and temporary files. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stdio/file.h"
#include "system/system.h"
#include "system/weak.h"

WEAK int fileno(FILE *f)
{
    if (f->fd >= 0) return f->fd;
    errno = EBADF;
    return -1;
}

WEAK FILE *fdopen(int fd, const char *mode)
{
    int flags = penta_file_flags(mode);
    FILE *f = penta_file_place();
    if (!f) return NULL;
    if (fd >= 0 && flags) return penta_file_on(f, fd, flags);
    errno = flags ? EBADF : EINVAL;
    return NULL;
}

WEAK void setlinebuf(FILE *f) { setvbuf(f, NULL, _IOLBF, 0); }
WEAK void setbuffer(FILE *f, char *buffer, size_t size)
{
    setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, size);
}
WEAK int fseeko(FILE *f, off_t offset, int whence)
{
    if ((long)offset == offset) return fseek(f, (long)offset, whence);
    errno = EOVERFLOW;
    return -1;
}
WEAK off_t ftello(FILE *f) { return ftell(f); }

WEAK ssize_t getdelim(char **line, size_t *size, int end, FILE *f)
{
    size_t n = 0;
    int c = 0;
    if (!*line) *size = 0;
    while (c != end && (c = fgetc(f)) != EOF) {
        if (n + 2 > *size) {
            size_t more = *size < 64 ? 128 : 2 * *size;
            char *longer = realloc(*line, more);
            if (!longer) return -1;
            *line = longer;
            *size = more;
        }
        (*line)[n++] = (char)c;
        if (c == end) break;
    }
    if (!n) return -1;
    (*line)[n] = 0;
    return (ssize_t)n;
}

WEAK ssize_t getline(char **line, size_t *size, FILE *f) { return getdelim(line, size, '\n', f); }

WEAK int vasprintf(char **to, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *to = n < 0 ? NULL : malloc((size_t)n + 1);
    return *to ? vsnprintf(*to, (size_t)n + 1, format, args) : -1;
}

WEAK int vdprintf(int fd, const char *format, va_list args)
{
    FILE f = {.fd = fd, .can_write = 1, .plain = 1};
    return vfprintf(&f, format, args);
}

#define FORWARD(call)                                                                              \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    int n = call;                                                                                  \
    va_end(args);                                                                                  \
    return n

WEAK int asprintf(char **to, const char *format, ...) { FORWARD(vasprintf(to, format, args)); }
WEAK int dprintf(int fd, const char *format, ...) { FORWARD(vdprintf(fd, format, args)); }

WEAK void flockfile(FILE *f) { (void)f; }
WEAK void funlockfile(FILE *f) { (void)f; }
WEAK int getc_unlocked(FILE *f) { return fgetc(f); }
WEAK int fgetc_unlocked(FILE *f) { return fgetc(f); }
WEAK int getchar_unlocked(void) { return fgetc(stdin); }
WEAK int putc_unlocked(int c, FILE *f) { return fputc(c, f); }
WEAK int fputc_unlocked(int c, FILE *f) { return fputc(c, f); }
WEAK int putchar_unlocked(int c) { return fputc(c, stdout); }
WEAK size_t fread_unlocked(void *to, size_t size, size_t count, FILE *f)
{
    return fread(to, size, count, f);
}
WEAK size_t fwrite_unlocked(const void *from, size_t size, size_t count, FILE *f)
{
    return fwrite(from, size, count, f);
}

WEAK FILE *popen(const char *command, const char *mode)
{
    (void)command, (void)mode;
    errno = ENOSYS;
    return NULL;
}

WEAK int pclose(FILE *f) { return fclose(f); }
