/* Groups of instructions with better code than their parts.
 *
 * A group writes no register before everything in it that can fault is done: after a fault inside
 * it, the interpreter goes on from its first instruction. Compiled code cannot be entered at the
 * other instructions of a group. */
#pragma once
#include "pvm/jit/decode.h"

struct jit_group {         /* what was written; count 0: nothing */
    uint8_t count, length; /* instructions, bytes of the guest's code */
};

/* fuse.c. The first of the group is at pc. */
struct jit_group pvm_jit_fuse_add(struct jit *j, uint32_t pc);
struct jit_group pvm_jit_fuse_shift(struct jit *j, uint32_t pc);
struct jit_group pvm_jit_widen(struct jit *j, uint32_t pc);

/* The opcode after the instruction; invalid where it is not easily known. */
static inline enum pvm_op jit_op_after(const struct jit *j, const struct jit_insn *in)
{
    return in->in_place ? (enum pvm_op)j->decoder.ops[in->at[in->length]] : PVM_OP_invalid;
}

static inline bool jit_is_load(enum pvm_op op)
{
    return op >= PVM_OP_load_indirect_u8 && op <= PVM_OP_load_indirect_u64;
}
