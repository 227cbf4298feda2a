/* Propagates the values of registers: constants and addresses of code from block to block,
 * copies and sums of a register and a constant within one block. */
#include "pvm/link/optimise/optimise.h"
#include <stdlib.h>

enum value_kind {
    ANY, /* Nothing is known yet, because no predecessor of the block was looked at. */
    CONSTANT,
    CODE, /* The value is the dynamic address of block `block`. */
    SUM,  /* The value is that of register `reg` plus `number`; only within a block. */
    UNKNOWN,
};

struct value {
    uint8_t kind, reg;
    uint8_t uses; /* how many instructions of the block have read the value */
    bool local;   /* The value was set in this block. */
    uint32_t block;
    int64_t number;
};

struct state {
    struct value reg[PVM_REGISTERS];
};

struct analysis {
    struct link *l;
    struct state *in; /* for each block: the values that are known at its start */
    bool word32;
    bool *changed;
};

static const struct value unknown = {.kind = UNKNOWN};

static bool register_is_constant(const struct state *s, uint8_t reg)
{
    return s->reg[reg].kind == CONSTANT;
}

static uint64_t values_number(const struct state *s, uint8_t reg)
{
    return (uint64_t)s->reg[reg].number;
}

/* Forgets the sums of which a register is part that changes now. */
static void values_forget(struct state *s, uint8_t reg)
{
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        if (s->reg[i].kind == SUM && s->reg[i].reg == reg) s->reg[i] = unknown;
}

static void values_set(struct state *s, uint8_t reg, struct value value)
{
    values_forget(s, reg);
    value.local = true;
    value.uses = 0;
    s->reg[reg] = value;
}

static uint8_t add_op(const struct analysis *a)
{
    return a->word32 ? PVM_OP_add_imm_32 : PVM_OP_add_imm_64;
}

/* Returns the value that is register reg plus a number. */
static struct value values_sum(const struct analysis *a, const struct state *s, uint8_t reg,
                               int64_t add)
{
    struct value v = s->reg[reg];
    if (v.kind == CONSTANT) {
        v.number =
            a->word32 ? (int32_t)(v.number + add) : (int64_t)((uint64_t)v.number + (uint64_t)add);
    } else if (v.kind == SUM && link_fits32(v.number + add)) {
        v.number += add;
    } else if (v.kind == CODE && !add) {
        return v;
    } else {
        v = (struct value){.kind = SUM, .reg = reg, .number = add};
    }
    return v;
}

/* Returns the value that an instruction which only computes leaves in its register. */
static struct value values_computed(const struct analysis *a, const struct state *s,
                                    const struct link_insn *in)
{
    uint64_t out = 0;
    bool known;
    switch (link_kind(in->op)) {
    case PVM_DO_LOADI:
    case PVM_DO_LOADI64:
        if (in->ref == REF_CODE) return (struct value){.kind = CODE, .block = in->to};
        if (in->ref != REF_NONE) return unknown;
        return (struct value){.kind = CONSTANT, .number = in->imm1};
    case PVM_DO_SET2:
        if (in->op == PVM_OP_move_reg) return values_sum(a, s, in->a, 0);
        known = register_is_constant(s, in->a);
        break;
    case PVM_DO_SET3:
        known = register_is_constant(s, in->a) && register_is_constant(s, in->b);
        break;
    case PVM_DO_SET2I:
        /* The instruction with the low half of an address of code has all of it, and the high
         * half is 0. */
        if (in->ref == REF_CODE) {
            bool zero = register_is_constant(s, in->b) && !s->reg[in->b].number;
            return zero ? (struct value){.kind = CODE, .block = in->to} : unknown;
        }
        if (in->op == add_op(a)) return values_sum(a, s, in->b, in->imm1);
        known = register_is_constant(s, in->b);
        break;
    default: return unknown;
    }
    if (!known || !link_compute(in->op, values_number(s, in->a), values_number(s, in->b),
                                (uint64_t)in->imm1, a->word32, &out))
        return unknown;
    return (struct value){.kind = CONSTANT, .number = (int64_t)out};
}

/* Returns the result of a conditional move, if its condition is known. */
static struct value values_moved(const struct state *s, const struct link_insn *in, uint8_t d)
{
    if (!register_is_constant(s, in->b)) return unknown;
    if (!link_decide(in->op, 0, values_number(s, in->b), 0)) return s->reg[d];
    if (in->op == PVM_OP_cmov_if_zero_imm || in->op == PVM_OP_cmov_if_not_zero_imm)
        return (struct value){.kind = CONSTANT, .number = in->imm1};
    return register_is_constant(s, in->a) ? s->reg[in->a] : unknown;
}

