/* Makes the cells of a program (cells.h) from its code bytes. One pass makes the cells of all
 * instructions, and then the jumps get their distances. */
#include "pvm/vm/cells.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/error.h"
#include "pvm/vm/ops.h"

struct builder {
    struct pvm_cells *p;
    /* For each pc: the entry cell of the block that starts there, or the cell of the
     * instruction; 0: there is none. */
    uint32_t *cell_of;
    uint32_t ordinal; /* the number of the next instruction */
    bool failed;
};

static bool cells_reserve(struct builder *b, uint32_t more)
{
    struct pvm_cells *p = b->p;
    if (b->failed) return false;
    b->failed = !ARRAY_RESERVE(p->cells, p->capacity, p->count + more) ||
                !ARRAY_RESERVE(p->places, p->place_capacity, p->count + more);
    return !b->failed;
}

static struct pvm_cell *cells_append(struct builder *b, uint8_t op, uint32_t pc)
{
    struct pvm_cells *p = b->p;
    p->places[p->count] = (struct pvm_place){pc, p->block_count - 1, b->ordinal};
    p->cells[p->count] = (struct pvm_cell){.op = op};
    return &p->cells[p->count++];
}

static bool block_begin(struct builder *b, uint32_t pc)
{
    struct pvm_cells *p = b->p;
    if (!ARRAY_RESERVE(p->blocks, p->block_capacity, p->block_count + 1)) {
        b->failed = true;
        return false;
    }
    if (!cells_reserve(b, 1)) return false;
    p->block_count++;
    cells_append(b, PVM_CELL_HEADER, pc);
    p->blocks[p->block_count - 1] =
        (struct pvm_block){.pc = pc, .entry = p->count, .first = p->count, .ordinal = b->ordinal};
    return true;
}

/* Puts a loop cell before a block that may jump to its own start (cells.h). */
static bool make_loop(struct builder *b, struct pvm_block *block)
{
    struct pvm_cells *p = b->p;
    if (!cells_reserve(b, 2)) return false;
    uint32_t first = block->first, count = p->count - first;
    memmove(&p->cells[first + 2], &p->cells[first], count * sizeof *p->cells);
    memmove(&p->places[first + 2], &p->places[first], count * sizeof *p->places);
    p->cells[first] = (struct pvm_cell){.op = PVM_CELL_LOOP};
    p->cells[first + 1] = (struct pvm_cell){.op = PVM_CELL_HEADER};
    p->places[first] = p->places[first + 1] = p->places[first - 1];
    p->count += 2;
    block->first += 2;
    block->loops = true;
    return true;
}

static void block_end(struct builder *b, bool loops)
{
    struct pvm_cells *p = b->p;
    struct pvm_block *block = &p->blocks[p->block_count - 1];
    block->count = b->ordinal - block->ordinal;
    if (loops && !make_loop(b, block)) return;
    uint64_t charge = block->count;
    uint32_t cost = 0;
    if (p->wide_charges) {
        pvm_block_cost(&p->code, block->pc, p->model, p->profile->cmov_reads_old, &cost);
        charge |= (uint64_t)cost << 32;
    }
    p->cells[block->entry - 1].wide = charge;
    if (block->loops) p->cells[block->first - 1].wide = charge;
    for (uint32_t i = block->first; i < p->count; i++)
        if (p->cells[i].op != PVM_CELL_MORE) b->cell_of[p->places[i].pc] = i;
    b->cell_of[block->pc] = block->entry;
}

static bool op_has_more(enum pvm_op op)
{
    switch (pvm_ops[op].shape) {
    case PVM_IMM_IMM:
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET:
    case PVM_REG_IMM64:
    case PVM_REG_REG_IMM_IMM: return true;
    default: return false;
    }
}

static void cells_emit(struct builder *b, const struct pvm_insn *in)
{
    if (!cells_reserve(b, 2)) return;
    struct pvm_cell *c = cells_append(b, in->op, in->pc);
    c->a = (uint8_t)(in->a * 8);
    c->b = (uint8_t)(in->b * 8);
    c->d = (uint8_t)(in->d * 8);
    c->imm = (int32_t)(uint32_t)in->imm1;
    if (op_has_more(in->op)) {
        c = cells_append(b, PVM_CELL_MORE, in->pc);
        c->wide = in->op == PVM_OP_load_imm64 ? in->imm1 : in->imm2;
        c->imm = (int32_t)(uint32_t)in->imm2;
    }
    b->ordinal++;
}

static void cells_sweep(struct builder *b)
{
    struct pvm_cells *p = b->p;
    const struct pvm_code *code = &p->code;
    uint32_t pc = 0, size = (uint32_t)code->bytes.size;
    bool open = false, falls = true;
    struct pvm_insn in;
    /* An implied trap comes after the end of the code. */
    while (!b->failed && (pc < size || falls)) {
        if (open && code->doc && pc < size && pvm_is_target(code, pc)) {
            if (!cells_reserve(b, 1)) return;
            cells_append(b, PVM_CELL_FALL, pc);
            block_end(b, false);
            open = false;
        }
        if (!open && !block_begin(b, pc)) return;
        open = true;
        pvm_decode(code, pc, &in);
        cells_emit(b, &in);
        falls = pvm_falls_through(in.op);
        if (pvm_ends_block(in.op)) {
            uint32_t start = p->blocks[p->block_count - 1].pc;
            block_end(b, pvm_has_target(in.op) && in.target == start &&
                             in.op != PVM_OP_load_imm_and_jump);
            open = false;
        }
        if (pc >= size) return;
        pc += in.length;
    }
}

