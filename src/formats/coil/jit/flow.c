/* This file finds what the compiler must know about a function before it makes code: its blocks,
 * which variables are live, and which flags are read where. lower_flags.c knows which flags
 * native code can compute. */
#include "coil/jit/left_to_native.h"
#include "coil/vm/step/step.h"
#include <assert.h>
#include <stdlib.h>

#define NONE UINT32_MAX
enum { BLOCKS_MAX = 1 << 20 };

void coil_flow_free(struct coil_flow *f)
{
    for (uint32_t i = 0; f->targets && f->computed && i < f->end - f->first; i++)
        /* Lists of the targets of computed jumps are owned by this struct and freed here; other
         * lists belong to a table. */
        if (f->computed[i]) free(f->targets[i]);
    free(f->targets);
    free(f->target_counts);
    free(f->computed);
    free(f->blocks);
    free(f->block_at);
    free(f->live_in);
    free(f->touches);
    free(f->touched);
    free(f->replaced);
    free(f->read);
    free(f->types);
    free(f->flags_live);
    free(f->by_step);
    *f = (struct coil_flow){0};
}

uint8_t coil_flags_written(const struct coil_program *p, uint32_t cell)
{
    const struct coil_step *s = p->steps[cell];
    return s ? coil_ops[s->opcode].writes : 0;
}

static uint8_t written_type(const struct coil_step *s)
{
    struct coil_roles r = coil_roles_of(s);
    return coil_operation_type(s, &r);
}

static bool works_on_lanes(const struct coil_step *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (coil_is_array(s->places[i].type) && s->places[i].at != COIL_AT_REGISTER) return true;
    return false;
}

/* Returns the flags that an instruction always writes. Operations on reals and on lanes leave
 * some flags unchanged. */
static uint8_t flags_replaced(const struct coil_program *p, uint32_t cell)
{
    const struct coil_step *s = p->steps[cell];
    uint8_t written = coil_flags_written(p, cell), group = s ? coil_ops[s->opcode].group : 0;
    if (!written || group == COIL_G_VECTOR) return 0;
    if (group != COIL_G_ARITH && group != COIL_G_BITS && group != COIL_G_COMPARE) return written;
    uint8_t type = written_type(s);
    if (works_on_lanes(s)) return s->opcode == COIL_OP_CMP ? COIL_Z | COIL_N : 0;
    if (!coil_is_scalar(type)) return 0;
    if (coil_types[type].family != COIL_F_REAL) return written;
    return s->opcode == COIL_OP_CMP ? written : 0;
}

uint8_t coil_flags_read(const struct coil_program *p, uint32_t cell)
{
    const struct coil_step *s = p->steps[cell];
    if (!s) return 0;
    if (s->opcode == COIL_OP_ADDC || s->opcode == COIL_OP_SUBB) return s->count == 3 ? COIL_C : 0;
    bool flow = s->opcode == COIL_OP_BR || s->opcode == COIL_OP_CALL || s->opcode == COIL_OP_RET;
    if (!flow || !s->count || s->places[0].form != COIL_PARAM) return 0;
    switch (s->places[0].value & ~UINT64_C(1)) {
    case COIL_IF_EQ:
    case COIL_IF_Z: return COIL_Z;
    case COIL_IF_GT:
    case COIL_IF_LT: return COIL_N | COIL_Z | COIL_S | COIL_V;
    case COIL_IF_O: return COIL_V;
    case COIL_IF_S: return COIL_S;
    case COIL_IF_C: return COIL_C;
    case COIL_IF_D: return COIL_D;
    case COIL_IF_N: return COIL_N;
    default: return COIL_P;
    }
}

/* Returns the number of a cell, counted from the start of its function. The target of a branch
 * or a table is never in another function: a jump to another function is INDIRECT (load.c), and
 * a table with such a target is treated as unknown (tables.c). */
static uint32_t number_of(const struct coil_flow *f, uint32_t cell)
{
    assert(cell >= f->first && cell < f->end);
    return cell - f->first;
}

static bool is_branch(uint16_t op) { return op >= COIL_CELL_JMP && op <= COIL_CELL_BR_LTE; }

