/* Decodes instructions for the compiler. jit_decode finds the opcode and the length of an
 * instruction; each kind of instruction then reads its own operands. So no operand is read in
 * vain, and no branch depends on the shape: a mispredicted branch costs as much as the rest of
 * decoding.
 *
 * Near the end of the code, in holes and in the doc dialect, pvm_jit_decode_any decodes with
 * pvm_decode. It writes the instruction in its longest form, from which the operands are then
 * read. */
#pragma once
#include <string.h>
#include "pvm/jit/jit.h"

/* The functions below are in decode.c. */
void pvm_jit_decoder_init(struct jit_decoder *d, const struct pvm_code *code);
/* Makes the decoder ask from time to time, from pc on, whether the work is over. It does so by
 * lowering `limit`, which sends jit_decode to pvm_jit_decode_any, so that other instructions
 * cost no more. */
void pvm_jit_decoder_asks(struct jit_decoder *d, uint32_t pc, struct jit *j);
void pvm_jit_decode_any(struct jit_decoder *d, uint32_t pc, struct jit_insn *in);

X64_INLINE uint64_t jit_word(const uint8_t *p)
{
    uint64_t word; /* The word is in the byte order of this host, which is little-endian. */
    memcpy(&word, p, 8);
    return word;
}

X64_INLINE void jit_decode(struct jit_decoder *d, uint32_t pc, struct jit_insn *in)
{
    uint64_t starts = pc < d->limit ? jit_word(d->starts + (pc >> 3)) >> (pc & 7) : 0;
    if (!(starts & 1)) { /* The copy `any` lets `in` stay in registers. */
        struct jit_insn any;
        pvm_jit_decode_any(d, pc, &any);
        *in = any;
        return;
    }
    in->skip = (unsigned)__builtin_ctzll(starts >> 1 | UINT64_C(1) << PVM_SKIP_MAX);
    in->length = in->skip + 1;
    in->pc = pc;
    in->at = d->bytes + pc;
    in->word = jit_word(in->at + 1);
    in->op = d->ops[in->at[0]];
    in->in_place = true;
}

/* These three functions return a register by its four bits: the lower half of the first byte,
 * its upper half, the lower half of the second byte. */
X64_INLINE enum x64_reg reg_a(const struct jit_insn *in) { return host_reg((unsigned)in->word); }
X64_INLINE enum x64_reg reg_b(const struct jit_insn *in)
{
    return host_reg((unsigned)in->word >> 4);
}
X64_INLINE enum x64_reg reg_d(const struct jit_insn *in)
{
    return host_reg((unsigned)in->word >> 8);
}

/* Sign-extends the low n bytes of a word. n is 0 to 4. */
X64_INLINE uint64_t jit_extend(uint64_t word, unsigned n)
{
    unsigned spare = 63 - 8 * n;
    return (uint64_t)((int64_t)(word << 1 << spare) >> spare >> 1);
}

X64_INLINE unsigned jit_clamp(int n) { return n < 0 ? 0 : n > 4 ? 4 : (unsigned)n; }

/* imm_alone returns the immediate of an instruction without registers, decode_imm that of an
 * instruction with one byte of registers. */
X64_INLINE uint64_t imm_alone(const struct jit_insn *in)
{
    return jit_extend(in->word, jit_clamp((int)in->skip));
}
X64_INLINE uint64_t decode_imm(const struct jit_insn *in)
{
    return jit_extend(in->word >> 8, jit_clamp((int)in->skip - 1));
}

struct jit_pair {
    uint64_t first, second;
};

/* Returns two immediates from byte `from` on. The first has n bytes. */
X64_INLINE struct jit_pair jit_two(const struct jit_insn *in, unsigned n, unsigned from)
{
    uint64_t word = jit_word(in->at + from);
    n &= 7;
    n = n > 4 ? 4 : n;
    int left = (int)in->skip + 1 - (int)from - (int)n;
    return (struct jit_pair){jit_extend(word, n), jit_extend(word >> 8 * n, jit_clamp(left))};
}
X64_INLINE struct jit_pair imms_alone(const struct jit_insn *in)
{
    return jit_two(in, (unsigned)in->word, 2);
}
X64_INLINE struct jit_pair decode_imms(const struct jit_insn *in)
{
    return jit_two(in, (unsigned)in->word >> 4, 2);
}
X64_INLINE struct jit_pair imms_after_two(const struct jit_insn *in)
{
    return jit_two(in, (unsigned)in->word >> 8, 3);
}
X64_INLINE uint64_t decode_imm64(const struct jit_insn *in) { return jit_word(in->at + 2); }
