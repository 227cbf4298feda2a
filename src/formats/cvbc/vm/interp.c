/* The interpreter executes decoded instructions. It has a stack in memory, and one loop in
 * several forms (loop.h). */
#include <string.h>
#include "core/dispatch.h"
#include "core/structure/counts.h"
#include "cvbc/vm/vm.h"

/* Divides as ARM's SDIV does (CVBC 11.2): INT_MIN / -1 is INT_MIN with the remainder 0. */
static inline int32_t cvbc_div(int32_t a, int32_t b)
{
    return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}
static inline int32_t cvbc_mod(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }

static inline int32_t *cvbc_element(struct cvbc_vm *vm, uint32_t id, int32_t index)
{
    if (id >= CVBC_ARRAYS || (uint32_t)index >= vm->arrays[id].size) return NULL;
    return &vm->pool[vm->arrays[id].from + (uint32_t)index];
}

static bool cvbc_create(struct cvbc_vm *vm, uint32_t id, int32_t size)
{
    if (id >= CVBC_ARRAYS || size < 1 || size > 64 || vm->arrays[id].size) return false;
    if ((uint32_t)size > CVBC_POOL - vm->pool_used) return false;
    vm->arrays[id].from = (uint16_t)vm->pool_used;
    vm->arrays[id].size = (uint16_t)size;
    memset(&vm->pool[vm->pool_used], 0, (uint32_t)size * sizeof *vm->pool);
    vm->pool_used += (uint32_t)size;
    return true;
}

/* The functions below watch memory: words of the stack, globals, elements of arrays. */

/* The table has for each operation the larger number of the words that it pops and pushes, and
 * whether its operand names another word, in the stack below those words or elsewhere. */
