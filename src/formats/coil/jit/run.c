/* Runs compiled code: enters it, does what its exits ask for, and hands over to the interpreter.
 * state.c writes the state of native code to the machine. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"
#include "core/snapshot.h"
#include <stdlib.h>

enum why { LEFT, TRAPPED, ASKED, INTERRUPTED };

struct found { /* parts of an address that an exit keeps besides the state */
    uint64_t base, index, disp;
};

static struct found coil_run_look(const struct coil_jit *j, const struct ssa_site *s)
{
    struct found f = {0};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct ssa_location *at = &j->locations[s->first + i];
        uint64_t value = coil_jit_value(j, at, j->frame);
        if (at->key == COIL_KEY_BASE) f.base = value;
        if (at->key == COIL_KEY_INDEX) f.index = value;
        if (at->key == COIL_KEY_DISP) f.disp = value;
    }
    return f;
}

static uint64_t coil_run_leave(struct coil_jit *j, enum why why)
{
    j->why = (int)why;
    return 1;
}

static uint64_t coil_run_trap(struct coil_jit *j, uint32_t number)
{
    if (!coil_jit_settle(j)) number = COIL_TRAP_OUT_OF_MEMORY;
    j->vm.trap = number;
    j->vm.final = true;
    return coil_run_leave(j, TRAPPED);
}

static uint64_t interpreter_hand_over(struct coil_jit *j, enum why why)
{
    if (!coil_jit_settle(j)) {
        j->vm.trap = COIL_TRAP_OUT_OF_MEMORY;
        j->vm.final = true;
        why = TRAPPED;
    }
    j->suspended = why == ASKED || why == INTERRUPTED;
    return coil_run_leave(j, why);
}

/* Stops before an instruction. When the run continues, the instruction is executed. */
static uint64_t pause_here(struct coil_jit *j)
{
    atomic_store_explicit(&j->vm.base.interrupt, false, memory_order_relaxed);
    j->again = true;
    return interpreter_hand_over(j, INTERRUPTED);
}

static uint64_t stop_for_interrupt(struct coil_jit *j)
{
    if (!atomic_exchange_explicit(&j->vm.base.interrupt, false, memory_order_relaxed)) return 0;
    return interpreter_hand_over(j, INTERRUPTED);
}

struct filling {
    struct coil_jit *j;
    uint32_t function;
};

static void slot_fill(void *user, uint8_t at, uint32_t slot, bool write)
{
    const struct filling *f = user;
    /* A place that is only written is filled too: if the step traps before the write, the place
     * must keep its old value. */
    (void)write;
    if (at == COIL_AT_SLOT)
        f->j->scratch[slot] = coil_jit_variable(f->j, f->function, f->j->frame, slot);
}

static void coil_run_fill(struct coil_jit *j, const struct ssa_site *s)
{
    if (j->framed[s->function]) {
        struct filling f = {j, s->function};
        uint32_t slots = j->vm.program.functions[s->function].slots;
        coil_step_touches(j->vm.program.steps[s->position], slot_fill, &f);
        for (uint32_t r = 0; r < j->touched[s->function]; r++)
            j->vm.v[r] = coil_jit_word(j->frame, slots + r);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const struct ssa_location *at = &j->locations[s->first + i];
        if (at->key == SSA_KEY_CALLER) break;
        uint64_t value = coil_jit_value(j, at, j->frame);
        if (at->key < COIL_KEY_REGISTER)
            j->scratch[at->key] =
                coil_canon(j->slot_types[j->slot_first[s->function] + at->key], value);
        else if (at->key < COIL_KEY_FLAGS)
            j->vm.v[at->key - COIL_KEY_REGISTER] = value;
    }
}

/* These are the registers after a step that trapped: what the step wrote before the trap belongs
 * to the state. */
struct written {
    struct coil_jit *j;
    uint64_t v[COIL_REGISTERS];
};

static void keep_result(void *user, uint8_t at, uint32_t slot, bool write)
{
    struct written *w = user;
    if (at == COIL_AT_SLOT && write) w->j->vm.slots[w->j->vm.fp + slot] = w->j->scratch[slot];
    if (at == COIL_AT_REGISTER && write) w->j->vm.v[slot] = w->v[slot];
}

