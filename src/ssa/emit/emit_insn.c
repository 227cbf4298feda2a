/* Writes the machine code of one instruction. Its arguments are in the registers that the
 * allocator chose, or are loaded into a scratch register first. Small constants are parts of the
 * instructions. */
#include "ssa/emit/emit.h"
#include "x64/operations.h"

_Static_assert(SSA_REMU - SSA_MULHS == X64_REMU && SSA_FDIV - SSA_FADD == X64_FDIV &&
                   SSA_BSWAP - SSA_NEG == X64_BSWAP && (int)SSA_M256 == (int)X64_32_BYTES,
               "operations and memory in the order of x64");

static bool is_small(const struct ssa_emitter *m, uint32_t value, int32_t *imm)
{
    const struct ssa_insn *in = &m->f->insns[value];
    if (in->op != SSA_CONST || !ssa_immediate(in)) return false;
    *imm = (int32_t)in->imm;
    return true;
}

/* Loads a value into a register and leaves the flags unchanged. */
static void emit_insn_fetch(struct ssa_emitter *m, enum x64_reg to, uint32_t value)
{
    struct ssa_spot at = ssa_spot_at(m, value, m->at - 1);
    if (at.where == SSA_AT_CONST)
        x64_mov_imm(m->e, to, (uint64_t)at.at);
    else if (at.where == SSA_AT_FRAME)
        x64_mov_load(m->e, X64, to, ssa_frame_slot(at.at));
    else
        x64_move(m->e, X64, to, (enum x64_reg)at.at);
}

enum x64_reg ssa_int_arg(struct ssa_emitter *m, uint32_t value)
{
    struct ssa_spot at = ssa_spot_at(m, value, m->at - 1);
    if (at.where == SSA_AT_REGISTER) return (enum x64_reg)at.at;
    emit_insn_fetch(m, SSA_SCRATCH, value);
    return SSA_SCRATCH;
}

unsigned ssa_float_arg(struct ssa_emitter *m, uint32_t value)
{
    struct ssa_spot at = ssa_spot_at(m, value, m->at - 1);
    if (at.where == SSA_AT_FLOAT_REGISTER) return (unsigned)at.at;
    if (at.where == SSA_AT_CONST)
        ssa_load_const(m, (struct ssa_spot){SSA_AT_FLOAT_REGISTER, at.type, SSA_FLOAT_SCRATCH},
                       at.at);
    else
        ssa_frame_load(m, (enum ssa_type)at.type, SSA_FLOAT_SCRATCH, at.at);
    return SSA_FLOAT_SCRATCH;
}

/* Returns the register of a result, or a scratch register if the result is never read. */
static unsigned result_of(struct ssa_emitter *m, uint32_t value, uint32_t at)
{
    const struct ssa_interval *i = ssa_interval_at(&m->l, value, at);
    if (i && i->reg >= 0) return (unsigned)i->reg;
    return ssa_is_float(&m->f->insns[value]) ? SSA_FLOAT_SCRATCH : SSA_SCRATCH;
}

static struct x64_mem address_of(struct ssa_emitter *m, const struct ssa_insn *in)
{
    struct x64_mem mem = {
        .base = X64_NONE, .index = X64_NONE, .scale = in->scale, .disp = (int32_t)in->imm};
    bool scratch = false;
    for (unsigned i = 0; i < 2; i++) {
        if (!in->arg[i]) continue;
        enum x64_reg reg = ssa_int_arg(m, in->arg[i]);
        if (reg == SSA_SCRATCH && scratch) m->code->failed = true;
        scratch |= reg == SSA_SCRATCH;
        if (i)
            mem.index = (int8_t)reg;
        else
            mem.base = (int8_t)reg;
    }
    if (in->imm != (int32_t)in->imm) m->code->failed = true;
    return mem;
}

