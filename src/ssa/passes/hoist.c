/* Moves checks out of counted loops. The value that a check tests moves in one direction, so if
 * the check holds for its first and last value, it holds for all. Code before the loop tests
 * both, and selects the loop without checks or an unchanged copy. The trip count is tested too:
 * a loop without checks that takes at most CYCLES, even when every access misses the caches
 * (loop_cost.c), needs no poll. A loop whose rounds take very long keeps its polls, because
 * their cost does not matter there. A test that is known to hold needs no code. */
#include "ssa/passes/induction.h"
#include <stdlib.h>

/* Moving a check relies on the following. A counter has at most WORK steps of at most STEP_MAX,
 * and a narrow counter stays below 2^30, so that extending it does not change it. A tested value
 * is a sum in which counters are multiplied by 2^GROWTH at most, so that it cannot leave its
 * limits, wrap around and come back. Where the check is, the counter is not beyond its last
 * value. The code tests all of this, or the check stays in the loop. */
enum {
    BLOCKS = 24, /* most blocks of a loop that is copied */
    CHECKS = 24, /* most checks in a loop that is copied */
    /* With fewer iterations than this, the tests would cost more than they save. */
    FEW = 8,
    WORK = 1 << 26,     /* most instructions that all rounds may execute together */
    CYCLES = 1 << 25,   /* most cycles without a poll: 10 ms of a processor with 3.3 GHz */
    STEP_MAX = 1 << 20, /* the largest step of a counter */
    GROWTH = 14
};

struct test { /* a test of a < b for unsigned a and b */
    uint32_t a, b;
};
struct hoisting {
    struct ssa_function *f;
    const struct ssa_loops *l;
    struct ssa_counted c;
    uint32_t last[SSA_COUNTERS]; /* per counter: its last value, or 0 if not computed yet */
    uint32_t trips;              /* the largest possible number of rounds, minus one */
    struct test tests[2 * CHECKS + 4 * SSA_COUNTERS];
    uint32_t test_count;
    uint32_t checks[CHECKS], check_count;
    bool never; /* true if a test is known to fail */
};

static uint32_t hoist_constant(struct hoisting *h, uint64_t imm)
{
    return ssa_const(h->f, (int64_t)imm);
}

static uint32_t hoist_make(struct hoisting *h, enum ssa_op op, uint32_t a, uint32_t b)
{
    int64_t x, y;
    bool kx = ssa_is_const(h->f, a, &x), ky = ssa_is_const(h->f, b, &y);
    if (ky && !y && op != SSA_MUL) return a;
    if (ky && y == 1 && op == SSA_MUL) return a;
    if (kx && ky) {
        uint64_t p = (uint64_t)x, q = (uint64_t)y;
        return hoist_constant(h, op == SSA_ADD   ? p + q
                                 : op == SSA_SUB ? p - q
                                 : op == SSA_MUL ? p * q
                                                 : p << (q & 63));
    }
    return ssa_op2(h->f, op, SSA_INT, false, a, b);
}

/* Returns a value that does not change in the loop, in a form that code before the loop can use. */
static uint32_t hoist_outside(struct hoisting *h, uint32_t value)
{
    struct ssa_insn in = h->f->insns[value];
    if (!ssa_in_loop(h->l, in.block, h->c.header)) return value;
    uint32_t copy = ssa_op1(h->f, (enum ssa_op)in.op, (enum ssa_type)in.type, 0);
    if (copy) h->f->insns[copy].imm = in.imm;
    return copy;
}

static void hoist_demand(struct hoisting *h, uint32_t a, uint32_t b)
{
    int64_t x, y, other;
    bool known = ssa_is_const(h->f, b, &y);
    if (ssa_is_const(h->f, a, &x) && known) {
        h->never |= (uint64_t)x >= (uint64_t)y;
        return;
    }
    /* If the same value has two limits, only the lower one is tested. */
    for (uint32_t i = 0; i < h->test_count; i++) {
        struct test *t = &h->tests[i];
        if (t->a != a) continue;
        if (t->b == b) return;
        if (!known || !ssa_is_const(h->f, t->b, &other)) continue;
        if ((uint64_t)y < (uint64_t)other) t->b = b;
        return;
    }
    h->tests[h->test_count++] = (struct test){a, b};
}

