/* Has the tables of instructions, and reads their bytes (decode.h). Immediates are read by loads
 * of fixed width; near the end of the code the bytes are first copied into a buffer that ends
 * with zeros. */
#include "pvm/format/decode.h"
#include "base/codec/varint.h"

const struct pvm_op_info pvm_ops[PVM_OPS] = {
    [PVM_OP_invalid] = {"invalid", "", {-1, -1, -1, -1}, PVM_NONE, PVM_FLOW_TRAP},
#define OP(name, gp, revive, l32, l64, jam, shape, flow)                                           \
    [PVM_OP_##name] = {#name, gp, {revive, l32, l64, jam}, PVM_##shape, PVM_FLOW_##flow},
#include "pvm/isa.def"
};

/* An instruction that an ISA does not have has the number -1, which becomes byte 255 here; no
 * ISA defines that byte. The last line of each list makes it invalid again. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct pvm_isa_info pvm_isas[PVM_ISAS] = {
    {"revive_v1",
     64,
     {
#define OP(name, gp, revive, l32, l64, jam, ...) [(revive)&255] = PVM_OP_##name,
#include "pvm/isa.def"
         [255] = PVM_OP_invalid}},
    {"latest32",
     32,
     {
#define OP(name, gp, revive, l32, l64, jam, ...) [(l32)&255] = PVM_OP_##name,
#include "pvm/isa.def"
         [255] = PVM_OP_invalid}},
    {"latest64",
     64,
     {
#define OP(name, gp, revive, l32, l64, jam, ...) [(l64)&255] = PVM_OP_##name,
#include "pvm/isa.def"
         [255] = PVM_OP_invalid}},
    {"jam_v1",
     64,
     {
#define OP(name, gp, revive, l32, l64, jam, ...) [(jam)&255] = PVM_OP_##name,
#include "pvm/isa.def"
         [255] = PVM_OP_invalid}},
};
#pragma GCC diagnostic pop

const char *const pvm_register_names[PVM_REGISTERS] = {"ra", "sp", "t0", "t1", "t2", "s0", "s1",
                                                       "a0", "a1", "a2", "a3", "a4", "a5"};

bool pvm_register_parse(penta_bytes name, uint8_t *number)
{
    if (name.size < 2 || name.size > 3) return false;
    const uint8_t *p = name.data;
    for (uint8_t i = 0; name.size == 2 && i < PVM_REGISTERS; i++) {
        *number = i;
        if (!memcmp(p, pvm_register_names[i], 2)) return true;
    }
    if (p[0] != 'r' || p[1] < '0' || p[1] > '9') return false;
    if (name.size == 3 && (p[1] != '1' || p[2] < '0' || p[2] > '2')) return false;
    *number = (uint8_t)(name.size == 2 ? p[1] - '0' : 10 + p[2] - '0');
    return true;
}

/* The functions below read operands whose length the bitmask gives, as in polkavm and jam
 * programs. */

static uint8_t decode_reg(unsigned nibble)
{
    nibble &= 15;
    return (uint8_t)(nibble < PVM_REGISTERS ? nibble : PVM_REGISTERS - 1);
}

static uint64_t decode_immediate(const uint8_t *p, unsigned n)
{
    if (!n) return 0;
    unsigned shift = 64 - 8 * n;
    return (uint64_t)((int64_t)((uint64_t)bytes_get32(p) << shift) >> shift);
}

static unsigned decode_clamp(int n) { return n < 0 ? 0 : n > 4 ? 4 : (unsigned)n; }

/* Reads two immediates at p: the first has n1 bytes, the second has the rest of the `left`
 * bytes. */
static void two_immediates(struct pvm_insn *in, const uint8_t *p, unsigned n1, int left)
{
    n1 = n1 & 7;
    if (n1 > 4) n1 = 4;
    in->size1 = (uint8_t)n1;
    in->imm1 = decode_immediate(p, n1);
    in->size2 = (uint8_t)decode_clamp(left - (int)n1);
    in->imm2 = decode_immediate(p + n1, in->size2);
}

/* Reads the operands of an instruction. p points to the 16 bytes after the opcode; they are
 * zeros past the end of the code. */
static void decode_operands(struct pvm_insn *in, const uint8_t *p, unsigned skip)
{
    int s = (int)skip;
    switch ((enum pvm_shape)pvm_ops[in->op].shape) {
    case PVM_NONE:
    case PVM_SHAPES: break;
    case PVM_IMM:
    case PVM_OFFSET:
        in->size1 = (uint8_t)decode_clamp(s);
        in->imm1 = decode_immediate(p, in->size1);
        break;
    case PVM_IMM_IMM: two_immediates(in, p + 1, p[0], s - 1); break;
    case PVM_REG_IMM64:
        in->a = decode_reg(p[0]);
        in->size1 = 8;
        in->imm1 = bytes_get64(p + 1);
        break;
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET:
        in->a = decode_reg(p[0]);
        two_immediates(in, p + 1, p[0] >> 4, s - 1);
        break;
    case PVM_REG_REG:
        in->d = decode_reg(p[0]);
        in->a = decode_reg(p[0] >> 4);
        break;
    case PVM_REG_IMM:
    case PVM_REG_REG_IMM:
    case PVM_REG_REG_OFFSET:
        in->a = decode_reg(p[0]);
        in->b = decode_reg(p[0] >> 4);
        in->size1 = (uint8_t)decode_clamp(s - 1);
        in->imm1 = decode_immediate(p + 1, in->size1);
        break;
    case PVM_REG_REG_IMM_IMM:
        in->a = decode_reg(p[0]);
        in->b = decode_reg(p[0] >> 4);
        two_immediates(in, p + 2, p[1], s - 2);
        break;
    case PVM_REG_REG_REG:
        in->a = decode_reg(p[0]);
        in->b = decode_reg(p[0] >> 4);
        in->d = decode_reg(p[1]);
        break;
    }
}

/* The functions below read operands whose number follows from the shape, as in doc programs. */

/* Reads a LEB128 number, sign-extended from 32 bits. Returns its size, or 0 when it is
 * malformed. */
static unsigned decode_leb32(const uint8_t *p, size_t left, uint64_t *value)
{
    uint32_t v = 0;
    unsigned size = varint_leb_read((penta_bytes){p, left}, &v);
    *value = (uint64_t)(int64_t)(int32_t)v;
    return size;
}

/* The table has the numbers of registers and of LEB128 immediates that a shape has. */
/* clang-format off */
static const struct { uint8_t registers, immediates; } doc_shapes[PVM_SHAPES] = {
    [PVM_IMM] = {0, 1},         [PVM_OFFSET] = {0, 1},          [PVM_IMM_IMM] = {0, 2},
    [PVM_REG_IMM] = {1, 1},     [PVM_REG_IMM_IMM] = {1, 2},     [PVM_REG_IMM_OFFSET] = {1, 2},
    [PVM_REG_IMM64] = {1, 0},   [PVM_REG_REG] = {2, 0},         [PVM_REG_REG_IMM] = {2, 1},
    [PVM_REG_REG_OFFSET] = {2, 1}, [PVM_REG_REG_IMM_IMM] = {2, 2}, [PVM_REG_REG_REG] = {3, 0},
};
/* clang-format on */

/* Reads the operands of a doc program. p points to the bytes after the opcode. Returns false
 * when they are not operands of in->op. */
static bool doc_operands(struct pvm_insn *in, const uint8_t *p, size_t left)
{
    enum pvm_shape shape = pvm_ops[in->op].shape;
    unsigned registers = doc_shapes[shape].registers, at = registers > 2 ? 2 : registers ? 1 : 0;
    if (at > left) return false;
    if (registers == 1) {
        in->a = p[0];
    } else if (registers) {
        in->a = p[0] >> 4;
        in->b = p[0] & 15;
    }
    if (registers == 3) { /* The destination register comes first. */
        in->d = in->a;
        in->a = in->b;
        in->b = p[1];
    } else if (shape == PVM_REG_REG) {
        in->d = in->a;
        in->a = in->b;
        in->b = 0;
    }
    if (in->a >= PVM_REGISTERS || in->b >= PVM_REGISTERS || in->d >= PVM_REGISTERS) return false;
    if (shape == PVM_REG_IMM64) {
        if (left < 9) return false;
        in->size1 = 8;
        in->imm1 = bytes_get64(p + 1);
        at = 9;
    }
    if (doc_shapes[shape].immediates > 0) {
        in->size1 = (uint8_t)decode_leb32(p + at, left - at, &in->imm1);
        if (!in->size1) return false;
        at += in->size1;
    }
    if (doc_shapes[shape].immediates > 1) {
        in->size2 = (uint8_t)decode_leb32(p + at, left - at, &in->imm2);
        if (!in->size2) return false;
        at += in->size2;
    }
    in->length = (uint8_t)(1 + at);
    return true;
}

static void resolve_target(struct pvm_insn *in)
{
    bool second = pvm_ops[in->op].shape == PVM_REG_IMM_OFFSET;
    if (pvm_has_target(in->op)) in->target = in->pc + (uint32_t)(second ? in->imm2 : in->imm1);
}

void pvm_decode(const struct pvm_code *code, uint32_t pc, struct pvm_insn *out)
{
    struct pvm_insn in = {.pc = pc, .length = 1};
    if (pc >= code->bytes.size) {
        *out = in;
        return;
    }
    const uint8_t *p = code->bytes.data + pc;
    size_t left = code->bytes.size - pc - 1;
    if (code->doc) {
        in.op = pvm_isas[code->isa].op[p[0]];
        if (!doc_operands(&in, p + 1, left)) in = (struct pvm_insn){.pc = pc, .length = 1};
        resolve_target(&in);
        *out = in;
        return;
    }
    unsigned skip = pvm_skip(code, pc);
    in.length = (uint8_t)(1 + skip);
    if (pvm_bit(code->starts, pc)) in.op = pvm_isas[code->isa].op[p[0]];
    if (left >= 16) {
        decode_operands(&in, p + 1, skip);
    } else {
        uint8_t padded[16] = {0};
        memcpy(padded, p + 1, left);
        decode_operands(&in, padded, skip);
    }
    resolve_target(&in);
    *out = in;
}

bool pvm_is_target(const struct pvm_code *code, uint32_t pc)
{
    if (!pvm_starts(code, pc)) return false;
    if (code->doc) return pvm_bit(code->mask.data, pc);
    const uint8_t *op = pvm_isas[code->isa].op;
    if (code->gp && op[code->bytes.data[pc]] == PVM_OP_invalid) return false;
    if (!pc) return true;
    /* PVM 6.2: when pc is a multiple of 8, an instruction that starts 25 bytes before pc is not
     * found. */
    uint32_t reach = code->gp || pc % 8 ? PVM_SKIP_MAX + 1 : PVM_SKIP_MAX;
    uint32_t from = pc > reach ? pc - reach : 0;
    uint64_t bits = pvm_start_bits(code, from) & ((UINT64_C(1) << (pc - from)) - 1);
    if (!bits) return false;
    enum pvm_op before = op[code->bytes.data[from + 63 - (uint32_t)__builtin_clzll(bits)]];
    return before != PVM_OP_invalid && pvm_ends_block(before);
}

uint32_t pvm_jump_target(const struct pvm_code *code, uint32_t pc, unsigned skip)
{
    if (code->doc || code->bytes.size - pc <= 16) {
        struct pvm_insn in;
        pvm_decode(code, pc, &in);
        return in.target;
    }
    const uint8_t *p = code->bytes.data + pc;
    enum pvm_shape shape = pvm_ops[pvm_isas[code->isa].op[p[0]]].shape;
    unsigned at = shape == PVM_OFFSET ? 1 : 2, first = p[1] >> 4 & 7;
    if (shape == PVM_REG_IMM_OFFSET) at += first > 4 ? 4 : first;
    return pc + (uint32_t)decode_immediate(p + at, decode_clamp((int)skip + 1 - (int)at));
}

/* Tells whether an entry has the value that writers of doc files put, in either byte order, into
 * entries that must trap. */
static bool entry_is_filler(const uint8_t *entry, unsigned size)
{
    static const uint8_t filler[8] = {0xfa, 0x6f, 0x29, 0x54, 0x03, 0x76, 0xba, 0x8a};
    bool same = size >= 4, reversed = size >= 4;
    for (unsigned i = 0; i < size && i < 8; i++) {
        same = same && entry[i] == filler[i];
        reversed = reversed && entry[i] == filler[7 - i];
    }
    return same || reversed;
}

bool pvm_table_entry(const struct pvm_code *code, uint32_t index, uint64_t *pc)
{
    size_t at = (size_t)index * code->table_entry;
    const uint8_t *entry = code->table.data + at;
    if (!code->table_filler && code->table_entry <= 4 && at + 4 <= code->table.size) {
        *pc = bytes_get32(entry) & ((UINT64_C(1) << 8 * code->table_entry) - 1);
        return true;
    }
    if (code->table_filler && entry_is_filler(entry, code->table_entry)) return false;
    *pc = bytes_uint(entry, code->table_entry, false);
    return true;
}
