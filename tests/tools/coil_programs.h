/* Makes random COIL programs that end. They have branches, bounded loops, calls, recursion, all
 * scalar types, saturation, floats, vectors, memory in and out of bounds, ports and traps.
 * Whatever a function computes is stored before it returns, so that a difference shows. */
#pragma once
#include "base/writer.h"

struct coil_choices { /* Choices come first from given bytes, then from random numbers. */
    const uint8_t *data;
    size_t size, at;
    uint64_t state;
};
void coil_program_write(struct coil_choices *c, struct writer *w);
/* Runs a program on the engine "both". Returns NULL, or what is wrong. *ran tells whether it was
 * a valid program. */
const char *coil_trial(penta_bytes text, bool *ran, char *note, size_t room);
