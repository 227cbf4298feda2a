/* What ends a block or leaves the code. */
#include "pvm/jit.h"

static void step(struct jit *j) { x64_call(&j->e, &j->step); }

/* Looks at the interrupt flag, where a program might stay for ever. */
static void poll(struct jit *j, const struct pvm_insn *in)
{
    if (!j->n->poll) return;
    x64_mov_load(&j->e, X64, RCX, state_field(offsetof(struct pvm_state, interrupt)));
    x64_cmp_mem8_imm(&j->e, (struct x64_mem){.base = RCX, .index = X64_NONE}, 0);
    pvm_jit_cold(j, x64_jcc_later(&j->e, X64_NE), in->pc, PVM_COLD_POLL);
}

/* ---- static jumps ---- */

/* As in cells.c: what is not legal goes through the step engine. */
static bool legal(const struct jit *j, const struct pvm_insn *in)
{
    const struct pvm_code *code = &j->p->code;
    if (!pvm_is_target(code, in->target)) return false;
    if (pvm_ops[in->op].flow != PVM_FLOW_BRANCH || j->p->profile->late_branches) return true;
    uint32_t next = in->pc + in->length;
    if (in->length <= PVM_SKIP_MAX && !code->gp && !code->doc) return pvm_starts(code, next);
    return pvm_is_target(code, next); /* the general rule; behind a branch it seldom matters */
}

/* Where a block that is written already starts; 0: it is not. */
static uint32_t known(const struct jit *j, uint32_t target)
{
    uint32_t at = j->n->offsets[target];
    return at ? at - j->n->charge_size : 0;
}

static void jump(struct jit *j, const struct pvm_insn *in)
{
    uint32_t to = known(j, in->target);
    if (to) x64_jmp_to(&j->e, to);
    else pvm_jit_aim(j, x64_jmp_later(&j->e), in->target);
}

static void branch(struct jit *j, const struct pvm_insn *in, enum x64_cond cond)
{
    uint32_t to = known(j, in->target);
    if (to) x64_jcc_to(&j->e, cond, to);
    else pvm_jit_aim(j, x64_jcc_later(&j->e, cond), in->target);
}

static void branch2(struct jit *j, const struct pvm_insn *in, enum x64_cond cond)
{
    x64_cmp(&j->e, j->word, host(in->a), host(in->b));
    branch(j, in, cond);
}

static void branch_immediate(struct jit *j, const struct pvm_insn *in, enum x64_cond cond)
{
    enum x64_reg a = host(in->a);
    if (in->imm1) x64_cmp_imm(&j->e, j->word, a, (int32_t)in->imm1);
    else x64_test(&j->e, j->word, a, a);
    branch(j, in, cond);
}

/* ---- dynamic jumps ---- */

enum { TABLE_SCALE = 3 };

static void address(struct jit *j, unsigned reg, uint64_t offset)
{
    if (offset)
        x64_lea(&j->e, X32, RCX, (struct x64_mem){.base = (int8_t)host(reg), .index = X64_NONE,
                                                  .disp = (int32_t)offset});
    else
        x64_mov(&j->e, X32, RCX, host(reg));
}

static struct x64_mem table_entry(const struct jit *j)
{
    return (struct x64_mem){.base = X64_NONE, .index = RCX, .scale = TABLE_SCALE,
                            .disp = (int32_t)(uint32_t)(uintptr_t)j->n->table};
}

/* Addresses beyond the table leave for the cold place. Odd ones and those of illegal targets have
 * addresses in the table that no processor goes to: the jump itself faults, hence with exact
 * state. */
static void check_range(struct jit *j, const struct pvm_insn *in, enum pvm_cold_kind beyond)
{
    x64_cmp_imm(&j->e, X32, RCX, (int32_t)(2 * j->p->table_count + 1));
    pvm_jit_cold(j, x64_jcc_later(&j->e, X64_A), in->pc, beyond);
}

static void jump_indirect(struct jit *j, const struct pvm_insn *in)
{
    address(j, in->a, in->imm1);
    if (!j->n->table) {
        x64_call(&j->e, &j->dynamic);
        return;
    }
    check_range(j, in, PVM_COLD_DYNAMIC);
    x64_jmp_mem(&j->e, table_entry(j));
}

/* The register is written last, but before a jump that may fault: if that register held the
 * address, the instruction could not be repeated, so the entry is looked at first. */
