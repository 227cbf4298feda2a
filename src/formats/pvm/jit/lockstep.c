/* Has the engine "both", which runs compiled code and the interpreter in lock step (PVM 21.7),
 * block by block, each on its own memory. Registers, pc and gas are compared after every block;
 * memory is compared at every stop and, when it is small, after every block, too. The machine
 * that callers have is the compiled one. The other machine follows it, and gets what the host
 * changed whenever a run starts. The first difference ends the run with PENTA_STOP_DISAGREE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/describe.h"
#include "core/engine.h"
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"
#include "pvm/vm/snapshot.h"

struct pvm_twin {
    struct pvm_vm *vm;            /* the machine that the interpreter runs */
    uint64_t regs[PVM_REGISTERS]; /* the registers of both machines before the last block */
    uint32_t pc;
    char difference[64]; /* what differs, or "" when nothing does */
};

static bool same_areas(const struct pvm_memory *a, const struct pvm_memory *b)
{
    if (a->area_count != b->area_count) return false;
    for (size_t i = 0; i < a->area_count; i++)
        if (a->areas[i].address != b->areas[i].address ||
            a->areas[i].length != b->areas[i].length ||
            a->areas[i].writable != b->areas[i].writable)
            return false;
    return true;
}

static bool copy_areas(const struct pvm_memory *from, struct pvm_memory *to)
{
    if (same_areas(from, to)) return true;
    if (!pvm_memory_unmap(to, 0, UINT64_C(1) << 32)) return false;
    for (size_t i = 0; i < from->area_count; i++)
        if (!pvm_memory_map(to, from->areas[i].address, from->areas[i].length,
                            from->areas[i].writable, (penta_bytes){0}, false))
            return false;
    return true;
}

/* Tells whether a page may differ. A page that neither machine wrote and that has no initial
 * contents is zero in both. */
static bool may_differ(const struct pvm_memory *a, const struct pvm_memory *b,
                       const struct pvm_area *area, uint32_t page)
{
    if ((a->rights[page] | b->rights[page]) & PVM_DIRTY) return true;
    return ((uint64_t)page << PVM_PAGE_BITS) - area->address < area->initial.size;
}

static void lockstep_ignore(void *user, uint32_t address, const uint8_t *now,
                            const uint8_t *initial)
{
    (void)user, (void)address, (void)now, (void)initial;
}

/* Finds the first page whose bytes differ. Returns false when all pages are equal. When `copy`
 * is true, makes all pages equal. */
static bool lockstep_differs(const struct pvm_memory *from, struct pvm_memory *to, bool copy,
                             uint32_t *address)
{
    /* This call brings the DIRTY flags of pages up to date. */
    pvm_memory_changed(from, lockstep_ignore, NULL);
    for (size_t i = 0; i < from->area_count; i++) {
        const struct pvm_area *a = &from->areas[i];
        for (uint64_t at = a->address; at < a->address + a->length; at += PVM_PAGE) {
            uint32_t page = (uint32_t)(at >> PVM_PAGE_BITS);
            if (!may_differ(from, to, a, page)) continue;
            const uint8_t *x = pvm_backing_page(from, page, false);
            const uint8_t *y = pvm_backing_page(to, page, false);
            if (!memcmp(x, y, PVM_PAGE)) continue;
            *address = (uint32_t)at;
            if (!copy) return true;
            if (!pvm_memory_write(to, at, x, PVM_PAGE)) return true;
        }
    }
    return false;
}

static bool lockstep_follow(const struct pvm_vm *vm, struct pvm_vm *to)
{
    uint32_t address;
    if (!copy_areas(&vm->memory, &to->memory) ||
        lockstep_differs(&vm->memory, &to->memory, true, &address))
        return false;
    memcpy(to->state->regs, vm->state->regs, sizeof to->state->regs);
    to->state->gas = vm->state->gas;
    to->state->pc = vm->state->pc;
    to->paid = vm->paid;
    to->wait = vm->wait;
    to->trap = vm->trap;
    to->layout = vm->layout;
    to->heap_size = vm->heap_size;
    to->call_count = to->next_call = 0;
    return true;
}

static bool lockstep_note(struct pvm_twin *t, const char *what, uint64_t compiled,
                          uint64_t interpreted)
{
    snprintf(t->difference, sizeof t->difference, "%s: jit 0x%llx, interp 0x%llx", what,
             (unsigned long long)compiled, (unsigned long long)interpreted);
    return false;
}

