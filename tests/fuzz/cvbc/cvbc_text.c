/* Any text as assembly: see checks.h for what must hold. */
#include <stdlib.h>
#include "checks.h"

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    (void)what, (void)a, (void)b;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text_source((penta_bytes){data, size}, "cvbc");
    return 0;
}
