/* Makes instructions of the machine from RISC-V code.
 *
 * The machine has no register for x0, so an instruction that reads x0 takes the form with the
 * constant 0. Addresses of the machine have 32 bits and fit one instruction. So the two halves
 * of an address (lui or auipc, and the instruction that adds the low 12 bits) become a constant
 * and an addition, which the optimiser joins. */
#include "pvm/link/elf_names.h"
#include "pvm/link/lower.h"
#include <stdio.h>
#include <stdlib.h>

static const char *describe_insn(const struct lowering *w, char *text, size_t size)
{
    penta_bytes code = w->l->sections[w->section].data;
    uint32_t word = w->offset + 2 <= code.size ? bytes_get16(code.data + w->offset) : 0;
    if ((word & 3) == 3 && w->offset + 4 <= code.size) word = bytes_get32(code.data + w->offset);
    const char *family = riscv_family(word);
    if (w->in.name)
        snprintf(text, size, "%s", w->in.name);
    else
        snprintf(text, size, (word & 3) == 3 ? "0x%08x%s%s" : "0x%04x%s%s", (unsigned)word,
                 family ? ", " : "", family ? family : "");
    return text;
}

void lower_fail(struct lowering *w, uint32_t code, const char *note, const char *what)
{
    char where[100], insn[60];
    w->failed = true;
    link_report(w->l, code, w->section, w->offset, note, "%s (%s) %s", what,
                describe_insn(w, insn, sizeof insn),
                link_where(w->l, w->section, w->offset, where, sizeof where));
}

uint8_t lower_map_reg(struct lowering *w, uint8_t x)
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
    lower_fail(
        w, PVM_LINK_REGISTER,
        x > 15
            ? "compile for the E base: -march=rv64emac -mabi=lp64e, or rv32emac with ilp32e"
            : "compile without global pointer and threads: -mno-relax, no thread-local variables",
        what);
    return ZERO;
}

/* Maps the x registers of the instruction to registers of the machine. The kind of the
 * instruction says which of its fields name registers. */
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
    w->rd = has_rd ? lower_map_reg(w, w->in.rd) : ZERO;
    w->rs1 = has_rs1 ? lower_map_reg(w, w->in.rs1) : ZERO;
    w->rs2 = has_rs2 ? lower_map_reg(w, w->in.rs2) : ZERO;
}

static bool reloc_is_code(uint32_t type)
{
    return type != R_NONE && type != R_RELAX && type != R_ALIGN;
}

static bool place_is_code(const struct lowering *w, struct link_place place)
{
    return place.section != LINK_NONE && w->l->sections[place.section].use == LINK_CODE;
}

/* Makes an instruction whose constant is an address of data, an address of code, or a plain
 * number. */
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
    } else if (place_is_code(w, place)) {
        /* An address of code has no halves: the instruction with the low half gets all of it,
         * the other one gets 0. */
        in.ref = part == REF_DATA_HIGH ? REF_NONE : REF_CODE;
        if (part == REF_DATA_HIGH) in.imm1 = 0;
    } else if (!link_is_data(w->l->sections[place.section].use)) {
        lower_fail(w, PVM_LINK_RELOCATION, NULL, "an address in a section that is not loaded");
    }
    return in;
}

/* Tells whether an instruction of a linked program leads to the place that its relocation names,
 * when it adds `distance` to offset `from` of this section. It does not when the other linker
 * has moved code and left the relocation behind. */
static bool relocation_fits(struct lowering *w, struct link_place place, uint64_t from,
                            int64_t distance)
{
    const struct link_section *own = &w->l->sections[w->section];
    if (place.section == LINK_NONE || w->l->objects[own->object].relocatable) return true;
    const struct link_section *to = &w->l->sections[place.section];
    uint64_t want = to->address + (uint64_t)place.offset - (own->address + from);
    if (to->object != own->object || (uint32_t)distance == (uint32_t)want) return true;
    lower_fail(w, PVM_LINK_NO_RELOCS, LINK_RELOCS_NOTE,
               "a relocation that the code does not match");
    return false;
}

/* Finds the auipc to which a low half belongs, and the place at which this auipc points. */
static bool pcrel_target(struct lowering *w, const struct link_reloc *low, struct link_place *place,
                         bool *got)
{
    struct link_place at;
    if (!link_target(w->l, w->section, low, &at)) return !(w->failed = true);
    at.offset -= low->addend;
    const struct link_reloc *high = NULL;
    if (at.section != LINK_NONE)
        high = link_reloc_at(&w->l->sections[at.section], (uint64_t)at.offset, reloc_is_code);
    if (!high || (high->type != R_PCREL_HI20 && high->type != R_GOT_HI20)) {
        lower_fail(w, PVM_LINK_RELOCATION, NULL,
                   "the low half of an address without its high half");
        return false;
    }
    *got = high->type == R_GOT_HI20;
    if (!link_target(w->l, at.section, high, place)) return !(w->failed = true);
    struct riscv_insn first;
    penta_bytes code = w->l->sections[at.section].data;
    riscv_decode(bytes_slice(code, (size_t)at.offset, 4), w->l->bits, &first);
    return *got || at.section != w->section ||
           relocation_fits(w, *place, (uint64_t)at.offset, first.imm + w->in.imm);
}

