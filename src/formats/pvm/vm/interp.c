/* Has the threaded engine, and the loop that runs it and the step engine, and that counts gas
 * and steps.
 *
 * Handlers subtract the charges of whole blocks from a budget (cells.h). The loop gives them a
 * budget for one slice: the least of gas, fuel, and SLICE. After each slice it looks at the
 * interrupt flag. The loop itself pays a block for which the rest of the slice is too small, and
 * the step engine runs the last instructions before the fuel ends. So gas and steps are exact at
 * every stop, and the handlers test only one counter. */
#include <stdlib.h>
#include "base/array.h"
#include "core/structure/counts.h"
#include "pvm/vm/handlers.h"

/* The functions below leave the handlers. */

static void interp_leave(PARAMETERS, enum pvm_exit why)
{
    STATE->cell = c;
    STATE->acc = acc;
    STATE->loop = loop;
    STATE->left = left;
    STATE->exit = why;
}

void pvm_leave_charge(PARAMETERS)
{
    left += (int64_t)c[-1].wide;
    interp_leave(ARGUMENTS, PVM_EXIT_CHARGE);
}

void pvm_leave_step(PARAMETERS) { interp_leave(ARGUMENTS, PVM_EXIT_STEP); }
void pvm_leave_host(PARAMETERS) { interp_leave(ARGUMENTS, PVM_EXIT_HOST); }
static void leave_break(PARAMETERS) { interp_leave(ARGUMENTS, PVM_EXIT_BREAK); }
static void enter_loop(PARAMETERS)
{
    c += 2;
    loop = c;
    NEXT_CELL;
}
static void implied_fall(PARAMETERS)
{
    c += 2;
    ENTER_BLOCK;
}

/* While a profiler counts, the first cell of a block has one of the counting handlers below. The
 * header before that cell has the place (counts.h) in a field that nothing else reads. The real
 * handler is in the shared cells, where PLAIN_CELL finds it. */
#define PLAIN_CELL                                                                                 \
    ((const struct pvm_cell *)(const void *)((const char *)c + STATE->plain_distance))

/* STACK_USED is how far the stack has grown. This tells calls apart, because after a return sp
 * is what it was when the call began. */
#define STACK_USED(state) ((uint64_t)(UINT32_MAX - (uint32_t)(state)->regs[PVM_SP]))

static void count_arrival(struct pvm_state *s, uint32_t place)
{
    uint64_t used = STACK_USED(s);
    counts_arrive(s->counts, place, (place & COUNT_MASK) == COUNT_RETURN ? used - 1 : used);
}

/* Begins to count a block that loops. The block is counted when it is entered; how often it was
 * repeated follows from the budget when it is left. The lower half of a charge, and of a sum of
 * charges, is a number of instructions. */
static void loop_begins(struct pvm_state *s, uint32_t place, uint64_t charge, int64_t left)
{
    struct counts *counts = s->counts;
    uint32_t stretch = counts_stretch(counts, place);
    if (stretch - counts->path->first >= counts->path->size) counts_move(counts, stretch);
    struct count_path *path = counts->path;
    s->loop_count = &path->counts[stretch - path->first];
    bool starts = (place & COUNT_MASK) == COUNT_CALL && path != counts->other;
    s->loop_calls = starts ? &path->calls : NULL;
    s->loop_charge = (uint32_t)charge;
    s->loop_left = left;
    counts_set_aside(counts);
}

static void loop_ends(struct pvm_state *s, int64_t left)
{
    if (!s->loop_count) return;
    uint64_t times = (uint32_t)(s->loop_left - left) / s->loop_charge;
    *s->loop_count += times;
    /* A jump back to the start of a function is no call. */
    if (s->loop_calls) *s->loop_calls -= times;
    s->loop_count = NULL;
    counts_put_back(s->counts);
}

/* Counts a block that the fast handlers do not know yet. Its header has the place that
 * counts_places gives: the whole place for a block that loops, else only its number. */
static void count_slowly(struct pvm_state *s, const struct pvm_cell *c, int64_t left,
                         enum count_place what)
{
    loop_ends(s, left + (int64_t)c[-1].wide);
    count_arrival(s, (uint32_t)c[-1].imm << COUNT_SHIFT | what);
}

/* COUNTING makes the handlers that count a kind of block. A place that is not known needs
 * function calls, for which a handler would have to save registers. So a second function does
 * that work. acc holds nothing when a block starts, so it can hold the key. */
