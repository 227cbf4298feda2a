/* Conditions. A branch decides from the operands or the result of the operation before it; flags as
 * such do not exist in native code. */
#include "coil/jit/jit.h"
#include "coil/vm/step.h"

static bool is_real(uint8_t op) { return coil_types[op].family == COIL_F_REAL; }

static bool compares(uint8_t opcode)
{
    return opcode == COIL_OP_CMP || opcode == COIL_OP_SUB || opcode == COIL_OP_DEC;
}

static bool has_result(uint8_t opcode)
{
    switch (opcode) {
    case COIL_OP_ADD:
    case COIL_OP_SUB:
    case COIL_OP_MUL:
    case COIL_OP_INC:
    case COIL_OP_DEC:
    case COIL_OP_NEG:
    case COIL_OP_TEST:
    case COIL_OP_AND:
    case COIL_OP_OR:
    case COIL_OP_XOR:
    case COIL_OP_NOT:
    case COIL_OP_SHL:
    case COIL_OP_SAL:
    case COIL_OP_SHR:
    case COIL_OP_SAR: return true;
    default: return false;
    }
}

/* The comparison that a condition is after CMP; SSA_CONDS: none. */
static enum ssa_cond order(uint8_t condition, bool is_signed)
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

static bool is_zero_test(uint8_t condition)
{
    return condition == COIL_IF_EQ || condition == COIL_IF_NEQ || condition == COIL_IF_Z ||
           condition == COIL_IF_NZ;
}

bool coil_lower_knows(uint8_t opcode, uint8_t type, uint8_t condition)
{
    if (!coil_is_scalar(type) || type == COIL_T_BIT) return false;
    if (is_real(type)) return opcode == COIL_OP_CMP && order(condition, true) <= SSA_GE;
    if (compares(opcode)) return order(condition, true) != SSA_CONDS;
    return has_result(opcode) && is_zero_test(condition);
}

bool coil_lower_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no)
{
    const struct coil_pending_flags *p = &l->flags;
    if (!p->opcode || !coil_lower_knows(p->opcode, p->type, condition)) return false;
    bool is_signed = coil_types[p->type].family == COIL_F_SIGNED;
    if (is_real(p->type)) {
        ssa_branch(l->f, SSA_FBRANCH, order(condition, true), false, p->a, p->b, yes, no);
        return true;
    }
    /* C compares bits: values that are extended by their sign keep that order. */
    bool narrow = coil_types[p->type].bytes == 4;
    if (compares(p->opcode))
        ssa_branch(l->f, SSA_BRANCH, order(condition, is_signed), narrow, p->a, p->b, yes, no);
    else
        ssa_branch(l->f, SSA_BRANCH, order(condition, is_signed), narrow, p->result,
                   ssa_const(l->f, 0), yes, no);
    return true;
}
