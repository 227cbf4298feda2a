/* Replaces checksum.c in builds without libdeflate and xxHash. It computes the checksums with
 * simple, slow loops. */
#include "base/codec/checksum.h"
#include "base/bytes.h"

uint32_t checksum_crc32(penta_bytes bytes)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= bytes.data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t checksum_rol(uint64_t v, int n) { return v << n | v >> (64 - n); }
static uint64_t checksum_round1(uint64_t a, uint64_t x)
{
    return checksum_rol(a + x * P2, 31) * P1;
}

uint64_t checksum_xxh64(penta_bytes bytes)
{
    const uint8_t *p = bytes.data, *end = p + bytes.size;
    uint64_t h = P5;
    if (bytes.size >= 32) {
        uint64_t v[4] = {P1 + P2, P2, 0, 0 - P1};
        for (; end - p >= 32; p += 32)
            for (int i = 0; i < 4; i++) v[i] = checksum_round1(v[i], bytes_get64(p + 8 * i));
        h = checksum_rol(v[0], 1) + checksum_rol(v[1], 7) + checksum_rol(v[2], 12) +
            checksum_rol(v[3], 18);
        for (int i = 0; i < 4; i++) h = (h ^ checksum_round1(0, v[i])) * P1 + P4;
    }
    h += bytes.size;
    for (; end - p >= 8; p += 8)
        h = checksum_rol(h ^ checksum_round1(0, bytes_get64(p)), 27) * P1 + P4;
    if (end - p >= 4) {
        h = checksum_rol(h ^ bytes_get32(p) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++) h = checksum_rol(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}
