/* Computes which registers are live, and drops instructions whose results are not read. */
#include "pvm/link/optimise/optimise.h"
#include <stdlib.h>

/* RETURNS has the registers that are live after a return by the C convention: ra, sp, s0, s1,
 * a0, a1. */
enum { RETURNS = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8, RA = 0, SP = 1 };

/* Tells whether every `ret` is a return by the C convention. In compiled code only calls and
 * loads write ra. Code that was written by hand may use ra for other things; then nothing is
 * assumed about returns. */
static bool returns_are_c(const struct link *l)
{
    for (size_t i = 0; i < l->block_count; i++) {
        const struct link_block *b = &l->blocks[i];
        for (uint32_t k = 0; b->reached && k < b->count; k++) {
            const struct link_insn *in = &b->insns[k];
            if (!(link_writes(in) & link_bit(RA)) || link_is_load(in->op)) continue;
            if (in->op != PVM_OP_load_imm_and_jump && in->op != PVM_OP_load_imm_and_jump_indirect)
                return false;
        }
    }
    return true;
}

struct liveness {
    struct link *l;
    uint16_t *in; /* for each block: the registers that are live at its start */
    bool c_returns;
};

static uint16_t live_out(const struct liveness *w, const struct link_block *b)
{
    const struct link_insn *last = link_last(b);
    uint16_t next = b->next == LINK_NONE ? LINK_ALL_REGS : w->in[b->next];
    if (!last) return next;
    switch (link_kind(last->op)) {
    case PVM_DO_BRANCH2:
    case PVM_DO_BRANCHI: return next | w->in[last->to];
    case PVM_DO_LOADI_JUMP: return w->in[last->to];
    case PVM_DO_JUMP: return w->in[last->to];
    case PVM_DO_JUMP_DYNAMIC:
        return w->c_returns && last->a == RA && !last->imm1 ? RETURNS : LINK_ALL_REGS;
    case PVM_DO_TRAP: return 0;
    default: return LINK_ALL_REGS;
    }
}

static uint16_t live_before(const struct link_insn *in, uint16_t live)
{
    uint16_t writes = link_writes(in);
    /* The host need not write the registers that it may change. */
    if (in->op == PVM_OP_ecalli) writes = 0;
    return (uint16_t)((live & ~writes) | link_reads(in));
}

static uint16_t dead_walk(const struct liveness *w, struct link_block *b)
{
    uint16_t live = live_out(w, b);
    for (uint32_t k = b->count; k-- > 0;) {
        b->insns[k].live = live;
        live = live_before(&b->insns[k], live);
    }
    return live;
}

/* A struct sources has the predecessors of each block. They must be looked at again when the
 * live registers of the block change. */
struct sources {
    /* first[i] is where the part of block i starts in `from`; it ends where the part of the next
     * block starts. */
    uint32_t *first;
    uint32_t *from;
};

static unsigned block_ways_out(const struct link_block *b, uint32_t to[2])
{
    const struct link_insn *last = link_last(b);
    unsigned count = 0;
    if (last && pvm_has_target(last->op)) to[count++] = last->to;
    if (b->next != LINK_NONE) to[count++] = b->next;
    return count;
}

static bool find_sources(struct link *l, struct sources *s)
{
    uint32_t to[2];
    s->first = calloc(l->block_count + 2, sizeof *s->first);
    s->from = malloc((2 * l->block_count + 1) * sizeof *s->from);
    if (!s->first || !s->from) return error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    for (size_t i = 0; i < l->block_count; i++)
        for (unsigned n = l->blocks[i].reached ? block_ways_out(&l->blocks[i], to) : 0; n-- > 0;)
            s->first[to[n] + 1]++;
    for (size_t i = 0; i < l->block_count; i++) s->first[i + 1] += s->first[i];
    for (uint32_t i = 0; i < l->block_count; i++)
        for (unsigned n = l->blocks[i].reached ? block_ways_out(&l->blocks[i], to) : 0; n-- > 0;)
            s->from[s->first[to[n]]++] = i;
    /* The loop above has moved each start to the end of its part, and that is the start of the
     * next part. */
    memmove(s->first + 1, s->first, l->block_count * sizeof *s->first);
    s->first[0] = 0;
    return true;
}

