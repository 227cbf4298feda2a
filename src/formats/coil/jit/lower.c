/* Makes the SSA form of a function: blocks, calls, returns and exits. Instructions with values
 * are in lower_value.c, operands in lower_operand.c and conditions in lower_flags.c. This file
 * relies on the results of flow.c. */
#include "coil/jit/left_to_native.h"
#include "base/array.h"
#include <stdlib.h>

#define NONE UINT32_MAX
enum { COPIED_CELLS = 6 };

static const uint64_t *live_before(const struct coil_lower *l)
{
    if (!l->live) return NULL;
    return l->live + (size_t)(l->cell - l->live_first) * l->flow.words;
}

static bool holds_slot(const uint64_t *set, uint32_t slot)
{
    return set[slot / 64] >> slot % 64 & 1;
}

static uint32_t begin_exit(struct coil_lower *l, uint32_t kind, const uint64_t *live,
                           unsigned first)
{
    struct ssa_function *f = l->f;
    uint32_t values[COIL_PASSED], n = 0;
    /* When code is made in parts, every variable is in the frame at a fixed place, so the exit
     * need not list variables. */
    if (f->apart) return ssa_exit(f, kind, l->cell);
    for (unsigned i = first; i < l->passed; i++) values[n++] = coil_lower_get(l, l->flow.slots + i);
    size_t slots = l->flow.slots;
    if (!ARRAY_RESERVE(l->kept, l->kept_capacity, slots + 1)) {
        f->failed = true;
        return 0;
    }
    for (uint32_t s = 1; s < slots; s++)
        l->kept[s] = holds_slot(live, s) ? coil_lower_get(l, s) : 0;
    uint32_t exit = ssa_exit(f, kind, l->cell);
    for (uint32_t s = 1; s < slots; s++)
        if (l->kept[s]) ssa_keep(f, s, l->kept[s]);
    for (unsigned i = 0; i < n; i++) ssa_keep(f, COIL_KEY_REGISTER + first + i, values[i]);
    return exit;
}

static void keep_flags(struct coil_lower *l)
{
    uint8_t after = l->flow.flags_live[l->cell - l->flow.first],
            /* Flags that are not live do no harm here. */
        live = after | coil_flags_read(l->p, l->cell);
    if (!live || !l->flags.opcode) return;
    ssa_keep(l->f, COIL_KEY_FLAGS, ssa_const(l->f, l->flags.opcode << 8 | l->flags.type));
    ssa_keep(l->f, COIL_KEY_FLAG_A, l->flags.a);
    ssa_keep(l->f, COIL_KEY_FLAG_B, l->flags.b);
}

/* Makes an exit that keeps the state before the current cell. */
uint32_t coil_lower_exit(struct coil_lower *l, uint32_t kind)
{
    uint32_t exit = begin_exit(l, kind, live_before(l), 0);
    keep_flags(l);
    return exit;
}

struct results {
    struct coil_lower *l;
    bool memory;
};

static struct ssa_address lower_context(struct coil_lower *l, size_t offset)
{
    return (struct ssa_address){.base = ssa_fixed(l->f, SSA_CONTEXT), .disp = (int64_t)offset};
}

static enum ssa_mem bits_of_type(uint8_t type)
{
    return type == COIL_T_FP64 ? SSA_MF64 : type == COIL_T_FP32 ? SSA_MF32 : SSA_X64;
}

static void take_result(void *user, uint8_t at, uint32_t slot, bool write)
{
    struct coil_lower *l = user;
    if (!write) return;
    if (at == COIL_AT_SLOT)
        coil_lower_set(l, slot,
                       ssa_load(l->f, bits_of_type(l->flow.types[slot]),
                                lower_context(l, offsetof(struct coil_jit, scratch) + 8 * slot)));
    else if (slot < l->passed)
        coil_lower_set(
            l, l->flow.slots + slot,
            ssa_load(l->f, SSA_X64, lower_context(l, offsetof(struct coil_vm, v) + 8 * slot)));
}

static void ask_step(struct coil_lower *l, uint32_t kind)
{
    ssa_effect(l->f, SSA_SIDE, coil_lower_exit(l, kind));
    coil_step_touches(l->p->steps[l->cell], take_result, l);
}

