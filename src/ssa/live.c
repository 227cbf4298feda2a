/* Computes live ranges. The life of a value is followed backwards from each use to the
 * definition, block by block. The result is a list of ranges for every value, and a list of the
 * values that live at the start of every block. It relies on loops.c to know which blocks can be
 * reached. */
#include "ssa/allocate.h"
#include <stdlib.h>

void ssa_live_free(struct ssa_live *l)
{
    arena_free(&l->arena);
    free(l->blocks);
    free(l->seen);
    free(l->ranges);
    free(l->uses);
    free(l->intervals);
    ssa_loops_free(&l->loops);
}

static uint32_t *live_numbers(struct ssa_live *l, size_t count)
{
    return arena_alloc(&l->arena, count, sizeof(uint32_t), &l->err);
}

static void live_number(struct ssa_live *l)
{
    const struct ssa_function *f = l->f;
    uint32_t at = 2; /* The number 0 means that an instruction is in no block. */
    for (uint32_t k = 0; k < l->block_count; k++) {
        uint32_t b = l->order[k];
        l->blocks[b].from = at;
        at += 2;
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) {
            const struct ssa_insn *in = &f->insns[i];
            bool start = in->op == SSA_PHI || in->op == SSA_PARAM;
            l->number[i] = start ? l->blocks[b].from : at;
            if (in->op == SSA_RESULT) {
                l->number[i] = l->number[in->arg[0]];
                continue;
            }
            if (!start) at += 2;
            if (in->op == SSA_CALL || in->op == SSA_FOREIGN)
                l->calls[l->call_count++] = l->number[i];
            if (ssa_has(in->op, 'd')) l->divides[l->divide_count++] = l->number[i];
        }
        l->blocks[b].to = at;
    }
    l->limit = at;
}

struct use {
    /* `at` is the number where the life of the value ends for this use. If it is the end of the
     * block, the value lives on after the block. */
    uint32_t value, block, at;
    bool needs;
    uint32_t next; /* the next use of the same value */
};
struct uses {
    struct ssa_live *l;
    struct use *items; /* items[0] is not used, because 0 means no use */
    size_t count, capacity;
    uint32_t *first, *last; /* per value: its first and its last use */
};

static uint32_t new_use(struct uses *u, struct use use)
{
    if (!SSA_RESERVE(u->l, u->items, u->capacity, u->count + 1)) return 0;
    u->items[u->count] = use;
    return (uint32_t)u->count++;
}

/* Adds a use of a value. Uses must be added in the order of the code. Of the uses in a block
 * that need no register, only the last one is kept. */
static void add_use(struct uses *u, uint32_t value, uint32_t block, uint32_t at, bool needs)
{
    if (ssa_immediate(&u->l->f->insns[value])) return;
    struct use *last = &u->items[u->last[value]];
    if (u->last[value] && !needs && !last->needs && last->block == block) {
        if (at > last->at) last->at = at;
        return;
    }
    uint32_t made = new_use(u, (struct use){value, block, at, needs, 0});
    if (!made) return;
    if (u->last[value])
        u->items[u->last[value]].next = made;
    else
        u->first[value] = made;
    u->last[value] = made;
}

/* The arguments of a phi are used at the ends of the preceding blocks. */
static void gather_phi(struct uses *u, uint32_t i, uint32_t block)
{
    const struct ssa_function *f = u->l->f;
    const struct ssa_insn *in = &f->insns[i];
    for (uint32_t k = 0; k < in->count; k++) {
        uint32_t p = f->blocks[block].preds[k];
        if (!u->l->loops.number[p]) continue;
        uint32_t *at_end = &u->l->blocks[p].at_end,
                 made = new_use(u, (struct use){f->pool[in->list + k], p, 0, false, *at_end});
        if (made) *at_end = made;
    }
}

static void live_gather(struct uses *u, uint32_t i, uint32_t block)
{
    struct ssa_live *l = u->l;
    const struct ssa_function *f = l->f;
    const struct ssa_insn *in = &f->insns[i];
    uint32_t at = l->number[i];
    if (in->op == SSA_PHI || in->op == SSA_RESULT) return;
    for (unsigned k = 0; k < ssa_ops[in->op].args; k++)
        if (in->arg[k]) add_use(u, in->arg[k], block, at, true);
    if (in->op != SSA_SWITCH)
        for (uint32_t k = 0; k < in->count; k++)
            add_use(u, f->pool[in->list + k], block, at, false);
    if (in->exit) {
        const struct ssa_exit *e = &f->exits[in->exit - 1];
        for (uint32_t k = 0; k < e->count; k++)
            add_use(u, f->states[e->first + k].value, block, at + 1, false);
    }
}