static void emit_insn_binary(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d)
{
    static const uint8_t ops[] = {X64_ADD, X64_SUB, X64_IMUL, X64_AND, X64_OR, X64_XOR};
    enum x64_size size = in->narrow ? X32 : X64;
    bool shifts = in->op >= SSA_SHL;
    unsigned op = shifts ? X64_SHL + (in->op - SSA_SHL) : ops[in->op - SSA_ADD];
    int32_t imm;
    enum x64_reg a = ssa_int_arg(m, in->arg[0]), b;
    if (is_small(m, in->arg[1], &imm)) {
        x64_three_imm(m->e, op, size, d, a, imm);
        return;
    }
    b = ssa_int_arg(m, in->arg[1]);
    if (a == SSA_SCRATCH && b == SSA_SCRATCH) m->code->failed = true;
    /* Rotations cannot be emitted like this, but front ends rotate by constants only. */
    if (!x64_three(m->e, op, size, d, a, b, SSA_SCRATCH)) m->code->failed = true;
}

static void emit_insn_divide(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d)
{
    emit_insn_fetch(m, SSA_SCRATCH, in->arg[1]);
    emit_insn_fetch(m, RAX, in->arg[0]);
    x64_wide(m->e, (enum x64_wide)(in->op - SSA_MULHS), in->narrow ? X32 : X64, d, SSA_SCRATCH);
}

enum x64_cond ssa_emit_compare(struct ssa_emitter *m, const struct ssa_insn *in)
{
    static const uint8_t conds[SSA_CONDS] = {X64_E,  X64_NE, X64_L,  X64_LE, X64_G,
                                             X64_GE, X64_B,  X64_BE, X64_A,  X64_AE};
    enum x64_size size = in->narrow ? X32 : X64;
    int32_t imm;
    enum x64_reg a = ssa_int_arg(m, in->arg[0]);
    if (is_small(m, in->arg[1], &imm)) {
        if (!imm && in->cond <= SSA_GE)
            x64_test(m->e, size, a, a);
        else
            x64_cmp_imm(m->e, size, a, imm);
    } else {
        enum x64_reg b = ssa_int_arg(m, in->arg[1]);
        if (a == SSA_SCRATCH && b == SSA_SCRATCH) m->code->failed = true;
        x64_cmp(m->e, size, a, b);
    }
    return (enum x64_cond)conds[in->cond];
}

/* Tells whether only the SELECT directly after this SET reads its result. The result then needs
 * no register. */
static bool is_for_select(const struct ssa_emitter *m, uint32_t value)
{
    const struct ssa_insn *in = &m->f->insns[value], *next = &m->f->insns[in->next];
    const struct ssa_interval *i = &m->l.intervals[m->l.first[value]];
    return in->next && next->op == SSA_SELECT && next->arg[0] == value && !i->next &&
           next->arg[1] != value && next->arg[2] != value && i->use_end - i->use_first == 2;
}

static void emit_insn_set(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d,
                          uint32_t value)
{
    if (is_for_select(m, value)) {
        m->holds = (uint8_t)ssa_emit_compare(m, in);
        m->compared = value;
        return;
    }
    x64_setcc(m->e, ssa_emit_compare(m, in), SSA_SCRATCH);
    x64_movzx8(m->e, d, SSA_SCRATCH);
}

static void emit_insn_select(struct ssa_emitter *m, const struct ssa_insn *in, enum x64_reg d)
{
    enum x64_cond otherwise = X64_E;
    if (m->compared == in->arg[0]) {
        otherwise = (enum x64_cond)(m->holds ^ 1);
    } else {
        enum x64_reg c = ssa_int_arg(m, in->arg[0]);
        x64_test(m->e, X64, c, c);
    }
    m->compared = 0;
    emit_insn_fetch(m, SSA_SCRATCH, in->arg[2]);
    if (d == SSA_SCRATCH) m->code->failed = true;
    emit_insn_fetch(m, d, in->arg[1]);
    x64_cmov(m->e, otherwise, X64, d, SSA_SCRATCH);
}