static void values_step(const struct analysis *a, struct state *s, const struct link_insn *in)
{
    uint16_t writes = link_writes(in);
    enum pvm_kind kind = link_kind(in->op);
    if (!writes) return;
    if (kind == PVM_DO_ECALLI || kind == PVM_DO_MEMSET) {
        for (uint8_t r = 0; r < PVM_REGISTERS; r++)
            if (writes & link_bit(r)) values_set(s, r, unknown);
        return;
    }
    uint8_t d =
        kind == PVM_DO_SET3 || kind == PVM_DO_SET2 || kind == PVM_DO_CMOV3 || kind == PVM_DO_SBRK
            ? in->d
            : in->a;
    struct value value = kind == PVM_DO_CMOV3 || kind == PVM_DO_CMOVI ? values_moved(s, in, d)
                                                                      : values_computed(a, s, in);
    /* A sum of the register's own old value cannot be kept, because that value is lost now. */
    if (value.kind == SUM && value.reg == d) value = unknown;
    values_set(s, d, value);
}

static bool values_same(const struct value *x, const struct value *y)
{
    return x->kind == y->kind && (x->kind != CONSTANT || x->number == y->number) &&
           (x->kind != CODE || x->block == y->block);
}

/* Keeps the values that hold on all ways into a block. Returns true when that changed something. */
static bool values_meet(struct state *into, const struct state *from)
{
    bool changed = false;
    for (unsigned i = 0; i < PVM_REGISTERS; i++) {
        struct value v = from->reg[i];
        struct value *to = &into->reg[i];
        if (v.kind == SUM) v = unknown;
        v.uses = 0;
        v.local = false;
        if (v.kind == ANY || to->kind == UNKNOWN || values_same(to, &v)) continue;
        *to = to->kind == ANY ? v : unknown;
        changed = true;
    }
    return changed;
}

static bool values_lose(struct state *into)
{
    struct state nothing;
    for (unsigned i = 0; i < PVM_REGISTERS; i++) nothing.reg[i] = unknown;
    return values_meet(into, &nothing);
}

/* Starts with the blocks that can be entered from anywhere: exports, blocks whose address is in
 * data or code, and blocks to which calls return. */
static void values_start(struct analysis *a)
{
    struct link *l = a->l;
    for (size_t i = 0; i < l->block_count; i++) {
        const struct link_block *b = &l->blocks[i];
        if (!b->reached) continue;
        if (b->exported || b->in_data) values_lose(&a->in[i]);
        for (uint32_t k = 0; k < b->count; k++) {
            const struct link_insn *in = &b->insns[k];
            if (in->ref == REF_CODE) values_lose(&a->in[in->to]);
            if (in->op == PVM_OP_load_imm_and_jump || in->op == PVM_OP_load_imm_and_jump_indirect)
                values_lose(&a->in[b->next]);
        }
    }
}

static void values_pass_on(struct analysis *a, uint32_t block, struct opt_queue *queue)
{
    const struct link_block *b = &a->l->blocks[block];
    const struct link_insn *last = link_last(b);
    struct state s = a->in[block];
    for (uint32_t k = 0; k < b->count; k++) values_step(a, &s, &b->insns[k]);
    if (last && pvm_has_target(last->op) && values_meet(&a->in[last->to], &s))
        opt_queue_add(queue, last->to);
    if (b->next != LINK_NONE && (!last || link_is_branch(last->op)) &&
        values_meet(&a->in[b->next], &s))
        opt_queue_add(queue, b->next);
}

static bool values_solve(struct analysis *a)
{
    struct opt_queue queue;
    if (!opt_queue_init(&queue, a->l)) return false;
    values_start(a);
    for (uint32_t i = 0; i < a->l->block_count; i++)
        if (a->l->blocks[i].reached && a->in[i].reg[0].kind != ANY) opt_queue_add(&queue, i);
    for (uint32_t i; (i = opt_queue_take(&queue)) != LINK_NONE;) values_pass_on(a, i, &queue);
    opt_queue_free(&queue);
    return true;
}

static unsigned immediate_size(int64_t value)
{
    int32_t v = (int32_t)value;
    if (!v) return 0;
    if (v >= -0x80 && v < 0x80) return 1;
    if (v >= -0x8000 && v < 0x8000) return 2;
    return v >= -0x800000 && v < 0x800000 ? 3 : 4;
}

/* Tells whether this instruction is the only one that reads the register. If the instruction can
 * do without the register, the one that set it is dropped. */
