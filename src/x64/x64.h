/* An x86-64 assembler. It knows bytes and labels, but no guest machine.
 *
 * Functions are named after the mnemonics of the processor manuals, and the destination comes
 * first. An instruction is composed in a 64-bit word and stored whole. So emitting takes a few
 * shifts and one store, without branches on registers or immediates, because a mispredicted branch
 * costs more than all the rest. Nothing is checked on the way: the caller asks x64_full at least
 * once in X64_MARGIN bytes. Positions are offsets from `start`, below 2^31.
 *
 * Functions for forms with an address are called MNEMONIC_load (register from memory) and
 * MNEMONIC_store. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum x64_reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
/* The size of an operation: 32-bit results clear the upper half of a register. */
enum x64_size { X32, X64 };
/* clang-format off */
enum x64_cond {
    X64_O, X64_NO, X64_B, X64_AE, X64_E, X64_NE, X64_BE, X64_A, X64_S, X64_NS, X64_P, X64_NP, X64_L,
    X64_GE, X64_LE, X64_G
};
/* clang-format on */

struct x64 {
    uint8_t *start, *at, *limit; /* `limit` is X64_MARGIN bytes before the end of the memory */
    bool vex;                    /* Floats and vectors use the encoding of AVX (sse.h). */
};

enum { X64_MARGIN = 512 };

struct x64_mem {        /* the address segment:[base + (index << scale) + disp] */
    int8_t base, index; /* X64_NONE stands for no register; RSP cannot be an index. */
    uint8_t scale;
    bool gs, narrow; /* gs: the segment is gs; narrow: the sum is cut to 32 bits */
    int32_t disp;
};
enum { X64_NONE = -1 };

/* X64_INLINE forces inlining, so that the compiler computes everything that follows from
 * constant operands. */
#define X64_INLINE static inline __attribute__((always_inline))

struct x64_label { /* A label starts with all bytes zero. */
    uint32_t at;   /* 1 + the offset of the label once it is bound, before that 0 */
    /* `uses` is 1 + the offset of the last jump to the label; the field of that jump holds the
     * use before it. */
    uint32_t uses;
};

/* `capacity` is at least X64_MARGIN. */
void x64_init(struct x64 *e, void *memory, size_t capacity);
void x64_bind(struct x64 *e, struct x64_label *label);
void x64_jmp(struct x64 *e, struct x64_label *label);
void x64_jcc(struct x64 *e, enum x64_cond cond, struct x64_label *label);
void x64_call(struct x64 *e, struct x64_label *label);
/* Loads the address of a label, relative to rip. */
void x64_lea_label(struct x64 *e, enum x64_reg dst, struct x64_label *label);
/* Fills `size` bytes with as few instructions as possible. */
void x64_nop(struct x64 *e, unsigned size);

X64_INLINE uint32_t x64_here(const struct x64 *e) { return (uint32_t)(e->at - e->start); }

/* Tells whether less than X64_MARGIN bytes are left. */
X64_INLINE bool x64_full(const struct x64 *e) { return e->at > e->limit; }

/* Appends the lowest n bytes of a word. It always writes 8 bytes to memory, whatever n is. */
X64_INLINE void x64_put(struct x64 *e, uint64_t bytes, unsigned n)
{
    memcpy(e->at, &bytes, 8);
    e->at += n;
}

X64_INLINE void x64_patch32(struct x64 *e, uint32_t at, uint32_t value)
{
    memcpy(e->start + at, &value, 4);
}

/* Puts a byte before the bytes in w if `wanted` is true. */
X64_INLINE uint64_t x64_in_front(uint64_t w, unsigned byte, bool wanted)
{
    return w << 8 * wanted | (byte & (0u - wanted));
}

/* Emits an instruction on registers. `op` is the opcode: 0x0fXX for the second opcode map, with a
 * mandatory prefix above that, as in 0xf30fb8. `bytes` means that rm or reg is an 8-bit register,
 * and 8-bit registers 4 to 7 need a REX prefix. Nothing is emitted if `wanted` is false. */