static uint64_t coil_run_step(struct coil_jit *j, const struct ssa_site *s)
{
    struct coil_vm *vm = &j->vm;
    const struct coil_step *step = vm->program.steps[s->position];
    uint64_t *slots = vm->slots, fp = vm->fp;
    struct written written = {.j = j};
    coil_run_fill(j, s);
    vm->slots = j->scratch;
    vm->fp = 0;
    uint32_t number = coil_step_run(vm, step);
    vm->slots = slots;
    vm->fp = fp;
    if (!number) return 0;
    if (number == COIL_PAUSE) return pause_here(j);
    memcpy(written.v, vm->v, sizeof written.v);
    uint64_t way = coil_run_trap(j, number);
    coil_step_touches(step, keep_result, &written);
    return way;
}

static void set_limits(struct coil_jit *j)
{
    for (uint32_t i = 0; i < j->limit_count; i++)
        atomic_store_explicit(&j->limits[i], j->limit_words[i], memory_order_relaxed);
    uint64_t top = (uint64_t)(uintptr_t)(j->stack_memory + j->stack_bytes);
    atomic_store_explicit(&j->stack_limit, top - 8 - 8 * (j->vm.depth_max - j->base_depth),
                          memory_order_relaxed);
}

/* Handles an access that the fast check refused. It may be in another region than the access
 * before. */
static uint64_t coil_run_check(struct coil_jit *j, const struct ssa_site *s)
{
    struct found f = coil_run_look(j, s);
    uint64_t address = f.base + (f.index << (s->kind >> 12 & 3)) + f.disp;
    bool write = s->kind >> 11 & 1;
    uint32_t refused = 0, size = 1u << (s->kind >> 8 & 7);
    /* An interrupt sets the limits to 0. They are restored before the flag is read, so that no
     * interrupt is lost. */
    set_limits(j);
    if (!coil_memory(&j->vm, address, size, write, &refused)) return coil_run_trap(j, refused);
    const struct coil_region *r = coil_region_at(&j->vm, address);
    struct ssa_window *w = &j->windows[s->kind >> 16];
    w->base = r->base;
    for (unsigned k = 0; k < SSA_WINDOW_SIZES; k++)
        w->limit[k] = r->size >> k ? r->size - (1u << k) + 1 : 0;
    return stop_for_interrupt(j);
}

static uint64_t coil_run_deep(struct coil_jit *j)
{
    set_limits(j);
    if (j->base_depth + coil_jit_depth(j) >= j->vm.depth_max)
        return coil_run_trap(j, COIL_TRAP_STACK_OVERFLOW);
    return stop_for_interrupt(j);
}

static uint64_t coil_run_clear(struct coil_jit *j, const struct ssa_site *s)
{
    uint32_t paused = j->vm.bulk.kind
                          ? coil_bulk_run(&j->vm)
                          : coil_clear_frame(&j->vm, j->vm.program.functions[s->function].bytes);
    return paused ? pause_here(j) : 0;
}

static uint64_t coil_run_condition(struct coil_jit *j, uint8_t which)
{
    coil_flags_settle(&j->vm);
    j->scratch[0] = coil_condition(which, j->vm.flags);
    return 0;
}

uint64_t coil_jit_ask(struct coil_jit *j)
{
    const struct ssa_site *s = coil_jit_site(j, *(const uint64_t *)(uintptr_t)j->stack);
    switch ((enum coil_exit_kind)(s->kind & 0xff)) {
    case COIL_EXIT_CHECK: return coil_run_check(j, s);
    case COIL_EXIT_STEP: return coil_run_step(j, s);
    case COIL_EXIT_PORT: return interpreter_hand_over(j, ASKED);
    case COIL_EXIT_POLL: return stop_for_interrupt(j);
    case COIL_EXIT_DEPTH: return coil_run_deep(j);
    case COIL_EXIT_FRAMES: return coil_run_trap(j, COIL_TRAP_STACK_OVERFLOW);
    case COIL_EXIT_CLEAR: return coil_run_clear(j, s);
    case COIL_EXIT_CONDITION: return coil_run_condition(j, (uint8_t)(s->kind >> 8));
    default: return interpreter_hand_over(j, LEFT);
    }
}

