/* Decoding for the compiler: the same as pvm_decode, for one instruction after the other. Most shapes
 * go one way without branches, since a mispredicted branch costs as much as all the rest; those with
 * two immediates, the end of the code and the doc dialect take the general way.
 * (Measured: pvm_decode is a third of all compile time, this a tenth.) */
#pragma once
#include "base/bytes.h"
#include "pvm/decode.h"

struct jit_shape {
    bool plain;              /* registers in the first two bytes, at most one immediate */
    bool two;                /* the first byte is destination and source */
    uint8_t skip;            /* bytes in front of the immediate; 32: none */
    uint8_t shift;           /* the same in bits */
};

static const struct jit_shape jit_shapes[PVM_SHAPES] = {
    [PVM_NONE] = {true, false, 32, 0},      [PVM_IMM] = {true, false, 0, 0},
    [PVM_OFFSET] = {true, false, 0, 0},     [PVM_REG_IMM] = {true, false, 1, 8},
    [PVM_REG_REG] = {true, true, 32, 0},    [PVM_REG_REG_IMM] = {true, false, 1, 8},
    [PVM_REG_REG_OFFSET] = {true, false, 1, 8}, [PVM_REG_REG_REG] = {true, false, 32, 0},
};
/* 13 to 15 are the last register. */
static const uint8_t jit_registers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12};

static inline void jit_decode(const struct pvm_code *code, uint32_t pc, struct pvm_insn *in)
{
    enum { AHEAD = 80 };       /* bytes of code, hence bits of mask, that are there for certain */
    size_t size = code->bytes.size;
    if (code->doc || size < AHEAD || pc > size - AHEAD || !pvm_bit(code->starts, pc)) {
        pvm_decode(code, pc, in);
        return;
    }
    const uint8_t *p = code->bytes.data + pc;
    unsigned op = pvm_isas[code->isa].op[p[0]];
    const struct jit_shape *shape = &jit_shapes[pvm_ops[op].shape];
    if (!shape->plain) {
        pvm_decode(code, pc, in);
        return;
    }
    uint32_t next = pc + 1;
    uint64_t starts = get64(code->starts + (next >> 3)) >> (next & 7);
    unsigned skip = (unsigned)__builtin_ctzll(starts | UINT64_C(1) << PVM_SKIP_MAX);
    uint64_t word = get64(p + 1);
    uint8_t first = jit_registers[word & 15], second = jit_registers[word >> 4 & 15];
    uint8_t third = jit_registers[word >> 8 & 15];
    int n = (int)skip - shape->skip;
    n = n < 0 ? 0 : n > 4 ? 4 : n;
    uint64_t x = word >> shape->shift & 0xffffffff;
    x = n ? (uint64_t)((int64_t)(x << (64 - 8 * n)) >> (64 - 8 * n)) : 0;
    in->op = (uint8_t)op;
    in->a = shape->two ? second : first;
    in->b = second;
    in->d = shape->two ? first : third;
    in->length = (uint8_t)(skip + 1);
    in->pc = pc;
    in->target = (uint32_t)(pc + x);
    in->imm1 = x;
}