static void gather_all(struct uses *u)
{
    const struct ssa_live *l = u->l;
    const struct ssa_function *f = l->f;
    for (uint32_t k = 0; k < l->block_count; k++)
        for (uint32_t i = f->blocks[l->order[k]].first; i && f->insns[i].op == SSA_PHI;
             i = f->insns[i].next)
            gather_phi(u, i, l->order[k]);
    for (uint32_t k = 0; k < l->block_count && !l->failed; k++) {
        uint32_t b = l->order[k];
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) live_gather(u, i, b);
        for (uint32_t i = l->blocks[b].at_end; i; i = u->items[i].next)
            add_use(u, u->items[i].value, b, l->blocks[b].to, false);
    }
}

static void live_until(struct ssa_live *l, uint32_t value, uint32_t block, uint32_t end)
{
    if (l->blocks[block].mark != value) {
        l->blocks[block].mark = value;
        l->blocks[block].end = 0;
        l->seen[l->seen_count++] = block;
    }
    if (end > l->blocks[block].end) l->blocks[block].end = end;
}

static void live_enter(struct ssa_live *l, uint32_t value, uint32_t block)
{
    uint32_t n = l->blocks[block].entries;
    if (!(n & (n + 1))) { /* The list is full if it has 2^k - 1 items and the 0 at its end. */
        uint32_t *moved = live_numbers(l, (n + 1) * 2);
        if (!moved) {
            l->failed = true;
            return;
        }
        if (n) memcpy(moved, l->blocks[block].entry, n * sizeof *moved);
        l->blocks[block].entry = moved;
    }
    l->blocks[block].entry[l->blocks[block].entries++] = value;
    l->blocks[block].entry[l->blocks[block].entries] = 0;
}

