/* These functions replace linear.c on hosts that cannot reserve address space: there is no
 * linear memory, and each region has memory of its own. */
#include "coil/vm/vm.h"

uint8_t *coil_linear_new(void) { return NULL; }

uint8_t *coil_linear_open(uint8_t *linear, uint64_t base, uint64_t size)
{
    (void)linear, (void)base, (void)size;
    return NULL;
}

void coil_linear_free(uint8_t *linear) { (void)linear; }
