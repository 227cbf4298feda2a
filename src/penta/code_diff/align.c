/* Aligns two lists by the greedy search of Myers ("An O(ND) difference algorithm", 1986) with a limit on D, and above
 * that limit by the items that are unique in both lists. */
#include "penta/code_diff/align.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"

enum {
    ALIGN_EDITS = 512, /* the most differences that the search looks for in a part */
    ALIGN_DEPTH = 8,   /* how often a part is cut into smaller ones */
};

struct align {
    const uint32_t *a, *b;
    uint64_t work; /* the comparisons that searches may still make */
    int32_t *trace;
    align_pair *report;
    void *user;
    penta_error *err;
};

struct align_part { /* half-open ranges of the two lists */
    size_t a, a_end, b, b_end;
};

/* The furthest places of round d are numbers -d .. d of a row; the rows of all rounds lie one after the other. */
static int32_t *align_row(const struct align *l, int32_t d)
{
    return l->trace + (size_t)d * (size_t)d + (size_t)d;
}

/* The place from which round d starts on diagonal k: a step down from the diagonal above, or one to the right. */
static int32_t align_start(const struct align *l, int32_t d, int32_t k, bool *down)
{
    *down = false;
    if (!d) return 0;
    const int32_t *before = align_row(l, d - 1);
    *down = k == -d || (k != d && before[k - 1] < before[k + 1]);
    return *down ? before[k + 1] : before[k - 1] + 1;
}

static void align_back(const struct align *l, const struct align_part *p, int32_t d, int32_t k)
{
    for (; d >= 0; d--) {
        bool down;
        int32_t start = align_start(l, d, k, &down);
        for (int32_t x = align_row(l, d)[k]; x-- > start;)
            l->report(l->user, p->a + (size_t)x, p->b + (size_t)(x - k));
        k += down ? 1 : -1;
    }
}

/* Returns false when the parts differ in more than the limit, or the work is used up. */
static bool align_search(struct align *l, const struct align_part *p)
{
    size_t a_size = p->a_end - p->a, b_size = p->b_end - p->b;
    if (a_size > INT32_MAX / 2 || b_size > INT32_MAX / 2) return false;
    int32_t n = (int32_t)a_size, m = (int32_t)b_size;
    for (int32_t d = 0; d < ALIGN_EDITS; d++) {
        int32_t *row = align_row(l, d);
        for (int32_t k = -d; k <= d; k += 2) {
            bool down;
            int32_t start = align_start(l, d, k, &down), x = start;
            while (x < n && x - k < m && l->a[p->a + (size_t)x] == l->b[p->b + (size_t)(x - k)])
                x++;
            row[k] = x;
            uint64_t work = (uint64_t)(x - start) + 1;
            if (work > l->work) return false;
            l->work -= work;
            if (x < n || x - k < m) continue;
            align_back(l, p, d, k);
            return true;
        }
    }
    return false;
}

/* ---- items that are unique in both lists ---- */

struct align_item {
    uint32_t key;
    size_t at;
};

