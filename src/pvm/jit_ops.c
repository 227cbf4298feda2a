/* Instructions in a straight line: registers, loads, stores. */
#include "pvm/jit.h"

/* 13 to 15 do not occur. Those without a REX prefix in 32-bit forms go to what programs use most;
 * rdx is where mulx wants an operand. */
const uint8_t pvm_host_registers[16] = {R15, RSI, R8, R9, R10, RBX, RBP, RAX, RDI, RDX, R11, R12,
                                        R14};

/* A 32-bit result in a 64-bit register is sign-extended. */
static void extend(struct jit *j, enum x64_reg reg)
{
    if (!j->narrow) x64_movsxd(&j->e, reg, reg);
}

static void move(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src)
{
    if (dst != src) x64_mov(e, size, dst, src);
}

static struct x64_mem sum(enum x64_reg base, int index, int32_t disp)
{
    return (struct x64_mem){.base = (int8_t)base, .index = (int8_t)index, .disp = disp};
}

/* ---- three registers ---- */

typedef void two_operand(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src);

static inline void commutative(struct jit *j, enum x64_size size, const struct pvm_insn *in,
                               two_operand *op)
{
    enum x64_reg d = host(in->d), a = host(in->a), b = host(in->b);
    if (d == b) {
        op(&j->e, size, d, a);
    } else {
        move(&j->e, size, d, a);
        op(&j->e, size, d, b);
    }
}

static void add(struct jit *j, enum x64_size size, const struct pvm_insn *in)
{
    enum x64_reg d = host(in->d), a = host(in->a), b = host(in->b);
    if (d == a) x64_add(&j->e, size, d, b);
    else if (d == b) x64_add(&j->e, size, d, a);
    else x64_lea(&j->e, size, d, (a & 7) == RBP ? sum(b, (int)a, 0) : sum(a, (int)b, 0));
}

static void subtract(struct jit *j, enum x64_size size, const struct pvm_insn *in)
{
    enum x64_reg d = host(in->d), a = host(in->a), b = host(in->b);
    if (d == b && d != a) {
        x64_neg(&j->e, size, d);
        x64_add(&j->e, size, d, a);
    } else {
        move(&j->e, size, d, a);
        x64_sub(&j->e, size, d, b);
    }
}

typedef void shift_by(struct x64 *e, enum x64_size size, enum x64_reg dst, enum x64_reg src,
                      enum x64_reg count);

static inline void shift(struct jit *j, enum x64_size size, const struct pvm_insn *in, shift_by *op)
{
    op(&j->e, size, host(in->d), host(in->a), host(in->b));
}

static inline void rotate(struct jit *j, enum x64_size size, const struct pvm_insn *in,
                          void op(struct x64 *, enum x64_size, enum x64_reg))
{
    x64_mov(&j->e, X32, RCX, host(in->b));
    move(&j->e, size, host(in->d), host(in->a));
    op(&j->e, size, host(in->d));
}

static void compare_set(struct jit *j, enum x64_cond cond, enum x64_reg dst)
{
    x64_setcc(&j->e, cond, RCX);
    x64_movzx8(&j->e, dst, RCX);
}

/* The left operand stays when cond holds behind cmp left, right. */
static void choose(struct jit *j, const struct pvm_insn *in, enum x64_cond other)
{
    enum x64_reg d = host(in->d), a = host(in->a), b = host(in->b);
    if (d == b) {
        enum x64_reg swap = a;
        a = b;
        b = swap;
    }
    x64_cmp(&j->e, j->word, a, b);
    move(&j->e, j->word, d, a);
    x64_cmov(&j->e, other, j->word, d, b);
}

static void or_inverted(struct jit *j, const struct pvm_insn *in)
{
    x64_mov(&j->e, j->word, RCX, host(in->b));
    x64_not(&j->e, j->word, RCX);
    x64_or(&j->e, j->word, RCX, host(in->a));
    x64_mov(&j->e, j->word, host(in->d), RCX);
}

