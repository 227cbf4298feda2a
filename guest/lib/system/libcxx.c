/* Implements the function that LLVM's C++ headers call where they would throw an exception. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "system/weak.h"

void penta_verbose_abort(const char *text, ...) __asm__("_ZNSt3__122__libcpp_verbose_abortEPKcz");

WEAK void penta_verbose_abort(const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vfprintf(stderr, text, args);
    va_end(args);
    abort();
}