static void put_address(struct lowering *w, uint8_t d, struct link_place place, enum link_ref part)
{
    struct link_insn in = address_insn(w, place, part);
    in.op = PVM_OP_load_imm;
    in.a = d;
    if (d != ZERO && !w->failed) lower_put(w, in);
}

static void put_jump(struct lowering *w, struct link_place to);
static void put_call(struct lowering *w, struct link_place to);

/* Lowers an addi, a load, a store or a jalr that adds the low half of an address to its base. */
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
    if (place_is_code(w, place) && w->in.kind != RISCV_IMM) {
        lower_fail(w, PVM_LINK_RELOCATION, "code cannot be read as data", "an access to code");
        return;
    }
    size_t before = w->l->insn_count;
    int64_t imm = w->in.imm;
    w->in.imm = 1; /* This stands for any number but 0, which could mean a trap or a move. */
    if (w->in.kind == RISCV_IMM && w->rs1 != ZERO)
        lower_imm(w, 1);
    else if (w->in.kind == RISCV_IMM)
        lower_put_imm(w, w->rd, 0);
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

/* Returns the target of a jump without a relocation. The distance that the jump has is right,
 * because sections keep their layout. */
static struct link_place lower_relative(const struct lowering *w)
{
    return (struct link_place){w->section, (int64_t)w->offset + w->in.imm};
}

static void put_control(struct lowering *w, struct link_insn in, struct link_place to)
{
    if (!place_is_code(w, to)) {
        /* The target is a weak function that is not defined. */
        if (to.section == LINK_NONE && !to.offset) {
            lower_put(w, (struct link_insn){.op = PVM_OP_trap});
            return;
        }
        lower_fail(w, PVM_LINK_JUMP, NULL, "a jump to where no code is");
        return;
    }
    in.to = to.section;
    in.imm2 = to.offset;
    lower_put(w, in);
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
        lower_fail(w, PVM_LINK_JUMP, NULL, "an indirect jump with an offset");
    } else if (w->rs1 == ZERO) {
        lower_put(w, (struct link_insn){.op = PVM_OP_trap});
    } else if (w->rd == ZERO) {
        lower_put(w, (struct link_insn){.op = PVM_OP_jump_indirect, .a = w->rs1});
    } else {
        lower_put(w, (struct link_insn){
                         .op = PVM_OP_load_imm_and_jump_indirect, .a = w->rd, .b = w->rs1});
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

/* Lowers an auipc and a jalr as one jump. The auipc has the relocation. Returns the size of both
 * instructions. */
static unsigned lower_far_call(struct lowering *w, struct link_place to)
{
    struct riscv_insn next;
    penta_bytes code = w->l->sections[w->section].data;
    riscv_decode(bytes_slice(code, (size_t)w->offset + 4, 4), w->l->bits, &next);
    if (next.kind != RISCV_JALR || next.rs1 != w->in.rd) {
        lower_fail(w, PVM_LINK_RELOCATION, NULL, "a call whose second half is not a jalr");
        return w->in.size;
    }
    if (!relocation_fits(w, to, w->offset, w->in.imm + next.imm)) return 8;
    w->in.rd = next.rd;
    w->rd = lower_map_reg(w, next.rd);
    if (w->failed) return 8;
    if (w->rd == ZERO)
        put_jump(w, to);
    else
        put_call(w, to);
    return 4u + next.size;
}

/* Lowers an instruction that makes or completes an address without a relocation. */
static void lower_own_address(struct lowering *w, const struct followed_address *known)
{
    struct link_place place = {w->section, known ? known->place : 0};
    if (known && w->in.kind != RISCV_JALR)
        put_address(w, w->rd, place, REF_DATA);
    else if (known && w->rd == ZERO)
        put_jump(w, place);
    else if (known)
        put_call(w, place);
}

static unsigned lower_import(struct lowering *w)
{
    const struct link_section *s = &w->l->sections[w->section];
    const struct link_reloc *r = link_reloc_at(s, w->offset + 4, link_reloc_is_pointer);
    unsigned size = 4 + w->l->bits / 8;
    struct link_place record;
    if (!r || w->offset + size > s->data.size) {
        lower_fail(w, PVM_LINK_NO_RELOCS, LINK_RELOCS_NOTE, "an import without a relocation");
        return size;
    }
    if (!link_target(w->l, w->section, r, &record)) {
        w->failed = true;
        return size;
    }
    if (record.section == LINK_NONE) {
        lower_fail(w, PVM_LINK_METADATA, NULL, "an import without metadata");
        return size;
    }
    uint32_t import = link_import_at(w->l, record, w->section, w->offset);
    if (import == LINK_NONE)
        w->failed = true;
    else
        lower_put(w, (struct link_insn){.op = PVM_OP_ecalli, .ref = REF_IMPORT, .imm1 = import});
    return size;
}

/* Lowers an instruction that has a relocation for its operand. Returns how many bytes of code
 * that took. */
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
        else if (kind == RISCV_LOAD) /* This instruction loads an address from its GOT slot. */
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
        if (relocation_fits(w, place, w->offset, w->in.imm)) lower_branch(w, place);
        return w->in.size;
    case R_JAL:
    case R_RVC_JUMP:
        if (kind != RISCV_JAL) break;
        if (!relocation_fits(w, place, w->offset, w->in.imm)) return w->in.size;
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
    lower_fail(w, PVM_LINK_RELOCATION, NULL, what);
    return w->in.size;
}