static void emit_insn_real(struct ssa_emitter *m, const struct ssa_insn *in, unsigned d)
{
    unsigned a = ssa_float_arg(m, in->arg[0]), b = ssa_float_arg(m, in->arg[1]);
    if ((a == SSA_FLOAT_SCRATCH && b == SSA_FLOAT_SCRATCH) ||
        !x64_three_real(m->e, (enum x64_real)(in->op - SSA_FADD), in->type == SSA_F64, d, a, b,
                        SSA_FLOAT_SCRATCH))
        m->code->failed = true;
}

static bool args_wide(const struct ssa_emitter *m, const struct ssa_insn *in)
{
    return m->f->insns[in->arg[0]].type == SSA_F64;
}

static void emit_insn_convert(struct ssa_emitter *m, const struct ssa_insn *in, unsigned d)
{
    struct x64 *e = m->e;
    bool wide = in->type == SSA_F64;
    switch (in->op) {
    case SSA_FROMINT: {
        enum x64_reg a = ssa_int_arg(m, in->arg[0]);
        /* Without this, the next instruction would wait for the old value of d. */
        x64_xorps(e, d, d);
        x64_cvtsi2s(e, wide, d, a);
        break;
    }
    case SSA_TOINT:
        x64_cvtts2si(e, args_wide(m, in), (enum x64_reg)d, ssa_float_arg(m, in->arg[0]));
        break;
    case SSA_BITS:
        x64_movq_from(e, args_wide(m, in) ? X64 : X32, (enum x64_reg)d,
                      ssa_float_arg(m, in->arg[0]));
        break;
    case SSA_REAL: x64_movq_to(e, wide ? X64 : X32, d, ssa_int_arg(m, in->arg[0])); break;
    case SSA_FSQRT: x64_sqrts(e, wide, d, ssa_float_arg(m, in->arg[0])); break;
    default: x64_cvts2s(e, wide, d, ssa_float_arg(m, in->arg[0]));
    }
}

enum x64_cond ssa_emit_compare_real(struct ssa_emitter *m, const struct ssa_insn *in)
{
    unsigned a = ssa_float_arg(m, in->arg[0]), b = ssa_float_arg(m, in->arg[1]);
    bool swap = in->cond == SSA_LT || in->cond == SSA_LE;
    if (a == SSA_FLOAT_SCRATCH && b == SSA_FLOAT_SCRATCH) m->code->failed = true;
    x64_ucomis(m->e, args_wide(m, in), swap ? b : a, swap ? a : b);
    switch (in->cond) {
    case SSA_EQ: return X64_E;
    case SSA_NE: return X64_NE;
    case SSA_LT:
    case SSA_GT: return X64_A;
    default: return X64_AE;
    }
}

/* Emits an operation on vectors. It uses registers of 32 bytes if an argument or the result has
 * 32 bytes. */
static void emit_insn_lanes(struct ssa_emitter *m, const struct ssa_insn *in, unsigned d)
{
    enum x64_vector op = (enum x64_vector)(in->imm & 255);
    unsigned a = ssa_float_arg(m, in->arg[0]), b = in->arg[1] ? ssa_float_arg(m, in->arg[1]) : a;
    bool wide = in->type == SSA_V256 || m->f->insns[in->arg[0]].type == SSA_V256;
    if ((wide || x64_needs_vex(op)) && !m->e->vex) m->code->failed = true;
    if (in->arg[1] && a == SSA_FLOAT_SCRATCH && b == SSA_FLOAT_SCRATCH) m->code->failed = true;
    if (!m->e->vex && in->arg[1] && d == b && d != a) {
        if (a == SSA_FLOAT_SCRATCH) m->code->failed = true;
        x64_movaps(m->e, false, SSA_FLOAT_SCRATCH, b);
        b = SSA_FLOAT_SCRATCH;
    }
    x64_vector(m->e, op, wide, d, a, b, (uint8_t)(in->imm >> 8));
}

