/* Inlining: the blocks of a function replace a call of the function. In each exit of these
 * blocks, the state of the function is followed by the state of its caller, which the call
 * keeps. */
#include "ssa/ssa.h"
#include <stdlib.h>

struct inlining {
    struct ssa_function *f;
    const struct ssa_function *g;
    uint32_t call, first_block, after; /* after: the block with the instructions after the call */
    uint32_t *values;                  /* per value of g: its copy in f */
    uint32_t *returns;                 /* the blocks of f that end with a return of g */
    uint32_t return_count;
};

/* Moves the instructions after the call to a block of their own. */
static void inline_cut(struct inlining *n)
{
    struct ssa_function *f = n->f;
    uint32_t before = f->insns[n->call].block, count;
    n->after = ssa_block(f);
    if (f->failed) return;
    struct ssa_block *b = &f->blocks[before], *a = &f->blocks[n->after];
    a->sealed = true;
    a->to[0] = b->to[0];
    a->to[1] = b->to[1];
    a->first = f->insns[n->call].next;
    a->last = b->last;
    f->insns[a->first].prev = 0;
    for (uint32_t i = a->first; i; i = f->insns[i].next) f->insns[i].block = n->after;
    b->last = n->call;
    f->insns[n->call].next = 0;
    const uint32_t *to = ssa_successors(f, n->after, &count);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < f->blocks[to[k]].pred_count; i++)
            if (f->blocks[to[k]].preds[i] == before) f->blocks[to[k]].preds[i] = n->after;
}

/* Makes the exit of an inlined instruction, with the state of the caller at its end. */
static uint32_t copy_exit(struct inlining *n, uint32_t exit, uint32_t block)
{
    struct ssa_function *f = n->f;
    const struct ssa_exit *e = &n->g->exits[exit - 1];
    struct ssa_exit outer = f->exits[f->insns[n->call].exit - 1];
    uint32_t function = ssa_const_in(f, block, outer.function),
             position = ssa_const_in(f, block, outer.position),
             made = ssa_exit(f, e->kind, e->position);
    if (!made) return 0;
    f->exits[made - 1].function = e->function;
    for (uint32_t i = 0; i < e->count; i++)
        ssa_keep(f, n->g->states[e->first + i].key, n->values[n->g->states[e->first + i].value]);
    ssa_keep(f, SSA_KEY_CALLER, function);
    ssa_keep(f, SSA_KEY_CALLER_POSITION, position);
    for (uint32_t i = 0; i < outer.count && !f->failed; i++)
        ssa_keep(f, f->states[outer.first + i].key, f->states[outer.first + i].value);
    return made;
}

static uint32_t copy_list(struct inlining *n, const struct ssa_insn *in)
{
    uint32_t list = ssa_list(n->f, NULL, 0);
    for (uint32_t i = 0; i < in->count && !n->f->failed; i++) {
        uint32_t item = n->g->pool[in->list + i];
        ssa_item(n->f, in->op == SSA_SWITCH ? n->first_block + item : n->values[item]);
    }
    return list;
}

static void copy_insn(struct inlining *n, uint32_t i, uint32_t block)
{
    struct ssa_function *f = n->f;
    struct ssa_insn in = n->g->insns[i];
    uint32_t made = n->values[i];
    for (unsigned k = 0; k < ssa_ops[in.op].args; k++) in.arg[k] = n->values[in.arg[k]];
    if (in.count) in.list = copy_list(n, &n->g->insns[i]);
    if (in.exit) in.exit = copy_exit(n, in.exit, block);
    /* The stack has one call less than the stack of the guest. */
    if (in.op == SSA_DEPTH) in.list++;
    if (in.op == SSA_PARAM) {
        const struct ssa_insn *call = &f->insns[n->call];
        in.op = SSA_COPY;
        in.arg[0] = f->pool[call->list + (uint32_t)in.imm];
    }
    if (in.op == SSA_RETURN) { /* The jump keeps the list, because it has the results. */
        in.op = SSA_JUMP;
        f->blocks[block].to[0] = n->after;
        n->returns[n->return_count++] = block;
    }
    if (f->failed) return;
    f->insns[made] = in;
    ssa_append(f, block, made);
}

static void copy_blocks(struct inlining *n)
{
    struct ssa_function *f = n->f;
    const struct ssa_function *g = n->g;
    for (uint32_t b = 0; b < g->block_count && !f->failed; b++) {
        uint32_t to = n->first_block + b;
        f->blocks[to].sealed = true;
        f->blocks[to].to[0] = n->first_block + g->blocks[b].to[0];
        f->blocks[to].to[1] = n->first_block + g->blocks[b].to[1];
        for (uint32_t i = 0; i < g->blocks[b].pred_count; i++)
            ssa_edge(f, n->first_block + g->blocks[b].preds[i], to);
        for (uint32_t i = g->blocks[b].first; i && !f->failed; i = g->insns[i].next)
            copy_insn(n, i, to);
    }
}

/* Makes phis of the returned values, and uses them as the results of the call. */
static void inline_join(struct inlining *n)
{
    struct ssa_function *f = n->f;
    for (uint32_t k = 0; k < n->return_count; k++) ssa_edge(f, n->returns[k], n->after);
    for (uint32_t i = f->blocks[n->after].first; i && !f->failed; i = f->insns[i].next) {
        if (f->insns[i].op != SSA_RESULT || f->insns[i].arg[0] != n->call) break;
        uint32_t which = (uint32_t)f->insns[i].imm;
        f->insns[i].op = SSA_PHI;
        f->insns[i].arg[0] = f->insns[i].count = 0;
        for (uint32_t k = 0; k < n->return_count && !f->failed; k++) {
            const struct ssa_insn *end = &f->insns[f->blocks[n->returns[k]].last];
            ssa_phi_add(f, i, f->pool[end->list + which]);
        }
    }
    for (uint32_t k = 0; k < n->return_count; k++) {
        struct ssa_insn *end = &f->insns[f->blocks[n->returns[k]].last];
        end->list = end->count = 0;
    }
}

void ssa_inline(struct ssa_function *f, uint32_t call, const struct ssa_function *g)
{
    struct inlining n = {.f = f, .g = g, .call = call};
    n.values = calloc(g->count + 1, sizeof *n.values);
    n.returns = calloc(g->block_count + 1, sizeof *n.returns);
    if (!n.values || !n.returns || g->failed) f->failed = true;
    n.first_block = (uint32_t)f->block_count;
    for (size_t b = 0; b < g->block_count; b++) ssa_block(f);
    if (!f->failed) inline_cut(&n);
    for (size_t b = n.first_block; b < f->block_count; b++)
        f->blocks[b].follows = f->insns[call].block + 1;
    for (size_t i = 1; i < g->count && !f->failed; i++)
        n.values[i] = ssa_new(f, SSA_NONE, SSA_VOID);
    if (!f->failed) copy_blocks(&n);
    if (!f->failed) inline_join(&n);
    if (!f->failed) { /* The call becomes a jump to the first block. */
        uint32_t before = f->insns[call].block;
        f->insns[call] =
            (struct ssa_insn){.op = SSA_JUMP, .block = before, .prev = f->insns[call].prev};
        f->blocks[before].to[0] = n.first_block;
        ssa_edge(f, before, n.first_block);
    }
    free(n.values);
    free(n.returns);
}
