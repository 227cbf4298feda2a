/* RISC-V code to instructions of the machine.
 *
 * Register x0 is the constant 0 here, so an instruction that reads it takes the form with a constant.
 * The machine's addresses have 32 bits and fit one instruction: the two halves of an address (lui or
 * auipc, then what adds the low 12 bits) become a constant and an addition, which the optimiser joins.
 * Instructions that need a register of their own borrow one and keep its value in memory meanwhile;
 * guests have one thread. */
#include "pvm/text/assemble.h"
#include "pvm/link/elf_names.h"
#include "pvm/link/forms.h"
#include "pvm/link/riscv.h"
#include <stdio.h>

enum { ZERO = 13, NO_REG = 255 };

struct lowering {
    struct link *l;
    uint32_t section;
    uint64_t offset; /* of the instruction */
    struct riscv_insn in;
    uint8_t rd, rs1, rs2; /* of the machine; ZERO: x0 */
    bool failed;
};

static const char *describe_insn(const struct lowering *w, char *text, size_t size)
{
    penta_bytes code = w->l->sections[w->section].data;
    uint32_t word = w->offset + 2 <= code.size ? get16(code.data + w->offset) : 0;
    if ((word & 3) == 3 && w->offset + 4 <= code.size) word = get32(code.data + w->offset);
    const char *family = riscv_family(word);
    if (w->in.name)
        snprintf(text, size, "%s", w->in.name);
    else
        snprintf(text, size, (word & 3) == 3 ? "0x%08x%s%s" : "0x%04x%s%s", (unsigned)word,
                 family ? ", " : "", family ? family : "");
    return text;
}

static void fail(struct lowering *w, uint32_t code, const char *note, const char *what)
{
    char where[100], insn[60];
    w->failed = true;
    link_report(w->l, code, w->section, w->offset, note, "%s (%s) %s", what,
                describe_insn(w, insn, sizeof insn),
                link_where(w->l, w->section, w->offset, where, sizeof where));
}

struct link_insn *link_emit(struct link *l, struct link_insn in)
{
    static struct link_insn lost;
    if (!pvm_grow(&l->insns, &l->insn_capacity, l->insn_count, sizeof *l->insns, &l->err))
        return &lost;
    l->insns[l->insn_count] = in;
    return &l->insns[l->insn_count++];
}

static struct link_insn *put(struct lowering *w, struct link_insn in)
{
    in.section = w->section;
    in.offset = (uint32_t)w->offset;
    return link_emit(w->l, in);
}

static void put_imm(struct lowering *w, uint8_t d, int64_t value)
{
    put(w, (struct link_insn){.op = PVM_OP_load_imm, .a = d, .imm1 = value});
}
static void put_move(struct lowering *w, uint8_t d, uint8_t a)
{
    if (a == ZERO)
        put_imm(w, d, 0);
    else if (a != d)
        put(w, (struct link_insn){.op = PVM_OP_move_reg, .d = d, .a = a});
}
static void put3(struct lowering *w, uint8_t op, uint8_t d, uint8_t a, uint8_t b)
{
    put(w, (struct link_insn){.op = op, .a = a, .b = b, .d = d});
}
static void put2i(struct lowering *w, uint8_t op, uint8_t a, uint8_t b, int64_t x)
{
    put(w, (struct link_insn){.op = op, .a = a, .b = b, .imm1 = x});
}

/* ---- borrowed registers ---- */

static uint8_t word_op(const struct lowering *w, uint8_t op64, uint8_t op32)
{
    return w->l->bits == 64 ? op64 : op32;
}

static void spill(struct lowering *w, uint8_t op, uint8_t reg, unsigned slot)
{
    put(w, (struct link_insn){.op = op,
                              .a = reg,
                              .ref = REF_DATA,
                              .to = w->l->spill,
                              .imm1 = slot * LINK_SPILL_BYTES});
}

/* A register that is none of those in `used`; its value goes to the slot. */
static uint8_t borrow(struct lowering *w, uint16_t *used, unsigned slot)
{
    uint8_t reg = 2; /* t0 */
    while (*used & link_bit(reg)) reg++;
    *used |= link_bit(reg);
    spill(w, word_op(w, PVM_OP_store_u64, PVM_OP_store_u32), reg, slot);
    return reg;
}

