/* The builder brings variables to SSA form while blocks are filled, after Braun and others,
 * "Simple and efficient construction of static single assignment form" (2013). Reading a
 * variable in a block that does not write it makes a phi if the block has several predecessors,
 * or if not all of them are known yet. copies.c removes the phis that are not needed. */
#include "ssa/ssa.h"
#include <string.h>

void ssa_variables(struct ssa_function *f, uint32_t count, const uint8_t *types)
{
    size_t cells = (size_t)count * f->block_count;
    f->variables = count;
    if (!SSA_RESERVE(f, f->current, f->current_capacity, cells + 1) ||
        !SSA_RESERVE(f, f->variable_types, f->type_capacity, count + 1))
        return;
    memset(f->current, 0, cells * sizeof *f->current);
    memcpy(f->variable_types, types, count);
}

static uint32_t *build_current(struct ssa_function *f, uint32_t block, uint32_t variable)
{
    return &f->current[(size_t)block * f->variables + variable];
}

void ssa_write(struct ssa_function *f, uint32_t variable, uint32_t value)
{
    if (!f->failed) *build_current(f, f->at, variable) = value;
}

static uint32_t new_phi(struct ssa_function *f, uint32_t block, uint32_t variable)
{
    uint32_t phi = ssa_new(f, SSA_PHI, (enum ssa_type)f->variable_types[variable]);
    if (!phi) return 0;
    f->insns[phi].imm = variable;
    ssa_prepend(f, block, phi);
    *build_current(f, block, variable) = phi;
    return phi;
}

/* Adds a phi to the list of those whose arguments must still be found. A list and no recursion
 * is used, because a program may have any number of joins in a row. */
static void fill_later(struct ssa_function *f, uint32_t phi)
{
    if (f->failed || !SSA_RESERVE(f, f->unfilled, f->unfilled_capacity, f->unfilled_count + 1))
        return;
    f->unfilled[f->unfilled_count++] = phi;
}

/* Returns the value of a variable at the end of a block. It follows blocks with one predecessor
 * up to the block that writes the variable. */
static uint32_t read_in_block(struct ssa_function *f, uint32_t block, uint32_t variable)
{
    uint32_t at = block, value = 0;
    while (!f->failed && !(value = *build_current(f, at, variable))) {
        struct ssa_block *b = &f->blocks[at];
        if (b->sealed && b->pred_count == 1) {
            at = b->preds[0];
            continue;
        }
        /* The variable is read before it is written, or the block cannot be reached. */
        if (b->sealed && !b->pred_count) {
            value = ssa_new(f, SSA_CONST, (enum ssa_type)f->variable_types[variable]);
            if (!value) return 0;
            ssa_prepend(f, at, value);
            *build_current(f, at, variable) = value;
            break;
        }
        value = new_phi(f, at, variable);
        if (b = &f->blocks[at], b->sealed) fill_later(f, value);
        break;
    }
    for (uint32_t b = block; !f->failed && b != at; b = f->blocks[b].preds[0]) {
        *build_current(f, b, variable) = value;
        if (!ssa_work(f, 1)) f->failed = true;
    }
    return value;
}

static void fill_phi(struct ssa_function *f, uint32_t phi)
{
    uint32_t block = f->insns[phi].block, variable = (uint32_t)f->insns[phi].imm;
    for (uint32_t i = 0; i < f->blocks[block].pred_count && !f->failed; i++)
        ssa_phi_add(f, phi, read_in_block(f, f->blocks[block].preds[i], variable));
}

static void fill_phis(struct ssa_function *f)
{
    while (f->unfilled_count && !f->failed) fill_phi(f, f->unfilled[--f->unfilled_count]);
}

uint32_t ssa_read(struct ssa_function *f, uint32_t variable)
{
    uint32_t value = f->failed ? 0 : read_in_block(f, f->at, variable);
    fill_phis(f);
    return value;
}

void ssa_start(struct ssa_function *f, uint32_t block) { f->at = block; }

void ssa_seal(struct ssa_function *f, uint32_t block)
{
    if (f->failed || f->blocks[block].sealed) return;
    f->blocks[block].sealed = true;
    for (uint32_t i = f->blocks[block].first; i && f->insns[i].op == SSA_PHI; i = f->insns[i].next)
        fill_later(f, i);
    fill_phis(f);
}

static uint32_t build_add(struct ssa_function *f, enum ssa_op op, enum ssa_type type)
{
    uint32_t value = ssa_new(f, op, type);
    ssa_append(f, f->at, value);
    return value;
}