static bool register_only_use(const struct state *s, const struct link_insn *in, uint8_t reg)
{
    bool written = link_writes(in) & link_bit(reg);
    return s->reg[reg].local && !s->reg[reg].uses && (written || !(in->live & link_bit(reg)));
}

/* Tells whether it pays to use a constant instead of a register: the instruction takes no more
 * bytes, or the load of the register is dropped. */
static bool values_pays(const struct state *s, const struct link_insn *in, uint8_t reg,
                        unsigned free_bytes)
{
    int64_t value = s->reg[reg].number;
    if (!register_is_constant(s, reg) || !link_fits32(value)) return false;
    return immediate_size(value) <= free_bytes || register_only_use(s, in, reg);
}

static bool values_has(const struct analysis *a, uint8_t op)
{
    return op != PVM_OP_invalid && pvm_ops[op].number[a->l->isa] >= 0;
}

static void values_change(struct analysis *a, struct link_insn *in, struct link_insn to)
{
    to.section = in->section;
    to.offset = in->offset;
    to.live = in->live;
    *in = to;
    *a->changed = true;
}

/* Makes the instruction read the original register instead of a copy. */
static void use_originals(struct analysis *a, const struct state *s, struct link_insn *in)
{
    uint8_t *fields[2] = {NULL, NULL};
    switch (link_kind(in->op)) {
    case PVM_DO_SET3:
    case PVM_DO_CMOV3:
    case PVM_DO_BRANCH2:
    case PVM_DO_STORE: fields[0] = &in->a, fields[1] = &in->b; break;
    case PVM_DO_SET2:
    case PVM_DO_SBRK:
    case PVM_DO_STOREX:
    case PVM_DO_STOREI:
    case PVM_DO_BRANCHI: fields[0] = &in->a; break;
    case PVM_DO_SET2I:
    case PVM_DO_CMOVI:
    case PVM_DO_LOAD: fields[0] = &in->b; break;
    default: return;
    }
    for (unsigned i = 0; i < 2 && fields[i]; i++) {
        const struct value *v = &s->reg[*fields[i]];
        if (v->kind != SUM || v->number) continue;
        *fields[i] = v->reg;
        *a->changed = true;
    }
}

static void load_constant(struct analysis *a, struct link_insn *in, uint8_t d, int64_t value)
{
    if (in->op == PVM_OP_load_imm64 || in->op == PVM_OP_load_imm) return;
    if (link_fits32(value))
        values_change(a, in, (struct link_insn){.op = PVM_OP_load_imm, .a = d, .imm1 = value});
    else
        values_change(a, in, (struct link_insn){.op = PVM_OP_load_imm64, .a = d, .imm1 = value});
}

/* Rewrites rd = op ra, rb when one side is a constant. */
static void rewrite_set3(struct analysis *a, const struct state *s, struct link_insn *in)
{
    const struct link_form *form = link_form(in->op);
    int64_t second = s->reg[in->b].number, first = s->reg[in->a].number;
    if (values_has(a, form->second) && values_pays(s, in, in->b, 1)) {
        if (form->negate) second = a->word32 ? (int32_t)-second : -second;
        if (!link_fits32(second)) return;
        values_change(
            a, in, (struct link_insn){.op = form->second, .a = in->d, .b = in->a, .imm1 = second});
    } else if (values_has(a, form->first) && values_pays(s, in, in->a, 1)) {
        values_change(a, in,
                      (struct link_insn){.op = form->first, .a = in->d, .b = in->b, .imm1 = first});
    }
}

/* Rewrites rd = rb + c when rb is the sum of another register and a constant. */
static void rewrite_add(struct analysis *a, const struct state *s, struct link_insn *in)
{
    const struct value *v = &s->reg[in->b];
    if (in->op != add_op(a) || in->ref != REF_NONE) return;
    if (v->kind == SUM && link_fits32(v->number + in->imm1) &&
        (register_only_use(s, in, in->b) ||
         immediate_size(v->number + in->imm1) <= immediate_size(in->imm1))) {
        int64_t total = v->number + in->imm1;
        if (total)
            values_change(a, in,
                          (struct link_insn){.op = in->op, .a = in->a, .b = v->reg, .imm1 = total});
        else
            values_change(a, in,
                          (struct link_insn){.op = PVM_OP_move_reg, .d = in->a, .a = v->reg});
    } else if (!in->imm1) {
        values_change(a, in, (struct link_insn){.op = PVM_OP_move_reg, .d = in->a, .a = in->b});
    }
}