X64_INLINE void x64_form_if(struct x64 *e, uint32_t op, enum x64_size size, unsigned reg,
                            unsigned rm, bool bytes, bool wanted)
{
    unsigned rex = (unsigned)size << 3 | (reg >> 3) << 2 | rm >> 3, n = 2;
    unsigned prefixed = (rex != 0) | (bytes & ((rm > RBX) | (reg > RBX)));
    uint64_t w = (op & 0xff) | (0xc0u | (reg & 7) << 3 | (rm & 7)) << 8;
    if (op & 0xff00) {
        w = w << 8 | 0x0f;
        n++;
    }
    w = x64_in_front(w, 0x40 | rex, prefixed);
    n += prefixed;
    if (op >> 16) {
        w = w << 8 | op >> 16;
        n++;
    }
    x64_put(e, w, wanted ? n : 0);
}

X64_INLINE void x64_form(struct x64 *e, uint32_t op, enum x64_size size, unsigned reg, unsigned rm,
                         bool bytes)
{
    x64_form_if(e, op, size, reg, rm, bytes, true);
}

enum x64_alu { X64_ADD = 0, X64_OR = 1, X64_AND = 4, X64_SUB = 5, X64_XOR = 6, X64_CMP = 7 };
X64_INLINE void x64_alu(struct x64 *e, enum x64_alu op, enum x64_size size, enum x64_reg dst,
                        enum x64_reg src)
{
    x64_form(e, (uint32_t)op * 8 + 1, size, src, dst, false);
}
X64_INLINE void x64_alu_imm(struct x64 *e, enum x64_alu op, enum x64_size size, enum x64_reg dst,
                            int32_t imm)
{
    bool small = imm == (int8_t)imm;
    x64_form(e, small ? 0x83 : 0x81, size, op, dst, false);
    x64_put(e, (uint32_t)imm, small ? 1 : 4);
}
#define X64_ALU(name, op)                                                                          \
    X64_INLINE void x64_##name(struct x64 *e, enum x64_size size, enum x64_reg dst,                \
                               enum x64_reg src)                                                   \
    {                                                                                              \
        x64_alu(e, op, size, dst, src);                                                            \
    }                                                                                              \
    X64_INLINE void x64_##name##_imm(struct x64 *e, enum x64_size size, enum x64_reg dst,          \
                                     int32_t imm)                                                  \
    {                                                                                              \
        x64_alu_imm(e, op, size, dst, imm);                                                        \
    }
X64_ALU(add, X64_ADD)
X64_ALU(or, X64_OR)
X64_ALU(and, X64_AND)
X64_ALU(sub, X64_SUB)
X64_ALU(xor, X64_XOR)
X64_ALU(cmp, X64_CMP)
#undef X64_ALU

/* Emits a sub whose immediate has 4 bytes whatever its value is, so that it can be patched. Returns
 * the offset of the immediate. */
X64_INLINE uint32_t x64_sub_imm32(struct x64 *e, enum x64_size size, enum x64_reg dst, int32_t imm)
{
    x64_form(e, 0x81, size, 5, dst, false);
    x64_put(e, (uint32_t)imm, 4);
    return x64_here(e) - 4;
}

#define X64_TWO(name, op)                                                                          \
    X64_INLINE void x64_##name(struct x64 *e, enum x64_size size, enum x64_reg dst,                \
                               enum x64_reg src)                                                   \
    {                                                                                              \
        x64_form(e, op, size, dst, src, false);                                                    \
    }
X64_TWO(mov, 0x8b)
X64_TWO(imul, 0x0faf)
X64_TWO(popcnt, 0xf30fb8)
X64_TWO(tzcnt, 0xf30fbc)
X64_TWO(lzcnt, 0xf30fbd)
X64_TWO(movzx16, 0x0fb7)
X64_TWO(movsx16, 0x0fbf)
X64_TWO(xchg, 0x87)
X64_TWO(test, 0x85)
#undef X64_TWO

