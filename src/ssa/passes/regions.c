/* Simplifies checks of known memory. An access whose address is the sum of a constant and an
 * index is checked against the region that contains the constant, by one comparison of the index
 * with a limit. The comparison may refuse an access that the exit then finds to be valid (in
 * another region, or by a sum that wraps), but never allows an invalid one. */
#include "ssa/ssa.h"

/* Returns the region that contains an address, or NULL. */
static const struct ssa_region *region_of(const struct ssa_function *f, uint64_t address)
{
    for (size_t i = 0; i < f->region_count; i++)
        if (address - f->regions[i].base < f->regions[i].size) return &f->regions[i];
    return NULL;
}

/* Splits x + c into x and c. For any other value c is 0. */
static uint32_t without_constant(const struct ssa_function *f, uint32_t value, uint64_t *c)
{
    const struct ssa_insn *in = &f->insns[value];
    int64_t k;
    *c = 0;
    if (ssa_is_const(f, value, &k)) {
        *c = (uint64_t)k;
        return 0;
    }
    if (in->narrow || (in->op != SSA_ADD && in->op != SSA_SUB) || !ssa_is_const(f, in->arg[1], &k))
        return value;
    *c = in->op == SSA_ADD ? (uint64_t)k : 0 - (uint64_t)k;
    return in->arg[0];
}

/* Returns the place of a limit among the words of the context, or UINT32_MAX if no word is left. */
static uint32_t limit_at(struct ssa_limits *l, uint64_t limit)
{
    uint32_t i = 0;
    while (l && i < l->count && l->words[i] != limit) i++;
    if (!l || i == l->capacity) return UINT32_MAX;
    if (i == l->count) l->words[l->count++] = limit;
    return l->offset + 8 * i;
}

static void limit_window(struct ssa_function *f, uint32_t value)
{
    struct ssa_insn in = f->insns[value];
    uint64_t c, d, size = UINT64_C(1) << ssa_mem_bits[in.mem];
    uint32_t base = in.arg[0] ? without_constant(f, in.arg[0], &c) : (c = 0, 0u);
    uint32_t index = in.arg[1] ? without_constant(f, in.arg[1], &d) : (d = 0, 0u);
    uint64_t at = c + (d << in.scale) + (uint64_t)in.imm;
    const struct ssa_region *r = region_of(f, at);
    if (!r || (in.cond && !r->writable) || size > r->size - (at - r->base)) return;
    /* The base is a pointer. Its displacement could be taken for an address. */
    if (base && !c) return;
    if (!base && !index) {
        ssa_remove(f, value);
        return;
    }
    bool both = base && index;
    uint64_t from = at - r->base, limit = r->size - size + 1;
    /* x itself is compared with the limit, so that x << scale does not wrap. */
    if (!both) limit = ((limit - 1 - from) >> (index ? in.scale : 0)) + 1;
    if (both && from > INT32_MAX) return;
    uint32_t x = index ? index : base, word = limit_at(f->limits, limit);
    if (word == UINT32_MAX) return; /* No limit is left, so the check stays a WINDOW. */
    if (both) {
        x = ssa_new(f, SSA_ADDRESS, SSA_INT);
        if (!x) return;
        f->insns[x].arg[0] = base;
        f->insns[x].arg[1] = index;
        f->insns[x].scale = in.scale;
        f->insns[x].imm = (int64_t)from;
        ssa_insert(f, value, x);
    }
    struct ssa_insn *check = &f->insns[value];
    /* After a LIMIT the index need not be below the limit: the exit may have allowed this access,
     * with its offset, its size and its direction. Another access with the same limit therefore
     * needs its own check. */
    check->op = SSA_LIMIT;
    check->arg[0] = x;
    check->arg[1] = check->list = 0;
    check->cond = check->mem = check->scale = 0;
    check->imm = word;
}

void ssa_pass_regions(struct ssa_function *f)
{
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first, next; i && !f->failed; i = next) {
            next = f->insns[i].next;
            if (f->insns[i].op == SSA_WINDOW) limit_window(f, i);
        }
    ssa_pass_number(f);
}
