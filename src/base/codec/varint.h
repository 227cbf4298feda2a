/* Reads and writes the two forms of numbers of variable length in files (PVM 1.3, PVM 13.1).
 *
 * Prefix form (polkavm, jam): the leading one-bits of the first byte say how many bytes follow, 0
 * to 4. Its other bits are the top of the value; the bytes after it are the rest, little-endian.
 *     0xxxxxxx   10xxxxxx b1   110xxxxx b1 b2   1110xxxx b1 b2 b3   11110000 b1 b2 b3 b4
 * LEB128 (doc): seven bits per byte, lowest first, at most 10 bytes and 32 bits of value.
 *
 * Forms that are longer than needed are read, remembered and written back. */
#pragma once
#include "base/reader.h"
#include "base/writer.h"

enum { VARINT_BYTES = 10 };

/* varint_prefix_read and varint_leb_read read a number and return its size in bytes, or 0 when it is
 * malformed or cut off. */
unsigned varint_prefix_read(penta_bytes in, uint32_t *value);
unsigned varint_leb_read(penta_bytes in, uint32_t *value);

/* varint_prefix_write and varint_leb_write write the shortest form to out (VARINT_BYTES) and
 * return its size. */
unsigned varint_prefix_write(uint8_t *out, uint32_t value);
unsigned varint_leb_write(uint8_t *out, uint32_t value);
