/* Chooses the lane beside a listing in which each jump is drawn.
 *
 * Jumps to the same target form a group and share a lane, over all rows from the first end of an arrow to the last.
 * The groups choose in the order of their height, the smallest first, and each takes the innermost lane that is free
 * in all of its rows, so that inner arrows are inside. A tree over the rows knows which lanes are free in a range. It
 * needs logarithmic time, because large programs have jumps across all their code. */
#include <stdlib.h>
#include "base/array.h"
#include "base/json/json_write.h"
#include "penta/analysis/structure_struct.h"

struct arrow {
    size_t from, to; /* the instructions at both ends */
    uint8_t lane;
};

struct group {
    size_t first, count; /* the arrows of the group, in the order of targets */
    size_t low, high;    /* the rows of the group */
};

/* A tree of the lanes in use, with a bit for each lane. Node n has the children 2n and 2n + 1. */
struct lane_tree {
    struct lane_node {
        uint32_t all; /* lanes that are used in all rows of this node */
        uint32_t any; /* lanes that are used in some rows of this node */
    } * nodes;
    size_t rows;
};

struct drawing {
    const struct code_map *map;
    size_t first_row, last_row; /* the rows that are shown; last_row is one after the last */
    struct arrow *arrows;
    struct group *groups;
    size_t count, group_count;
    struct lane_tree tree;
    uint32_t lanes; /* the lanes that may be used, with a bit for each */
};

static uint32_t arrows_used(const struct lane_tree *t, size_t node, size_t from, size_t to,
                            size_t low, size_t high)
{
    const struct lane_node *n = &t->nodes[node];
    size_t middle = from + (to - from) / 2;
    if (high <= from || to <= low) return 0;
    if (low <= from && to <= high) return n->any;
    return n->all | arrows_used(t, 2 * node, from, middle, low, high) |
           arrows_used(t, 2 * node + 1, middle, to, low, high);
}

static void arrows_use(struct lane_tree *t, size_t node, size_t from, size_t to, size_t low,
                       size_t high, uint32_t lane)
{
    struct lane_node *n = &t->nodes[node];
    size_t middle = from + (to - from) / 2;
    if (high <= from || to <= low) return;
    n->any |= lane;
    if (low <= from && to <= high) {
        n->all |= lane;
        return;
    }
    arrows_use(t, 2 * node, from, middle, low, high, lane);
    arrows_use(t, 2 * node + 1, middle, to, low, high, lane);
}

/* Takes the innermost lane that is free in all rows from `low` to `high`, both included. */
static uint8_t take_lane(struct drawing *d, size_t low, size_t high)
{
    struct lane_tree *t = &d->tree;
    low -= d->first_row;
    high = high - d->first_row + 1;
    uint32_t free_lanes = d->lanes & ~arrows_used(t, 1, 0, t->rows, low, high);
    if (!free_lanes) return PENTA_ARROW_STUB;
    unsigned lane = (unsigned)__builtin_ctz(free_lanes);
    arrows_use(t, 1, 0, t->rows, low, high, UINT32_C(1) << lane);
    return (uint8_t)lane;
}

static size_t low_of(const struct arrow *a) { return a->from < a->to ? a->from : a->to; }
static size_t high_of(const struct arrow *a) { return a->from < a->to ? a->to : a->from; }

