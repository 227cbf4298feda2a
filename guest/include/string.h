#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
int strcoll(const char *a, const char *b);
size_t strxfrm(char *to, const char *from, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *part);
char *strpbrk(const char *s, const char *set);
size_t strspn(const char *s, const char *set);
size_t strcspn(const char *s, const char *set);
char *strtok(char *s, const char *set);
char *strtok_r(char *s, const char *set, char **rest);
char *strdup(const char *s);
char *strndup(const char *s, size_t n);
char *strerror(int number);
int strerror_r(int number, char *to, size_t size);
char *strsignal(int number);
void *memccpy(void *to, const void *from, int c, size_t n);
void *mempcpy(void *to, const void *from, size_t n);
void *memmem(const void *s, size_t n, const void *part, size_t size);
void *memrchr(const void *s, int c, size_t n);
void *rawmemchr(const void *s, int c);
char *stpcpy(char *to, const char *from);
char *stpncpy(char *to, const char *from, size_t n);
size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);
char *strchrnul(const char *s, int c);
char *strcasestr(const char *s, const char *part);
char *strsep(char **s, const char *set);
int strverscmp(const char *a, const char *b);
#ifdef __cplusplus
}
#endif
