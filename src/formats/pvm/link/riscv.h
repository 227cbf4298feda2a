/* Decodes RISC-V instructions: finds the row of riscv.def for a word, and the operands. */
#pragma once
#include "pvm/format/decode.h"

enum riscv_kind {
    RISCV_NO, /* The word is no instruction that can be linked. */
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
    /* `op` is the machine's instruction for this word size: a number of enum pvm_op. */
    uint8_t op;
    uint8_t size;              /* the size of the RISC-V instruction, 2 or 4 bytes */
    uint8_t rd, rs1, rs2, rs3; /* the numbers of the x registers */
    bool word;                 /* The operation of an AMO, LR or SC has 32 bits. */
    int64_t imm;
    const char *name;
};

/* Decodes the instruction at the start of the bytes. When the bytes end inside it, the kind is
 * RISCV_NO and the size 0. */
void riscv_decode(penta_bytes bytes, unsigned bits, struct riscv_insn *out);
/* Returns the family of an unknown instruction for messages, such as "floating point". */
const char *riscv_family(uint32_t word);
