/* A group is a sequence of instructions for which there is better code than for its parts.
 *
 * A group writes no register before everything in it that can fault is done. So after a fault
 * inside a group the interpreter goes on from the group's first instruction. Compiled code
 * cannot be entered at the other instructions of a group. */
#pragma once
#include "pvm/jit/decode.h"

/* A struct jit_group says what was written as a group; a count of 0 means nothing. */
struct jit_group {
    uint8_t count, length; /* count: how many instructions; length: the bytes of their guest code */
};

/* These functions write the group whose first instruction is at pc, if there is one (fuse.c). */
struct jit_group pvm_jit_fuse_add(struct jit *j, uint32_t pc);
struct jit_group pvm_jit_fuse_shift(struct jit *j, uint32_t pc);
struct jit_group pvm_jit_widen(struct jit *j, uint32_t pc);

/* Returns the opcode after the instruction, or `invalid` where it is not easily known. */
static inline enum pvm_op jit_op_after(const struct jit *j, const struct jit_insn *in)
{
    return in->in_place ? (enum pvm_op)j->decoder.ops[in->at[in->length]] : PVM_OP_invalid;
}

static inline bool jit_is_load(enum pvm_op op)
{
    return op >= PVM_OP_load_indirect_u8 && op <= PVM_OP_load_indirect_u64;
}
