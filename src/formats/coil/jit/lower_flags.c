/* Makes conditions. Native code does not store flags, so a branch computes its condition from
 * the operands or the result of the operation before it. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }

static bool lower_flags_compares(uint8_t opcode)
{
    return opcode == COIL_OP_CMP || opcode == COIL_OP_SUB || opcode == COIL_OP_DEC;
}

/* Tells whether all flags of an operation can be computed from its operands and result. For
 * other operations only the flags that a TEST of the result would give are known. */
static bool is_exact(uint8_t opcode)
{
    return lower_flags_compares(opcode) || opcode == COIL_OP_ADD || opcode == COIL_OP_INC ||
           opcode == COIL_OP_NEG || opcode == COIL_OP_MUL;
}

static bool has_result(uint8_t opcode)
{
    switch (opcode) {
    case COIL_OP_TEST:
    case COIL_OP_DIV:
    case COIL_OP_MOD:
    case COIL_OP_DIVMOD:
    case COIL_OP_ABS: return true;
    default: return coil_ops[opcode].group == COIL_G_BITS && opcode != COIL_OP_BITCHK;
    }
}

/* Returns the comparison that decides a condition after CMP, or SSA_CONDS if no comparison does. */
static enum ssa_cond lower_flags_order(uint8_t condition, bool is_signed)
{
    switch (condition) {
    case COIL_IF_EQ:
    case COIL_IF_Z: return SSA_EQ;
    case COIL_IF_NEQ:
    case COIL_IF_NZ: return SSA_NE;
    case COIL_IF_GT: return is_signed ? SSA_GT : SSA_A;
    case COIL_IF_GTE: return is_signed ? SSA_GE : SSA_AE;
    case COIL_IF_LT: return is_signed ? SSA_LT : SSA_B;
    case COIL_IF_LTE: return is_signed ? SSA_LE : SSA_BE;
    case COIL_IF_C: return SSA_B;
    case COIL_IF_NC: return SSA_AE;
    default: return SSA_CONDS;
    }
}

/* For an operation without exact flags, returns the flags that a TEST of its result gives as
 * well. */
static uint8_t lower_flags_tested(uint8_t opcode)
{
    uint8_t cleared = coil_ops[opcode].clears & (COIL_C | COIL_V);
    return opcode == COIL_OP_BITCHK ? COIL_Z : (uint8_t)(COIL_Z | COIL_S | COIL_N | cleared);
}

static uint8_t flags_of(uint8_t condition)
{
    switch (condition) {
    case COIL_IF_EQ:
    case COIL_IF_NEQ:
    case COIL_IF_Z:
    case COIL_IF_NZ: return COIL_Z;
    case COIL_IF_S:
    case COIL_IF_NS: return COIL_S;
    case COIL_IF_C:
    case COIL_IF_NC: return COIL_C;
    case COIL_IF_O:
    case COIL_IF_NO: return COIL_V;
    case COIL_IF_GT:
    case COIL_IF_GTE:
    case COIL_IF_LT:
    case COIL_IF_LTE: return COIL_Z | COIL_S | COIL_V;
    default: return 0; /* Native code does not know the other flags. */
    }
}

bool coil_lower_knows(uint8_t opcode, uint8_t type, uint8_t condition)
{
    uint8_t flags = flags_of(condition);
    if (!coil_is_scalar(type) || !flags) return false;
    if (is_real(type)) return opcode == COIL_OP_CMP && lower_flags_order(condition, true) <= SSA_GE;
    if (opcode == COIL_OP_ADDC || opcode == COIL_OP_SUBB) return flags == COIL_C;
    if (is_exact(opcode)) return true;
    return (has_result(opcode) || opcode == COIL_OP_BITCHK) &&
           !(flags & ~lower_flags_tested(opcode));
}

/* Adds to *p what a branch must know about an operation when the flags `live` are read. Returns
 * false if not all of these flags can be known. */
bool coil_lower_flags(struct coil_pending_flags *p, uint8_t live)
{
    if (is_real(p->type)) return p->opcode == COIL_OP_CMP;
    if (!p->b) p->b = p->a; /* The operation NEG has only one operand. */
    if (is_exact(p->opcode)) return !(live & (COIL_P | COIL_D));
    if (!coil_lower_knows(p->opcode, p->type, COIL_IF_Z) || live & ~lower_flags_tested(p->opcode))
        return false;
    p->opcode = COIL_OP_TEST;
    p->a = p->b = p->result;
    return true;
}

static uint32_t lower_flags_set(struct coil_lower *l, enum ssa_cond cond, uint32_t a, uint32_t b)
{
    return ssa_compare(l->f, SSA_SET, cond, false, a, b);
}

static uint32_t lower_flags_op2(struct coil_lower *l, enum ssa_op op, uint32_t a, uint32_t b)
{
    return ssa_op2(l->f, op, SSA_INT, false, a, b);
}

static uint32_t result_of(struct coil_lower *l, const struct coil_pending_flags *p)
{
    if (p->result) return p->result;
    /* CMP stores no result, so the result is computed here. */
    return coil_lower_canon(l, lower_flags_op2(l, SSA_SUB, p->a, p->b), p->type);
}

static uint32_t lower_flags_carry(struct coil_lower *l, const struct coil_pending_flags *p)
{
    if (lower_flags_compares(p->opcode)) return lower_flags_set(l, SSA_B, p->a, p->b);
    if (p->opcode == COIL_OP_NEG) return lower_flags_set(l, SSA_NE, p->a, ssa_const(l->f, 0));
    return lower_flags_set(l, SSA_B, p->result, p->a); /* The operation is ADD or INC. */
}

