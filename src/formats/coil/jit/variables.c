/* Handles the variables of a function while it is lowered. In code of the full level they are
 * SSA values, which the builder of src/ssa follows through blocks. In code of the fast level
 * they are words of the frame, at the place that their number gives: a block need not read again
 * what it has read or written, and only flags pass from block to block. */
#include "coil/jit/jit.h"
#include <stdlib.h>

enum { HELD = sizeof((struct coil_lower){0}.held) / sizeof(uint32_t) };

bool coil_variables(struct coil_lower *l, uint32_t count, const uint8_t *types)
{
    if (!l->f->apart) {
        ssa_variables(l->f, count, types);
        return !l->f->failed;
    }
    l->f->reserved = (count * 8 + 15) & ~UINT32_C(15);
    l->current = calloc(count + 1, sizeof *l->current);
    return l->current;
}

/* Remembers the SSA value of a variable, so that a later read needs no load. Few values are
 * remembered at a time, so that there are registers for all of them. */
static void variables_hold(struct coil_lower *l, uint32_t variable, uint32_t value)
{
    if (!l->current[variable]) {
        uint32_t *oldest = &l->held[l->held_next++ % HELD];
        if (*oldest) l->current[*oldest - 1] = 0;
        *oldest = variable + 1;
    }
    l->current[variable] = value;
}

void coil_hold_nothing(struct coil_lower *l)
{
    for (unsigned i = 0; i < HELD; i++) {
        if (l->held[i]) l->current[l->held[i] - 1] = 0;
        l->held[i] = 0;
    }
}

static enum ssa_mem mem_of(const struct coil_lower *l, uint32_t variable)
{
    enum ssa_type type =
        variable < l->flow.slots ? coil_ssa_type(l->flow.types[variable]) : SSA_INT;
    return type == SSA_F64 ? SSA_MF64 : type == SSA_F32 ? SSA_MF32 : SSA_X64;
}

static struct ssa_address variables_word(struct coil_lower *l, uint32_t variable)
{
    return (struct ssa_address){.base = ssa_fixed(l->f, SSA_FRAME), .disp = (int64_t)variable * 8};
}

uint32_t coil_lower_get(struct coil_lower *l, uint32_t variable)
{
    if (!l->f->apart) return ssa_read(l->f, variable);
    if (l->current[variable]) return l->current[variable];
    uint32_t value = ssa_load(l->f, mem_of(l, variable), variables_word(l, variable));
    variables_hold(l, variable, value);
    return value;
}

void coil_lower_set(struct coil_lower *l, uint32_t variable, uint32_t value)
{
    if (!l->f->apart) {
        ssa_write(l->f, variable, value);
        return;
    }
    ssa_store(l->f, mem_of(l, variable), variables_word(l, variable), value);
    variables_hold(l, variable, value);
}
