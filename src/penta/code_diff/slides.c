/* Moves runs of removed or added instructions to where whole blocks are removed or added: a run that ends as the block
 * before it does can also be the one that begins later, which is what a programmer has done. */
#include "penta/code_diff/code_diff.h"

enum { SLIDE_MOST = 64 };

static bool slide_fits(const struct code_side *s, size_t start, size_t end)
{
    const struct code_map *m = s->map;
    return m->insns[start].starts_block && (end == m->count || m->insns[end].starts_block);
}

/* Gives the partner of one instruction to another one with the same key. */
static void slide_partner(struct code_side *s, struct code_side *other, size_t from, size_t to)
{
    size_t partner = s->insns[from].partner;
    s->insns[from].partner = CODE_NONE;
    s->insns[from].state = CODE_ALONE;
    s->insns[to].partner = partner;
    s->insns[to].state = CODE_SAME;
    other->insns[partner].partner = to;
}

static bool slide_equal(const struct code_side *s, size_t paired, size_t alone)
{
    return s->insns[paired].state == CODE_SAME && s->insns[paired].key == s->insns[alone].key;
}

/* Returns where the run ends then. */
static size_t slide_run(struct code_side *s, struct code_side *other, const struct code_part *p,
                        size_t start, size_t end)
{
    size_t last = p->first + p->count;
    if (slide_fits(s, start, end)) return end;
    for (size_t k = 0; k < SLIDE_MOST && end + k < last && slide_equal(s, end + k, start + k);
         k++) {
        if (!slide_fits(s, start + k + 1, end + k + 1)) continue;
        for (size_t n = 0; n <= k; n++) slide_partner(s, other, end + n, start + n);
        return end + k + 1;
    }
    for (size_t k = 1;
         k <= SLIDE_MOST && start - p->first >= k && slide_equal(s, start - k, end - k); k++) {
        if (!slide_fits(s, start - k, end - k)) continue;
        for (size_t n = 1; n <= k; n++) slide_partner(s, other, start - n, end - n);
        return end;
    }
    return end;
}

static void slide_side(struct code_side *s, struct code_side *other)
{
    for (size_t f = 0; f < s->map->function_count; f++) {
        const struct code_part *p = &s->parts[f];
        size_t last = p->first + p->count;
        for (size_t i = p->first; p->partner != CODE_NONE && i < last; i++) {
            size_t end = i;
            while (end < last && s->insns[end].state == CODE_ALONE) end++;
            if (end > i) i = slide_run(s, other, p, i, end);
        }
    }
}

void code_slides(struct code_diff *d)
{
    slide_side(&d->a, &d->b);
    slide_side(&d->b, &d->a);
}
