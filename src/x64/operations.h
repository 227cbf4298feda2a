/* Operations with a destination and two operands (d = a op b), as a compiler uses them. Each
 * becomes as few instructions as possible. */
#pragma once
#include "x64/sse.h"

/* The operations of x64_three, beside those of enum x64_alu. It computes d = a op b, and any of
 * these registers may be the same. `aside` is a register that may be changed. It may be a or b, but
 * not both, and never d; otherwise the result in d is wrong. Counts of shifts are taken modulo the
 * width. */
enum x64_op { X64_IMUL = 8, X64_SHL, X64_SHR, X64_SAR, X64_ROL, X64_ROR };

/* Computes d = a op b. Returns false for ROL and ROR, which it cannot compute. */
bool x64_three(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
               enum x64_reg b, enum x64_reg aside);
void x64_three_imm(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
                   int32_t imm);

/* Computes d = a op b on floats; `aside` is a register that may be changed, as in x64_three. The
 * operands do not commute: when both are NaN, the result is the first one. Returns false if a is
 * `aside`, but `aside` is needed to keep b. */
enum x64_real { X64_FADD, X64_FSUB, X64_FMUL, X64_FDIV };
bool x64_three_real(struct x64 *e, enum x64_real op, bool f64, unsigned d, unsigned a, unsigned b,
                    unsigned aside);

/* These operations take RAX and b and also use RDX. They compute the upper half of a product, a
 * quotient or a remainder. */
enum x64_wide { X64_MULHS, X64_MULHU, X64_DIVS, X64_DIVU, X64_REMS, X64_REMU };
void x64_wide(struct x64 *e, enum x64_wide op, enum x64_size size, enum x64_reg d, enum x64_reg b);

enum x64_unary {
    X64_NEG,
    X64_NOT,
    X64_SEXT8,
    X64_SEXT16,
    X64_SEXT32,
    X64_ZEXT8,
    X64_ZEXT16,
    X64_ZEXT32,
    X64_POPCNT,
    X64_BSWAP
};
void x64_unary(struct x64 *e, enum x64_unary op, enum x64_size size, enum x64_reg d,
               enum x64_reg a);

/* Sets d to 1 if the condition holds after a comparison of floats, else to 0. Values that cannot be
 * compared (NaN) set the parity flag, and count as not equal. */
void x64_set_real(struct x64 *e, enum x64_cond cond, enum x64_reg d, enum x64_reg aside);