enum { NO_WORD, LOCAL_WORD, OTHER_WORD };
#define WORD_NONE NO_WORD
#define WORD_VALUE NO_WORD
#define WORD_TARGET NO_WORD
#define WORD_STRING NO_WORD
#define WORD_DEPTH LOCAL_WORD
#define WORD_GLOBAL OTHER_WORD
#define WORD_ARRAY OTHER_WORD
static const struct reach {
    uint8_t pops, pushes, span, word;
} reaches[CVBC_DOES] = {
#define REACH(pops, pushes, word)                                                                  \
    {                                                                                              \
        pops, pushes, (pops) > (pushes) ? (pops) : (pushes), word                                  \
    }
#define OP(code, name, operand, flags, pops, pushes, ...)                                          \
    [CVBC_DO_##name] = REACH(pops, pushes, WORD_##operand),
#include "cvbc/isa.def"
    [CVBC_DO_PUSH_S] = REACH(0, 1, NO_WORD),
    [CVBC_DO_PUSH_W] = REACH(1, 1, NO_WORD),
    [CVBC_DO_STORE_ARRAY_V] = REACH(2, 0, OTHER_WORD),
};

static void see_word(struct cvbc_vm *vm, uint64_t window, uint64_t word, bool write)
{
    guards_see(&vm->base.guards, window + 4 * word, 4, write);
}

static void see_element(struct cvbc_vm *vm, uint16_t id, uint32_t index_at, bool write)
{
    const int32_t *e = cvbc_element(vm, id, vm->stack[CVBC_GUARD + index_at]);
    if (e) see_word(vm, CVBC_POOL_WINDOW, (uint64_t)(e - vm->pool), write);
}

static void see_elsewhere(struct cvbc_vm *vm, const struct cvbc_insn *in, uint32_t sp)
{
    uint32_t depth = in->imm;
    switch (in->op) {
    case CVBC_DO_LOAD_GLOBAL: see_word(vm, CVBC_GLOBALS_WINDOW, in->imm, false); break;
    case CVBC_DO_STORE_GLOBAL: see_word(vm, CVBC_GLOBALS_WINDOW, in->imm, true); break;
    case CVBC_DO_LOAD_LOCAL:
        if (sp > depth) see_word(vm, CVBC_STACK_WINDOW, sp - 1 - depth, false);
        break;
    case CVBC_DO_STORE_LOCAL:
        if (sp > depth + 1) see_word(vm, CVBC_STACK_WINDOW, sp - 2 - depth, true);
        break;
    case CVBC_DO_LOAD_ARRAY:
        if (sp) see_element(vm, in->imm, sp - 1, false);
        break;
    case CVBC_DO_STORE_ARRAY:
        if (sp > 1) see_element(vm, in->imm, sp - 1, true);
        break;
    case CVBC_DO_STORE_ARRAY_V:
        if (sp > 1) see_element(vm, in->imm, sp - 2, true);
        break;
    default: break;
    }
}

/* Tells the guards which words of the stack an instruction accesses. POP removes a word and does
 * not read it. */
static void see_stack(struct cvbc_vm *vm, const struct cvbc_insn *in, uint32_t sp)
{
    const struct reach *r = &reaches[in->op];
    if (r->pops > sp) return;
    uint32_t from = sp - r->pops;
    for (uint32_t i = from; i < sp && in->op != CVBC_DO_POP; i++)
        see_word(vm, CVBC_STACK_WINDOW, i, false);
    for (uint32_t i = from; i < from + r->pushes; i++) see_word(vm, CVBC_STACK_WINDOW, i, true);
}

/* Tells whether the instruction may access watched memory. */
static inline bool may_meet(const struct cvbc_vm *vm, const struct cvbc_insn *in, uint32_t sp)
{
    const struct reach r = reaches[in->op];
    const uint32_t from = vm->guarded.from, to = vm->guarded.to, low = sp - r.pops;
    return (low < to && low + r.span > from) ||
           (r.word == LOCAL_WORD ? low - 1 - in->imm - from < to - from
                                 : r.word && vm->guarded.others);
}

static bool interp_meets(struct cvbc_vm *vm, const struct cvbc_insn *in, uint32_t sp)
{
    see_stack(vm, in, sp);
    see_elsewhere(vm, in, sp);
    return vm->base.guards.hit;
}

/* Finds the range of the stack from the lowest to the highest watched word. */
static void find_guarded(struct cvbc_vm *vm)
{
    const struct guards *g = &vm->base.guards;
    vm->guarded.from = vm->guarded.to = 0;
    vm->guarded.others = false;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t from = g->list[i].address / 4, to = (g->list[i].address + g->list[i].size + 3) / 4;
        if (from >= vm->capacity) vm->guarded.others = true;
        if (from >= vm->capacity) continue;
        if (!vm->guarded.to || from < vm->guarded.from) vm->guarded.from = (uint32_t)from;
        if (to > vm->guarded.to) vm->guarded.to = to < vm->capacity ? (uint32_t)to : vm->capacity;
    }
}

/* When the fuel is used up, the loop dispatches an operation that stops, so a single step is a
 * run with fuel 1 and needs no loop of its own. */
#define FETCH() ((uint8_t)(left ? (left--, in->op) : CVBC_DO_FUEL))
enum { SLICE = 1 << 16 }; /* number of steps between two looks at the interrupt flag */

#define FETCH_BELOW(clean) ((clean)->op)
/* AS executes another operation in place of the current one. */
#if THREADED
#define AS(other) goto *entry[other]
#else
#define AS(other)                                                                                  \
    {                                                                                              \
        op = other;                                                                                \
        continue;                                                                                  \
    }
#endif

#define LOOP run_checked
#define CHECKED 1
#include "cvbc/vm/loop.h"
#undef LOOP
#undef CHECKED
#define LOOP run_proved
#define CHECKED 0
#include "cvbc/vm/loop.h"
#undef LOOP
#undef CHECKED
#undef FETCH
#undef FETCH_BELOW

/* LOOK finds out what the next instruction will access. An instruction that accesses watched
 * memory is the last one of the run. */
#define AT_SP (uint32_t)(sp - base)
#define LOOK(in)                                                                                   \
    (may_meet(vm, in, AT_SP) && interp_meets(vm, in, AT_SP) ? (granted -= left, left = 0) : 0)
