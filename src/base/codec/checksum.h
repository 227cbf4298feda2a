#pragma once
#include "penta/penta.h"

/* Uses the polynomial of zlib; libdeflate does the work. */
uint32_t checksum_crc32(penta_bytes bytes);
uint64_t checksum_xxh64(penta_bytes bytes); /* Uses the seed 0; xxHash does the work. */
