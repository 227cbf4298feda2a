/* Any bytes after the header of a legacy file: see checks.h for what must hold. */
#include "checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size + 8);
    if (!file) return 0;
    memcpy(file, "TERN\2\0\0\0", 8);
    memcpy(file + 8, data, size);
    check_file((penta_bytes){file, size + 8}, "tvmr");
    free(file);
    return 0;
}
