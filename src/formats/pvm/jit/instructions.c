/* Goes through a program, decodes each instruction and writes its code. */
#include "pvm/jit/fuse.h"
#include "pvm/jit/flow.h"

/* The table has the host's register for each guest register. The registers that programs use
 * most get host registers that need no REX prefix in 32-bit forms. rdx is where mulx needs an
 * operand. The fields 13 to 15 mean register 12. */
const uint8_t pvm_host_registers[16] = {R15, RSI, R8,  R9,  R10, RBX, RBP, RAX,
                                        RDI, RDX, R11, R12, R14, R14, R14, R14};

#define OP(name) case PVM_OP_##name
/* clang-format off */
#define D        reg_d(&in)
#define A        reg_a(&in)
#define B        reg_b(&in)
#define WORD     j->word
#define SIZES(name, source)                                                                        \
    OP(name##_u8): source(1); break;                                                               \
    OP(name##_u16): source(2); break;                                                              \
    OP(name##_u32): source(4); break;                                                              \
    OP(name##_u64): source(8); break;
#define LOADS_AND_STORES(load, store)                                                              \
    OP(load##_u8): OP(load##_i8): OP(load##_u16): OP(load##_i16): OP(load##_u32):                  \
    OP(load##_i32): OP(load##_u64): OP(store##_u8): OP(store##_u16): OP(store##_u32):              \
    OP(store##_u64)
#define STORE_IX(n)  x = imms_alone(&in), store_immediate(j, n, emit_guest(X64_NONE, x.first), x.second)
#define STORE_IA(n)  x = decode_imms(&in), store_immediate(j, n, emit_guest((int)A, x.first), x.second)
/* BOTH makes the cases for a 32-bit form, whose result is extended, and for the 64-bit form. */
#define BOTH(name, reg, ...)                                                                       \
    OP(name##_32): {                                                                               \
        const enum x64_size size = X32;                                                            \
        __VA_ARGS__;                                                                               \
        emit_extend(j, reg);                                                                            \
        break;                                                                                     \
    }                                                                                              \
    OP(name##_64): {                                                                               \
        const enum x64_size size = X64;                                                            \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

/* GROUP writes `in` and the instructions after it as a group, if they form one. */
#define GROUP(may, fuse)                                                                           \
    if (may) {                                                                                     \
        struct jit_group group = fuse(j, pc);                                                      \
        if (group.count) {                                                                         \
            b.count += group.count - 1u;                                                           \
            in.length = group.length;                                                              \
            break;                                                                                 \
        }                                                                                          \
    }
/* COMPARED notes the result of a comparison, so that a branch which follows need not test it. */
#define COMPARED(reg, condition)                                                                   \
    compared = (reg), cond = (condition), b.compared = pc + in.length

/* The tables below are for loads, stores and the conditions of branches. */

#define LOADS(name, word, signed32)                                                                \
    [PVM_OP_##name##_u8] = {0x0fb6, X32, false, 0},                                                \
    [PVM_OP_##name##_i8] = {0x0fbe, word, false, 0},                                               \
    [PVM_OP_##name##_u16] = {0x0fb7, X32, false, 0},                                               \
    [PVM_OP_##name##_i16] = {0x0fbf, word, false, 0},                                              \
    [PVM_OP_##name##_u32] = {0x8b, X32, false, 0},                                                 \
    [PVM_OP_##name##_i32] = {signed32, word, false, 0},                                            \
    [PVM_OP_##name##_u64] = {0x8b, X64, false, 0}
#define STORES(name)                                                                               \
    [PVM_OP_##name##_u8] = {0x88, X32, true, 0},                                                   \
    [PVM_OP_##name##_u16] = {0x660089, X32, false, 0},                                             \
    [PVM_OP_##name##_u32] = {0x89, X32, false, 0}, [PVM_OP_##name##_u64] = {0x89, X64, false, 0}
#define BRANCH(name, cond) [PVM_OP_branch_##name] = {0, 0, 0, cond}
#define FORMS(word, signed32)                                                                      \
    LOADS(load, word, signed32), LOADS(load_indirect, word, signed32), STORES(store),              \
    STORES(store_indirect), BRANCH(eq, X64_E), BRANCH(not_eq, X64_NE),                             \
    BRANCH(less_unsigned, X64_B), BRANCH(less_signed, X64_L),                                      \
    BRANCH(greater_or_equal_unsigned, X64_AE), BRANCH(greater_or_equal_signed, X64_GE),            \
    BRANCH(eq_imm, X64_E), BRANCH(not_eq_imm, X64_NE), BRANCH(less_unsigned_imm, X64_B),           \
    BRANCH(less_signed_imm, X64_L), BRANCH(greater_or_equal_unsigned_imm, X64_AE),                 \
    BRANCH(greater_or_equal_signed_imm, X64_GE), BRANCH(less_or_equal_unsigned_imm, X64_BE),       \
    BRANCH(less_or_equal_signed_imm, X64_LE), BRANCH(greater_unsigned_imm, X64_A),                 \
    BRANCH(greater_signed_imm, X64_G)
/* clang-format on */
/* The macro's argument is the opcode of load_i32: movsxd (0x63) extends to 64 bits; for 32 bits
 * mov (0x8b) is enough. */
const struct jit_form pvm_jit_forms[2][PVM_OPS] = {{FORMS(X64, 0x63)}, {FORMS(X32, 0x8b)}};

struct block {         /* A struct block is the block that is being written. */
    uint32_t first;    /* the pc at which the block starts */
    uint32_t count;    /* how many instructions the block has so far */
    uint32_t start;    /* the native offset of the block's charge */
    uint32_t compared; /* the pc of a branch that can use the processor's flags as they are */
};

/* Marks that a block starts at pc, after the instruction with this op and length. */
X64_INLINE void instructions_mark(struct jit *j, uint32_t pc, enum pvm_op op, unsigned length)
{
    const struct pvm_code *code = &j->p->code;
    j->n->block_starts[pc >> 3] |= (uint8_t)(1u << (pc & 7));
    bool target; /* The answer is that of pvm_is_target, found from what is known here. */
    if (code->doc || !pc)
        target = pvm_is_target(code, pc);
    else if (!pvm_starts(code, pc) || op == PVM_OP_invalid)
        target = false;
    else if (code->gp)
        target = j->decoder.ops[code->bytes.data[pc]] != PVM_OP_invalid;
    else
        target = length <= PVM_SKIP_MAX || pc % 8;
    if (!target && pc < j->size) pvm_jit_odd(j, pc);
}

/* Writes the charge of a block. end_charge puts in the cost when the block is written. */
X64_INLINE void begin_charge(struct jit *j, uint32_t pc)
{
    uint32_t start = x64_here(&j->e);
    memcpy(j->e.at, j->charge, sizeof j->charge);
    j->e.at += j->n->charge_size;
    if (j->n->metered && !j->n->async) pvm_jit_cold(j, start + JIT_CHARGE_JUMP, pc, PVM_COLD_GAS);
}

X64_INLINE void end_charge(struct jit *j, const struct block *b)
{
    if (!j->n->metered) return;
    x64_patch32(&j->e, b->start + JIT_CHARGE_NUMBER,
                j->p->wide_charges ? pvm_jit_cost(j, b->first) : b->count);
}

void pvm_jit_charge(struct jit *j)
{
    struct x64 e = j->e;
    x64_sub_imm32(&e, X64, GAS_REGISTER, 0);
    x64_jcc_later(&e, X64_B);
    memcpy(j->charge, j->e.at, sizeof j->charge);
}

X64_INLINE enum x64_cond instructions_condition(const struct jit_insn *in)
{
    return (enum x64_cond)pvm_jit_forms[0][in->op].cond;
}

/* Notes where the code of the instruction at pc starts. */
X64_INLINE void instructions_place(struct jit *j, uint32_t pc, uint32_t offset)
{
    if (pvm_native_place(j->n, pc))
        j->n->offsets[pvm_native_number(j->n, pc)] = offset;
    else
        pvm_jit_give_up(j); /* No instruction was expected at this pc. */
}

/* Tells whether a block starts at pc of a doc program although no instruction before it ends
 * one. */
X64_INLINE bool doc_target(const struct jit *j, uint32_t pc)
{
    return j->p->code.doc && pc < j->size && pvm_is_target(&j->p->code, pc);
}

/* An instruction without a case is an error when this file is compiled. */
#pragma GCC diagnostic error "-Wswitch"
uint32_t pvm_jit_blocks(struct jit *j, uint32_t pc, bool one)
{
    struct x64 *e = &j->e;
    /* The decoder is copied, because loops and copies call this function again. */
    struct jit_decoder decoder = j->decoder;
    const bool copying = j->copying;
    struct jit_insn in = {0};
    struct jit_pair x;
    if (!one && j->work) pvm_jit_decoder_asks(&decoder, pc, j);
    uint32_t target;
    enum x64_reg compared = RCX;
    enum x64_cond cond = X64_E;
    struct block b;

block:
    b.first = pc;
    b.count = 0;
    b.start = x64_here(e);
    target = b.compared = UINT32_MAX;
    if (!one) instructions_mark(j, pc, (enum pvm_op)in.op, in.length);
    begin_charge(j, pc);
    for (;; pc += in.length) {
        if (b.count && doc_target(j, pc)) goto split;
        jit_decode(&decoder, pc, &in);
        if (x64_full(e)) return pc;
        if (copying)
            pvm_jit_place_copy(j, pc);
        else
            instructions_place(j, pc, x64_here(e));
        b.count++;
        /* clang-format off */
        switch ((enum pvm_op)in.op) {
        OP(load_imm64): load_immediate(j, A, decode_imm64(&in)); break;
        OP(load_imm): load_immediate(j, A, decode_imm(&in)); break;
        OP(unlikely): break;
        OP(sbrk):
        OP(memset): flow_step(j); break; /* The interpreter does these instructions. */
        OP(move_reg): x64_move(e, X64, A, B); break;
        SIZES(store_imm, STORE_IX)
        SIZES(store_imm_indirect, STORE_IA)
        LOADS_AND_STORES(load, store): access_memory(j, &in, emit_guest(X64_NONE, decode_imm(&in))); break;
        LOADS_AND_STORES(load_indirect, store_indirect):
            access_memory(j, &in, emit_guest((int)B, decode_imm(&in)));
            break;

        OP(count_set_bits_64): x64_popcnt(e, X64, A, B); break;
        OP(count_set_bits_32): x64_popcnt(e, X32, A, B); break;
        OP(count_leading_zero_bits_64): x64_lzcnt(e, X64, A, B); break;
        OP(count_leading_zero_bits_32): x64_lzcnt(e, X32, A, B); break;
        OP(count_trailing_zero_bits_64): x64_tzcnt(e, X64, A, B); break;
        OP(count_trailing_zero_bits_32): x64_tzcnt(e, X32, A, B); break;
        OP(sign_extend_8): x64_movsx8(e, WORD, A, B); break;
        OP(sign_extend_16): x64_movsx16(e, WORD, A, B); break;
        OP(zero_extend_16): x64_movzx16(e, X32, A, B); break;
        OP(reverse_byte): x64_move(e, WORD, A, B); x64_bswap(e, WORD, A); break;

        OP(add_imm_32):
            GROUP(j->writes && !j->narrow, pvm_jit_widen)
            add_immediate(j, X32, &in);
            emit_extend(j, A);
            break;
        OP(add_imm_64): add_immediate(j, X64, &in); break;
        BOTH(mul_imm, A, x64_imul_imm(e, size, A, B, (int32_t)decode_imm(&in)))
        BOTH(negate_and_add_imm, A, negate_add(j, size, &in))
        OP(and_imm):               /* A non-negative immediate clears the upper half. */
            if ((int32_t)decode_imm(&in) >= 0) {
                x64_move(e, X32, A, B);
                x64_and_imm(e, X32, A, (int32_t)decode_imm(&in));
            } else {
                logic_immediate(j, &in, x64_and_imm);
            }
            break;
        OP(xor_imm):
            if ((int32_t)decode_imm(&in) == -1) {
                x64_move(e, WORD, A, B);
                x64_not(e, WORD, A);
            } else {
                logic_immediate(j, &in, x64_xor_imm);
            }
            break;
        OP(or_imm): logic_immediate(j, &in, x64_or_imm); break;
        OP(set_less_than_unsigned_imm): COMPARED(A, X64_B); goto compare_immediate;
        OP(set_less_than_signed_imm): COMPARED(A, X64_L); goto compare_immediate;
        OP(set_greater_than_unsigned_imm): COMPARED(A, X64_A); goto compare_immediate;
        OP(set_greater_than_signed_imm): COMPARED(A, X64_G); goto compare_immediate;
        OP(shift_logical_left_imm_32):
            GROUP(j->narrow && in.in_place, pvm_jit_fuse_shift)
            shift_immediate(j, X32, &in, x64_shl_imm);
            emit_extend(j, A);
            break;
        OP(shift_logical_left_imm_64):
            GROUP(in.in_place, pvm_jit_fuse_shift)
            shift_immediate(j, X64, &in, x64_shl_imm);
            break;
        OP(shift_logical_right_imm_32):
            shift_immediate(j, X32, &in, x64_shr_imm);
            /* After a shift by 1 or more the sign bit is clear. */
            if (!(decode_imm(&in) & 31)) emit_extend(j, A);
            break;
        OP(shift_logical_right_imm_64): shift_immediate(j, X64, &in, x64_shr_imm); break;
        BOTH(shift_arithmetic_right_imm, A, shift_immediate(j, size, &in, x64_sar_imm))
        BOTH(shift_logical_left_imm_alt, A, shift_alt(j, size, &in, x64_shlx))
        BOTH(shift_logical_right_imm_alt, A, shift_alt(j, size, &in, x64_shrx))
        BOTH(shift_arithmetic_right_imm_alt, A, shift_alt(j, size, &in, x64_sarx))
        BOTH(rotate_right_imm, A, rotate_immediate(j, size, &in))
        BOTH(rotate_right_imm_alt, A, rotate_alt(j, size, &in))
        OP(cmov_if_zero_imm): move_if_immediate(j, &in, X64_E); break;
        OP(cmov_if_not_zero_imm): move_if_immediate(j, &in, X64_NE); break;

        OP(add_32):
            GROUP(j->writes && !j->narrow, pvm_jit_widen)
            GROUP(jit_is_load(jit_op_after(j, &in)), pvm_jit_fuse_add)
            emit_add(j, X32, &in);
            emit_extend(j, D);
            break;
        OP(add_64):
            GROUP(jit_is_load(jit_op_after(j, &in)), pvm_jit_fuse_add)
            emit_add(j, X64, &in);
            break;
        BOTH(sub, D, emit_subtract(j, size, &in))
        BOTH(mul, D, emit_commutative(j, size, &in, x64_imul))
        BOTH(shift_logical_left, D, emit_shift(j, size, &in, x64_shlx))
        BOTH(shift_logical_right, D, emit_shift(j, size, &in, x64_shrx))
        BOTH(shift_arithmetic_right, D, emit_shift(j, size, &in, x64_sarx))
        BOTH(rotate_left, D, emit_rotate(j, size, &in, x64_rol_cl))
        BOTH(rotate_right, D, emit_rotate(j, size, &in, x64_ror_cl))
        OP(div_unsigned_32): by_stub(j, &in, &j->divide[0], X32); break;
        OP(div_signed_32): by_stub(j, &in, &j->divide[1], X32); break;
        OP(rem_unsigned_32): by_stub(j, &in, &j->divide[2], X32); break;
        OP(rem_signed_32): by_stub(j, &in, &j->divide[3], X32); break;
        OP(div_unsigned_64): by_stub(j, &in, &j->divide[4], X64); break;
        OP(div_signed_64): by_stub(j, &in, &j->divide[5], X64); break;
        OP(rem_unsigned_64): by_stub(j, &in, &j->divide[6], X64); break;
        OP(rem_signed_64): by_stub(j, &in, &j->divide[7], X64); break;
        OP(and): emit_commutative(j, WORD, &in, x64_and); break;
        OP(xor): emit_commutative(j, WORD, &in, x64_xor); break;
        OP(or): emit_commutative(j, WORD, &in, x64_or); break;
        OP(and_inverted): x64_andn(e, WORD, D, B, A); break;
        OP(or_inverted): or_inverted(j, &in); break;
        OP(xnor): emit_commutative(j, WORD, &in, x64_xor); x64_not(e, WORD, D); break;
        OP(mul_upper_signed_signed): by_stub(j, &in, &j->high_ss, WORD); break;
        OP(mul_upper_unsigned_unsigned): high_unsigned(j, &in); break;
        OP(mul_upper_signed_unsigned): by_stub(j, &in, &j->high_su, WORD); break;
        OP(set_less_than_unsigned): COMPARED(D, X64_B); goto compare_registers;
        OP(set_less_than_signed): COMPARED(D, X64_L); goto compare_registers;
        OP(cmov_if_zero): move_if(j, &in, X64_E); break;
        OP(cmov_if_not_zero): move_if(j, &in, X64_NE); break;
        OP(maximum): emit_choose(j, &in, X64_L); break;
        OP(maximum_unsigned): emit_choose(j, &in, X64_B); break;
        OP(minimum): emit_choose(j, &in, X64_G); break;
        OP(minimum_unsigned): emit_choose(j, &in, X64_A); break;


        /* The instructions below end a block. */

        OP(branch_eq): OP(branch_not_eq): OP(branch_less_unsigned): OP(branch_less_signed):
        OP(branch_greater_or_equal_unsigned): OP(branch_greater_or_equal_signed):
            target = pc + (uint32_t)decode_imm(&in);
            if (!may_branch(j, &in, target)) goto leave;
            if (target <= pc) flow_poll(j, &in);
            x64_cmp(e, WORD, A, B);
            flow_branch(j, pc, target, instructions_condition(&in));
            goto ended;
        OP(branch_eq_imm): OP(branch_not_eq_imm): OP(branch_less_unsigned_imm):
        OP(branch_less_signed_imm): OP(branch_greater_or_equal_unsigned_imm):
        OP(branch_greater_or_equal_signed_imm): OP(branch_less_or_equal_unsigned_imm):
        OP(branch_less_or_equal_signed_imm): OP(branch_greater_unsigned_imm):
        OP(branch_greater_signed_imm):
            x = decode_imms(&in);
            target = pc + (uint32_t)x.second;
            if (!may_branch(j, &in, target)) goto leave;
            if (target <= pc) flow_poll(j, &in);
            if (b.compared == pc && compared == A && !x.first && !j->n->poll &&
                (instructions_condition(&in) | 1) == X64_NE) {
                /* The flags are set already, so the branch has no code that could be entered at
                 * it. */
                cond ^= instructions_condition(&in) == X64_E;
                if (!copying) instructions_place(j, pc, 0);
            } else {
                cond = instructions_condition(&in);
                compare_with(j, A, x.first);
            }
            flow_branch(j, pc, target, cond);
            goto ended;
        OP(jump):
            target = pc + (uint32_t)imm_alone(&in);
            if (!may_go(j, pc, target)) goto leave;
            if (target <= pc) {
                if (pvm_jit_copy_dispatch(j, target)) goto ended;
                flow_poll(j, &in);
            }
            flow_jump(j, pc, target);
            goto ended;
        OP(load_imm_and_jump):
            x = decode_imms(&in);
            target = pc + (uint32_t)x.second;
            if (!may_go(j, pc, target)) goto leave;
            if (target <= pc) flow_poll(j, &in);
            x64_mov_imm(e, A, j->narrow ? (uint32_t)x.first : x.first);
            flow_jump(j, pc, target);
            goto ended;
        OP(jump_indirect):
            flow_poll(j, &in);
            jump_indirect(j, &in);
            if (!one) pvm_jit_dispatch(j, pc, (unsigned)in.word);
            goto ended;
        OP(load_imm_and_jump_indirect):
            flow_poll(j, &in);
            load_imm_and_jump_indirect(j, &in);
            goto ended;
        OP(fallthrough):
            if ((uint64_t)pc + in.length >= j->size && !j->p->profile->fall_off) goto leave;
            goto ended;
        OP(ecalli): host_call(j, &in); break;
        OP(trap): OP(invalid): case PVM_OPS: goto leave;

        /* Several instructions share the code below. */

        compare_immediate:
            compare_begin(j);
            x64_cmp_imm(e, WORD, B, (int32_t)decode_imm(&in));
            compare_end(j, cond, compared);
            break;
        compare_registers:
            compare_begin(j);
            x64_cmp(e, WORD, A, B);
            compare_end(j, cond, compared);
            break;
        leave:
            flow_step(j);
            goto ended;
        }
        /* clang-format on */
    }
ended:
    pc += in.length;
split:
    end_charge(j, &b);
    if (one) {
        j->count = b.count;
        return pc;
    }
    if (target == b.first && pvm_ops[in.op].flow == PVM_FLOW_BRANCH)
        pvm_jit_loop(j, b.start, b.first, pc, b.count);
    if (in.pc < j->size && (pc < j->size || pvm_falls_through((enum pvm_op)in.op))) goto block;
    return pc;
}
