/* Instructions that compute: moves, arithmetic, bits, comparisons, addresses. What has no simple form
 * here (saturation, BIT, carries, ...) is done by the interpreter's function for it. */
#include "coil/jit/jit.h"
#include "coil/vm/step.h"

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }
static bool is_signed(uint8_t op) { return coil_types[op].family == COIL_F_SIGNED; }

static bool all_scalar(const struct coil_step *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->places[i].at != COIL_AT_NONE && s->places[i].at != COIL_AT_REGISTER &&
            !coil_is_scalar(s->places[i].op) && s->places[i].form != COIL_ADDR &&
            s->places[i].form != COIL_MEASURE)
            return false;
    return true;
}

/* ---- moves ---- */

static bool move(struct coil_lower *l, const struct coil_step *s, const struct coil_place *to,
                 unsigned from)
{
    const struct coil_place *p = &s->places[from];
    uint8_t type = p->at == COIL_AT_REGISTER ? coil_step_type(s)
                   : coil_is_scalar(p->op)   ? p->op
                                             : COIL_T_UNT64;
    if (type == COIL_T_BIT) return false;
    return coil_lower_write(l, to, coil_lower_place(l, p, type, type), type);
}

static bool lower_move(struct coil_lower *l, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_VAR) {
        const struct coil_place *to = &s->places[1];
        if (to->at != COIL_AT_SLOT || to->ext & COIL_SATURATE || to->op == COIL_T_BIT) return false;
        uint32_t zero = ssa_const(l->f, 0);
        enum ssa_type type = coil_ssa_type(l->flow.types[to->slot]);
        if (type != SSA_INT) zero = ssa_op1(l->f, SSA_REAL, type, zero);
        uint32_t before = ssa_read(l->f, to->slot);
        ssa_write(l->f, to->slot, zero);
        if (s->count < 3 || move(l, s, to, 2)) return true;
        ssa_write(l->f, to->slot, before);
        return false;
    }
    if (s->opcode == COIL_OP_CAST && s->count == 3) return false;
    return move(l, s, &s->places[0], 1);
}

static bool lower_lea(struct coil_lower *l, const struct coil_step *s)
{
    struct ssa_address at;
    if (s->places[1].at != COIL_AT_FRAME && s->places[1].at != COIL_AT_MEMORY) return false;
    if (!coil_lower_address(l, &s->places[1], &at)) return false;
    uint32_t sum;
    if (!at.base && !at.index) {
        sum = ssa_const(l->f, at.disp);
    } else {
        sum = ssa_op2(l->f, SSA_ADDRESS, SSA_INT, false, at.base, at.index);
        if (!sum) return false;
        l->f->insns[sum].scale = at.scale;
        l->f->insns[sum].imm = at.disp;
    }
    return coil_lower_write(l, &s->places[0], sum, COIL_T_UNT64);
}

/* ---- integers ---- */

static uint32_t quotient(struct coil_lower *l, uint8_t opcode, uint8_t type, uint32_t a, uint32_t b)
{
    struct ssa_function *f = l->f;
    bool is = is_signed(type), divides = opcode == COIL_OP_DIV;
    enum ssa_op op = divides ? (is ? SSA_DIVS : SSA_DIVU) : is ? SSA_REMS : SSA_REMU;
    bool narrow = coil_types[type].bytes == 4;
    int64_t known;
    if (ssa_is_const(f, b, &known) && known && known != -1) {
        uint32_t r = ssa_op2(f, op, SSA_INT, narrow, a, b);
        return narrow ? coil_lower_canon(l, r, type) : r;
    }
    uint32_t zero = ssa_const(f, 0), one = ssa_const(f, 1), minus = ssa_const(f, -1);
    uint32_t none = ssa_compare(f, SSA_SET, SSA_EQ, false, b, zero), bad = none, negates = 0;
    if (is) {
        negates = ssa_compare(f, SSA_SET, SSA_EQ, false, b, minus);
        bad = ssa_op2(f, SSA_OR, SSA_INT, false, none, negates);
    }
    uint32_t safe = ssa_op2(f, SSA_SELECT, SSA_INT, false, bad, one);
    if (!safe) return 0;
    f->insns[safe].arg[2] = b;
    uint32_t r = ssa_op2(f, op, SSA_INT, narrow, a, safe);
    if (is) {
        uint32_t other = divides ? ssa_op2(f, SSA_SUB, SSA_INT, false, zero, a) : zero;
        uint32_t chosen = ssa_op2(f, SSA_SELECT, SSA_INT, false, negates, other);
        if (!chosen) return 0;
        f->insns[chosen].arg[2] = r;
        r = chosen;
    }
    uint32_t result = ssa_op2(f, SSA_SELECT, SSA_INT, false, none, zero);
    if (!result) return 0;
    f->insns[result].arg[2] = r;
    return coil_lower_canon(l, result, type);
}

