/* Linear memory is one reservation of address space in which every region lies at its guest
 * address. Only the pages that belong to a region are accessible. The machine checks the bounds
 * to the byte. */
#include "coil/vm/vm.h"
#include <sys/mman.h>

uint8_t *coil_linear_new(void)
{
    void *at = mmap(NULL, COIL_LINEAR_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

uint8_t *coil_linear_open(uint8_t *linear, uint64_t base, uint64_t size)
{
    uint64_t page = 4096, from = base / page * page, to = (base + size + page - 1) / page * page;
    if (to > COIL_LINEAR_BYTES) return NULL;
    return mprotect(linear + from, to - from, PROT_READ | PROT_WRITE) ? NULL : linear + base;
}

void coil_linear_free(uint8_t *linear)
{
    if (linear) munmap(linear, COIL_LINEAR_BYTES);
}
