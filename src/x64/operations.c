/* Builds operations with three operands from the instructions of x86-64. Only LEA, IMUL with an
 * immediate, and the shifts of BMI2 have three operands; every other operation first moves its left
 * operand to the destination. */
#include "x64/operations.h"

static void operations_two(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d,
                           enum x64_reg s)
{
    if (op == X64_IMUL)
        x64_imul(e, size, d, s);
    else
        x64_alu(e, (enum x64_alu)op, size, d, s);
}

static void operations_sum(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d,
                           enum x64_reg a, enum x64_reg b, enum x64_reg aside)
{
    if (op == X64_ADD && d != a && d != b && a != aside) {
        x64_lea(e, size, d, (struct x64_mem){.base = (int8_t)a, .index = (int8_t)b});
        return;
    }
    if (d == b && d != a) {
        if (op != X64_SUB) { /* The operations other than X64_SUB are commutative. */
            operations_two(e, op, size, d, a);
            return;
        }
        if (a == aside) {
            operations_two(e, op, size, a, b);
            x64_mov(e, size, d, a);
            return;
        }
        x64_mov(e, X64, aside, b);
        b = aside;
    }
    x64_move(e, size, d, a);
    operations_two(e, op, size, d, b);
}

bool x64_three(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
               enum x64_reg b, enum x64_reg aside)
{
    switch (op) {
    case X64_SHL: x64_shlx(e, size, d, a, b); return true;
    case X64_SHR: x64_shrx(e, size, d, a, b); return true;
    case X64_SAR: x64_sarx(e, size, d, a, b); return true;
    case X64_ROL:
    case X64_ROR: return false;
    default: operations_sum(e, op, size, d, a, b, aside); return true;
    }
}

static void shift_imm(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d,
                      enum x64_reg a, unsigned count)
{
    unsigned width = size == X64 ? 64 : 32, n = count & (width - 1);
    if (op == X64_ROL || op == X64_ROR) {
        x64_rorx(e, size, d, a, op == X64_ROR ? n : (width - n) & (width - 1));
        return;
    }
    if (op == X64_SHL && n >= 1 && n <= 3 && d != a) {
        struct x64_mem at = {.base = X64_NONE, .index = (int8_t)a, .scale = (uint8_t)n};
        if (n == 1) at = (struct x64_mem){.base = (int8_t)a, .index = (int8_t)a};
        x64_lea(e, size, d, at);
        return;
    }
    x64_move(e, size, d, a);
    if (op == X64_SHL) x64_shl_imm(e, size, d, n);
    if (op == X64_SHR) x64_shr_imm(e, size, d, n);
    if (op == X64_SAR) x64_sar_imm(e, size, d, n);
}

void x64_three_imm(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
                   int32_t imm)
{
    if (op == X64_IMUL) {
        x64_imul_imm(e, size, d, a, imm);
    } else if (op >= X64_SHL) {
        shift_imm(e, op, size, d, a, (unsigned)imm);
    } else if ((op == X64_ADD || (op == X64_SUB && imm != INT32_MIN)) && d != a) {
        int32_t disp = op == X64_ADD ? imm : -imm;
        x64_lea(e, size, d, (struct x64_mem){.base = (int8_t)a, .index = X64_NONE, .disp = disp});
    } else {
        x64_move(e, size, d, a);
        x64_alu_imm(e, (enum x64_alu)op, size, d, imm);
    }
}

bool x64_three_real(struct x64 *e, enum x64_real op, bool f64, unsigned d, unsigned a, unsigned b,
                    unsigned aside)
{
    if (d == b && d != a) {
        if (a == aside) return false;
        x64_movaps(e, false, aside, b);
        b = aside;
    }
    if (d != a) x64_movaps(e, false, d, a);
    switch (op) {
    case X64_FADD: x64_adds(e, f64, d, b); break;
    case X64_FSUB: x64_subs(e, f64, d, b); break;
    case X64_FMUL: x64_muls(e, f64, d, b); break;
    case X64_FDIV: x64_divs(e, f64, d, b); break;
    }
    return true;
}

void x64_wide(struct x64 *e, enum x64_wide op, enum x64_size size, enum x64_reg d, enum x64_reg b)
{
    switch (op) {
    case X64_MULHS: x64_imul_wide(e, X64, b); break;
    case X64_MULHU: x64_mul(e, X64, b); break;
    case X64_DIVS:
    case X64_REMS:
        if (size == X32)
            x64_cdq(e);
        else
            x64_cqo(e);
        x64_idiv(e, size, b);
        break;
    default: x64_xor(e, X32, RDX, RDX); x64_div(e, size, b);
    }
    x64_move(e, X64, d, op == X64_DIVS || op == X64_DIVU ? RAX : RDX);
}

void x64_unary(struct x64 *e, enum x64_unary op, enum x64_size size, enum x64_reg d, enum x64_reg a)
{
    switch (op) {
    case X64_NEG: x64_move(e, size, d, a), x64_neg(e, size, d); break;
    case X64_NOT: x64_move(e, size, d, a), x64_not(e, size, d); break;
    case X64_BSWAP: x64_move(e, size, d, a), x64_bswap(e, size, d); break;
    case X64_POPCNT: x64_popcnt(e, size, d, a); break;
    case X64_SEXT8: x64_movsx8(e, X64, d, a); break;
    case X64_SEXT16: x64_movsx16(e, X64, d, a); break;
    case X64_SEXT32: x64_movsxd(e, d, a); break;
    case X64_ZEXT8: x64_movzx8(e, d, a); break;
    case X64_ZEXT16: x64_movzx16(e, X32, d, a); break;
    case X64_ZEXT32: x64_mov(e, X32, d, a); break;
    }
}

void x64_set_real(struct x64 *e, enum x64_cond cond, enum x64_reg d, enum x64_reg aside)
{
    if (cond != X64_E && cond != X64_NE) {
        x64_setcc(e, cond, aside);
        x64_movzx8(e, d, aside);
        return;
    }
    x64_setcc(e, cond == X64_E ? X64_NP : X64_P, aside);
    x64_movzx8(e, d, aside);
    x64_mov_imm32(e, aside, cond == X64_NE);
    x64_cmov(e, X64_NE, X64, d, aside);
}