/* Counts of the width or more are possible: SHL and SHR give 0, SAR the sign. */
static uint32_t shifted(struct coil_lower *l, const struct coil_step *s, unsigned count_at,
                        uint8_t opcode, uint8_t type, uint32_t a)
{
    struct ssa_function *f = l->f;
    const struct coil_place *p = &s->places[count_at];
    unsigned bits = 8u * coil_types[type].bytes;
    bool narrow = bits <= 32;
    enum ssa_op op = opcode == COIL_OP_SHR ? SSA_SHR : opcode == COIL_OP_SAR ? SSA_SAR : SSA_SHL;
    static const uint8_t unsigned_of[] = {COIL_T_UNT8,  COIL_T_UNT8,  COIL_T_UNT16, COIL_T_UNT16,
                                          COIL_T_UNT32, COIL_T_UNT32, COIL_T_UNT64, COIL_T_UNT64};
    static const uint8_t signed_of[] = {COIL_T_INT8,  COIL_T_INT8,  COIL_T_INT16, COIL_T_INT16,
                                        COIL_T_INT32, COIL_T_INT32, COIL_T_INT64, COIL_T_INT64};
    if (opcode == COIL_OP_SHR) a = coil_lower_canon(l, a, unsigned_of[type]);
    if (opcode == COIL_OP_SAR) a = coil_lower_canon(l, a, signed_of[type]);
    if (p->at == COIL_AT_CONST && coil_is_int(p->op)) {
        uint64_t n = p->value & (UINT64_MAX >> (64 - 8u * coil_types[p->op].bytes));
        if (n >= bits) {
            if (op != SSA_SAR) return ssa_const(f, 0);
            n = bits - 1;
        }
        return coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, a, ssa_const(f, (int64_t)n)),
                                type);
    }
    uint8_t count_type = p->at == COIL_AT_REGISTER ? COIL_T_UNT64 : p->op;
    if (!coil_is_int(count_type) || count_type == COIL_T_BIT) return 0;
    uint32_t n = coil_lower_place(l, p, count_type, count_type);
    if (!n) return 0;
    n = coil_lower_canon(l, n, unsigned_of[count_type]);
    uint32_t width = ssa_const(f, bits), far = ssa_compare(f, SSA_SET, SSA_AE, false, n, width);
    if (op == SSA_SAR) {
        uint32_t most = ssa_op2(f, SSA_SELECT, SSA_INT, false, far, ssa_const(f, bits - 1));
        if (!most) return 0;
        f->insns[most].arg[2] = n;
        return coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, a, most), type);
    }
    uint32_t r = ssa_op2(f, op, SSA_INT, narrow, a, n),
             cut = ssa_op2(f, SSA_SELECT, SSA_INT, false, far, ssa_const(f, 0));
    if (!cut) return 0;
    f->insns[cut].arg[2] = r;
    return coil_lower_canon(l, cut, type);
}