static bool lockstep_equal(struct pvm_twin *t, const struct pvm_vm *a)
{
    const struct pvm_vm *b = t->vm;
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        if (a->state->regs[i] != b->state->regs[i])
            return lockstep_note(t, pvm_register_names[i], a->state->regs[i], b->state->regs[i]);
    if (a->state->pc != b->state->pc) return lockstep_note(t, "pc", a->state->pc, b->state->pc);
    if (a->metered && a->state->gas != b->state->gas)
        return lockstep_note(t, "gas", (uint64_t)a->state->gas, (uint64_t)b->state->gas);
    if (a->wait != b->wait) return lockstep_note(t, "wait", a->wait, b->wait);
    return true;
}

static bool equal_stops(struct pvm_twin *t, const struct pvm_vm *vm, const penta_stop *a,
                        const penta_stop *b)
{
    uint32_t address;
    if (a->kind != b->kind) return lockstep_note(t, "stop", a->kind, b->kind);
    if (a->detail != b->detail) return lockstep_note(t, "detail", a->detail, b->detail);
    for (unsigned i = 0; i < 3; i++)
        if (a->args[i] != b->args[i]) return lockstep_note(t, "argument", a->args[i], b->args[i]);
    if (vm->heap_size != t->vm->heap_size)
        return lockstep_note(t, "heap", vm->heap_size, t->vm->heap_size);
    if (!same_areas(&vm->memory, &t->vm->memory)) return lockstep_note(t, "memory map", 0, 0);
    if (lockstep_differs(&vm->memory, &t->vm->memory, false, &address))
        return lockstep_note(t, "page", address, address);
    return true;
}

/* Tells whether there is so little memory that it is compared after every block. */
static bool lockstep_small(const struct pvm_memory *m)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->area_count; i++) bytes += m->areas[i].length;
    return bytes <= 16 * PVM_PAGE;
}

/* Runs the machine `other` up to where `vm` is, a whole block at once or by single steps. */
static void twin_catch_up(const struct pvm_vm *vm, struct pvm_vm *other, uint32_t rest,
                          bool stopped, penta_stop *stop)
{
    if (!stopped && !vm->paid && !vm->by_step) {
        pvm_vm_run(&other->base, rest, stop);
        return;
    }
    for (uint32_t i = 0; i <= rest; i++) {
        pvm_vm_run(&other->base, 1, stop);
        if (stop->kind != PENTA_STOP_FUEL) return;
        if (!stopped && other->state->pc == vm->state->pc && other->paid == vm->paid) return;
    }
}

static bool lockstep_block(struct pvm_vm *vm, struct pvm_twin *t, penta_stop *stop, bool *stopped)
{
    const struct pvm_cells *p = vm->cells;
    uint32_t at = pvm_cells_find(p, vm->state->pc), rest = at ? pvm_cells_rest(p, at) : 1;
    memcpy(t->regs, vm->state->regs, sizeof t->regs);
    t->pc = vm->state->pc;
    int64_t budget = at && !vm->paid ? (int64_t)pvm_block_gas(p, p->places[at].block) : 0;
    /* In this gas model no charge pays the rest of a block. */
    if (vm->by_step && rest < budget) budget = 0;
    *stopped = !pvm_jit_advance(vm, budget, stop);
    pvm_jit_refund(vm);
    if (*stopped) pvm_vm_report(vm, stop);
    penta_stop other;
    twin_catch_up(vm, t->vm, rest, *stopped, &other);
    if (!lockstep_equal(t, vm)) return false;
    if (*stopped) return equal_stops(t, vm, stop, &other);
    uint32_t address;
    if (lockstep_small(&vm->memory) &&
        lockstep_differs(&vm->memory, &t->vm->memory, false, &address))
        return lockstep_note(t, "page", address, address);
    return true;
}