static void give_back(struct lowering *w, uint8_t reg, unsigned slot)
{
    spill(w, word_op(w, PVM_OP_load_u64, PVM_OP_load_i32), reg, slot);
}

static uint16_t operands(const struct lowering *w)
{
    uint16_t used = 0;
    if (w->rd != ZERO) used |= link_bit(w->rd);
    if (w->rs1 != ZERO) used |= link_bit(w->rs1);
    if (w->rs2 != ZERO) used |= link_bit(w->rs2);
    return used;
}

/* ---- registers ---- */

static uint8_t map_reg(struct lowering *w, uint8_t x)
{
    static const uint8_t map[16] = {ZERO, 0, 1, NO_REG, NO_REG, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    uint8_t reg = x < 16 ? map[x] : NO_REG;
    if (reg != NO_REG) return reg;
    if (w->failed) return ZERO;
    char what[60];
    snprintf(what, sizeof what, "the machine has no register x%u%s", x,
             x == 3   ? ", gp"
             : x == 4 ? ", tp"
                      : "");
    fail(w, PVM_LINK_REGISTER,
         x > 15
             ? "compile for the E base: -march=rv64emac -mabi=lp64e, or rv32emac with ilp32e"
             : "compile without global pointer and threads: -mno-relax, no thread-local variables",
         what);
    return ZERO;
}

/* Which of the fields name registers depends on the kind. */
static void map_regs(struct lowering *w)
{
    enum riscv_kind k = w->in.kind;
    bool has_rd = k != RISCV_BRANCH && k != RISCV_STORE && k != RISCV_NOTHING && k != RISCV_TRAP &&
                  k != RISCV_IMPORT && k != RISCV_MEMSET && k != RISCV_NO;
    bool has_rs2 = k == RISCV_BRANCH || k == RISCV_STORE || k == RISCV_REG || k == RISCV_SC ||
                   k == RISCV_AMO || k == RISCV_CZERO_EQZ || k == RISCV_CZERO_NEZ ||
                   k == RISCV_CMOV || k == RISCV_CCMOV;
    bool has_rs1 = has_rs2 || k == RISCV_JALR || k == RISCV_LOAD || k == RISCV_IMM ||
                   k == RISCV_SHIFT || k == RISCV_UNARY || k == RISCV_ORC_B || k == RISCV_LR ||
                   k == RISCV_SBRK;
    w->rd = has_rd ? map_reg(w, w->in.rd) : ZERO;
    w->rs1 = has_rs1 ? map_reg(w, w->in.rs1) : ZERO;
    w->rs2 = has_rs2 ? map_reg(w, w->in.rs2) : ZERO;
}

/* ---- arithmetic ---- */

/* rd = op 0, rs2 and the like where the machine has no form with a constant. */
static void put_with_zero_register(struct lowering *w)
{
    uint16_t used = operands(w);
    uint8_t zero = borrow(w, &used, 0);
    put_imm(w, zero, 0);
    put3(w, w->in.op, w->rd, w->rs1 == ZERO ? zero : w->rs1, w->rs2 == ZERO ? zero : w->rs2);
    give_back(w, zero, 0);
}

static void lower_reg(struct lowering *w)
{
    const struct link_form *form = link_form(w->in.op);
    uint64_t value;
    if (w->rd == ZERO) return;
    if (w->rs1 != ZERO && w->rs2 != ZERO) {
        put3(w, w->in.op, w->rd, w->rs1, w->rs2);
    } else if (w->rs1 == ZERO && w->rs2 == ZERO) {
        link_compute(w->in.op, 0, 0, 0, w->l->bits == 32, &value);
        put_imm(w, w->rd, (int64_t)value);
    } else if (w->rs2 == ZERO && form->second == PVM_OP_add_imm_64) {
        put_move(w, w->rd, w->rs1);
    } else if (w->rs1 == ZERO && form->first == PVM_OP_add_imm_64) {
        put_move(w, w->rd, w->rs2);
    } else if (w->rs2 == ZERO && form->second != PVM_OP_invalid) {
        put2i(w, form->second, w->rd, w->rs1, 0);
    } else if (w->rs1 == ZERO && form->first != PVM_OP_invalid) {
        put2i(w, form->first, w->rd, w->rs2, 0);
    } else {
        put_with_zero_register(w);
    }
}

static void lower_unary(struct lowering *w)
{
    uint64_t value;
    if (w->rd == ZERO) return;
    if (w->rs1 != ZERO) {
        put(w, (struct link_insn){.op = w->in.op, .d = w->rd, .a = w->rs1});
        return;
    }
    link_compute(w->in.op, 0, 0, 0, w->l->bits == 32, &value);
    put_imm(w, w->rd, (int64_t)value);
}

static void lower_imm(struct lowering *w, int64_t imm)
{
    uint64_t value;
    uint8_t add = word_op(w, PVM_OP_add_imm_64, PVM_OP_add_imm_32);
    if (w->rd == ZERO) return;
    if (w->rs1 == ZERO) {
        link_compute(w->in.op, 0, 0, (uint64_t)imm, w->l->bits == 32, &value);
        put_imm(w, w->rd, (int64_t)value);
    } else if (w->in.op == add && !imm) {
        put_move(w, w->rd, w->rs1);
    } else {
        put2i(w, w->in.op, w->rd, w->rs1, imm);
    }
}

/* For each byte: all ones when any bit is set. t = v | mask; c = v & mask; v = t if c != 0. */
static void lower_orc_b(struct lowering *w)
{
    uint16_t used = operands(w);
    if (w->rd == ZERO) return;
    if (w->rs1 == ZERO) {
        put_imm(w, w->rd, 0);
        return;
    }
    uint8_t t = borrow(w, &used, 0), c = borrow(w, &used, 1);
    put_move(w, w->rd, w->rs1);
    for (unsigned i = 0; i < w->l->bits / 8; i++) {
        if (i < 3) {
            put2i(w, PVM_OP_or_imm, t, w->rd, INT64_C(0xff) << 8 * i);
            put2i(w, PVM_OP_and_imm, c, w->rd, INT64_C(0xff) << 8 * i);
        } else { /* the mask does not fit an immediate */
            put_imm(w, c, i == 3 && w->l->bits == 32 ? (int32_t)0xff000000 : 0xff);
            if (i > 3 || w->l->bits == 64) put2i(w, PVM_OP_shift_logical_left_imm_64, c, c, 8 * i);
            put3(w, PVM_OP_or, t, w->rd, c);
            put3(w, PVM_OP_and, c, w->rd, c);
        }
        put3(w, PVM_OP_cmov_if_not_zero, w->rd, t, c);
    }
    give_back(w, c, 1);
    give_back(w, t, 0);
}

/* ---- conditional moves ---- */

static void put_cmov(struct lowering *w, uint8_t op, uint8_t d, uint8_t value, uint8_t condition)
{
    if (value == ZERO)
        put2i(w, link_form(op)->first, d, condition, 0);
    else
        put3(w, op, d, value, condition);
}

/* rd = rs1 if rs2 is (not) zero */
static void lower_cmov(struct lowering *w)
{
    if (w->rd == ZERO) return;
    if (w->rs2 != ZERO)
        put_cmov(w, w->in.op, w->rd, w->rs1, w->rs2);
    else if (w->in.op == PVM_OP_cmov_if_zero)
        put_move(w, w->rd, w->rs1);
}

/* rd = rs2 is zero ? 0 : rs1, or the other way round. */
static void lower_czero(struct lowering *w)
{
    bool eqz = w->in.kind == RISCV_CZERO_EQZ;
    if (w->rd == ZERO) return;
    if (w->rs2 == ZERO) {
        put_move(w, w->rd, eqz ? ZERO : w->rs1);
    } else if (w->rs1 == w->rs2) {
        put_move(w, w->rd, eqz ? w->rs1 : ZERO);
    } else if (w->rs1 == ZERO) {
        put_imm(w, w->rd, 0);
    } else if (w->rd != w->rs2) {
        put_move(w, w->rd, w->rs1);
        put2i(w, w->in.op, w->rd, w->rs2, 0);
    } else if (eqz) { /* the condition itself is 0 when the result is */
        put3(w, PVM_OP_cmov_if_not_zero, w->rd, w->rs1, w->rd);
    } else { /* a mask of the condition */
        put2i(w, PVM_OP_set_less_than_unsigned_imm, w->rd, w->rd, 1);
        put2i(w, word_op(w, PVM_OP_negate_and_add_imm_64, PVM_OP_negate_and_add_imm_32), w->rd,
              w->rd, 0);
        put3(w, PVM_OP_and, w->rd, w->rd, w->rs1);
    }
}

/* rd = rs2 is zero ? rs3 : rs1 */
static void lower_ccmov(struct lowering *w)
{
    uint8_t rs3 = map_reg(w, w->in.rs3);
    uint16_t used = operands(w);
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
        uint8_t t = borrow(w, &used, 0);
        put_move(w, t, w->rs1);
        put_cmov(w, PVM_OP_cmov_if_zero, t, rs3, w->rs2);
        put_move(w, w->rd, t);
        give_back(w, t, 0);
    }
}

