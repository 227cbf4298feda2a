/* Before the functions that are not of standard C: a program may have functions of its own with these names, which
 * then take their place. */
#pragma once
#define WEAK __attribute__((weak))
