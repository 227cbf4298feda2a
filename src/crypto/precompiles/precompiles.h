/* The functions below do the arithmetic of Ethereum's precompiled contracts. A function returns
 * false when this build does not have it; *valid says whether the input was good. A function
 * that may take long asks `work`, which may be NULL, whether to end early. */
#pragma once
#include "base/error.h"
#include "base/long_work.h"

/* Computes RIPEMD-160 (ISO/IEC 10118-3). */
bool precompile_ripemd160(penta_bytes in, uint8_t out[20], struct long_work *work);
/* Finds the public key, x and y, under which r and s are the ECDSA signature of this hash on
 * secp256k1 (SEC 1, section 4.1.6). `odd` is the parity of y of the signature's point. */
bool precompile_recover(const uint8_t hash[32], bool odd, const uint8_t r[32], const uint8_t s[32],
                        uint8_t key[64], bool *valid);
/* Computes base^exponent mod modulus; all numbers are big-endian. `out` has the size of the
 * modulus, which is not 0. */
bool precompile_modexp(penta_bytes base, penta_bytes exponent, penta_bytes modulus, uint8_t *out,
                       bool *valid, struct long_work *work);
/* These functions compute with points of alt_bn128 (EIP-196, 197). A point is x and y, 32 bytes
 * each; both 0 is the point at infinity. */
bool precompile_bn128_add(const uint8_t a[64], const uint8_t b[64], uint8_t out[64], bool *valid);
bool precompile_bn128_multiply(const uint8_t a[64], const uint8_t scalar[32], uint8_t out[64],
                               bool *valid);
enum { BN128_PAIR_BYTES = 192 };
/* Tells in *one whether the product of the pairings of `count` pairs, each of a point of the
 * curve and a point of its twist, is one. *valid is false when a point is not on its curve or
 * has another order. A pair takes about 10 ms. */
bool precompile_bn128_pairing(const uint8_t *pairs, size_t count, bool *one,
                              struct long_work *work);
/* Computes the compression function of BLAKE2b (EIP-152). h, m and t are little-endian, as in
 * the contract's input. */
void precompile_blake2f(uint32_t rounds, uint8_t h[64], const uint8_t m[128], const uint8_t t[16],
                        bool last, struct long_work *work);
