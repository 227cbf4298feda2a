/* Pairs the functions of two files: by name, then by equal code, then by similar code near the same place. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "penta/code_diff/code_diff.h"

enum {
    MATCH_WINDOW = 16, /* how many functions one is compared with */
    MATCH_RATIO = 4,   /* Functions whose sizes differ by this factor are not similar. */
    MATCH_PERCENT = 40 /* the instructions that similar functions have in common */
};

struct match_part { /* a function that has no partner yet */
    const char *name;
    uint64_t hash;
    size_t function;
};

struct match_list {
    struct code_side *side;
    struct match_part *parts;
    size_t count;
    uint32_t *keys; /* those of the instructions, sorted within each function */
};

static int key_order(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int name_order(const void *a, const void *b)
{
    const struct match_part *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->function > y->function) - (x->function < y->function);
}

static int hash_order(const void *a, const void *b)
{
    const struct match_part *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static bool list_open(struct match_list *l, struct code_side *s, penta_error *err)
{
    *l = (struct match_list){.side = s};
    l->parts = zeros_new((s->map->function_count + 1) * sizeof *l->parts, "the functions", err);
    l->keys = zeros_new((s->map->count + 1) * sizeof *l->keys, "the functions", err);
    if (!l->parts || !l->keys) return false;
    for (size_t i = 0; i < s->map->count; i++) l->keys[i] = s->insns[i].key;
    for (size_t i = 0; i < s->map->function_count; i++) {
        const struct code_part *p = &s->parts[i];
        if (p->count) qsort(l->keys + p->first, p->count, sizeof *l->keys, key_order);
    }
    return true;
}

/* Takes the functions without a partner; with `named` only those to which the program gives a name. */
static void list_fill(struct match_list *l, bool named)
{
    const struct code_side *s = l->side;
    l->count = 0;
    for (size_t i = 0; i < s->map->function_count; i++) {
        const struct code_part *p = &s->parts[i];
        uint64_t hash = p->count;
        if (p->partner != CODE_NONE || (named && !s->map->functions[i].named)) continue;
        for (size_t n = 0; n < p->count; n++)
            hash = (hash ^ s->insns[p->first + n].key) * 0x9e3779b97f4a7c15 + (hash >> 29);
        l->parts[l->count++] = (struct match_part){s->map->functions[i].name, hash, i};
    }
}

static void match_pair(struct match_list *a, struct match_list *b, size_t i, size_t j)
{
    a->side->parts[i].partner = j;
    b->side->parts[j].partner = i;
}

static bool code_equal(const struct match_list *a, const struct match_list *b, size_t i, size_t j)
{
    const struct code_part *p = &a->side->parts[i], *q = &b->side->parts[j];
    bool same = p->count == q->count;
    for (size_t n = 0; same && n < p->count; n++)
        same = a->side->insns[p->first + n].key == b->side->insns[q->first + n].key;
    return same;
}

static void match_sorted(struct match_list *a, struct match_list *b, bool named)
{
    int (*order)(const void *, const void *) = named ? name_order : hash_order;
    list_fill(a, named);
    list_fill(b, named);
    qsort(a->parts, a->count, sizeof *a->parts, order);
    qsort(b->parts, b->count, sizeof *b->parts, order);
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct match_part *p = &a->parts[i], *q = &b->parts[j];
        int way = named ? strcmp(p->name, q->name) : (p->hash > q->hash) - (p->hash < q->hash);
        if (!way && (named || code_equal(a, b, p->function, q->function)))
            match_pair(a, b, p->function, q->function);
        i += way <= 0;
        j += way >= 0;
    }
}

/* The instructions that two functions have in common, in parts of 100 of the larger; 0 when their sizes are far apart. */
static size_t code_similarity(const struct match_list *a, const struct match_list *b, size_t i,
                              size_t j)
{
    const struct code_part *p = &a->side->parts[i], *q = &b->side->parts[j];
    size_t most = p->count > q->count ? p->count : q->count, common = 0;
    if (!p->count || !q->count || most / MATCH_RATIO > p->count || most / MATCH_RATIO > q->count)
        return 0;
    const uint32_t *x = a->keys + p->first, *y = b->keys + q->first;
    for (size_t n = 0, m = 0; n < p->count && m < q->count;) {
        bool equal = x[n] == y[m], less = x[n] < y[m];
        common += equal;
        n += equal || less;
        m += equal || !less;
    }
    return common * 100 / most;
}

static void match_similar(struct match_list *a, struct match_list *b)
{
    list_fill(a, false);
    list_fill(b, false);
    size_t start = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t best = 0, found = CODE_NONE, seen = 0;
        while (start < b->count && b->side->parts[b->parts[start].function].partner != CODE_NONE)
            start++;
        for (size_t j = start; j < b->count && seen < MATCH_WINDOW; j++, seen++) {
            size_t other = b->parts[j].function;
            if (b->side->parts[other].partner != CODE_NONE) continue;
            size_t percent = code_similarity(a, b, a->parts[i].function, other);
            if (percent <= best) continue;
            best = percent;
            found = other;
        }
        if (best >= MATCH_PERCENT) match_pair(a, b, a->parts[i].function, found);
    }
}

bool code_match(struct code_diff *d)
{
    struct match_list a, b = {0};
    bool ok = list_open(&a, &d->a, d->err) && list_open(&b, &d->b, d->err);
    if (ok) {
        match_sorted(&a, &b, true);
        match_sorted(&a, &b, false);
        match_similar(&a, &b);
        bool single = d->a.map->function_count == 1 && d->b.map->function_count == 1;
        if (single && d->a.parts[0].partner == CODE_NONE) match_pair(&a, &b, 0, 0);
    }
    free(a.parts);
    free(a.keys);
    free(b.parts);
    free(b.keys);
    return ok;
}