static uint32_t turned(struct coil_lower *l, const struct coil_step *s, unsigned count_at,
                       uint8_t type, uint32_t a)
{
    const struct coil_place *p = &s->places[count_at];
    unsigned bits = 8u * coil_types[type].bytes;
    if (p->at != COIL_AT_CONST || !coil_is_int(p->op) || bits < 32) return 0;
    uint64_t n = p->value & (UINT64_MAX >> (64 - 8u * coil_types[p->op].bytes));
    enum ssa_op op = s->opcode == COIL_OP_ROL ? SSA_ROL : SSA_ROR;
    return coil_lower_canon(
        l, ssa_op2(l->f, op, SSA_INT, bits == 32, a, ssa_const(l->f, (int64_t)(n % bits))), type);
}

static uint32_t pick(struct coil_lower *l, uint8_t type, bool larger, uint32_t a, uint32_t b)
{
    enum ssa_cond cond = larger            ? (is_signed(type) ? SSA_GT : SSA_A)
                         : is_signed(type) ? SSA_LT
                                           : SSA_B;
    uint32_t which = ssa_compare(l->f, SSA_SET, cond, false, a, b),
             chosen = ssa_op2(l->f, SSA_SELECT, SSA_INT, false, which, a);
    if (chosen) l->f->insns[chosen].arg[2] = b;
    return chosen;
}

static uint32_t integer(struct coil_lower *l, const struct coil_step *s, const struct coil_roles *r,
                        uint8_t type, uint32_t a, uint32_t b)
{
    struct ssa_function *f = l->f;
    bool narrow = coil_types[type].bytes == 4;
    enum ssa_op op = SSA_NONE;
    switch (s->opcode) {
    case COIL_OP_ADD:
    case COIL_OP_INC: op = SSA_ADD; break;
    case COIL_OP_SUB:
    case COIL_OP_DEC: op = SSA_SUB; break;
    case COIL_OP_MUL: op = SSA_MUL; break;
    case COIL_OP_AND: op = SSA_AND; break;
    case COIL_OP_OR: op = SSA_OR; break;
    case COIL_OP_XOR: op = SSA_XOR; break;
    case COIL_OP_NEG:
        return coil_lower_canon(l, ssa_op2(f, SSA_SUB, SSA_INT, narrow, ssa_const(f, 0), a), type);
    case COIL_OP_NOT:
        return coil_lower_canon(l, ssa_op2(f, SSA_XOR, SSA_INT, false, a, ssa_const(f, -1)), type);
    case COIL_OP_DIV:
    case COIL_OP_MOD: return l->vm->divide_trap ? 0 : quotient(l, s->opcode, type, a, b);
    case COIL_OP_SHL:
    case COIL_OP_SAL:
    case COIL_OP_SHR:
    case COIL_OP_SAR: return shifted(l, s, (unsigned)r->b, s->opcode, type, a);
    case COIL_OP_ROL:
    case COIL_OP_ROR: return turned(l, s, (unsigned)r->b, type, a);
    case COIL_OP_MIN: return pick(l, type, false, a, b);
    case COIL_OP_MAX: return pick(l, type, true, a, b);
    case COIL_OP_MULH:
        if (coil_types[type].bytes != 8) return 0;
        return ssa_op2(f, is_signed(type) ? SSA_MULHS : SSA_MULHU, SSA_INT, false, a, b);
    case COIL_OP_POPCNT: {
        static const uint8_t unsigned_of[] = {COIL_T_UNT8,  COIL_T_UNT8,  COIL_T_UNT16,
                                              COIL_T_UNT16, COIL_T_UNT32, COIL_T_UNT32,
                                              COIL_T_UNT64, COIL_T_UNT64};
        return ssa_op1(f, SSA_POPCNT, SSA_INT, coil_lower_canon(l, a, unsigned_of[type]));
    }
    case COIL_OP_BSWAP:
        if (coil_types[type].bytes < 4) return 0;
        return coil_lower_canon(l, ssa_op2(f, SSA_BSWAP, SSA_INT, narrow, a, 0), type);
    default: return 0;
    }
    return coil_lower_canon(l, ssa_op2(f, op, SSA_INT, narrow, a, b), type);
}