void coil_lower_step(struct coil_lower *l)
{
    if (l->native)
        coil_native_step(l);
    else
        ask_step(l, COIL_EXIT_STEP);
    if (coil_flags_written(l->p, l->cell)) l->flags.opcode = 0;
}

static void leave_compiled_code(struct coil_lower *l)
{
    if (l->native) {
        coil_native_leave(l);
        return;
    }
    ssa_effect(l->f, SSA_LEAVE, coil_lower_exit(l, COIL_EXIT_LEAVE));
    l->ended = true;
}

static void add_frame(struct coil_lower *l, int64_t bytes)
{
    size_t at = offsetof(struct coil_vm, frame_top);
    uint32_t top = ssa_load(l->f, SSA_X64, lower_context(l, at)),
             sum = ssa_op2(l->f, SSA_ADD, SSA_INT, false, top, ssa_const(l->f, bytes));
    ssa_store(l->f, SSA_X64, lower_context(l, at), sum);
}

static void check_frames(struct coil_lower *l, uint32_t callee)
{
    const struct coil_function *to = &l->p->functions[callee],
                               *now = &l->p->functions[l->flow.function];
    const struct coil_region *r = l->vm->frame_memory;
    if (!to->bytes) return;
    uint64_t most = r->base + r->size - now->bytes - to->bytes;
    bool never = to->bytes + now->bytes > r->size;
    uint32_t top = ssa_load(l->f, SSA_X64, lower_context(l, offsetof(struct coil_vm, frame_top)));
    uint32_t exit = coil_lower_exit(l, COIL_EXIT_FRAMES);
    uint32_t guard = ssa_compare(l->f, SSA_GUARD, SSA_BE, false, top,
                                 ssa_const(l->f, never ? 0 : (int64_t)most));
    if (!guard) return;
    l->f->insns[guard].type = SSA_VOID;
    l->f->insns[guard].exit = exit;
}

static void check_call(struct coil_lower *l, uint32_t callee)
{
    uint32_t depth = ssa_effect(l->f, SSA_DEPTH, coil_lower_exit(l, COIL_EXIT_DEPTH));
    if (depth) l->f->insns[depth].imm = offsetof(struct coil_jit, stack_limit);
    check_frames(l, callee);
}

void coil_lower_call(struct coil_lower *l, uint32_t callee)
{
    struct ssa_function *f = l->f;
    unsigned n = l->touched[callee];
    int64_t bytes = (int64_t)l->p->functions[l->flow.function].bytes;
    uint32_t args[COIL_PASSED];
    if (l->native) bytes = 0;
    if (!l->native) check_call(l, callee);
    for (unsigned i = 0; i < n; i++) args[i] = coil_lower_get(l, l->flow.slots + i);
    if (bytes) add_frame(l, bytes);
    /* If the called function stops, the registers that it does not pass have the values that
     * they have here. */
    uint32_t exit = l->native ? 0 : begin_exit(l, COIL_EXIT_CALL, live_before(l), n);
    uint32_t list = ssa_list(f, args, n), call = ssa_effect(f, SSA_CALL, exit);
    coil_hold_nothing(l); /* The call keeps no register, so no variable may be held in one. */
    if (!call) return;
    f->insns[call].imm = callee;
    f->insns[call].list = list;
    f->insns[call].count = n;
    for (unsigned i = 0; i < n; i++) { /* The results must stand directly after their call. */
        args[i] = ssa_op1(f, SSA_RESULT, SSA_INT, call);
        if (!args[i]) return;
        f->insns[args[i]].imm = i;
    }
    for (unsigned i = 0; i < n; i++) coil_lower_set(l, l->flow.slots + i, args[i]);
    if (bytes) add_frame(l, -bytes);
    l->flags.opcode = 0;
}

void coil_lower_return(struct coil_lower *l)
{
    struct ssa_function *f = l->f;
    uint32_t values[COIL_PASSED];
    for (unsigned i = 0; i < l->passed; i++) values[i] = coil_lower_get(l, l->flow.slots + i);
    if (l->last && !l->native)
        ssa_store(f, SSA_U32, lower_context(l, offsetof(struct coil_vm, pc)),
                  ssa_const(f, l->cell));
    uint32_t list = ssa_list(f, values, l->passed), end = ssa_effect(f, SSA_RETURN, 0);
    if (!end) return;
    f->insns[end].list = list;
    f->insns[end].count = l->passed;
}

