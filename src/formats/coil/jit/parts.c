/* Emits code in parts. At the fast level a function is turned into code while it is lowered,
 * some blocks at a time, so that the data in use stay in the processor's caches even for a long
 * function. Variables are in the frame, so only flags pass from block to block, and a part ends
 * where no flags are pending. */
#include "coil/jit/jit.h"
#include <stdlib.h>

#define NONE UINT32_MAX
enum { VALUES = 1500 /* A part ends after this many SSA values; it may have a few more. */ };

/* Marks the blocks to which a block jumps back. If the target is replaced by a copy, the targets
 * of the copy are marked. */
static void mark_loops(struct coil_lower *l, uint32_t block)
{
    const struct coil_flow_block *b = &l->flow.blocks[block];
    uint32_t cell = b->end - 1 - l->flow.first;
    for (uint32_t k = 0; k < 2 + l->flow.target_counts[cell]; k++) {
        uint32_t to =
            k < 2 ? b->to[k] : l->flow.block_at[l->flow.targets[cell][k - 2] - l->flow.first];
        if (to == NONE || to > block) continue;
        const uint32_t *then = l->flow.blocks[to].to;
        bool copied = l->p->cells[b->end - 1].op == COIL_CELL_JMP && coil_lower_copies(l, to);
        if (!copied) l->f->blocks[to + 1].loops = true;
        for (int i = 0; copied && i < 2; i++)
            if (then[i] <= block) l->f->blocks[then[i] + 1].loops = true;
    }
}

bool coil_parts_begin(struct coil_lower *l)
{
    l->part_extra = l->extra;
    l->order = malloc((l->f->block_count + 1) * sizeof *l->order);
    for (uint32_t b = 0; b < l->flow.block_count; b++)
        if (l->flow.blocks[b].reached) mark_loops(l, b);
    return l->order && ssa_emit_begin(l->f, l->flow.function, l->code);
}

/* Emits the blocks of a part. The blocks for the rest of conditional calls and returns come
 * after the others. */
static void parts_emit(struct coil_lower *l, uint32_t end, uint32_t next)
{
    uint32_t n = 0;
    for (uint32_t b = l->part; b < end; b++)
        if (l->f->blocks[b].first) l->order[n++] = b;
    for (uint32_t b = l->part_extra; b < l->extra; b++)
        if (l->f->blocks[b].first) l->order[n++] = b;
    ssa_emit_part(l->code, l->order, n, next);
    l->part = end;
    l->part_extra = l->extra;
}

void coil_parts_cut(struct coil_lower *l, uint32_t block)
{
    if (l->f->count >= VALUES && l->flags_to < block) parts_emit(l, block + 1, block + 1);
}

void coil_parts_note(struct coil_lower *l, uint32_t block)
{
    for (int k = 0; k < 2; k++) {
        uint32_t to = l->flow.blocks[block].to[k];
        if (to != NONE && to > l->flags_to && l->flow.blocks[to].flags_in) l->flags_to = to;
    }
}

bool coil_parts_end(struct coil_lower *l)
{
    if (!l->f->failed) parts_emit(l, l->flow.block_count + 1, NONE);
    return ssa_emit_end(l->code);
}
