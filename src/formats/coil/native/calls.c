/* Makes calls of C functions from COIL code. Values of V registers become arguments according to
 * the prototype, and the result goes to V0. The back end in src/ssa puts arguments where the
 * System V rules say. */
#include "coil/native/native.h"

enum { IN_REGISTERS = 8 }; /* Arguments are in V0 to V7; further ones are on the data stack. */

/* Returns the 64 bits that argument i has. */
static uint32_t calls_argument(struct coil_lower *l, unsigned i)
{
    if (i < IN_REGISTERS) return coil_lower_register(l, i);
    struct ssa_address sp = {.base = coil_native_context(l), .disp = offsetof(struct coil_vm, sp)};
    uint32_t top = ssa_load(l->f, SSA_X64, sp);
    return ssa_load(l->f, SSA_X64,
                    (struct ssa_address){.base = top, .disp = 8 * (int64_t)(i - IN_REGISTERS)});
}

static uint32_t calls_typed(struct coil_lower *l, uint32_t bits, uint8_t type)
{
    if (coil_types[type].family == COIL_F_REAL)
        return ssa_op1(l->f, SSA_REAL, coil_ssa_type(type), bits);
    return coil_lower_canon(l, bits, type);
}

/* Returns an argument that the prototype does not list. It is a float if a float was put into
 * its register. */
static uint32_t calls_untyped(struct coil_lower *l, uint32_t bits)
{
    const struct ssa_insn *in = &l->f->insns[ssa_origin(l->f, bits)];
    if (in->op != SSA_BITS) return bits;
    uint32_t real = in->arg[0];
    return l->f->insns[real].type == SSA_F32 ? ssa_op1(l->f, SSA_FWIDEN, SSA_F64, real) : real;
}

struct mentions {
    unsigned most;
};

static void calls_mention(void *user, uint8_t at, uint32_t slot, bool write)
{
    struct mentions *m = user;
    if (at == COIL_AT_REGISTER && write && slot < IN_REGISTERS && slot + 1 > m->most)
        m->most = slot + 1;
}

/* Returns the number of arguments of a call with variable arguments: as many as the calling
 * function puts into registers anywhere. */
static unsigned count_arguments(const struct coil_lower *l, unsigned least)
{
    struct mentions m = {least};
    for (uint32_t c = l->flow.first; c < l->flow.end; c++)
        if (l->p->steps[c]) coil_step_touches(l->p->steps[c], calls_mention, &m);
    return m.most;
}

static void take_result(struct coil_lower *l, const struct coil_proto *proto, uint32_t call)
{
    uint8_t type = proto ? proto->result : COIL_T_INT64;
    uint32_t bits = ssa_op1(l->f, SSA_RESULT, SSA_INT, call);
    if (!bits) return;
    if (type == COIL_T_FP32)
        bits = ssa_op1(l->f, SSA_ZEXT32, SSA_INT, bits);
    else if (type != COIL_T_FP64)
        bits = coil_lower_canon(l, bits, type);
    if (!l->passed) {
        ssa_store(l->f, SSA_X64,
                  (struct ssa_address){.base = coil_native_context(l),
                                       .disp = offsetof(struct coil_vm, v)},
                  bits);
        return;
    }
    coil_lower_set(l, l->flow.slots, bits);
    for (unsigned i = 1; i < l->passed; i++) /* C functions do not keep these registers. */
        coil_lower_set(l, l->flow.slots + i, ssa_const(l->f, 0));
}

void coil_native_call(struct coil_lower *l, const struct coil_proto *proto, uint32_t address,
                      uint32_t symbol)
{
    struct ssa_function *f = l->f;
    struct coil_native_args args = {0};
    unsigned fixed = proto ? proto->count : COIL_PASSED,
             count = proto && proto->variadic ? count_arguments(l, fixed) : fixed;
    if (!proto && l->passed < COIL_PASSED) count = l->passed;
    for (unsigned i = 0; i < count; i++) {
        uint32_t bits = calls_argument(l, i);
        args.items[args.count++] = !proto      ? bits
                                   : i < fixed ? calls_typed(l, bits, proto->types[i])
                                               : calls_untyped(l, bits);
    }
    uint32_t list = ssa_list(f, args.items, args.count), call = ssa_effect(f, SSA_FOREIGN, 0);
    if (!call) return;
    f->insns[call].imm = symbol;
    f->insns[call].arg[0] = address;
    f->insns[call].list = list;
    f->insns[call].count = args.count;
    f->insns[call].cond = proto && proto->variadic;
    uint8_t result = proto ? proto->result : COIL_T_INT64;
    f->insns[call].mem = result == COIL_T_FP64   ? SSA_MF64
                         : result == COIL_T_FP32 ? SSA_MF32
                                                 : SSA_X64;
    if (result != COIL_T_VOID) take_result(l, proto, call);
    l->flags.opcode = 0;
}