/* Tells whether the handlers can do this jump. The step engine does all other jumps, and traps
 * where it must. */
static bool cells_legal(const struct pvm_cells *p, const struct pvm_insn *in)
{
    if (!pvm_is_target(&p->code, in->target)) return false;
    return pvm_ops[in->op].flow != PVM_FLOW_BRANCH || p->profile->late_branches ||
           pvm_is_target(&p->code, in->pc + in->length);
}

static bool falls_off(const struct pvm_cells *p, uint32_t pc)
{
    struct pvm_insn in;
    pvm_decode(&p->code, pc, &in);
    return (uint64_t)pc + in.length >= p->code.bytes.size;
}

static void cells_resolve(struct builder *b)
{
    struct pvm_cells *p = b->p;
    for (uint32_t i = 0; i < p->block_count; i++) {
        uint32_t end = i + 1 < p->block_count ? p->blocks[i + 1].entry - 1 : p->count;
        uint32_t last = p->cells[end - 1].op == PVM_CELL_MORE ? end - 2 : end - 1;
        struct pvm_cell *c = &p->cells[last];
        if (c->op >= PVM_OPS) continue;
        if (c->op == PVM_OP_fallthrough && !p->profile->fall_off &&
            falls_off(p, p->places[last].pc))
            c->op = PVM_OP_invalid; /* The instruction traps at its own pc. */
        if (!pvm_has_target(c->op)) continue;
        struct pvm_insn in;
        pvm_decode(&p->code, p->places[last].pc, &in);
        uint32_t target = cells_legal(p, &in) ? b->cell_of[in.target] : 0;
        if (target && p->blocks[i].loops && target == p->blocks[i].entry)
            target = p->blocks[i].first;
        int64_t distance = ((int64_t)target - last) * (int64_t)sizeof *c;
        if (distance != (int32_t)distance) target = 0;
        struct pvm_cell *at = end - 1 == last ? c : c + 1;
        at->imm = target ? (int32_t)distance : PVM_CELL_NOWHERE;
    }
    for (uint32_t i = 0; i < p->table_count; i++) {
        uint64_t pc;
        if (pvm_table_entry(&p->code, i, &pc) && pc < p->code.bytes.size &&
            pvm_is_target(&p->code, (uint32_t)pc))
            p->table[i] = b->cell_of[pc];
    }
}

struct pvm_cells *pvm_cells_new(const struct pvm_code *code, const struct pvm_profile *profile,
                                enum pvm_gas_model model, bool metered, penta_error *err)
{
    struct pvm_cells *p = calloc(1, sizeof *p);
    if (!p || !lock_open(&p->lock)) {
        error_at(err, BASE_MEMORY, 0, "no memory for a program");
        free(p);
        return NULL;
    }
    atomic_init(&p->users, 1);
    atomic_init(&p->built, false);
    p->code = *code;
    p->code.gp = profile->gp_targets;
    p->profile = profile;
    p->model = model;
    p->wide_charges = metered && pvm_gas_pipeline(model);
    p->table_count = code->table_entry ? code->table_count : 0;
    return p;
}

static bool cells_build(struct pvm_cells *p)
{
    struct builder b = {.p = p, .cell_of = calloc(p->code.bytes.size + 1, sizeof *b.cell_of)};
    p->table = calloc(p->table_count + 1, sizeof *p->table);
    b.failed = !b.cell_of || !p->table;
    if (!b.failed) cells_sweep(&b);
    if (!b.failed) cells_resolve(&b);
    free(b.cell_of);
    for (uint32_t i = 0; !b.failed && i < p->block_count; i++)
        pvm_cells_thread(p, p->cells, i, NULL);
    return !b.failed;
}

bool pvm_cells_build(struct pvm_cells *p)
{
    if (atomic_load_explicit(&p->built, memory_order_acquire)) return true;
    lock_take(&p->lock);
    bool done = atomic_load_explicit(&p->built, memory_order_relaxed);
    if (!done) {
        done = cells_build(p);
        if (!done) {
            free(p->table);
            p->table = NULL;
            p->count = p->block_count = 0;
        }
        atomic_store_explicit(&p->built, done, memory_order_release);
    }
    lock_give(&p->lock);
    return done;
}

struct pvm_cells *pvm_cells_share(struct pvm_cells *p)
{
    atomic_fetch_add_explicit(&p->users, 1, memory_order_relaxed);
    return p;
}

void pvm_cells_free(struct pvm_cells *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) != 1) return;
    if (p->native) p->native_free(p->native);
    free(p->cells);
    free(p->places);
    free(p->blocks);
    free(p->table);
    lock_close(&p->lock);
    free(p);
}

uint32_t pvm_cells_find(const struct pvm_cells *p, uint32_t pc)
{
    size_t low; /* 1 + the index of the last block that starts at or before pc */
    ARRAY_SEARCH(low, 0, p->block_count, p->blocks[low].pc > pc);
    if (!low) return 0;
    uint32_t from = p->blocks[low - 1].first;
    uint32_t end = low < p->block_count ? p->blocks[low].entry - 1 : p->count;
    uint32_t limit = end;
    while (from < limit) { /* The loop finds the first cell at or after pc. */
        uint32_t middle = from + (limit - from) / 2;
        if (p->places[middle].pc < pc)
            from = middle + 1;
        else
            limit = middle;
    }
    return from < end && p->places[from].pc == pc ? from : 0;
}
