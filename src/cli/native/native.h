/* Declares how one machine instruction becomes text for listings: by Zydis (native_zydis.c) or
 * as bytes alone (native_plain.c). */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Returns the size of the instruction. `at` is its address in the listing. Bytes that are no
 * instruction have the size 1 and the text "". */
size_t native_text(const uint8_t *code, size_t size, uint64_t at, char *text, size_t capacity);