typedef uint64_t native_fn(struct coil_jit *j, const void *code);

static bool call_native(struct coil_jit *j, uint32_t stub, uint32_t at)
{
    union {
        const void *data;
        native_fn *code;
    } way = {j->code + stub};
    j->vm.executed = UINT64_MAX;
    j->vm.yielded = false;
    j->inside = true;
    bool returns = way.code(j, j->code + at) != 0;
    j->inside = false;
    return returns;
}

/* Enters native code at the start of a function. Returns true if the function has returned. */
static bool coil_run_enter(struct coil_jit *j)
{
    struct coil_vm *vm = &j->vm;
    j->base_depth = vm->depth;
    j->base_fp = vm->fp;
    j->base_function = vm->function;
    j->stack = (uint64_t)(uintptr_t)(j->stack_memory + j->stack_bytes);
    j->frame = (uint64_t)(uintptr_t)j->frame_memory;
    set_limits(j);
    return call_native(j, j->enter, j->entries[vm->function]);
}

static void take_answer(void *user, uint8_t at, uint32_t slot, bool write)
{
    struct coil_jit *j = user;
    if (at == COIL_AT_SLOT && write) j->scratch[slot] = j->vm.slots[j->vm.fp + slot];
}

/* Resumes native code at the exit where it stopped. The state of the machine must be the same as
 * then. */
static bool coil_run_resume(struct coil_jit *j)
{
    const struct ssa_site *s = coil_jit_site(j, *(const uint64_t *)(uintptr_t)j->stack);
    if ((s->kind & 0xff) == COIL_EXIT_PORT)
        coil_step_touches(j->vm.program.steps[s->position], take_answer, j);
    bool again = j->again;
    j->suspended = j->again = false;
    set_limits(j);
    if (again && ((s->kind & 0xff) == COIL_EXIT_STEP ? coil_run_step(j, s) : coil_run_clear(j, s)))
        return false;
    return call_native(j, j->resume, 0);
}

/* This is called when the function with which native code was entered has returned. */
static void coil_run_returned(struct coil_jit *j)
{
    struct coil_vm *vm = &j->vm;
    memcpy(vm->v, j->gpr, j->touched[j->base_function] * sizeof *vm->v);
    vm->depth = j->base_depth;
    vm->fp = j->base_fp;
    vm->function = j->base_function;
    /* The program has ended. Native code has stored the place of the return instruction in `pc`. */
    if (!vm->depth) {
        vm->final = vm->halted = true;
        vm->function = vm->program.owners[vm->pc];
        return;
    }
    vm->pc = coil_leave(vm);
}

/* Runs the interpreter until the next call or stop. Returns false if it was a stop. */
static bool coil_run_interpret(struct coil_jit *j, uint64_t fuel, penta_stop *stop)
{
    j->vm.yields = true;
    coil_vm_run(&j->vm.base, fuel, stop);
    j->vm.yields = false;
    return j->vm.yielded;
}

static void run_native(struct coil_jit *j, penta_stop *stop)
{
    for (;;) {
        if (j->suspended ? coil_run_resume(j) : coil_run_enter(j)) {
            coil_run_returned(j);
            if (j->vm.final) break;
        } else if (j->why == ASKED || j->why == TRAPPED) {
            break;
        } else if (j->why == INTERRUPTED) {
            *stop = (penta_stop){.kind = PENTA_STOP_INTERRUPT, .pc = j->vm.program.pcs[j->vm.pc]};
            return;
        }
        if (!coil_run_interpret(j, UINT64_MAX, stop)) return;
    }
    /* The interpreter produces the stop: it asks the host, or reports the end of the program. */
    coil_vm_run(&j->vm.base, 1, stop);
    if (!j->vm.waiting) j->suspended = false;
}

/* Tells whether the interpreter must run the program: when steps are counted, when there are
 * breakpoints, and when there is no native code. */