static bool ends_block(uint16_t op)
{
    return is_branch(op) || op == COIL_CELL_RET || op == COIL_CELL_RET_IF || op == COIL_CELL_HALT ||
           op == COIL_CELL_INDIRECT || op == COIL_CELL_TRAP || op == COIL_CELL_BAD ||
           op == COIL_CELL_END || op == COIL_CELL_CALL_IF;
}

static bool find_targets(struct coil_flow *f, const struct coil_vm *vm, uint32_t cell)
{
    uint32_t i = cell - f->first;
    const struct coil_table *t = coil_table_of(vm, cell);
    if (t) {
        f->targets[i] = t->cells;
        f->target_counts[i] = t->count;
    }
    if (!f->native || f->target_counts[i] || !coil_native_jumps(f->p, cell)) return true;
    f->computed[i] = 1;
    return coil_native_labels(f->native, f->function, &f->targets[i], &f->target_counts[i]);
}

static bool find_blocks(struct coil_flow *f)
{
    uint32_t n = f->end - f->first, count = 0;
    uint8_t *leader = calloc(n + 1, 1);
    if (!leader) return false;
    leader[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct coil_cell *c = &f->p->cells[f->first + i];
        if (is_branch(c->op)) leader[number_of(f, c->a)] = 1;
        if (ends_block(c->op)) leader[i + 1] = 1;
        for (uint32_t k = 0; k < f->target_counts[i]; k++)
            leader[number_of(f, f->targets[i][k])] = 1;
    }
    for (uint32_t i = 0; i < n; i++) count += leader[i];
    f->blocks = calloc(count + 1, sizeof *f->blocks);
    if (f->blocks && count <= BLOCKS_MAX)
        for (uint32_t i = 0; i < n; i++) {
            f->block_at[i] = NONE;
            if (!leader[i]) continue;
            f->block_at[i] = f->block_count;
            if (f->block_count) f->blocks[f->block_count - 1].end = f->first + i;
            f->blocks[f->block_count++] =
                (struct coil_flow_block){.first = f->first + i, .end = f->end, .to = {NONE, NONE}};
        }
    free(leader);
    return f->blocks && count <= BLOCKS_MAX;
}

static uint32_t block_of(const struct coil_flow *f, uint32_t cell)
{
    return f->block_at[number_of(f, cell)];
}

/* Tells whether the next block can follow an indirect jump: it can after a call of an address,
 * and in an object file after a conditional jump. */
static bool block_goes_on(const struct coil_flow *f, uint32_t cell)
{
    const struct coil_step *s = f->p->steps[cell];
    if (coil_calls_address(f->p, cell)) return true;
    if (!f->native || f->p->cells[cell].op != COIL_CELL_INDIRECT) return false;
    bool conditional = s->count && s->places[0].form == COIL_PARAM;
    return s->opcode == COIL_OP_CALL || (s->opcode == COIL_OP_BR && conditional);
}

static bool link_blocks(struct coil_flow *f)
{
    for (uint32_t b = 0; b < f->block_count; b++) {
        struct coil_flow_block *block = &f->blocks[b];
        const struct coil_cell *c = &f->p->cells[block->end - 1];
        uint32_t next = b + 1 < f->block_count ? b + 1 : NONE;
        if (c->op == COIL_CELL_JMP) {
            block->to[0] = block_of(f, c->a);
        } else if (is_branch(c->op)) {
            block->to[0] = block_of(f, c->a);
            block->to[1] = next;
        } else if (!ends_block(c->op) || c->op == COIL_CELL_RET_IF || c->op == COIL_CELL_CALL_IF ||
                   block_goes_on(f, block->end - 1)) {
            block->to[0] = next;
        }
    }
    /* The code below finds the blocks that can be reached, and counts their predecessors. `work`
     * is a stack of blocks. */
    uint32_t *work = malloc((f->block_count + 1) * sizeof *work), n = 0;
    if (!work) return false;
    work[n++] = 0;
    f->blocks[0].reached = true;
    /* The caller of the function counts as the predecessor of its first block. */
    f->blocks[0].preds = 1;
    while (n) {
        uint32_t b = work[--n], cell = f->blocks[b].end - 1 - f->first;
        uint32_t more = f->target_counts[cell];
        for (uint32_t k = 0; k < 2 + more; k++) {
            uint32_t to = k < 2 ? f->blocks[b].to[k] : block_of(f, f->targets[cell][k - 2]);
            if (to == NONE) continue;
            f->blocks[to].preds++;
            if (to <= b) f->blocks[to].loops = true;
            if (f->blocks[to].reached) continue;
            f->blocks[to].reached = true;
            work[n++] = to;
        }
    }
    free(work);
    return true;
}

