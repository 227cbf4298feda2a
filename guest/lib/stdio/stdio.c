/* Implements buffered streams on the console's file descriptors. Standard output is written at
 * the end of each line, and before standard input is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "stdio/file.h"
#include "system/system.h"

enum { READ = 1, WRITE = 2, CREATE = 4, TRUNCATE = 8, APPEND = 16, EXCLUSIVE = 32 };

static unsigned char input_buffer[BUFSIZ], output_buffer[BUFSIZ];
/* The streams are in two arrays. The second one has zeros only, which take no space in the program. */
enum { STANDARD = 3 };
static struct penta_file standard[STANDARD] = {
    {.fd = 0, .can_read = 1, .size = BUFSIZ, .buffer = input_buffer},
    {.fd = 1, .can_write = 1, .line = 1, .size = BUFSIZ, .buffer = output_buffer},
    {.fd = 2, .can_write = 1, .plain = 1},
};
static struct penta_file files[FOPEN_MAX - STANDARD];
#undef stdin
#undef stdout
#undef stderr
FILE *const stdin = &standard[0], *const stdout = &standard[1], *const stderr = &standard[2];
static size_t used; /* The streams of `files` from this index on were never open. */

/* Returns how many bytes were written, which are fewer than `size` only after a failure. */
static size_t write_some(FILE *f, const unsigned char *from, size_t size)
{
    size_t done = 0;
    while (done < size) {
        long n = penta_system_write(f->fd, from + done, size - done);
        if (n <= 0) {
            penta_system_result(n ? n : -EIO);
            f->failed = 1;
            break;
        }
        done += (size_t)n;
    }
    return done;
}

/* Writes what waits in the buffer, or seeks back over what was read ahead. Bytes that cannot be
 * written stay in the buffer, and a later call writes them when there is space again. */
static int empty_buffer(FILE *f)
{
    if (f->writing) {
        size_t done = write_some(f, f->buffer, f->at);
        f->at -= done;
        if (f->at) {
            memmove(f->buffer, f->buffer + done, f->at);
            return EOF;
        }
    } else if (f->can_read && f->fd > 2) {
        long ahead = (long)(f->end - f->at) + f->backs;
        if (ahead) penta_system_seek(f->fd, -ahead, SEEK_CUR);
    } else if (f->can_read) {
        return 0; /* Standard input cannot seek, so what was read ahead is kept. */
    }
    f->at = f->end = 0;
    f->backs = 0;
    f->writing = 0;
    return 0;
}

int fflush(FILE *f)
{
    if (f) return empty_buffer(f);
    int result = 0;
    for (size_t i = 0; i < STANDARD + used; i++) {
        f = i < STANDARD ? &standard[i] : &files[i - STANDARD];
        if (f->fd >= 0 && f->writing && empty_buffer(f)) result = EOF;
    }
    return result;
}

static void flush_streams(void) { fflush(NULL); }

static int has_buffer(FILE *f)
{
    if (f->buffer) return 1;
    if (f->plain) return 0;
    f->size = BUFSIZ;
    f->own = 1;
    f->buffer = malloc(f->size);
    if (!f->buffer) f->plain = 1;
    return f->buffer != NULL;
}

int penta_file_flags(const char *mode)
{
    int flags = *mode == 'r'   ? READ
                : *mode == 'w' ? WRITE | CREATE | TRUNCATE
                : *mode == 'a' ? WRITE | CREATE | APPEND
                               : 0;
    if (flags && strchr(mode, '+')) flags |= READ | WRITE;
    if (flags & CREATE && strchr(mode, 'x')) flags |= EXCLUSIVE;
    return flags;
}

FILE *penta_file_on(FILE *f, int fd, int flags)
{
    *f = (struct penta_file){
        .fd = fd, .can_read = (flags & READ) != 0, .can_write = (flags & WRITE) != 0};
    return f;
}

static FILE *open_as(FILE *f, const char *path, const char *mode)
{
    int flags = penta_file_flags(mode);
    long fd = penta_system_result(flags ? penta_system_open(path, (unsigned)flags) : -EINVAL);
    return fd < 0 ? NULL : penta_file_on(f, (int)fd, flags);
}

FILE *penta_file_place(void)
{
    size_t i = 0;
    while (i < used && files[i].fd >= 0) i++;
    if (i == FOPEN_MAX - STANDARD) {
        errno = EMFILE;
        return NULL;
    }
    if (i == used) files[used++].fd = -1;
    return &files[i];
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *f = penta_file_place();
    return f ? open_as(f, path, mode) : NULL;
}

int fclose(FILE *f)
{
    int result = empty_buffer(f);
    if (f->fd > 2 && penta_system_result(penta_system_close(f->fd)) < 0) result = EOF;
    if (f->own) free(f->buffer);
    *f = (struct penta_file){.fd = -1};
    return result;
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
    fclose(f);
    return open_as(f, path, mode);
}

int setvbuf(FILE *f, char *buffer, int mode, size_t size)
{
    empty_buffer(f);
    f->line = mode == _IOLBF;
    f->plain = mode == _IONBF;
    if (f->plain || (buffer && size)) {
        if (f->own) free(f->buffer);
        f->own = 0;
        f->buffer = f->plain ? NULL : (unsigned char *)buffer;
        f->size = f->plain ? 0 : size;
    }
    return 0;
}

void setbuf(FILE *f, char *buffer) { setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, BUFSIZ); }