static void emit_insn_store(struct ssa_emitter *m, const struct ssa_insn *in)
{
    struct x64_mem at = address_of(m, in);
    bool real = in->mem >= SSA_MF32;
    int32_t imm;
    if (!real && is_small(m, in->arg[2], &imm)) {
        x64_store_imm(m->e, (enum x64_access)in->mem, at, imm);
        return;
    }
    unsigned v = real ? ssa_float_arg(m, in->arg[2]) : ssa_int_arg(m, in->arg[2]);
    if (!real && v == SSA_SCRATCH && (at.base == SSA_SCRATCH || at.index == SSA_SCRATCH))
        m->code->failed = true;
    x64_store(m->e, (enum x64_access)in->mem, at, v);
}

static void emit_insn_window(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t value)
{
    struct x64 *e = m->e;
    x64_lea(e, X64, SSA_SCRATCH, address_of(m, in));
    x64_sub_load(e, X64, SSA_SCRATCH, ssa_context_field(in->list));
    x64_cmp_load(e, X64, SSA_SCRATCH,
                 ssa_context_field((int64_t)in->list + 8 + 8 * ssa_mem_bits[in->mem]));
    ssa_emit_stub(m, X64_AE, value);
}

/* Moves the arguments of a call, or the results of a function, to the registers for them. */
static void emit_insn_pass(struct ssa_emitter *m, const struct ssa_insn *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        ssa_add_move(m, (struct ssa_spot){SSA_AT_REGISTER, SSA_INT, ssa_param_registers[i]},
                     ssa_spot_at(m, m->f->pool[in->list + i], m->at - 1));
    ssa_do_moves(m);
}

static void emit_insn_call(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t value)
{
    struct x64 *e = m->e;
    int32_t frame = (int32_t)m->l.frame * 8;
    emit_insn_pass(m, in);
    /* This takes one word of the stack for each inlined call around the current call, so that
     * the stack is as deep as if no call were inlined. */
    int32_t inlined = 0;
    const struct ssa_exit *x = in->exit ? &m->f->exits[in->exit - 1] : NULL;
    for (uint32_t i = 0; x && i < x->count; i++)
        if (m->f->states[x->first + i].key == SSA_KEY_CALLER) inlined += 8;
    if (m->f->native) frame = 0;
    if (frame) x64_add_imm(e, X64, RBP, frame);
    if (inlined) x64_sub_imm(e, X64, RSP, inlined);
    ssa_emit_call(m, (uint32_t)in->imm);
    if (x) ssa_emit_site(m, value);
    if (inlined) x64_add_imm(e, X64, RSP, inlined);
    if (frame) x64_sub_imm(e, X64, RBP, frame);
    for (uint32_t i = m->f->insns[value].next; i && m->f->insns[i].op == SSA_RESULT;
         i = m->f->insns[i].next)
        ssa_add_move(
            m, ssa_spot_at(m, i, m->at + 1),
            (struct ssa_spot){SSA_AT_REGISTER, SSA_INT, ssa_param_registers[m->f->insns[i].imm]});
    ssa_do_moves(m);
}

static void emit_insn_effect(struct ssa_emitter *m, const struct ssa_insn *in, uint32_t value)
{
    struct x64 *e = m->e;
    switch (in->op) {
    case SSA_STORE: emit_insn_store(m, in); break;
    case SSA_GUARD: ssa_emit_stub(m, ssa_emit_compare(m, in) ^ 1, value); break;
    case SSA_WINDOW: emit_insn_window(m, in, value); break;
    case SSA_LIMIT:
        x64_cmp_load(e, X64, ssa_int_arg(m, in->arg[0]), ssa_context_field(in->imm));
        ssa_emit_stub(m, X64_AE, value);
        break;
    case SSA_POLL:
        x64_cmp_mem8_imm(e, ssa_context_field(in->imm), 0);
        ssa_emit_stub(m, X64_NE, value);
        break;
    case SSA_DEPTH:
        /* In an inlined function the stack counts as deeper by the number of inlined calls. */
        if (in->list)
            x64_lea(
                e, X64, SSA_SCRATCH,
                (struct x64_mem){.base = RSP, .index = X64_NONE, .disp = -8 * (int32_t)in->list});
        x64_cmp_load(e, X64, in->list ? SSA_SCRATCH : RSP, ssa_context_field(in->imm));
        ssa_emit_stub(m, X64_BE, value);
        break;
    case SSA_SIDE:
    case SSA_LEAVE:
        /* In native code this place comes after a call that does not return. */
        if (m->f->native) {
            x64_ud2(e);
            break;
        }
        x64_call_to(e, m->code->ask);
        ssa_emit_site(m, value);
        if (in->op == SSA_LEAVE) x64_ud2(e);
        break;
    case SSA_CALL: emit_insn_call(m, in, value); break;
    case SSA_FOREIGN: ssa_native_foreign(m, in, value); break;
    case SSA_RETURN:
        emit_insn_pass(m, in);
        if (m->f->native)
            ssa_native_return(m);
        else
            x64_ret(e);
        break;
    default: break; /* Jumps are emitted in emit.c. */
    }
}

