/* RISC-V instructions: one word to its row of riscv.def and its operands. */
#pragma once
#include "pvm/format/decode.h"

enum riscv_kind {
    RISCV_NO, /* not an instruction that can be linked */
    RISCV_LUI,
    RISCV_AUIPC,
    RISCV_JAL,
    RISCV_JALR,
    RISCV_BRANCH,
    RISCV_LOAD,
    RISCV_STORE,
    RISCV_IMM,
    RISCV_SHIFT,
    RISCV_REG,
    RISCV_UNARY,
    RISCV_ORC_B,
    RISCV_LR,
    RISCV_SC,
    RISCV_AMO,
    RISCV_CZERO_EQZ,
    RISCV_CZERO_NEZ,
    RISCV_CMOV,
    RISCV_CCMOV,
    RISCV_IMPORT,
    RISCV_SBRK,
    RISCV_MEMSET,
    RISCV_HEAP,
    RISCV_NOTHING,
    RISCV_TRAP,
};

struct riscv_insn {
    enum riscv_kind kind;
    uint8_t op;                /* enum pvm_op, for the word size asked for */
    uint8_t size;              /* bytes: 2 or 4 */
    uint8_t rd, rs1, rs2, rs3; /* x-numbers */
    bool word;                 /* AMO, LR, SC: 32 bits wide */
    int64_t imm;
    const char *name;
};

/* The instruction at the start of bytes. RISCV_NO with size 0 when the bytes end inside it. */
void riscv_decode(penta_bytes bytes, unsigned bits, struct riscv_insn *out);
/* The family of an instruction that is not known, for messages: "floating point". */
const char *riscv_family(uint32_t word);