static uint32_t block_for(uint32_t flow_block)
{
    return flow_block == NONE ? NONE : flow_block + 1;
}

/* Makes a branch on flags that are in the machine and not in a value. */
static void branch_asking(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no)
{
    if (l->native) {
        coil_native_branch(l, condition, yes, no);
        return;
    }
    ssa_effect(l->f, SSA_SIDE, coil_lower_exit(l, COIL_EXIT_CONDITION | (uint32_t)condition << 8));
    uint32_t truth = ssa_load(l->f, SSA_X64, lower_context(l, offsetof(struct coil_jit, scratch)));
    ssa_branch(l->f, SSA_BRANCH, SSA_NE, false, truth, ssa_const(l->f, 0), yes, no);
}

static void branch_on(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no)
{
    if (!coil_lower_branch(l, condition, yes, no)) branch_asking(l, condition, yes, no);
    l->ended = true;
}

/* Returns a new block for the rest of a conditional call or return. */
static uint32_t extra_block(struct coil_lower *l) { return l->extra++; }

static void lower_conditional(struct coil_lower *l, const struct coil_cell *c, uint32_t next)
{
    uint32_t then = extra_block(l);
    branch_on(l, c->x, then, next);
    ssa_start(l->f, then);
    coil_hold_nothing(l);
    ssa_seal(l->f, then);
    if (c->op == COIL_CELL_RET_IF) {
        coil_lower_return(l);
        return;
    }
    coil_lower_call(l, c->a);
    ssa_jump(l->f, next);
}

static void lower_switch(struct coil_lower *l)
{
    struct ssa_function *f = l->f;
    const struct coil_step *s = l->p->steps[l->cell];
    const struct coil_place *p = &s->places[0];
    uint32_t i = l->cell - l->flow.first, n = l->flow.target_counts[i];
    uint8_t type = p->at == COIL_AT_REGISTER ? COIL_T_UNT64 : p->op;
    uint32_t value = l->native           ? coil_native_operand(l, 0)
                     : coil_is_int(type) ? coil_lower_place(l, p, type, type)
                                         : 0;
    uint32_t *blocks = value ? malloc(n * sizeof *blocks) : NULL;
    if (!blocks) {
        leave_compiled_code(l);
        return;
    }
    static const uint8_t unsigned_of[] = {COIL_T_UNT8,  COIL_T_UNT8,  COIL_T_UNT16,
                                          COIL_T_UNT16, COIL_T_UNT32, COIL_T_UNT32};
    if (type < sizeof unsigned_of) value = coil_lower_canon(l, value, unsigned_of[type]);
    for (uint32_t k = 0; k < n; k++)
        blocks[k] = block_for(l->flow.block_at[l->flow.targets[i][k] - l->flow.first]);
    uint32_t list = ssa_list(f, blocks, n), end = ssa_op1(f, SSA_SWITCH, SSA_VOID, value);
    if (end) {
        f->insns[end].list = list;
        f->insns[end].count = n;
        for (uint32_t k = 0; k < n; k++) ssa_edge(f, f->at, blocks[k]);
    }
    free(blocks);
    l->ended = true;
}

static bool find_live(struct coil_lower *l, uint32_t block)
{
    const struct coil_flow_block *b = &l->flow.blocks[block];
    size_t n = b->end - b->first, words = l->flow.words;
    if (!l->flow.live_in) return true;
    if (!ARRAY_RESERVE(l->live, l->live_capacity, (n + 1) * words)) return false;
    l->live_first = b->first;
    coil_flow_after(&l->flow, block, l->live + n * words);
    for (size_t i = n; i-- > 0;) {
        memcpy(l->live + i * words, l->live + (i + 1) * words, words * sizeof *l->live);
        coil_flow_back(&l->flow, b->first + (uint32_t)i, l->live + i * words);
    }
    return true;
}

static void lower_poll(struct coil_lower *l)
{
    if (l->native) return;
    uint32_t value = ssa_effect(l->f, SSA_POLL, coil_lower_exit(l, COIL_EXIT_POLL));
    if (value) l->f->insns[value].imm = offsetof(struct penta_vm, interrupt);
}

static void lower_cell(struct coil_lower *l, uint32_t block);

/* Tells whether a block is a small loop header that ends with a branch. A jump back to it is
 * replaced by a copy of it, so that an iteration has one jump. */
