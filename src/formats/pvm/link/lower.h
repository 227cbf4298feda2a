/* Lowering has three files: lower.c reads the code, follows relocations and makes jumps;
 * lower_compute.c makes the instructions that compute, load and store; addresses.c finds the
 * addresses that have no relocation. */
#pragma once
#include "pvm/link/forms.h"
#include "pvm/link/riscv.h"

enum { ZERO = 13, NO_REG = 255 };

/* A struct followed_address is an instruction that completes an address without a relocation. */
struct followed_address {
    uint64_t offset;
    int64_t place; /* the address, as an offset in the same section */
    bool label;    /* The address is that of a label inside of a function. */
};

struct followed { /* The list is sorted by offset; the caller frees it. */
    struct followed_address *list;
    size_t count, capacity;
};

struct lowering {
    struct link *l;
    uint32_t section;
    uint64_t offset; /* the offset of the instruction in its section */
    struct riscv_insn in;
    uint8_t rd, rs1, rs2; /* registers of the machine, or ZERO for x0 */
    struct followed followed;
    bool failed;
};

/* Reports a finding about the instruction that is being lowered. */
void lower_fail(struct lowering *w, uint32_t code, const char *note, const char *what);
/* Returns the machine's register for register x of RISC-V. When there is none, the function
 * reports a finding and returns ZERO. */
uint8_t lower_map_reg(struct lowering *w, uint8_t x);

/* The functions below are in addresses.c. */

/* Finds the instructions of a section that complete an address without a relocation. Returns
 * false, after a finding, when there is an address that the linker cannot follow. */
bool lower_follow(struct link *l, uint32_t section, struct followed *f);
/* Returns the address that the instruction at this offset completes, or NULL when it completes
 * none. */
const struct followed_address *lower_followed(const struct followed *f, uint64_t offset);

/* The functions below are in lower_compute.c. */

void lower_put(struct lowering *w, struct link_insn in);
void lower_put_imm(struct lowering *w, uint8_t d, int64_t value);
void lower_put_load(struct lowering *w, uint8_t op, uint8_t d, uint8_t base, int64_t offset);
uint8_t lower_word_op(const struct lowering *w, uint8_t op64, uint8_t op32);

void lower_reg(struct lowering *w);
void lower_unary(struct lowering *w);
void lower_imm(struct lowering *w, int64_t imm);
void lower_orc_b(struct lowering *w);
void lower_cmov(struct lowering *w);
void lower_czero(struct lowering *w);
void lower_ccmov(struct lowering *w);
void lower_load(struct lowering *w);
void lower_store(struct lowering *w);
void lower_sc(struct lowering *w);
void lower_amo(struct lowering *w);
/* Lowers sbrk, memset and the instruction that gives the base of the heap. */
void lower_own(struct lowering *w);
