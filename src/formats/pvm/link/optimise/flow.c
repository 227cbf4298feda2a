/* Has the passes over jumps and blocks: a jump to a jump goes to the last target, blocks are
 * merged, and short blocks are copied. */
#include "pvm/link/optimise/optimise.h"
#include <stdlib.h>

static bool op_is_call(uint8_t op)
{
    return op == PVM_OP_load_imm_and_jump || op == PVM_OP_load_imm_and_jump_indirect;
}

void opt_normal_form(struct link *l)
{
    for (size_t i = 0; i < l->block_count; i++) {
        struct link_block *b = &l->blocks[i];
        struct link_insn *last = link_last(b);
        if (!last || last->op != PVM_OP_jump) continue;
        b->next = last->to;
        b->count--;
    }
}

/* Leads the ways out of a block past empty blocks, which are what is left of jumps. Addresses
 * that the program can see stay those of their own blocks: two functions never get one address,
 * and return points keep their order. */
static void flow_thread(struct link *l, struct link_block *b, bool *changed)
{
    struct link_insn *last = link_last(b);
    uint32_t next = last && op_is_call(last->op) ? b->next : link_through(l, b->next);
    if (next != b->next) {
        b->next = next;
        *changed = true;
    }
    if (last && pvm_has_target(last->op)) {
        uint32_t to = link_through(l, last->to);
        *changed = *changed || to != last->to;
        last->to = to;
    }
    if (last && link_is_branch(last->op) && last->to == b->next) {
        b->count--;
        *changed = true;
    }
}

/* Counts for each block the ways by which control can come to it. Ways from outside of the code
 * count, too. */
static void count_uses(const struct link *l, uint32_t *uses)
{
    for (size_t i = 0; i < l->block_count; i++) {
        const struct link_block *b = &l->blocks[i];
        if (b->exported || b->in_data) uses[i] += 2;
        if (!b->reached) continue;
        for (uint32_t k = 0; k < b->count; k++) {
            const struct link_insn *in = &b->insns[k];
            if (in->ref == REF_CODE) uses[in->to] += 2; /* The address can be used from anywhere. */
            if (pvm_has_target(in->op)) uses[in->to]++;
            /* A block to which a call returns is not merged. */
            if (op_is_call(in->op)) uses[b->next]++;
        }
        if (b->next != LINK_NONE) uses[b->next]++;
    }
}

/* Computes again which blocks are reached. A block to which data points stays reached. */
static bool reach_again(struct link *l)
{
    uint32_t *stack = malloc((l->block_count + 1) * sizeof *stack);
    size_t count = 0;
    if (!stack) return error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    for (uint32_t i = 0; i < l->block_count; i++) {
        struct link_block *b = &l->blocks[i];
        bool start = b->reached && (b->exported || b->in_data);
        b->reached = start;
        if (start) stack[count++] = i;
    }
    while (count) {
        const struct link_block *b = &l->blocks[stack[--count]];
        for (uint32_t k = 0; k <= b->count; k++) {
            const struct link_insn *in = k < b->count ? &b->insns[k] : NULL;
            bool leads = in && (in->ref == REF_CODE || pvm_has_target(in->op));
            uint32_t to = in ? leads ? in->to : LINK_NONE : b->next;
            if (to == LINK_NONE || l->blocks[to].reached) continue;
            l->blocks[to].reached = true;
            stack[count++] = to;
        }
    }
    free(stack);
    return true;
}

/* Merges a block with the following blocks to which only the block before them leads. */
static bool merge_chain(struct link *l, uint32_t index, const uint32_t *uses, bool *changed)
{
    struct link_block *b = &l->blocks[index];
    const struct link_block *last = b;
    size_t total = b->count, links = 0;
    while (last->next != LINK_NONE && uses[last->next] == 1 && last->next != index &&
           !link_last(last)) {
        last = &l->blocks[last->next];
        total += last->count;
        links++;
    }
    if (!links) return true;
    struct link_insn *joined = arena_alloc(&l->arena, total, sizeof *joined, &l->err);
    if (!joined) return false;
    size_t at = 0;
    uint32_t next = index;
    for (size_t i = 0; i <= links; i++) {
        struct link_block *part = &l->blocks[next];
        if (part->count) memcpy(joined + at, part->insns, part->count * sizeof *joined);
        at += part->count;
        next = part->next;
        part->reached = part == b;
    }
    b->insns = joined;
    b->count = (uint32_t)total;
    b->next = next;
    *changed = true;
    return true;
}

static bool flow_merge(struct link *l, bool *changed)
{
    uint32_t *uses = calloc(l->block_count + 1, sizeof *uses);
    bool ok = uses != NULL;
    if (!ok) error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    if (ok) count_uses(l, uses);
    for (uint32_t i = 0; ok && i < l->block_count; i++)
        if (l->blocks[i].reached) ok = merge_chain(l, i, uses, changed);
    free(uses);
    return ok;
}

bool opt_flow(struct link *l, bool *changed)
{
    for (size_t i = 0; i < l->block_count; i++)
        if (l->blocks[i].reached) flow_thread(l, &l->blocks[i], changed);
    return reach_again(l) && flow_merge(l, changed);
}

/* Tells whether a block is short: it is only a return or a trap, or no longer than the jump to
 * it, or a few instructions before a jump. Compilers share such ends of blocks, and then one
 * jump leads to the next. A copy of three instructions made the loop of an interpreter a sixth
 * faster for one percent more code; longer copies gave no more. */
static bool block_is_short(const struct link_block *b)
{
    enum { COPIED = 3 };
    const struct link_insn *last = link_last(b);
    if (!last) return b->next != LINK_NONE && b->count <= COPIED;
    return b->count == 1 && !op_is_call(last->op) && !link_is_branch(last->op);
}

static bool flow_append(struct link *l, struct link_block *b, const struct link_block *tail)
{
    struct link_insn *joined =
        arena_alloc(&l->arena, b->count + tail->count, sizeof *joined, &l->err);
    if (!joined) return false;
    if (b->count) memcpy(joined, b->insns, b->count * sizeof *joined);
    memcpy(joined + b->count, tail->insns, tail->count * sizeof *joined);
    b->insns = joined;
    b->count += tail->count;
    b->next = tail->next;
    return true;
}

bool opt_tails(struct link *l, bool *changed)
{
    for (uint32_t i = 0; i < l->block_count; i++) {
        struct link_block *b = &l->blocks[i];
        /* A block from which control goes on into the short one without a jump needs no copy. */
        if (!b->reached || b->next == LINK_NONE || b->next == i || b->next == i + 1) continue;
        const struct link_block *tail = &l->blocks[b->next];
        if (link_last(b) || !block_is_short(tail)) continue;
        if (!flow_append(l, b, tail)) return false;
        *changed = true;
    }
    return true;
}
