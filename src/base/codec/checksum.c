#include "base/codec/checksum.h"
#include <libdeflate.h>

uint32_t checksum_crc32(penta_bytes bytes) { return libdeflate_crc32(0, bytes.data, bytes.size); }