static int by_target(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static int by_source(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int by_height(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    size_t p = x->high - x->low, q = y->high - y->low;
    if (p != q) return p < q ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

static bool arrows_shown(const struct drawing *d, size_t row)
{
    return d->first_row <= row && row < d->last_row;
}

static void arrows_collect(struct drawing *d)
{
    const struct code_map *m = d->map;
    for (size_t i = 0; i < m->count; i++) {
        const penta_branch *b = &m->insns[i].branch;
        if (!b->jump || !b->has_target) continue;
        size_t to = code_map_find(m, b->target);
        if (to < m->count && (arrows_shown(d, i) || arrows_shown(d, to)))
            d->arrows[d->count++] = (struct arrow){i, to, PENTA_ARROW_STUB};
    }
}

static void arrows_group(struct drawing *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct arrow *a = &d->arrows[i];
        if (!arrows_shown(d, a->from) || !arrows_shown(d, a->to)) continue;
        struct group *g = d->group_count ? &d->groups[d->group_count - 1] : NULL;
        if (!g || d->arrows[g->first].to != a->to) {
            g = &d->groups[d->group_count++];
            *g = (struct group){i, 0, a->to, a->to};
        }
        g->count = i + 1 - g->first;
        if (low_of(a) < g->low) g->low = low_of(a);
        if (high_of(a) > g->high) g->high = high_of(a);
    }
}

/* Finds a lane for a group. A group that fits nowhere is split, because its short arrows may
 * still fit. */
static void arrows_place(struct drawing *d, const struct group *g)
{
    uint8_t lane = take_lane(d, g->low, g->high);
    for (size_t i = g->first; i < g->first + g->count; i++) {
        struct arrow *a = &d->arrows[i];
        if (!arrows_shown(d, a->from))
            continue; /* This arrow was sorted among the others, because it has their target. */
        a->lane =
            lane == PENTA_ARROW_STUB && g->count > 1 ? take_lane(d, low_of(a), high_of(a)) : lane;
    }
}

static bool arrows_allocate(struct drawing *d, penta_error *err)
{
    size_t jumps = 0;
    for (size_t i = 0; i < d->map->count; i++) jumps += d->map->insns[i].branch.jump;
    d->tree.rows = 1;
    while (d->tree.rows < d->last_row - d->first_row) d->tree.rows *= 2;
    d->tree.nodes = calloc(2 * d->tree.rows, sizeof *d->tree.nodes);
    d->arrows = calloc(jumps + 1, sizeof *d->arrows);
    d->groups = calloc(jumps + 1, sizeof *d->groups);
    return (d->tree.nodes && d->arrows && d->groups) ||
           error_at(err, BASE_MEMORY, 0, "no memory for %zu arrows", jumps);
}

static void arrows_draw(struct drawing *d)
{
    arrows_collect(d);
    qsort(d->arrows, d->count, sizeof *d->arrows, by_target);
    arrows_group(d);
    qsort(d->groups, d->group_count, sizeof *d->groups, by_height);
    for (size_t i = 0; i < d->group_count; i++) arrows_place(d, &d->groups[i]);
    qsort(d->arrows, d->count, sizeof *d->arrows, by_source);
}

bool penta_structure_arrows(const penta_structure *s, uint64_t first, uint64_t last, unsigned lanes,
                            penta_arrow_report *report, void *user, penta_error *err)
{
    *err = (penta_error){0};
    const struct code_map *m = s->map;
    struct drawing d = {.map = m};
    if (lanes > PENTA_ARROW_LANES) lanes = PENTA_ARROW_LANES;
    d.lanes = lanes < 32 ? (UINT32_C(1) << lanes) - 1 : UINT32_MAX;
    ARRAY_SEARCH(d.first_row, 0, m->count, m->insns[d.first_row].pc >= first);
    ARRAY_SEARCH(d.last_row, d.first_row, m->count, m->insns[d.last_row].pc > last);
    bool ok = arrows_allocate(&d, err);
    if (ok) arrows_draw(&d);
    for (size_t i = 0; ok && i < d.count; i++) {
        const struct arrow *a = &d.arrows[i];
        bool branch = m->insns[a->from].branch.next;
        report(user, &(penta_arrow){m->insns[a->from].pc, m->insns[a->to].pc,
                                    branch ? PENTA_EDGE_BRANCH : PENTA_EDGE_JUMP, a->lane});
    }
    free(d.tree.nodes);
    free(d.arrows);
    free(d.groups);
    return ok;
}

static void arrow_json(void *user, const penta_arrow *arrow)
{
    struct json *j = user;
    json_object(j, NULL);
    json_uint(j, "from", arrow->from);
    json_uint(j, "to", arrow->to);
    json_text(j, "kind", arrow->kind == PENTA_EDGE_JUMP ? "jump" : "branch");
    if (arrow->lane != PENTA_ARROW_STUB) json_uint(j, "lane", arrow->lane);
    json_end(j);
}

bool penta_structure_arrows_json(const penta_structure *s, uint64_t first, uint64_t last,
                                 unsigned lanes, penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    struct json j = {.out = &w};
    json_list(&j, NULL);
    bool ok = penta_structure_arrows(s, first, last, lanes, arrow_json, &j, err);
    json_finish(&j);
    return writer_give(&w, ok, out, err);
}