static uint8_t flags_after(const struct coil_flow *f, uint32_t b)
{
    uint32_t cell = f->blocks[b].end - 1 - f->first;
    uint8_t live = 0;
    for (uint32_t k = 0; k < 2 + f->target_counts[cell]; k++) {
        uint32_t to = k < 2 ? f->blocks[b].to[k] : block_of(f, f->targets[cell][k - 2]);
        if (to != NONE) live |= f->blocks[to].flags_in;
    }
    return live;
}

/* This is a list of blocks that must be looked at again, and for each block a list of its
 * predecessors. When the live set at the start of a block changes, the predecessors are looked
 * at again, so the amount of work does not depend on the order of the blocks. */
struct coil_flow_work {
    /* first[b] says where the predecessors of block b begin in `before`. The array has one more
     * entry for the end. */
    uint32_t *first, *before;
    uint32_t *open, count;
    bool *waits;
};

static void work_free(struct coil_flow_work *w)
{
    free(w->first);
    free(w->before);
    free(w->open);
    free(w->waits);
}

static uint32_t flow_successor(const struct coil_flow *f, uint32_t b, uint32_t k)
{
    uint32_t cell = f->blocks[b].end - 1 - f->first;
    return k < 2 ? f->blocks[b].to[k] : block_of(f, f->targets[cell][k - 2]);
}

static uint32_t flow_successors(const struct coil_flow *f, uint32_t b)
{
    return 2 + f->target_counts[f->blocks[b].end - 1 - f->first];
}

static bool work_begin(struct coil_flow_work *w, const struct coil_flow *f)
{
    uint32_t n = f->block_count;
    size_t edges = 0;
    for (uint32_t b = 0; b < n; b++) edges += flow_successors(f, b);
    *w = (struct coil_flow_work){.first = calloc((size_t)n + 2, sizeof *w->first),
                                 .before = malloc((edges + 1) * sizeof *w->before),
                                 .open = malloc(((size_t)n + 1) * sizeof *w->open),
                                 .waits = malloc(((size_t)n + 1) * sizeof *w->waits)};
    if (!w->first || !w->before || !w->open || !w->waits) return false;
    for (uint32_t b = 0; b < n && ssa_work_do(f->work, flow_successors(f, b)); b++)
        for (uint32_t k = 0; k < flow_successors(f, b); k++)
            if (flow_successor(f, b, k) != NONE) w->first[flow_successor(f, b, k) + 2]++;
    for (uint32_t b = 2; b < n + 2; b++) w->first[b] += w->first[b - 1];
    if (f->work && f->work->over) return false;
    for (uint32_t b = 0; b < n && ssa_work_do(f->work, flow_successors(f, b)); b++)
        for (uint32_t k = 0; k < flow_successors(f, b); k++)
            if (flow_successor(f, b, k) != NONE)
                w->before[w->first[flow_successor(f, b, k) + 1]++] = b;
    /* The last block is pushed last, so that it is looked at first. */
    for (uint32_t b = 0; b < n; b++) {
        w->open[w->count++] = b;
        w->waits[b] = true;
    }
    return true;
}

static uint32_t work_next(struct coil_flow_work *w)
{
    uint32_t b = w->open[--w->count];
    w->waits[b] = false;
    return b;
}

static void work_changed(struct coil_flow_work *w, uint32_t b)
{
    for (uint32_t k = w->first[b]; k < w->first[b + 1]; k++) {
        if (w->waits[w->before[k]]) continue;
        w->waits[w->before[k]] = true;
        w->open[w->count++] = w->before[k];
    }
}

/* Computes the flags that are live before a block from those that are live after it. If `note`
 * is true, the function also stores the flags that are live after each cell. */
