/* Apart from repair.c, because only fuzz targets have libFuzzer's own mutation. */
#include "repair.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

size_t mutate_and_repair(const char *format, uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max);
    if (seed % 4) repair(format, data, size);
    return size;
}
