/* The compiler leaves these parts to the folder native when it makes code for an object file,
 * because calls, traps, memory and the addresses of symbols differ there from those in a
 * machine. lower_native.c, calls.c and symbols.c of that folder define the functions and include
 * this file. */
#pragma once
#include "coil/jit/jit.h"

/* Makes a value that is the address of a symbol of the module. */
uint32_t coil_native_address(struct coil_lower *l, uint32_t symbol);
void coil_native_step(struct coil_lower *l);
void coil_native_port(struct coil_lower *l);
void coil_native_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no);
void coil_native_clear(struct coil_lower *l, uint64_t bytes);
void coil_native_leave(struct coil_lower *l); /* compiles an instruction that ends the program */
/* Makes a jump or call whose target is an operand or another function. Returns false if the
 * instruction is neither of the two. */
bool coil_native_indirect(struct coil_lower *l, uint32_t next);
/* Tells whether the instruction of a cell jumps to a computed address. */
bool coil_native_jumps(const struct coil_program *p, uint32_t cell);
/* Returns the value of operand i in the operand's own type, whatever form the operand has. */
uint32_t coil_native_operand(struct coil_lower *l, unsigned i);
/* Lists the cells of a function to which computed jumps may lead. The caller frees the list. */
bool coil_native_labels(const struct coil_native *n, uint32_t function, uint32_t **cells,
                        uint32_t *count);
/* Records that the code uses the machine of the current thread. */
void coil_native_uses_context(struct coil_native *n);
