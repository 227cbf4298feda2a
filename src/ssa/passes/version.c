/* Makes a second copy of a loop, and phis where the values of the two copies meet. hoist.c uses
 * this to have one copy of a loop without checks. */
#include "ssa/passes/induction.h"
#include <stdlib.h>

bool ssa_versions_begin(struct ssa_versions *v, struct ssa_function *f)
{
    *v = (struct ssa_versions){.f = f, .values = f->count};
    v->copy = calloc(f->count + 1, sizeof *v->copy);
    if (!v->copy) f->failed = true;
    return v->copy;
}

static uint32_t region_of(const struct ssa_versions *v, uint32_t block)
{
    return block < v->region_capacity ? v->region[block] : 0;
}

static void set_region(struct ssa_versions *v, uint32_t block, uint32_t region)
{
    size_t before = v->region_capacity;
    if (!SSA_RESERVE(v->f, v->region, v->region_capacity, (size_t)block + 1)) return;
    for (size_t i = before; i < v->region_capacity; i++) v->region[i] = 0;
    v->region[block] = region;
}

struct copying {
    struct ssa_versions *v;
    const struct ssa_loops *l;
    uint32_t header, first, count; /* first: the first of the new blocks */
    uint32_t entry;                /* the block that leads to the copy */
};

static uint32_t copy_of(const struct copying *c, uint32_t value)
{
    if (value >= c->v->values || !c->v->copy[value]) return value;
    bool here = region_of(c->v, c->v->f->insns[value].block) == 2 * c->header + 1;
    return here ? c->v->copy[value] : value;
}

/* Returns the new block for a block of the loop, or UINT32_MAX if the block is not in the loop. */
static uint32_t block_for(const struct copying *c, uint32_t block)
{
    uint32_t region = region_of(c->v, block);
    if (region != 2 * c->header + 1) return UINT32_MAX;
    for (uint32_t k = 0; k < c->count; k++)
        if (c->l->members[c->l->member_first[c->header] + k] == block) return c->first + k;
    return UINT32_MAX;
}

static uint32_t copy_exit(const struct copying *c, uint32_t exit)
{
    struct ssa_function *f = c->v->f;
    struct ssa_exit e = f->exits[exit - 1];
    uint32_t made = ssa_exit(f, e.kind, e.position);
    if (made) f->exits[made - 1].function = e.function;
    for (uint32_t i = 0; i < e.count && !f->failed; i++) {
        struct ssa_state s = f->states[e.first + i];
        ssa_keep(f, s.key, copy_of(c, s.value));
    }
    return made;
}

static void copy_insn(const struct copying *c, uint32_t i, uint32_t to)
{
    struct ssa_function *f = c->v->f;
    uint32_t made = c->v->copy[i];
    struct ssa_insn in = f->insns[i];
    for (unsigned k = 0; k < ssa_ops[in.op].args; k++) in.arg[k] = copy_of(c, in.arg[k]);
    if (in.count) {
        uint32_t list = ssa_list(f, NULL, 0);
        for (uint32_t k = 0; k < in.count && !f->failed; k++)
            ssa_item(f, copy_of(c, f->pool[in.list + k]));
        in.list = list;
    }
    if (in.exit) in.exit = copy_exit(c, in.exit);
    if (f->failed) return;
    f->insns[made] = in;
    ssa_append(f, to, made);
}

/* Makes the copy of a block a predecessor of a block outside of the loop. The phis there get the
 * copies of the values that they get from the original. */
static void edge_lead_out(const struct copying *c, uint32_t from, uint32_t copy, uint32_t to)
{
    struct ssa_function *f = c->v->f;
    uint32_t which = 0;
    while (f->blocks[to].preds[which] != from) which++;
    for (uint32_t i = f->blocks[to].first; i && f->insns[i].op == SSA_PHI && !f->failed;
         i = f->insns[i].next)
        ssa_phi_add(f, i, copy_of(c, f->pool[f->insns[i].list + which]));
    ssa_edge(f, copy, to);
}

static void copy_block(const struct copying *c, uint32_t from, uint32_t to)
{
    struct ssa_function *f = c->v->f;
    uint32_t n;
    f->blocks[to].sealed = f->blocks[to].cold = true;
    for (uint32_t i = f->blocks[from].first; i && !f->failed; i = f->insns[i].next)
        copy_insn(c, i, to);
    if (f->failed) return;
    for (uint32_t k = 0; k < f->blocks[from].pred_count; k++) {
        uint32_t pred = block_for(c, f->blocks[from].preds[k]);
        ssa_edge(f, pred == UINT32_MAX ? c->entry : pred, to);
    }
    ssa_successors(f, from, &n);
    for (uint32_t k = 0; k < n && !f->failed; k++) {
        uint32_t old = f->blocks[from].to[k], target = block_for(c, old);
        f->blocks[to].to[k] = target == UINT32_MAX ? old : target;
        if (target == UINT32_MAX) edge_lead_out(c, from, to, old);
    }
}

