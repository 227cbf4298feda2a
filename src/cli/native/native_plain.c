/* Replaces native_zydis.c in builds without Zydis. Machine code is then listed as bytes. */
#include "cli/native/native.h"

size_t native_text(const uint8_t *code, size_t size, uint64_t at, char *text, size_t capacity)
{
    (void)code, (void)at;
    if (capacity) *text = 0;
    return size < 16 ? size : 16;
}
