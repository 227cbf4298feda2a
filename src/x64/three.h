/* Operations of three operands, d = a op b, in as few instructions as there are. The registers may be the
 * same in any way; `aside` is one that may be changed, and is at most one of a and b. */
#pragma once
#include "x64/x64.h"

/* Beside those of enum x64_alu. Counts of shifts are taken modulo the width. */
enum x64_op { X64_IMUL = 8, X64_SHL, X64_SHR, X64_SAR, X64_ROL, X64_ROR };

/* False: there is none. */
bool x64_three(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
               enum x64_reg b, enum x64_reg aside);
void x64_three_imm(struct x64 *e, unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
                   int32_t imm);
