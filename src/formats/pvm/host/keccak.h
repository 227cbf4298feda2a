/* Computes Keccak-256 as Ethereum uses it. Its padding is that of the Keccak submission, and
 * differs from that of SHA-3. */
#pragma once
#include "base/long_work.h"
#include "penta/penta.h"

void keccak256_digest(penta_bytes in, uint8_t out[32]);
void keccak256_work(penta_bytes in, uint8_t out[32], struct long_work *work);
