/* Lowers instructions that compute, load and store. An instruction that needs an extra register
 * borrows one, and keeps the value of that register in memory meanwhile. That is safe because
 * guests have one thread. */
#include "pvm/link/lower.h"
#include "base/array.h"
#include <stdio.h>

void lower_put(struct lowering *w, struct link_insn in)
{
    struct link *l = w->l;
    in.section = w->section;
    in.offset = (uint32_t)w->offset;
    if (ARRAY_GROW(l->insns, l->insn_capacity, l->insn_count, &l->err))
        l->insns[l->insn_count++] = in;
}

void lower_put_imm(struct lowering *w, uint8_t d, int64_t value)
{
    lower_put(w, (struct link_insn){.op = PVM_OP_load_imm, .a = d, .imm1 = value});
}
static void put_move(struct lowering *w, uint8_t d, uint8_t a)
{
    if (a == ZERO)
        lower_put_imm(w, d, 0);
    else if (a != d)
        lower_put(w, (struct link_insn){.op = PVM_OP_move_reg, .d = d, .a = a});
}
static void lower_compute_put3(struct lowering *w, uint8_t op, uint8_t d, uint8_t a, uint8_t b)
{
    lower_put(w, (struct link_insn){.op = op, .a = a, .b = b, .d = d});
}
static void lower_compute_put2i(struct lowering *w, uint8_t op, uint8_t a, uint8_t b, int64_t x)
{
    lower_put(w, (struct link_insn){.op = op, .a = a, .b = b, .imm1 = x});
}

uint8_t lower_word_op(const struct lowering *w, uint8_t op64, uint8_t op32)
{
    return w->l->bits == 64 ? op64 : op32;
}

static void lower_compute_spill(struct lowering *w, uint8_t op, uint8_t reg, unsigned slot)
{
    lower_put(w, (struct link_insn){.op = op,
                                    .a = reg,
                                    .ref = REF_DATA,
                                    .to = w->l->spill,
                                    .imm1 = slot * LINK_SPILL_BYTES});
}

/* Returns a register that is not in `used`, and saves its value in the slot. */
static uint8_t lower_compute_borrow(struct lowering *w, uint16_t *used, unsigned slot)
{
    uint8_t reg = 2; /* The first register to try is t0. */
    while (*used & link_bit(reg)) reg++;
    *used |= link_bit(reg);
    lower_compute_spill(w, lower_word_op(w, PVM_OP_store_u64, PVM_OP_store_u32), reg, slot);
    return reg;
}

static void register_give_back(struct lowering *w, uint8_t reg, unsigned slot)
{
    lower_compute_spill(w, lower_word_op(w, PVM_OP_load_u64, PVM_OP_load_i32), reg, slot);
}

static uint16_t lower_compute_operands(const struct lowering *w)
{
    uint16_t used = 0;
    if (w->rd != ZERO) used |= link_bit(w->rd);
    if (w->rs1 != ZERO) used |= link_bit(w->rs1);
    if (w->rs2 != ZERO) used |= link_bit(w->rs2);
    return used;
}

/* Makes an operation on x0 that has no form with a constant. The function borrows a register and
 * sets it to 0. */
static void put_with_zero_register(struct lowering *w)
{
    uint16_t used = lower_compute_operands(w);
    uint8_t zero = lower_compute_borrow(w, &used, 0);
    lower_put_imm(w, zero, 0);
    lower_compute_put3(w, w->in.op, w->rd, w->rs1 == ZERO ? zero : w->rs1,
                       w->rs2 == ZERO ? zero : w->rs2);
    register_give_back(w, zero, 0);
}

void lower_reg(struct lowering *w)
{
    const struct link_form *form = link_form(w->in.op);
    uint64_t value;
    if (w->rd == ZERO) return;
    if (w->rs1 != ZERO && w->rs2 != ZERO) {
        lower_compute_put3(w, w->in.op, w->rd, w->rs1, w->rs2);
    } else if (w->rs1 == ZERO && w->rs2 == ZERO) {
        link_compute(w->in.op, 0, 0, 0, w->l->bits == 32, &value);
        lower_put_imm(w, w->rd, (int64_t)value);
    } else if (w->rs2 == ZERO && form->second == PVM_OP_add_imm_64) {
        put_move(w, w->rd, w->rs1);
    } else if (w->rs1 == ZERO && form->first == PVM_OP_add_imm_64) {
        put_move(w, w->rd, w->rs2);
    } else if (w->rs2 == ZERO && form->second != PVM_OP_invalid) {
        lower_compute_put2i(w, form->second, w->rd, w->rs1, 0);
    } else if (w->rs1 == ZERO && form->first != PVM_OP_invalid) {
        lower_compute_put2i(w, form->first, w->rd, w->rs2, 0);
    } else {
        put_with_zero_register(w);
    }
}

void lower_unary(struct lowering *w)
{
    uint64_t value;
    if (w->rd == ZERO) return;
    if (w->rs1 != ZERO) {
        lower_put(w, (struct link_insn){.op = w->in.op, .d = w->rd, .a = w->rs1});
        return;
    }
    link_compute(w->in.op, 0, 0, 0, w->l->bits == 32, &value);
    lower_put_imm(w, w->rd, (int64_t)value);
}

