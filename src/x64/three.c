/* What x86-64 has of three operands is LEA, IMUL and the shifts of BMI2; the rest is a move first. */
#include "x64/three.h"

static void two(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg s)
{
    if (op == X64_IMUL)
        x64_imul(e, size, d, s);
    else
        x64_alu(e, (enum x64_alu)op, size, d, s);
}

static void sum(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
                enum x64_reg b, enum x64_reg aside)
{
    if (op == X64_ADD && d != a && d != b && a != aside) {
        x64_lea(e, size, d, (struct x64_mem){.base = (int8_t)a, .index = (int8_t)b});
        return;
    }
    if (d == b && d != a) {
        if (op != X64_SUB) { /* the others commute */
            two(e, op, size, d, a);
            return;
        }
        if (a == aside) {
            two(e, op, size, a, b);
            x64_mov(e, size, d, a);
            return;
        }
        x64_mov(e, X64, aside, b);
        b = aside;
    }
    x64_move(e, size, d, a);
    two(e, op, size, d, b);
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
    default: sum(e, op, size, d, a, b, aside); return true;
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
