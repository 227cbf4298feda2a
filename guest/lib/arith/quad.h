/* Defines the floating point number of 128 bits, and an integer of its size. The number is long
 * double on the guest, and has another name on the machines that test the library. */
#pragma once
#include <stdint.h>

#if __LDBL_MANT_DIG__ == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 quad_bits;
#else
typedef unsigned _BitInt(128) quad_bits;
#endif
