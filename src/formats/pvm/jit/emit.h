/* Writes the code of instructions that do not jump. For speed all of this is inlined into
 * pvm_jit_blocks. */
#pragma once
#include "pvm/jit/decode.h"

/* Returns the memory operand for a guest address. */
X64_INLINE struct x64_mem emit_guest(int base, uint64_t disp)
{
    return (struct x64_mem){.base = (int8_t)base,
                            .index = X64_NONE,
                            .gs = true,
                            .narrow = true,
                            .disp = (int32_t)(uint32_t)disp};
}

/* Sign-extends a 32-bit result in a 64-bit register of the host. */
X64_INLINE void emit_extend(struct jit *j, enum x64_reg reg)
{
    if (!j->narrow) x64_movsxd(&j->e, reg, reg);
}

X64_INLINE struct x64_mem emit_sum(enum x64_reg base, int index, int32_t disp)
{
    return (struct x64_mem){.base = (int8_t)base, .index = (int8_t)index, .disp = disp};
}

/* The functions below are for instructions with three registers. */

typedef void two_operand(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src);

X64_INLINE void emit_commutative(struct jit *j, enum x64_size size, const struct jit_insn *in,
                                 two_operand *op)
{
    enum x64_reg d = reg_d(in), a = reg_a(in), b = reg_b(in);
    bool swap = d == b;
    x64_move(&j->e, size, d, swap ? d : a);
    op(&j->e, size, d, swap ? a : b);
}

X64_INLINE void emit_add(struct jit *j, enum x64_size size, const struct jit_insn *in)
{
    enum x64_reg d = reg_d(in), a = reg_a(in), b = reg_b(in);
    if (d == a || d == b)
        x64_add(&j->e, size, d, d == a ? b : a);
    else
        x64_lea(&j->e, size, d, (a & 7) == RBP ? emit_sum(b, (int)a, 0) : emit_sum(a, (int)b, 0));
}

X64_INLINE void emit_subtract(struct jit *j, enum x64_size size, const struct jit_insn *in)
{
    enum x64_reg d = reg_d(in), a = reg_a(in), b = reg_b(in);
    if (d == b && d != a) {
        x64_neg(&j->e, size, d);
        x64_add(&j->e, size, d, a);
    } else {
        x64_move(&j->e, size, d, a);
        x64_sub(&j->e, size, d, b);
    }
}

typedef void shift_by(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src,
                      enum x64_reg count);

X64_INLINE void emit_shift(struct jit *j, enum x64_size size, const struct jit_insn *in,
                           shift_by *op)
{
    op(&j->e, size, reg_d(in), reg_a(in), reg_b(in));
}

X64_INLINE void emit_rotate(struct jit *j, enum x64_size size, const struct jit_insn *in,
                            void op(struct x64 *, enum x64_size, enum x64_reg))
{
    x64_mov(&j->e, X32, RCX, reg_b(in));
    x64_move(&j->e, size, reg_d(in), reg_a(in));
    op(&j->e, size, reg_d(in));
}

/* compare_begin and compare_end stand before and after a comparison whose result goes to a
 * register. rcx is cleared first: to set a byte of its old value would make each comparison wait
 * for the one before. */
X64_INLINE void compare_begin(struct jit *j) { x64_xor(&j->e, X32, RCX, RCX); }

X64_INLINE void compare_end(struct jit *j, enum x64_cond cond, enum x64_reg dst)
{
    x64_setcc(&j->e, cond, RCX);
    x64_mov(&j->e, X32, dst, RCX);
}

/* Computes minimum and maximum: the result is the second operand if `other` holds after the
 * comparison, else the first. */
X64_INLINE void emit_choose(struct jit *j, const struct jit_insn *in, enum x64_cond other)
{
    enum x64_reg d = reg_d(in), a = reg_a(in), b = reg_b(in);
    if (d == b) {
        enum x64_reg swap = a;
        a = b;
        b = swap;
    }
    x64_cmp(&j->e, j->word, a, b);
    x64_move(&j->e, j->word, d, a);
    x64_cmov(&j->e, other, j->word, d, b);
}

X64_INLINE void or_inverted(struct jit *j, const struct jit_insn *in)
{
    x64_mov(&j->e, j->word, RCX, reg_b(in));
    x64_not(&j->e, j->word, RCX);
    x64_or(&j->e, j->word, RCX, reg_a(in));
    x64_mov(&j->e, j->word, reg_d(in), RCX);
}

/* Calls a stub, which takes the first operand on the stack and the second in rcx, and leaves the
 * result in rcx. */
X64_INLINE void by_stub(struct jit *j, const struct jit_insn *in, struct x64_label *stub,
                        enum x64_size size)
{
    x64_push(&j->e, reg_a(in));
    x64_mov(&j->e, j->word, RCX, reg_b(in));
    x64_call_to(&j->e, stub->at - 1);
    if (size == X32 && !j->narrow)
        x64_movsxd(&j->e, reg_d(in), RCX);
    else
        x64_mov(&j->e, size, reg_d(in), RCX);
}

X64_INLINE void high_unsigned(struct jit *j, const struct jit_insn *in)
{
    enum x64_reg a = reg_a(in), b = reg_b(in), d = reg_d(in);
    /* Registers of a 32-bit program are zero-extended, so the product fits in 64 bits. */
    if (j->narrow) {
        x64_mov(&j->e, X32, RCX, a);
        x64_imul(&j->e, X64, RCX, b);
        x64_shr_imm(&j->e, X64, RCX, 32);
        x64_mov(&j->e, X32, d, RCX);
        return;
    }
    if (b == RDX) {
        b = a;
        a = RDX;
    }
    if (a == RDX) {
        x64_mulx(&j->e, X64, d, d, b);
        return;
    }
    x64_mov(&j->e, X64, RCX, RDX);
    x64_mov(&j->e, X64, RDX, a);
    x64_mulx(&j->e, X64, d, d, b);
    if (d != RDX) x64_mov(&j->e, X64, RDX, RCX);
}