/* Stubs take the first operand on the stack and the second in rcx, where the result comes back. */
static void by_stub(struct jit *j, const struct pvm_insn *in, struct x64_label *stub,
                    enum x64_size size)
{
    x64_push(&j->e, host(in->a));
    x64_mov(&j->e, j->word, RCX, host(in->b));
    x64_call(&j->e, stub);
    if (size == X32 && !j->narrow)
        x64_movsxd(&j->e, host(in->d), RCX);
    else
        x64_mov(&j->e, size, host(in->d), RCX);
}

static void high_unsigned(struct jit *j, const struct pvm_insn *in)
{
    enum x64_reg a = host(in->a), b = host(in->b), d = host(in->d);
    if (j->narrow) {           /* registers are zero-extended: the product fits 64 bits */
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

/* ---- with an immediate ---- */

static void add_immediate(struct jit *j, enum x64_size size, const struct pvm_insn *in)
{
    enum x64_reg a = host(in->a), b = host(in->b);
    int32_t x = (int32_t)in->imm1;
    if (a == b) x64_add_imm(&j->e, size, a, x);
    else x64_lea(&j->e, size, a, sum(b, X64_NONE, x));
}

typedef void immediate_operand(struct x64 *e, enum x64_size size, enum x64_reg dst, int32_t imm);

static inline void logic_immediate(struct jit *j, const struct pvm_insn *in, immediate_operand *op)
{
    move(&j->e, j->word, host(in->a), host(in->b));
    op(&j->e, j->word, host(in->a), (int32_t)in->imm1);
}

typedef void shift_count(struct x64 *e, enum x64_size size, enum x64_reg dst, unsigned count);

static inline void shift_immediate(struct jit *j, enum x64_size size, const struct pvm_insn *in,
                                   shift_count *op)
{
    unsigned count = (unsigned)in->imm1 & (size == X64 ? 63 : 31);
    move(&j->e, size, host(in->a), host(in->b));
    if (count) op(&j->e, size, host(in->a), count);
}

static void rotate_immediate(struct jit *j, enum x64_size size, const struct pvm_insn *in)
{
    x64_rorx(&j->e, size, host(in->a), host(in->b), (unsigned)in->imm1 & (size == X64 ? 63 : 31));
}

static void scratch_immediate(struct jit *j, enum x64_size size, uint64_t value)
{
    x64_mov_imm(&j->e, RCX, size == X64 ? value : (uint32_t)value);
}

/* The immediate shifted by a register. */
static inline void shift_alt(struct jit *j, enum x64_size size, const struct pvm_insn *in,
                             shift_by *op)
{
    scratch_immediate(j, size, in->imm1);
    op(&j->e, size, host(in->a), RCX, host(in->b));
}

static void rotate_alt(struct jit *j, enum x64_size size, const struct pvm_insn *in)
{
    x64_mov(&j->e, X32, RCX, host(in->b));
    x64_mov_imm(&j->e, host(in->a), size == X64 ? in->imm1 : (uint32_t)in->imm1);
    x64_ror_cl(&j->e, size, host(in->a));
}

static void negate_add(struct jit *j, enum x64_size size, const struct pvm_insn *in)
{
    move(&j->e, size, host(in->a), host(in->b));
    x64_neg(&j->e, size, host(in->a));
    if (in->imm1) x64_add_imm(&j->e, size, host(in->a), (int32_t)in->imm1);
}

static void compare_immediate(struct jit *j, const struct pvm_insn *in, enum x64_cond cond)
{
    x64_cmp_imm(&j->e, j->word, host(in->b), (int32_t)in->imm1);
    compare_set(j, cond, host(in->a));
}

static void move_if(struct jit *j, const struct pvm_insn *in, enum x64_cond cond)
{
    x64_test(&j->e, j->word, host(in->b), host(in->b));
    x64_cmov(&j->e, cond, j->word, host(in->d), host(in->a));
}

static void move_if_immediate(struct jit *j, const struct pvm_insn *in, enum x64_cond cond)
{
    scratch_immediate(j, j->word, in->imm1);
    x64_test(&j->e, j->word, host(in->b), host(in->b));
    x64_cmov(&j->e, cond, j->word, host(in->a), RCX);
}

/* ---- memory ---- */

/* One way to load each type, so that the big switch below is the only one. */
#define LOAD_u8(m)  x64_movzx8_load(&j->e, X32, host(in->a), m)
#define LOAD_i8(m)  x64_movsx8_load(&j->e, j->word, host(in->a), m)
#define LOAD_u16(m) x64_movzx16_load(&j->e, X32, host(in->a), m)
#define LOAD_i16(m) x64_movsx16_load(&j->e, j->word, host(in->a), m)
#define LOAD_u32(m) x64_mov_load(&j->e, X32, host(in->a), m)
#define LOAD_u64(m) x64_mov_load(&j->e, X64, host(in->a), m)
#define LOAD_i32(m)                                                                                \
    x64_form_mem(&j->e, j->narrow ? 0x8b : 0x63, j->word, host(in->a), m, false) /* mov, movsxd */

void pvm_jit_load(struct jit *j, const struct pvm_insn *in, struct x64_mem m)
{
    switch (in->op) {
    case PVM_OP_load_indirect_u8: LOAD_u8(m); break;
    case PVM_OP_load_indirect_i8: LOAD_i8(m); break;
    case PVM_OP_load_indirect_u16: LOAD_u16(m); break;
    case PVM_OP_load_indirect_i16: LOAD_i16(m); break;
    case PVM_OP_load_indirect_u32: LOAD_u32(m); break;
    case PVM_OP_load_indirect_i32: LOAD_i32(m); break;
    default: LOAD_u64(m); break;
    }
}

static inline void store(struct jit *j, unsigned size, struct x64_mem m, enum x64_reg src)
{
    switch (size) {
    case 1: x64_mov_store8(&j->e, m, src); break;
    case 2: x64_mov_store16(&j->e, m, src); break;
    case 4: x64_mov_store(&j->e, X32, m, src); break;
    default: x64_mov_store(&j->e, X64, m, src); break;
    }
}

static void store_immediate(struct jit *j, unsigned size, struct x64_mem m, uint64_t value)
{
    switch (size) {
    case 1: x64_mov_store_imm8(&j->e, m, (uint8_t)value); break;
    case 2: x64_mov_store_imm16(&j->e, m, (uint16_t)value); break;
    case 4: x64_mov_store_imm(&j->e, X32, m, (int32_t)value); break;
    default: x64_mov_store_imm(&j->e, X64, m, (int32_t)value); break;
    }
}

/* ---- all of them ---- */

#define OP(name) case PVM_OP_##name
#define D        host(in->d)
#define A        host(in->a)
#define B        host(in->b)
#define WORD     j->word
#define STORES(name, source)                                                                       \
    OP(name##_u8): source(1); break;                                                               \
    OP(name##_u16): source(2); break;                                                              \
    OP(name##_u32): source(4); break;                                                              \
    OP(name##_u64): source(8); break;
#define LOADS(name, address)                                                                       \
    OP(name##_u8): LOAD_u8(address); break;                                                        \
    OP(name##_i8): LOAD_i8(address); break;                                                        \
    OP(name##_u16): LOAD_u16(address); break;                                                      \
    OP(name##_i16): LOAD_i16(address); break;                                                      \
    OP(name##_u32): LOAD_u32(address); break;                                                      \
    OP(name##_i32): LOAD_i32(address); break;                                                      \
    OP(name##_u64): LOAD_u64(address); break;
#define STORE_X(n)   store(j, n, guest(X64_NONE, in->imm1), A)
#define STORE_B(n)   store(j, n, guest((int)B, in->imm1), A)
#define STORE_IX(n)  store_immediate(j, n, guest(X64_NONE, in->imm1), in->imm2)
#define STORE_IA(n)  store_immediate(j, n, guest((int)A, in->imm1), in->imm2)
#define BOTH(name32, name64, action, reg)                                                          \
    OP(name32): action(X32); extend(j, reg); break;                                                \
    OP(name64): action(X64); break;

void pvm_jit_op(struct jit *j, const struct pvm_insn *in)
{
    struct x64 *e = &j->e;
    switch ((enum pvm_op)in->op) {
    OP(load_imm64):
    OP(load_imm):              /* no instruction leaves flags to another */
        if (in->imm1) x64_mov_imm(e, A, j->narrow ? (uint32_t)in->imm1 : in->imm1);
        else x64_xor(e, X32, A, A);
        break;
    OP(unlikely): break;
    OP(sbrk):
    OP(memset): x64_call(e, &j->step); break; /* the interpreter's */
    OP(move_reg): move(e, X64, D, A); break;
    STORES(store_imm, STORE_IX)
    STORES(store_imm_indirect, STORE_IA)
    STORES(store, STORE_X)
    STORES(store_indirect, STORE_B)
    LOADS(load, guest(X64_NONE, in->imm1))
    LOADS(load_indirect, guest((int)B, in->imm1))

    OP(count_set_bits_64): x64_popcnt(e, X64, D, A); break;
    OP(count_set_bits_32): x64_popcnt(e, X32, D, A); break;
    OP(count_leading_zero_bits_64): x64_lzcnt(e, X64, D, A); break;
    OP(count_leading_zero_bits_32): x64_lzcnt(e, X32, D, A); break;
    OP(count_trailing_zero_bits_64): x64_tzcnt(e, X64, D, A); break;
    OP(count_trailing_zero_bits_32): x64_tzcnt(e, X32, D, A); break;
    OP(sign_extend_8): x64_movsx8(e, WORD, D, A); break;
    OP(sign_extend_16): x64_movsx16(e, WORD, D, A); break;
    OP(zero_extend_16): x64_movzx16(e, X32, D, A); break;
    OP(reverse_byte): move(e, WORD, D, A); x64_bswap(e, WORD, D); break;

#define DO(size) add_immediate(j, size, in)
    BOTH(add_imm_32, add_imm_64, DO, A)
#undef DO
#define DO(size) x64_imul_imm(e, size, A, B, (int32_t)in->imm1)
    BOTH(mul_imm_32, mul_imm_64, DO, A)
#undef DO
#define DO(size) negate_add(j, size, in)
    BOTH(negate_and_add_imm_32, negate_and_add_imm_64, DO, A)
#undef DO
    OP(and_imm):               /* a non-negative immediate clears the upper half */
        if ((int32_t)in->imm1 >= 0) {
            move(e, X32, A, B);
            x64_and_imm(e, X32, A, (int32_t)in->imm1);
        } else {
            logic_immediate(j, in, x64_and_imm);
        }
        break;
    OP(xor_imm):
        if ((int32_t)in->imm1 == -1) {
            move(e, WORD, A, B);
            x64_not(e, WORD, A);
        } else {
            logic_immediate(j, in, x64_xor_imm);
        }
        break;
    OP(or_imm): logic_immediate(j, in, x64_or_imm); break;
    OP(set_less_than_unsigned_imm): compare_immediate(j, in, X64_B); break;
    OP(set_less_than_signed_imm): compare_immediate(j, in, X64_L); break;
    OP(set_greater_than_unsigned_imm): compare_immediate(j, in, X64_A); break;
    OP(set_greater_than_signed_imm): compare_immediate(j, in, X64_G); break;
#define DO(size) shift_immediate(j, size, in, x64_shl_imm)
    BOTH(shift_logical_left_imm_32, shift_logical_left_imm_64, DO, A)
#undef DO
    OP(shift_logical_right_imm_32):
        shift_immediate(j, X32, in, x64_shr_imm);
        if (!(in->imm1 & 31)) extend(j, A); /* else the sign bit is clear */
        break;
    OP(shift_logical_right_imm_64): shift_immediate(j, X64, in, x64_shr_imm); break;
#define DO(size) shift_immediate(j, size, in, x64_sar_imm)
    BOTH(shift_arithmetic_right_imm_32, shift_arithmetic_right_imm_64, DO, A)
#undef DO
#define DO(size) shift_alt(j, size, in, x64_shlx)
    BOTH(shift_logical_left_imm_alt_32, shift_logical_left_imm_alt_64, DO, A)
#undef DO
#define DO(size) shift_alt(j, size, in, x64_shrx)
    BOTH(shift_logical_right_imm_alt_32, shift_logical_right_imm_alt_64, DO, A)
#undef DO
#define DO(size) shift_alt(j, size, in, x64_sarx)
    BOTH(shift_arithmetic_right_imm_alt_32, shift_arithmetic_right_imm_alt_64, DO, A)
#undef DO
#define DO(size) rotate_immediate(j, size, in)
    BOTH(rotate_right_imm_32, rotate_right_imm_64, DO, A)
#undef DO
#define DO(size) rotate_alt(j, size, in)
    BOTH(rotate_right_imm_alt_32, rotate_right_imm_alt_64, DO, A)
#undef DO
    OP(cmov_if_zero_imm): move_if_immediate(j, in, X64_E); break;
    OP(cmov_if_not_zero_imm): move_if_immediate(j, in, X64_NE); break;

#define DO(size) add(j, size, in)
    BOTH(add_32, add_64, DO, D)
#undef DO
#define DO(size) subtract(j, size, in)
    BOTH(sub_32, sub_64, DO, D)
#undef DO
#define DO(size) commutative(j, size, in, x64_imul)
    BOTH(mul_32, mul_64, DO, D)
#undef DO
#define DO(size) shift(j, size, in, x64_shlx)
    BOTH(shift_logical_left_32, shift_logical_left_64, DO, D)
#undef DO
#define DO(size) shift(j, size, in, x64_shrx)
    BOTH(shift_logical_right_32, shift_logical_right_64, DO, D)
#undef DO
#define DO(size) shift(j, size, in, x64_sarx)
    BOTH(shift_arithmetic_right_32, shift_arithmetic_right_64, DO, D)
#undef DO
#define DO(size) rotate(j, size, in, x64_rol_cl)
    BOTH(rotate_left_32, rotate_left_64, DO, D)
#undef DO
#define DO(size) rotate(j, size, in, x64_ror_cl)
    BOTH(rotate_right_32, rotate_right_64, DO, D)
#undef DO
    OP(div_unsigned_32): by_stub(j, in, &j->divide[0], X32); break;
    OP(div_signed_32): by_stub(j, in, &j->divide[1], X32); break;
    OP(rem_unsigned_32): by_stub(j, in, &j->divide[2], X32); break;
    OP(rem_signed_32): by_stub(j, in, &j->divide[3], X32); break;
    OP(div_unsigned_64): by_stub(j, in, &j->divide[4], X64); break;
    OP(div_signed_64): by_stub(j, in, &j->divide[5], X64); break;
    OP(rem_unsigned_64): by_stub(j, in, &j->divide[6], X64); break;
    OP(rem_signed_64): by_stub(j, in, &j->divide[7], X64); break;
    OP(and): commutative(j, WORD, in, x64_and); break;
    OP(xor): commutative(j, WORD, in, x64_xor); break;
    OP(or): commutative(j, WORD, in, x64_or); break;
    OP(and_inverted): x64_andn(e, WORD, D, B, A); break;
    OP(or_inverted): or_inverted(j, in); break;
    OP(xnor): commutative(j, WORD, in, x64_xor); x64_not(e, WORD, D); break;
    OP(mul_upper_signed_signed): by_stub(j, in, &j->high_ss, WORD); break;
    OP(mul_upper_unsigned_unsigned): high_unsigned(j, in); break;
    OP(mul_upper_signed_unsigned): by_stub(j, in, &j->high_su, WORD); break;
    OP(set_less_than_unsigned): x64_cmp(e, WORD, A, B); compare_set(j, X64_B, D); break;
    OP(set_less_than_signed): x64_cmp(e, WORD, A, B); compare_set(j, X64_L, D); break;
    OP(cmov_if_zero): move_if(j, in, X64_E); break;
    OP(cmov_if_not_zero): move_if(j, in, X64_NE); break;
    OP(maximum): choose(j, in, X64_L); break;
    OP(maximum_unsigned): choose(j, in, X64_B); break;
    OP(minimum): choose(j, in, X64_G); break;
    OP(minimum_unsigned): choose(j, in, X64_A); break;

    default: break;            /* the others are the caller's */
    }
}