/* Emits mov, unless the registers are the same. */
X64_INLINE void x64_move(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src)
{
    x64_form_if(e, 0x8b, size, dst, src, false, dst != src);
}

X64_INLINE void x64_movsxd(struct x64 *e, enum x64_reg dst, enum x64_reg src)
{
    x64_form(e, 0x63, X64, dst, src, false);
}
X64_INLINE void x64_movzx8(struct x64 *e, enum x64_reg dst, enum x64_reg src)
{
    x64_form(e, 0x0fb6, X32, dst, src, src > RBX);
}
X64_INLINE void x64_movsx8(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src)
{
    x64_form(e, 0x0fbe, size, dst, src, src > RBX);
}
X64_INLINE void x64_setcc(struct x64 *e, enum x64_cond cond, enum x64_reg dst)
{
    x64_form(e, 0x0f90u | cond, X32, 0, dst, true);
}
X64_INLINE void x64_cmov(struct x64 *e, enum x64_cond cond, enum x64_size size, enum x64_reg dst,
                         enum x64_reg src)
{
    x64_form(e, 0x0f40u | cond, size, dst, src, false);
}

#define X64_ONE(name, number)                                                                      \
    X64_INLINE void x64_##name(struct x64 *e, enum x64_size size, enum x64_reg reg)                \
    {                                                                                              \
        x64_form(e, 0xf7, size, number, reg, false);                                               \
    }
X64_ONE(not, 2)
X64_ONE(neg, 3)
X64_ONE(mul, 4) /* rdx:rax = rax * reg, without signs */
X64_ONE(imul_wide, 5)
X64_ONE(div, 6) /* rax, rdx = quotient and remainder of rdx:rax / reg */
X64_ONE(idiv, 7)
#undef X64_ONE

#define X64_SHIFT(name, number)                                                                    \
    X64_INLINE void x64_##name##_imm(struct x64 *e, enum x64_size size, enum x64_reg dst,          \
                                     unsigned count)                                               \
    {                                                                                              \
        x64_form(e, 0xc1, size, number, dst, false);                                               \
        x64_put(e, count, 1);                                                                      \
    }                                                                                              \
    X64_INLINE void x64_##name##_cl(struct x64 *e, enum x64_size size, enum x64_reg dst)           \
    {                                                                                              \
        x64_form(e, 0xd3, size, number, dst, false);                                               \
    }
X64_SHIFT(rol, 0)
X64_SHIFT(ror, 1)
X64_SHIFT(shl, 4)
X64_SHIFT(shr, 5)
X64_SHIFT(sar, 7)
#undef X64_SHIFT

X64_INLINE void x64_bswap(struct x64 *e, enum x64_size size, enum x64_reg reg)
{
    unsigned rex = (unsigned)size << 3 | reg >> 3;
    uint64_t w = 0x0f | (0xc8u | (reg & 7)) << 8;
    x64_put(e, rex ? w << 8 | 0x40 | rex : w, rex ? 3 : 2);
}
X64_INLINE void x64_imul_imm(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src,
                             int32_t imm)
{
    bool small = imm == (int8_t)imm;
    x64_form(e, small ? 0x6b : 0x69, size, dst, src, false);
    x64_put(e, (uint32_t)imm, small ? 1 : 4);
}

/* x64_mov_imm32 loads a sign-extended 32-bit value, x64_mov_imm any value. Both use the shortest
 * form that leaves the flags alone. */