void ssa_emit_insn(struct ssa_emitter *m, uint32_t value)
{
    const struct ssa_insn *in = &m->f->insns[value];
    if (in->type == SSA_VOID) {
        emit_insn_effect(m, in, value);
        return;
    }
    if (ssa_immediate(in)) return;
    unsigned d = result_of(m, value, m->at + ssa_has(in->op, 'd'));
    enum x64_reg r = (enum x64_reg)d;
    switch (in->op) {
    case SSA_CONST:
        if (ssa_interval_at(&m->l, value, m->at)->reg >= 0)
            ssa_load_const(m, ssa_spot_at(m, value, m->at), in->imm);
        return; /* A constant without a register is computed again where it is needed. */
    case SSA_ADD:
    case SSA_SUB:
    case SSA_MUL:
    case SSA_AND:
    case SSA_OR:
    case SSA_XOR:
    case SSA_SHL:
    case SSA_SHR:
    case SSA_SAR:
    case SSA_ROL:
    case SSA_ROR: emit_insn_binary(m, in, r); break;
    case SSA_MULHS:
    case SSA_MULHU:
    case SSA_DIVS:
    case SSA_DIVU:
    case SSA_REMS:
    case SSA_REMU: emit_insn_divide(m, in, r); break;
    case SSA_SET: emit_insn_set(m, in, r, value); break;
    case SSA_SELECT: emit_insn_select(m, in, r); break;
    case SSA_FADD:
    case SSA_FSUB:
    case SSA_FMUL:
    case SSA_FDIV: emit_insn_real(m, in, d); break;
    case SSA_FSET: x64_set_real(m->e, ssa_emit_compare_real(m, in), r, SSA_SCRATCH); break;
    case SSA_FSQRT:
    case SSA_FWIDEN:
    case SSA_FNARROW:
    case SSA_FROMINT:
    case SSA_TOINT:
    case SSA_BITS:
    case SSA_REAL: emit_insn_convert(m, in, d); break;
    case SSA_LANE1:
    case SSA_LANE2: emit_insn_lanes(m, in, d); break;
    case SSA_LOAD: x64_load(m->e, (enum x64_access)in->mem, d, address_of(m, in)); break;
    case SSA_SYMBOL: ssa_native_symbol(m, in, r); break;
    case SSA_ADDRESS: x64_lea(m->e, X64, r, address_of(m, in)); break;
    case SSA_COPY: x64_move(m->e, X64, r, ssa_int_arg(m, in->arg[0])); break;
    default:
        x64_unary(m->e, (enum x64_unary)(in->op - SSA_NEG), in->narrow ? X32 : X64, r,
                  ssa_int_arg(m, in->arg[0]));
    }
    /* A value that is in the frame later is stored here, where it is defined. */
    int64_t slot = m->l.slots[value] * 8;
    if (slot >= 0 && ssa_is_float(in)) ssa_frame_store(m, (enum ssa_type)in->type, slot, d);
    if (slot >= 0 && !ssa_is_float(in)) x64_mov_store(m->e, X64, ssa_frame_slot(slot), r);
}