/* ---- memory ---- */

static void put_load(struct lowering *w, uint8_t op, uint8_t d, uint8_t base, int64_t offset)
{
    if (base == ZERO)
        put(w, (struct link_insn){.op = link_form(op)->second, .a = d, .imm1 = offset});
    else
        put2i(w, op, d, base, offset);
}

static void put_store(struct lowering *w, uint8_t op, uint8_t value, uint8_t base, int64_t offset)
{
    struct link_insn in = {.op = op, .a = value, .b = base, .imm1 = offset};
    if (value == ZERO) {
        in.op = link_form(op)->first;
        in.a = base;
    }
    if (base == ZERO) in.op = link_form(in.op)->second;
    put(w, in);
}

static void lower_load(struct lowering *w)
{
    if (w->rd == ZERO && w->rs1 == ZERO && !w->in.imm)
        put(w, (struct link_insn){.op = PVM_OP_trap});
    else if (w->rd != ZERO)
        put_load(w, w->in.op, w->rd, w->rs1, w->in.imm);
}

static void lower_store(struct lowering *w)
{
    if (w->rs2 == ZERO && w->rs1 == ZERO && !w->in.imm)
        put(w, (struct link_insn){.op = PVM_OP_trap});
    else
        put_store(w, w->in.op, w->rs2, w->rs1, w->in.imm);
}