bool coil_lower_copies(const struct coil_lower *l, uint32_t block)
{
    const struct coil_flow_block *b = &l->flow.blocks[block];
    const struct coil_cell *end = &l->p->cells[b->end - 1];
    bool branches = end->op >= COIL_CELL_BR && end->op <= COIL_CELL_BR_LTE;
    if (!b->loops || !branches || b->end - b->first > COPIED_CELLS || b->flags_in) return false;
    for (int k = 0; k < 2; k++)
        if (b->to[k] == NONE || b->to[k] == block || l->flow.blocks[b->to[k]].flags_in)
            return false;
    for (uint32_t c = b->first; c + 1 < b->end; c++)
        if (l->p->cells[c].op == COIL_CELL_CALL || l->p->cells[c].op == COIL_CELL_PORT)
            return false;
    return true;
}

static void lower_jump(struct coil_lower *l, uint32_t block, uint32_t to)
{
    l->ended = true;
    if (to > block || l->copying || !coil_lower_copies(l, to)) {
        ssa_jump(l->f, block_for(to));
        return;
    }
    l->copying = true;
    l->ended = false;
    if (!find_live(l, to)) l->f->failed = true;
    uint32_t cell = l->cell;
    l->cell = l->flow.blocks[to].first;
    lower_poll(l);
    for (; !l->ended && !l->f->failed && l->cell < l->flow.blocks[to].end; l->cell++)
        lower_cell(l, to);
    l->cell = cell;
    l->copying = false;
}

static bool is_decided_late(const struct coil_lower *l)
{
    uint32_t i = l->cell - l->flow.first;
    return !l->flow.target_counts[i] || l->flow.computed[i];
}

/* Lowers one cell. If execution can continue after the cell, there is a next block, because the
 * last cell of a function always stops (load.c). */
static void lower_cell(struct coil_lower *l, uint32_t block)
{
    l->f->position = l->cell + 1;
    const struct coil_cell *c = &l->p->cells[l->cell];
    const struct coil_flow_block *b = &l->flow.blocks[block];
    switch (c->op) {
    case COIL_CELL_NOP: break;
    case COIL_CELL_JMP: lower_jump(l, block, b->to[0]); break;
    case COIL_CELL_BR:
    case COIL_CELL_BR_EQ:
    case COIL_CELL_BR_NEQ:
    case COIL_CELL_BR_GT:
    case COIL_CELL_BR_GTE:
    case COIL_CELL_BR_LT:
    case COIL_CELL_BR_LTE: branch_on(l, c->x, block_for(b->to[0]), block_for(b->to[1])); break;
    case COIL_CELL_CALL: coil_lower_call(l, c->a); break;
    case COIL_CELL_CALL_IF:
    case COIL_CELL_RET_IF: lower_conditional(l, c, block_for(b->to[0])); break;
    case COIL_CELL_RET:
        coil_lower_return(l);
        l->ended = true;
        break;
    case COIL_CELL_PORT:
        if (l->native)
            coil_native_port(l);
        else
            ask_step(l, COIL_EXIT_PORT);
        break;
    case COIL_CELL_HALT:
    case COIL_CELL_TRAP:
    case COIL_CELL_BAD:
    case COIL_CELL_END: leave_compiled_code(l); break;
    case COIL_CELL_INDIRECT:
        if (l->native && is_decided_late(l) && coil_native_indirect(l, block_for(b->to[0])))
            l->ended = true;
        else if (l->flow.target_counts[l->cell - l->flow.first])
            lower_switch(l);
        else {
            if (b->to[0] != NONE) coil_lower_call_address(l, block_for(b->to[0]));
            leave_compiled_code(l);
        }
        break;
    default: {
        const struct coil_step *s = l->p->steps[l->cell];
        bool general = l->flow.by_step[l->cell - l->flow.first];
        if (general || !coil_lower_value(l, s)) coil_lower_step(l);
    }
    }
}

/* Tells whether the only predecessor of a block has been lowered already. */
static bool has_one_source(const struct coil_lower *l, uint32_t block)
{
    uint32_t from = l->from[block];
    if (l->flow.blocks[block].preds != 1 || from >= block) return false;
    uint16_t op = l->p->cells[l->flow.blocks[from].end - 1].op;
    return op != COIL_CELL_CALL_IF && op != COIL_CELL_INDIRECT && !coil_lower_copies(l, from);
}

