/* Implements strings and arrays of wide characters. */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "system/weak.h"

wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t n)
{
    return memcpy(to, from, n * sizeof *to);
}
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n)
{
    return memmove(to, from, n * sizeof *to);
}

wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = c;
    return to;
}

wchar_t *wmemchr(const wchar_t *s, wchar_t c, size_t n)
{
    for (; n; n--, s++)
        if (*s == c) return (wchar_t *)s;
    return NULL;
}

int wmemcmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (; n; n--, a++, b++)
        if (*a != *b) return *a < *b ? -1 : 1;
    return 0;
}

size_t wcslen(const wchar_t *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

WEAK size_t wcsnlen(const wchar_t *s, size_t n)
{
    size_t size = 0;
    while (size < n && s[size]) size++;
    return size;
}

wchar_t *wcscpy(wchar_t *to, const wchar_t *from) { return wmemcpy(to, from, wcslen(from) + 1); }

wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t n)
{
    size_t i = 0;
    for (; i < n && from[i]; i++) to[i] = from[i];
    wmemset(to + i, 0, n - i);
    return to;
}

wchar_t *wcscat(wchar_t *to, const wchar_t *from)
{
    wcscpy(to + wcslen(to), from);
    return to;
}

wchar_t *wcsncat(wchar_t *to, const wchar_t *from, size_t n)
{
    wchar_t *end = to + wcslen(to);
    for (; n && *from; n--) *end++ = *from++;
    *end = 0;
    return to;
}

int wcsncmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (; n; n--, a++, b++) {
        if (*a != *b) return *a < *b ? -1 : 1;
        if (!*a) break;
    }
    return 0;
}

int wcscmp(const wchar_t *a, const wchar_t *b) { return wcsncmp(a, b, (size_t)-1); }
int wcscoll(const wchar_t *a, const wchar_t *b) { return wcscmp(a, b); }

size_t wcsxfrm(wchar_t *to, const wchar_t *from, size_t n)
{
    size_t size = wcslen(from);
    if (size < n) wmemcpy(to, from, size + 1);
    return size;
}

wchar_t *wcschr(const wchar_t *s, wchar_t c) { return wmemchr(s, c, wcslen(s) + 1); }

wchar_t *wcsrchr(const wchar_t *s, wchar_t c)
{
    for (size_t n = wcslen(s) + 1; n--;)
        if (s[n] == c) return (wchar_t *)(s + n);
    return NULL;
}

wchar_t *wcsstr(const wchar_t *s, const wchar_t *part)
{
    size_t size = wcslen(part);
    for (;; s++) {
        if (!wcsncmp(s, part, size)) return (wchar_t *)s;
        if (!*s) return NULL;
    }
}

size_t wcsspn(const wchar_t *s, const wchar_t *set)
{
    size_t n = 0;
    while (s[n] && wcschr(set, s[n])) n++;
    return n;
}

size_t wcscspn(const wchar_t *s, const wchar_t *set)
{
    size_t n = 0;
    while (s[n] && !wcschr(set, s[n])) n++;
    return n;
}

wchar_t *wcspbrk(const wchar_t *s, const wchar_t *set)
{
    s += wcscspn(s, set);
    return *s ? (wchar_t *)s : NULL;
}

wchar_t *wcstok(wchar_t *s, const wchar_t *set, wchar_t **rest)
{
    if (!s) s = *rest;
    s += wcsspn(s, set);
    if (!*s) {
        *rest = s;
        return NULL;
    }
    wchar_t *end = s + wcscspn(s, set);
    *rest = *end ? end + 1 : end;
    *end = 0;
    return s;
}

WEAK wchar_t *wcsdup(const wchar_t *s)
{
    size_t size = wcslen(s) + 1;
    wchar_t *copy = malloc(size * sizeof *copy);
    return copy ? wmemcpy(copy, s, size) : NULL;
}
