/* Keccak-256 as Ethereum uses it: the padding of the Keccak submission, not that of SHA-3. */
#pragma once
#include "base/long_work.h"
#include "penta/penta.h"

void keccak256_digest(penta_bytes in, uint8_t out[32]);
void keccak256_work(penta_bytes in, uint8_t out[32], struct long_work *work);