static void lower_block(struct coil_lower *l, uint32_t block)
{
    struct coil_flow_block *b = &l->flow.blocks[block];
    l->at = block_for(block);
    ssa_start(l->f, l->at);
    coil_hold_nothing(l);
    l->ended = false;
    if (has_one_source(l, block)) ssa_seal(l->f, l->at);
    bool one = b->preds == 1 && l->from[block] < block;
    /* A block that needs no flags may be in another part than its predecessor, where the pending
     * operation is not known. */
    if (l->code && !b->flags_in) one = false;
    l->flags = one ? l->pending[l->from[block]] : (struct coil_pending_flags){0};
    if (!find_live(l, block)) {
        l->f->failed = true;
        return;
    }
    l->cell = b->first;
    if (b->loops) lower_poll(l);
    for (; !l->ended && !l->f->failed && l->cell < b->end; l->cell++) lower_cell(l, block);
    if (!l->ended) {
        if (b->to[0] == NONE)
            l->f->failed = true; /* This cannot happen: the last cell of a function always stops. */
        else
            ssa_jump(l->f, block_for(b->to[0]));
    }
    l->pending[block] = l->flags;
}

static void clear_frame(struct coil_lower *l)
{
    uint64_t bytes = l->p->functions[l->flow.function].bytes;
    if (!bytes) return;
    if (l->native) {
        coil_native_clear(l, bytes);
        return;
    }
    l->cell = l->flow.first;
    uint32_t exit = ssa_exit(l->f, COIL_EXIT_CLEAR, l->cell);
    for (unsigned i = 0; i < l->passed && !l->f->apart; i++)
        ssa_keep(l->f, COIL_KEY_REGISTER + i, coil_lower_get(l, l->flow.slots + i));
    ssa_effect(l->f, SSA_SIDE, exit);
}

static void note_written(void *user, uint8_t at, uint32_t slot, bool write)
{
    uint8_t *seen = user;
    enum { READ = 1, WRITTEN = 2 };
    if (at == COIL_AT_SLOT && !seen[slot]) seen[slot] = write ? WRITTEN : READ;
}

/* Sets variables in the frame to zero, except those that the first block writes before reading
 * them. Variables without a place in the frame start as zero anyway. */
static void clear_slots(struct coil_lower *l)
{
    uint8_t seen[4096] = {0};
    const struct coil_flow_block *first = &l->flow.blocks[0];
    for (uint32_t c = first->first; l->f->apart && c < first->end; c++)
        if (l->p->steps[c]) coil_step_touches(l->p->steps[c], note_written, seen);
    for (uint32_t s = 1; l->f->apart && s < l->flow.slots; s++) {
        if (seen[s] == 2) continue;
        uint32_t zero = ssa_const(l->f, 0);
        enum ssa_type type = coil_ssa_type(l->flow.types[s]);
        coil_lower_set(l, s, type == SSA_INT ? zero : ssa_op1(l->f, SSA_REAL, type, zero));
    }
}

static void take_params(struct coil_lower *l)
{
    ssa_start(l->f, 0);
    for (unsigned i = 0; i < l->passed; i++) {
        uint32_t value = ssa_op1(l->f, SSA_PARAM, SSA_INT, 0);
        if (!value) return;
        l->f->insns[value].imm = i;
        coil_lower_set(l, l->flow.slots + i, value);
    }
    clear_slots(l);
    clear_frame(l);
    if (!l->native && !l->f->apart && l->p->functions[l->flow.function].bytes)
        l->frame_top =
            ssa_load(l->f, SSA_X64, lower_context(l, offsetof(struct coil_vm, frame_top)));
    ssa_jump(l->f, 1);
}

static bool find_sources(struct coil_lower *l)
{
    uint32_t n = l->flow.block_count;
    l->from = malloc((n + 1) * sizeof *l->from);
    l->pending = calloc(n + 1, sizeof *l->pending);
    if (!l->from || !l->pending) return false;
    for (uint32_t b = 0; b < n; b++) l->from[b] = NONE;
    for (uint32_t b = 0; b < n; b++)
        for (int k = 0; k < 2; k++)
            if (l->flow.blocks[b].reached && l->flow.blocks[b].to[k] != NONE)
                l->from[l->flow.blocks[b].to[k]] = b;
    return true;
}

