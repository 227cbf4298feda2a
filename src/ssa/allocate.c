/* Allocates registers by linear scan with splitting, after Wimmer and Mössenböck, "Optimized
 * interval splitting in a linear scan register allocator" (2005), over the live ranges of
 * live.c. An interval gets a register that is free for all of its life, or for the first part,
 * where it is split. When no register is free, the value whose next use is latest goes to the
 * frame. A value is stored to the frame once, where it is defined, so that leaving a register
 * needs no code. */
#include "ssa/allocate.h"
#include <stdlib.h>

/* clang-format off */
/* These are the registers that values can have. The reserved ones (RBP, R14 and R15), the stack
 * pointer RSP, and the emitter's scratch registers R11 and XMM15 are not among them. */
static const int8_t ints[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, RBX, R12, R13};
static const int8_t floats[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
/* clang-format on */
const uint8_t ssa_param_registers[SSA_PARAMS] = {RAX, RCX, RDX, RSI, RDI, R8};

const int8_t *ssa_registers(bool real, size_t *count)
{
    *count = real ? sizeof floats : sizeof ints;
    return real ? floats : ints;
}

struct list {
    uint32_t *items;
    size_t count, capacity;
};
struct scan {
    struct ssa_live *l;
    /* This is a heap of the intervals that were split off, ordered by their beginnings. */
    uint32_t *waiting;
    size_t waiting_count, waiting_capacity;
    /* Lists of the intervals that have a register: those in use, and those in a hole of their
     * life. */
    struct list taken[2];
    /* Indices of the first call and of the first division that is not before `at`. */
    uint32_t call, divide;
    uint32_t at;
};

static struct ssa_interval *allocate_get(struct scan *s, uint32_t i) { return &s->l->intervals[i]; }

static bool allocate_covers(const struct ssa_live *l, const struct ssa_interval *i, uint32_t at)
{
    if (!l->ranges[i->range].next) return i->from <= at && at < i->to;
    for (uint32_t r = i->range; r && l->ranges[r].from <= at; r = l->ranges[r].next) {
        if (at < l->ranges[r].to) return true;
        ssa_work(l->f, 1);
    }
    return false;
}

const struct ssa_interval *ssa_interval_at(const struct ssa_live *l, uint32_t value, uint32_t at)
{
    uint32_t i = l->first[value];
    for (; i && !(l->intervals[i].from <= at && at < l->intervals[i].to); i = l->intervals[i].next)
        ssa_work(l->f, 1);
    return i ? &l->intervals[i] : NULL;
}

static bool is_float(const struct scan *s, uint32_t i) { return s->l->intervals[i].real; }

static uint32_t allocate_meeting(const struct ssa_live *l, const struct ssa_interval *a,
                                 const struct ssa_interval *b)
{
    uint32_t x = a->range, y = b->range;
    while (x && y) {
        ssa_work(l->f, 1);
        const struct ssa_range *p = &l->ranges[x], *q = &l->ranges[y];
        if (p->to <= q->from)
            x = p->next;
        else if (q->to <= p->from)
            y = q->next;
        else
            return p->from > q->from ? p->from : q->from;
    }
    return UINT32_MAX;
}

/* Returns the first of some ascending numbers that the interval covers, or UINT32_MAX if it
 * covers none. */
static uint32_t allocate_hit(const struct ssa_live *l, const struct ssa_interval *i,
                             const uint32_t *numbers, uint32_t count)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (numbers[middle] < i->from)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t r = i->range;
    for (; low < count && numbers[low] < i->to; low++) {
        ssa_work(l->f, 1);
        while (r && l->ranges[r].to <= numbers[low]) r = l->ranges[r].next;
        if (!r) break;
        if (l->ranges[r].from <= numbers[low]) return numbers[low];
    }
    return UINT32_MAX;
}

/* Returns the number of the first use at or after `at` that needs a register, or UINT32_MAX if
 * there is none. */
static uint32_t interval_next_need(const struct ssa_live *l, const struct ssa_interval *i,
                                   uint32_t at)
{
    for (uint32_t u = i->use_first; u < i->use_end; u++) {
        if (l->uses[u].needs && l->uses[u].at >= at) return l->uses[u].at;
        ssa_work(l->f, 1);
    }
    return UINT32_MAX;
}

static uint32_t next_use(const struct ssa_live *l, const struct ssa_interval *i, uint32_t at)
{
    for (uint32_t u = i->use_first; u < i->use_end; u++) {
        if (l->uses[u].at >= at) return l->uses[u].at;
        ssa_work(l->f, 1);
    }
    return i->to;
}