/* Returns a value that is 1 if the product does not fit the type. */
static uint32_t product_lost(struct coil_lower *l, const struct coil_pending_flags *p)
{
    bool is_signed = coil_types[p->type].family == COIL_F_SIGNED;
    if (coil_types[p->type].bytes < 8)
        return lower_flags_set(l, SSA_NE, lower_flags_op2(l, SSA_MUL, p->a, p->b), p->result);
    uint32_t above = lower_flags_op2(l, is_signed ? SSA_MULHS : SSA_MULHU, p->a, p->b),
             sign = is_signed ? lower_flags_op2(l, SSA_SAR, p->result, ssa_const(l->f, 63))
                              : ssa_const(l->f, 0);
    return lower_flags_set(l, SSA_NE, above, sign);
}

static uint32_t lower_flags_overflow(struct coil_lower *l, const struct coil_pending_flags *p)
{
    /* The instruction TEST clears flag C. */
    if (p->opcode == COIL_OP_TEST) return ssa_const(l->f, 0);
    if (p->opcode == COIL_OP_MUL) return product_lost(l, p);
    if (coil_types[p->type].family != COIL_F_SIGNED) return lower_flags_carry(l, p);
    bool adds = p->opcode == COIL_OP_ADD || p->opcode == COIL_OP_INC;
    uint32_t zero = ssa_const(l->f, 0), result = result_of(l, p),
             a = p->opcode == COIL_OP_NEG ? zero : p->a, b = p->opcode == COIL_OP_NEG ? p->a : p->b;
    if (coil_types[p->type].bytes < 8)
        return lower_flags_set(l, SSA_NE, lower_flags_op2(l, adds ? SSA_ADD : SSA_SUB, a, b),
                               result);
    /* A signed sum overflows if its sign differs from the signs of both terms. A signed
     * difference overflows if the signs of its terms differ and its own sign differs from that
     * of the first term. */
    uint32_t one = lower_flags_op2(l, SSA_XOR, a, result),
             two = lower_flags_op2(l, SSA_XOR, adds ? result : a, b);
    return lower_flags_set(l, SSA_LT, lower_flags_op2(l, SSA_AND, one, two), zero);
}

uint32_t coil_lower_carry(struct coil_lower *l)
{
    const struct coil_pending_flags *p = &l->flags;
    if (!p->opcode || !coil_lower_knows(p->opcode, p->type, COIL_IF_C) || is_real(p->type))
        return 0;
    if (p->opcode == COIL_OP_TEST) return ssa_const(l->f, 0);
    return p->opcode == COIL_OP_MUL ? product_lost(l, p) : lower_flags_carry(l, p);
}

static uint32_t lower_flags_truth(struct coil_lower *l, uint8_t condition)
{
    const struct coil_pending_flags *p = &l->flags;
    uint32_t zero = ssa_const(l->f, 0), result = result_of(l, p),
             sign = coil_types[p->type].family == COIL_F_SIGNED
                        ? lower_flags_set(l, SSA_LT, result, zero)
                        : zero;
    switch (condition & ~1) {
    case COIL_IF_S: return sign;
    case COIL_IF_C: return coil_lower_carry(l);
    case COIL_IF_O: return lower_flags_overflow(l, p);
    default: break;
    }
    /* `less` is 1 if the flags S and V differ. */
    uint32_t less = lower_flags_op2(l, SSA_XOR, sign, lower_flags_overflow(l, p));
    if (condition == COIL_IF_LT) return less;
    /* If Z is set with an overflow, as after -128 + -128 in eight bits, both GTE and LT hold. */
    if (condition == COIL_IF_GTE)
        return lower_flags_op2(l, SSA_AND, less, lower_flags_set(l, SSA_NE, result, zero));
    return lower_flags_op2(l, SSA_OR, less, lower_flags_set(l, SSA_EQ, result, zero));
}

/* Tells whether a condition holds when the value of lower_flags_truth is 0. */
static bool is_opposite(uint8_t condition)
{
    if (condition == COIL_IF_GT || condition == COIL_IF_GTE) return true;
    return condition != COIL_IF_LT && condition != COIL_IF_LTE && condition & 1;
}

bool coil_lower_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no)
{
    const struct coil_pending_flags *p = &l->flags;
    if (!p->opcode || !coil_lower_knows(p->opcode, p->type, condition)) return false;
    bool is_signed = coil_types[p->type].family == COIL_F_SIGNED;
    enum ssa_cond cond = lower_flags_order(condition, is_signed);
    if (is_real(p->type)) {
        ssa_branch(l->f, SSA_FBRANCH, lower_flags_order(condition, true), false, p->a, p->b, yes,
                   no);
        return true;
    }
    /* Flag C compares the operands as unsigned numbers. Sign extension keeps that order. */
    bool narrow = coil_types[p->type].bytes == 4, zero = cond <= SSA_NE;
    if (lower_flags_compares(p->opcode) && cond != SSA_CONDS) {
        ssa_branch(l->f, SSA_BRANCH, cond, narrow, p->a, p->b, yes, no);
    } else if (cond != SSA_CONDS && (zero || p->opcode == COIL_OP_TEST)) {
        ssa_branch(l->f, SSA_BRANCH, cond, narrow, p->result, ssa_const(l->f, 0), yes, no);
    } else {
        bool opposite = is_opposite(condition);
        ssa_branch(l->f, SSA_BRANCH, opposite ? SSA_EQ : SSA_NE, false,
                   lower_flags_truth(l, condition), ssa_const(l->f, 0), yes, no);
    }
    return true;
}
