/* Loops that do nothing but store one value to one place after the other: eight bytes at a time while more than
 * these are left, then the loop itself, which comes to the values that are used after it. */
#include "ssa/passes/induction.h"

enum { WIDE = 8 };

struct fill {
    struct ssa_counted loop;
    uint32_t store;
    uint8_t cond;     /* the loop goes on while it holds between counter and bound */
    uint64_t advance; /* of the counter, for WIDE bytes */
};

/* The only store of a loop whose other instructions have no effect but the branch that ends it; 0: none. */
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

/* Whether a value can be had before the loop: it is computed there, or a constant. */
static bool known_before(const struct ssa_function *f, const struct ssa_loops *l, uint32_t value,
                         uint32_t header)
{
    return !value || f->insns[value].op == SSA_CONST ||
           !ssa_in_loop(l, f->insns[value].block, header);
}

/* The bytes from one place to the next; 0: not the same for all, or unknown. */
static uint64_t stride(const struct ssa_function *f, const struct ssa_loops *l,
                       const struct ssa_induction *counter, const struct ssa_insn *store,
                       uint32_t header)
{
    unsigned side = store->arg[1] == counter->phi;
    int64_t step;
    if (store->arg[side] != counter->phi || !known_before(f, l, store->arg[!side], header) ||
        !ssa_is_const(f, counter->step, &step) || step < 1 || step > WIDE)
        return 0;
    return (uint64_t)step << (side ? store->scale : 0);
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
    if (!ordered || end->arg[1] != c->bound || c->narrow || counter->narrow ||
        store->mem >= SSA_X64 || !known_before(f, l, c->bound, header) ||
        !known_before(f, l, store->arg[2], header))
        return false;
    uint64_t size = UINT64_C(1) << ssa_mem_bits[store->mem];
    int64_t step = 0;
    ssa_is_const(f, counter->step, &step);
    out->advance = (uint64_t)step * (WIDE / size);
    return stride(f, l, counter, store, header) == size;
}

/* ---- writing it ---- */

static uint32_t before(struct ssa_function *f, uint32_t at, enum ssa_op op, uint32_t a, uint32_t b)
{
    uint32_t made = ssa_new(f, op, SSA_INT);
    if (!made) return 0;
    f->insns[made].arg[0] = a;
    f->insns[made].arg[1] = b;
    ssa_insert(f, at, made);
    return made;
}

static uint32_t value_before(struct ssa_function *f, uint32_t at, uint32_t value)
{
    if (!value || f->insns[value].op != SSA_CONST) return value;
    return ssa_const_before(f, at, (uint64_t)f->insns[value].imm);
}

/* The value that is stored, as often as it fits. */
static uint32_t repeated(struct ssa_function *f, uint32_t at, uint32_t value, enum ssa_mem mem)
{
    static const uint64_t ones[] = {UINT64_C(0x0101010101010101), UINT64_C(0x0001000100010001),
                                    UINT64_C(0x0000000100000001)};
    static const uint8_t extend[] = {SSA_ZEXT8, SSA_ZEXT16, SSA_ZEXT32};
    unsigned bits = ssa_mem_bits[mem];
    int64_t known;
    if (ssa_is_const(f, value, &known)) {
        uint64_t mask = (UINT64_C(1) << (8 << bits)) - 1;
        return ssa_const_before(f, at, ((uint64_t)known & mask) * ones[bits]);
    }
    uint32_t low = before(f, at, (enum ssa_op)extend[bits], value, 0);
    return before(f, at, SSA_MUL, low, ssa_const_before(f, at, ones[bits]));
}

static void end_with_branch(struct ssa_function *f, uint32_t block, uint8_t cond, uint32_t a,
                            uint32_t b, uint32_t yes, uint32_t no)
{
    uint32_t branch = ssa_new(f, SSA_BRANCH, SSA_VOID);
    if (!branch) return;
    f->insns[branch].cond = cond;
    f->insns[branch].arg[0] = a;
    f->insns[branch].arg[1] = b;
    ssa_append(f, block, branch);
    f->blocks[block].to[0] = yes;
    f->blocks[block].to[1] = no;
    f->blocks[block].sealed = true;
}

/* One more value for a phi, whose block gets one more predecessor. */
static void extend_phi(struct ssa_function *f, uint32_t phi, uint32_t value)
{
    uint32_t count = f->insns[phi].count, old = f->insns[phi].list, list = ssa_list(f, NULL, 0);
    for (uint32_t k = 0; k <= count && !f->failed; k++) {
        uint32_t item = k < count ? f->pool[old + k] : value;
        ssa_list(f, &item, 1);
    }
    f->insns[phi].list = list;
    f->insns[phi].count = count + 1;
}

/* In front of the loop:      last = bound - advance; if it wrapped: to the loop
 *                            if not counter < last:  to the loop
 *                            do store; counter += advance; while counter < last
 * so that no sum wraps, and one round at least is left to the loop. */
static void write_fill(struct ssa_function *f, const struct fill *fill)
{
    const struct ssa_counted *c = &fill->loop;
    const struct ssa_induction *counter = &c->counters[c->main];
    struct ssa_insn store = f->insns[fill->store];
    uint32_t header = c->header, jump = f->blocks[c->preheader].last;
    uint32_t bound = value_before(f, jump, c->bound);
    uint32_t advance = ssa_const_before(f, jump, fill->advance);
    uint32_t last = before(f, jump, SSA_SUB, bound, advance);
    bool is_signed = fill->cond == SSA_LT || fill->cond == SSA_LE;
    for (unsigned k = 0; k < 2; k++)
        if (store.arg[k] != counter->phi) store.arg[k] = value_before(f, jump, store.arg[k]);
    store.arg[2] = repeated(f, jump, store.arg[2], (enum ssa_mem)store.mem);
    store.mem = SSA_X64;
    uint32_t second = ssa_block(f), wide = ssa_block(f), phi = ssa_new(f, SSA_PHI, SSA_INT);
    uint32_t made = ssa_new(f, SSA_STORE, SSA_VOID), next = ssa_new(f, SSA_ADD, SSA_INT);
    const uint32_t both[] = {counter->init, next};
    uint32_t list = ssa_list(f, both, 2);
    if (f->failed) return;
    for (unsigned k = 0; k < 2; k++)
        if (store.arg[k] == counter->phi) store.arg[k] = phi;
    f->insns[phi].list = list;
    f->insns[phi].count = 2;
    f->insns[made] = store;
    f->insns[next].arg[0] = phi;
    f->insns[next].arg[1] = advance;
    ssa_append(f, wide, phi);
    ssa_append(f, wide, made);
    ssa_append(f, wide, next);
    ssa_remove(f, jump);
    end_with_branch(f, c->preheader, is_signed ? SSA_LT : SSA_B, last, bound, second, header);
    end_with_branch(f, second, fill->cond, counter->init, last, wide, header);
    end_with_branch(f, wide, fill->cond, next, last, wide, header);
    const uint32_t edges[][2] = {
        {c->preheader, second}, {second, wide}, {wide, wide}, {second, header}, {wide, header}};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) ssa_edge(f, edges[k][0], edges[k][1]);
    extend_phi(f, counter->phi, counter->init);
    extend_phi(f, counter->phi, next);
}

/* A loop that was changed is not looked at again: those around it come before it. */
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