static uint32_t real(struct coil_lower *l, const struct coil_step *s, uint8_t type, uint32_t a,
                     uint32_t b)
{
    enum ssa_type t = coil_ssa_type(type);
    switch (s->opcode) {
    case COIL_OP_ADD: return ssa_op2(l->f, SSA_FADD, t, false, a, b);
    case COIL_OP_SUB: return ssa_op2(l->f, SSA_FSUB, t, false, a, b);
    case COIL_OP_MUL: return ssa_op2(l->f, SSA_FMUL, t, false, a, b);
    case COIL_OP_DIV: return ssa_op2(l->f, SSA_FDIV, t, false, a, b);
    case COIL_OP_SQRT: return ssa_op1(l->f, SSA_FSQRT, t, a);
    default: return 0;
    }
}

static bool lower_arith(struct coil_lower *l, const struct coil_step *s)
{
    struct ssa_function *f = l->f;
    struct coil_roles r = coil_roles_of(s);
    uint8_t type = coil_operation_type(s, &r);
    if (!coil_is_scalar(type) || type == COIL_T_BIT || r.c >= 0) return false;
    const struct coil_place *to = r.to >= 0 ? &s->places[r.to] : NULL;
    if (to && to->at != COIL_AT_REGISTER && to->ext & COIL_SATURATE) return false;
    bool counts = coil_keeps_value_type(s->opcode);
    uint32_t a = coil_lower_read(l, s, (unsigned)r.a, type), b = 0, result = 0;
    if (!a) return false;
    if (r.b >= 0 && !counts) {
        b = coil_lower_read(l, s, (unsigned)r.b, type);
        if (!b) return false;
    } else if (s->opcode == COIL_OP_INC || s->opcode == COIL_OP_DEC) {
        if (is_real(type)) return false;
        b = ssa_const(f, 1);
    }
    if (s->opcode == COIL_OP_CMP) {
        result = a;
    } else if (s->opcode == COIL_OP_TEST) {
        if (is_real(type)) return false;
        result = ssa_op2(f, SSA_AND, SSA_INT, coil_types[type].bytes == 4, a, b);
        /* Narrow types are extended: their upper bits take part, to no effect. */
        result = coil_lower_canon(l, result, type);
    } else {
        result = is_real(type) ? real(l, s, type, a, b) : integer(l, s, &r, type, a, b);
        if (!result) return false;
        /* The sign of a NaN that an operation makes is the processor's: the same in both engines. */
    }
    if (to && !coil_lower_write(l, to, result, type)) return false;
    /* Flags that nobody reads leave alone those that somebody does. */
    uint8_t live = l->flow.flags_live[l->cell - l->flow.first];
    if (!(coil_flags_written(l->p, l->cell) & live)) return true;
    /* Of the other operations only "zero" is asked, which TEST gives as well. */
    bool compares =
        s->opcode == COIL_OP_CMP || s->opcode == COIL_OP_SUB || s->opcode == COIL_OP_DEC;
    l->flags = compares ? (struct coil_pending_flags){s->opcode, type, a, b, result}
                        : (struct coil_pending_flags){COIL_OP_TEST, type, result, result, result};
    return true;
}

bool coil_lower_value(struct coil_lower *l, const struct coil_step *s)
{
    switch (coil_ops[s->opcode].group) {
    case COIL_G_MOVE: return all_scalar(s) ? lower_move(l, s) : coil_lower_vector(l, s);
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: return all_scalar(s) ? lower_arith(l, s) : coil_lower_vector(l, s);
    case COIL_G_VECTOR: return coil_lower_vector(l, s);
    case COIL_G_MEMORY: return s->opcode == COIL_OP_LEA && lower_lea(l, s);
    case COIL_G_TYPING: return s->opcode != COIL_OP_SIZEOF && s->opcode != COIL_OP_ALIGNOF;
    default: return false;
    }
}