static void load_imm_and_jump_indirect(struct jit *j, const struct pvm_insn *in)
{
    address(j, in->b, in->imm2);
    uint64_t value = j->narrow ? (uint32_t)in->imm1 : in->imm1;
    if (!j->n->table) {
        step(j);
        return;
    }
    check_range(j, in, PVM_COLD_STEP); /* even a halt writes the register */
    if (in->a != in->b) {
        x64_mov_imm(&j->e, host(in->a), value);
        x64_jmp_mem(&j->e, table_entry(j));
        return;
    }
    x64_mov_load(&j->e, X64, RCX, table_entry(j));
    x64_test(&j->e, X64, RCX, RCX);
    pvm_jit_cold(j, x64_jcc_later(&j->e, X64_S), in->pc, PVM_COLD_STEP);
    x64_mov_imm(&j->e, host(in->a), value);
    x64_jmp_reg(&j->e, RCX);
}

unsigned pvm_jit_dispatch_tail(const struct pvm_code *code, uint32_t pc, unsigned max)
{
    const uint8_t *ops = pvm_isas[code->isa].op;
    for (unsigned n = 1; n <= max && pc < code->bytes.size; n++) {
        enum pvm_op op = ops[code->bytes.data[pc]];
        if (op == PVM_OP_jump_indirect)
            return pc + 1 < code->bytes.size && (code->bytes.data[pc + 1] & 15) != PVM_RA ? n : 0;
        enum pvm_flow flow = (enum pvm_flow)pvm_ops[op].flow;
        if (op == PVM_OP_invalid || flow == PVM_FLOW_HOST || flow > PVM_FLOW_BRANCH) return 0;
        pc += 1 + pvm_skip(code, pc);
    }
    return 0;
}

/* ---- all of them ---- */

static void host_call(struct jit *j, const struct pvm_insn *in)
{
    x64_mov_store_imm(&j->e, X32, state_field(offsetof(struct pvm_state, pc)), (int32_t)in->pc);
    x64_mov_store_imm(&j->e, X32, state_field(offsetof(struct pvm_state, host_number)),
                      (int32_t)in->imm1);
    x64_jmp(&j->e, &j->host);
}

#define BRANCHES(name, one, two)                                                                   \
    case PVM_OP_branch_##name: branch2(j, in, one); break;                                         \
    case PVM_OP_branch_##name##_imm: branch_immediate(j, in, two); break;

void pvm_jit_flow(struct jit *j, const struct pvm_insn *in)
{
    if (pvm_has_target(in->op)) {
        if (!legal(j, in)) {
            step(j);
            return;
        }
        if (in->target <= in->pc) poll(j, in);
    }
    switch ((enum pvm_op)in->op) {
    BRANCHES(eq, X64_E, X64_E)
    BRANCHES(not_eq, X64_NE, X64_NE)
    BRANCHES(less_unsigned, X64_B, X64_B)
    BRANCHES(less_signed, X64_L, X64_L)
    BRANCHES(greater_or_equal_unsigned, X64_AE, X64_AE)
    BRANCHES(greater_or_equal_signed, X64_GE, X64_GE)
    case PVM_OP_branch_less_or_equal_unsigned_imm: branch_immediate(j, in, X64_BE); break;
    case PVM_OP_branch_less_or_equal_signed_imm: branch_immediate(j, in, X64_LE); break;
    case PVM_OP_branch_greater_unsigned_imm: branch_immediate(j, in, X64_A); break;
    case PVM_OP_branch_greater_signed_imm: branch_immediate(j, in, X64_G); break;
    case PVM_OP_jump: jump(j, in); break;
    case PVM_OP_load_imm_and_jump:
        x64_mov_imm(&j->e, host(in->a), j->narrow ? (uint32_t)in->imm1 : in->imm1);
        jump(j, in);
        break;
    case PVM_OP_jump_indirect:
        poll(j, in);
        jump_indirect(j, in);
        break;
    case PVM_OP_load_imm_and_jump_indirect:
        poll(j, in);
        load_imm_and_jump_indirect(j, in);
        break;
    case PVM_OP_fallthrough:
        if ((uint64_t)in->pc + in->length >= j->p->code.bytes.size &&
            !j->p->profile->fall_off)
            step(j);
        break;
    case PVM_OP_ecalli: host_call(j, in); break;
    default: step(j); break;   /* trap, invalid */
    }
}
