#pragma once
#include "penta/penta.h"

uint32_t checksum_crc32(penta_bytes bytes); /* the zlib polynomial; libdeflate does the work */
uint64_t checksum_xxh64(penta_bytes bytes); /* seed 0; xxHash does the work */
