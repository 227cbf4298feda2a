/* Finds instructions that differ in registers alone, and one renaming of registers for each function that explains as many
 * of them as it can; the others stay different. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "penta/code_diff/align.h"
#include "penta/code_diff/code_diff.h"

struct rename_pair {
    size_t a, b;
};

struct renaming {
    struct code_diff *d;
    const size_t *gap_a, *gap_b; /* the instructions of the gap that is aligned */
    struct rename_pair *pairs;   /* the instructions of equal shape of a function */
    size_t count, capacity;
    struct code_rename *names; /* the registers that stand opposite each other in them */
    size_t name_count, name_capacity;
    size_t part;
};

static void rename_candidate(void *user, size_t a, size_t b)
{
    struct renaming *r = user;
    if (ARRAY_GROW(r->pairs, r->capacity, r->count, r->d->err))
        r->pairs[r->count++] = (struct rename_pair){r->gap_a[a], r->gap_b[b]};
}

/* Calls a function for each register of a pair until it returns false. */
typedef bool rename_register(struct renaming *r, penta_bytes from, penta_bytes to);

static bool rename_registers(struct renaming *r, const struct rename_pair *pair,
                             rename_register *each)
{
    const struct code_diff *d = r->d;
    penta_bytes x = code_text(&d->a, pair->a), y = code_text(&d->b, pair->b);
    const struct driver *driver = d->a.module->driver;
    size_t i = 0, j = 0;
    for (;;) {
        size_t m = 0, n = 0;
        for (; i < x.size; i += m ? m : 1)
            if ((m = code_word(x, i)) && driver->is_register(bytes_slice(x, i, m))) break;
        for (; j < y.size; j += n ? n : 1)
            if ((n = code_word(y, j)) && driver->is_register(bytes_slice(y, j, n))) break;
        if (i >= x.size || j >= y.size) return true;
        if (!each(r, bytes_slice(x, i, m), bytes_slice(y, j, n))) return false;
        i += m;
        j += n;
    }
}

static bool rename_count(struct renaming *r, penta_bytes from, penta_bytes to)
{
    for (size_t i = 0; i < r->name_count; i++) {
        struct code_rename *n = &r->names[i];
        if (!bytes_equal(n->from, from) || !bytes_equal(n->to, to)) continue;
        n->pairs++;
        return true;
    }
    if (!ARRAY_GROW(r->names, r->name_capacity, r->name_count, r->d->err)) return false;
    r->names[r->name_count++] = (struct code_rename){r->part, from, to, 1};
    return true;
}

static int rename_order(const void *a, const void *b)
{
    const struct code_rename *x = a, *y = b;
    if (x->pairs != y->pairs) return x->pairs > y->pairs ? -1 : 1;
    return (x->from.data > y->from.data) - (x->from.data < y->from.data);
}

/* Keeps the most frequent renamings of which no two are of one register, or to one. */
static void renames_choose(struct renaming *r)
{
    size_t kept = 0;
    if (r->name_count) qsort(r->names, r->name_count, sizeof *r->names, rename_order);
    for (size_t i = 0; i < r->name_count; i++) {
        bool taken = false;
        for (size_t k = 0; k < kept; k++)
            taken |= bytes_equal(r->names[k].from, r->names[i].from) ||
                     bytes_equal(r->names[k].to, r->names[i].to);
        if (!taken) r->names[kept++] = r->names[i];
    }
    r->name_count = kept;
    for (size_t i = 0; i < kept; i++) r->names[i].pairs = 0;
}

static struct code_rename *rename_find(const struct renaming *r, penta_bytes from, penta_bytes to)
{
    for (size_t i = 0; i < r->name_count; i++)
        if (bytes_equal(r->names[i].from, from) && bytes_equal(r->names[i].to, to))
            return &r->names[i];
    return NULL;
}

static bool rename_known(struct renaming *r, penta_bytes from, penta_bytes to)
{
    return rename_find(r, from, to) != NULL;
}

static bool rename_use(struct renaming *r, penta_bytes from, penta_bytes to)
{
    rename_find(r, from, to)->pairs++;
    return true;
}

static void renames_apply(struct renaming *r)
{
    struct code_diff *d = r->d;
    for (size_t i = 0; i < r->count; i++) {
        const struct rename_pair *p = &r->pairs[i];
        if (!rename_registers(r, p, rename_known)) continue;
        rename_registers(r, p, rename_use);
        d->a.insns[p->a].partner = p->b;
        d->b.insns[p->b].partner = p->a;
        d->a.insns[p->a].state = d->b.insns[p->b].state =
            d->a.insns[p->a].key == d->b.insns[p->b].key ? CODE_SAME : CODE_RENAMED;
    }
    for (size_t i = 0; i < r->name_count; i++) {
        const struct code_rename *n = &r->names[i];
        if (!n->pairs || bytes_equal(n->from, n->to)) continue;
        if (!ARRAY_GROW(d->renames, d->rename_capacity, d->rename_count, d->err)) return;
        d->renames[d->rename_count++] = *n;
    }
}

struct gap { /* instructions of one side without partners, up to one with a partner */
    size_t *at;
    uint32_t *shapes;
    size_t count;
};

/* Only instructions with registers can have other ones. */
static size_t gap_fill(struct gap *g, const struct code_side *s, size_t from, size_t end)
{
    g->count = 0;
    for (; from < end && !code_paired(&s->insns[from]); from++) {
        if (s->insns[from].state != CODE_ALONE || s->insns[from].key == s->insns[from].shape)
            continue;
        g->at[g->count] = from;
        g->shapes[g->count++] = s->insns[from].shape;
    }
    return from;
}

static bool renames_function(struct renaming *r, struct gap *x, struct gap *y)
{
    struct code_diff *d = r->d;
    const struct code_part *p = &d->a.parts[r->part], *q = &d->b.parts[p->partner];
    size_t i = p->first, j = q->first, a_end = i + p->count, b_end = j + q->count;
    r->count = r->name_count = 0;
    for (bool ok = true; ok && (i < a_end || j < b_end); i++, j++) {
        i = gap_fill(x, &d->a, i, a_end);
        j = gap_fill(y, &d->b, j, b_end);
        r->gap_a = x->at;
        r->gap_b = y->at;
        if (x->count && y->count)
            ok = align_lists(x->shapes, x->count, y->shapes, y->count, rename_candidate, r, d->err);
    }
    for (size_t n = 0; n < r->count; n++) rename_registers(r, &r->pairs[n], rename_count);
    renames_choose(r);
    renames_apply(r);
    return !d->err->code;
}

static bool gap_open(struct gap *g, const struct code_side *s, penta_error *err)
{
    *g = (struct gap){.at = zeros_new((s->map->count + 1) * sizeof *g->at, "the code", err)};
    g->shapes = zeros_new((s->map->count + 1) * sizeof *g->shapes, "the code", err);
    return g->at && g->shapes;
}

bool code_renames(struct code_diff *d)
{
    struct renaming r = {.d = d};
    struct gap x, y = {0};
    bool ok = gap_open(&x, &d->a, d->err) && gap_open(&y, &d->b, d->err);
    for (; ok && r.part < d->a.map->function_count; r.part++)
        if (d->a.parts[r.part].partner != CODE_NONE) ok = renames_function(&r, &x, &y);
    free(x.at);
    free(x.shapes);
    free(y.at);
    free(y.shapes);
    free(r.pairs);
    free(r.names);
    return ok;
}
