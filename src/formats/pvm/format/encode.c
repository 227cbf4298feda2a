/* Writes one instruction as bytes (encode.h), with the immediates in the number of bytes that
 * its length asks for. */
#include "pvm/format/encode.h"
#include "base/codec/varint.h"

/* Returns the number of bytes that an immediate needs. */
static unsigned encode_shortest(uint64_t value)
{
    int32_t v = (int32_t)(uint32_t)value;
    if (!v) return 0;
    if (v >= -0x80 && v < 0x80) return 1;
    if (v >= -0x8000 && v < 0x8000) return 2;
    return v >= -0x800000 && v < 0x800000 ? 3 : 4;
}

static unsigned encode_put(uint8_t *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) out[i] = (uint8_t)(value >> 8 * i);
    return size;
}

/* Gives the immediates as they are stored: the target of a jump becomes a distance. */
static void encode_stored(const struct pvm_insn *in, uint64_t *first, uint64_t *second)
{
    uint64_t distance = (uint64_t)(int64_t)(int32_t)(in->target - in->pc);
    enum pvm_shape shape = pvm_ops[in->op].shape;
    *first = shape == PVM_OFFSET || shape == PVM_REG_REG_OFFSET ? distance : in->imm1;
    *second = shape == PVM_REG_IMM_OFFSET ? distance : in->imm2;
}

static unsigned encode_nibbles(unsigned low, unsigned high) { return low | high << 4; }

/* Writes the operands before the last immediate and returns their size. Gives that immediate in
 * *last. */
static unsigned encode_head(const struct pvm_insn *in, uint8_t *out, uint64_t *last)
{
    uint64_t first, second;
    encode_stored(in, &first, &second);
    unsigned n1 = encode_shortest(first);
    *last = second;
    switch ((enum pvm_shape)pvm_ops[in->op].shape) {
    case PVM_NONE:
    case PVM_SHAPES: return 0;
    case PVM_IMM:
    case PVM_OFFSET: *last = first; return 0;
    case PVM_IMM_IMM: out[0] = (uint8_t)n1; return 1 + encode_put(out + 1, first, n1);
    case PVM_REG_IMM:
        *last = first;
        out[0] = in->a;
        return 1;
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET:
        out[0] = (uint8_t)encode_nibbles(in->a, n1);
        return 1 + encode_put(out + 1, first, n1);
    case PVM_REG_IMM64: out[0] = in->a; return 1 + encode_put(out + 1, first, 8);
    case PVM_REG_REG: out[0] = (uint8_t)encode_nibbles(in->d, in->a); return 1;
    case PVM_REG_REG_IMM:
    case PVM_REG_REG_OFFSET:
        *last = first;
        out[0] = (uint8_t)encode_nibbles(in->a, in->b);
        return 1;
    case PVM_REG_REG_IMM_IMM:
        out[0] = (uint8_t)encode_nibbles(in->a, in->b);
        out[1] = (uint8_t)n1;
        return 2 + encode_put(out + 2, first, n1);
    case PVM_REG_REG_REG:
        out[0] = (uint8_t)encode_nibbles(in->a, in->b);
        out[1] = in->d;
        return 2;
    }
    return 0;
}

static bool shape_has_last(enum pvm_shape shape)
{
    return shape != PVM_NONE && shape != PVM_REG_IMM64 && shape != PVM_REG_REG &&
           shape != PVM_REG_REG_REG;
}

/* Makes a LEB128 number longer by groups of zero bits: 85 80 00 is 5 in three bytes. */
static unsigned leb_pad(uint8_t *out, unsigned size, unsigned more)
{
    if (!more) return size;
    out[size - 1] |= 0x80;
    while (--more) out[size++] = 0x80;
    out[size++] = 0;
    return size;
}

static unsigned doc_write(const struct pvm_insn *in, unsigned length, uint8_t *out)
{
    uint64_t first, second;
    enum pvm_shape shape = pvm_ops[in->op].shape;
    unsigned n = 0;
    encode_stored(in, &first, &second);
    switch (shape) {
    case PVM_NONE:
    case PVM_SHAPES:
    case PVM_IMM:
    case PVM_OFFSET:
    case PVM_IMM_IMM: break;
    case PVM_REG_IMM:
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET:
    case PVM_REG_IMM64: out[n++] = in->a; break;
    case PVM_REG_REG: out[n++] = (uint8_t)encode_nibbles(in->a, in->d); break;
    case PVM_REG_REG_IMM:
    case PVM_REG_REG_OFFSET:
    case PVM_REG_REG_IMM_IMM: out[n++] = (uint8_t)encode_nibbles(in->b, in->a); break;
    case PVM_REG_REG_REG:
        out[n++] = (uint8_t)encode_nibbles(in->a, in->d);
        out[n++] = in->b;
        break;
    }
    if (shape == PVM_REG_IMM64) return n + encode_put(out + n, first, 8);
    if (!shape_has_last(shape)) return n;
    bool two = shape == PVM_IMM_IMM || shape == PVM_REG_IMM_IMM || shape == PVM_REG_IMM_OFFSET ||
               shape == PVM_REG_REG_IMM_IMM;
    if (two) n += varint_leb_write(out + n, (uint32_t)first);
    unsigned size = varint_leb_write(out + n, (uint32_t)(two ? second : first));
    if (length > n + size && length - n <= VARINT_BYTES)
        size = leb_pad(out + n, size, length - n - size);
    return n + size;
}

unsigned pvm_insn_write(enum pvm_isa isa, bool doc, const struct pvm_insn *in, unsigned length,
                        uint8_t out[PVM_INSN_BYTES])
{
    int number = pvm_ops[in->op].number[isa];
    if (number < 0 || length > PVM_INSN_BYTES) return 0;
    out[0] = (uint8_t)number;
    if (doc) {
        unsigned n = 1 + doc_write(in, length ? length - 1 : 0, out + 1);
        return !length || length == n ? n : 0;
    }
    uint64_t last = 0;
    unsigned n = 1 + encode_head(in, out + 1, &last);
    if (shape_has_last(pvm_ops[in->op].shape)) {
        unsigned size = encode_shortest(last);
        while (n + size < length && size < 4) size++;
        n += encode_put(out + n, last, size);
    }
    if (length && n > length) return 0;
    while (n < length) out[n++] = 0;
    return n;
}
