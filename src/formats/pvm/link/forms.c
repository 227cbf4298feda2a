/* Answers what the linker asks about instructions (forms.h). Everything comes from isa.def,
 * forms.def and vm/ops.h, except the registers of host calls and memset. */
#include "pvm/link/forms.h"

const struct link_form *link_form(uint8_t op)
{
    enum { KEEP, NEGATE };
    static const struct link_form forms[PVM_OPS] = {
#define FORM(op, second, first, change)                                                            \
    [PVM_OP_##op] = {PVM_OP_##second, PVM_OP_##first, change == NEGATE},
#include "pvm/link/forms.def"
    };
    return &forms[op];
}

enum pvm_kind link_kind(uint8_t op) { return (enum pvm_kind)pvm_uses[op].kind; }

bool link_is_load(uint8_t op)
{
    return link_kind(op) == PVM_DO_LOAD || link_kind(op) == PVM_DO_LOADX;
}

bool link_is_branch(uint8_t op)
{
    return link_kind(op) == PVM_DO_BRANCH2 || link_kind(op) == PVM_DO_BRANCHI;
}

bool link_is_pure(uint8_t op)
{
    switch (link_kind(op)) {
    case PVM_DO_SET2:
    case PVM_DO_SET2I:
    case PVM_DO_SET3:
    case PVM_DO_CMOV3:
    case PVM_DO_CMOVI:
    case PVM_DO_LOADI:
    case PVM_DO_LOADI64: return true;
    default: return false;
    }
}

/* Host calls follow the C convention: arguments are in a0 .. a5 and t0 .. t2, and a call may
 * change all of these registers. */
enum {
    ARGUMENTS = 0x1f80 | 0x1c,
    MEMSET_READS = 0x380,
    MEMSET_WRITES = 0x280,
    STACK = 2,
};

/* Returns the set with the register that the instruction has in a place (vm/ops.h). */
static uint16_t register_in_place(const struct link_insn *in, unsigned place)
{
    const uint8_t two[] = {in->d, in->a, 0}, others[] = {in->a, in->b, in->d};
    return link_bit(pvm_ops[in->op].shape == PVM_REG_REG ? two[place] : others[place]);
}

uint16_t link_reads(const struct link_insn *in)
{
    const struct pvm_uses *uses = &pvm_uses[in->op];
    unsigned reads = 0;
    if (uses->kind == PVM_DO_MEMSET) return MEMSET_READS;
    if (uses->kind == PVM_DO_ECALLI) return LINK_ALL_REGS;
    if (uses->reads & PVM_READS_0) reads |= register_in_place(in, 0);
    if (uses->reads & PVM_READS_1) reads |= register_in_place(in, 1);
    if (uses->kind == PVM_DO_CMOV3 || uses->kind == PVM_DO_CMOVI) reads |= link_writes(in);
    return (uint16_t)reads;
}

uint16_t link_writes(const struct link_insn *in)
{
    const struct pvm_uses *uses = &pvm_uses[in->op];
    if (uses->kind == PVM_DO_MEMSET) return MEMSET_WRITES;
    if (uses->kind == PVM_DO_ECALLI) return ARGUMENTS;
    return uses->writes ? register_in_place(in, uses->writes - 1u) : 0;
}

bool link_compute(uint8_t op, uint64_t a, uint64_t b, uint64_t x, bool word32, uint64_t *out)
{
#define W32 word32
#define DO_SET3(name, e)                                                                           \
    case PVM_OP_##name:                                                                            \
        *out = (uint64_t)(e);                                                                      \
        return true;
#define DO_SET2(name, e) DO_SET3(name, e)
#define DO_SET2I(name, e) DO_SET3(name, e)
#define DO_CMOV3(name, e)
#define DO_CMOVI(name, e)
#define DO_LOADX(name, e)
#define DO_LOAD(name, e)
#define DO_STOREX(name, e)
#define DO_STORE(name, e)
#define DO_STOREIX(name, e)
#define DO_STOREI(name, e)
#define DO_BRANCH2(name, e)
#define DO_BRANCHI(name, e)
#define DO_TRAP(name, e)
#define DO_FALL(name, e)
#define DO_MEMSET(name, e)
#define DO_NOTHING(name, e)
#define DO_ECALLI(name, e)
#define DO_LOADI64(name, e)
#define DO_LOADI(name, e)
#define DO_SBRK(name, e)
#define DO_JUMP(name, e)
#define DO_JUMP_DYNAMIC(name, e)
#define DO_LOADI_JUMP(name, e)
#define DO_LOADI_JUMP_DYNAMIC(name, e)
#define ROW(name, kind, gas, expression, ...) DO_##kind(name, expression)
    (void)a, (void)b, (void)x;
    switch (op) {
#define OP(name, ...) PVM_ROW(ROW, name, 0)
#include "pvm/isa.def"
    default: return false;
    }
}

bool link_decide(uint8_t op, uint64_t a, uint64_t b, uint64_t x)
{
#undef DO_SET3
#undef DO_BRANCH2
#undef DO_BRANCHI
#undef DO_CMOV3
#undef DO_CMOVI
#define DO_SET3(name, e)
#define DO_BRANCH2(name, e)                                                                        \
    case PVM_OP_##name:                                                                            \
        return e;
#define DO_BRANCHI(name, e) DO_BRANCH2(name, e)
#define DO_CMOV3(name, e) DO_BRANCH2(name, e)
#define DO_CMOVI(name, e) DO_BRANCH2(name, e)
    switch (op) {
#define OP(name, ...) PVM_ROW(ROW, name, 0)
#include "pvm/isa.def"
    default: return false;
    }
}

uint8_t link_opposite(uint8_t op)
{
    static const uint8_t pairs[][2] = {
        {PVM_OP_branch_eq, PVM_OP_branch_not_eq},
        {PVM_OP_branch_less_unsigned, PVM_OP_branch_greater_or_equal_unsigned},
        {PVM_OP_branch_less_signed, PVM_OP_branch_greater_or_equal_signed},
        {PVM_OP_branch_eq_imm, PVM_OP_branch_not_eq_imm},
        {PVM_OP_branch_less_unsigned_imm, PVM_OP_branch_greater_or_equal_unsigned_imm},
        {PVM_OP_branch_less_or_equal_unsigned_imm, PVM_OP_branch_greater_unsigned_imm},
        {PVM_OP_branch_less_signed_imm, PVM_OP_branch_greater_or_equal_signed_imm},
        {PVM_OP_branch_less_or_equal_signed_imm, PVM_OP_branch_greater_signed_imm},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][0] == op) return pairs[i][1];
        if (pairs[i][1] == op) return pairs[i][0];
    }
    return PVM_OP_invalid;
}