static long stream_fill(FILE *f, unsigned char *to, size_t size)
{
    if (f->fd == 0) fflush(stdout);
    long n = penta_system_read(f->fd, to, size);
    if (n == 0) f->at_end = 1;
    if (penta_system_result(n) < 0) f->failed = 1;
    return n;
}

static int may_read(FILE *f)
{
    if (f->writing) empty_buffer(f);
    if (f->can_read) return 1;
    f->failed = 1;
    errno = EBADF;
    return 0;
}

int fgetc(FILE *f)
{
    unsigned char c;
    if (!may_read(f)) return EOF;
    if (f->backs) return f->back[--f->backs];
    if (f->at < f->end) return f->buffer[f->at++];
    if (!has_buffer(f)) return stream_fill(f, &c, 1) > 0 ? c : EOF;
    long n = stream_fill(f, f->buffer, f->size);
    if (n <= 0) return EOF;
    f->at = 1;
    f->end = (size_t)n;
    return f->buffer[0];
}

size_t fread(void *to, size_t size, size_t count, FILE *f)
{
    unsigned char *p = to, *end = p + size * count;
    if (!size || !may_read(f)) return 0;
    while (p < end) {
        if (f->backs || f->at == f->end) {
            if (!f->backs && (size_t)(end - p) >= BUFSIZ) { /* A large piece is read straight
                                                             * into the caller's memory. */
                long n = stream_fill(f, p, (size_t)(end - p));
                if (n <= 0) break;
                p += n;
                continue;
            }
            int c = fgetc(f);
            if (c == EOF) break;
            *p++ = (unsigned char)c;
            continue;
        }
        size_t part = f->end - f->at < (size_t)(end - p) ? f->end - f->at : (size_t)(end - p);
        memcpy(p, f->buffer + f->at, part);
        f->at += part;
        p += part;
    }
    return (size_t)(p - (unsigned char *)to) / size;
}

int ungetc(int c, FILE *f)
{
    if (c == EOF || !f->can_read || f->backs == sizeof f->back) return EOF;
    if (f->writing) empty_buffer(f);
    f->back[f->backs++] = (unsigned char)c;
    f->at_end = 0;
    return (unsigned char)c;
}

char *fgets(char *line, int size, FILE *f)
{
    int n = 0, c = 0;
    while (n < size - 1 && c != '\n' && (c = fgetc(f)) != EOF) line[n++] = (char)c;
    if (size < 1 || (!n && size > 1) || (c == EOF && f->failed)) return NULL;
    line[n] = 0;
    return line;
}

int getc(FILE *f) { return fgetc(f); }
int getchar(void) { return fgetc(stdin); }

size_t fwrite(const void *from, size_t size, size_t count, FILE *f)
{
    const unsigned char *p = from;
    size_t left = size * count;
    if (!left) return 0;
    if (!f->can_write) {
        f->failed = 1;
        errno = EBADF;
        return 0;
    }
    if (!f->writing) empty_buffer(f);
    if (!has_buffer(f)) return write_some(f, p, left) / size;
    f->writing = 1;
    penta_flush_streams = flush_streams;
    while (left) {
        if (!f->at && left >= f->size) {
            size_t done = write_some(f, p, left);
            left -= done;
            break;
        }
        size_t part = f->size - f->at < left ? f->size - f->at : left;
        memcpy(f->buffer + f->at, p, part);
        f->at += part;
        p += part;
        left -= part;
        if (f->at == f->size && empty_buffer(f)) break;
        f->writing = 1;
    }
    if (!left && f->line && memchr(from, '\n', size * count)) empty_buffer(f);
    return count - (left + size - 1) / size;
}

int fputc(int c, FILE *f)
{
    unsigned char byte = (unsigned char)c;
    if (f->writing && f->at + 1 < f->size && byte != '\n') {
        f->buffer[f->at++] = byte;
        return byte;
    }
    return fwrite(&byte, 1, 1, f) ? byte : EOF;
}

int putc(int c, FILE *f) { return fputc(c, f); }
int putchar(int c) { return fputc(c, stdout); }

int fputs(const char *text, FILE *f)
{
    size_t size = strlen(text);
    return fwrite(text, 1, size, f) == size ? 0 : EOF;
}

int puts(const char *text) { return fputs(text, stdout) < 0 ? EOF : fputc('\n', stdout); }

int fseek(FILE *f, long offset, int whence)
{
    if (empty_buffer(f)) return -1;
    if (penta_system_result(penta_system_seek(f->fd, offset, whence)) < 0) return -1;
    f->at_end = 0;
    return 0;
}

long ftell(FILE *f)
{
    long at = penta_system_result(penta_system_seek(f->fd, 0, SEEK_CUR));
    if (at < 0) return -1;
    if (f->writing) return at + (long)f->at;
    return at - (long)(f->end - f->at) - f->backs;
}

void rewind(FILE *f)
{
    fseek(f, 0, SEEK_SET);
    f->failed = 0;
}

int fgetpos(FILE *f, fpos_t *position) { return (*position = ftell(f)) < 0 ? -1 : 0; }
int fsetpos(FILE *f, const fpos_t *position) { return fseek(f, *position, SEEK_SET); }
int feof(FILE *f) { return f->at_end; }
int ferror(FILE *f) { return f->failed; }
void clearerr(FILE *f) { f->at_end = f->failed = 0; }

void perror(const char *text)
{
    const char *what = strerror(errno);
    if (text && *text) fputs(text, stderr), fputs(": ", stderr);
    fputs(what, stderr);
    fputc('\n', stderr);
}
