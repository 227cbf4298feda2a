/* Decodes RISC-V instructions (riscv.h). A compressed instruction is first expanded to the long
 * one with the same meaning, and then looked up in riscv.def. */
#include "pvm/link/riscv.h"

static const struct row {
    const char *name;
    uint32_t match, mask;
    uint8_t bits, kind, op32, op64;
} rows[] = {
#define RV(name, match, mask, bits, kind, op32, op64)                                              \
    {#name, match, mask, bits, RISCV_##kind, PVM_OP_##op32, PVM_OP_##op64},
#include "pvm/link/riscv.def"
};

static uint32_t riscv_field(uint32_t word, unsigned from, unsigned size)
{
    return word >> from & ((1u << size) - 1);
}

/* Moves one bit of a word from one place to another. */
static uint32_t riscv_bit(uint32_t word, unsigned from, unsigned to)
{
    return (word >> from & 1) << to;
}

static int32_t riscv_extend(uint32_t value, unsigned bits)
{
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

/* The functions below expand compressed instructions to long ones. */

static uint32_t make_i(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}
static uint32_t make_s(uint32_t funct3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return 0x23 | riscv_field(imm, 0, 5) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 |
           riscv_field(imm, 5, 7) << 25;
}
static uint32_t make_r(uint32_t opcode, uint32_t funct, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return opcode | rd << 7 | (funct & 7) << 12 | rs1 << 15 | rs2 << 20 | funct >> 3 << 25;
}
static uint32_t make_j(uint32_t rd, int32_t imm)
{
    uint32_t u = (uint32_t)imm;
    return 0x6f | rd << 7 | riscv_field(u, 12, 8) << 12 | riscv_bit(u, 11, 20) |
           riscv_field(u, 1, 10) << 21 | riscv_bit(u, 20, 31);
}
static uint32_t make_b(uint32_t funct3, uint32_t rs1, int32_t imm)
{
    uint32_t u = (uint32_t)imm;
    return 0x63 | riscv_bit(u, 11, 7) | riscv_field(u, 1, 4) << 8 | funct3 << 12 | rs1 << 15 |
           riscv_field(u, 5, 6) << 25 | riscv_bit(u, 12, 31);
}

static int32_t riscv_imm6(uint32_t h)
{
    return riscv_extend(riscv_field(h, 2, 5) | riscv_bit(h, 12, 5), 6);
}

static int32_t jump_offset(uint32_t h)
{
    return riscv_extend(riscv_field(h, 3, 3) << 1 | riscv_bit(h, 11, 4) | riscv_bit(h, 2, 5) |
                            riscv_bit(h, 7, 6) | riscv_bit(h, 6, 7) | riscv_field(h, 9, 2) << 8 |
                            riscv_bit(h, 8, 10) | riscv_bit(h, 12, 11),
                        12);
}

static int32_t branch_offset(uint32_t h)
{
    return riscv_extend(riscv_field(h, 3, 2) << 1 | riscv_field(h, 10, 2) << 3 |
                            riscv_bit(h, 2, 5) | riscv_field(h, 5, 2) << 6 | riscv_bit(h, 12, 8),
                        9);
}

/* The functions below decode the offsets of loads and stores of words and double words, relative
 * to a register or to the stack pointer. */
static uint32_t offset_w(uint32_t h)
{
    return riscv_field(h, 10, 3) << 3 | riscv_bit(h, 6, 2) | riscv_bit(h, 5, 6);
}
static uint32_t offset_d(uint32_t h)
{
    return riscv_field(h, 10, 3) << 3 | riscv_field(h, 5, 2) << 6;
}
static uint32_t offset_lwsp(uint32_t h)
{
    return riscv_field(h, 4, 3) << 2 | riscv_bit(h, 12, 5) | riscv_field(h, 2, 2) << 6;
}
static uint32_t offset_ldsp(uint32_t h)
{
    return riscv_field(h, 5, 2) << 3 | riscv_bit(h, 12, 5) | riscv_field(h, 2, 3) << 6;
}
static uint32_t offset_swsp(uint32_t h)
{
    return riscv_field(h, 9, 4) << 2 | riscv_field(h, 7, 2) << 6;
}
static uint32_t offset_sdsp(uint32_t h)
{
    return riscv_field(h, 10, 3) << 3 | riscv_field(h, 7, 3) << 6;
}

static uint32_t expand_0(uint32_t h, unsigned bits)
{
    uint32_t low = 8 + riscv_field(h, 2, 3), base = 8 + riscv_field(h, 7, 3);
    uint32_t add = riscv_field(h, 11, 2) << 4 | riscv_field(h, 7, 4) << 6 | riscv_bit(h, 6, 2) |
                   riscv_bit(h, 5, 3);
    switch (riscv_field(h, 13, 3)) {
    /* The instruction is c.addi4spn. */
    case 0: return add ? make_i(0x13, 0, low, 2, (int32_t)add) : 0;
    case 2: return make_i(0x03, 2, low, base, (int32_t)offset_w(h));
    case 3: return bits == 64 ? make_i(0x03, 3, low, base, (int32_t)offset_d(h)) : 0;
    case 6: return make_s(2, base, low, offset_w(h));
    case 7: return bits == 64 ? make_s(3, base, low, offset_d(h)) : 0;
    default: return 0;
    }
}

/* Expands c.srli to c.addw. The table has funct7 and funct3 of the register forms, as make_r
 * takes them. */
static uint32_t expand_arithmetic(uint32_t h, unsigned bits)
{
    /* The instructions are sub, xor, or, and. */
    static const uint32_t word[] = {0x20 << 3, 4, 6, 7};
    uint32_t rd = 8 + riscv_field(h, 7, 3), rs2 = 8 + riscv_field(h, 2, 3);
    uint32_t amount = riscv_field(h, 2, 5) | riscv_bit(h, 12, 5);
    if (bits == 32 && riscv_field(h, 10, 2) < 2 && amount > 31) return 0;
    switch (riscv_field(h, 10, 2)) {
    case 0: return make_i(0x13, 5, rd, rd, (int32_t)amount);
    case 1: return make_i(0x13, 5, rd, rd, (int32_t)(amount | 0x400));
    case 2: return make_i(0x13, 7, rd, rd, riscv_imm6(h));
    }
    if (!riscv_field(h, 12, 1)) return make_r(0x33, word[riscv_field(h, 5, 2)], rd, rd, rs2);
    if (bits == 32 || riscv_field(h, 5, 2) > 1) return 0;
    /* The instructions are subw and addw. */
    return make_r(0x3b, riscv_field(h, 5, 2) ? 0 : 0x20 << 3, rd, rd, rs2);
}

static uint32_t expand_1(uint32_t h, unsigned bits)
{
    uint32_t rd = riscv_field(h, 7, 5), high = 8 + riscv_field(h, 7, 3);
    int32_t stack = riscv_extend(riscv_bit(h, 6, 4) | riscv_bit(h, 2, 5) | riscv_bit(h, 5, 6) |
                                     riscv_field(h, 3, 2) << 7 | riscv_bit(h, 12, 9),
                                 10);
    switch (riscv_field(h, 13, 3)) {
    case 0: return make_i(0x13, 0, rd, rd, riscv_imm6(h));
    case 1:
        if (bits == 32) return make_j(1, jump_offset(h));
        return rd ? make_i(0x1b, 0, rd, rd, riscv_imm6(h)) : 0;
    case 2: return make_i(0x13, 0, rd, 0, riscv_imm6(h));
    case 3:
        if (rd == 2) return stack ? make_i(0x13, 0, 2, 2, stack) : 0;
        return riscv_imm6(h) ? 0x37 | rd << 7 | (uint32_t)riscv_imm6(h) << 12 : 0;
    case 4: return expand_arithmetic(h, bits);
    case 5: return make_j(0, jump_offset(h));
    case 6: return make_b(0, high, branch_offset(h));
    default: return make_b(1, high, branch_offset(h));
    }
}

static uint32_t expand_2(uint32_t h, unsigned bits)
{
    uint32_t rd = riscv_field(h, 7, 5), rs2 = riscv_field(h, 2, 5);
    uint32_t amount = rs2 | riscv_bit(h, 12, 5);
    switch (riscv_field(h, 13, 3)) {
    case 0: return bits == 32 && amount > 31 ? 0 : make_i(0x13, 1, rd, rd, (int32_t)amount);
    case 2: return rd ? make_i(0x03, 2, rd, 2, (int32_t)offset_lwsp(h)) : 0;
    case 3: return rd && bits == 64 ? make_i(0x03, 3, rd, 2, (int32_t)offset_ldsp(h)) : 0;
    /* The instruction is c.add or c.mv. */
    case 4:
        if (rs2) return make_r(0x33, 0, rd, riscv_field(h, 12, 1) ? rd : 0, rs2);
        /* The instruction is c.jalr or c.jr, and with rd 0 c.ebreak. */
        return rd ? make_i(0x67, 0, riscv_field(h, 12, 1), rd, 0) : 0;
    case 6: return make_s(2, 2, rs2, offset_swsp(h));
    case 7: return bits == 64 ? make_s(3, 2, rs2, offset_sdsp(h)) : 0;
    default: return 0;
    }
}

/* Returns the long instruction that means the same as a compressed one, or 0 when there is none. */
static uint32_t riscv_expand(uint32_t h, unsigned bits)
{
    switch (h & 3) {
    case 0: return expand_0(h, bits);
    case 1: return expand_1(h, bits);
    default: return expand_2(h, bits);
    }
}

static int64_t riscv_immediate(uint32_t word, enum riscv_kind kind)
{
    switch (kind) {
    case RISCV_LUI:
    case RISCV_AUIPC: return (int32_t)(word & 0xfffff000);
    case RISCV_JAL:
        return riscv_extend(riscv_field(word, 21, 10) << 1 | riscv_bit(word, 20, 11) |
                                riscv_field(word, 12, 8) << 12 | riscv_bit(word, 31, 20),
                            21);
    case RISCV_BRANCH:
        return riscv_extend(riscv_field(word, 8, 4) << 1 | riscv_field(word, 25, 6) << 5 |
                                riscv_bit(word, 7, 11) | riscv_bit(word, 31, 12),
                            13);
    case RISCV_STORE:
        return riscv_extend(riscv_field(word, 7, 5) | riscv_field(word, 25, 7) << 5, 12);
    case RISCV_SHIFT: return riscv_field(word, 20, 6);
    case RISCV_LOAD:
    case RISCV_IMM:
    case RISCV_JALR: return riscv_extend(word >> 20, 12);
    default: return 0;
    }
}

void riscv_decode(penta_bytes bytes, unsigned bits, struct riscv_insn *out)
{
    *out = (struct riscv_insn){.kind = RISCV_NO};
    if (bytes.size < 2) return;
    uint32_t word = bytes_get16(bytes.data);
    out->size = 2;
    if (!word) {
        out->kind = RISCV_TRAP;
        out->op = PVM_OP_trap;
        out->name = "unimp";
        return;
    }
    if ((word & 3) == 3) {
        out->size = bytes.size < 4 ? 0 : 4;
        if (!out->size) return;
        word = bytes_get32(bytes.data);
    } else {
        word = riscv_expand(word, bits);
        if (!word) return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if ((word & r->mask) != r->match || (r->bits && r->bits != bits)) continue;
        out->kind = (enum riscv_kind)r->kind;
        out->op = bits == 64 ? r->op64 : r->op32;
        out->name = r->name;
        out->rd = (uint8_t)riscv_field(word, 7, 5);
        out->rs1 = (uint8_t)riscv_field(word, 15, 5);
        out->rs2 = (uint8_t)riscv_field(word, 20, 5);
        out->rs3 = (uint8_t)riscv_field(word, 27, 5);
        out->word = riscv_field(word, 12, 3) == 2;
        out->imm = riscv_immediate(word, out->kind);
        return;
    }
}

const char *riscv_family(uint32_t word)
{
    /* The compressed instructions that are left load and store floating point. */
    if ((word & 3) != 3) {
        uint32_t funct3 = riscv_field(word, 13, 3);
        if ((word & 3) != 1 && (funct3 & 3) != 0 && (funct3 & 3) != 2) return "floating point";
        return (word & 0xffff) == 0x9002 ? "ebreak" : NULL;
    }
    switch (word & 0x7f) {
    case 0x07:
    case 0x27:
        return riscv_field(word, 12, 3) >= 1 && riscv_field(word, 12, 3) <= 4 ? "floating point"
                                                                              : "vector";
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
    case 0x53: return "floating point";
    case 0x57: return "vector";
    case 0x73:
        if (word == 0x73) return "ecall";
        if (word == 0x100073) return "ebreak";
        return riscv_field(word, 12, 3) ? "control and status register" : "privileged";
    default: return NULL;
    }
}