/* Returns a bound that is so low that adding a step to a value below it cannot overflow. */
static uint32_t bound_far_below(struct hoisting *h, bool narrow)
{
    return hoist_constant(h, UINT64_C(1) << (narrow ? 30 : 62));
}

static bool bound_main(struct hoisting *h, uint32_t instructions, uint32_t cycles)
{
    struct ssa_counted *c = &h->c;
    struct ssa_induction *i = &c->counters[c->main];
    int64_t step = 0, last;
    bool known = ssa_is_const(h->f, i->step, &step);
    bool narrow = c->narrow || i->narrow;
    if (known && (step < 1 || step > STEP_MAX)) return false;
    uint32_t init = hoist_outside(h, i->init), end = hoist_outside(h, c->bound);
    end = c->inclusive ? end : hoist_make(h, SSA_SUB, end, hoist_constant(h, 1));
    if (known && ssa_is_const(h->f, end, &last) && last / step < FEW) return false;
    uint32_t limit = bound_far_below(h, narrow), length = hoist_make(h, SSA_SUB, end, init);
    uint64_t most = WORK / (instructions + 1) + 1, rounds = CYCLES / cycles;
    if (cycles < SSA_LOOP_HEAVY && rounds < most) most = rounds;
    if (!known) { /* The step must be from 1 to STEP_MAX. */
        uint32_t less = hoist_make(h, SSA_SUB, hoist_outside(h, i->step), hoist_constant(h, 1));
        hoist_demand(h, less, hoist_constant(h, STEP_MAX));
    }
    hoist_demand(h, init, limit);
    hoist_demand(h, end, limit);
    hoist_demand(h, length, hoist_constant(h, most * (known ? (uint64_t)step : 1)));
    h->last[c->main] = end;
    h->trips = known && step == 1 ? length : 0;
    return !h->never;
}

/* Returns the last value of another counter, which makes as many steps as the main counter. */
static uint32_t counter_last(struct hoisting *h, const struct ssa_induction *i)
{
    uint32_t *last = &h->last[i - h->c.counters];
    int64_t step;
    if (*last) return *last;
    if (!h->trips) return 0;
    uint32_t init = hoist_outside(h, i->init), by = hoist_outside(h, i->step),
             limit = bound_far_below(h, i->narrow);
    if (ssa_is_const(h->f, by, &step)) {
        if (step < 0 || step > STEP_MAX) return 0;
    } else {
        hoist_demand(h, by, hoist_constant(h, STEP_MAX));
    }
    *last = hoist_make(h, SSA_ADD, init, hoist_make(h, SSA_MUL, h->trips, by));
    hoist_demand(h, init, limit);
    if (i->narrow) hoist_demand(h, *last, limit);
    return *last;
}

/* Returns the value that a value of the loop has in the first or in the last iteration, or 0 if
 * it is not a sum of counters and unchanging values. `growth` says how often parts of the sum
 * may still be doubled; a sum counts as two, because computing it takes twice the work. */
static uint32_t value_at_end(struct hoisting *h, uint32_t value, bool last, int growth)
{
    struct ssa_insn in = h->f->insns[value];
    int64_t k;
    if (ssa_invariant_in(h->f, h->l, value, h->c.header)) return hoist_outside(h, value);
    const struct ssa_induction *i = ssa_counter_of(&h->c, value);
    if (i) return last ? counter_last(h, i) : hoist_outside(h, i->init);
    if (in.op == SSA_SEXT32 || in.op == SSA_ZEXT32) {
        /* A narrow counter plus a small constant cannot overflow, so extending the sum does not
         * change it. */
        struct ssa_insn x = h->f->insns[in.arg[0]];
        bool small = x.op == SSA_ADD && x.narrow && ssa_is_const(h->f, x.arg[1], &k) && k >= 0 &&
                     k < STEP_MAX;
        i = ssa_counter_of(&h->c, small ? x.arg[0] : in.arg[0]);
        if (!i || !i->narrow) return 0;
        uint32_t end = last ? counter_last(h, i) : hoist_outside(h, i->init);
        return end && small ? hoist_make(h, SSA_ADD, end, hoist_constant(h, (uint64_t)k)) : end;
    }
    if (in.narrow || (in.op != SSA_ADD && in.op != SSA_SHL && in.op != SSA_ADDRESS)) return 0;
    if (in.op == SSA_SHL && (!ssa_is_const(h->f, in.arg[1], &k) || (uint64_t)k > 3)) return 0;
    growth -= 2 + (in.op == SSA_SHL ? (int)k : in.scale);
    if (growth < 0) return 0;
    uint32_t a = in.arg[0] ? value_at_end(h, in.arg[0], last, growth) : 0;
    if (in.op == SSA_SHL) return a ? hoist_make(h, SSA_SHL, a, hoist_constant(h, (uint64_t)k)) : 0;
    uint32_t b = in.arg[1] ? value_at_end(h, in.arg[1], last, growth) : 0;
    if ((in.arg[0] && !a) || (in.arg[1] && !b)) return 0;
    if (in.op == SSA_ADD) return hoist_make(h, SSA_ADD, a, b);
    if (b) b = hoist_make(h, SSA_SHL, b, hoist_constant(h, in.scale));
    uint32_t sum = a && b ? hoist_make(h, SSA_ADD, a, b) : a ? a : b;
    return sum ? hoist_make(h, SSA_ADD, sum, hoist_constant(h, (uint64_t)in.imm)) : 0;
}

