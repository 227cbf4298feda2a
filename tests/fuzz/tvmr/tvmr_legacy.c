/* Reads any bytes after the header of a legacy file. checks.h lists what must hold. */
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size + 8);
    if (!file) return;
    memcpy(file, "TERN\2\0\0\0", 8);
    memcpy(file + 8, data, size);
    check_file((penta_bytes){file, size + 8}, "tvmr");
    free(file);
}
