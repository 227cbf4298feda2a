/* Has the parts of the compiler's decoder that are not inlined (decode.h). */
#include "pvm/jit/decode.h"

void pvm_jit_decoder_init(struct jit_decoder *d, const struct pvm_code *code)
{
    /* AHEAD is more than the bytes that are read at once for an instruction and those after it. */
    enum { AHEAD = 80 };
    d->code = code;
    d->ops = pvm_isas[code->isa].op;
    d->bytes = code->bytes.data;
    d->starts = code->starts;
    d->limit = code->doc || code->bytes.size < AHEAD ? 0 : (uint32_t)code->bytes.size - AHEAD;
    d->end = d->limit;
}

void pvm_jit_decoder_asks(struct jit_decoder *d, uint32_t pc, struct jit *j)
{
    d->asks = j;
    d->next = pc;
    if (d->limit > pc) d->limit = pc;
}

static void decoder_ask(struct jit_decoder *d, uint32_t pc)
{
    d->next = pc + JIT_PIECE;
    d->limit = d->end < d->next ? d->end : d->next;
    pvm_jit_ask(d->asks, JIT_PIECE);
}

/* Returns the byte after the opcode in the longest form of the instruction. It has two
 * registers, or one register and the length of the first immediate, or only that length. */
static uint8_t operand_first_byte(const struct pvm_insn *in, unsigned length)
{
    switch ((enum pvm_shape)pvm_ops[in->op].shape) {
    case PVM_IMM_IMM: return (uint8_t)length;
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET: return (uint8_t)(in->a | length << 4);
    case PVM_REG_REG: return (uint8_t)(in->d | in->a << 4);
    default: return (uint8_t)(in->a | in->b << 4);
    }
}

void pvm_jit_decode_any(struct jit_decoder *d, uint32_t pc, struct jit_insn *out)
{
    enum { IMM = 4 };
    struct pvm_insn in;
    if (d->asks && pc >= d->next) {
        decoder_ask(d, pc);
        if (pc < d->limit) {
            jit_decode(d, pc, out);
            return;
        }
    }
    pvm_decode(d->code, pc, &in);
    enum pvm_shape shape = (enum pvm_shape)pvm_ops[in.op].shape;
    uint8_t *start = d->longest[d->copies++ % 2], *at = start + 1;
    memset(start, 0, sizeof d->longest[0]);
    if (shape != PVM_IMM && shape != PVM_OFFSET) *at++ = operand_first_byte(&in, IMM);
    if (shape == PVM_REG_REG_REG) *at++ = in.d;
    if (shape == PVM_REG_REG_IMM_IMM) *at++ = IMM;
    if (shape == PVM_REG_IMM64) {
        memcpy(at, &in.imm1, 8);
        at += 8;
    } else {
        memcpy(at, &in.imm1, IMM);
        memcpy(at + IMM, &in.imm2, IMM);
        at += 2 * IMM;
    }
    *out = (struct jit_insn){.op = in.op,
                             .length = in.length,
                             .pc = pc,
                             .at = start,
                             .skip = (unsigned)(at - start) - 1,
                             .word = jit_word(start + 1)};
}
