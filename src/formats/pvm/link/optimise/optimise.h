/* The passes of the optimiser. All of them keep the meaning of the program: same results, same host
 * calls, same stores.
 *
 * Blocks are in one form while passes run: no block ends with a jump, that is what `next` says; a block
 * without a last instruction goes on to `next`, a branch goes there when it is not taken. */
#pragma once
#include "pvm/link/forms.h"

/* queue.c: blocks that are to be looked at again, each at most once. With it an analysis takes time in
 * proportion to the program, whatever order its blocks are in. */
struct opt_queue {
    uint32_t *blocks;
    bool *waiting;
    size_t size, head, count;
};
bool opt_queue_init(struct opt_queue *q, struct link *l);
void opt_queue_free(struct opt_queue *q);
void opt_queue_add(struct opt_queue *q, uint32_t block);
uint32_t opt_queue_take(struct opt_queue *q); /* LINK_NONE: empty */

/* flow.c */
void opt_normal_form(struct link *l);
/* Jumps to jumps, branches that go one way only, blocks that follow each other. */
bool opt_flow(struct link *l, bool *changed);
/* Returns are copied to where a jump to them is. */
bool opt_tails(struct link *l, bool *changed);
/* Predecessors of each block, those outside of the code counted too. */
void opt_count_uses(const struct link *l, uint32_t *uses);

/* values.c: what registers hold. Constants, addresses and copies go where they are used; instructions
 * take the form with an immediate. */
bool opt_values(struct link *l, bool *changed);

/* dead.c: what nobody reads. Also sets `live` of every instruction. */
bool opt_dead(struct link *l, bool *changed);

/* layout.c: which block follows which, into l->sequence. */
bool opt_layout(struct link *l);
