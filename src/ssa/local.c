/* This is a fast register allocator for a part of a function whose values are used only near the
 * block that defines them. It goes over the code twice: the first time it finds the last use of
 * every value, and the second time it gives each value a register that is free up to there. If
 * there are not enough registers, or if a value lives through a call, it fails, and live.c and
 * allocate.c do the work, because they can move values to the frame. */
#include "ssa/allocate.h"

struct local {
    struct ssa_live *l;
    uint32_t *born, count; /* the values in the order in which the code defines them */
    bool fits;
};

/* A value may be used in the block that defines it, or in a block whose only predecessor is that
 * block. */
static bool use_is_near(const struct ssa_function *f, const struct ssa_insn *in, uint32_t block)
{
    const struct ssa_block *b = &f->blocks[block];
    return in->block == block || (b->sealed && b->pred_count == 1 && b->preds[0] == in->block);
}

static struct ssa_interval *local_use(struct local *s, uint32_t value, uint32_t block, uint32_t at)
{
    const struct ssa_insn *in = &s->l->f->insns[value];
    struct ssa_interval *it = &s->l->intervals[s->l->first[value]];
    if (ssa_immediate(in)) return &s->l->intervals[0];
    if (!s->l->first[value] || !use_is_near(s->l->f, in, block)) s->fits = false;
    if (at > it->to) it->to = at;
    it->use_end++;
    return it;
}

static void local_define(struct local *s, uint32_t value, const struct ssa_insn *in)
{
    struct ssa_live *l = s->l;
    bool passed = in->op == SSA_PARAM || in->op == SSA_RESULT;
    uint32_t from = l->number[value] + ssa_is_late(in);
    l->first[value] = value;
    int8_t hint = passed && in->imm < SSA_PARAMS ? (int8_t)ssa_param_registers[in->imm] : -1;
    l->intervals[value] =
        (struct ssa_interval){value, from, from + 1, 0, 0, 1, 0, hint, ssa_is_float(in)};
    s->born[s->count++] = value;
}

static void local_walk(struct local *s, uint32_t i, uint32_t block)
{
    struct ssa_live *l = s->l;
    const struct ssa_function *f = l->f;
    const struct ssa_insn *in = &f->insns[i];
    uint32_t at = l->number[i];
    bool passes = in->op == SSA_CALL || in->op == SSA_RETURN;
    if (in->op != SSA_RESULT)
        for (unsigned k = 0; k < ssa_ops[in->op].args; k++)
            if (in->arg[k]) local_use(s, in->arg[k], block, at);
    if (in->op != SSA_SWITCH)
        for (uint32_t k = 0; k < in->count; k++) {
            struct ssa_interval *it = local_use(s, f->pool[in->list + k], block, at);
            if (passes) it->reg = (int8_t)ssa_param_registers[k];
        }
    const struct ssa_exit *e = in->exit ? &f->exits[in->exit - 1] : NULL;
    for (uint32_t k = 0; e && k < e->count; k++)
        local_use(s, f->states[e->first + k].value, block, at + 1);
    if (in->type != SSA_VOID && !ssa_immediate(in)) local_define(s, i, in);
}

/* Returns the first of some ascending numbers that is not below `at`. *i is where the last
 * search ended. */
static uint32_t next_of(const uint32_t *numbers, uint32_t count, uint32_t *i, uint32_t at)
{
    while (*i < count && numbers[*i] < at) ++*i;
    return *i < count ? numbers[*i] : UINT32_MAX;
}

static bool give_registers(struct local *s)
{
    struct ssa_live *l = s->l;
    uint32_t busy[2][SSA_REGISTERS] = {0}, call = 0, divide = 0, last = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        struct ssa_interval *it = &l->intervals[s->born[k]];
        uint32_t *until = busy[it->real], none = 0;
        if (it->from < last || next_of(l->calls, l->call_count, &call, it->from) < it->to)
            return false;
        last = it->from;
        if (!it->real && next_of(l->divides, l->divide_count, &divide, it->from) < it->to)
            none = 1u << RAX | 1u << RDX;
        int reg = it->reg;
        if (reg < 0 || until[reg] > it->from || none >> reg & 1) {
            size_t n;
            const int8_t *set = ssa_registers(it->real, &n);
            for (reg = -1; n-- > 0 && reg < 0; set++)
                if (until[*set] <= it->from && !(none >> *set & 1)) reg = *set;
            if (reg < 0) return false;
        }
        it->reg = (int8_t)reg;
        until[reg] = it->to;
    }
    return true;
}

bool ssa_local(struct ssa_live *l)
{
    const struct ssa_function *f = l->f;
    struct local s = {.l = l, .fits = true};
    s.born = arena_alloc(&l->arena, f->count + 1, sizeof *s.born, &l->err);
    if (!s.born || !SSA_RESERVE(l, l->intervals, l->interval_capacity, f->count + 1)) return false;
    l->intervals[0] = (struct ssa_interval){0};
    for (uint32_t k = 0; k < l->block_count && s.fits; k++)
        for (uint32_t i = f->blocks[l->order[k]].first; i; i = f->insns[i].next)
            local_walk(&s, i, l->order[k]);
    l->interval_count = 1; /* Intervals are not split here, so there are no new ones. */
    return s.fits && give_registers(&s);
}
