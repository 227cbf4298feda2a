/* Tells what the linker must know about instructions: their forms with constants, what they read
 * and write, and what they compute, as vm/ops.h says. */
#pragma once
#include "pvm/link/link.h"
#include "pvm/vm/ops.h"

struct link_form {
    /* `second` and `first` are the forms with a constant, as numbers of enum pvm_op, or
     * PVM_OP_invalid when there is no such form. */
    uint8_t second, first;
    bool negate; /* A constant in the second place is negated. */
};
const struct link_form *link_form(uint8_t op);

/* Returns the set that has only this register. A set has a bit for each register. */
static inline uint16_t link_bit(uint8_t reg) { return (uint16_t)(1u << reg); }
enum { LINK_ALL_REGS = (1 << PVM_REGISTERS) - 1 };

enum pvm_kind link_kind(uint8_t op);
/* link_reads and link_writes return the sets of registers that an instruction reads and writes. */
uint16_t link_reads(const struct link_insn *in);
uint16_t link_writes(const struct link_insn *in);
/* Tells whether the instruction only computes. Such an instruction can be dropped when its
 * result is not read. */
bool link_is_pure(uint8_t op);
bool link_is_load(uint8_t op);
bool link_is_branch(uint8_t op);

/* Computes the result of SET3, SET2 and SET2I instructions (vm/ops.h). Returns false for other
 * instructions. a and b are the values of the registers and x is the immediate. In 32-bit
 * programs they are sign-extended. */
bool link_compute(uint8_t op, uint64_t a, uint64_t b, uint64_t x, bool word32, uint64_t *out);
/* Tells whether a branch, or the move of a CMOV, is taken. */
bool link_decide(uint8_t op, uint64_t a, uint64_t b, uint64_t x);
/* Returns the branch that is taken exactly when this one is not. */
uint8_t link_opposite(uint8_t op);

static inline bool link_fits32(int64_t value) { return value == (int32_t)value; }