void lower_imm(struct lowering *w, int64_t imm)
{
    uint64_t value;
    uint8_t add = lower_word_op(w, PVM_OP_add_imm_64, PVM_OP_add_imm_32);
    if (w->rd == ZERO) return;
    if (w->rs1 == ZERO) {
        link_compute(w->in.op, 0, 0, (uint64_t)imm, w->l->bits == 32, &value);
        lower_put_imm(w, w->rd, (int64_t)value);
    } else if (w->in.op == add && !imm) {
        put_move(w, w->rd, w->rs1);
    } else {
        lower_compute_put2i(w, w->in.op, w->rd, w->rs1, imm);
    }
}

/* Sets each byte to all ones when any bit of it is set. t = v | mask; c = v & mask; v = t if c
 * != 0. */
void lower_orc_b(struct lowering *w)
{
    uint16_t used = lower_compute_operands(w);
    if (w->rd == ZERO) return;
    if (w->rs1 == ZERO) {
        lower_put_imm(w, w->rd, 0);
        return;
    }
    uint8_t t = lower_compute_borrow(w, &used, 0), c = lower_compute_borrow(w, &used, 1);
    put_move(w, w->rd, w->rs1);
    for (unsigned i = 0; i < w->l->bits / 8; i++) {
        if (i < 3) {
            lower_compute_put2i(w, PVM_OP_or_imm, t, w->rd, INT64_C(0xff) << 8 * i);
            lower_compute_put2i(w, PVM_OP_and_imm, c, w->rd, INT64_C(0xff) << 8 * i);
        } else { /* The mask does not fit in an immediate. */
            lower_put_imm(w, c, i == 3 && w->l->bits == 32 ? (int32_t)0xff000000 : 0xff);
            if (i > 3 || w->l->bits == 64)
                lower_compute_put2i(w, PVM_OP_shift_logical_left_imm_64, c, c, 8 * i);
            lower_compute_put3(w, PVM_OP_or, t, w->rd, c);
            lower_compute_put3(w, PVM_OP_and, c, w->rd, c);
        }
        lower_compute_put3(w, PVM_OP_cmov_if_not_zero, w->rd, t, c);
    }
    register_give_back(w, c, 1);
    register_give_back(w, t, 0);
}

static void put_cmov(struct lowering *w, uint8_t op, uint8_t d, uint8_t value, uint8_t condition)
{
    if (value == ZERO)
        lower_compute_put2i(w, link_form(op)->first, d, condition, 0);
    else
        lower_compute_put3(w, op, d, value, condition);
}

/* Lowers a move of rs1 to rd. The move is made if rs2 is zero, or, for another kind, if rs2 is
 * not zero. */
void lower_cmov(struct lowering *w)
{
    if (w->rd == ZERO) return;
    if (w->rs2 != ZERO)
        put_cmov(w, w->in.op, w->rd, w->rs1, w->rs2);
    else if (w->in.op == PVM_OP_cmov_if_zero)
        put_move(w, w->rd, w->rs1);
}

/* Lowers rd = rs2 is zero ? 0 : rs1, or the same with the opposite condition. */
void lower_czero(struct lowering *w)
{
    bool eqz = w->in.kind == RISCV_CZERO_EQZ;
    if (w->rd == ZERO) return;
    if (w->rs2 == ZERO) {
        put_move(w, w->rd, eqz ? ZERO : w->rs1);
    } else if (w->rs1 == w->rs2) {
        put_move(w, w->rd, eqz ? w->rs1 : ZERO);
    } else if (w->rs1 == ZERO) {
        lower_put_imm(w, w->rd, 0);
    } else if (w->rd != w->rs2) {
        put_move(w, w->rd, w->rs1);
        lower_compute_put2i(w, w->in.op, w->rd, w->rs2, 0);
    } else if (eqz) { /* rd is also the condition rs2; when it is 0, the result is 0. */
        lower_compute_put3(w, PVM_OP_cmov_if_not_zero, w->rd, w->rs1, w->rd);
    } else { /* The condition in rd becomes a mask for rs1. */
        lower_compute_put2i(w, PVM_OP_set_less_than_unsigned_imm, w->rd, w->rd, 1);
        lower_compute_put2i(
            w, lower_word_op(w, PVM_OP_negate_and_add_imm_64, PVM_OP_negate_and_add_imm_32), w->rd,
            w->rd, 0);
        lower_compute_put3(w, PVM_OP_and, w->rd, w->rd, w->rs1);
    }
}