/* The functions below are for instructions with an immediate. */

/* Adds an immediate by lea, even where add would do. lea is as short and as fast, and saves the
 * compiler a branch. */
X64_INLINE void add_immediate(struct jit *j, enum x64_size size, const struct jit_insn *in)
{
    x64_lea(&j->e, size, reg_a(in), emit_sum(reg_b(in), X64_NONE, (int32_t)decode_imm(in)));
}

typedef void immediate_operand(struct x64 *e, enum x64_size size, enum x64_reg dst, int32_t imm);

X64_INLINE void logic_immediate(struct jit *j, const struct jit_insn *in, immediate_operand *op)
{
    x64_move(&j->e, j->word, reg_a(in), reg_b(in));
    op(&j->e, j->word, reg_a(in), (int32_t)decode_imm(in));
}

typedef void shift_count(struct x64 *e, enum x64_size size, enum x64_reg dst, unsigned count);

X64_INLINE void shift_immediate(struct jit *j, enum x64_size size, const struct jit_insn *in,
                                shift_count *op)
{
    unsigned count = (unsigned)decode_imm(in) & (size == X64 ? 63 : 31);
    x64_move(&j->e, size, reg_a(in), reg_b(in));
    if (count) op(&j->e, size, reg_a(in), count);
}

X64_INLINE void rotate_immediate(struct jit *j, enum x64_size size, const struct jit_insn *in)
{
    x64_rorx(&j->e, size, reg_a(in), reg_b(in), (unsigned)decode_imm(in) & (size == X64 ? 63 : 31));
}

X64_INLINE void scratch_immediate(struct jit *j, enum x64_size size, uint64_t value)
{
    x64_mov_imm(&j->e, RCX, size == X64 ? value : (uint32_t)value);
}

/* Shifts the immediate by the number in a register. */
X64_INLINE void shift_alt(struct jit *j, enum x64_size size, const struct jit_insn *in,
                          shift_by *op)
{
    scratch_immediate(j, size, decode_imm(in));
    op(&j->e, size, reg_a(in), RCX, reg_b(in));
}

X64_INLINE void rotate_alt(struct jit *j, enum x64_size size, const struct jit_insn *in)
{
    x64_mov(&j->e, X32, RCX, reg_b(in));
    x64_mov_imm(&j->e, reg_a(in), size == X64 ? decode_imm(in) : (uint32_t)decode_imm(in));
    x64_ror_cl(&j->e, size, reg_a(in));
}

X64_INLINE void negate_add(struct jit *j, enum x64_size size, const struct jit_insn *in)
{
    x64_move(&j->e, size, reg_a(in), reg_b(in));
    x64_neg(&j->e, size, reg_a(in));
    if (decode_imm(in)) x64_add_imm(&j->e, size, reg_a(in), (int32_t)decode_imm(in));
}

/* Loads an immediate. Zero is loaded by xor, which changes the flags: only a comparison leaves
 * flags for the next instruction. */
X64_INLINE void load_immediate(struct jit *j, enum x64_reg reg, uint64_t value)
{
    if (value)
        x64_mov_imm(&j->e, reg, j->narrow ? (uint32_t)value : value);
    else
        x64_xor(&j->e, X32, reg, reg);
}

X64_INLINE void compare_with(struct jit *j, enum x64_reg reg, uint64_t value)
{
    if (value)
        x64_cmp_imm(&j->e, j->word, reg, (int32_t)value);
    else
        x64_test(&j->e, j->word, reg, reg);
}

X64_INLINE void move_if(struct jit *j, const struct jit_insn *in, enum x64_cond cond)
{
    x64_test(&j->e, j->word, reg_b(in), reg_b(in));
    x64_cmov(&j->e, cond, j->word, reg_d(in), reg_a(in));
}

X64_INLINE void move_if_immediate(struct jit *j, const struct jit_insn *in, enum x64_cond cond)
{
    scratch_immediate(j, j->word, decode_imm(in));
    x64_test(&j->e, j->word, reg_b(in), reg_b(in));
    x64_cmov(&j->e, cond, j->word, reg_a(in), RCX);
}

/* A struct jit_form says how loads, stores and branches differ from each other. Reading it from
 * a table saves the compiler a jump that could be mispredicted. */
struct jit_form {
    uint32_t op; /* the opcode of the host's instruction, for x64_form_mem */
    uint8_t size, bytes, cond;
};
/* pvm_jit_forms[0] is for 64-bit programs, pvm_jit_forms[1] for 32-bit programs. */
extern const struct jit_form pvm_jit_forms[2][PVM_OPS];

X64_INLINE void access_memory(struct jit *j, const struct jit_insn *in, struct x64_mem m)
{
    const struct jit_form *f = &pvm_jit_forms[j->narrow][in->op];
    x64_form_mem(&j->e, f->op, (enum x64_size)f->size, reg_a(in), m, f->bytes);
}

X64_INLINE void store_immediate(struct jit *j, unsigned size, struct x64_mem m, uint64_t value)
{
    switch (size) {
    case 1: x64_mov_store_imm8(&j->e, m, (uint8_t)value); break;
    case 2: x64_mov_store_imm16(&j->e, m, (uint16_t)value); break;
    case 4: x64_mov_store_imm(&j->e, X32, m, (int32_t)value); break;
    default: x64_mov_store_imm(&j->e, X64, m, (int32_t)value); break;
    }
}
