/* Computes CRC-32 and XXH64 by libdeflate and xxHash. Builds without these libraries have
 * checksum_plain.c instead. */
#include "base/codec/checksum.h"
#include <libdeflate.h>
#include <xxhash.h>

uint32_t checksum_crc32(penta_bytes bytes) { return libdeflate_crc32(0, bytes.data, bytes.size); }

uint64_t checksum_xxh64(penta_bytes bytes) { return XXH64(bytes.data, bytes.size, 0); }
