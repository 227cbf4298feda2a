/* Pairs the instructions of functions that belong together, finds runs of instructions that stand elsewhere, and gives up
 * pairs whose jumps lead to different places. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "penta/code_diff/align.h"
#include "penta/code_diff/code_diff.h"

enum {
    MOVE_LEAST = 3,       /* the instructions of a run that is no whole block */
    MOVE_BLOCK = 2,       /* those of a whole block */
    MOVE_CANDIDATES = 16, /* the places with which a run is compared */
};

static void code_pair(struct code_diff *d, size_t a, size_t b, enum code_state state)
{
    d->a.insns[a].partner = b;
    d->b.insns[b].partner = a;
    d->a.insns[a].state = d->b.insns[b].state = (uint8_t)state;
}

static void code_unpair(struct code_diff *d, size_t a)
{
    struct code_insn_text *x = &d->a.insns[a], *y = &d->b.insns[x->partner];
    x->partner = y->partner = CODE_NONE;
    x->state = y->state = CODE_ALONE;
}

struct comparing {
    struct code_diff *d;
    size_t a, b; /* the first instructions of the two functions */
};

static void compare_pair(void *user, size_t a, size_t b)
{
    const struct comparing *c = user;
    code_pair(c->d, c->a + a, c->b + b, CODE_SAME);
}

static uint32_t *side_keys(const struct code_side *s, penta_error *err)
{
    uint32_t *keys = zeros_new((s->map->count + 1) * sizeof *keys, "the code", err);
    for (size_t i = 0; keys && i < s->map->count; i++) keys[i] = s->insns[i].key;
    return keys;
}

bool code_compare(struct code_diff *d)
{
    uint32_t *a = side_keys(&d->a, d->err), *b = side_keys(&d->b, d->err);
    bool ok = a && b;
    for (size_t i = 0; ok && i < d->a.map->function_count; i++) {
        const struct code_part *p = &d->a.parts[i];
        if (p->partner == CODE_NONE) continue;
        const struct code_part *q = &d->b.parts[p->partner];
        struct comparing c = {d, p->first, q->first};
        ok = align_lists(a + p->first, p->count, b + q->first, q->count, compare_pair, &c, d->err);
    }
    free(a);
    free(b);
    return ok;
}

/* ---- runs that stand elsewhere ---- */

struct move_start { /* two instructions of side b that follow each other and have no partners */
    uint32_t first, second;
    size_t at;
};

static int start_order(const void *a, const void *b)
{
    const struct move_start *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->second != y->second) return x->second < y->second ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool code_alone(const struct code_side *s, size_t i)
{
    return i < s->map->count && s->insns[i].state == CODE_ALONE;
}

/* The run from i and j on that both sides have alone, which stays in one function of each. */
static size_t move_size(const struct code_diff *d, size_t i, size_t j)
{
    size_t n = 0;
    while (
        code_alone(&d->a, i + n) && code_alone(&d->b, j + n) &&
        d->a.insns[i + n].key == d->b.insns[j + n].key &&
        !(n && (d->a.map->insns[i + n].starts_function || d->b.map->insns[j + n].starts_function)))
        n++;
    return n;
}

static bool moves_whole_block(const struct code_map *m, size_t i, size_t size)
{
    return m->insns[i].starts_block && (i + size == m->count || m->insns[i + size].starts_block);
}

static void move_from(struct code_diff *d, const struct move_start *starts, size_t count, size_t i)
{
    size_t best = 0, found = 0, k;
    uint32_t first = d->a.insns[i].key, second = d->a.insns[i + 1].key;
    ARRAY_SEARCH(k, 0, count,
                 starts[k].first > first ||
                     (starts[k].first == first && starts[k].second >= second));
    for (size_t n = 0; n < MOVE_CANDIDATES && k + n < count; n++) {
        const struct move_start *s = &starts[k + n];
        if (s->first != first || s->second != second) break;
        size_t size = move_size(d, i, s->at);
        if (size <= best) continue;
        best = size;
        found = s->at;
    }
    bool block = best >= MOVE_BLOCK && moves_whole_block(d->a.map, i, best);
    if (best < MOVE_LEAST && !block) return;
    for (size_t n = 0; n < best; n++) code_pair(d, i + n, found + n, CODE_MOVED);
}

/* ---- targets of jumps ---- */

/* Numbers the places of side b, and gives each instruction of side a the number of its place there: that of its partner
 * or of what follows next. A place in a function without a partner has a number of its own. */
static void places_of(const struct code_diff *d, size_t *a, size_t *b)
{
    size_t count = d->b.map->count;
    for (size_t f = 0; f < d->b.map->function_count; f++) {
        const struct code_part *q = &d->b.parts[f];
        size_t place = count + f;
        for (size_t j = q->first + q->count; j-- > q->first;) {
            const struct code_insn_text *t = &d->b.insns[j];
            if (code_paired(t)) place = j;
            b[j] = t->state == CODE_MOVED ? j : place;
        }
    }
    for (size_t f = 0; f < d->a.map->function_count; f++) {
        const struct code_part *p = &d->a.parts[f];
        size_t place = p->partner == CODE_NONE ? SIZE_MAX : count + p->partner;
        for (size_t i = p->first + p->count; i-- > p->first;) {
            const struct code_insn_text *t = &d->a.insns[i];
            if (code_paired(t)) place = t->partner;
            a[i] = t->state == CODE_MOVED ? t->partner : place;
        }
    }
}

static bool jumps_apart(const struct code_diff *d, size_t i, const size_t *a, const size_t *b)
{
    const struct code_insn_text *t = &d->a.insns[i];
    if (t->partner == CODE_NONE || !t->placeless) return false;
    size_t x = code_map_find(d->a.map, d->a.map->insns[i].branch.target);
    size_t y = code_map_find(d->b.map, d->b.map->insns[t->partner].branch.target);
    return a[x] != b[y];
}

bool code_targets(struct code_diff *d)
{
    size_t *a = zeros_new((d->a.map->count + 1) * sizeof *a, "the code", d->err);
    size_t *b = zeros_new((d->b.map->count + 1) * sizeof *b, "the code", d->err);
    if (a && b) {
        places_of(d, a, b);
        for (size_t i = 0; i < d->a.map->count; i++)
            if (jumps_apart(d, i, a, b)) code_unpair(d, i);
    }
    free(a);
    free(b);
    return a && b;
}

bool code_moves(struct code_diff *d)
{
    size_t count = 0, n = d->b.map->count;
    struct move_start *starts = zeros_new((n + 1) * sizeof *starts, "the code", d->err);
    if (!starts) return false;
    for (size_t j = 0; j + 1 < n; j++)
        if (code_alone(&d->b, j) && code_alone(&d->b, j + 1))
            starts[count++] = (struct move_start){d->b.insns[j].key, d->b.insns[j + 1].key, j};
    qsort(starts, count, sizeof *starts, start_order);
    for (size_t i = 0; i + 1 < d->a.map->count; i++)
        if (code_alone(&d->a, i) && code_alone(&d->a, i + 1)) move_from(d, starts, count, i);
    free(starts);
    return true;
}
