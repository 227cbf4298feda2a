/* Any bytes as a kernel blob: see checks.h for what must hold. */
#include "fuzz.h"

REPAIRING_MUTATOR("kblob")

void fuzz_one(const uint8_t *data, size_t size) { check_file((penta_bytes){data, size}, "kblob"); }
