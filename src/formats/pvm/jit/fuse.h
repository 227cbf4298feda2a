/* Groups of instructions with better code than their parts.
 *
 * A group writes no register before everything in it that can fault is done: a fault inside it
 * is one in front of its first instruction, from where the interpreter goes on. The others of a
 * group have no place of their own to enter at. */
#pragma once
#include "pvm/jit/decode.h"

struct jit_group {         /* what was written; count 0: nothing */
    uint8_t count, length; /* instructions, bytes of the guest's code */
};

/* fuse.c. The first of the group is at pc. */
struct jit_group pvm_jit_fuse_add(struct jit *j, uint32_t pc);
struct jit_group pvm_jit_fuse_shift(struct jit *j, uint32_t pc);
struct jit_group pvm_jit_widen(struct jit *j, uint32_t pc);

/* What stands after the instruction; invalid when that is not known so easily. */
static inline enum pvm_op jit_op_after(const struct jit *j, const struct jit_insn *in)
{
    return in->in_place ? (enum pvm_op)j->decoder.ops[in->at[in->length]] : PVM_OP_invalid;
}

static inline bool jit_is_load(enum pvm_op op)
{
    return op >= PVM_OP_load_indirect_u8 && op <= PVM_OP_load_indirect_u64;
}
