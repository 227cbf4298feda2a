/* Reads any bytes as a container. checks.h lists what must hold. */
#include "fuzz.h"

REPAIRING_MUTATOR("cvbc")

void fuzz_one(const uint8_t *data, size_t size) { check_file((penta_bytes){data, size}, "cvbc"); }
