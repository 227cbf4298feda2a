/* Any bytes as a container: see checks.h for what must hold. */
#include <stdlib.h>
#include "checks.h"
#include "repair.h"

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    (void)what, (void)a, (void)b;
    abort();
}

REPAIRING_MUTATOR("cvbc")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_file((penta_bytes){data, size}, "cvbc");
    return 0;
}
