#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifndef PENTA_WINT_
#define PENTA_WINT_
typedef unsigned wint_t;
#endif
#ifndef WEOF
#define WEOF ((wint_t)-1)
#endif
#ifndef PENTA_MBSTATE_
#define PENTA_MBSTATE_
typedef struct {
    unsigned value, left;
} mbstate_t;
#endif
struct tm;
typedef struct penta_file FILE;
wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n);
wchar_t *wmemchr(const wchar_t *s, wchar_t c, size_t n);
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t n);
size_t wcslen(const wchar_t *s);
size_t wcsnlen(const wchar_t *s, size_t n);
wchar_t *wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wcscat(wchar_t *to, const wchar_t *from);
wchar_t *wcsncat(wchar_t *to, const wchar_t *from, size_t n);
int wcscmp(const wchar_t *a, const wchar_t *b);
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t n);
int wcscoll(const wchar_t *a, const wchar_t *b);
size_t wcsxfrm(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wcschr(const wchar_t *s, wchar_t c);
wchar_t *wcsrchr(const wchar_t *s, wchar_t c);
wchar_t *wcsstr(const wchar_t *s, const wchar_t *part);
wchar_t *wcspbrk(const wchar_t *s, const wchar_t *set);
size_t wcsspn(const wchar_t *s, const wchar_t *set);
size_t wcscspn(const wchar_t *s, const wchar_t *set);
wchar_t *wcstok(wchar_t *s, const wchar_t *set, wchar_t **rest);
wchar_t *wcsdup(const wchar_t *s);
/* Multibyte text is UTF-8 in every locale. */
int mbsinit(const mbstate_t *state);
wint_t btowc(int c);
int wctob(wint_t c);
size_t mbrlen(const char *from, size_t size, mbstate_t *state);
size_t mbrtowc(wchar_t *to, const char *from, size_t size, mbstate_t *state);
size_t wcrtomb(char *to, wchar_t c, mbstate_t *state);
size_t mbsrtowcs(wchar_t *to, const char **from, size_t size, mbstate_t *state);
size_t wcsrtombs(char *to, const wchar_t **from, size_t size, mbstate_t *state);
size_t mbsnrtowcs(wchar_t *to, const char **from, size_t bytes, size_t size, mbstate_t *state);
size_t wcsnrtombs(char *to, const wchar_t **from, size_t count, size_t size, mbstate_t *state);
long wcstol(const wchar_t *s, wchar_t **end, int base);
long long wcstoll(const wchar_t *s, wchar_t **end, int base);
unsigned long wcstoul(const wchar_t *s, wchar_t **end, int base);
unsigned long long wcstoull(const wchar_t *s, wchar_t **end, int base);
double wcstod(const wchar_t *s, wchar_t **end);
float wcstof(const wchar_t *s, wchar_t **end);
long double wcstold(const wchar_t *s, wchar_t **end);
size_t wcsftime(wchar_t *to, size_t size, const wchar_t *format, const struct tm *tm);
wint_t fgetwc(FILE *file);
wint_t getwc(FILE *file);
wint_t getwchar(void);
wint_t ungetwc(wint_t c, FILE *file);
wchar_t *fgetws(wchar_t *line, int size, FILE *file);
wint_t fputwc(wchar_t c, FILE *file);
wint_t putwc(wchar_t c, FILE *file);
wint_t putwchar(wchar_t c);
int fputws(const wchar_t *text, FILE *file);
int fwide(FILE *file, int mode);
int wprintf(const wchar_t *format, ...);
int fwprintf(FILE *file, const wchar_t *format, ...);
int swprintf(wchar_t *to, size_t size, const wchar_t *format, ...);
int vwprintf(const wchar_t *format, va_list args);
int vfwprintf(FILE *file, const wchar_t *format, va_list args);
int vswprintf(wchar_t *to, size_t size, const wchar_t *format, va_list args);
int wscanf(const wchar_t *format, ...);
int fwscanf(FILE *file, const wchar_t *format, ...);
int swscanf(const wchar_t *text, const wchar_t *format, ...);
int vwscanf(const wchar_t *format, va_list args);
int vfwscanf(FILE *file, const wchar_t *format, va_list args);
int vswscanf(const wchar_t *text, const wchar_t *format, va_list args);
#ifdef __cplusplus
}
#endif