/* Lowers rd = rs2 is zero ? rs3 : rs1. */
void lower_ccmov(struct lowering *w)
{
    uint8_t rs3 = lower_map_reg(w, w->in.rs3);
    uint16_t used = lower_compute_operands(w);
    if (rs3 != ZERO) used |= link_bit(rs3);
    if (w->rd == ZERO || w->failed) return;
    if (w->rs2 == ZERO) {
        put_move(w, w->rd, rs3);
    } else if (w->rd == w->rs1) {
        put_cmov(w, PVM_OP_cmov_if_zero, w->rd, rs3, w->rs2);
    } else if (w->rd == rs3) {
        put_cmov(w, PVM_OP_cmov_if_not_zero, w->rd, w->rs1, w->rs2);
    } else if (w->rd != w->rs2) {
        put_move(w, w->rd, w->rs1);
        put_cmov(w, PVM_OP_cmov_if_zero, w->rd, rs3, w->rs2);
    } else {
        uint8_t t = lower_compute_borrow(w, &used, 0);
        put_move(w, t, w->rs1);
        put_cmov(w, PVM_OP_cmov_if_zero, t, rs3, w->rs2);
        put_move(w, w->rd, t);
        register_give_back(w, t, 0);
    }
}

void lower_put_load(struct lowering *w, uint8_t op, uint8_t d, uint8_t base, int64_t offset)
{
    if (base == ZERO)
        lower_put(w, (struct link_insn){.op = link_form(op)->second, .a = d, .imm1 = offset});
    else
        lower_compute_put2i(w, op, d, base, offset);
}

static void put_store(struct lowering *w, uint8_t op, uint8_t value, uint8_t base, int64_t offset)
{
    struct link_insn in = {.op = op, .a = value, .b = base, .imm1 = offset};
    if (value == ZERO) {
        in.op = link_form(op)->first;
        in.a = base;
    }
    if (base == ZERO) in.op = link_form(in.op)->second;
    lower_put(w, in);
}

void lower_load(struct lowering *w)
{
    if (w->rd == ZERO && w->rs1 == ZERO && !w->in.imm)
        lower_put(w, (struct link_insn){.op = PVM_OP_trap});
    else if (w->rd != ZERO)
        lower_put_load(w, w->in.op, w->rd, w->rs1, w->in.imm);
}

void lower_store(struct lowering *w)
{
    if (w->rs2 == ZERO && w->rs1 == ZERO && !w->in.imm)
        lower_put(w, (struct link_insn){.op = PVM_OP_trap});
    else
        put_store(w, w->in.op, w->rs2, w->rs1, w->in.imm);
}

/* Makes a conditional store, which always succeeds here. */
void lower_sc(struct lowering *w)
{
    put_store(w, w->in.op, w->rs2, w->rs1, 0);
    if (w->rd != ZERO) lower_put_imm(w, w->rd, 0);
}

void lower_amo(struct lowering *w)
{
    bool word = w->in.word;
    uint8_t load = word ? PVM_OP_load_indirect_i32 : PVM_OP_load_indirect_u64;
    uint8_t store = word ? PVM_OP_store_indirect_u32 : PVM_OP_store_indirect_u64;
    uint16_t used = lower_compute_operands(w);
    uint8_t old = lower_compute_borrow(w, &used, 0), new = lower_compute_borrow(w, &used, 1);
    lower_put_load(w, load, old, w->rs1, 0);
    if (w->in.op == PVM_OP_move_reg) {
        put_move(w, new, w->rs2);
    } else {
        /* The loaded value is sign-extended, so the operand of a comparison must be, too. */
        if (w->rs2 == ZERO)
            lower_put_imm(w, new, 0);
        else if (word && w->l->bits == 64)
            lower_compute_put2i(w, PVM_OP_add_imm_32, new, w->rs2, 0);
        else
            put_move(w, new, w->rs2);
        lower_compute_put3(w, w->in.op, new, old, new);
    }
    put_store(w, store, new, w->rs1, 0);
    if (w->rd != ZERO) put_move(w, w->rd, old);
    register_give_back(w, new, 1);
    register_give_back(w, old, 0);
}

void lower_own(struct lowering *w)
{
    if (pvm_ops[w->in.op].number[w->l->isa] < 0) {
        char what[60];
        snprintf(what, sizeof what, "%s has no such instruction", pvm_isas[w->l->isa].name);
        lower_fail(w, PVM_LINK_INSTRUCTION, "choose another ISA: latest64 or latest32", what);
        return;
    }
    if (w->in.kind == RISCV_MEMSET) {
        lower_put(w, (struct link_insn){.op = PVM_OP_memset});
    } else if (w->in.kind == RISCV_HEAP) {
        if (w->rd != ZERO)
            lower_put(w, (struct link_insn){.op = PVM_OP_load_imm, .a = w->rd, .ref = REF_HEAP});
        /* This sbrk asks for 0 bytes, or its result is not used. */
    } else if (w->rd == ZERO || w->rs1 == ZERO) {
        uint16_t used = lower_compute_operands(w);
        uint8_t t = lower_compute_borrow(w, &used, 0);
        put_move(w, t, w->rs1);
        lower_put(w, (struct link_insn){.op = PVM_OP_sbrk, .d = w->rd == ZERO ? t : w->rd, .a = t});
        register_give_back(w, t, 0);
    } else {
        lower_put(w, (struct link_insn){.op = PVM_OP_sbrk, .d = w->rd, .a = w->rs1});
    }
}