static unsigned lower_insn(struct lowering *w)
{
    const struct link_reloc *r =
        link_reloc_at(&w->l->sections[w->section], w->offset, reloc_is_code);
    map_regs(w);
    if (w->failed) return w->in.size;
    if (r && w->in.kind != RISCV_NO) return lower_relocated(w, r);
    const struct followed_address *known =
        w->followed.count ? lower_followed(&w->followed, w->offset) : NULL;
    if (known || w->in.kind == RISCV_AUIPC) {
        lower_own_address(w, known);
        return w->in.size;
    }
    switch (w->in.kind) {
    case RISCV_NO:
        lower_fail(w, PVM_LINK_INSTRUCTION,
                   "compile with -march=rv64emac_zbb_xtheadcondmov or rv32emac_zbb_xtheadcondmov",
                   "an instruction that the machine does not have");
        break;
    case RISCV_LUI:
        if (w->rd != ZERO) lower_put_imm(w, w->rd, w->in.imm);
        break;
    /* An auipc was lowered before, with its relocation or its followed address. */
    case RISCV_AUIPC: break;
    case RISCV_JAL:
        if (w->rd == ZERO)
            put_jump(w, lower_relative(w));
        else
            put_call(w, lower_relative(w));
        break;
    case RISCV_JALR: lower_jalr(w); break;
    case RISCV_BRANCH: lower_branch(w, lower_relative(w)); break;
    case RISCV_LOAD: lower_load(w); break;
    case RISCV_STORE: lower_store(w); break;
    case RISCV_IMM:
    case RISCV_SHIFT: lower_imm(w, w->in.imm); break;
    case RISCV_REG: lower_reg(w); break;
    case RISCV_UNARY: lower_unary(w); break;
    case RISCV_ORC_B: lower_orc_b(w); break;
    case RISCV_LR:
        if (w->rd != ZERO) lower_put_load(w, w->in.op, w->rd, w->rs1, 0);
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
    case RISCV_TRAP: lower_put(w, (struct link_insn){.op = PVM_OP_trap}); break;
    }
    return w->in.size;
}

static bool lower_section(struct link *l, uint32_t index)
{
    bool ok = true;
    penta_bytes code = l->sections[index].data;
    uint32_t *at = arena_alloc(&l->arena, code.size / 2 + 2, sizeof *at, &l->err);
    if (!at) return false;
    struct lowering w = {.l = l, .section = index};
    ok = lower_follow(l, index, &w.followed);
    while (w.offset < code.size) {
        w.failed = false;
        at[w.offset / 2] = (uint32_t)l->insn_count + 1;
        riscv_decode(bytes_slice(code, (size_t)w.offset, 4), l->bits, &w.in);
        if (!w.in.size) { /* Only one byte or one halfword is left. */
            w.in.size = 4;
            lower_fail(&w, PVM_LINK_INSTRUCTION, NULL, "the code ends inside an instruction");
            ok = false;
            break;
        }
        unsigned size = lower_insn(&w);
        ok = ok && !w.failed;
        w.offset += size;
    }
    /* A call may be the last instruction, so code may name the place at the end, too. */
    if (w.offset / 2 == code.size / 2) at[w.offset / 2] = (uint32_t)l->insn_count + 1;
    w.offset = code.size;
    lower_put(&w, (struct link_insn){.op = PVM_OP_trap});
    l->sections[index].insn_at = at;
    free(w.followed.list);
    return ok && !l->err.code;
}

bool link_lower(struct link *l)
{
    bool ok = true;
    for (uint32_t i = 0; i < l->spill && !l->err.code; i++)
        if (l->sections[i].use == LINK_CODE && !lower_section(l, i)) ok = false;
    return ok && !l->err.code;
}