uint32_t ssa_version(struct ssa_versions *v, const struct ssa_loops *l, uint32_t header)
{
    struct ssa_function *f = v->f;
    struct copying c = {v, l, header, 0, l->member_count[header], ssa_block(f)};
    const uint32_t *members = l->members + l->member_first[header];
    uint32_t jump = ssa_new(f, SSA_JUMP, SSA_VOID);
    c.first = (uint32_t)f->block_count;
    for (uint32_t k = 0; k < c.count && !f->failed; k++) {
        set_region(v, members[k], 2 * header + 1);
        set_region(v, ssa_block(f), 2 * header + 2);
        for (uint32_t i = f->blocks[members[k]].first; i && !f->failed; i = f->insns[i].next)
            v->copy[i] = ssa_new(f, SSA_NONE, SSA_VOID);
    }
    if (f->failed) return 0;
    ssa_append(f, c.entry, jump);
    f->blocks[c.entry].sealed = f->blocks[c.entry].cold = true;
    f->blocks[c.entry].to[0] = c.first; /* The header is the first block of its loop. */
    for (uint32_t k = 0; k < c.count && !f->failed; k++) copy_block(&c, members[k], c.first + k);
    return c.entry;
}

/* The functions below make phis where the two copies of a loop meet. */

struct repair {
    struct ssa_versions *v;
    struct open {
        uint32_t phi, value;
    } * open; /* phis that have no arguments yet */
    size_t open_count, open_capacity;
};

/* Returns the phi that was made for a value in a block, or 0. The field `cond` marks phis made
 * by this pass. */
static uint32_t version_look(const struct ssa_function *f, uint32_t value, uint32_t block)
{
    for (uint32_t i = f->blocks[block].first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next)
        if (f->insns[i].cond && f->insns[i].imm == value) return i;
    return 0;
}

/* Returns what replaces a value of a loop with two copies, at the end of a block. */
static uint32_t value_at(struct repair *r, uint32_t value, uint32_t block)
{
    struct ssa_function *f = r->v->f;
    uint32_t home = region_of(r->v, f->insns[value].block), at = block;
    for (;;) {
        uint32_t region = region_of(r->v, at);
        if (region == home) return value;
        if (region == home + 1) return r->v->copy[value];
        uint32_t made = version_look(f, value, at);
        if (made) return made;
        if (f->blocks[at].pred_count != 1) break;
        at = f->blocks[at].preds[0];
    }
    /* A block without predecessors cannot be reached. */
    if (!f->blocks[at].pred_count) return value;
    uint32_t phi = ssa_new(f, SSA_PHI, (enum ssa_type)f->insns[value].type);
    if (!phi || !SSA_RESERVE(f, r->open, r->open_capacity, r->open_count + 1)) return value;
    f->insns[phi].cond = 1;
    f->insns[phi].imm = value;
    ssa_prepend(f, at, phi);
    r->open[r->open_count++] = (struct open){phi, value};
    return phi;
}

static void version_fill(struct repair *r)
{
    struct ssa_function *f = r->v->f;
    while (r->open_count && !f->failed) {
        struct open o = r->open[--r->open_count];
        uint32_t block = f->insns[o.phi].block;
        for (uint32_t k = 0; k < f->blocks[block].pred_count && !f->failed; k++)
            ssa_phi_add(f, o.phi, value_at(r, o.value, f->blocks[block].preds[k]));
    }
}

/* Returns the value that a block must use instead of a value of such a loop. Making phis may
 * move the array of instructions, so callers must not keep pointers into it. */
static uint32_t version_repaired(struct repair *r, uint32_t value, uint32_t block)
{
    struct ssa_versions *v = r->v;
    if (v->f->failed || value >= v->values || !v->copy[value]) return value;
    uint32_t home = region_of(v, v->f->insns[value].block), here = region_of(v, block);
    return here == home || here == home + 1 ? value : value_at(r, value, block);
}

static void repair_insn(struct repair *r, uint32_t i)
{
    struct ssa_function *f = r->v->f;
    struct ssa_insn in = f->insns[i];
    for (unsigned k = 0; k < ssa_ops[in.op].args; k++)
        if (in.arg[k]) {
            uint32_t use = version_repaired(r, in.arg[k], in.block);
            f->insns[i].arg[k] = use;
        }
    for (uint32_t k = 0; in.op != SSA_SWITCH && k < in.count; k++) {
        uint32_t at = in.op == SSA_PHI ? f->blocks[in.block].preds[k] : in.block;
        uint32_t use = version_repaired(r, f->pool[in.list + k], at);
        f->pool[in.list + k] = use;
    }
    struct ssa_exit none = {0}, e = in.exit ? f->exits[in.exit - 1] : none;
    for (uint32_t k = 0; k < e.count; k++) {
        uint32_t use = version_repaired(r, f->states[e.first + k].value, in.block);
        f->states[e.first + k].value = use;
    }
}

void ssa_versions_end(struct ssa_versions *v)
{
    struct ssa_function *f = v->f;
    struct repair r = {.v = v};
    if (f->count == v->values || f->failed) v->values = 0;
    for (uint32_t b = 0; v->values && b < f->block_count && !f->failed; b++)
        for (uint32_t i = f->blocks[b].first; i && !f->failed; i = f->insns[i].next) {
            repair_insn(&r, i);
            version_fill(&r);
        }
    free(r.open);
    free(v->copy);
    free(v->region);
}