static bool by_interpreter(const struct coil_jit *j, uint64_t fuel)
{
    return !j->code || fuel != UINT64_MAX || j->vm.marked || j->vm.final || j->vm.waiting;
}

static void jit_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct coil_jit *j = coil_jit(base);
    if (by_interpreter(j, fuel)) {
        if (fuel && !j->vm.final && !j->vm.waiting) j->suspended = j->again = j->vm.yielded = false;
        coil_vm_run(base, fuel, stop);
        return;
    }
    j->vm.started = true;
    if (atomic_exchange_explicit(&base->interrupt, false, memory_order_relaxed)) {
        *stop = (penta_stop){.kind = PENTA_STOP_INTERRUPT, .pc = j->vm.program.pcs[j->vm.pc]};
        return;
    }
    if (j->suspended || j->vm.yielded || coil_run_interpret(j, UINT64_MAX, stop))
        run_native(j, stop);
    if (j->vm.executed == UINT64_MAX) stop->steps = UINT64_MAX;
}

static void jit_interrupt(penta_vm *base)
{
    /* When the limits are 0, every check fails and leads to an exit, which reads the interrupt
     * flag. Loops without checks read the flag themselves. */
    struct coil_jit *j = coil_jit(base);
    for (uint32_t i = 0; i < j->limit_count; i++)
        atomic_store_explicit(&j->limits[i], 0, memory_order_relaxed);
    for (unsigned i = 0; i < COIL_WINDOWS; i++)
        for (unsigned k = 0; k < SSA_WINDOW_SIZES; k++)
            *(volatile uint64_t *)&j->windows[i].limit[k] = 0;
    atomic_store_explicit(&j->stack_limit, UINT64_MAX, memory_order_relaxed);
}

static void jit_walk(penta_vm *base, struct walk *w)
{
    struct coil_jit *j = coil_jit(base);
    coil_vm_walk(base, w);
    if (walk_loads(w)) j->suspended = j->again = j->vm.yielded = false;
}

static void jit_close(penta_vm *base)
{
    coil_jit_release(coil_jit(base));
    coil_vm_close(base);
}

penta_vm *coil_jit_open(const penta_module *module, const penta_option *options, size_t count,
                        const struct engine *engine, const volatile int *stop, penta_error *err)
{
    penta_vm *base = coil_vm_open(module, options, count, sizeof(struct coil_jit), err);
    if (!base) return NULL;
    struct coil_jit *j = coil_jit(base);
    const char *level = option_text(options, count, "optimize");
    j->level = level ? (unsigned)(level[0] - '0') : COIL_LEVEL_FULL;
    const char *vectors = option_text(options, count, "vectors");
    j->sse2 = vectors && !strcmp(vectors, "sse2");
    j->linear = j->vm.linear;
    j->work.stop = stop;
    bool compiled = j->linear && coil_jit_compile(j);
    j->work.stop = NULL; /* The flag belongs to the caller, and may not exist later. */
    if (compiled) {
        j->vm.yielded = true; /* The machine is at the start of the entry function. */
        base->engine = engine;
    } else {
        coil_jit_release(j); /* Without compiled code, the interpreter runs the program. */
    }
    return base;
}

static penta_vm *jit_open_until(const penta_module *module, const penta_option *options,
                                size_t count, const volatile int *stop, penta_error *err)
{
    return coil_jit_open(module, options, count, &coil_jit_engine, stop, err);
}

static penta_vm *jit_open(const penta_module *module, const penta_option *options, size_t count,
                          penta_error *err)
{
    return jit_open_until(module, options, count, NULL, err);
}

const struct engine coil_jit_engine = {
    .name = "jit",
    .open = jit_open,
    .open_until = jit_open_until,
    .run = jit_run,
    .answer = coil_vm_answer,
    .describe = coil_vm_describe,
    .peek = coil_vm_peek,
    .poke = coil_vm_poke,
    .mark = coil_vm_mark,
    .interrupt = jit_interrupt,
    .sample = coil_jit_sample,
    .walk = jit_walk,
    .close = jit_close,
    .detail = coil_vm_detail,
};
