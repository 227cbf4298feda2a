/* Assembles any text. checks.h lists what must hold. */
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    check_text_source((penta_bytes){data, size}, "tvmr");
}
