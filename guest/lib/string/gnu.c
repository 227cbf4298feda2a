/* Implements the string functions of POSIX, BSD and GNU. */
#include <ctype.h>
#include <libgen.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include "system/weak.h"

WEAK void *mempcpy(void *to, const void *from, size_t n) { return (char *)memcpy(to, from, n) + n; }

WEAK void *memccpy(void *to, const void *from, int c, size_t n)
{
    const unsigned char *end = memchr(from, c, n);
    if (end) n = (size_t)(end - (const unsigned char *)from) + 1;
    memcpy(to, from, n);
    return end ? (char *)to + n : NULL;
}

WEAK void *memrchr(const void *s, int c, size_t n)
{
    const unsigned char *bytes = s;
    while (n--)
        if (bytes[n] == (unsigned char)c) return (void *)(bytes + n);
    return NULL;
}

WEAK void *rawmemchr(const void *s, int c) { return memchr(s, c, SIZE_MAX); }

WEAK void *memmem(const void *s, size_t n, const void *part, size_t size)
{
    const char *at = s, *end = at + n;
    if (!size) return (void *)at;
    while ((size_t)(end - at) >= size) {
        at = memchr(at, *(const unsigned char *)part, (size_t)(end - at) - size + 1);
        if (!at) return NULL;
        if (!memcmp(at, part, size)) return (void *)at;
        at++;
    }
    return NULL;
}

WEAK int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
WEAK void bcopy(const void *from, void *to, size_t n) { memmove(to, from, n); }
WEAK void bzero(void *to, size_t n) { memset(to, 0, n); }

WEAK char *stpcpy(char *to, const char *from)
{
    size_t size = strlen(from);
    return (char *)memcpy(to, from, size + 1) + size;
}

WEAK char *stpncpy(char *to, const char *from, size_t n)
{
    size_t size = strnlen(from, n);
    strncpy(to, from, n);
    return to + size;
}

WEAK size_t strlcpy(char *to, const char *from, size_t size)
{
    size_t whole = strlen(from), part = whole < size ? whole : size - 1;
    if (!size) return whole;
    memcpy(to, from, part);
    to[part] = 0;
    return whole;
}

WEAK size_t strlcat(char *to, const char *from, size_t size)
{
    size_t have = strnlen(to, size);
    return have + (have < size ? strlcpy(to + have, from, size - have) : strlen(from));
}

WEAK char *strchrnul(const char *s, int c)
{
    char *found = strchr(s, c);
    return found ? found : (char *)s + strlen(s);
}

WEAK char *strcasestr(const char *s, const char *part)
{
    size_t size = strlen(part);
    for (;; s++) {
        if (!strncasecmp(s, part, size)) return (char *)s;
        if (!*s) return NULL;
    }
}

WEAK char *strsep(char **s, const char *set)
{
    char *start = *s;
    if (!start) return NULL;
    char *end = start + strcspn(start, set);
    *s = *end ? end + 1 : NULL;
    *end = 0;
    return start;
}

WEAK char *index(const char *s, int c) { return strchr(s, c); }
WEAK char *rindex(const char *s, int c) { return strrchr(s, c); }

/* Digits compare as numbers. Numbers that start with zeros are fractions, and come before
 * others. */
WEAK int strverscmp(const char *a, const char *b)
{
    /* `start` is where the common digits start; `zeros` is set while all are zeros. */
    size_t at = 0, start = 0, zeros = 1;
    for (; a[at] == b[at]; at++) {
        if (!a[at]) return 0;
        if (!isdigit((unsigned char)a[at]))
            start = at + 1, zeros = 1;
        else if (a[at] != '0')
            zeros = 0;
    }
    int fraction = start < at && a[start] == '0', x = (unsigned char)a[at],
        y = (unsigned char)b[at];
    if (fraction && zeros) {
        /* More zeros, or digits after zeros, come first. */
        if (isdigit(x) && !isdigit(y)) return -1;
        if (isdigit(y) && !isdigit(x)) return 1;
        return x - y;
    }
    if (fraction || !(isdigit(x) || isdigit(y))) return x - y;
    if (start == at && (!isdigit(x) || !isdigit(y) || x == '0' || y == '0')) return x - y;
    size_t more = at, other = at;
    while (isdigit((unsigned char)a[more])) more++;
    while (isdigit((unsigned char)b[other])) other++;
    return more != other ? (more < other ? -1 : 1) : x - y;
}

WEAK int ffs(int n) { return n ? __builtin_ctz((unsigned)n) + 1 : 0; }
WEAK int ffsl(long n) { return n ? __builtin_ctzl((unsigned long)n) + 1 : 0; }
WEAK int ffsll(long long n) { return n ? __builtin_ctzll((unsigned long long)n) + 1 : 0; }

WEAK char *basename(char *path)
{
    if (!path || !*path) return (char *)".";
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') path[--size] = 0;
    char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

WEAK char *dirname(char *path)
{
    if (!path || !*path) return (char *)".";
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    while (size && path[size - 1] != '/') size--;
    if (!size) return (char *)".";
    while (size > 1 && path[size - 1] == '/') size--;
    path[size] = 0;
    return path;
}
