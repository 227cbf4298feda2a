/* Finds the properties of all instructions of a program in one pass (code_bits.h). Most
 * instructions are classified by their opcode and length alone; only the others are decoded. */
#include "pvm/format/code_bits.h"
#include <stdlib.h>

const uint8_t pvm_fixed_bytes[PVM_SHAPES] = {
    [PVM_IMM_IMM] = 1,        [PVM_REG_IMM] = 1,        [PVM_REG_IMM_IMM] = 1,
    [PVM_REG_IMM_OFFSET] = 1, [PVM_REG_IMM64] = 9,      [PVM_REG_REG] = 1,
    [PVM_REG_REG_IMM] = 1,    [PVM_REG_REG_OFFSET] = 1, [PVM_REG_REG_IMM_IMM] = 2,
    [PVM_REG_REG_REG] = 2,
};

static struct pvm_usual op_usual(enum pvm_op op)
{
    enum pvm_shape shape = pvm_ops[op].shape;
    struct pvm_usual u = {.need = (uint8_t)(1 + pvm_fixed_bytes[shape]),
                          .stops = pvm_ends_block(op),
                          .ends = pvm_ends_block(op) && op != PVM_OP_invalid,
                          .jumps = pvm_has_target(op)};
    if (shape >= PVM_REG_IMM) u.first = PVM_LOW_NIBBLE;
    if (shape >= PVM_REG_REG) u.first = PVM_LOW_NIBBLE | PVM_HIGH_NIBBLE;
    if (shape == PVM_REG_REG_REG) u.second = PVM_LOW_NIBBLE;
    if (shape == PVM_IMM_IMM) u.size_at = 8;
    if (shape == PVM_REG_IMM_IMM || shape == PVM_REG_IMM_OFFSET) u.size_at = 12;
    if (shape == PVM_REG_REG_IMM_IMM) u.size_at = 16;
    if (u.size_at) u.size_mask = 7;
    if (op == PVM_OP_invalid || pvm_ops[op].flow == PVM_FLOW_HOST) u.need = PVM_NEVER;
    u.plain = u.jumps || u.size_at ? PVM_NEVER : u.need;
    return u;
}

static void code_bits_set(uint64_t *bits, uint32_t pc) { bits[pc / 64] |= UINT64_C(1) << pc % 64; }

/* A struct pass is one pass over the code, which fills the bits of a word instruction by
 * instruction. */
struct pass {
    const struct pvm_code *code;
    struct pvm_code_bits *out;
    uint64_t ended; /* 1 when the instruction before ends a block, and for the first instruction */
    uint64_t stops, targets, odd;
};

/* Classifies one instruction. Most instructions need no decoding: they are long enough for their
 * registers, none of which is above 12, and they neither jump nor call the host. The function
 * has no branches that depend on the instruction, because mispredicted ones would take most of
 * the time. */
static inline void code_bits_classify(struct pass *s, const uint8_t *p, unsigned bit,
                                      uint32_t length)
{
    const struct pvm_usual *u = &s->out->usual[p[0]];
    const uint8_t *high = s->out->high;
    unsigned registers = (unsigned)(u->first & high[p[1]]) | (u->second & high[p[2]]);
    unsigned odd = (registers != 0) | (length < u->plain) | (length > PVM_SKIP_MAX + 1);
    s->odd |= (uint64_t)odd << bit;
    s->targets |= s->ended << bit;
    s->stops |= (uint64_t)(u->stops | (length > PVM_SKIP_MAX + 1)) << bit;
    /* PolkaVM's own search may miss a start that is 25 bytes away. There pvm_is_target decides. */
    s->ended = u->ends & (length <= PVM_SKIP_MAX);
}

/* Returns where the next instruction starts, at pc or after it. It is at most 2 * PVM_SKIP_MAX
 * bytes away. */
static uint32_t code_start_after(const struct pvm_code *code, uint32_t pc)
{
    const uint32_t far = 2 * PVM_SKIP_MAX;
    uint64_t bits = pc < code->bytes.size ? pvm_start_bits(code, pc) : 1;
    return pc + (uint32_t)__builtin_ctzll(bits | UINT64_C(1) << far);
}

static void code_bits_find(struct pass *s, uint32_t to)
{
    const struct pvm_code *code = s->code;
    for (uint32_t base = 0; base < to; base += 64) {
        const uint8_t *p = code->bytes.data + base;
        uint64_t bits = pvm_start_bits(code, base);
        s->stops = s->targets = s->odd = 0;
        if (bits) {
            unsigned bit = (unsigned)__builtin_ctzll(bits);
            while (bits &= bits - 1) {
                unsigned next = (unsigned)__builtin_ctzll(bits);
                code_bits_classify(s, p + bit, bit, next - bit);
                bit = next;
            }
            code_bits_classify(s, p + bit, bit, code_start_after(code, base + 64) - base - bit);
        }
        s->out->stops[base / 64] = s->stops;
        s->out->targets[base / 64] = s->targets;
        s->out->odd[base / 64] = s->odd;
    }
}

/* Finds the bits by decoding. That is needed near the end of the code, where code_bits_find()
 * would read past it, for doc programs, whose operands decide where instructions end, and for
 * the Gray Paper's jump rule. Here all instructions get all checks, and targets are left to
 * pvm_is_target. */
static void find_slowly(const struct pvm_code *code, struct pvm_code_bits *out, uint32_t from)
{
    struct pvm_insn in;
    for (uint32_t pc = from; pc < code->bytes.size; pc++) {
        if (!pvm_bit(code->starts, pc)) continue;
        pvm_decode(code, pc, &in);
        code_bits_set(out->odd, pc);
        if (pvm_ends_block(in.op) || !pvm_starts(code, pc + in.length))
            code_bits_set(out->stops, pc);
    }
}

bool pvm_code_bits_find(const struct pvm_code *code, struct pvm_code_bits *out)
{
    const uint32_t size = (uint32_t)code->bytes.size;
    size_t words = size / 64 + 1;
    out->stops = calloc(words, sizeof *out->stops);
    out->targets = calloc(words, sizeof *out->targets);
    out->odd = calloc(words, sizeof *out->odd);
    if (!out->stops || !out->targets || !out->odd) {
        pvm_code_bits_free(out);
        return false;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        out->usual[byte] = op_usual(pvm_isas[code->isa].op[byte]);
        out->high[byte] = (uint8_t)(((byte & 15) > 12 ? PVM_LOW_NIBBLE : 0) |
                                    (byte >> 4 > 12 ? PVM_HIGH_NIBBLE : 0));
    }
    bool fast = !code->doc && !code->gp && size >= 128;
    uint32_t to = fast ? (size - 32) / 64 * 64 : 0;
    struct pass s = {.code = code, .out = out, .ended = pvm_starts(code, 0)};
    code_bits_find(&s, to);
    find_slowly(code, out, to);
    return true;
}

void pvm_code_bits_free(struct pvm_code_bits *bits)
{
    free(bits->stops);
    free(bits->targets);
    free(bits->odd);
    bits->stops = bits->targets = bits->odd = NULL;
}