X64_INLINE void x64_mov_imm32(struct x64 *e, enum x64_reg dst, int32_t imm)
{
    /* A negative value is encoded REX.W c7 /0, another one [REX] b8+r, which clears the upper
     * half. */
    bool negative = imm < 0;
    unsigned high = dst >> 3, low = dst & 7;
    uint64_t w = x64_in_front(negative ? 0xc0c7u + (low << 8) : 0xb8u + low,
                              0x40u | (unsigned)negative << 3 | high, negative | high);
    x64_put(e, w, negative ? 3 : 1 + high);
    x64_put(e, (uint32_t)imm, 4);
}
X64_INLINE void x64_mov_imm(struct x64 *e, enum x64_reg dst, uint64_t imm)
{
    if ((int64_t)imm == (int32_t)imm) {
        x64_mov_imm32(e, dst, (int32_t)imm);
    } else if (imm <= UINT32_MAX) {
        x64_put(e, 0x41, dst > RDI);
        x64_put(e, (0xb8u | (dst & 7)) | imm << 8, 5);
    } else {
        x64_put(e, (0x48u | dst >> 3) | (0xb8u | (dst & 7)) << 8, 2);
        x64_put(e, imm, 8);
    }
}

/* Emits an instruction with a VEX prefix. `prefix` is 0 for none, 1 for 66, 2 for F3, 3 for F2.
 * `map` is 2 for the opcode map 0f38, 3 for 0f3a. */
X64_INLINE void x64_vex(struct x64 *e, unsigned prefix, unsigned map, unsigned op,
                        enum x64_size size, unsigned reg, unsigned second, unsigned rm)
{
    uint64_t w = 0xc4;
    w |= (uint64_t)((reg > RDI ? 0u : 0x80u) | 0x40u | (rm > RDI ? 0u : 0x20u) | map) << 8;
    w |= (uint64_t)((unsigned)size << 7 | (~second & 15) << 3 | prefix) << 16;
    w |= (uint64_t)op << 24 | (uint64_t)(0xc0u | (reg & 7) << 3 | (rm & 7)) << 32;
    x64_put(e, w, 5);
}
X64_INLINE void x64_andn(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg inverted,
                         enum x64_reg src)
{
    x64_vex(e, 0, 2, 0xf2, size, dst, inverted, src);
}
#define X64_SHIFT_BY(name, prefix)                                                                 \
    X64_INLINE void x64_##name(struct x64 *e, enum x64_size size, enum x64_reg dst,                \
                               enum x64_reg src, enum x64_reg count)                               \
    {                                                                                              \
        x64_vex(e, prefix, 2, 0xf7, size, dst, count, src);                                        \
    }
X64_SHIFT_BY(shlx, 1)
X64_SHIFT_BY(shrx, 3)
X64_SHIFT_BY(sarx, 2)
#undef X64_SHIFT_BY
X64_INLINE void x64_rorx(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src,
                         unsigned count)
{
    x64_vex(e, 3, 3, 0xf0, size, dst, 0, src);
    x64_put(e, count, 1);
}
/* Computes high:low = rdx * src. If both are the same register, it gets the high half. */
X64_INLINE void x64_mulx(struct x64 *e, enum x64_size size, enum x64_reg high, enum x64_reg low,
                         enum x64_reg src)
{
    x64_vex(e, 3, 2, 0xf6, size, high, low, src);
}

/* A struct x64_address has the bytes of an instruction that say where its memory operand is: the
 * second byte of the form, the bytes that follow it, and the bits for the registers that belong
 * to the prefix of the instruction. */
struct x64_address {
    uint64_t bytes;
    unsigned count, rex, disp_size;
};

X64_INLINE struct x64_address x64_address(unsigned reg, struct x64_mem m)
{
    unsigned rex = (reg >> 3) << 2, mod, disp_size;
    unsigned base = m.base < 0 ? RBP : (unsigned)m.base & 7;
    unsigned index = m.index < 0 ? RSP : (unsigned)m.index & 7;
    /* `pair` says that a second address byte is needed. */
    bool pair = (m.base < 0) | (m.index >= 0) | (base == RSP);
    if (m.base < 0) { /* Without a base the displacement always has 4 bytes. */
        mod = 0;
        disp_size = 4;
    } else {
        unsigned some = (m.disp != 0) | (base == RBP), large = m.disp != (int8_t)m.disp;
        mod = some + large;
        disp_size = some + 3 * large;
        rex |= (unsigned)m.base >> 3;
    }
    if (m.index >= 0) rex |= (unsigned)m.index >> 3 << 1;
    uint64_t w = (mod << 6 | (reg & 7) << 3 | (pair ? RSP : base)) |
                 (pair ? (unsigned)m.scale << 6 | index << 3 | base : 0) << 8;
    return (struct x64_address){w, 1 + (unsigned)pair, rex, disp_size};
}

