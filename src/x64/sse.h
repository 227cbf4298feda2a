/* Instructions on floats and vectors, named as in x64.h. They are SSE2 instructions, or the AVX
 * forms of the same instructions if the assembler's `vex` is set. Code should use only one of the
 * two kinds: processors take long to change between them while the upper halves of 32-byte
 * registers are in use. */
#pragma once
#include "x64/x64.h"

enum { X64_ANY = 0 }; /* the second source of an instruction that has only one source */

/* Emits the prefix of AVX. `op` is as for x64_form, or 0x38XX for the opcode map 0f38. `second` is
 * a source that SSE2 instructions have as their destination. `rex` has bits for reg, index and
 * base, and 8 for 64-bit operands. */
X64_INLINE void x64_vex_prefix(struct x64 *e, uint32_t op, unsigned rex, unsigned second, bool wide)
{
    unsigned before = op >> 16, map = (op >> 8 & 0xff) == 0x38 ? 2 : 1;
    unsigned pp = before == 0x66 ? 1 : before == 0xf3 ? 2 : before == 0xf2 ? 3 : 0;
    unsigned last = (~second & 15) << 3 | (unsigned)wide << 2 | pp;
    if (map == 1 && !(rex & 11)) {
        x64_put(e, 0xc5 | ((rex & 4 ? 0u : 0x80u) | last) << 8, 2);
        return;
    }
    unsigned middle = (~rex & 7) << 5 | map;
    x64_put(e, 0xc4 | middle << 8 | ((rex & 8) << 4 | last) << 16, 3);
}
X64_INLINE void x64_sse(struct x64 *e, uint32_t op, enum x64_size size, unsigned reg,
                        unsigned second, unsigned rm, bool wide)
{
    if (!e->vex) {
        x64_form(e, op, size, reg, rm, false);
        return;
    }
    x64_vex_prefix(e, op, (unsigned)size << 3 | (reg >> 3) << 2 | rm >> 3, second, wide);
    x64_put(e, (op & 0xff) | (0xc0u | (reg & 7) << 3 | (rm & 7)) << 8, 2);
}
X64_INLINE void x64_sse_mem(struct x64 *e, uint32_t op, unsigned reg, struct x64_mem m, bool wide)
{
    if (!e->vex) {
        x64_form_mem(e, op, X32, reg, m, false);
        return;
    }
    struct x64_address at = x64_address(reg, m);
    x64_vex_prefix(e, op, at.rex, X64_ANY, wide);
    x64_put(e, (op & 0xff) | at.bytes << 8, 1 + at.count);
    x64_put(e, (uint32_t)m.disp, at.disp_size);
}

#define X64_SSE(name, single, double, second)                                                      \
    X64_INLINE void x64_##name(struct x64 *e, bool f64, unsigned dst, unsigned src)                \
    {                                                                                              \
        x64_sse(e, f64 ? double : single, X32, dst, second, src, false);                           \
    }
X64_SSE(adds, 0xf30f58, 0xf20f58, dst) /* emits addss or addsd */
X64_SSE(muls, 0xf30f59, 0xf20f59, dst)
X64_SSE(subs, 0xf30f5c, 0xf20f5c, dst)
X64_SSE(divs, 0xf30f5e, 0xf20f5e, dst)
X64_SSE(sqrts, 0xf30f51, 0xf20f51, dst)
X64_SSE(ucomis, 0x0f2e, 0x660f2e, X64_ANY)
/* With f64 false it converts to f32 from f64, with f64 true to f64 from f32. */
X64_SSE(cvts2s, 0xf20f5a, 0xf30f5a, dst)
#undef X64_SSE

X64_INLINE void x64_xorps(struct x64 *e, unsigned dst, unsigned src)
{
    x64_sse(e, 0x0f57, X32, dst, dst, src, false);
}
X64_INLINE void x64_movs_load(struct x64 *e, bool f64, unsigned dst, struct x64_mem m)
{
    x64_sse_mem(e, f64 ? 0xf20f10 : 0xf30f10, dst, m, false);
}
X64_INLINE void x64_movs_store(struct x64 *e, bool f64, struct x64_mem m, unsigned src)
{
    x64_sse_mem(e, f64 ? 0xf20f11 : 0xf30f11, src, m, false);
}
/* Copies bits between integer registers and registers of floats: movd and movq. */
X64_INLINE void x64_movq_to(struct x64 *e, enum x64_size size, unsigned dst, enum x64_reg src)
{
    x64_sse(e, 0x660f6e, size, dst, X64_ANY, src, false);
}
X64_INLINE void x64_movq_from(struct x64 *e, enum x64_size size, enum x64_reg dst, unsigned src)
{
    x64_sse(e, 0x660f7e, size, src, X64_ANY, dst, false);
}
X64_INLINE void x64_cvtsi2s(struct x64 *e, bool f64, unsigned dst, enum x64_reg src)
{
    x64_sse(e, f64 ? 0xf20f2a : 0xf30f2a, X64, dst, dst, src, false);
}
X64_INLINE void x64_cvtts2si(struct x64 *e, bool f64, enum x64_reg dst, unsigned src)
{
    x64_sse(e, f64 ? 0xf20f2c : 0xf30f2c, X64, dst, X64_ANY, src, false);
}

/* In the functions on vectors below, `wide` means vectors of 32 bytes, which need `vex`. */

X64_INLINE void x64_movaps(struct x64 *e, bool wide, unsigned dst, unsigned src)
{
    x64_sse(e, 0x0f28, X32, dst, X64_ANY, src, wide);
}
X64_INLINE void x64_movups_load(struct x64 *e, bool wide, unsigned dst, struct x64_mem m)
{
    x64_sse_mem(e, 0x0f10, dst, m, wide);
}
X64_INLINE void x64_movups_store(struct x64 *e, bool wide, struct x64_mem m, unsigned src)
{
    x64_sse_mem(e, 0x0f11, src, m, wide);
}
X64_INLINE void x64_vzeroupper(struct x64 *e) { x64_put(e, 0x77f8c5, 3); }

enum x64_vector {
    X64_NO_VECTOR,
#define VECTOR(name, ...) X64_##name,
#include "x64/vector.def"
    X64_VECTORS
};
struct x64_vector_info {
    const char *text;
    uint32_t op;
    char shape;
    uint8_t group;
};
extern const struct x64_vector_info x64_vectors[X64_VECTORS];
static inline bool x64_needs_vex(enum x64_vector op)
{
    return (x64_vectors[op].op & 0xff00) == 0x3800;
}
/* Computes dst = a op b. Where the operation has no b, any value may be given for it. Without
 * `vex`, dst must be a, or differ from b. */
void x64_vector(struct x64 *e, enum x64_vector op, bool wide, unsigned dst, unsigned a, unsigned b,
                uint8_t imm);
