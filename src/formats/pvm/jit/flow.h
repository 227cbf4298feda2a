/* Writes the code of instructions that end a block or leave compiled code. All of this is
 * inlined into pvm_jit_blocks. */
#pragma once
#include "pvm/jit/emit.h"

X64_INLINE void flow_step(struct jit *j) { x64_call_to(&j->e, j->step.at - 1); }

/* Tests the interrupt flag. This is done wherever a program could loop. */
X64_INLINE void flow_poll(struct jit *j, const struct jit_insn *in)
{
    if (!j->n->poll) return;
    x64_mov_load(&j->e, X64, RCX, state_field(offsetof(struct pvm_state, interrupt)));
    x64_cmp_mem8_imm(&j->e, (struct x64_mem){.base = RCX, .index = X64_NONE}, 0);
    pvm_jit_cold(j, x64_jcc_later(&j->e, X64_NE), in->pc, PVM_COLD_POLL);
}

/* Tells whether a jump may go to the target. This is known when the code of the target is
 * written already. A forward jump counts as legal; if it is not, compile_resolve() in compile.c
 * replaces it at the end. */
X64_INLINE bool may_go(const struct jit *j, uint32_t pc, uint32_t target)
{
    if (target >= j->size) return false;
    if (target <= pc) return pvm_jit_may_go(j, target);
    return !j->copying || pvm_is_target(&j->p->code, target);
}

X64_INLINE bool may_branch(const struct jit *j, const struct jit_insn *in, uint32_t target)
{
    if (j->strict) {
        uint32_t next = in->pc + in->length;
        if (next >= j->size) return false;
        if ((j->general || in->length > PVM_SKIP_MAX) && !pvm_is_target(&j->p->code, next))
            return false;
    }
    return may_go(j, in->pc, target);
}

/* Returns the native offset of a block that is written already. */
X64_INLINE uint32_t flow_known(const struct jit *j, uint32_t target)
{
    return pvm_native_offset(j->n, target) - j->n->charge_size;
}

X64_INLINE void flow_jump(struct jit *j, uint32_t pc, uint32_t target)
{
    if (target <= pc)
        x64_jmp_to(&j->e, flow_known(j, target));
    else
        pvm_jit_aim(j, x64_jmp_later(&j->e), target);
}

X64_INLINE void flow_branch(struct jit *j, uint32_t pc, uint32_t target, enum x64_cond cond)
{
    if (target <= pc)
        x64_jcc_to(&j->e, cond, flow_known(j, target));
    else
        pvm_jit_aim(j, x64_jcc_later(&j->e, cond), target);
}

enum { TABLE_SCALE = 3 };

X64_INLINE void flow_address(struct jit *j, enum x64_reg reg, uint64_t offset)
{
    if (offset)
        x64_lea(&j->e, X32, RCX, emit_sum(reg, X64_NONE, (int32_t)offset));
    else
        x64_mov(&j->e, X32, RCX, reg);
}

X64_INLINE struct x64_mem table_entry(const struct jit *j)
{
    return (struct x64_mem){.base = X64_NONE,
                            .index = RCX,
                            .scale = TABLE_SCALE,
                            .disp = (int32_t)(uint32_t)(uintptr_t)j->n->table};
}

/* Checks a dynamic address against the size of the table. An address after the end of the table
 * goes to a cold place. Odd addresses and illegal targets have a table entry that is not a
 * canonical address: the jump itself faults, with exact state. */
X64_INLINE void check_range(struct jit *j, const struct jit_insn *in, enum pvm_cold_kind beyond)
{
    x64_cmp_imm(&j->e, X32, RCX, (int32_t)(2 * j->p->table_count + 1));
    pvm_jit_cold(j, x64_jcc_later(&j->e, X64_A), in->pc, beyond);
}

X64_INLINE void jump_indirect(struct jit *j, const struct jit_insn *in)
{
    flow_address(j, reg_a(in), decode_imm(in));
    if (!j->n->table) {
        x64_call_to(&j->e, j->dynamic.at - 1);
        return;
    }
    check_range(j, in, PVM_COLD_DYNAMIC);
    x64_jmp_mem(&j->e, table_entry(j));
}

/* Writes the register that gets the immediate, and then the jump, which may fault. If the same
 * register holds the address, the interpreter could not repeat the instruction after a fault, so
 * the table entry is tested first. */
X64_INLINE void load_imm_and_jump_indirect(struct jit *j, const struct jit_insn *in)
{
    struct jit_pair x = imms_after_two(in);
    uint64_t value = j->narrow ? (uint32_t)x.first : x.first;
    flow_address(j, reg_b(in), x.second);
    if (!j->n->table) {
        flow_step(j);
        return;
    }
    /* A jump that halts the machine must write the register, too, so the interpreter does it. */
    check_range(j, in, PVM_COLD_STEP);
    if (reg_a(in) != reg_b(in)) {
        x64_mov_imm(&j->e, reg_a(in), value);
        x64_jmp_mem(&j->e, table_entry(j));
        return;
    }
    x64_mov_load(&j->e, X64, RCX, table_entry(j));
    x64_test(&j->e, X64, RCX, RCX);
    pvm_jit_cold(j, x64_jcc_later(&j->e, X64_S), in->pc, PVM_COLD_STEP);
    x64_mov_imm(&j->e, reg_a(in), value);
    x64_jmp_reg(&j->e, RCX);
}

X64_INLINE void host_call(struct jit *j, const struct jit_insn *in)
{
    x64_mov_store_imm(&j->e, X32, state_field(offsetof(struct pvm_state, pc)), (int32_t)in->pc);
    x64_mov_store_imm(&j->e, X32, state_field(offsetof(struct pvm_state, host_number)),
                      (int32_t)imm_alone(in));
    x64_jmp_to(&j->e, j->host.at - 1);
}