/* A store that always succeeds. */
static void lower_sc(struct lowering *w)
{
    put_store(w, w->in.op, w->rs2, w->rs1, 0);
    if (w->rd != ZERO) put_imm(w, w->rd, 0);
}

static void lower_amo(struct lowering *w)
{
    bool word = w->in.word;
    uint8_t load = word ? PVM_OP_load_indirect_i32 : PVM_OP_load_indirect_u64;
    uint8_t store = word ? PVM_OP_store_indirect_u32 : PVM_OP_store_indirect_u64;
    uint16_t used = operands(w);
    uint8_t old = borrow(w, &used, 0), new = borrow(w, &used, 1);
    put_load(w, load, old, w->rs1, 0);
    if (w->in.op == PVM_OP_move_reg) {
        put_move(w, new, w->rs2);
    } else {
        /* what is loaded is sign-extended, so comparisons need the operand to be */
        if (w->rs2 == ZERO)
            put_imm(w, new, 0);
        else if (word && w->l->bits == 64)
            put2i(w, PVM_OP_add_imm_32, new, w->rs2, 0);
        else
            put_move(w, new, w->rs2);
        put3(w, w->in.op, new, old, new);
    }
    put_store(w, store, new, w->rs1, 0);
    if (w->rd != ZERO) put_move(w, w->rd, old);
    give_back(w, new, 1);
    give_back(w, old, 0);
}

/* ---- addresses ---- */

static bool is_code_reloc(uint32_t type)
{
    return type != R_NONE && type != R_RELAX && type != R_ALIGN;
}

static bool is_code(const struct lowering *w, struct link_place place)
{
    return place.section != LINK_NONE && w->l->sections[place.section].use == LINK_CODE;
}

