/* Implements the string functions of standard C, and the functions of POSIX that these need. */
#include <string.h>
#include <ctype.h>
#include <stdlib.h>
#include "system/weak.h"

size_t strlen(const char *s)
{
    const char *end = s;
    while (*end) end++;
    return (size_t)(end - s);
}

WEAK size_t strnlen(const char *s, size_t n)
{
    size_t size = 0;
    while (size < n && s[size]) size++;
    return size;
}

char *strcpy(char *to, const char *from) { return memcpy(to, from, strlen(from) + 1); }

char *strncpy(char *to, const char *from, size_t n)
{
    size_t size = strnlen(from, n);
    memcpy(to, from, size);
    memset(to + size, 0, n - size);
    return to;
}

char *strcat(char *to, const char *from)
{
    strcpy(to + strlen(to), from);
    return to;
}

char *strncat(char *to, const char *from, size_t n)
{
    char *end = to + strlen(to);
    size_t size = strnlen(from, n);
    memcpy(end, from, size);
    end[size] = 0;
    return to;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
    while (n && *a && *a == *b) a++, b++, n--;
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

WEAK int strncasecmp(const char *a, const char *b, size_t n)
{
    for (; n; a++, b++, n--) {
        int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);
        if (x != y || !x) return x - y;
    }
    return 0;
}

WEAK int strcasecmp(const char *a, const char *b) { return strncasecmp(a, b, (size_t)-1); }
int strcoll(const char *a, const char *b) { return strcmp(a, b); }

size_t strxfrm(char *to, const char *from, size_t n)
{
    size_t size = strlen(from);
    if (size < n) memcpy(to, from, size + 1);
    return size;
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c) return (char *)s;
        if (!*s) return NULL;
    }
}

char *strrchr(const char *s, int c)
{
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c) found = s;
        if (!*s) return (char *)found;
    }
}

char *strstr(const char *s, const char *part)
{
    size_t size = strlen(part);
    if (!size) return (char *)s;
    for (; (s = strchr(s, *part)); s++)
        if (!strncmp(s, part, size)) return (char *)s;
    return NULL;
}

size_t strspn(const char *s, const char *set)
{
    size_t n = 0;
    while (s[n] && strchr(set, s[n])) n++;
    return n;
}

size_t strcspn(const char *s, const char *set)
{
    size_t n = 0;
    while (s[n] && !strchr(set, s[n])) n++;
    return n;
}

char *strpbrk(const char *s, const char *set)
{
    s += strcspn(s, set);
    return *s ? (char *)s : NULL;
}

WEAK char *strtok_r(char *s, const char *set, char **rest)
{
    if (!s) s = *rest;
    s += strspn(s, set);
    if (!*s) {
        *rest = s;
        return NULL;
    }
    char *end = s + strcspn(s, set);
    *rest = *end ? end + 1 : end;
    *end = 0;
    return s;
}

char *strtok(char *s, const char *set)
{
    static char *rest;
    return strtok_r(s, set, &rest);
}

WEAK char *strndup(const char *s, size_t n)
{
    size_t size = strnlen(s, n);
    char *copy = malloc(size + 1);
    if (!copy) return NULL;
    memcpy(copy, s, size);
    copy[size] = 0;
    return copy;
}

WEAK char *strdup(const char *s) { return strndup(s, strlen(s)); }
