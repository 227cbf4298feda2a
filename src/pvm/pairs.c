/* Two instructions in one handler. */
#include "pvm/handlers.h"

pvm_handler *pvm_pair_handler(uint8_t first, unsigned first_in, uint8_t second, unsigned second_in,
                              bool loops)
{
    (void)first, (void)first_in, (void)second, (void)second_in, (void)loops;
    return NULL;
}
