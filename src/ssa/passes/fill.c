/* Speeds up loops that do nothing but store one value to consecutive places. A new loop before
 * such a loop stores eight bytes at a time while more than these are left. The old loop then
 * stores the rest and computes the values that are used after it. This relies on the counted
 * loops that induction.c finds. */
#include "ssa/passes/induction.h"

enum { WIDE = 8 };

struct fill {
    struct ssa_counted loop;
    uint32_t store;
    uint8_t cond;     /* the loop continues while counter and bound are in this relation */
    uint64_t advance; /* what is added to the counter for WIDE bytes */
};

/* Returns the only store of a loop, in which no other instruction except the branch at the end
 * has an effect. Returns 0 if the loop is not like that. */
static uint32_t only_store(const struct ssa_function *f, const struct ssa_loops *l, uint32_t header,
                           uint32_t *branch)
{
    uint32_t store = 0, phis = 0;
    *branch = 0;
    for (uint32_t k = 0; k < l->member_count[header]; k++) {
        uint32_t block = l->members[l->member_first[header] + k];
        for (uint32_t i = f->blocks[block].first; i; i = f->insns[i].next) {
            enum ssa_op op = (enum ssa_op)f->insns[i].op;
            if (op == SSA_STORE && !store)
                store = i;
            else if (op == SSA_BRANCH && !*branch)
                *branch = i;
            else if (op == SSA_PHI)
                phis++;
            else if (op != SSA_JUMP && !ssa_has(op, 'p'))
                return 0;
        }
    }
    return phis == 1 ? store : 0;
}

/* Tells whether a value is available before the loop, because it is a constant or is computed
 * there. */
static bool known_before(const struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                         uint32_t header)
{
    return !value || f->insns[value].op == SSA_CONST ||
           !ssa_in_loop(l, f->insns[value].block, header);
}

static bool find_fill(struct fill *out, const struct ssa_function *f, const struct ssa_loops *l,
                      uint32_t header)
{
    struct ssa_counted *c = &out->loop;
    uint32_t branch;
    out->store = only_store(f, l, header, &branch);
    if (!out->store || !branch || !ssa_counted(c, f, l, header)) return false;
    const struct ssa_induction *counter = &c->counters[c->main];
    const struct ssa_insn *store = &f->insns[out->store], *end = &f->insns[branch];
    bool first = f->blocks[end->block].to[0] == c->stay;
    out->cond = first ? end->cond : ssa_cond_not[end->cond];
    bool ordered =
        out->cond == SSA_LT || out->cond == SSA_LE || out->cond == SSA_B || out->cond == SSA_BE;
    unsigned side = store->arg[1] == counter->phi;
    int64_t step;
    if (!ordered || end->arg[1] != c->bound || c->narrow || counter->narrow ||
        store->mem >= SSA_X64 || !known_before(f, l, c->bound, header) ||
        !known_before(f, l, store->arg[2], header) || store->arg[side] != counter->phi ||
        !known_before(f, l, store->arg[!side], header) || !ssa_is_const(f, counter->step, &step) ||
        step < 1 || step > WIDE)
        return false;
    uint64_t size = UINT64_C(1) << ssa_mem_bits[store->mem];
    out->advance = (uint64_t)step * (WIDE / size);
    /* The loop can be replaced only if its stores leave no gaps and do not overlap. */
    return (uint64_t)step << (side ? store->scale : 0) == size;
}

/* Returns a value for use before the loop, where constants may not have been computed yet. */
static uint32_t fill_outside(struct ssa_function *f, uint32_t value)
{
    return f->insns[value].op == SSA_CONST ? ssa_const(f, f->insns[value].imm) : value;
}

/* Returns a word that contains as many copies of the value as fit into it. */
static uint32_t fill_repeated(struct ssa_function *f, uint32_t value, enum ssa_mem mem)
{
    static const int64_t ones[] = {0x0101010101010101, 0x0001000100010001, 0x0000000100000001};
    static const uint8_t extend[] = {SSA_ZEXT8, SSA_ZEXT16, SSA_ZEXT32};
    unsigned bits = ssa_mem_bits[mem];
    uint64_t mask = (UINT64_C(1) << (8 << bits)) - 1;
    int64_t known;
    if (ssa_is_const(f, value, &known))
        return ssa_const(f, (int64_t)(((uint64_t)known & mask) * (uint64_t)ones[bits]));
    uint32_t low = ssa_op1(f, (enum ssa_op)extend[bits], SSA_INT, value);
    return ssa_op2(f, SSA_MUL, SSA_INT, false, low, ssa_const(f, ones[bits]));
}

/* Writes this code in front of the loop:
 *     last = bound - advance; if that wrapped, go to the old loop
 *     if not counter < last,                  go to the old loop
 *     do { store; counter += advance } while counter < last
 * No sum wraps, and at least one round is left to the old loop. */
static void write_fill(struct ssa_function *f, const struct fill *fill)
{
    const struct ssa_counted *c = &fill->loop;
    const struct ssa_induction *counter = &c->counters[c->main];
    const struct ssa_insn store = f->insns[fill->store];
    struct ssa_address at = {store.arg[0], store.arg[1], store.scale, store.imm};
    uint32_t *fixed = at.base == counter->phi ? &at.index : &at.base;
    bool is_signed = fill->cond == SSA_LT || fill->cond == SSA_LE;
    f->position = store.position;
    ssa_start(f, c->preheader);
    ssa_remove(f, f->blocks[c->preheader].last);
    ssa_unlink(f, c->preheader, c->header);
    uint32_t bound = fill_outside(f, c->bound), advance = ssa_const(f, (int64_t)fill->advance),
             last = ssa_op2(f, SSA_SUB, SSA_INT, false, bound, advance),
             value = fill_repeated(f, store.arg[2], (enum ssa_mem)store.mem), second = ssa_block(f),
             wide = ssa_block(f), phi = ssa_new(f, SSA_PHI, SSA_INT);
    if (*fixed) *fixed = fill_outside(f, *fixed);
    if (f->failed) return;
    *(fixed == &at.base ? &at.index : &at.base) = phi;
    ssa_branch(f, SSA_BRANCH, is_signed ? SSA_LT : SSA_B, false, last, bound, second, c->header);
    ssa_start(f, second);
    ssa_branch(f, SSA_BRANCH, fill->cond, false, counter->init, last, wide, c->header);
    ssa_start(f, wide);
    ssa_append(f, wide, phi);
    ssa_store(f, SSA_X64, at, value);
    uint32_t next = ssa_op2(f, SSA_ADD, SSA_INT, false, phi, advance);
    ssa_branch(f, SSA_BRANCH, fill->cond, false, next, last, wide, c->header);
    f->blocks[second].sealed = f->blocks[wide].sealed = true;
    ssa_phi_add(f, phi, counter->init);
    ssa_phi_add(f, phi, next);
    ssa_phi_add(f, counter->phi, counter->init);
    ssa_phi_add(f, counter->phi, counter->init);
    ssa_phi_add(f, counter->phi, next);
}

/* A loop that was changed is not looked at again: loops around it were looked at before it. */
void ssa_pass_fill(struct ssa_function *f)
{
    struct ssa_loops l;
    if (f->failed || !ssa_loops(&l, f)) return;
    for (uint32_t k = 0; k < l.count && !f->failed; k++) {
        uint32_t header = l.order[k];
        struct fill fill;
        if (l.header[header] == header + 1 && l.member_count[header] <= 2 &&
            find_fill(&fill, f, &l, header))
            write_fill(f, &fill);
    }
    ssa_loops_free(&l);
}
