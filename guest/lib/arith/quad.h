/* The 128-bit floating point number, and an integer of its size: long double on the guest, and under another
 * name where the library is tested. */
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