/* An address that the machine loads as a constant: of data, of code, or a plain number. */
static struct link_insn address_insn(struct lowering *w, struct link_place place,
                                     enum link_ref part)
{
    struct link_insn in = {.to = place.section, .imm1 = place.offset, .ref = (uint8_t)part};
    if (place.section == LINK_NONE) {
        uint32_t high = ((uint32_t)place.offset + 0x800) & ~UINT32_C(0xfff);
        in.ref = REF_NONE;
        in.imm1 = part == REF_DATA_HIGH  ? (int32_t)high
                  : part == REF_DATA_LOW ? (int32_t)((uint32_t)place.offset - high)
                                         : (int32_t)place.offset;
    } else if (is_code(w, place)) {
        /* positions in the jump table have no halves: all of it is in the low one */
        in.ref = part == REF_DATA_HIGH ? REF_NONE : REF_CODE;
        if (part == REF_DATA_HIGH) in.imm1 = 0;
    } else if (!link_is_data(w->l->sections[place.section].use)) {
        fail(w, PVM_LINK_RELOCATION, NULL, "an address in a section that is not loaded");
    }
    return in;
}

/* The auipc that a low half belongs to, and what that one points at. */
static bool pcrel_target(struct lowering *w, const struct link_reloc *low, struct link_place *place,
                         bool *got)
{
    struct link_place at;
    if (!link_target(w->l, w->section, low, &at)) return !(w->failed = true);
    at.offset -= low->addend;
    const struct link_reloc *high = NULL;
    if (at.section != LINK_NONE)
        high = link_reloc_at(&w->l->sections[at.section], (uint64_t)at.offset, is_code_reloc);
    if (!high || (high->type != R_PCREL_HI20 && high->type != R_GOT_HI20)) {
        fail(w, PVM_LINK_RELOCATION, NULL, "the low half of an address without its high half");
        return false;
    }
    *got = high->type == R_GOT_HI20;
    if (!link_target(w->l, at.section, high, place)) return !(w->failed = true);
    return true;
}

static void put_address(struct lowering *w, uint8_t d, struct link_place place, enum link_ref part)
{
    struct link_insn in = address_insn(w, place, part);
    in.op = PVM_OP_load_imm;
    in.a = d;
    if (d != ZERO && !w->failed) put(w, in);
}

static void put_jump(struct lowering *w, struct link_place to);
static void put_call(struct lowering *w, struct link_place to);

/* addi, a load, a store or jalr that adds the low half of an address to its base. */
static void lower_low(struct lowering *w, struct link_place place)
{
    if (w->in.kind == RISCV_JALR) {
        if (w->rd == ZERO)
            put_jump(w, place);
        else
            put_call(w, place);
        return;
    }
    struct link_insn in = address_insn(w, place, REF_DATA_LOW);
    if (w->failed) return;
    if (is_code(w, place) && w->in.kind != RISCV_IMM) {
        fail(w, PVM_LINK_RELOCATION, "code cannot be read as data", "an access to code");
        return;
    }
    size_t before = w->l->insn_count;
    int64_t imm = w->in.imm;
    w->in.imm = 1; /* not the pattern of a trap, nor of a move */
    if (w->in.kind == RISCV_IMM && w->rs1 != ZERO)
        lower_imm(w, 1);
    else if (w->in.kind == RISCV_IMM)
        put_imm(w, w->rd, 0);
    else if (w->in.kind == RISCV_LOAD)
        lower_load(w);
    else
        lower_store(w);
    w->in.imm = imm;
    if (w->l->insn_count == before) return;
    struct link_insn *out = &w->l->insns[w->l->insn_count - 1];
    out->ref = in.ref;
    out->to = in.to;
    out->imm1 = in.imm1;
}

/* ---- jumps ---- */

/* Where a jump without a relocation goes: its distance is right, since sections keep their layout. */
static struct link_place relative(const struct lowering *w)
{
    return (struct link_place){w->section, (int64_t)w->offset + w->in.imm};
}

