/* Replaces superinstructions.c in builds that have no pairs. Without tail calls pairs gain
 * little; they take sanitizers minutes to build, and in a module for browsers they would be most
 * of its size. */
#include "pvm/vm/handlers.h"

pvm_handler *pvm_pair_handler(uint8_t first, unsigned first_in, uint8_t second, unsigned second_in,
                              bool loops)
{
    (void)first, (void)first_in, (void)second, (void)second_in, (void)loops;
    return NULL;
}