/* Loads a word of the context that says where a window begins, or how long it is. */
static uint32_t context_word(struct hoisting *h, int64_t offset)
{
    uint32_t base = ssa_op1(h->f, SSA_FIXED, SSA_INT, 0);
    if (base) h->f->insns[base].imm = SSA_CONTEXT;
    return ssa_load(h->f, SSA_X64, (struct ssa_address){.base = base, .disp = offset});
}

static bool is_check(const struct hoisting *h, const struct ssa_insn *in, uint64_t *limit)
{
    int64_t k;
    if (in->op == SSA_WINDOW) return true;
    if (in->op == SSA_GUARD) {
        bool below = in->cond == SSA_B && !in->narrow && ssa_is_const(h->f, in->arg[1], &k);
        if (below) *limit = (uint64_t)k;
        return below;
    }
    if (in->op != SSA_LIMIT || !h->f->limits) return false;
    *limit = h->f->limits->words[((uint64_t)in->imm - h->f->limits->offset) / 8];
    return true;
}

/* Adds the tests of the first and the last value of a check. Returns false if these values
 * cannot be computed. */
static bool test_check(struct hoisting *h, uint32_t check)
{
    struct ssa_insn in = h->f->insns[check];
    uint64_t limit = 0;
    uint32_t from = 0, most = 0;
    if (h->check_count == CHECKS || !is_check(h, &in, &limit)) return false;
    /* Before the comparison the counter may be one step beyond its last value. So the check must
     * come after the comparison, in a place that only the comparison leads to, unless the
     * comparison is of the counter's next value. */
    bool after =
        h->f->blocks[h->c.stay].pred_count == 1 && ssa_dominates(h->l, h->c.stay, in.block);
    if (!h->c.on_next && !after) return false;
    struct hoisting before = *h;
    for (int last = 0; last < 2; last++) {
        uint32_t a = in.arg[0] ? value_at_end(h, in.arg[0], last, GROWTH) : 0, b = 0;
        if (in.arg[0] && !a) goto no;
        if (in.op == SSA_WINDOW) {
            if (in.arg[1]) b = value_at_end(h, in.arg[1], last, GROWTH);
            if (in.arg[1] && !b) goto no;
            if (b) b = hoist_make(h, SSA_SHL, b, hoist_constant(h, in.scale));
            a = a && b ? hoist_make(h, SSA_ADD, a, b) : a ? a : b;
            if (!a) goto no;
            a = hoist_make(h, SSA_ADD, a, hoist_constant(h, (uint64_t)in.imm));
            if (!from) {
                from = context_word(h, in.list);
                most = context_word(h, (int64_t)in.list + 8 + 8 * ssa_mem_bits[in.mem]);
            }
            a = hoist_make(h, SSA_SUB, a, from);
        }
        hoist_demand(h, a, most ? most : hoist_constant(h, limit));
        if (h->never || h->f->failed) goto no;
    }
    h->checks[h->check_count++] = check;
    return true;
no:
    /* This also restores the last values, because the conditions for them are not tested. */
    *h = before;
    return false;
}

/* Returns the number of instructions of an innermost loop without calls or switches, or 0 if it
 * is another kind of loop or too large. */