X64_INLINE void x64_form_mem(struct x64 *e, uint32_t op, enum x64_size size, unsigned reg,
                             struct x64_mem m, bool bytes)
{
    struct x64_address at = x64_address(reg, m);
    unsigned rex = (unsigned)size << 3 | at.rex, n = at.count + 1;
    uint64_t w = at.bytes << 8 | (op & 0xff);
    bool second = op & 0xff00, prefixed = (rex != 0) | (bytes & (reg > RBX)), mandatory = op >> 16;
    w = x64_in_front(w, 0x0f, second);
    w = x64_in_front(w, 0x40 | rex, prefixed);
    w = x64_in_front(w, op >> 16, mandatory);
    n += (unsigned)second + prefixed + mandatory;
    if (m.narrow) {
        w = w << 8 | 0x67;
        n++;
    }
    if (m.gs) {
        w = w << 8 | 0x65;
        n++;
    }
    x64_put(e, w, n);
    x64_put(e, (uint32_t)m.disp, at.disp_size);
}

#define X64_LOAD(name, op)                                                                         \
    X64_INLINE void x64_##name##_load(struct x64 *e, enum x64_size size, enum x64_reg dst,         \
                                      struct x64_mem src)                                          \
    {                                                                                              \
        x64_form_mem(e, op, size, dst, src, false);                                                \
    }
X64_LOAD(mov, 0x8b)
X64_LOAD(movzx8, 0x0fb6)
X64_LOAD(movzx16, 0x0fb7)
X64_LOAD(movsx8, 0x0fbe)
X64_LOAD(movsx16, 0x0fbf)
X64_LOAD(movsxd, 0x63)
X64_LOAD(add, 0x03)
X64_LOAD(or, 0x0b)
X64_LOAD(and, 0x23)
X64_LOAD(sub, 0x2b)
X64_LOAD(xor, 0x33)
X64_LOAD(cmp, 0x3b)
#undef X64_LOAD

/* Computes the address of a memory operand, without its segment. */
X64_INLINE void x64_lea(struct x64 *e, enum x64_size size, enum x64_reg dst, struct x64_mem m)
{
    x64_form_mem(e, 0x8d, size, dst, m, false);
}
X64_INLINE void x64_mov_store8(struct x64 *e, struct x64_mem m, enum x64_reg src)
{
    x64_form_mem(e, 0x88, X32, src, m, true);
}
X64_INLINE void x64_mov_store16(struct x64 *e, struct x64_mem m, enum x64_reg src)
{
    x64_form_mem(e, 0x660089, X32, src, m, false);
}
X64_INLINE void x64_mov_store(struct x64 *e, enum x64_size size, struct x64_mem m, enum x64_reg src)
{
    x64_form_mem(e, 0x89, size, src, m, false);
}
X64_INLINE void x64_mov_store_imm8(struct x64 *e, struct x64_mem m, uint8_t imm)
{
    x64_form_mem(e, 0xc6, X32, 0, m, false);
    x64_put(e, imm, 1);
}
X64_INLINE void x64_mov_store_imm16(struct x64 *e, struct x64_mem m, uint16_t imm)
{
    x64_form_mem(e, 0x6600c7, X32, 0, m, false);
    x64_put(e, imm, 2);
}
/* With size X64, the immediate is sign-extended to 64 bits. */
X64_INLINE void x64_mov_store_imm(struct x64 *e, enum x64_size size, struct x64_mem m, int32_t imm)
{
    x64_form_mem(e, 0xc7, size, 0, m, false);
    x64_put(e, (uint32_t)imm, 4);
}
X64_INLINE void x64_cmp_mem8_imm(struct x64 *e, struct x64_mem m, uint8_t imm)
{
    x64_form_mem(e, 0x80, X32, 7, m, false);
    x64_put(e, imm, 1);
}
X64_INLINE void x64_jmp_mem(struct x64 *e, struct x64_mem m)
{
    x64_form_mem(e, 0xff, X32, 4, m, false);
}