static uint8_t flags_through(struct coil_flow *f, uint32_t b, bool note)
{
    uint8_t live = flags_after(f, b);
    for (uint32_t c = f->blocks[b].end; c-- > f->blocks[b].first;) {
        if (note) f->flags_live[c - f->first] = live;
        live = (uint8_t)((live & ~f->replaced[c - f->first]) | f->read[c - f->first]);
    }
    return live;
}

static bool find_flags(struct coil_flow *f)
{
    struct coil_flow_work w;
    for (uint32_t c = f->first; c < f->end; c++) {
        f->replaced[c - f->first] = flags_replaced(f->p, c);
        f->read[c - f->first] = coil_flags_read(f->p, c);
    }
    bool ok = work_begin(&w, f);
    while (ok && w.count) {
        uint32_t b = work_next(&w);
        ok = ssa_work_do(f->work, flow_successors(f, b));
        uint8_t live = flags_through(f, b, false);
        if (live == f->blocks[b].flags_in) continue;
        f->blocks[b].flags_in = live;
        work_changed(&w, b);
    }
    work_free(&w);
    for (uint32_t b = 0; ok && b < f->block_count; b++) flags_through(f, b, true);
    return ok;
}

static bool is_chained(const struct coil_step *s)
{
    return s->opcode == COIL_OP_ADDC || s->opcode == COIL_OP_SUBB;
}

/* Tells whether an ADDC or SUBB certainly has native code. Native code takes the carry from a
 * value, and the general form takes it from the machine. */
static bool takes_carry(const struct coil_flow *f, uint32_t cell)
{
    const struct coil_step *s = f->p->steps[cell];
    uint8_t live = f->flags_live[cell - f->first] & coil_flags_written(f->p, cell);
    if (!is_chained(s) || f->by_step[cell - f->first] || live & ~COIL_C) return false;
    for (unsigned i = 0; i < s->count; i++) {
        const struct coil_place *at = &s->places[i];
        bool plain = at->at == COIL_AT_REGISTER || coil_is_int(at->op);
        if (!plain || at->ext & (COIL_SATURATE | COIL_VOLATILE | COIL_ATOMIC)) return false;
    }
    return coil_is_int(written_type(s));
}

/* Finds, for each instruction that reads flags, the operation that wrote them: in the same
 * block, or in the only predecessor of that block. If this fails, all operations whose flags are
 * read get their general form, which computes flags. */
static void find_readers(struct coil_flow *f)
{
    bool all = false, again = false;
    /* last[b] is the last cell of block b that writes flags. */
    uint32_t *last = malloc((f->block_count + 1) * sizeof *last);
    /* from[b] is the only predecessor of block b, or NONE if it has several. */
    uint32_t *from = malloc((f->block_count + 1) * sizeof *from);
    if (!last || !from) all = true;
    for (uint32_t b = 0; !all && b < f->block_count; b++) from[b] = NONE;
    for (uint32_t b = 0; !all && b < f->block_count; b++)
        for (int k = 0; k < 2; k++) {
            uint32_t to = f->blocks[b].reached ? f->blocks[b].to[k] : NONE;
            if (to != NONE && f->blocks[to].preds == 1) from[to] = b;
        }
    for (uint32_t b = 0; !all && b < f->block_count; b++) {
        if (!f->blocks[b].reached) continue;
        uint32_t writer = b && from[b] < b ? last[from[b]] : NONE;
        for (uint32_t c = f->blocks[b].first; c < f->blocks[b].end; c++) {
            uint8_t read = f->read[c - f->first], written = coil_flags_written(f->p, c);
            const struct coil_step *s = f->p->steps[c],
                                   *w = writer == NONE ? NULL : f->p->steps[writer];
            if (read && (!w || (read & ~f->replaced[writer - f->first]))) {
                all = true;
            } else if (read) {
                uint8_t group = coil_ops[w->opcode].group;
                bool arith =
                    group == COIL_G_ARITH || group == COIL_G_BITS || group == COIL_G_COMPARE;
                bool flow = s->count && s->places[0].form == COIL_PARAM;
                uint8_t condition = flow ? (uint8_t)s->places[0].value : COIL_IF_C;
                bool known = arith && (flow || takes_carry(f, c)) &&
                             ((flow && works_on_lanes(w)) ||
                              coil_lower_knows(w->opcode, written_type(w), condition));
                if (!known) {
                    again |= is_chained(w) && !f->by_step[writer - f->first];
                    f->by_step[writer - f->first] = 1;
                }
            }
            if (written) writer = c;
            uint16_t op = f->p->cells[c].op;
            if (op == COIL_CELL_CALL || op == COIL_CELL_CALL_IF || op == COIL_CELL_INDIRECT)
                writer = NONE;
        }
        last[b] = writer;
    }
    for (uint32_t c = f->first; c < f->end; c++)
        if (all && f->flags_live[c - f->first] & coil_flags_written(f->p, c))
            f->by_step[c - f->first] = 1;
    free(last);
    free(from);
    if (!again) return;
    /* One operation of a chain of carries has its general form, so all operations of the chain
     * must have it. */
    for (uint32_t c = f->first; c < f->end; c++)
        if (f->p->steps[c] && is_chained(f->p->steps[c])) f->by_step[c - f->first] = 1;
    find_readers(f);
}