static uint32_t loop_size(const struct ssa_function *f, const struct ssa_loops *l, uint32_t header)
{
    enum { MOST = 300 };
    uint32_t n = 0;
    if (l->member_count[header] > BLOCKS) return 0;
    for (uint32_t k = 0; k < l->member_count[header]; k++) {
        uint32_t b = l->members[l->member_first[header] + k];
        if (l->header[b] != header + 1) return 0;
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next, n++) {
            uint8_t op = f->insns[i].op;
            bool far = ssa_has((enum ssa_op)op, 'm') || op == SSA_DEPTH || op == SSA_SWITCH;
            if (far || n == MOST) return 0;
        }
    }
    return n;
}

/* Removes the polls from the loop. If `constants` is set, it instead moves constants before the
 * loop, where both copies of the loop can use them. */
static void polls_take_out(struct hoisting *h, bool constants)
{
    struct ssa_function *f = h->f;
    for (uint32_t k = 0; k < h->l->member_count[h->c.header]; k++) {
        uint32_t b = h->l->members[h->l->member_first[h->c.header] + k];
        for (uint32_t i = f->blocks[b].first, next; i; i = next) {
            uint8_t op = f->insns[i].op;
            next = f->insns[i].next;
            if (constants ? op != SSA_CONST && op != SSA_FIXED : op != SSA_POLL) continue;
            ssa_remove(f, i);
            if (constants) ssa_append(f, f->at, i);
        }
    }
}

/* Emits the tests. Each test ends a block; if one fails, the copy of the loop with all checks
 * runs. */
static void hoist_choose(struct hoisting *h, uint32_t slow)
{
    struct ssa_function *f = h->f;
    for (uint32_t k = 0; k < h->test_count && !f->failed; k++) {
        uint32_t next = ssa_block(f);
        ssa_branch(f, SSA_BRANCH, SSA_B, false, h->tests[k].a, h->tests[k].b, next, slow);
        if (f->failed) return;
        f->blocks[next].sealed = f->blocks[next].edge = true;
        ssa_start(f, next);
    }
    ssa_jump(f, h->c.header);
    struct ssa_block *header = &f->blocks[h->c.header];
    uint32_t which = 0;
    while (header->preds[which] != h->c.preheader) which++;
    /* This undoes the edge that ssa_jump added. */
    header->preds[which] = header->preds[--header->pred_count];
}

static void hoist_loop(struct ssa_function *f, const struct ssa_loops *l, uint32_t header,
                       struct ssa_versions *versions)
{
    struct hoisting h = {.f = f, .l = l};
    uint32_t size = loop_size(f, l, header);
    if (!size || !ssa_counted(&h.c, f, l, header)) return;
    uint32_t cycles = ssa_loop_cycles(f, l, &h.c);
    ssa_start(f, h.c.preheader); /* Code is added at the end of this block. */
    uint32_t jump = f->blocks[f->at].last;
    ssa_remove(f, jump);
    bool any = bound_main(&h, size, cycles) && !f->failed;
    for (uint32_t k = 0; any && k < l->member_count[header]; k++) {
        uint32_t b = l->members[l->member_first[header] + k];
        for (uint32_t i = f->blocks[b].first; i && !f->failed; i = f->insns[i].next)
            test_check(&h, i);
    }
    if (f->failed) return;
    if (!any || !h.check_count) {
        ssa_append(f, f->at, jump);
        return;
    }
    if (h.test_count) {
        polls_take_out(&h, true);
        uint32_t slow = ssa_version(versions, l, header);
        if (!f->failed) hoist_choose(&h, slow);
    } else {
        ssa_append(f, f->at, jump);
    }
    for (uint32_t k = 0; k < h.check_count && !f->failed; k++) ssa_remove(f, h.checks[k]);
    if (!f->failed && cycles < SSA_LOOP_HEAVY) polls_take_out(&h, false);
}

void ssa_pass_hoist(struct ssa_function *f)
{
    /* In a function with more blocks no loop is copied, because values may be used far from
     * their loops. */
    enum { BLOCKS_MAX = 4096 };
    struct ssa_loops l;
    struct ssa_versions versions;
    if (f->failed || f->block_count > BLOCKS_MAX || !ssa_loops(&l, f)) return;
    if (!l.tangled && ssa_versions_begin(&versions, f)) {
        for (uint32_t k = 0; k < l.count && !f->failed; k++)
            if (l.header[l.order[k]] == l.order[k] + 1) hoist_loop(f, &l, l.order[k], &versions);
        ssa_versions_end(&versions);
    }
    ssa_loops_free(&l);
    ssa_pass_copies(f);
}