X64_INLINE void x64_push(struct x64 *e, enum x64_reg reg)
{
    uint64_t w = 0x50u | (reg & 7);
    x64_put(e, reg > RDI ? w << 8 | 0x41 : w, reg > RDI ? 2 : 1);
}
X64_INLINE void x64_pop(struct x64 *e, enum x64_reg reg)
{
    uint64_t w = 0x58u | (reg & 7);
    x64_put(e, reg > RDI ? w << 8 | 0x41 : w, reg > RDI ? 2 : 1);
}
X64_INLINE void x64_ret(struct x64 *e) { x64_put(e, 0xc3, 1); }
X64_INLINE void x64_ret_pop(struct x64 *e, unsigned bytes) { x64_put(e, 0xc2 | bytes << 8, 3); }
X64_INLINE void x64_cdq(struct x64 *e) { x64_put(e, 0x99, 1); }
X64_INLINE void x64_cqo(struct x64 *e) { x64_put(e, 0x9948, 2); }
X64_INLINE void x64_ud2(struct x64 *e) { x64_put(e, 0x0b0f, 2); }
X64_INLINE void x64_jmp_reg(struct x64 *e, enum x64_reg reg)
{
    x64_form(e, 0xff, X32, 4, reg, false);
}

/* x64_jmp_to, x64_jcc_to and x64_call_to go to a known offset. The jumps use the short form
 * where it reaches. */
X64_INLINE void x64_jmp_to(struct x64 *e, uint32_t to)
{
    int32_t near = (int32_t)(to - (x64_here(e) + 2));
    bool small = near == (int8_t)near;
    uint64_t distance = (uint32_t)(small ? near : near - 3);
    x64_put(e, (small ? 0xeb : 0xe9) | distance << 8, small ? 2 : 5);
}
X64_INLINE void x64_jcc_to(struct x64 *e, enum x64_cond cond, uint32_t to)
{
    int32_t near = (int32_t)(to - (x64_here(e) + 2));
    bool small = near == (int8_t)near;
    uint64_t far = 0x0f | (0x80u | cond) << 8 | (uint64_t)(uint32_t)(near - 4) << 16;
    x64_put(e, small ? (0x70u | cond) | (uint64_t)(uint32_t)near << 8 : far, small ? 2 : 6);
}
X64_INLINE void x64_call_to(struct x64 *e, uint32_t to)
{
    x64_put(e, 0xe8 | (uint64_t)(uint32_t)(to - (x64_here(e) + 5)) << 8, 5);
}
/* x64_jmp_later and x64_jcc_later emit jumps whose targets x64_aim sets later. They return the
 * offset of the last four bytes of the jump. */
X64_INLINE uint32_t x64_jmp_later(struct x64 *e)
{
    x64_put(e, 0xe9, 5);
    return x64_here(e) - 4;
}
X64_INLINE uint32_t x64_jcc_later(struct x64 *e, enum x64_cond cond)
{
    x64_put(e, 0x0f | (0x80u | cond) << 8, 6);
    return x64_here(e) - 4;
}
X64_INLINE void x64_aim(struct x64 *e, uint32_t site, uint32_t to)
{
    x64_patch32(e, site, to - (site + 4));
}
/* Overwrites the five bytes at an offset with a call. */
X64_INLINE void x64_patch_call(struct x64 *e, uint32_t at, uint32_t to)
{
    e->start[at] = 0xe8;
    x64_aim(e, at + 1, to);
}