struct touching {
    struct coil_flow *f;
    uint32_t count;
};

static void flow_note(void *user, uint8_t at, uint32_t slot, bool write)
{
    struct touching *t = user;
    if (at == COIL_AT_SLOT) t->f->touches[t->count++] = (uint16_t)(slot << 1 | write);
}

static bool find_touches(struct coil_flow *f)
{
    /* One instruction uses at most this many slots: five operands, each with one or two slots,
     * read and written. */
    enum { MOST = 16 };
    uint32_t n = f->end - f->first;
    f->touches = malloc(((size_t)n * MOST + 1) * sizeof *f->touches);
    f->touched = malloc(((size_t)n + 1) * sizeof *f->touched);
    if (!f->touches || !f->touched) return false;
    struct touching t = {f, 0};
    for (uint32_t i = 0; i < n; i++) {
        f->touched[i] = t.count;
        if (f->p->steps[f->first + i]) coil_step_touches(f->p->steps[f->first + i], flow_note, &t);
    }
    f->touched[n] = t.count;
    return true;
}

/* Changes the set of slots that are live after a cell to the set before it. */
void coil_flow_back(const struct coil_flow *f, uint32_t cell, uint64_t *live)
{
    const uint16_t *from = f->touches + f->touched[cell - f->first],
                   *to = f->touches + f->touched[cell - f->first + 1];
    for (const uint16_t *t = from; t < to; t++)
        if (*t & 1) live[*t >> 7] &= ~(UINT64_C(1) << (*t >> 1) % 64);
    for (const uint16_t *t = from; t < to; t++)
        if (!(*t & 1)) live[*t >> 7] |= UINT64_C(1) << (*t >> 1) % 64;
}

void coil_flow_after(const struct coil_flow *f, uint32_t b, uint64_t *live)
{
    uint32_t cell = f->blocks[b].end - 1 - f->first;
    memset(live, 0, f->words * sizeof *live);
    for (uint32_t k = 0; k < 2 + f->target_counts[cell]; k++) {
        uint32_t to = k < 2 ? f->blocks[b].to[k] : block_of(f, f->targets[cell][k - 2]);
        for (uint32_t w = 0; to != NONE && w < f->words; w++)
            live[w] |= f->live_in[(size_t)to * f->words + w];
    }
    /* If only the interpreter can find the target of a jump, every variable may be read there. */
    uint16_t op = f->p->cells[f->blocks[b].end - 1].op;
    if (op == COIL_CELL_INDIRECT && !f->target_counts[cell] && !f->native &&
        f->blocks[b].to[0] == NONE)
        memset(live, 0xff, f->words * sizeof *live);
}

/* Finds the live slots. It first finds, for each block, what the block reads before writing it,
 * and what it writes. Then it passes live sets from block to block until nothing changes. */
