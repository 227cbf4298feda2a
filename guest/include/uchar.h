#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifndef __cplusplus
typedef uint_least16_t char16_t;
typedef uint_least32_t char32_t;
#endif
#ifndef PENTA_MBSTATE_
#define PENTA_MBSTATE_
typedef struct {
    unsigned value, left;
} mbstate_t;
#endif
size_t mbrtoc16(char16_t *to, const char *from, size_t size, mbstate_t *state);
size_t c16rtomb(char *to, char16_t c, mbstate_t *state);
size_t mbrtoc32(char32_t *to, const char *from, size_t size, mbstate_t *state);
size_t c32rtomb(char *to, char32_t c, mbstate_t *state);
#ifdef __cplusplus
}
#endif
