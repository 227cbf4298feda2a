/* Properties of all instructions of a program are kept as bits, one for each pc. One pass finds
 * them, for the checks. */
#pragma once
#include "pvm/format/decode.h"

enum { PVM_LOW_NIBBLE = 1, PVM_HIGH_NIBBLE = 2, PVM_NEVER = 64 };

/* A struct pvm_usual tells for an opcode byte which instructions need no further checks. */
struct pvm_usual {
    /* `plain` is the least length of an instruction of which only length and registers need
     * checks, else PVM_NEVER. */
    uint8_t plain;
    /* `need` says how many bytes stand before the immediates; PVM_NEVER means that all checks
     * are always needed. */
    uint8_t need;
    uint8_t first, second; /* masks of the nibbles of the next two bytes that are registers */
    /* The byte at `size_at` holds the size of the first of two immediates, in the bits of
     * `size_mask`. */
    uint8_t size_at, size_mask;
    uint8_t stops; /* 1 when control need not go on to the next instruction */
    /* `ends` is 1 when the instruction ends a block, so that jumps may go to the next one. */
    uint8_t ends;
    bool jumps;
};

struct pvm_code_bits { /* The sets have one bit for each pc, in words of 64. */
    uint64_t *stops;   /* the instructions after which control need not go on */
    /* Jumps may go to these places; where the bit is 0, pvm_is_target decides. */
    uint64_t *targets;
    uint64_t *odd; /* the instructions that need more checks than pvm_usual.plain */
    struct pvm_usual usual[256];
    uint8_t high[256]; /* for each value of a byte: a mask of its nibbles that are above 12 */
};

/* The table has the number of bytes after the opcode that a shape reads at any length. */
extern const uint8_t pvm_fixed_bytes[PVM_SHAPES];

/* Finds the bits of a program. Returns false when memory ran out; then there is nothing to free. */
bool pvm_code_bits_find(const struct pvm_code *code, struct pvm_code_bits *out);
void pvm_code_bits_free(struct pvm_code_bits *bits);

/* Tells where instructions start among the 64 bytes from pc on. pc is a multiple of 64. */
static inline uint64_t pvm_start_word(const struct pvm_code *code, uint32_t pc)
{
    uint64_t bits = pvm_start_bits(code, pc);
    size_t left = code->bytes.size - pc;
    return left < 64 ? bits & ((UINT64_C(1) << left) - 1) : bits;
}

static inline bool pvm_word_bit(const uint64_t *bits, uint32_t pc)
{
    return bits[pc / 64] >> pc % 64 & 1;
}

static inline bool pvm_may_go(const struct pvm_code_bits *bits, const struct pvm_code *code,
                              uint32_t pc)
{
    return (pc < code->bytes.size && pvm_word_bit(bits->targets, pc)) || pvm_is_target(code, pc);
}