#define COUNTING(name, what, known, key)                                                           \
    __attribute__((noinline)) static void name##_slowly(PARAMETERS)                                \
    {                                                                                              \
        count_slowly(STATE, c, left, what);                                                        \
        LEAVE_BY(PLAIN_CELL->run);                                                                 \
    }                                                                                              \
    static void name(PARAMETERS)                                                                   \
    {                                                                                              \
        acc = key;                                                                                 \
        if (UNLIKELY(!known)) LEAVE_BY(name##_slowly);                                             \
        LEAVE_BY(PLAIN_CELL->run);                                                                 \
    }
#define NUMBER ((uint32_t)c[-1].imm)
COUNTING(count_enter, COUNT_ENTER, counts_enter_known(STATE->counts, NUMBER), acc)
COUNTING(count_call, COUNT_CALL, counts_call_known(STATE->counts, NUMBER, acc), STACK_USED(STATE))
COUNTING(count_return, COUNT_RETURN, counts_return_known(STATE->counts, NUMBER, acc),
         STACK_USED(STATE) - 1)

static void count_loop(PARAMETERS)
{
    loop_ends(STATE, left + (int64_t)c[-1].wide);
    count_arrival(STATE, (uint32_t)c[-1].imm);
    loop_begins(STATE, (uint32_t)c[-1].imm, c[-1].wide, left);
    LEAVE_BY(enter_loop);
}

/* Returns the gas of the block that starts at pc, whether it is charged or not. */
static uint64_t block_gas(const penta_vm *base, uint64_t pc)
{
    const struct pvm_cells *p = pvm_vm_const(base)->cells;
    uint32_t cell = pvm_cells_find(p, (uint32_t)pc), cost = 0;
    if (!cell) return 0;
    const struct pvm_block *b = &p->blocks[p->places[cell].block];
    if (!pvm_gas_pipeline(p->model)) return b->count;
    pvm_block_cost(&p->code, b->pc, p->model, p->profile->cmov_reads_old, &cost);
    return cost;
}

bool pvm_vm_count(penta_vm *base, struct counts *counts, penta_error *err)
{
    struct pvm_vm *vm = pvm_vm(base);
    const struct pvm_cells *p = vm->cells;
    if (!pvm_vm_thread(vm)) return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    uint32_t *starts = calloc(p->block_count + 1, sizeof *starts);
    uint64_t *pcs = calloc(p->block_count + 1, sizeof *pcs);
    size_t n = 0;
    for (uint32_t i = 0; starts && pcs && i < p->block_count; i++) {
        size_t insn = code_map_find(counts->map, p->blocks[i].pc);
        pcs[i] = p->blocks[i].pc;
        if (insn < counts->map->count) starts[n++] = (uint32_t)insn;
    }
    if (starts && pcs && !vm->own) vm->own = array_copy(p->cells, p->count, sizeof *vm->own);
    bool ok = starts && pcs && vm->own && counts_cut(counts, starts, n, err);
    uint32_t *places = ok ? counts_places(counts, pcs, p->block_count) : NULL;
    free(starts);
    free(pcs);
    if (!places) return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    for (uint32_t i = 0; i < p->block_count; i++) {
        if (!places[i]) continue;
        uint32_t what = places[i] & COUNT_MASK;
        bool loops = p->blocks[i].loops;
        vm->own[p->blocks[i].entry - 1].imm =
            (int32_t)(loops ? places[i] : places[i] >> COUNT_SHIFT);
        vm->own[p->blocks[i].entry].run = loops                  ? count_loop
                                          : what == COUNT_ENTER  ? count_enter
                                          : what == COUNT_RETURN ? count_return
                                                                 : count_call;
    }
    free(vm->places);
    vm->places = places;
    counts->cost_name = "gas";
    counts->cost = block_gas;
    vm->base.counts = vm->state->counts = counts;
    vm->state->plain_distance = (intptr_t)p->cells - (intptr_t)vm->own;
    vm->state->cells = vm->own;
    return true;
}

/* Counts a block that is entered, or continued, at a cell without the cell's handler. */
static void count_start(struct pvm_vm *vm, uint32_t at)
{
    uint32_t block = vm->cells->places[at].block, place = vm->places[block];
    if (vm->cells->blocks[block].first == at && place)
        count_arrival(vm->state, place);
    else
        counts_resume(vm->base.counts, vm->cells->places[at].pc);
}

/* The functions below do the accesses that the handlers cannot do: across pages, first writes,
 * faults. */

/* clang-format off */
static const struct access { uint8_t kind, size; bool is_signed; } accesses[PVM_OPS] = {
#define SIZE_LOAD(type)    {PVM_DO_LOAD, sizeof(type), (type)-1 < (type)1}
#define SIZE_LOADX(type)   {PVM_DO_LOADX, sizeof(type), (type)-1 < (type)1}
#define SIZE_STORE(type)   {PVM_DO_STORE, sizeof(type), false}
#define SIZE_STOREX(type)  {PVM_DO_STOREX, sizeof(type), false}
#define SIZE_STOREI(type)  {PVM_DO_STOREI, sizeof(type), false}
#define SIZE_STOREIX(type) {PVM_DO_STOREIX, sizeof(type), false}
#define NO_ACCESS          {PVM_DO_TRAP, 0, false}
#define SIZE_SET3(e) NO_ACCESS
#define SIZE_SET2I(e) NO_ACCESS
#define SIZE_SET2(e) NO_ACCESS
#define SIZE_CMOV3(e) NO_ACCESS
#define SIZE_CMOVI(e) NO_ACCESS
#define SIZE_LOADI(e) NO_ACCESS
#define SIZE_LOADI64(e) NO_ACCESS
#define SIZE_NOTHING(e) NO_ACCESS
#define SIZE_BRANCH2(e) NO_ACCESS
#define SIZE_BRANCHI(e) NO_ACCESS
#define SIZE_JUMP(e) NO_ACCESS
#define SIZE_LOADI_JUMP(e) NO_ACCESS
#define SIZE_FALL(e) NO_ACCESS
#define SIZE_JUMP_DYNAMIC(e) NO_ACCESS
#define SIZE_LOADI_JUMP_DYNAMIC(e) NO_ACCESS
#define SIZE_TRAP(e) NO_ACCESS
#define SIZE_ECALLI(e) NO_ACCESS
#define SIZE_MEMSET(e) NO_ACCESS
#define SIZE_SBRK(e) NO_ACCESS
#define MAKE(name, kind, class, expression, ...) [PVM_OP_##name] = SIZE_##kind(expression),
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
#include "pvm/isa.def"
#undef MAKE
};
/* clang-format on */

static bool load_slowly(uint8_t *r, const struct pvm_cell *c, const struct access *how)
{
    uint64_t base = how->kind == PVM_DO_LOAD ? REG(c->b) : 0, value;
    uint32_t at = (uint32_t)(base + X_OF);
    if (pvm_memory_watched(STATE->memory, at, how->size, false) ||
        !pvm_memory_load(STATE->memory, at, how->size, STATE->wraps, &value))
        return false;
    unsigned spare = 64u - 8u * how->size;
    REG(c->a) = how->is_signed ? (uint64_t)((int64_t)(value << spare) >> spare) : value;
    return true;
}

static bool store_slowly(uint8_t *r, const struct pvm_cell *c, const struct access *how)
{
    uint64_t base = how->kind == PVM_DO_STORE    ? REG(c->b)
                    : how->kind == PVM_DO_STOREI ? REG(c->a)
                                                 : 0;
    bool immediate = how->kind == PVM_DO_STOREI || how->kind == PVM_DO_STOREIX;
    uint64_t value = immediate ? c[1].wide : REG(c->a);
    uint32_t at = (uint32_t)(base + X_OF);
    return !pvm_memory_watched(STATE->memory, at, how->size, true) &&
           pvm_memory_store(STATE->memory, at, how->size, STATE->wraps, value);
}

static void slow_access(PARAMETERS)
{
    const struct access *how = &accesses[c->op];
    if (how->kind == PVM_DO_LOAD || how->kind == PVM_DO_LOADX) {
        if (!load_slowly(r, c, how))
            LEAVE_BY(pvm_leave_step); /* The step engine reports the fault or the guard. */
        acc = REG(c->a);
        c++;
        NEXT_CELL;
    }
    if (!store_slowly(r, c, how)) LEAVE_BY(pvm_leave_step);
    c += how->kind == PVM_DO_STOREI || how->kind == PVM_DO_STOREIX ? 2 : 1;
    NEXT_CELL;
}

/* The macros below make one handler for each instruction and variant, and handlers for branches
 * to their own block. */

#define W32 0
#define HANDLER(name, kind, e, v, looped)                                                          \
    static void one_##name##_##v##_##looped(PARAMETERS) { ALL_##kind(e, v, looped) }
#define MAKE(name, kind, class, expression, ...)                                                   \
    HANDLER(name, kind, expression, IN_NONE, 0)                                                    \
    HANDLER(name, kind, expression, IN_A, 0)                                                       \
    HANDLER(name, kind, expression, IN_B, 0)
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
#include "pvm/isa.def"
#undef MAKE
/* The rows that jump or branch, and only these, make handlers for branches in blocks that loop. */
#define LOOPED_NEXT(name, kind, e)
#define LOOPED_HOST(name, kind, e)
#define LOOPED_FALL(name, kind, e)
#define LOOPED_DYNAMIC(name, kind, e)
#define LOOPED_TRAP(name, kind, e)
#define LOOPED_JUMP(name, kind, e) LOOPED_BRANCH(name, kind, e)
#define LOOPED_BRANCH(name, kind, e)                                                               \
    HANDLER(name, kind, e, IN_NONE, 1)                                                             \
    HANDLER(name, kind, e, IN_A, 1)                                                                \
    HANDLER(name, kind, e, IN_B, 1)
#define MAKE(name, kind, class, expression, flow, ...) LOOPED_##flow(name, kind, expression)
#define OP(name, gp, revive, l32, l64, jam, shape, flow) PVM_ROW(MAKE, name, flow, 0)
#include "pvm/isa.def"
#undef MAKE
#undef W32
#define W32 1
static void reverse_byte_32(PARAMETERS) { RUN_SET2(op_reverse(a, W32), IN_NONE) NEXT_CELL; }
static void mul_upper_ss_32(PARAMETERS) { RUN_SET3(op_mulh_ss(a, b, W32), IN_NONE) NEXT_CELL; }
static void mul_upper_uu_32(PARAMETERS) { RUN_SET3(op_mulh_uu(a, b, W32), IN_NONE) NEXT_CELL; }
static void mul_upper_su_32(PARAMETERS) { RUN_SET3(op_mulh_su(a, b, W32), IN_NONE) NEXT_CELL; }

static pvm_handler *const single[PVM_OPS][3] = {
    [PVM_OP_invalid] = {pvm_leave_step, pvm_leave_step, pvm_leave_step},
#define OP(name, ...)                                                                              \
    [PVM_OP_##name] = {one_##name##_IN_NONE_0, one_##name##_IN_A_0, one_##name##_IN_B_0},
#include "pvm/isa.def"
};

#undef LOOPED_BRANCH
#define LOOPED_BRANCH(name, kind, e)                                                               \
    [PVM_OP_##name] = {one_##name##_IN_NONE_1, one_##name##_IN_A_1, one_##name##_IN_B_1},
static pvm_handler *const looping[PVM_OPS][3] = {
#define MAKE(name, kind, class, expression, flow, ...) LOOPED_##flow(name, kind, expression)
#define OP(name, gp, revive, l32, l64, jam, shape, flow) PVM_ROW(MAKE, name, flow, 0)
#include "pvm/isa.def"
#undef MAKE
};

/* The handlers below are for watched pages. They do the accesses beside the watched bytes, so
 * that these stay fast. */

#define BESIDE(address, n, rights, span)                                                           \
    LIKELY((RIGHTS(address) & (rights)) == (rights) && ((address) & (PAGE - 1)) <= PAGE - (n) &&   \
           !pvm_span_meets(span, address, n))
#undef W32
#define W32 0 /* Accesses do not depend on the word size. */
#undef LOAD_AT
#define LOAD_AT(type, sum, size)                                                                   \
    {                                                                                              \
        uint32_t at = (uint32_t)(sum);                                                             \
        if (!BESIDE(at, sizeof(type), PVM_READ, &STATE->memory->watched_loads))                    \
            LEAVE_BY(slow_access);                                                                 \
        acc = get_##type(GUEST(at));                                                               \
        REG(c->a) = acc;                                                                           \
        c += size;                                                                                 \
    }
#undef STORE_AT
#define STORE_AT(type, sum, value, size)                                                           \
    {                                                                                              \
        uint32_t at = (uint32_t)(sum);                                                             \
        if (!BESIDE(at, sizeof(type), PVM_WATCHED | PVM_WRITABLE | PVM_DIRTY,                      \
                    &STATE->memory->watched_stores))                                               \
            LEAVE_BY(slow_access);                                                                 \
        put_##type(GUEST(at), value);                                                              \
        c += size;                                                                                 \
    }
#define MAKE(name, kind, class, expression, ...)                                                   \
    static void beside_##name(PARAMETERS) { ALL_##kind(expression, IN_NONE, 0) }
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
#include "pvm/isa.def"
#undef MAKE
static pvm_handler *const beside[PVM_OPS] = {
#define OP(name, ...) [PVM_OP_##name] = beside_##name,
#include "pvm/isa.def"
};

void pvm_slow_access(PARAMETERS) { LEAVE_BY(beside[c->op]); }

/* The functions below choose handlers. */

enum { READS_A = 1, READS_B = 2, WRITES_A = 4, WRITES_D = 8, FORGETS = 16 };
/* clang-format off */
/* The table says which registers a kind of instruction reads and writes. FORGETS means that acc
 * holds no register afterwards. */
static const uint8_t traits[] = {
    [PVM_DO_SET3] = READS_A | READS_B | WRITES_D, [PVM_DO_SET2I] = READS_B | WRITES_A,
    [PVM_DO_SET2] = READS_A | WRITES_D,           [PVM_DO_CMOV3] = READS_A | READS_B | WRITES_D,
    [PVM_DO_CMOVI] = READS_B | WRITES_A,          [PVM_DO_LOADX] = WRITES_A,
    [PVM_DO_LOAD] = READS_B | WRITES_A,           [PVM_DO_STOREX] = READS_A,
    [PVM_DO_STORE] = READS_A | READS_B,           [PVM_DO_STOREI] = READS_A,
    [PVM_DO_STOREIX] = 0,                         [PVM_DO_LOADI] = WRITES_A,
    [PVM_DO_LOADI64] = WRITES_A,                  [PVM_DO_BRANCH2] = READS_A | READS_B,
    [PVM_DO_BRANCHI] = READS_A,                   [PVM_DO_JUMP_DYNAMIC] = READS_A,
    [PVM_DO_LOADI_JUMP_DYNAMIC] = READS_B,        [PVM_DO_ECALLI] = FORGETS,
    [PVM_DO_MEMSET] = FORGETS,                    [PVM_DO_SBRK] = FORGETS,
};
/* clang-format on */
static const uint8_t kinds[PVM_OPS] = {
#define MAKE(name, kind, class, ...) [PVM_OP_##name] = PVM_DO_##kind,
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
#include "pvm/isa.def"
#undef MAKE
};

/* A register counts as held by acc for ACC_REACH instructions, so that interp_prepare() below
 * finds the instruction that wrote it. */
enum { ACC_REACH = 8, NOT_IN_ACC = 255 };

static unsigned interp_trait(const struct pvm_cell *c)
{
    return c->op < PVM_OPS ? traits[kinds[c->op]] : FORGETS;
}

/* Returns the register that acc holds after this cell. `acc` is the one that it holds before. */
static uint8_t acc_after(const struct pvm_cell *c, uint8_t acc)
{
    unsigned t = interp_trait(c);
    return t & FORGETS ? NOT_IN_ACC : t & WRITES_A ? c->a : t & WRITES_D ? c->d : acc;
}

/* Tells whether the operands of an instruction may change places. Only instructions that
 * superinstructions.c has are considered. */
static bool cell_commutes(const struct pvm_cell *c)
{
    switch (c->op) {
    case PVM_OP_add_64:
    case PVM_OP_add_32:
    case PVM_OP_mul_64:
    case PVM_OP_mul_32:
    case PVM_OP_and:
    case PVM_OP_or:
    case PVM_OP_xor:
    case PVM_OP_branch_eq:
    case PVM_OP_branch_not_eq: return true;
    default: return false;
    }
}

static bool cell_needs_step(const struct pvm_cell *c)
{
    if (!pvm_has_target(c->op)) return false;
    bool more = pvm_ops[c->op].shape == PVM_REG_IMM_OFFSET;
    return (more ? c[1].imm : c->imm) == PVM_CELL_NOWHERE;
}

static pvm_handler *narrow_handler(uint8_t op)
{
    switch (op) {
    case PVM_OP_reverse_byte: return reverse_byte_32;
    case PVM_OP_mul_upper_signed_signed: return mul_upper_ss_32;
    case PVM_OP_mul_upper_unsigned_unsigned: return mul_upper_uu_32;
    case PVM_OP_mul_upper_signed_unsigned: return mul_upper_su_32;
    default: return NULL;
    }
}

void pvm_cells_thread(const struct pvm_cells *p, struct pvm_cell *cells, uint32_t block,
                      const uint8_t *marked)
{
    const struct pvm_block *b = &p->blocks[block];
    bool narrow = pvm_isas[p->code.isa].bits == 32;
    uint32_t end = block + 1 < p->block_count ? p->blocks[block + 1].entry - 1 : p->count;
    uint32_t before = 0; /* the index of the cell before, if one handler may run it with this one */
    unsigned before_in = 0, age = 0;
    uint8_t acc = NOT_IN_ACC;
    if (b->loops) cells[b->entry].run = enter_loop;
    for (uint32_t i = b->first; i < end; i++) {
        struct pvm_cell *c = &cells[i];
        if (c->op == PVM_CELL_MORE) continue;
        unsigned in = IN_NONE, t = interp_trait(c);
        if (t & READS_B && c->b == acc && c->a != acc && cell_commutes(c)) {
            c->b = c->a;
            c->a = acc;
        }
        if (t & READS_A && c->a == acc)
            in = IN_A;
        else if (t & READS_B && c->b == acc)
            in = IN_B;
        bool loops = b->loops && c->op < PVM_OPS && pvm_has_target(c->op);
        bool special = true;
        pvm_handler *other = narrow && c->op < PVM_OPS ? narrow_handler(c->op) : NULL;
        if (marked && marked[i])
            c->run = leave_break;
        else if (c->op == PVM_CELL_FALL)
            c->run = implied_fall;
        else if (cell_needs_step(c))
            c->run = pvm_leave_step;
        else if (other)
            c->run = other;
        else {
            c->run = loops ? looping[c->op][in] : single[c->op][in];
            special = false;
        }
        pvm_handler *pair = special || !before
                                ? NULL
                                : pvm_pair_handler(cells[before].op, before_in, c->op, in, loops);
        if (pair) cells[before].run = pair;
        before = special || pair ? 0 : i;
        before_in = in;
        uint8_t next = acc_after(c, acc);
        age = t & (WRITES_A | WRITES_D) ? 0 : age + 1;
        acc = age < ACC_REACH ? next : NOT_IN_ACC;
    }
}

/* Sets acc and loop to the values that they would have if the block had run from its start to
 * this cell. */
static void interp_prepare(const struct pvm_vm *vm, uint32_t at)
{
    struct pvm_state *s = vm->state;
    const struct pvm_block *b = &vm->cells->blocks[vm->cells->places[at].block];
    s->loop = b->loops ? &s->cells[b->first] : NULL;
    s->acc = 0;
    unsigned age = 0;
    for (uint32_t i = at; i-- > b->first && age < ACC_REACH;) {
        const struct pvm_cell *c = &s->cells[i];
        if (c->op == PVM_CELL_MORE) continue;
        unsigned t = interp_trait(c);
        if (t & FORGETS) break;
        age++;
        if (!(t & (WRITES_A | WRITES_D))) continue;
        s->acc = *(uint64_t *)(void *)((uint8_t *)s->regs + (t & WRITES_A ? c->a : c->d));
        break;
    }
}

static void interp_execute(struct pvm_state *s)
{
    uint8_t *r = (uint8_t *)s;
    s->exit = PVM_EXIT_NONE;
#if PVM_TAIL_CALLS
    s->cell->run(s->cell, r, s->acc, s->loop, s->left);
#else
    while (!s->exit) s->cell->run(s->cell, r, s->acc, s->loop, s->left);
#endif
}

struct account { /* A struct account counts fuel and steps for one call of pvm_vm_run. */
    uint64_t fuel, steps;
    bool interrupted;
};

enum { SLICE = 1 << 16, STEPS_PER_CYCLE = 32 };

static bool interp_interrupted(struct pvm_vm *vm)
{
    return atomic_load_explicit(&vm->base.interrupt, memory_order_relaxed);
}

/* Returns the budget for the next slice, in the unit of charges. */
static int64_t slice_budget(const struct pvm_vm *vm, uint64_t fuel)
{
    uint64_t budget = SLICE;
    if (vm->cells->wide_charges) {
        if (fuel / STEPS_PER_CYCLE < budget) budget = fuel / STEPS_PER_CYCLE;
        if ((uint64_t)vm->state->gas < budget) budget = (uint64_t)vm->state->gas;
        return (int64_t)(budget << 32 | UINT64_C(1) << 31);
    }
    if (fuel < budget) budget = fuel;
    if (vm->metered && (uint64_t)vm->state->gas < budget) budget = (uint64_t)vm->state->gas;
    return (int64_t)budget;
}

/* Runs handlers from cell `at` until they return. `rest` is how many instructions this block
 * still has, all of which are paid. */
static enum pvm_exit run_slice(struct pvm_vm *vm, uint32_t at, uint32_t rest,
                               struct account *account)
{
    struct pvm_state *s = vm->state;
    interp_prepare(vm, at);
    s->cell = s->cells + at;
    int64_t budget = slice_budget(vm, account->fuel - account->steps - rest);
    s->left = budget;
    const struct pvm_block *b = &vm->cells->blocks[vm->cells->places[at].block];
    uint32_t place = vm->base.counts ? vm->places[vm->cells->places[at].block] : 0;
    if (place && b->loops) loop_begins(s, place, s->cells[b->first - 1].wide, budget);
    interp_execute(s);
    if (vm->base.counts) loop_ends(s, s->left);
    uint32_t now = (uint32_t)(s->cell - s->cells);
    uint64_t spent = (uint64_t)budget - (uint64_t)s->left;
    uint64_t steps = vm->cells->wide_charges ? (uint32_t)spent : spent;
    if (vm->metered) s->gas -= (int64_t)(vm->cells->wide_charges ? (spent - steps) >> 32 : spent);
    bool at_edge = s->exit == PVM_EXIT_CHARGE;
    account->steps += steps + rest - (at_edge ? 0 : pvm_cells_rest(vm->cells, now));
    s->pc = vm->cells->places[now].pc;
    vm->hint = now;
    vm->paid = !at_edge;
    return (enum pvm_exit)s->exit;
}

static void interp_finish(struct pvm_vm *vm, enum pvm_wait how) { vm->wait = how; }

static void stop_fault(struct pvm_vm *vm, penta_stop *stop)
{
    stop->kind = PENTA_STOP_FAULT;
    stop->args[0] = vm->memory.fault;
    stop->args[1] = vm->memory.fault_write;
    stop->args[2] = vm->memory.fault_protected;
}

static void stop_break(struct pvm_vm *vm, penta_stop *stop)
{
    stop->kind = PENTA_STOP_BREAK;
    vm->at_break = true;
    vm->break_pc = vm->state->pc;
}

static void stop_host(struct pvm_vm *vm, uint64_t *steps)
{
    ++*steps;
    vm->host_calls++;
    interp_finish(vm, PVM_WAIT_ANSWER);
}

void pvm_vm_refund(struct pvm_vm *vm, uint32_t rest, uint32_t done)
{
    if (!vm->by_step || !vm->paid) return;
    vm->state->gas += rest - done;
    vm->paid = false;
}

bool pvm_vm_step(struct pvm_vm *vm, uint64_t *steps, penta_stop *stop)
{
    if (vm->by_step) { /* This instruction is paid alone. */
        if (!vm->state->gas) {
            stop->kind = PENTA_STOP_GAS;
            return true;
        }
        vm->state->gas--;
    }
    switch (pvm_step(vm)) {
    case PVM_STEPPED: ++*steps; return false;
    case PVM_ENTERED:
        ++*steps;
        vm->paid = false;
        return false;
    case PVM_STEP_TRAP: interp_finish(vm, PVM_TRAPPED); return true;
    case PVM_STEP_HALT:
        ++*steps;
        interp_finish(vm, PVM_HALTED);
        return true;
    case PVM_STEP_HOST: stop_host(vm, steps); return true;
    case PVM_STEP_FAULT: stop_fault(vm, stop); return true;
    case PVM_STEP_GAS: stop->kind = PENTA_STOP_GAS; return true;
    case PVM_STEP_PAUSE:                   /* The caller looks at the interrupt flag next. */
        if (vm->by_step) vm->state->gas++; /* The instruction starts again later, and pays again. */
        return false;
    }
    return true;
}

/* Charges the block around the cell. Returns false, and charges nothing, when there is too
 * little gas. */
static bool interp_pay(struct pvm_vm *vm, uint32_t at)
{
    uint32_t cost = vm->metered ? pvm_block_gas(vm->cells, vm->cells->places[at].block) : 0;
    if (vm->by_step) cost = pvm_cells_rest(vm->cells, at);
    if (vm->state->gas < cost && vm->metered) return false;
    if (vm->metered) vm->state->gas -= cost;
    vm->paid = true;
    return true;
}

static bool take_interrupt(struct pvm_vm *vm, penta_stop *stop)
{
    if (!interp_interrupted(vm)) return false;
    atomic_store_explicit(&vm->base.interrupt, false, memory_order_relaxed);
    stop->kind = PENTA_STOP_INTERRUPT;
    return true;
}

uint32_t pvm_vm_cell(struct pvm_vm *vm)
{
    const struct pvm_cells *p = vm->cells;
    uint32_t at = vm->hint;
    if (at < p->count && p->places[at].pc == vm->state->pc && p->cells[at].op < PVM_OPS) return at;
    return vm->hint = pvm_cells_find(p, vm->state->pc);
}

/* Traps because no instruction starts at pc. Such a trap costs as much as the instruction trap. */
static void start_trap(struct pvm_vm *vm, penta_stop *stop)
{
    if (vm->by_step && !vm->state->gas) {
        stop->kind = PENTA_STOP_GAS;
        return;
    }
    if (vm->by_step) vm->state->gas--;
    vm->trap = PVM_TRAP_START;
    interp_finish(vm, PVM_TRAPPED);
}

/* Runs until something stops the machine. */
static void run_until_stop(struct pvm_vm *vm, struct account *account, penta_stop *stop)
{
    struct pvm_state *s = vm->state;
    /* The last run stopped at this breakpoint. */
    bool first = vm->at_break && vm->break_pc == s->pc;
    if (account->fuel) vm->at_break = false;
    for (;; first = false) {
        if (take_interrupt(vm, stop)) return;
        stop->kind = PENTA_STOP_FUEL;
        if (account->steps == account->fuel) return;
        uint32_t at = pvm_vm_cell(vm);
        if (!at) {
            start_trap(vm, stop);
            return;
        }
        bool marked = vm->marked && vm->marked[at];
        if (marked && !first) {
            stop_break(vm, stop);
            return;
        }
        bool paid = vm->paid || interp_pay(vm, at);
        if (!paid && !vm->by_step) {
            stop->kind = PENTA_STOP_GAS;
            return;
        }
        uint32_t rest = pvm_cells_rest(vm->cells, at);
        enum pvm_exit why = PVM_EXIT_STEP;
        bool slice = paid && !marked && account->fuel - account->steps >= rest;
        const struct pvm_block *b = &vm->cells->blocks[vm->cells->places[at].block];
        if (vm->base.counts && (!slice || b->loops || b->first != at)) count_start(vm, at);
        if (slice) why = run_slice(vm, at, rest, account);
        if (why == PVM_EXIT_CHARGE) continue;
        if (why == PVM_EXIT_HOST) {
            vm->host_number = (uint32_t)s->cell->imm;
            pvm_vm_refund(vm, pvm_cells_rest(vm->cells, vm->hint), 1);
            stop_host(vm, &account->steps);
            if (vm->base.counts) counts_leave_after(vm->base.counts, s->pc);
            return;
        }
        if (why == PVM_EXIT_BREAK) {
            stop_break(vm, stop);
            return;
        }
        if (vm->by_step && vm->paid)
            pvm_vm_refund(vm, pvm_cells_rest(vm->cells, pvm_vm_cell(vm)), 0);
        uint64_t pc = s->pc, steps = account->steps;
        bool over = pvm_vm_step(vm, &account->steps, stop);
        if (vm->base.counts && account->steps == steps)
            counts_leave(vm->base.counts, pc);
        else if (vm->base.counts)
            counts_leave_after(vm->base.counts, pc);
        if (over) return;
        if (vm->base.guards.hit) {
            stop->kind = PENTA_STOP_BREAK;
            return;
        }
    }
}

void pvm_vm_convert(struct pvm_vm *vm, bool extend)
{
    for (unsigned i = 0; vm->w32 && i < PVM_REGISTERS; i++) {
        uint64_t v = vm->state->regs[i];
        vm->state->regs[i] = extend ? op_extend32(v) : (uint32_t)v;
    }
}

void pvm_vm_report(struct pvm_vm *vm, penta_stop *stop)
{
    stop->pc = vm->state->pc;
    if (vm->wait == PVM_HALTED) {
        stop->kind = PENTA_STOP_HALT;
        stop->args[0] = vm->state->regs[PVM_A0];
    } else if (vm->wait == PVM_TRAPPED) {
        stop->kind = PENTA_STOP_TRAP;
        stop->detail = vm->trap;
        if (vm->trap == PVM_TRAP_ACCESS || vm->trap == PVM_TRAP_STACK)
            stop->args[0] = vm->memory.fault;
    } else if (vm->wait == PVM_UNPAID) {
        stop->kind = PENTA_STOP_GAS;
    } else if (vm->wait == PVM_WAIT_ANSWER) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = vm->host_number;
        for (unsigned i = 0; i < 6; i++) stop->args[i] = vm->state->regs[PVM_A0 + i];
    }
}

void pvm_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct pvm_vm *vm = pvm_vm(base);
    struct account account = {.fuel = fuel};
    *stop = (penta_stop){.pc = vm->state->pc};
    if (pvm_vm_tells(vm, stop)) return;
    if (!pvm_vm_thread(vm)) { /* Memory ran out; the next run tries again. */
        stop->kind = PENTA_STOP_INTERRUPT;
        return;
    }
    if (base->guards.count) pvm_memory_watch(&vm->memory, &base->guards);
    pvm_vm_continue(vm);
    while (vm->wait == PVM_READY) {
        pvm_vm_convert(vm, true);
        run_until_stop(vm, &account, stop);
        pvm_vm_convert(vm, false);
        if (vm->by_step && vm->paid)
            pvm_vm_refund(vm, pvm_cells_rest(vm->cells, pvm_vm_cell(vm)), 0);
        if (!pvm_vm_continue(vm)) break;
    }
    if (base->guards.count) pvm_memory_watch(&vm->memory, NULL);
    if (vm->executed != UINT64_MAX) vm->executed += account.steps;
    stop->steps = account.steps;
    pvm_vm_report(vm, stop);
    pvm_vm_announce(vm, stop);
}
