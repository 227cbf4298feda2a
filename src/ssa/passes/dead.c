/* Removes dead code: instructions that have no effect, and whose results are not needed,
 * directly or through other instructions, by one that has. */
#include "ssa/ssa.h"
#include <stdlib.h>

struct marks {
    uint8_t *live;
    uint32_t *work;
    size_t count;
};

static void dead_mark(void *user, uint32_t *use)
{
    struct marks *m = user;
    if (m->live[*use]) return;
    m->live[*use] = 1;
    m->work[m->count++] = *use;
}

void ssa_pass_dead(struct ssa_function *f)
{
    struct marks m = {calloc(f->count, 1), malloc(f->count * sizeof *m.work), 0};
    for (size_t b = 0; m.live && m.work && b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next)
            if (ssa_has(f->insns[i].op, 'e')) dead_mark(&m, &i);
    while (m.live && m.work && m.count) ssa_uses(f, m.work[--m.count], dead_mark, &m);
    for (size_t b = 0; m.live && m.work && b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first, next; i; i = next) {
            next = f->insns[i].next;
            if (!m.live[i] && f->insns[i].op != SSA_PARAM) ssa_remove(f, i);
        }
    free(m.live);
    free(m.work);
}