static void put_control(struct lowering *w, struct link_insn in, struct link_place to)
{
    if (!is_code(w, to)) {
        if (to.section == LINK_NONE && !to.offset) { /* a weak function that nobody defines */
            put(w, (struct link_insn){.op = PVM_OP_trap});
            return;
        }
        fail(w, PVM_LINK_JUMP, NULL, "a jump to where no code is");
        return;
    }
    in.to = to.section;
    in.imm2 = to.offset;
    put(w, in);
}

static void put_jump(struct lowering *w, struct link_place to)
{
    put_control(w, (struct link_insn){.op = PVM_OP_jump}, to);
}
static void put_call(struct lowering *w, struct link_place to)
{
    put_control(w, (struct link_insn){.op = PVM_OP_load_imm_and_jump, .a = w->rd}, to);
}

static void lower_jalr(struct lowering *w)
{
    if (w->in.imm) {
        fail(w, PVM_LINK_JUMP, NULL, "an indirect jump with an offset");
    } else if (w->rs1 == ZERO) {
        put(w, (struct link_insn){.op = PVM_OP_trap});
    } else if (w->rd == ZERO) {
        put(w, (struct link_insn){.op = PVM_OP_jump_indirect, .a = w->rs1});
    } else {
        put(w,
            (struct link_insn){.op = PVM_OP_load_imm_and_jump_indirect, .a = w->rd, .b = w->rs1});
    }
}

static void lower_branch(struct lowering *w, struct link_place to)
{
    const struct link_form *form = link_form(w->in.op);
    if (w->rs1 != ZERO && w->rs2 != ZERO)
        put_control(w, (struct link_insn){.op = w->in.op, .a = w->rs1, .b = w->rs2}, to);
    else if (w->rs2 == ZERO && w->rs1 != ZERO)
        put_control(w, (struct link_insn){.op = form->second, .a = w->rs1}, to);
    else if (w->rs2 != ZERO)
        put_control(w, (struct link_insn){.op = form->first, .a = w->rs2}, to);
    else if (link_decide(w->in.op, 0, 0, 0))
        put_jump(w, to);
}

/* auipc + jalr, as one: the first has the relocation. Its size. */
static unsigned lower_far_call(struct lowering *w, struct link_place to)
{
    struct riscv_insn next;
    penta_bytes code = w->l->sections[w->section].data;
    riscv_decode(bytes_slice(code, w->offset + 4, 4), w->l->bits, &next);
    if (next.kind != RISCV_JALR || next.rs1 != w->in.rd) {
        fail(w, PVM_LINK_RELOCATION, NULL, "a call whose second half is not a jalr");
        return w->in.size;
    }
    w->in.rd = next.rd;
    w->rd = map_reg(w, next.rd);
    if (w->failed) return 8;
    if (w->rd == ZERO)
        put_jump(w, to);
    else
        put_call(w, to);
    return 4u + next.size;
}

/* auipc without a relocation: only for code of the same section, with the next instruction. */
static unsigned lower_own_address(struct lowering *w)
{
    struct riscv_insn next;
    penta_bytes code = w->l->sections[w->section].data;
    riscv_decode(bytes_slice(code, w->offset + 4, 4), w->l->bits, &next);
    struct link_place place = {w->section, (int64_t)w->offset + w->in.imm + next.imm};
    bool inside = place.offset >= 0 && (uint64_t)place.offset < code.size;
    if (next.rs1 != w->in.rd || !inside || (next.kind != RISCV_JALR && next.kind != RISCV_IMM) ||
        (next.kind == RISCV_IMM && next.op != word_op(w, PVM_OP_add_imm_64, PVM_OP_add_imm_32))) {
        fail(w, PVM_LINK_NO_RELOCS,
             "link with --emit-relocs (ld.lld, ld -q), or pass the objects themselves",
             "an address without a relocation");
        return w->in.size;
    }
    if (next.kind == RISCV_JALR) return lower_far_call(w, place);
    put_address(w, map_reg(w, next.rd), place, REF_DATA);
    return 4u + next.size;
}

/* ---- the machine's own instructions ---- */

