/* The instructions of all ISAs are declared here, and how the bytes of one are read (PVM 2, PVM
 * 3).
 *
 * In `polkavm` and `jam` programs the bitmask says where instructions start, and so how long
 * they are. In `doc` programs the length follows from the shape, and `starts` was computed.
 * Decoding never fails: bytes that are no instruction decode to PVM_OP_invalid. */
#pragma once
#include "base/bytes.h"

enum pvm_isa { PVM_REVIVE_V1, PVM_LATEST32, PVM_LATEST64, PVM_JAM_V1, PVM_ISAS };

/* clang-format off */
enum pvm_shape {
    PVM_NONE, PVM_IMM, PVM_OFFSET, PVM_IMM_IMM, PVM_REG_IMM, PVM_REG_IMM_IMM, PVM_REG_IMM_OFFSET,
    PVM_REG_IMM64, PVM_REG_REG, PVM_REG_REG_IMM, PVM_REG_REG_OFFSET, PVM_REG_REG_IMM_IMM,
    PVM_REG_REG_REG, PVM_SHAPES
};
/* clang-format on */

/* clang-format off */
enum pvm_flow {
    PVM_FLOW_NEXT, PVM_FLOW_HOST, PVM_FLOW_FALL, PVM_FLOW_BRANCH, PVM_FLOW_JUMP, PVM_FLOW_DYNAMIC,
    PVM_FLOW_TRAP,
};
/* clang-format on */

enum pvm_op {
    PVM_OP_invalid, /* stands for an opcode that the ISA does not define, and is 0 */
#define OP(name, ...) PVM_OP_##name,
#include "pvm/isa.def"
    PVM_OPS
};

enum { PVM_REGISTERS = 13, PVM_SKIP_MAX = 24 };

extern const struct pvm_op_info {
    const char *name, *gp_name;
    /* `number` is the opcode byte in each ISA, or -1 when the ISA does not have the instruction. */
    int16_t number[PVM_ISAS];
    uint8_t shape, flow;
} pvm_ops[PVM_OPS];

extern const struct pvm_isa_info {
    const char *name;
    uint8_t bits;    /* the width of a register in bits */
    uint8_t op[256]; /* the enum pvm_op of each opcode byte */
} pvm_isas[PVM_ISAS];

/* The names are ra sp t0 t1 t2 s0 s1 a0 .. a5. */
extern const char *const pvm_register_names[PVM_REGISTERS];
bool pvm_register_parse(penta_bytes name, uint8_t *number); /* Reads a name such as "a0" or "r7". */

static inline bool pvm_ends_block(enum pvm_op op)
{
    return pvm_ops[op].flow > PVM_FLOW_HOST || op == PVM_OP_invalid;
}
/* Tells whether control can reach the next instruction without a jump. */
static inline bool pvm_falls_through(enum pvm_op op)
{
    return pvm_ops[op].flow <= PVM_FLOW_BRANCH && op != PVM_OP_invalid;
}
static inline bool pvm_has_target(enum pvm_op op)
{
    return pvm_ops[op].flow == PVM_FLOW_BRANCH || pvm_ops[op].flow == PVM_FLOW_JUMP;
}

struct pvm_code {
    enum pvm_isa isa;
    bool doc; /* The operands are stored as in the doc dialect. */
    bool gp;  /* Jump targets follow the Gray Paper's rule, not PolkaVM's. */
    penta_bytes bytes;
    penta_bytes mask; /* the bitmask as it is stored: (bytes.size + 7) / 8 bytes */
    /* `starts` has a bit for each byte of the code: an instruction starts there. It is
     * mask.data, except in doc programs. */
    const uint8_t *starts;
    penta_bytes table; /* the jump table: table_count entries of table_entry bytes */
    uint32_t table_count;
    uint8_t table_entry; /* how many bytes an entry has; when it is 0, the table counts as empty */
    bool table_filler;   /* true in doc programs, whose jump table marks entries that trap with a
                          * filler value */
};

/* A struct pvm_insn is one decoded instruction. A, B and D are its registers, named as in the
 * Gray Paper's instruction formats. */
struct pvm_insn {
    uint8_t op; /* a number of enum pvm_op */
    uint8_t a, b, d;
    /* `length` says how many bytes the instruction has with its opcode; the next one is at pc +
     * length. */
    uint8_t length;
    /* `size1` and `size2` say how many bytes the immediates have as stored; an offset is the
     * last of them. */
    uint8_t size1, size2;
    uint32_t pc;
    uint32_t target;     /* the target of a jump or branch, as a pc */
    uint64_t imm1, imm2; /* the immediates, sign-extended to 64 bits */
};

static inline bool pvm_bit(const uint8_t *bits, uint32_t at)
{
    return bits[at >> 3] >> (at & 7) & 1;
}

static inline bool pvm_starts(const struct pvm_code *code, uint32_t pc)
{
    return pc < code->bytes.size && pvm_bit(code->starts, pc);
}

/* Returns at least 57 bits of code->starts, from `at` on. Bits past the end of the code are 1,
 * so that a search ends there. */
static inline uint64_t pvm_start_bits(const struct pvm_code *code, uint32_t at)
{
    size_t byte = at >> 3, valid = code->bytes.size - byte * 8;
    uint64_t bits = 0;
    if (valid >= 64) {
        bits = bytes_get64(code->starts + byte);
    } else {
        for (size_t i = 0; i < (valid + 7) / 8; i++)
            bits |= (uint64_t)code->starts[byte + i] << 8 * i;
        bits |= ~UINT64_C(0) << valid;
    }
    return bits >> (at & 7);
}

/* Returns the number of bytes between the opcode at pc and the next instruction, which is at
 * most 24. pc is inside the code. */
static inline unsigned pvm_skip(const struct pvm_code *code, uint32_t pc)
{
    if (pc + 1 >= code->bytes.size) return 0;
    uint64_t stop = UINT64_C(1) << PVM_SKIP_MAX;
    return (unsigned)__builtin_ctzll(pvm_start_bits(code, pc + 1) | stop);
}

/* Decodes the instruction at pc. Where no instruction starts, op is invalid and length reaches
 * to the next start. Outside of the code, and in doc programs, length is then 1. */
void pvm_decode(const struct pvm_code *code, uint32_t pc, struct pvm_insn *out);

/* Returns only the target of the jump or branch at pc. This is faster than decoding all of the
 * instruction. */
uint32_t pvm_jump_target(const struct pvm_code *code, uint32_t pc, unsigned skip);

/* Tells whether a jump, static or dynamic, may go to pc. */
bool pvm_is_target(const struct pvm_code *code, uint32_t pc);

/* Finds the pc that the dynamic address 2 * (index + 1) leads to. Returns false for an entry
 * that must trap. */
bool pvm_table_entry(const struct pvm_code *code, uint32_t index, uint64_t *pc);