static void make_blocks(struct coil_lower *l)
{
    uint32_t extra = 0, n = l->flow.block_count;
    for (uint32_t c = l->flow.first; c < l->flow.end; c++)
        if (l->p->cells[c].op == COIL_CELL_CALL_IF || l->p->cells[c].op == COIL_CELL_RET_IF)
            extra++;
        else if (l->native && l->p->cells[c].op == COIL_CELL_INDIRECT)
            extra += 2 + l->flow.target_counts[c - l->flow.first];
        else if (coil_calls_address(l->p, c))
            extra += coil_callable_blocks(l);
    for (uint32_t i = 0; i < n + 1 + extra; i++) ssa_block(l->f);
    l->extra = n + 1;
    uint32_t variables = l->flow.slots + l->passed;
    uint8_t types[4096 + COIL_PASSED];
    for (uint32_t i = 0; i < variables; i++)
        types[i] = i < l->flow.slots ? (uint8_t)coil_ssa_type(l->flow.types[i]) : SSA_INT;
    if (!l->f->apart && (uint64_t)variables * l->f->block_count > UINT64_C(1) << 24)
        l->f->failed = true;
    if (!l->f->failed && !coil_variables(l, variables, types)) l->f->failed = true;
}

static bool lower_all(struct coil_lower *l)
{
    make_blocks(l);
    if (l->f->failed) return false;
    if (l->code && !coil_parts_begin(l)) return false;
    take_params(l);
    for (uint32_t b = 0; b < l->flow.block_count && !l->f->failed; b++) {
        if (!l->flow.blocks[b].reached) continue;
        if (l->code) coil_parts_cut(l, b);
        lower_block(l, b);
        if (l->code) coil_parts_note(l, b);
    }
    for (uint32_t b = 0; b < l->f->block_count && !l->f->failed; b++) ssa_seal(l->f, b);
    return l->code ? coil_parts_end(l) : !l->f->failed;
}

/* Lowers a function. `types` may be NULL. */
static bool lower_function(struct coil_lower *l, uint32_t function, uint8_t *types)
{
    bool ok = coil_flow(&l->flow, l->vm, l->native, function, !l->f->apart, l->f->work) &&
              find_sources(l);
    if (ok && types) memcpy(types, l->flow.types, l->flow.slots);
    ok = ok && lower_all(l);
    l->f->position = 0;
    coil_flow_free(&l->flow);
    free(l->from);
    free(l->pending);
    free(l->live);
    free(l->kept);
    free(l->order);
    free(l->current);
    return ok;
}

bool coil_lower_native(struct coil_vm *vm, struct coil_native *n, const uint8_t *touched,
                       uint32_t function, struct ssa_function *f)
{
    struct coil_lower l = {.vm = vm,
                           .p = &vm->program,
                           .native = n,
                           .f = f,
                           .touched = touched,
                           .passed = touched[function]};
    return lower_function(&l, function, NULL);
}

bool coil_lower_function(struct coil_vm *vm, uint32_t function, const uint8_t *touched, bool leaves,
                         uint8_t *types, struct ssa_function *f, struct ssa_code *code)
{
    struct coil_lower l = {.vm = vm,
                           .p = &vm->program,
                           .f = f,
                           .code = code,
                           .touched = touched,
                           .passed = touched[function],
                           .last = leaves || function == vm->program.entry};
    return lower_function(&l, function, types);
}

/* Makes the code of a function that could not be compiled: the interpreter continues at the
 * first cell of the function. */
void coil_lower_stub(const struct coil_function *function, uint8_t touched, struct ssa_function *f)
{
    uint32_t values[COIL_PASSED];
    ssa_block(f);
    ssa_start(f, 0);
    for (unsigned i = 0; i < touched; i++) {
        values[i] = ssa_op1(f, SSA_PARAM, SSA_INT, 0);
        if (values[i]) f->insns[values[i]].imm = i;
    }
    for (int last = function->bytes ? 0 : 1; last < 2; last++) {
        uint32_t exit = ssa_exit(f, last ? COIL_EXIT_LEAVE : COIL_EXIT_CLEAR, function->first);
        for (unsigned i = 0; i < touched; i++) ssa_keep(f, COIL_KEY_REGISTER + i, values[i]);
        ssa_effect(f, last ? SSA_LEAVE : SSA_SIDE, exit);
    }
}
