/* Replaces checksum.c in builds without libdeflate: one bit at a time. */
#include "base/codec/checksum.h"

uint32_t checksum_crc32(penta_bytes bytes)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= bytes.data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}
