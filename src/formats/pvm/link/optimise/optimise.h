/* The passes of the optimiser. All of them keep the meaning of the program: its results, host
 * calls and stores stay the same.
 *
 * While the passes run, no block ends with a jump. `next` says which block comes afterwards; for
 * a branch it is the block that follows when the branch is not taken. */
#pragma once
#include "pvm/link/forms.h"

/* A struct opt_queue has the blocks that must be looked at again, each at most once (queue.c).
 * So the time of an analysis is in proportion to the program, whatever the order of its blocks. */
struct opt_queue {
    uint32_t *blocks;
    bool *waiting;
    size_t size, head, count;
};
bool opt_queue_init(struct opt_queue *q, struct link *l);
void opt_queue_free(struct opt_queue *q);
void opt_queue_add(struct opt_queue *q, uint32_t block);
uint32_t opt_queue_take(struct opt_queue *q); /* Returns LINK_NONE when the queue is empty. */

/* The three functions below are in flow.c. */
/* Drops the jumps at the ends of blocks, so that `next` says where control goes on. */
void opt_normal_form(struct link *l);
/* Removes jumps to jumps and branches to the next block, and merges blocks. */
bool opt_flow(struct link *l, bool *changed);
/* Replaces a jump to a return by the return. */
bool opt_tails(struct link *l, bool *changed);

/* Propagates constants, addresses and copies to the places that use them, and chooses forms with
 * an immediate (values.c). */
bool opt_values(struct link *l, bool *changed);

/* Drops instructions whose results are not read. It also sets `live` of every instruction
 * (dead.c). */
bool opt_dead(struct link *l, bool *changed);

/* Writes to l->sequence which block follows which (layout.c). */
bool opt_layout(struct link *l);
