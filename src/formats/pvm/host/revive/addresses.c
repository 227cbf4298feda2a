/* Computes the addresses of new contracts (CONTRACT 2.5) and the hashes of blocks (CONTRACT
 * 2.4). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm/host/keccak.h"
#include "pvm/host/revive/revive.h"

/* Computes an address by hashing the RLP list of creator and nonce with Keccak. Both are so
 * short that each length is one byte. */
void revive_address_create(const uint8_t creator[ADDRESS], uint64_t nonce, uint8_t out[ADDRESS])
{
    uint8_t rlp[2 + ADDRESS + 9], hash[HASH];
    size_t size = 1, bytes = 0;
    rlp[size++] = 0x80 + ADDRESS;
    memcpy(rlp + size, creator, ADDRESS);
    size += ADDRESS;
    while (bytes < 8 && nonce >> 8 * bytes) bytes++;
    if (nonce == 0 || nonce > 127) rlp[size++] = (uint8_t)(0x80 + bytes);
    while (bytes--) rlp[size++] = (uint8_t)(nonce >> 8 * bytes);
    rlp[0] = (uint8_t)(0xc0 + size - 1);
    keccak256_digest((penta_bytes){rlp, size}, hash);
    memcpy(out, hash + HASH - ADDRESS, ADDRESS);
}

bool revive_address_create2(const uint8_t creator[ADDRESS], const uint8_t salt[HASH],
                            penta_bytes code, penta_bytes data, uint8_t out[ADDRESS])
{
    uint8_t fixed[1 + ADDRESS + 2 * HASH] = {0xff}, hash[HASH];
    uint8_t *both = malloc(code.size + data.size + 1);
    if (!both) return false;
    bytes_copy(both, code);
    bytes_copy(both + code.size, data);
    memcpy(fixed + 1, creator, ADDRESS);
    memcpy(fixed + 1 + ADDRESS, salt, HASH);
    keccak256_digest((penta_bytes){both, code.size + data.size}, fixed + 1 + ADDRESS + HASH);
    free(both);
    keccak256_digest((penta_bytes){fixed, sizeof fixed}, hash);
    memcpy(out, hash + HASH - ADDRESS, ADDRESS);
    return true;
}

void revive_block_hash(const struct u256 *number, uint8_t out[HASH])
{
    char text[8 + U256_DIGITS] = "block";
    revive_u256_print(number, text + strlen(text));
    keccak256_digest((penta_bytes){(const uint8_t *)text, strlen(text)}, out);
}
