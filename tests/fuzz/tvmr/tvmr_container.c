/* Reads any bytes as an image. checks.h lists what must hold. */
#include "fuzz.h"

REPAIRING_MUTATOR("tvmr")

void fuzz_one(const uint8_t *data, size_t size) { check_file((penta_bytes){data, size}, "tvmr"); }