#define FETCH() (uint8_t)(left ? (left--, LOOK(in), in->op) : CVBC_DO_FUEL)
#define FETCH_BELOW(clean) (LOOK(clean), (clean)->op)
#define LOOP run_guarded
#define CHECKED 1
#include "cvbc/vm/loop.h"

/* Corrects the counts for the part of a straight piece of code that a run did not execute. */
static void count_stop(struct cvbc_vm *vm)
{
    bool begun = vm->waiting || (vm->ended && !vm->ran_off), trapped = vm->final && !vm->ended;
    if (begun)
        counts_leave_after(vm->base.counts, vm->pc);
    else if (trapped || !vm->places[vm->pc])
        counts_leave(vm->base.counts, vm->pc);
}

static bool guards_hold(const struct cvbc_vm *vm)
{
    return vm->stack[0] == CVBC_GUARD_LOW &&
           vm->stack[vm->capacity + CVBC_GUARD] == CVBC_GUARD_HIGH;
}

static void interp_say(struct cvbc_vm *vm, penta_stop *stop)
{
    stop->pc = vm->pc;
    if (vm->waiting) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = vm->program->code[4 * vm->pc];
        stop->args[0] = vm->program->code[4 * vm->pc] == CVBC_OP_PRINTF
                            ? (vm->clean ? vm->clean : vm->code)[vm->pc].imm
                            : (uint32_t)vm->args[0];
        bool text = stop->detail == CVBC_OP_PRINTF;
        if (text) stop->args[1] = vm->arg_count;
        for (uint32_t i = text ? 0 : 1; i < vm->arg_count && i + (text ? 2 : 0) < 6; i++)
            stop->args[i + (text ? 2 : 0)] = (uint32_t)vm->args[i];
    } else if (vm->final) {
        stop->kind = vm->ended ? PENTA_STOP_HALT : PENTA_STOP_TRAP;
        stop->detail = vm->error;
        if (vm->ended && vm->sp) stop->args[0] = (uint32_t)vm->stack[CVBC_GUARD + vm->sp - 1];
    }
}

bool cvbc_vm_refuses(struct cvbc_vm *vm)
{
    const struct cvbc_use *use =
        vm->pc < vm->count ? cvbc_use_of(vm->program->code[4 * vm->pc]) : NULL;
    *vm->refused = 0;
    return use && cvbc_declared_refuses(&vm->declared, use, vm->args[0], vm->args[1], vm->refused);
}

void cvbc_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    *stop = (penta_stop){.kind = PENTA_STOP_FUEL};
    if (!vm->final && !vm->waiting) {
        uint64_t budget = vm->budget - vm->executed;
        uint64_t allowed = fuel < budget ? fuel : budget;
        if (base->guards.count) cvbc_vm_unfuse(vm);
        if (base->guards.count) find_guarded(vm);
        if (vm->base.counts && allowed && !vm->places[vm->pc])
            counts_resume(vm->base.counts, vm->pc);
        if (base->guards.count)
            run_guarded(vm, allowed, stop);
        else if (vm->proved)
            run_proved(vm, allowed, stop);
        else
            run_checked(vm, allowed, stop);
        /* The machine checks this before any host gets the call. */
        if (vm->waiting && cvbc_vm_refuses(vm)) {
            vm->waiting = false;
            vm->final = true;
            vm->error = CVBC_TRAP_HARDWARE_FAULT;
            stop->steps--; /* Like every instruction that traps, the call is not counted. */
        }
        if (vm->base.counts && allowed) count_stop(vm);
        /* A host call is counted only when it succeeds. */
        vm->executed += stop->steps - vm->waiting;
        if (!guards_hold(vm)) {
            vm->error = CVBC_TRAP_STACK_CORRUPTION;
            vm->final = true;
            vm->ended = vm->waiting = false;
        } else if (stop->kind == PENTA_STOP_FUEL && vm->executed >= vm->budget && !vm->final &&
                   !vm->waiting) {
            vm->error = CVBC_TRAP_BUDGET;
            vm->final = true;
        }
    }
    interp_say(vm, stop);
}
