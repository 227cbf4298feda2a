/* Scalar floats: SSE2 instructions, named as in x64.h. */
#pragma once
#include "x64/x64.h"

#define X64_SSE(name, single, wide)                                                                \
    X64_INLINE void x64_##name(struct x64 *e, bool f64, unsigned dst, unsigned src)                \
    {                                                                                              \
        x64_form(e, f64 ? wide : single, X32, dst, src, false);                                    \
    }
X64_SSE(adds, 0xf30f58, 0xf20f58) /* addss, addsd */
X64_SSE(muls, 0xf30f59, 0xf20f59)
X64_SSE(subs, 0xf30f5c, 0xf20f5c)
X64_SSE(divs, 0xf30f5e, 0xf20f5e)
X64_SSE(sqrts, 0xf30f51, 0xf20f51)
X64_SSE(ucomis, 0x0f2e, 0x660f2e)
X64_SSE(cvts2s, 0xf20f5a, 0xf30f5a) /* to f32, to f64, from the other */
#undef X64_SSE

X64_INLINE void x64_movaps(struct x64 *e, unsigned dst, unsigned src)
{
    x64_form(e, 0x0f28, X32, dst, src, false);
}
X64_INLINE void x64_xorps(struct x64 *e, unsigned dst, unsigned src)
{
    x64_form(e, 0x0f57, X32, dst, src, false);
}
X64_INLINE void x64_movs_load(struct x64 *e, bool f64, unsigned dst, struct x64_mem m)
{
    x64_form_mem(e, f64 ? 0xf20f10 : 0xf30f10, X32, dst, m, false);
}
X64_INLINE void x64_movs_store(struct x64 *e, bool f64, struct x64_mem m, unsigned src)
{
    x64_form_mem(e, f64 ? 0xf20f11 : 0xf30f11, X32, src, m, false);
}
/* Bits between the register files: movd, movq. */
X64_INLINE void x64_movq_to(struct x64 *e, enum x64_size size, unsigned dst, enum x64_reg src)
{
    x64_form(e, 0x660f6e, size, dst, src, false);
}
X64_INLINE void x64_movq_from(struct x64 *e, enum x64_size size, enum x64_reg dst, unsigned src)
{
    x64_form(e, 0x660f7e, size, src, dst, false);
}
X64_INLINE void x64_cvtsi2s(struct x64 *e, bool f64, unsigned dst, enum x64_reg src)
{
    x64_form(e, f64 ? 0xf20f2a : 0xf30f2a, X64, dst, src, false);
}
X64_INLINE void x64_cvtts2si(struct x64 *e, bool f64, enum x64_reg dst, unsigned src)
{
    x64_form(e, f64 ? 0xf20f2c : 0xf30f2c, X64, dst, src, false);
}
X64_INLINE void x64_cmp_mem(struct x64 *e, enum x64_size size, enum x64_reg a, struct x64_mem m)
{
    x64_form_mem(e, 0x3b, size, a, m, false);
}
