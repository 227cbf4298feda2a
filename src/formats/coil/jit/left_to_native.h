/* What the compiler leaves to native/ when it makes code for an object file: there calls, traps, memory and the
 * addresses of symbols are others than in a machine. The functions are in lower_native.c, calls.c and symbols.c of
 * that folder, which includes this one. */
#pragma once
#include "coil/jit/jit.h"

/* Makes the address of a symbol of the module. */
uint32_t coil_native_address(struct coil_lower *l, uint32_t symbol);
void coil_native_step(struct coil_lower *l);
void coil_native_port(struct coil_lower *l);
void coil_native_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no);
void coil_native_clear(struct coil_lower *l, uint64_t bytes);
void coil_native_leave(struct coil_lower *l); /* compiles an instruction that ends the program */
/* Makes a jump or call whose target is an operand or another function. Returns false if the
 * instruction is neither. */
bool coil_native_indirect(struct coil_lower *l, uint32_t next);
/* Tells whether a cell jumps to a computed address. */
bool coil_native_jumps(const struct coil_program *p, uint32_t cell);
/* Returns the value of operand i in its own type, in whatever form the operand is given. */
uint32_t coil_native_operand(struct coil_lower *l, unsigned i);
/* Gives the cells of a function to which computed jumps may lead. The caller frees them. */
bool coil_native_labels(const struct coil_native *n, uint32_t function, uint32_t **cells,
                        uint32_t *count);
/* Notes that the code uses the machine of the thread. */
void coil_native_uses_context(struct coil_native *n);
