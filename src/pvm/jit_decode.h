/* Decoding for the compiler: the same as pvm_decode, for one instruction after the other. Most
 * shapes go one way without branches, since a mispredicted branch costs as much as all the rest;
 * those with two immediates, the end of the code and the doc dialect take the general way. */
#pragma once
#include <string.h>
#include "pvm/decode.h"

struct jit_opcode {          /* what an opcode byte means in the ISA at hand */
    uint8_t op;
    bool plain;              /* registers in the first two bytes, at most one immediate */
    bool two;                /* the first byte is destination and source */
    bool ends;               /* a block */
    uint8_t skip;            /* bytes in front of the immediate; NO_IMMEDIATE: none */
};

enum { JIT_NO_IMMEDIATE = PVM_SKIP_MAX + 1 };

struct jit_decoder {
    const struct pvm_code *code;
    uint32_t limit;          /* up to here all that is looked at is inside the code and its mask */
    struct jit_opcode opcodes[256];
    /* By skip + JIT_NO_IMMEDIATE - opcode.skip: 63 less the immediate's bits. */
    uint8_t spare[2 * PVM_SKIP_MAX + 2];
};

static inline void jit_decoder_init(struct jit_decoder *d, const struct pvm_code *code)
{
    enum { AHEAD = 80 };
    static const struct { bool plain, two; uint8_t skip; } shapes[PVM_SHAPES] = {
        [PVM_NONE] = {true, false, JIT_NO_IMMEDIATE},    [PVM_IMM] = {true, false, 0},
        [PVM_OFFSET] = {true, false, 0},                 [PVM_REG_IMM] = {true, false, 1},
        [PVM_REG_REG] = {true, true, JIT_NO_IMMEDIATE},  [PVM_REG_REG_IMM] = {true, false, 1},
        [PVM_REG_REG_OFFSET] = {true, false, 1},
        [PVM_REG_REG_REG] = {true, false, JIT_NO_IMMEDIATE},
    };
    d->code = code;
    d->limit = code->doc || code->bytes.size < AHEAD ? 0 : (uint32_t)code->bytes.size - AHEAD;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t op = pvm_isas[code->isa].op[i], shape = pvm_ops[op].shape;
        d->opcodes[i] = (struct jit_opcode){op, shapes[shape].plain, shapes[shape].two,
                                            pvm_ends_block(op), shapes[shape].skip};
    }
    for (unsigned i = 0; i < sizeof d->spare; i++) {
        unsigned bytes = i < JIT_NO_IMMEDIATE ? 0 : i - JIT_NO_IMMEDIATE;
        d->spare[i] = (uint8_t)(63 - 8 * (bytes > 4 ? 4 : bytes));
    }
}

static inline uint64_t jit_word(const uint8_t *p)
{
    uint64_t word;             /* of this host, which is little-endian */
    memcpy(&word, p, 8);
    return word;
}

/* The instruction at pc; start: one starts there for certain. True: it ends a block. */
static inline bool jit_decode(const struct jit_decoder *d, uint32_t pc, bool start,
                              struct pvm_insn *in)
{
    static const uint8_t registers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12};
    const struct pvm_code *code = d->code;
    const struct jit_opcode *o;
    if (pc >= d->limit || !(start || pvm_bit(code->starts, pc)) ||
        !(o = &d->opcodes[code->bytes.data[pc]])->plain) {
        pvm_decode(code, pc, in);
        return pvm_ends_block(in->op);
    }
    uint32_t next = pc + 1;
    uint64_t word = jit_word(code->bytes.data + next);
    uint64_t starts = jit_word(code->starts + (next >> 3)) >> (next & 7);
    unsigned skip = (unsigned)__builtin_ctzll(starts | UINT64_C(1) << PVM_SKIP_MAX);
    uint8_t first = registers[word & 15], second = registers[word >> 4 & 15];
    uint8_t third = registers[word >> 8 & 15];
    unsigned spare = d->spare[skip + JIT_NO_IMMEDIATE - o->skip];
    uint64_t raw = word >> (8 * (o->skip & 1u)) & UINT32_MAX;
    uint64_t x = (uint64_t)((int64_t)(raw << 1 << spare) >> spare >> 1);
    in->op = o->op;
    in->a = o->two ? second : first;
    in->b = second;
    in->d = o->two ? first : third;
    in->length = (uint8_t)(skip + 1);
    in->pc = pc;
    in->target = (uint32_t)(pc + x);
    in->imm1 = x;
    return o->ends;
}
