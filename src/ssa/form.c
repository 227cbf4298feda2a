/* Makes and changes functions in SSA form: their instructions, blocks and lists. The builder, the
 * parser and the passes all use these functions. */
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
    for (size_t i = 0; i < f->block_made; i++) free(f->blocks[i].preds);
    free(f->insns);
    free(f->blocks);
    free(f->pool);
    free(f->exits);
    free(f->states);
    free(f->current);
    free(f->variable_types);
    free(f->unfilled);
    *f = (struct ssa_function){0};
}

void ssa_clear(struct ssa_function *f)
{
    memset(&f->count, 0, sizeof *f - offsetof(struct ssa_function, count));
    ssa_new(f, SSA_NONE, SSA_VOID);
}

uint32_t ssa_new(struct ssa_function *f, enum ssa_op op, enum ssa_type type)
{
    if (f->failed || f->count >= UINT32_MAX / 4 || !ssa_work(f, SSA_WORK_INSN) ||
        !ARRAY_RESERVE(f->insns, f->capacity, f->count + 1)) {
        f->failed = true;
        return 0;
    }
    f->insns[f->count] =
        (struct ssa_insn){.op = (uint8_t)op, .type = (uint8_t)type, .position = f->position};
    return (uint32_t)f->count++;
}

/* Makes b the instruction directly after a. If a is 0, the block begins with b; if b is 0, the
 * block ends with a. */
static inline void form_join(struct ssa_function *f, uint32_t block, uint32_t a, uint32_t b)
{
    *(a ? &f->insns[a].next : &f->blocks[block].first) = b;
    *(b ? &f->insns[b].prev : &f->blocks[block].last) = a;
}

static inline void form_put(struct ssa_function *f, uint32_t block, uint32_t before, uint32_t value)
{
    if (f->failed) return;
    f->insns[value].block = block;
    form_join(f, block, before ? f->insns[before].prev : f->blocks[block].last, value);
    form_join(f, block, value, before);
}

void ssa_append(struct ssa_function *f, uint32_t block, uint32_t value)
{
    form_put(f, block, 0, value);
}

void ssa_insert(struct ssa_function *f, uint32_t before, uint32_t value)
{
    form_put(f, f->insns[before].block, before, value);
}

void ssa_prepend(struct ssa_function *f, uint32_t block, uint32_t value)
{
    form_put(f, block, f->failed ? 0 : f->blocks[block].first, value);
}

static uint32_t form_constant(struct ssa_function *f, uint64_t imm)
{
    uint32_t value = ssa_new(f, SSA_CONST, SSA_INT);
    if (value) f->insns[value].imm = (int64_t)imm;
    return value;
}

uint32_t ssa_const_in(struct ssa_function *f, uint32_t block, uint64_t imm)
{
    uint32_t value = form_constant(f, imm);
    ssa_append(f, block, value);
    return value;
}

uint32_t ssa_const_before(struct ssa_function *f, uint32_t before, uint64_t imm)
{
    uint32_t value = form_constant(f, imm);
    ssa_insert(f, before, value);
    return value;
}

void ssa_remove(struct ssa_function *f, uint32_t value)
{
    struct ssa_insn *in = &f->insns[value];
    form_join(f, in->block, in->prev, in->next);
    in->prev = in->next = 0;
}

uint32_t ssa_block(struct ssa_function *f)
{
    if (f->failed || !SSA_RESERVE(f, f->blocks, f->block_capacity, f->block_count + 1)) return 0;
    struct ssa_block *b = &f->blocks[f->block_count], made = {0};
    if (f->block_count < f->block_made)
        made.preds = b->preds, made.pred_capacity = b->pred_capacity;
    else
        f->block_made++;
    *b = made;
    return (uint32_t)f->block_count++;
}

bool ssa_edge(struct ssa_function *f, uint32_t from, uint32_t to)
{
    if (f->failed) return false;
    struct ssa_block *b = &f->blocks[to];
    if (!SSA_RESERVE(f, b->preds, b->pred_capacity, b->pred_count + 1)) return false;
    b->preds[b->pred_count++] = from;
    return true;
}

uint32_t ssa_list(struct ssa_function *f, const uint32_t *items, uint32_t count)
{
    if (!ssa_work(f, count)) f->failed = true;
    if (f->failed || !SSA_RESERVE(f, f->pool, f->pool_capacity, f->pool_count + count + 1))
        return 0;
    if (count) memcpy(f->pool + f->pool_count, items, count * sizeof *items);
    f->pool_count += count;
    return (uint32_t)(f->pool_count - count);
}

void ssa_item(struct ssa_function *f, uint32_t item) { ssa_list(f, &item, 1); }

void ssa_phi_add(struct ssa_function *f, uint32_t phi, uint32_t value)
{
    uint32_t n = f->insns[phi].count, old = f->insns[phi].list;
    /* `last` tells whether the list of this phi is the last one in the pool. */
    bool last = n && old + n == f->pool_count;
    uint32_t list = last ? old : ssa_list(f, NULL, 0);
    for (uint32_t k = 0; !last && k < n && !f->failed; k++) ssa_item(f, f->pool[old + k]);
    ssa_item(f, value);
    f->insns[phi].list = list;
    f->insns[phi].count = n + 1;
}

void ssa_uses(struct ssa_function *f, uint32_t value, ssa_use_fn *fn, void *user)
{
    struct ssa_insn *in = &f->insns[value];
    ssa_work(f, 1 + in->count + (in->exit ? f->exits[in->exit - 1].count : 0));
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
    case SSA_SWITCH: /* The last item of the list is the target for all other values. */
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

uint32_t ssa_shorten(struct ssa_function *f, uint32_t value)
{
    uint32_t origin = ssa_origin(f, value);
    for (uint32_t next; f->insns[value].op == SSA_COPY; value = next) {
        next = f->insns[value].arg[0];
        f->insns[value].arg[0] = origin;
    }
    return origin;
}

void ssa_to_origin(void *user, uint32_t *use) { *use = ssa_shorten(user, *use); }

bool ssa_is_const(const struct ssa_function *f, uint32_t value, int64_t *imm)
{
    const struct ssa_insn *in = &f->insns[ssa_origin(f, value)];
    if (in->op != SSA_CONST || in->type != SSA_INT) return false;
    *imm = in->imm;
    return true;
}
