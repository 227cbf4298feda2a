/* Checks the rules for a function in SSA form. Every block ends once, and its predecessors are
 * those that have an edge to it. A phi has a value for each predecessor. Arguments exist, have the
 * right type, and are computed before they are used. It relies on the dominators of loops.c. */
#include "ssa/ssa.h"
#include <stdlib.h>

struct check {
    const struct ssa_function *f;
    struct ssa_loops loops;
    uint32_t *place; /* per value: its place in its block */
    penta_error *err;
    bool ok;
};

static void verify_fault(struct check *c, uint32_t value, const char *what)
{
    if (c->ok) error_at(c->err, BASE_SYNTAX, value, "v%u: %s", value, what);
    c->ok = false;
}

static bool verify_defined(const struct check *c, uint32_t value)
{
    return value && value < c->f->count && c->place[value] && c->f->insns[value].type != SSA_VOID;
}

/* The results of a call must stand directly after the call, one after the other. */
static bool result_follows_its_call(const struct ssa_function *f, uint32_t result)
{
    uint32_t call = f->insns[result].prev;
    while (f->insns[call].op == SSA_RESULT) call = f->insns[call].prev;
    bool calls = f->insns[call].op == SSA_CALL || f->insns[call].op == SSA_FOREIGN;
    return calls && f->insns[result].arg[0] == call;
}

/* Checks that a value has been computed before the instruction that uses it, or before the end
 * of a block. */
static void check_use(struct check *c, uint32_t user, uint32_t value, uint32_t block, bool at_end)
{
    if (!verify_defined(c, value)) {
        verify_fault(c, user, "uses a value that is not defined");
        return;
    }
    uint32_t home = c->f->insns[value].block;
    if (home == block ? !at_end && c->place[value] >= c->place[user]
                      : !ssa_dominates(&c->loops, home, block))
        verify_fault(c, user, "uses a value that is not computed before it");
}

static void check_insn(struct check *c, uint32_t i)
{
    const struct ssa_function *f = c->f;
    const struct ssa_insn *in = &f->insns[i];
    const struct ssa_block *b = &f->blocks[in->block];
    if (in->op == SSA_RESULT && !result_follows_its_call(f, i))
        verify_fault(c, i, "a result that follows no call");
    if (in->op == SSA_NONE || in->op >= SSA_OPS) verify_fault(c, i, "no operation");
    if (in->mem == SSA_M512 && in->op != SSA_WINDOW)
        verify_fault(c, i, "only checks can have this size");
    if (ssa_has(in->op, 't') != (i == b->last))
        verify_fault(c, i, "only the last instruction of a block ends it");
    if (ssa_has(in->op, 'x') && !f->native && (!in->exit || in->exit > f->exit_count))
        verify_fault(c, i, "no exit");
    if (!c->ok) return;
    if (in->op == SSA_PHI) {
        if (in->count != b->pred_count)
            verify_fault(c, i, "as many arguments as predecessors are needed");
        for (uint32_t k = 0; c->ok && k < in->count; k++)
            if (c->loops.number[b->preds[k]])
                check_use(c, i, f->pool[in->list + k], b->preds[k], true);
        return;
    }
    for (unsigned k = 0; in->op != SSA_RESULT && k < ssa_ops[in->op].args; k++)
        if (in->arg[k])
            check_use(c, i, in->arg[k], in->block, false);
        else if (in->op != SSA_FOREIGN && (!ssa_has(in->op, 'a') || k > 1))
            verify_fault(c, i, "an operand is missing");
    for (uint32_t k = 0; in->op != SSA_SWITCH && k < in->count; k++)
        check_use(c, i, f->pool[in->list + k], in->block, false);
    for (uint32_t k = 0; in->exit && k < f->exits[in->exit - 1].count; k++)
        check_use(c, i, f->states[f->exits[in->exit - 1].first + k].value, in->block, false);
    bool real = in->op >= SSA_FADD && in->op <= SSA_FSQRT;
    for (unsigned k = 0; c->ok && real && k < ssa_ops[in->op].args; k++)
        if (f->insns[in->arg[k]].type != in->type) verify_fault(c, i, "operands of another type");
}

static void check_edges(struct check *c, uint32_t block)
{
    uint32_t n, last = c->f->blocks[block].last;
    const uint32_t *to = ssa_successors(c->f, block, &n);
    for (uint32_t k = 0; c->ok && k < n; k++) {
        if (to[k] >= c->f->block_count) {
            verify_fault(c, last, "a target is not a block");
            return;
        }
        const struct ssa_block *b = &c->f->blocks[to[k]];
        uint32_t i = 0;
        while (i < b->pred_count && b->preds[i] != block) i++;
        if (i == b->pred_count)
            verify_fault(c, last, "a target does not list this block as a predecessor");
    }
}

bool ssa_verify(const struct ssa_function *f, penta_error *err)
{
    struct check c = {.f = f, .err = err, .ok = true};
    if (!f->block_count) return error_at(err, BASE_SYNTAX, 0, "a function without blocks");
    for (uint32_t b = 0; b < f->block_count; b++)
        if (f->blocks[b].last) check_edges(&c, b);
    c.place = calloc(f->count + 1, sizeof *c.place);
    if (!c.ok || !c.place || !ssa_loops(&c.loops, f)) {
        free(c.place);
        return c.ok ? error_at(err, BASE_MEMORY, 0, "no memory to check a function") : false;
    }
    for (uint32_t b = 0; b < f->block_count; b++) {
        uint32_t n = 0;
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) c.place[i] = ++n;
    }
    for (uint32_t k = 0; k < c.loops.count && c.ok; k++) {
        uint32_t b = c.loops.order[k];
        if (!f->blocks[b].last)
            error_at(err, BASE_SYNTAX, 0, "block b%u is empty", b), c.ok = false;
        for (uint32_t i = f->blocks[b].first; i && c.ok; i = f->insns[i].next) check_insn(&c, i);
    }
    ssa_loops_free(&c.loops);
    free(c.place);
    return c.ok;
}