static uint32_t add_range(struct ssa_live *l, uint32_t from, uint32_t to, uint32_t last)
{
    if (last && l->ranges[last].to == from) {
        l->ranges[last].to = to;
        return last;
    }
    if (!SSA_RESERVE(l, l->ranges, l->range_capacity, l->range_count + 1)) return last;
    uint32_t made = (uint32_t)l->range_count++;
    l->ranges[made] = (struct ssa_range){from, to, 0};
    if (last) l->ranges[last].next = made;
    return made;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Finds all blocks in which a value lives, from its uses back to its definition. */
static void live_life(struct ssa_live *l, uint32_t value, const struct uses *u)
{
    const struct ssa_function *f = l->f;
    uint32_t home = f->insns[value].block;
    l->seen_count = 0;
    for (uint32_t i = u->first[value]; i; i = u->items[i].next)
        live_until(l, value, u->items[i].block, u->items[i].at);
    /* A value is not alive at the start of the block that defines it, because that block dominates
     * every use. */
    for (uint32_t done = 0; done < l->seen_count; done++) {
        uint32_t b = l->seen[done];
        if (!ssa_work(f, SSA_WORK_LIFE + f->blocks[b].pred_count)) l->failed = true;
        if (l->failed) return;
        if (b == home) continue;
        live_enter(l, value, b);
        for (uint32_t k = 0; k < f->blocks[b].pred_count; k++) {
            uint32_t p = f->blocks[b].preds[k];
            if (l->loops.number[p]) live_until(l, value, p, l->blocks[p].to);
        }
    }
    /* The blocks are sorted into the order of the code, by the number with which each begins. */
    for (uint32_t i = 0; i < l->seen_count; i++) l->seen[i] = l->blocks[l->seen[i]].from;
    qsort(l->seen, l->seen_count, sizeof *l->seen, by_number);
}

static void make_interval(struct ssa_live *l, uint32_t value, const struct uses *u,
                          const uint32_t *block_at)
{
    const struct ssa_insn *in = &l->f->insns[value];
    uint32_t born = l->number[value] + ssa_is_late(in), end = born + 1, last = 0, first = 0,
             count = 0;
    bool local = true; /* true if all uses are in the block that defines the value */
    for (uint32_t i = u->first[value]; i; i = u->items[i].next, count++) {
        ssa_work(l->f, 1);
        local &= u->items[i].block == in->block;
        if (u->items[i].at > end) end = u->items[i].at;
    }
    if (local)
        first = last = add_range(l, born, end, 0);
    else
        live_life(l, value, u);
    for (uint32_t i = 0; !local && i < l->seen_count; i++) {
        uint32_t b = block_at[l->seen[i] / 2], from = b == in->block ? born : l->blocks[b].from,
                 to = l->blocks[b].end > from ? l->blocks[b].end : from + 1;
        last = add_range(l, from, to, last);
        if (!first) first = last;
    }
    if (!SSA_RESERVE(l, l->intervals, l->interval_capacity, l->interval_count + 1) ||
        !SSA_RESERVE(l, l->uses, l->use_capacity, l->use_count + count + 1) || l->failed)
        return;
    uint32_t use = (uint32_t)l->use_count;
    bool anywhere =
        in->op == SSA_PHI || in->op == SSA_PARAM || in->op == SSA_RESULT || ssa_is_remade(in);
    /* The definition counts as a use too. Uses are in the order of the code, so the definition
     * comes before the first use after it. */
    bool placed = false;
    for (uint32_t i = u->first[value]; i; i = u->items[i].next) {
        if (!placed && u->items[i].at > born) {
            l->uses[l->use_count++] = (struct ssa_place){born, !anywhere};
            placed = true;
        }
        l->uses[l->use_count++] = (struct ssa_place){u->items[i].at, u->items[i].needs};
    }
    if (!placed) l->uses[l->use_count++] = (struct ssa_place){born, !anywhere};
    l->first[value] = (uint32_t)l->interval_count;
    uint32_t from = l->ranges[first].from, to = l->ranges[last].to, uses = (uint32_t)l->use_count;
    l->intervals[l->interval_count++] =
        (struct ssa_interval){value, from, to, first, use, uses, 0, SSA_IN_FRAME, ssa_is_float(in)};
}

static bool make_intervals(struct ssa_live *l, struct uses *u)
{
    uint32_t *block_at = live_numbers(l, l->limit / 2 + 2);
    if (!block_at) return false;
    for (uint32_t k = 0; k < l->block_count; k++)
        block_at[l->blocks[l->order[k]].from / 2] = l->order[k];
    for (uint32_t v = 1; v < l->f->count && !l->failed; v++) {
        const struct ssa_insn *in = &l->f->insns[v];
        if (l->number[v] && in->type != SSA_VOID && !ssa_immediate(in))
            make_interval(l, v, u, block_at);
    }
    return !l->failed;
}

bool ssa_live_begin(struct ssa_live *l, struct ssa_function *f)
{
    size_t blocks = f->block_count + 1;
    l->f = f;
    l->failed = false;
    l->err = (penta_error){0};
    ssa_loops_free(&l->loops);
    if (!ssa_loops(&l->loops, f) || !ARRAY_RESERVE(l->blocks, l->block_capacity, blocks) ||
        !ARRAY_RESERVE(l->seen, l->seen_capacity, blocks))
        return false;
    memset(l->blocks, 0, blocks * sizeof *l->blocks);
    return true;
}

bool ssa_live_number(struct ssa_live *l, const uint32_t *order, uint32_t count)
{
    size_t values = l->f->count + 1;
    arena_clear(&l->arena);
    l->order = order;
    l->block_count = count;
    l->call_count = l->divide_count = 0;
    l->frame = l->f->reserved / 8;
    l->number = live_numbers(l, values);
    l->first = live_numbers(l, values);
    l->slots = arena_alloc(&l->arena, values, sizeof *l->slots, &l->err);
    l->calls = live_numbers(l, values);
    l->divides = live_numbers(l, values);
    if (l->err.code) return false;
    memset(l->slots, 0xff, values * sizeof *l->slots); /* This sets all slots to -1. */
    live_number(l);
    return true;
}

bool ssa_live(struct ssa_live *l)
{
    size_t values = l->f->count + 1;
    struct uses u = {
        .l = l, .first = live_numbers(l, values), .last = live_numbers(l, values), .count = 1};
    if (l->err.code) return false;
    /* The number 0 means that a value has no interval. */
    memset(l->first, 0, values * sizeof *l->first);
    if (!ARRAY_RESERVE(l->ranges, l->range_capacity, values) ||
        !ARRAY_RESERVE(l->uses, l->use_capacity, values * 2) ||
        !ARRAY_RESERVE(l->intervals, l->interval_capacity, values))
        return false;
    l->range_count = l->interval_count = 1;
    l->use_count = 0;
    bool ok = ARRAY_RESERVE(u.items, u.capacity, values);
    if (ok) gather_all(&u);
    ok = ok && !l->failed && make_intervals(l, &u);
    free(u.items);
    return ok;
}
