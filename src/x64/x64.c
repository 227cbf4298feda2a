/* This file has the parts of the assembler that are not inlined: labels with their jumps and
 * calls, padding with NOP, and operations on vectors, which come from the rows of vector.def. */
#include "x64/sse.h"

void x64_init(struct x64 *e, void *memory, size_t capacity)
{
    uint8_t *start = memory;
    *e = (struct x64){start, start, start + (capacity - X64_MARGIN), false};
}

/* Emits a 32-bit distance to a label. If the label is bound, the distance is known. Else the field
 * holds the offset of the previous use of the label, and x64_bind fills in all uses later. */
static void x64_use(struct x64 *e, struct x64_label *label)
{
    uint32_t site = x64_here(e);
    x64_put(e, 0, 4);
    if (label->at) {
        x64_aim(e, site, label->at - 1);
    } else {
        x64_patch32(e, site, label->uses);
        label->uses = site + 1;
    }
}

void x64_bind(struct x64 *e, struct x64_label *label)
{
    uint32_t here = x64_here(e);
    label->at = here + 1;
    while (label->uses) {
        uint32_t site = label->uses - 1;
        memcpy(&label->uses, e->start + site, 4);
        x64_aim(e, site, here);
    }
}

void x64_jmp(struct x64 *e, struct x64_label *label)
{
    x64_put(e, 0xe9, 1);
    x64_use(e, label);
}

void x64_jcc(struct x64 *e, enum x64_cond cond, struct x64_label *label)
{
    x64_put(e, 0x0f | (0x80u | cond) << 8, 2);
    x64_use(e, label);
}

void x64_call(struct x64 *e, struct x64_label *label)
{
    x64_put(e, 0xe8, 1);
    x64_use(e, label);
}

void x64_lea_label(struct x64 *e, enum x64_reg dst, struct x64_label *label)
{
    x64_put(e, (0x48u | (dst >> 3) << 2) | 0x8d00u | (0x05u | (dst & 7u) << 3) << 16, 3);
    x64_use(e, label);
}

/* Fills `size` bytes with the NOP sequences of 1 to 9 bytes that the processor manuals
 * recommend. */
void x64_nop(struct x64 *e, unsigned size)
{
    static const uint8_t nops[9][9] = {
        {0x90},
        {0x66, 0x90},
        {0x0f, 0x1f, 0x00},
        {0x0f, 0x1f, 0x40, 0},
        {0x0f, 0x1f, 0x44, 0, 0},
        {0x66, 0x0f, 0x1f, 0x44, 0, 0},
        {0x0f, 0x1f, 0x80, 0, 0, 0, 0},
        {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
        {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
    };
    while (size) {
        unsigned n = size < 9 ? size : 9;
        uint64_t word;
        memcpy(&word, nops[n - 1], 8);
        x64_put(e, word, n < 8 ? n : 8);
        if (n == 9) x64_put(e, 0, 1);
        size -= n;
    }
}

const struct x64_vector_info x64_vectors[X64_VECTORS] = {
    {"", 0, 0, 0},
#define VECTOR(name, text, op, shape, group) {text, op, shape, group},
#include "x64/vector.def"
};

void x64_vector(struct x64 *e, enum x64_vector op, bool wide, unsigned dst, unsigned a, unsigned b,
                uint8_t imm)
{
    const struct x64_vector_info *v = &x64_vectors[op];
    bool one = v->shape == 'u' || v->shape == 'i', both = v->shape == 'b' || v->shape == 'c';
    if (!e->vex && !one && dst != a) x64_movaps(e, false, dst, a);
    if (v->shape == 's')
        x64_sse(e, v->op, X32, v->group, dst, e->vex ? a : dst, wide);
    else
        x64_sse(e, v->op, X32, dst, both ? a : X64_ANY, both ? b : a, wide);
    if (v->shape == 'c' || v->shape == 'i' || v->shape == 's') x64_put(e, imm, 1);
}