/* Rewrites an address that is a register and a constant, or only a constant. */
static void rewrite_address(struct analysis *a, const struct state *s, struct link_insn *in,
                            uint8_t *base)
{
    const struct value *v = &s->reg[*base];
    int64_t total = (int32_t)((uint32_t)v->number + (uint32_t)in->imm1);
    uint8_t absolute = link_form(in->op)->second;
    if (v->kind == SUM &&
        (register_only_use(s, in, *base) || immediate_size(total) <= immediate_size(in->imm1))) {
        *base = v->reg;
        in->imm1 = total;
        *a->changed = true;
    } else if (v->kind == CONSTANT && values_has(a, absolute) && register_only_use(s, in, *base)) {
        in->op = absolute;
        in->imm1 = total;
        *a->changed = true;
    }
}

static void rewrite_store(struct analysis *a, const struct state *s, struct link_insn *in)
{
    uint8_t constant = link_form(in->op)->first;
    bool indirect = link_kind(in->op) == PVM_DO_STORE;
    if (indirect && in->a == in->b) return;
    if (values_has(a, constant) && values_pays(s, in, in->a, 0)) {
        int64_t value = s->reg[in->a].number;
        in->op = constant;
        in->imm2 = value;
        if (indirect) in->a = in->b;
        *a->changed = true;
    }
}

static void rewrite_cmov(struct analysis *a, const struct state *s, struct link_insn *in)
{
    bool imm = link_kind(in->op) == PVM_DO_CMOVI;
    uint8_t d = imm ? in->a : in->d, constant = link_form(in->op)->first;
    if (register_is_constant(s, in->b)) {
        if (!link_decide(in->op, 0, values_number(s, in->b), 0))
            values_change(a, in, (struct link_insn){.op = PVM_OP_move_reg, .d = d, .a = d});
        else if (imm)
            load_constant(a, in, d, in->imm1);
        else
            values_change(a, in, (struct link_insn){.op = PVM_OP_move_reg, .d = d, .a = in->a});
    } else if (!imm && values_has(a, constant) && values_pays(s, in, in->a, 1)) {
        values_change(
            a, in,
            (struct link_insn){.op = constant, .a = d, .b = in->b, .imm1 = s->reg[in->a].number});
    }
}

/* Rewrites a branch. When its condition is known, the branch goes away; with one constant it
 * takes the immediate form. */
static void rewrite_branch(struct analysis *a, const struct state *s, struct link_block *b,
                           struct link_insn *in)
{
    bool imm = link_kind(in->op) == PVM_DO_BRANCHI;
    const struct link_form *form = link_form(in->op);
    bool known = register_is_constant(s, in->a) && (imm || register_is_constant(s, in->b));
    if (known || (!imm && in->a == in->b)) {
        uint64_t x = known ? values_number(s, in->a) : 0, y = imm     ? (uint64_t)in->imm1
                                                              : known ? values_number(s, in->b)
                                                                      : 0;
        if (link_decide(in->op, x, y, y)) b->next = in->to;
        b->count--;
        *a->changed = true;
    } else if (!imm && values_pays(s, in, in->b, 0)) {
        values_change(
            a, in,
            (struct link_insn){
                .op = form->second, .a = in->a, .imm1 = s->reg[in->b].number, .to = in->to});
    } else if (!imm && values_pays(s, in, in->a, 0)) {
        values_change(
            a, in,
            (struct link_insn){
                .op = form->first, .a = in->b, .imm1 = s->reg[in->a].number, .to = in->to});
    }
}

/* Rewrites jumps and calls by a register that holds the address of known code. */
static void rewrite_dynamic(struct analysis *a, const struct state *s, struct link_block *b,
                            struct link_insn *in)
{
    if (in->op == PVM_OP_jump_indirect && s->reg[in->a].kind == CODE && !in->imm1) {
        b->next = s->reg[in->a].block;
        b->count--;
        *a->changed = true;
    } else if (in->op == PVM_OP_load_imm_and_jump_indirect && s->reg[in->b].kind == CODE &&
               !in->imm2) {
        values_change(a, in,
                      (struct link_insn){
                          .op = PVM_OP_load_imm_and_jump, .a = in->a, .to = s->reg[in->b].block});
    }
}

/* Tells whether the register already holds this value. */
static bool values_keeps(const struct state *s, uint8_t d, const struct value *v)
{
    const struct value *old = &s->reg[d];
    if (v->kind == SUM && v->reg == d && !v->number) return true;
    if (v->kind != old->kind) return false;
    return v->kind == CONSTANT ? v->number == old->number
           : v->kind == CODE   ? v->block == old->block
           : v->kind == SUM    ? v->reg == old->reg && v->number == old->number
                               : false;
}

