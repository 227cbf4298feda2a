/* WEAK stands before functions that are not of standard C. A program may have its own functions
 * with these names, which then take their place. */
#pragma once
#define WEAK __attribute__((weak))
