/* Operations as a compiler has them, in as few instructions as there are. */
#pragma once
#include "x64/sse.h"

/* Three operands, d = a op b: the registers may be the same in any way; `aside` is one that may be changed: at
 * most one of a and b, and not d, or d is wrong. Beside those of enum x64_alu. Counts of shifts are taken modulo the width. */
enum x64_op { X64_IMUL = 8, X64_SHL, X64_SHR, X64_SAR, X64_ROL, X64_ROR };

/* False: there is none. */
bool x64_three(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
               enum x64_reg b, enum x64_reg aside);
void x64_three_imm(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
                   int32_t imm);

/* The same of floats, which do not commute: of two NaNs the first one counts. False: a is `aside`, but
 * that is needed for b. */
enum x64_real { X64_FADD, X64_FSUB, X64_FMUL, X64_FDIV };
bool x64_three_real(struct x64 *e, enum x64_real op, bool f64, unsigned d, unsigned a, unsigned b,
                    unsigned aside);

/* RAX by b, with RDX: the upper half of a product, quotients and remainders. */
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

/* After a comparison of floats: 1 if the condition holds, else 0. Values that cannot be compared set the
 * parity flag, and are not equal. */
void x64_set_real(struct x64 *e, enum x64_cond cond, enum x64_reg d, enum x64_reg aside);