/* Returns the number of the last use before `at`, or the beginning of the interval. */
static uint32_t interval_last_use(const struct ssa_live *l, const struct ssa_interval *i,
                                  uint32_t at)
{
    uint32_t last = i->from;
    for (uint32_t u = i->use_first; u < i->use_end && l->uses[u].at < at; u++) {
        last = l->uses[u].at;
        ssa_work(l->f, 1);
    }
    return last;
}

static void allocate_put(struct scan *s, uint32_t i)
{
    if (!SSA_RESERVE(s->l, s->waiting, s->waiting_capacity, s->waiting_count + 1)) return;
    size_t at = s->waiting_count++;
    while (at && allocate_get(s, s->waiting[(at - 1) / 2])->from > allocate_get(s, i)->from) {
        s->waiting[at] = s->waiting[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->waiting[at] = i;
}

static uint32_t allocate_take(struct scan *s)
{
    uint32_t top = s->waiting[0], last = s->waiting[--s->waiting_count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= s->waiting_count) break;
        if (child + 1 < s->waiting_count &&
            allocate_get(s, s->waiting[child + 1])->from < allocate_get(s, s->waiting[child])->from)
            child++;
        if (allocate_get(s, s->waiting[child])->from >= allocate_get(s, last)->from) break;
        s->waiting[at] = s->waiting[child];
        at = child;
    }
    s->waiting[at] = last;
    return top;
}

/* Cuts an interval in two. The part from `at` on becomes a new interval, which is in the frame
 * until it gets a register. Returns the new interval, or 0 if the value does not live after
 * `at`. */
static uint32_t allocate_split(struct scan *s, uint32_t i, uint32_t at)
{
    struct ssa_live *l = s->l;
    if (!ARRAY_RESERVE(l->intervals, l->interval_capacity, l->interval_count + 1) ||
        !ARRAY_RESERVE(l->ranges, l->range_capacity, l->range_count + 1)) {
        l->failed = true;
        return 0;
    }
    struct ssa_interval *old = allocate_get(s, i);
    if (at >= old->to || at <= old->from) return 0;
    uint32_t r = old->range, before = 0;
    while (r && l->ranges[r].to <= at) {
        before = r;
        r = l->ranges[r].next;
        ssa_work(l->f, 1);
    }
    if (!r) return 0;
    if (l->ranges[r].from < at) { /* `at` is in the middle of a range. */
        uint32_t made = (uint32_t)l->range_count++;
        l->ranges[made] = (struct ssa_range){at, l->ranges[r].to, l->ranges[r].next};
        l->ranges[r].to = at;
        l->ranges[r].next = 0;
        before = r;
        r = made;
    } else {
        l->ranges[before].next = 0;
    }
    uint32_t use = old->use_first;
    while (use < old->use_end && l->uses[use].at <= at) use++;
    ssa_work(l->f, use - old->use_first);
    uint32_t made = (uint32_t)l->interval_count++;
    l->intervals[made] =
        (struct ssa_interval){old->value,   l->ranges[r].from, old->to,      r,        use,
                              old->use_end, old->next,         SSA_IN_FRAME, old->real};
    old->to = l->ranges[before].to;
    old->use_end = use;
    old->next = made;
    return made;
}

static uint32_t block_of(const struct ssa_live *l, uint32_t at)
{
    uint32_t low = 0, high = l->block_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (l->blocks[l->order[middle]].from <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1; /* This is the place of the block in the order. */
}

/* Returns the best place for code that may be anywhere between two numbers: as late as possible
 * in the block that is in the fewest loops. The result is the number of a gap, or of the
 * beginning of a block. */
static uint32_t best_place(const struct ssa_live *l, uint32_t least, uint32_t most)
{
    if (!(most & 1) && l->blocks[l->order[block_of(l, most)]].from != most) most--;
    if (least >= most) return most;
    uint32_t from = block_of(l, least), to = block_of(l, most), best = to;
    ssa_work(l->f, to - from);
    for (uint32_t k = to; k > from; k--)
        if (l->loops.depth[l->order[k]] < l->loops.depth[l->order[best]]) best = k;
    if (l->loops.depth[l->order[from]] < l->loops.depth[l->order[best]]) {
        /* The code goes to the end of the first block, before the instruction that ends it. */
        uint32_t end = l->blocks[l->order[from]].to;
        if (end >= 3 && end - 3 > least && ((end - 3) & 1)) return end - 3;
    }
    return best == to                                   ? most
           : l->blocks[l->order[best + 1]].from <= most ? l->blocks[l->order[best + 1]].from
                                                        : most;
}

static void interval_to_frame(struct scan *s, uint32_t i)
{
    struct ssa_live *l = s->l;
    struct ssa_interval *it = allocate_get(s, i);
    it->reg = SSA_IN_FRAME;
    const struct ssa_insn *in = &l->f->insns[it->value];
    if (!ssa_is_remade(in) && l->slots[it->value] < 0) {
        l->slots[it->value] = (int32_t)l->frame;
        l->frame += ssa_words(in);
    }
    uint32_t need = interval_next_need(l, it, it->from + 1);
    if (need == UINT32_MAX) return;
    uint32_t rest = allocate_split(s, i, best_place(l, it->from + 1, need - 1));
    if (rest) allocate_put(s, rest);
}

static uint32_t blocked_from(const struct scan *s, uint32_t i, int8_t reg)
{
    const struct ssa_live *l = s->l;
    const struct ssa_interval *it = &l->intervals[i];
    uint32_t at = allocate_hit(l, it, l->calls, l->call_count);
    if (!is_float(s, i) && (reg == RAX || reg == RDX)) {
        uint32_t divide = allocate_hit(l, it, l->divides, l->divide_count);
        if (divide < at) at = divide;
    }
    return at;
}

/* Returns the register that would make a move unnecessary (a hint), or -1 if there is none. */
static int hint_of(const struct scan *s, uint32_t i)
{
    const struct ssa_live *l = s->l;
    const struct ssa_function *f = l->f;
    const struct ssa_interval *it = &l->intervals[i];
    const struct ssa_insn *in = &f->insns[it->value];
    for (uint32_t k = l->first[it->value]; k && k != i; k = l->intervals[k].next) {
        if (l->intervals[k].reg >= 0 && l->intervals[k].to <= it->from)
            return l->intervals[k].reg; /* The value had this register before. */
        ssa_work(f, 1);
    }
    if (in->op == SSA_PARAM || in->op == SSA_RESULT)
        return in->imm < SSA_PARAMS ? ssa_param_registers[in->imm] : -1;
    if (in->op == SSA_PHI) {
        for (uint32_t k = 0; k < in->count; k++) {
            uint32_t arg = l->first[f->pool[in->list + k]];
            if (arg && l->intervals[arg].reg >= 0) {
                const struct ssa_interval *last = &l->intervals[arg];
                while (last->next && l->intervals[last->next].reg >= 0)
                    last = &l->intervals[last->next];
                return last->reg;
            }
        }
    }
    return -1;
}

/* Returns a hint from the last use of the value that wants it in a certain register: by a phi,
 * as an argument of a call, or as a result. */
static int hint_of_users(const struct scan *s, const uint32_t *follower, uint32_t i)
{
    const struct ssa_live *l = s->l;
    uint32_t value = l->intervals[i].value, to = follower[value];
    if (!to) return -1;
    if (to & UINT32_C(0x80000000)) return (int)(to & 0xff);
    uint32_t k = l->first[to];
    return k ? l->intervals[k].reg : -1;
}

static void allocate_add(struct scan *s, struct list *list, uint32_t i)
{
    if (SSA_RESERVE(s->l, list->items, list->capacity, list->count + 1))
        list->items[list->count++] = i;
}

static void allocate_assign(struct scan *s, uint32_t i, int reg)
{
    allocate_get(s, i)->reg = (int8_t)reg;
    allocate_add(s, &s->taken[0], i);
}

/* Handles the most frequent case: a value that lives between calls, without holes in its life,
 * can have any register that no other interval has. */
static bool register_take_simply(struct scan *s, uint32_t i, const uint32_t *follower)
{
    const struct ssa_live *l = s->l;
    const struct ssa_interval *it = allocate_get(s, i);
    bool real = it->real, called = s->call < l->call_count && l->calls[s->call] < it->to,
         divided = s->divide < l->divide_count && l->divides[s->divide] < it->to;
    if (l->ranges[it->range].next || called || (divided && !real)) return false;
    uint32_t used = 0;
    for (const struct list *t = s->taken; t < s->taken + 2; t++)
        for (size_t k = 0; k < t->count; k++)
            if (is_float(s, t->items[k]) == real) used |= 1u << allocate_get(s, t->items[k])->reg;
    const int hints[2] = {hint_of_users(s, follower, i), hint_of(s, i)};
    for (int k = 0; k < 2; k++)
        if (hints[k] >= 0 && !(used >> hints[k] & 1)) {
            allocate_assign(s, i, hints[k]);
            return true;
        }
    size_t n;
    const int8_t *set = ssa_registers(real, &n);
    for (size_t k = 0; k < n; k++)
        if (!(used >> set[k] & 1)) {
            allocate_assign(s, i, set[k]);
            return true;
        }
    return false;
}

static bool take_free_register(struct scan *s, uint32_t i, const uint32_t *follower)
{
    struct ssa_live *l = s->l;
    uint32_t until[SSA_REGISTERS];
    bool real = is_float(s, i);
    size_t n;
    const int8_t *set = ssa_registers(real, &n);
    const struct ssa_interval *it = allocate_get(s, i);
    for (size_t k = 0; k < SSA_REGISTERS; k++) until[k] = UINT32_MAX;
    for (const struct list *t = s->taken; t < s->taken + 2; t++)
        for (size_t k = 0; k < t->count; k++) {
            const struct ssa_interval *other = allocate_get(s, t->items[k]);
            if (other->real != real) continue;
            uint32_t at = t == s->taken ? 0 : allocate_meeting(l, it, other);
            if (at < until[other->reg]) until[other->reg] = at;
        }
    uint32_t calls = blocked_from(s, i, -1), divides = real ? calls : blocked_from(s, i, RAX);
    for (size_t k = 0; k < n; k++) {
        uint32_t limit = !real && (set[k] == RAX || set[k] == RDX) ? divides : calls;
        if (limit < until[set[k]]) until[set[k]] = limit;
    }
    int best = -1, hint = hint_of(s, i), of_users = hint_of_users(s, follower, i);
    for (size_t k = 0; k < n; k++)
        if (best < 0 || until[set[k]] > until[best]) best = set[k];
    const int hints[2] = {of_users, hint};
    for (int k = 0; k < 2; k++)
        if (hints[k] >= 0 && until[hints[k]] >= it->to) {
            best = hints[k];
            break;
        }
    if (until[best] < it->to && hint >= 0 && until[hint] == until[best]) best = hint;
    if (until[best] <= it->from + 1) return false;
    if (until[best] < it->to) {
        /* The register is free for a part of the life only. The interval takes it only if this
         * part has a use that needs a register. */
        if (interval_next_need(l, it, it->from) >= until[best]) return false;
        uint32_t most = until[best], last = interval_last_use(l, it, most);
        if (l->blocks[l->order[block_of(l, most)]].from != most) most--;
        uint32_t place = best_place(l, last + 1, most);
        if (place <= it->from) return false;
        uint32_t rest = allocate_split(s, i, place);
        if (rest) allocate_put(s, rest);
    }
    allocate_assign(s, i, best);
    return true;
}

static void allocate_evict(struct scan *s, int reg, uint32_t by)
{
    bool real = is_float(s, by);
    uint32_t at = allocate_get(s, by)->from;
    for (struct list *t = s->taken; t < s->taken + 2; t++)
        for (size_t k = 0; k < t->count;) {
            uint32_t i = t->items[k];
            if (i == by || is_float(s, i) != real || allocate_get(s, i)->reg != reg ||
                (t != s->taken &&
                 allocate_meeting(s->l, allocate_get(s, i), allocate_get(s, by)) == UINT32_MAX)) {
                k++;
                continue;
            }
            uint32_t rest = allocate_split(s, i, at);
            t->items[k] = t->items[--t->count];
            if (rest) interval_to_frame(s, rest);
        }
}

static void take_used_register(struct scan *s, uint32_t i)
{
    struct ssa_live *l = s->l;
    bool real = is_float(s, i);
    size_t n;
    const int8_t *set = ssa_registers(real, &n);
    uint32_t used[SSA_REGISTERS];
    const struct ssa_interval *it = allocate_get(s, i);
    uint32_t need = interval_next_need(l, it, it->from), calls = blocked_from(s, i, -1);
    for (size_t k = 0; k < SSA_REGISTERS; k++) used[k] = UINT32_MAX;
    for (const struct list *t = s->taken; t < s->taken + 2; t++)
        for (size_t k = 0; k < t->count; k++) {
            const struct ssa_interval *other = allocate_get(s, t->items[k]);
            if (other->real != real) continue;
            if (t != s->taken && allocate_meeting(l, it, other) == UINT32_MAX) continue;
            uint32_t at = other->from >= it->from ? 0 : next_use(l, other, it->from);
            /* A value that the current instruction reads keeps its register. */
            if (interval_next_need(l, other, it->from) <= it->from + 1) at = 0;
            if (at < used[other->reg]) used[other->reg] = at;
        }
    int best = set[0];
    for (size_t k = 0; k < n; k++) {
        uint32_t limit = blocked_from(s, i, set[k]);
        if (limit <= it->from + 1) used[set[k]] = 0;
        if (used[set[k]] > used[best]) best = set[k];
    }
    /* If no use soon needs a register, the interval goes to the frame. */
    bool now = need <= it->from + 1;
    if (!now && (need == UINT32_MAX || used[best] < need || calls < need)) {
        interval_to_frame(s, i);
        return;
    }
    uint32_t limit = blocked_from(s, i, (int8_t)best);
    if (limit < it->to) {
        uint32_t rest =
            allocate_split(s, i, best_place(l, interval_last_use(l, it, limit) + 1, limit - 1));
        if (rest) allocate_put(s, rest);
    }
    allocate_evict(s, best, i);
    allocate_assign(s, i, best);
}

/* Moves on to the number `at`. Intervals that ended before it are removed. Intervals in use that
 * have a hole there, and intervals in a hole that ends there, go to the other list. */
static void allocate_advance(struct scan *s, uint32_t at)
{
    for (int hole = 0; hole < 2; hole++) {
        struct list *t = &s->taken[hole];
        if (!ssa_work(s->l->f, t->count)) s->l->failed = true;
        for (size_t k = 0; k < t->count;) {
            const struct ssa_interval *it = allocate_get(s, t->items[k]);
            if (it->to > at && allocate_covers(s->l, it, at) != hole) {
                k++;
                continue;
            }
            if (it->to > at) allocate_add(s, &s->taken[!hole], t->items[k]);
            t->items[k] = t->items[--t->count];
        }
    }
}

/* Finds the follower of each value: the phi that uses it, or 0x80000000 | the register in which
 * it is passed as an argument or result. */
static uint32_t *find_followers(const struct ssa_live *l)
{
    const struct ssa_function *f = l->f;
    uint32_t *follower = calloc(f->count, sizeof *follower);
    for (uint32_t k = 0; follower && k < l->block_count; k++)
        for (uint32_t i = f->blocks[l->order[k]].first; i; i = f->insns[i].next) {
            const struct ssa_insn *in = &f->insns[i];
            bool listed = in->op == SSA_PHI || in->op == SSA_CALL || in->op == SSA_RETURN;
            for (uint32_t n = 0; listed && n < in->count; n++)
                follower[f->pool[in->list + n]] =
                    in->op == SSA_PHI ? i : UINT32_C(0x80000000) | ssa_param_registers[n];
        }
    return follower;
}

bool ssa_allocate(struct ssa_live *l)
{
    struct scan s = {.l = l};
    uint32_t *follower = find_followers(l), at = 0;
    /* The intervals that begin at a number are in a list for this number. Those that come from
     * splitting are in the heap. */
    uint32_t *begin = arena_alloc(&l->arena, l->limit + 2, sizeof *begin, &l->err),
             *other = arena_alloc(&l->arena, l->interval_count, sizeof *other, &l->err);
    if (!follower || l->err.code) {
        free(follower);
        return false;
    }
    for (uint32_t i = (uint32_t)l->interval_count; i-- > 1;) {
        other[i] = begin[allocate_get(&s, i)->from];
        begin[allocate_get(&s, i)->from] = i;
    }
    while (!l->failed) {
        while (at <= l->limit && !begin[at]) at++;
        bool made = s.waiting_count && (at > l->limit || allocate_get(&s, s.waiting[0])->from < at);
        if (!made && at > l->limit) break;
        uint32_t i = made ? allocate_take(&s) : begin[at];
        if (!made) begin[at] = other[i];
        s.at = allocate_get(&s, i)->from;
        allocate_advance(&s, s.at);
        while (s.call < l->call_count && l->calls[s.call] < s.at) s.call++;
        while (s.divide < l->divide_count && l->divides[s.divide] < s.at) s.divide++;
        if (!register_take_simply(&s, i, follower) && !take_free_register(&s, i, follower))
            take_used_register(&s, i);
    }
    free(follower);
    free(s.waiting);
    free(s.taken[0].items);
    free(s.taken[1].items);
    return !l->failed;
}
