/* Making and changing functions: instructions, blocks, lists. */
#include "ssa/ssa.h"
#include <stdlib.h>
#include <string.h>

const struct ssa_op_info ssa_ops[SSA_OPS] = {
#define OP(name, text, args, traits) {text, traits, args},
#include "ssa/ops.def"
};
const char *const ssa_cond_names[SSA_CONDS] = {"eq", "ne", "lt", "le", "gt",
                                               "ge", "b",  "be", "a",  "ae"};
const char *const ssa_mem_names[SSA_MEMS] = {"i8",  "u8",  "i16", "u16",  "i32",  "u32",
                                             "x64", "f32", "f64", "m128", "m256", "m512"};
const uint8_t ssa_cond_not[SSA_CONDS] = {SSA_NE, SSA_EQ, SSA_GE, SSA_GT, SSA_LE,
                                         SSA_LT, SSA_AE, SSA_A,  SSA_BE, SSA_B};
const uint8_t ssa_mem_bits[SSA_MEMS] = {0, 0, 1, 1, 2, 2, 3, 2, 3, 4, 5, 6};
const char *const ssa_type_names[SSA_TYPES] = {"void", "int", "f32", "f64", "v128", "v256"};

void ssa_init(struct ssa_function *f)
{
    *f = (struct ssa_function){0};
    ssa_new(f, SSA_NONE, SSA_VOID);
}

void ssa_fini(struct ssa_function *f)
{
    for (size_t i = 0; i < f->block_count; i++) free(f->blocks[i].preds);
    free(f->insns);
    free(f->blocks);
    free(f->pool);
    free(f->exits);
    free(f->states);
    free(f->current);
    free(f->variable_types);
    free(f->unfilled);
    free(f->places);
    *f = (struct ssa_function){0};
}

void ssa_clear(struct ssa_function *f)
{
    struct ssa_function old = *f, now = {0};
    for (size_t i = 0; i < old.block_count; i++) free(old.blocks[i].preds);
    free(old.current);
    free(old.variable_types);
    free(old.places);
    now.insns = old.insns, now.capacity = old.capacity;
    now.blocks = old.blocks, now.block_capacity = old.block_capacity;
    now.pool = old.pool, now.pool_capacity = old.pool_capacity;
    now.exits = old.exits, now.exit_capacity = old.exit_capacity;
    now.states = old.states, now.state_capacity = old.state_capacity;
    now.unfilled = old.unfilled, now.unfilled_capacity = old.unfilled_capacity;
    *f = now;
    ssa_new(f, SSA_NONE, SSA_VOID);
}

uint32_t ssa_new(struct ssa_function *f, enum ssa_op op, enum ssa_type type)
{
    if (f->failed || f->count >= UINT32_MAX / 4 ||
        !ARRAY_RESERVE(f->insns, f->capacity, f->count + 1)) {
        f->failed = true;
        return 0;
    }
    f->insns[f->count] =
        (struct ssa_insn){.op = (uint8_t)op, .type = (uint8_t)type, .position = f->position};
    return (uint32_t)f->count++;
}

void ssa_append(struct ssa_function *f, uint32_t block, uint32_t value)
{
    if (f->failed) return;
    struct ssa_block *b = &f->blocks[block];
    struct ssa_insn *in = &f->insns[value];
    in->block = block;
    in->prev = b->last;
    in->next = 0;
    if (b->last)
        f->insns[b->last].next = value;
    else
        b->first = value;
    b->last = value;
}

void ssa_insert(struct ssa_function *f, uint32_t before, uint32_t value)
{
    if (f->failed) return;
    struct ssa_insn *in = &f->insns[value], *at = &f->insns[before];
    in->block = at->block;
    in->prev = at->prev;
    in->next = before;
    if (at->prev)
        f->insns[at->prev].next = value;
    else
        f->blocks[at->block].first = value;
    at->prev = value;
}

void ssa_prepend(struct ssa_function *f, uint32_t block, uint32_t value)
{
    if (f->failed) return;
    if (f->blocks[block].first)
        ssa_insert(f, f->blocks[block].first, value);
    else
        ssa_append(f, block, value);
}

