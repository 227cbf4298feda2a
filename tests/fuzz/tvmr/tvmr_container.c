/* Any bytes as an image: see checks.h for what must hold. */
#include "checks.h"
#include "repair.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

REPAIRING_MUTATOR("tvmr")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_file((penta_bytes){data, size}, "tvmr");
    return 0;
}
