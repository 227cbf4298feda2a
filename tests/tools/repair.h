/* Declares the repair of mutated files for fuzzers. A file whose checksums, sizes and counts fit
 * again passes the checks of the container and reaches the code after them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Repairs bytes in place when they begin as files of the format do. Other bytes stay as they
 * are. */
void repair(const char *format, uint8_t *data, size_t size);
