/* Has the queue of blocks that the passes must look at again (optimise.h): a ring with room for
 * every block. */
#include "pvm/link/optimise/optimise.h"
#include <stdlib.h>

bool opt_queue_init(struct opt_queue *q, struct link *l)
{
    *q = (struct opt_queue){.size = l->block_count + 1};
    q->blocks = malloc(q->size * sizeof *q->blocks);
    q->waiting = calloc(q->size, sizeof *q->waiting);
    if (q->blocks && q->waiting) return true;
    opt_queue_free(q);
    return error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
}

void opt_queue_free(struct opt_queue *q)
{
    free(q->blocks);
    free(q->waiting);
    *q = (struct opt_queue){0};
}

void opt_queue_add(struct opt_queue *q, uint32_t block)
{
    if (q->waiting[block]) return;
    q->waiting[block] = true;
    q->blocks[(q->head + q->count++) % q->size] = block;
}

uint32_t opt_queue_take(struct opt_queue *q)
{
    if (!q->count) return LINK_NONE;
    uint32_t block = q->blocks[q->head];
    q->head = (q->head + 1) % q->size;
    q->count--;
    q->waiting[block] = false;
    return block;
}
