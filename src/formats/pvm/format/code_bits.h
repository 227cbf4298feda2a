/* What the checks of a program want to know about every instruction, as bits, found in one pass. */
#pragma once
#include "pvm/format/decode.h"

enum { PVM_LOW_NIBBLE = 1, PVM_HIGH_NIBBLE = 2, PVM_NEVER = 64 };

/* What an instruction must have to be like most of them, by its first byte. */
struct pvm_usual {
    uint8_t plain;              /* bytes, if nothing but length and registers is to be checked */
    uint8_t need;               /* bytes before the immediates; PVM_NEVER: look at it closely */
    uint8_t first, second;      /* which nibbles of the next two bytes are registers */
    uint8_t size_at, size_mask; /* where in the first bytes the size of one of two immediates is */
    uint8_t stops, ends;        /* 1: control does not simply go on; a block ends, so that jumps may
                                   go to what follows */
    bool jumps;
};

struct pvm_code_bits { /* a bit per pc, in words of 64 */
    uint64_t *stops;   /* an instruction after which control does not simply go on */
    uint64_t *targets; /* jumps may go here, for sure; where it is unset, pvm_is_target knows */
    uint64_t *odd;     /* an instruction that is not plain */
    struct pvm_usual usual[256];
    uint8_t high[256]; /* which nibbles of a byte are above 12 */
};

/* Bytes that a shape reads at fixed places, whatever the length. */
extern const uint8_t pvm_fixed_bytes[PVM_SHAPES];

/* False: no memory, and nothing to free. */
bool pvm_code_bits_find(const struct pvm_code *code, struct pvm_code_bits *out);
void pvm_code_bits_free(struct pvm_code_bits *bits);

/* Where instructions start among the 64 bytes from pc on, a multiple of 64. */
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