static int item_order(const void *a, const void *b)
{
    const struct align_item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static struct align_item *items_sorted(struct align *l, const uint32_t *keys, size_t from,
                                       size_t to)
{
    struct align_item *items = zeros_new((to - from) * sizeof *items, "the differences", l->err);
    for (size_t i = from; items && i < to; i++) items[i - from] = (struct align_item){keys[i], i};
    if (items) qsort(items, to - from, sizeof *items, item_order);
    return items;
}

static bool item_unique(const struct align_item *items, size_t count, size_t i)
{
    return (!i || items[i - 1].key != items[i].key) &&
           (i + 1 == count || items[i + 1].key != items[i].key);
}

struct
    align_anchor { /* a pair of unique items, and what the longest chain that ends with it needs */
    size_t a, b, before;
};

static int anchor_order(const void *a, const void *b)
{
    const struct align_anchor *x = a, *y = b;
    return (x->a > y->a) - (x->a < y->a);
}

/* Leaves the longest chain of anchors that have the order of both lists, from its end to its start. Returns its
 * length. `tails` has room for all of them. */
static size_t anchors_chain(struct align_anchor *anchors, size_t count, size_t *tails)
{
    size_t length = 0, i;
    if (count) qsort(anchors, count, sizeof *anchors, anchor_order);
    for (size_t n = 0; n < count; n++) {
        ARRAY_SEARCH(i, 0, length, anchors[tails[i]].b >= anchors[n].b);
        anchors[n].before = i ? tails[i - 1] : SIZE_MAX;
        tails[i] = n;
        if (i == length) length++;
    }
    if (!length) return 0;
    size_t at = tails[length - 1];
    for (size_t n = length; n--; at = anchors[at].before) tails[n] = at;
    return length;
}

static size_t anchors_find(const struct align_item *a, size_t a_count, const struct align_item *b,
                           size_t b_count, struct align_anchor *anchors)
{
    size_t count = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (a[i].key != b[j].key) {
            *(a[i].key < b[j].key ? &i : &j) += 1;
            continue;
        }
        if (item_unique(a, a_count, i) && item_unique(b, b_count, j))
            anchors[count++] = (struct align_anchor){.a = a[i].at, .b = b[j].at};
        i++, j++;
    }
    return count;
}

static void align_range(struct align *l, struct align_part p, int depth);

static void align_cut(struct align *l, const struct align_part *p, int depth)
{
    size_t a_count = p->a_end - p->a, b_count = p->b_end - p->b;
    size_t most = a_count < b_count ? a_count : b_count;
    struct align_item *a = items_sorted(l, l->a, p->a, p->a_end);
    struct align_item *b = items_sorted(l, l->b, p->b, p->b_end);
    struct align_anchor *anchors = zeros_new(most * sizeof *anchors, "the differences", l->err);
    size_t *tails = zeros_new(most * sizeof *tails, "the differences", l->err), length = 0;
    if (a && b && anchors && tails)
        length = anchors_chain(anchors, anchors_find(a, a_count, b, b_count, anchors), tails);
    struct align_part part = *p;
    for (size_t i = 0; i < length; i++) {
        const struct align_anchor *anchor = &anchors[tails[i]];
        part.a_end = anchor->a;
        part.b_end = anchor->b;
        align_range(l, part, depth - 1);
        l->report(l->user, anchor->a, anchor->b);
        part = (struct align_part){anchor->a + 1, p->a_end, anchor->b + 1, p->b_end};
    }
    if (length) align_range(l, part, depth - 1);
    free(a);
    free(b);
    free(anchors);
    free(tails);
}

static void align_range(struct align *l, struct align_part p, int depth)
{
    while (p.a < p.a_end && p.b < p.b_end && l->a[p.a] == l->b[p.b])
        l->report(l->user, p.a++, p.b++);
    while (p.a < p.a_end && p.b < p.b_end && l->a[p.a_end - 1] == l->b[p.b_end - 1])
        l->report(l->user, --p.a_end, --p.b_end);
    if (p.a == p.a_end || p.b == p.b_end || align_search(l, &p)) return;
    if (depth) align_cut(l, &p, depth);
}

bool align_lists(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                 align_pair *report, void *user, penta_error *err)
{
    struct align l = {.a = a, .b = b, .report = report, .user = user, .err = err};
    size_t edits = a_count + b_count + 1;
    if (edits > ALIGN_EDITS) edits = ALIGN_EDITS;
    l.work = 64 * (uint64_t)(a_count + b_count) + ALIGN_EDITS * ALIGN_EDITS;
    l.trace = zeros_new(edits * edits * sizeof *l.trace, "the differences", err);
    if (l.trace) align_range(&l, (struct align_part){0, a_count, 0, b_count}, ALIGN_DEPTH);
    free(l.trace);
    return !err->code;
}
