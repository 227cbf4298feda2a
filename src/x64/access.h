/* Loads and stores of values that memory holds in the form given by enum x64_access. A loaded
 * integer fills a 64-bit register: a signed one is extended by its sign, an unsigned one by
 * zeros. */
#pragma once
#include "x64/sse.h"

enum x64_access {
    X64_I8,
    X64_U8,
    X64_I16,
    X64_U16,
    X64_I32,
    X64_U32,
    X64_INTEGER, /* integers of 64 bits */
    X64_F32,
    X64_F64,
    X64_16_BYTES, /* vectors of 16 bytes, whose addresses need not be aligned */
    X64_32_BYTES
};

/* `reg` is an integer register for integers, and a register of floats and vectors for the other
 * kinds. */
void x64_load(struct x64 *e, enum x64_access kind, unsigned reg, struct x64_mem from);
void x64_store(struct x64 *e, enum x64_access kind, struct x64_mem to, unsigned reg);
void x64_store_imm(struct x64 *e, enum x64_access kind, struct x64_mem to, int32_t imm);