uint32_t ssa_const_in(struct ssa_function *f, uint32_t block, uint64_t imm)
{
    uint32_t value = ssa_new(f, SSA_CONST, SSA_INT);
    if (value) f->insns[value].imm = (int64_t)imm;
    ssa_append(f, block, value);
    return value;
}

uint32_t ssa_const_before(struct ssa_function *f, uint32_t before, uint64_t imm)
{
    uint32_t value = ssa_new(f, SSA_CONST, SSA_INT);
    if (value) f->insns[value].imm = (int64_t)imm;
    ssa_insert(f, before, value);
    return value;
}

void ssa_remove(struct ssa_function *f, uint32_t value)
{
    struct ssa_insn *in = &f->insns[value];
    struct ssa_block *b = &f->blocks[in->block];
    if (in->prev)
        f->insns[in->prev].next = in->next;
    else
        b->first = in->next;
    if (in->next)
        f->insns[in->next].prev = in->prev;
    else
        b->last = in->prev;
    in->prev = in->next = 0;
}

uint32_t ssa_block(struct ssa_function *f)
{
    if (f->failed || !SSA_RESERVE(f, f->blocks, f->block_capacity, f->block_count + 1)) return 0;
    f->blocks[f->block_count] = (struct ssa_block){0};
    return (uint32_t)f->block_count++;
}

bool ssa_edge(struct ssa_function *f, uint32_t from, uint32_t to)
{
    if (f->failed) return false;
    struct ssa_block *b = &f->blocks[to];
    size_t capacity = b->pred_capacity;
    if (!SSA_RESERVE(f, b->preds, capacity, b->pred_count + 1)) return false;
    b->pred_capacity = (uint32_t)capacity;
    b->preds[b->pred_count++] = from;
    return true;
}

uint32_t ssa_list(struct ssa_function *f, const uint32_t *items, uint32_t count)
{
    if (f->failed || !SSA_RESERVE(f, f->pool, f->pool_capacity, f->pool_count + count + 1))
        return 0;
    if (count) memcpy(f->pool + f->pool_count, items, count * sizeof *items);
    f->pool_count += count;
    return (uint32_t)(f->pool_count - count);
}

void ssa_uses(struct ssa_function *f, uint32_t value, ssa_use_fn *fn, void *user)
{
    struct ssa_insn *in = &f->insns[value];
    for (unsigned i = 0; i < ssa_ops[in->op].args; i++)
        if (in->arg[i]) fn(user, &in->arg[i]);
    if (in->op != SSA_SWITCH)
        for (uint32_t i = 0; i < in->count; i++)
            if (f->pool[in->list + i]) fn(user, &f->pool[in->list + i]);
    if (!in->exit) return;
    const struct ssa_exit *e = &f->exits[in->exit - 1];
    for (uint32_t i = 0; i < e->count; i++) fn(user, &f->states[e->first + i].value);
}

const uint32_t *ssa_successors(const struct ssa_function *f, uint32_t block, uint32_t *n)
{
    const struct ssa_block *b = &f->blocks[block];
    const struct ssa_insn *end = &f->insns[b->last];
    switch (b->last ? end->op : SSA_NONE) {
    case SSA_JUMP: *n = 1; return b->to;
    case SSA_BRANCH:
    case SSA_FBRANCH: *n = 2; return b->to;
    case SSA_SWITCH: /* the list has the other target as its last item */
        *n = end->count;
        return f->pool + end->list;
    default: *n = 0; return b->to;
    }
}

uint32_t ssa_origin(const struct ssa_function *f, uint32_t value)
{
    while (f->insns[value].op == SSA_COPY) value = f->insns[value].arg[0];
    return value;
}

void ssa_to_origin(void *user, uint32_t *use) { *use = ssa_origin(user, *use); }

bool ssa_is_const(const struct ssa_function *f, uint32_t value, int64_t *imm)
{
    const struct ssa_insn *in = &f->insns[ssa_origin(f, value)];
    if (in->op != SSA_CONST || in->type != SSA_INT) return false;
    *imm = in->imm;
    return true;
}