static unsigned lower_import(struct lowering *w)
{
    const struct link_section *s = &w->l->sections[w->section];
    const struct link_reloc *r = link_reloc_at(s, w->offset + 4, link_reloc_is_pointer);
    unsigned size = 4 + w->l->bits / 8;
    struct link_place record;
    if (!r || w->offset + size > s->data.size) {
        fail(w, PVM_LINK_NO_RELOCS,
             "link with --emit-relocs (ld.lld, ld -q), or pass the objects themselves",
             "an import without a relocation");
        return size;
    }
    if (!link_target(w->l, w->section, r, &record)) {
        w->failed = true;
        return size;
    }
    if (record.section == LINK_NONE) {
        fail(w, PVM_LINK_METADATA, NULL, "an import without metadata");
        return size;
    }
    uint32_t import = link_import_at(w->l, record, w->section, w->offset);
    if (import == LINK_NONE)
        w->failed = true;
    else
        put(w, (struct link_insn){.op = PVM_OP_ecalli, .ref = REF_IMPORT, .imm1 = import});
    return size;
}

static void lower_own(struct lowering *w)
{
    if (pvm_ops[w->in.op].number[w->l->isa] < 0) {
        char what[60];
        snprintf(what, sizeof what, "%s has no such instruction", pvm_isas[w->l->isa].name);
        fail(w, PVM_LINK_INSTRUCTION, "choose another ISA: latest64 or latest32", what);
        return;
    }
    if (w->in.kind == RISCV_MEMSET) {
        put(w, (struct link_insn){.op = PVM_OP_memset});
    } else if (w->in.kind == RISCV_HEAP) {
        if (w->rd != ZERO)
            put(w, (struct link_insn){.op = PVM_OP_load_imm, .a = w->rd, .ref = REF_HEAP});
    } else if (w->rd == ZERO || w->rs1 == ZERO) { /* sbrk without a result, or of 0 bytes */
        uint16_t used = operands(w);
        uint8_t t = borrow(w, &used, 0);
        put_move(w, t, w->rs1);
        put(w, (struct link_insn){.op = PVM_OP_sbrk, .d = w->rd == ZERO ? t : w->rd, .a = t});
        give_back(w, t, 0);
    } else {
        put(w, (struct link_insn){.op = PVM_OP_sbrk, .d = w->rd, .a = w->rs1});
    }
}

/* ---- one instruction ---- */

/* With a relocation that says what an operand stands for; the bytes it took. */
static unsigned lower_relocated(struct lowering *w, const struct link_reloc *r)
{
    struct link_place place;
    enum riscv_kind kind = w->in.kind;
    bool got = false, low_i = kind == RISCV_LOAD || kind == RISCV_IMM || kind == RISCV_JALR;
    switch (r->type) {
    case R_PCREL_LO12_I:
    case R_PCREL_LO12_S:
        if (r->type == R_PCREL_LO12_S ? kind != RISCV_STORE : !low_i) break;
        if (!pcrel_target(w, r, &place, &got)) return w->in.size;
        if (!got)
            lower_low(w, place);
        else if (kind == RISCV_LOAD) /* what the slot would hold */
            put_address(w, w->rd, place, REF_DATA);
        else
            break;
        return w->in.size;
    }
    if (!link_target(w->l, w->section, r, &place)) {
        w->failed = true;
        return w->in.size;
    }
    switch (r->type) {
    case R_BRANCH:
    case R_RVC_BRANCH:
        if (kind != RISCV_BRANCH) break;
        lower_branch(w, place);
        return w->in.size;
    case R_JAL:
    case R_RVC_JUMP:
        if (kind != RISCV_JAL) break;
        if (w->rd == ZERO)
            put_jump(w, place);
        else
            put_call(w, place);
        return w->in.size;
    case R_CALL:
    case R_CALL_PLT:
        if (kind != RISCV_AUIPC) break;
        return lower_far_call(w, place);
    case R_HI20:
    case R_RVC_LUI:
        if (kind != RISCV_LUI) break;
        put_address(w, w->rd, place, REF_DATA_HIGH);
        return w->in.size;
    case R_LO12_I:
    case R_LO12_S:
        if (r->type == R_LO12_S ? kind != RISCV_STORE : !low_i) break;
        lower_low(w, place);
        return w->in.size;
    case R_PCREL_HI20:
        if (kind != RISCV_AUIPC) break;
        put_address(w, w->rd, place, REF_DATA_HIGH);
        return w->in.size;
    case R_GOT_HI20:
        if (kind != RISCV_AUIPC) break;
        return w->in.size;
    }
    char what[60];
    snprintf(what, sizeof what, "relocation %u does not fit", (unsigned)r->type);
    fail(w, PVM_LINK_RELOCATION, NULL, what);
    return w->in.size;
}

