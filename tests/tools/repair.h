/* For fuzzers: a mutated file whose checksums, sizes and counts fit again gets past the checks of the
 * container, to the code after them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* In place, for bytes that begin as files of the format do; others stay as they are. */
void repair(const char *format, uint8_t *data, size_t size);