uint32_t ssa_const(struct ssa_function *f, int64_t imm)
{
    return ssa_const_in(f, f->at, (uint64_t)imm);
}

uint32_t ssa_fixed(struct ssa_function *f, enum ssa_fixed which)
{
    if (f->fixed[which]) return f->fixed[which];
    uint32_t value = ssa_new(f, SSA_FIXED, SSA_INT);
    if (!value) return 0;
    f->insns[value].imm = which;
    ssa_prepend(f, 0, value);
    return f->fixed[which] = value;
}

uint32_t ssa_op1(struct ssa_function *f, enum ssa_op op, enum ssa_type type, uint32_t a)
{
    uint32_t value = build_add(f, op, type);
    if (value) f->insns[value].arg[0] = a;
    return value;
}

uint32_t ssa_op2(struct ssa_function *f, enum ssa_op op, enum ssa_type type, bool narrow,
                 uint32_t a, uint32_t b)
{
    uint32_t value = ssa_op1(f, op, type, a);
    if (!value) return 0;
    f->insns[value].arg[1] = b;
    f->insns[value].narrow = narrow;
    return value;
}

uint32_t ssa_compare(struct ssa_function *f, enum ssa_op op, enum ssa_cond cond, bool narrow,
                     uint32_t a, uint32_t b)
{
    uint32_t value = ssa_op2(f, op, SSA_INT, narrow, a, b);
    if (value) f->insns[value].cond = (uint8_t)cond;
    return value;
}

static void build_address(struct ssa_function *f, uint32_t value, enum ssa_mem mem,
                          struct ssa_address at)
{
    struct ssa_insn *in = &f->insns[value];
    in->mem = (uint8_t)mem;
    in->arg[0] = at.base;
    in->arg[1] = at.index;
    in->scale = at.scale;
    in->imm = at.disp;
}

uint32_t ssa_load(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at)
{
    uint32_t value = build_add(f, SSA_LOAD, ssa_loaded(mem));
    if (value) build_address(f, value, mem, at);
    return value;
}

void ssa_store(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at, uint32_t stored)
{
    uint32_t value = build_add(f, SSA_STORE, SSA_VOID);
    if (!value) return;
    build_address(f, value, mem, at);
    f->insns[value].arg[2] = stored;
}

void ssa_window(struct ssa_function *f, enum ssa_mem mem, struct ssa_address at, bool write,
                uint32_t window, uint32_t exit)
{
    uint32_t value = build_add(f, SSA_WINDOW, SSA_VOID);
    if (!value) return;
    build_address(f, value, mem, at);
    f->insns[value].cond = write;
    f->insns[value].list = window;
    f->insns[value].exit = exit;
}

uint32_t ssa_exit(struct ssa_function *f, uint32_t kind, uint32_t position)
{
    if (f->failed || !SSA_RESERVE(f, f->exits, f->exit_capacity, f->exit_count + 1)) return 0;
    f->exits[f->exit_count++] =
        (struct ssa_exit){kind, position, f->number, (uint32_t)f->state_count, 0};
    return (uint32_t)f->exit_count;
}

void ssa_keep(struct ssa_function *f, uint32_t key, uint32_t value)
{
    if (!ssa_work(f, SSA_WORK_STATE)) f->failed = true;
    if (f->failed || !SSA_RESERVE(f, f->states, f->state_capacity, f->state_count + 1)) return;
    f->states[f->state_count++] = (struct ssa_state){key, value};
    f->exits[f->exit_count - 1].count++;
}

uint32_t ssa_effect(struct ssa_function *f, enum ssa_op op, uint32_t exit)
{
    uint32_t value = build_add(f, op, SSA_VOID);
    if (value) f->insns[value].exit = exit;
    return value;
}

void ssa_jump(struct ssa_function *f, uint32_t to)
{
    build_add(f, SSA_JUMP, SSA_VOID);
    if (f->failed) return;
    f->blocks[f->at].to[0] = to;
    ssa_edge(f, f->at, to);
}

void ssa_branch(struct ssa_function *f, enum ssa_op op, enum ssa_cond cond, bool narrow, uint32_t a,
                uint32_t b, uint32_t yes, uint32_t no)
{
    if (yes == no) {
        ssa_jump(f, yes);
        return;
    }
    uint32_t value = ssa_compare(f, op, cond, narrow, a, b);
    if (!value) return;
    f->insns[value].type = SSA_VOID;
    f->blocks[f->at].to[0] = yes;
    f->blocks[f->at].to[1] = no;
    ssa_edge(f, f->at, yes);
    ssa_edge(f, f->at, no);
}