static bool find_live(struct coil_flow *f)
{
    enum { WORK_WORD = 16 }; /* amount of work that counts for three words of memory */
    size_t words = f->words, all = (size_t)f->block_count * words + 1;
    struct coil_flow_work w = {0};
    if (!ssa_work_do(f->work, all * WORK_WORD)) return false;
    f->live_in = calloc(all, sizeof *f->live_in);
    uint64_t *live = malloc((words + 1) * sizeof *live), *written = calloc(all, sizeof *written),
             *reads = calloc(all, sizeof *reads);
    bool ok = f->live_in && live && written && reads;
    for (uint32_t b = 0; ok && b < f->block_count; b++)
        for (uint32_t c = f->blocks[b].end; c-- > f->blocks[b].first;) {
            for (uint32_t t = f->touched[c - f->first]; t < f->touched[c - f->first + 1]; t++)
                if (f->touches[t] & 1)
                    written[b * words + (f->touches[t] >> 7)] |= UINT64_C(1)
                                                                 << (f->touches[t] >> 1) % 64;
            coil_flow_back(f, c, reads + b * words);
        }
    ok = ok && work_begin(&w, f);
    while (ok && w.count) {
        uint32_t b = work_next(&w);
        bool changed = false;
        ok = ssa_work_do(f->work, words * (flow_successors(f, b) + 1));
        coil_flow_after(f, b, live);
        for (size_t k = 0; k < words; k++) {
            uint64_t *in = f->live_in + b * words + k,
                     now = reads[b * words + k] | (live[k] & ~written[b * words + k]);
            changed |= *in != now;
            *in = now;
        }
        if (changed) work_changed(&w, b);
    }
    work_free(&w);
    free(live);
    free(written);
    free(reads);
    return ok;
}

static void find_types(struct coil_flow *f)
{
    for (uint32_t c = f->first; c < f->end; c++) {
        const struct coil_step *s = f->p->steps[c];
        for (unsigned i = 0; s && i < s->count; i++) {
            const struct coil_place *p = &s->places[i];
            if (p->at == COIL_AT_SLOT && p->type) f->types[p->slot] = p->type->op;
            if (p->at != COIL_AT_MEMORY) continue;
            const struct coil_term *terms[] = {&p->base, &p->index};
            for (int k = 0; k < 2; k++)
                if (terms[k]->at == COIL_AT_SLOT && f->types[terms[k]->slot] == COIL_T_VOID)
                    f->types[terms[k]->slot] = terms[k]->op;
        }
    }
}

bool coil_flow(struct coil_flow *f, const struct coil_vm *vm, const struct coil_native *native,
               uint32_t function, bool lives, struct ssa_work *work)
{
    enum {
        TARGETS = 1 << 16,
        TARGETS_PER_CELL = 16,
        TARGET_STEPS = 64
    }; /* TARGET_STEPS: amount of work for a target, which takes memory twice */
    const struct coil_program *p = &vm->program;
    *f = (struct coil_flow){
        .p = p, .native = native, .function = function, .first = p->functions[function].first};
    f->work = work;
    f->end = f->first;
    while (f->end < p->count && p->owners[f->end] == function) f->end++;
    f->slots = p->functions[function].slots;
    f->words = (f->slots + 63) / 64;
    uint32_t n = f->end - f->first;
    if (!n || f->slots > 4096) return false;
    f->block_at = calloc(n + 1, sizeof *f->block_at);
    f->flags_live = calloc(n + 1, 1);
    f->by_step = calloc(n + 1, 1);
    f->replaced = malloc(n + 1);
    f->read = malloc(n + 1);
    f->types = malloc(f->slots + 1);
    f->targets = calloc(n + 1, sizeof *f->targets);
    f->target_counts = calloc(n + 1, sizeof *f->target_counts);
    f->computed = calloc(n + 1, 1);
    if (!f->block_at || !f->flags_live || !f->by_step || !f->types || !f->replaced || !f->read ||
        !f->targets || !f->target_counts || !f->computed)
        return false;
    memset(f->types, COIL_T_VOID, f->slots + 1);
    size_t targets = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!find_targets(f, vm, f->first + i)) return false;
        if (native && !ssa_work_do(work, (uint64_t)f->target_counts[i] * TARGET_STEPS))
            return false;
        targets += f->target_counts[i];
        if (targets > TARGETS + (size_t)n * TARGETS_PER_CELL && !native) return false;
    }
    if (!find_blocks(f) || !link_blocks(f) || !find_flags(f)) return false;
    find_readers(f);
    find_types(f);
    return !lives || (find_touches(f) && find_live(f));
}