static unsigned lower_insn(struct lowering *w)
{
    const struct link_reloc *r =
        link_reloc_at(&w->l->sections[w->section], w->offset, is_code_reloc);
    map_regs(w);
    if (w->failed) return w->in.size;
    if (r) return lower_relocated(w, r);
    switch (w->in.kind) {
    case RISCV_NO:
        fail(w, PVM_LINK_INSTRUCTION,
             "compile with -march=rv64emac_zbb_xtheadcondmov or rv32emac_zbb_xtheadcondmov",
             "an instruction that the machine does not have");
        break;
    case RISCV_LUI:
        if (w->rd != ZERO) put_imm(w, w->rd, w->in.imm);
        break;
    case RISCV_AUIPC: return lower_own_address(w);
    case RISCV_JAL:
        if (w->rd == ZERO)
            put_jump(w, relative(w));
        else
            put_call(w, relative(w));
        break;
    case RISCV_JALR: lower_jalr(w); break;
    case RISCV_BRANCH: lower_branch(w, relative(w)); break;
    case RISCV_LOAD: lower_load(w); break;
    case RISCV_STORE: lower_store(w); break;
    case RISCV_IMM:
    case RISCV_SHIFT: lower_imm(w, w->in.imm); break;
    case RISCV_REG: lower_reg(w); break;
    case RISCV_UNARY: lower_unary(w); break;
    case RISCV_ORC_B: lower_orc_b(w); break;
    case RISCV_LR:
        if (w->rd != ZERO) put_load(w, w->in.op, w->rd, w->rs1, 0);
        break;
    case RISCV_SC: lower_sc(w); break;
    case RISCV_AMO: lower_amo(w); break;
    case RISCV_CMOV: lower_cmov(w); break;
    case RISCV_CCMOV: lower_ccmov(w); break;
    case RISCV_CZERO_EQZ:
    case RISCV_CZERO_NEZ: lower_czero(w); break;
    case RISCV_IMPORT: return lower_import(w);
    case RISCV_SBRK:
    case RISCV_MEMSET:
    case RISCV_HEAP: lower_own(w); break;
    case RISCV_NOTHING: break;
    case RISCV_TRAP: put(w, (struct link_insn){.op = PVM_OP_trap}); break;
    }
    return w->in.size;
}

/* ---- sections ---- */

static bool lower_section(struct link *l, uint32_t index)
{
    bool ok = true;
    penta_bytes code = l->sections[index].data;
    uint32_t *at = arena_alloc(&l->arena, code.size / 2 + 2, sizeof *at, &l->err);
    if (!at) return false;
    struct lowering w = {.l = l, .section = index};
    while (w.offset < code.size) {
        w.failed = false;
        at[w.offset / 2] = (uint32_t)l->insn_count + 1;
        riscv_decode(bytes_slice(code, w.offset, 4), l->bits, &w.in);
        if (!w.in.size) { /* a last byte or halfword */
            w.in.size = 4;
            fail(&w, PVM_LINK_INSTRUCTION, NULL, "the code ends inside an instruction");
            ok = false;
            break;
        }
        unsigned size = lower_insn(&w);
        ok = ok && !w.failed;
        w.offset += size;
    }
    /* a call may be the last instruction */
    if (w.offset / 2 == code.size / 2) at[w.offset / 2] = (uint32_t)l->insn_count + 1;
    w.offset = code.size;
    put(&w, (struct link_insn){.op = PVM_OP_trap});
    l->sections[index].insn_at = at;
    return ok && !l->err.code;
}

bool link_lower(struct link *l)
{
    bool ok = true;
    for (uint32_t i = 0; i < l->spill && !l->err.code; i++)
        if (l->sections[i].use == LINK_CODE && !lower_section(l, i)) ok = false;
    return ok && !l->err.code;
}