/* Rewrites instructions that only compute a register. */
static void rewrite_value(struct analysis *a, const struct state *s, struct link_insn *in)
{
    enum pvm_kind kind = link_kind(in->op);
    uint8_t d = kind == PVM_DO_SET3 || kind == PVM_DO_SET2 ? in->d : in->a;
    struct value v = values_computed(a, s, in);
    if (values_keeps(s, d, &v)) {
        if (in->op != PVM_OP_move_reg || in->a != in->d)
            values_change(a, in, (struct link_insn){.op = PVM_OP_move_reg, .d = d, .a = d});
        return;
    }
    if (v.kind == CODE && in->op != PVM_OP_load_imm) {
        if (in->op == PVM_OP_move_reg && !register_only_use(s, in, in->a)) return;
        values_change(
            a, in,
            (struct link_insn){.op = PVM_OP_load_imm, .a = d, .ref = REF_CODE, .to = v.block});
        return;
    }
    if (v.kind == CONSTANT && kind != PVM_DO_LOADI && kind != PVM_DO_LOADI64) {
        /* A move is shorter than the load of most constants. */
        bool source_goes = (kind == PVM_DO_SET2 ? register_only_use(s, in, in->a)
                                                : register_only_use(s, in, in->b)) ||
                           (kind == PVM_DO_SET3 && register_only_use(s, in, in->a));
        unsigned own = kind == PVM_DO_SET2 ? 0 : kind == PVM_DO_SET3 ? 1 : immediate_size(in->imm1);
        if (link_fits32(v.number) ? immediate_size(v.number) <= own || source_goes
                                  : source_goes && values_has(a, PVM_OP_load_imm64)) {
            load_constant(a, in, d, v.number);
            return;
        }
    }
    if (kind == PVM_DO_SET3) rewrite_set3(a, s, in);
    if (link_kind(in->op) == PVM_DO_SET2I) rewrite_add(a, s, in);
}

static void rewrite_insn(struct analysis *a, const struct state *s, struct link_block *b,
                         struct link_insn *in)
{
    use_originals(a, s, in);
    switch (link_kind(in->op)) {
    case PVM_DO_LOADI:
    case PVM_DO_LOADI64:
    case PVM_DO_SET2:
    case PVM_DO_SET2I:
    case PVM_DO_SET3: rewrite_value(a, s, in); break;
    case PVM_DO_CMOV3:
    case PVM_DO_CMOVI: rewrite_cmov(a, s, in); break;
    case PVM_DO_LOAD: rewrite_address(a, s, in, &in->b); break;
    case PVM_DO_STORE:
        rewrite_store(a, s, in);
        rewrite_address(a, s, in, link_kind(in->op) == PVM_DO_STORE ? &in->b : &in->a);
        break;
    case PVM_DO_STOREI: rewrite_address(a, s, in, &in->a); break;
    case PVM_DO_STOREX: rewrite_store(a, s, in); break;
    case PVM_DO_BRANCH2:
    case PVM_DO_BRANCHI: rewrite_branch(a, s, b, in); break;
    case PVM_DO_JUMP_DYNAMIC:
    case PVM_DO_LOADI_JUMP_DYNAMIC: rewrite_dynamic(a, s, b, in); break;
    default: break;
    }
}

static void values_rewrite(struct analysis *a, uint32_t block)
{
    struct link_block *b = &a->l->blocks[block];
    struct state s = a->in[block];
    for (uint32_t k = 0; k < b->count; k++) {
        struct link_insn *in = &b->insns[k];
        rewrite_insn(a, &s, b, in);
        if (k >= b->count) break; /* The instruction was a branch, which is gone. */
        uint16_t reads = link_reads(in);
        for (uint8_t r = 0; r < PVM_REGISTERS; r++)
            if (reads & link_bit(r) && s.reg[r].uses < UINT8_MAX) s.reg[r].uses++;
        values_step(a, &s, in);
    }
}

bool opt_values(struct link *l, bool *changed)
{
    struct analysis a = {.l = l, .word32 = l->bits == 32, .changed = changed};
    a.in = calloc(l->block_count + 1, sizeof *a.in);
    if (!a.in) return error_at(&l->err, BASE_MEMORY, 0, "no memory for values");
    bool ok = values_solve(&a);
    for (uint32_t i = 0; ok && i < l->block_count; i++)
        if (l->blocks[i].reached && a.in[i].reg[0].kind != ANY) values_rewrite(&a, i);
    free(a.in);
    return ok;
}
