/* Any text as assembly: see checks.h for what must hold. */
#include "checks.h"
#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text_source((penta_bytes){data, size}, "tvmr");
    return 0;
}