static void both_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct pvm_vm *vm = pvm_vm(base);
    struct pvm_twin *t = vm->twin;
    bool stopped = false, agreed = !*t->difference;
    if (fuel != UINT64_MAX || vm->marked || !pvm_signal_thread()) {
        pvm_vm_run(base, fuel, stop);
        return;
    }
    *stop = (penta_stop){.pc = vm->state->pc};
    if (pvm_vm_tells(vm, stop)) return;
    pvm_run_begin(vm);
    pvm_vm_continue(vm);
    while (agreed) {
        if (vm->wait != PVM_READY) break;
        agreed = lockstep_follow(vm, t->vm) || lockstep_note(t, "memory", 0, 0);
        for (stopped = false; agreed && !stopped;) {
            if (atomic_exchange_explicit(&vm->base.interrupt, false, memory_order_relaxed)) {
                stop->kind = PENTA_STOP_INTERRUPT;
                stopped = true;
            } else {
                agreed = lockstep_block(vm, t, stop, &stopped);
            }
        }
        if (!pvm_vm_continue(vm)) break;
    }
    pvm_run_end(vm);
    stop->steps = UINT64_MAX;
    pvm_vm_report(vm, stop);
    if (!agreed)
        stop->kind = PENTA_STOP_DISAGREE;
    else
        pvm_vm_announce(vm, stop);
}

bool pvm_both_difference(const penta_vm *base, struct pvm_difference *out)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    if (base->engine != &pvm_both || !*vm->twin->difference) return false;
    const struct pvm_cells *p = vm->cells;
    uint32_t pc = vm->twin->pc, at = pvm_cells_find(p, pc), size = (uint32_t)p->code.bytes.size;
    uint32_t block = at ? p->places[at].block : 0;
    *out = (struct pvm_difference){vm->twin->difference, pc, pc + 1, pc, p->native};
    if (!at) return true; /* No instruction starts at pc. */
    out->from = p->blocks[block].pc;
    out->to = block + 1 < p->block_count ? p->blocks[block + 1].pc : size;
    return true;
}

static void lockstep_describe_before(const struct pvm_twin *t, const penta_visitor *v)
{
    penta_node node = {.name = "before"}, registers = {.name = "registers"};
    if (!describe_enter(v, node)) return;
    describe_uint(v, "pc", t->pc);
    if (describe_enter(v, registers)) {
        for (unsigned i = 0; i < PVM_REGISTERS; i++)
            describe_word(v, pvm_register_names[i], t->regs[i]);
        describe_leave(v, registers);
    }
    describe_leave(v, node);
}

static void both_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    pvm_vm_describe(base, v);
    if (!*vm->twin->difference) return;
    penta_node node = {.name = "interp"};
    if (describe_enter(v, node)) {
        pvm_vm_describe(&vm->twin->vm->base, v);
        describe_leave(v, node);
    }
    lockstep_describe_before(vm->twin, v);
}

static const char *both_detail(const penta_vm *vm, const penta_stop *stop)
{
    if (stop->kind == PENTA_STOP_DISAGREE) return pvm_vm_const(vm)->twin->difference;
    return pvm_vm_detail(vm, stop);
}

static void both_close(penta_vm *base)
{
    struct pvm_twin *t = pvm_vm(base)->twin;
    pvm_vm_destroy(t->vm);
    free(t);
    pvm_vm_close(base);
}

static const atomic_bool never;

void pvm_both_adopt(struct pvm_vm *vm, const struct pvm_config *config)
{
    struct pvm_config lock_step = *config, plain = *config;
    lock_step.metered = true; /* With gas, compiled code stops after each block. */
    lock_step.async = false;
    plain.adopt = NULL;
    struct pvm_twin *t = calloc(1, sizeof *t);
    penta_error err = {0};
    if (t) t->vm = pvm_vm_create(vm->base.module, &vm->cells->code, &plain, vm->cells, &err);
    if (t && t->vm) pvm_jit_adopt(vm, &lock_step);
    if (vm->base.engine == &pvm_jit) {
        vm->base.engine = &pvm_both;
        /* Neither machine may leave a block early, because that would be a difference. */
        vm->state->interrupt = t->vm->state->interrupt = &never;
        vm->twin = t;
        return;
    }
    if (t && t->vm) pvm_vm_destroy(t->vm);
    free(t);
}

static penta_vm *both_open_until(const penta_module *module, const penta_option *options,
                                 size_t count, const volatile int *stop, penta_error *err)
{
    struct flag_work work;
    return pvm_vm_open_with(module, options, count, pvm_both_adopt, flag_work_begin(&work, stop),
                            err);
}

static penta_vm *both_open(const penta_module *module, const penta_option *options, size_t count,
                           penta_error *err)
{
    return pvm_vm_open_with(module, options, count, pvm_both_adopt, NULL, err);
}

const struct engine pvm_both = {
    .name = "both",
    .open = both_open,
    .open_until = both_open_until,
    .run = both_run,
    PVM_ENGINE_CALLS(both),
    .interrupt = pvm_vm_interrupt, /* both_run tests the flag after every block. */
};