static bool dead_solve(struct liveness *w)
{
    struct link *l = w->l;
    struct sources s = {0};
    struct opt_queue queue = {0};
    bool ok = find_sources(l, &s) && opt_queue_init(&queue, l);
    for (size_t i = l->block_count; ok && i-- > 0;)
        if (l->blocks[i].reached) opt_queue_add(&queue, (uint32_t)i);
    for (uint32_t i; ok && (i = opt_queue_take(&queue)) != LINK_NONE;) {
        uint16_t live = dead_walk(w, &l->blocks[i]);
        if (live == w->in[i]) continue;
        w->in[i] = live;
        for (uint32_t k = s.first[i]; k < s.first[i + 1]; k++) opt_queue_add(&queue, s.from[k]);
    }
    opt_queue_free(&queue);
    free(s.first);
    free(s.from);
    return ok;
}

/* Tells whether the instruction may be dropped when its result is not read. Of loads, only those
 * may that cannot trap. */
static bool dead_removable(const struct link *l, const struct link_insn *in)
{
    if (link_is_pure(in->op)) return true;
    if (link_kind(in->op) == PVM_DO_LOAD) return in->b == SP;
    if (link_kind(in->op) != PVM_DO_LOADX) return false;
    uint32_t address = (uint32_t)in->imm1;
    return (address >= 0x10000 && address - 0x10000 + 8 <= l->ro_size) ||
           (address >= l->rw_address && address - l->rw_address + 8 <= l->rw_size);
}

static bool insn_is_nothing(const struct link_insn *in)
{
    if (in->op == PVM_OP_move_reg) return in->a == in->d;
    if (in->op == PVM_OP_add_imm_64) return in->a == in->b && !in->imm1 && in->ref == REF_NONE;
    return false;
}

static void dead_sweep(const struct liveness *w, struct link_block *b, bool *changed)
{
    uint16_t live = live_out(w, b);
    uint32_t kept = b->count;
    for (uint32_t k = b->count; k-- > 0;) {
        struct link_insn in = b->insns[k];
        uint16_t writes = link_writes(&in);
        bool dead = writes && !(writes & live) && dead_removable(w->l, &in);
        if (dead || insn_is_nothing(&in)) {
            *changed = true;
            continue;
        }
        in.live = live;
        live = live_before(&in, live);
        b->insns[--kept] = in;
    }
    b->insns += kept;
    b->count -= kept;
}

/* Drops an instruction that saves a borrowed register when nothing restores the register. A slot
 * is read only in the block that wrote it. */
static void sweep_spills(const struct link *l, struct link_block *b, bool *changed)
{
    const struct link_section *s = &l->sections[l->spill];
    bool read[LINK_SPILL_SLOTS] = {false};
    if (!s->reached) return;
    for (uint32_t k = b->count; k-- > 0;) {
        struct link_insn *in = &b->insns[k];
        enum pvm_kind kind = link_kind(in->op);
        uint32_t slot = ((uint32_t)in->imm1 - s->placed) / LINK_SPILL_BYTES;
        if ((kind != PVM_DO_LOADX && kind != PVM_DO_STOREX) || slot >= LINK_SPILL_SLOTS) continue;
        if (kind == PVM_DO_LOADX) {
            read[slot] = true;
        } else if (!read[slot]) {
            *in = (struct link_insn){
                .op = PVM_OP_move_reg, .section = in->section, .offset = in->offset};
            *changed = true;
        } else {
            read[slot] = false;
        }
    }
}

bool opt_dead(struct link *l, bool *changed)
{
    struct liveness w = {.l = l, .c_returns = returns_are_c(l)};
    w.in = calloc(l->block_count + 1, sizeof *w.in);
    if (!w.in) return error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    bool ok = dead_solve(&w);
    for (size_t i = 0; ok && i < l->block_count; i++)
        if (l->blocks[i].reached) {
            dead_sweep(&w, &l->blocks[i], changed);
            sweep_spills(l, &l->blocks[i], changed);
        }
    free(w.in);
    return ok;
}
