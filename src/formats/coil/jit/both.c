/* The engine "both" runs a program in compiled code and in the interpreter, each with its own
 * memory, and compares the two machines at every stop. The machine that callers see is the
 * compiled one; the interpreter follows it and gets the same answers from the host. The first
 * difference ends the run with PENTA_STOP_DISAGREE. Flags and slots are not compared, because
 * compiled code does not keep all of them. */
#include "coil/jit/jit.h"
#include "core/describe.h"
#include "core/snapshot.h"
#include <stdio.h>
#include <stdlib.h>

static bool both_note(struct coil_jit *j, const char *what, uint64_t compiled, uint64_t interpreted)
{
    snprintf(j->difference, sizeof j->difference, "%s: jit 0x%llx, interp 0x%llx", what,
             (unsigned long long)compiled, (unsigned long long)interpreted);
    return false;
}

static bool equal_memory(struct coil_jit *j, const struct coil_vm *a, const struct coil_vm *b)
{
    for (size_t i = 0; i < a->region_count; i++) {
        const struct coil_region *x = &a->regions[i], *y = &b->regions[i];
        if (x->size != y->size) return both_note(j, "size of a region", x->size, y->size);
        /* The memory of frames whose functions have returned may hold anything, so it is not
         * compared. */
        uint64_t size = x->size;
        if (x == a->heap) size = a->heap_top;
        if (x == a->frame_memory && x->size)
            size = a->frame_top - x->base + a->program.functions[a->function].bytes;
        if (!size || !memcmp(x->bytes, y->bytes, (size_t)size)) continue;
        uint64_t at = 0;
        while (x->bytes[at] == y->bytes[at]) at++;
        return both_note(j, "memory", x->base + at, y->bytes[at]);
    }
    return true;
}

static bool both_equal(struct coil_jit *j, const penta_stop *s, const penta_stop *t)
{
    const struct coil_vm *a = &j->vm, *b = (const struct coil_vm *)j->twin;
    if (s->kind != t->kind) return both_note(j, "stop", s->kind, t->kind);
    if (s->pc != t->pc) return both_note(j, "pc", s->pc, t->pc);
    if (s->detail != t->detail) return both_note(j, "detail", s->detail, t->detail);
    /* Some traps have an address. It is then the second argument of the stop. */
    bool address = s->detail <= COIL_TRAP_PROTECTION_VIOLATION ||
                   s->detail == COIL_TRAP_MISALIGNED || s->detail == COIL_TRAP_BAD_TARGET;
    unsigned args = s->kind == PENTA_STOP_HOST              ? COIL_HOST_ARGS
                    : s->kind == PENTA_STOP_TRAP && address ? 2
                                                            : 1;
    for (unsigned i = 0; i < args; i++)
        if (s->args[i] != t->args[i]) return both_note(j, "argument", s->args[i], t->args[i]);
    for (unsigned i = 0; i < COIL_REGISTERS; i++) {
        char name[] = {'v', (char)('0' + i / 10), (char)('0' + i % 10), 0};
        if (a->v[i] != b->v[i]) return both_note(j, name, a->v[i], b->v[i]);
    }
    if (a->depth != b->depth) return both_note(j, "depth", a->depth, b->depth);
    if (a->sp != b->sp) return both_note(j, "stack pointer", a->sp, b->sp);
    if (a->heap_top != b->heap_top) return both_note(j, "heap", a->heap_top, b->heap_top);
    if (a->frame_top != b->frame_top) return both_note(j, "frames", a->frame_top, b->frame_top);
    for (size_t i = 0; i < a->depth; i++)
        if (a->frames[i].back != b->frames[i].back)
            return both_note(j, "caller", a->frames[i].back, b->frames[i].back);
    return equal_memory(j, a, b);
}

static void both_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct coil_jit *j = coil_jit(base);
    penta_stop other;
    if (j->difference[0]) {
        *stop = (penta_stop){.kind = PENTA_STOP_DISAGREE, .pc = j->vm.program.pcs[j->vm.pc]};
        return;
    }
    /* The interpreter was interrupted before the place at which compiled code has already
     * stopped. */
    if (j->behind) {
        *stop = j->stop;
        j->behind = false;
    } else {
        coil_jit_engine.run(base, fuel, stop);
    }
    /* After an interrupt, the interpreter cannot find the place where compiled code stopped. */
    if (stop->kind == PENTA_STOP_INTERRUPT || !j->following) {
        j->following = false;
        return;
    }
    coil_vm_run(j->twin, fuel, &other);
    if (other.kind == PENTA_STOP_INTERRUPT) {
        j->stop = *stop;
        j->behind = true;
        *stop = (penta_stop){.kind = PENTA_STOP_INTERRUPT, .pc = stop->pc};
        atomic_store_explicit(&base->interrupt, false, memory_order_relaxed);
        return;
    }
    if (!both_equal(j, stop, &other)) {
        stop->kind = PENTA_STOP_DISAGREE;
        stop->detail = 0;
    }
}

static void both_interrupt(penta_vm *base)
{
    coil_jit_engine.interrupt(base);
    penta_vm *twin = coil_jit(base)->twin;
    if (twin) atomic_store_explicit(&twin->interrupt, true, memory_order_seq_cst);
}

static bool both_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct coil_jit *j = coil_jit(base);
    if (!coil_vm_answer(base, results, count, err)) return false;
    return !j->following || coil_vm_answer(j->twin, results, count, err);
}

static bool both_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    struct coil_jit *j = coil_jit(base);
    return coil_vm_poke(base, address, from, size) && coil_vm_poke(j->twin, address, from, size);
}

static bool both_mark(penta_vm *base, uint64_t pc, bool on)
{
    return coil_vm_mark(base, pc, on) && coil_vm_mark(coil_jit(base)->twin, pc, on);
}

static void both_walk(penta_vm *base, struct walk *w)
{
    struct coil_jit *j = coil_jit(base);
    coil_jit_engine.walk(base, w);
    /* When a snapshot has been loaded, compiled code runs without the interpreter. */
    if (walk_loads(w)) j->following = j->behind = false;
}

static void both_close(penta_vm *base)
{
    struct coil_jit *j = coil_jit(base);
    if (j->twin) j->twin->engine->close(j->twin);
    coil_jit_engine.close(base);
}

static void both_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct coil_jit *j = (const struct coil_jit *)base;
    coil_vm_describe(base, v);
    if (j->difference[0]) describe_text(v, "difference", j->difference);
}

static penta_vm *both_open_until(const penta_module *module, const penta_option *options,
                                 size_t count, const volatile int *stop, penta_error *err)
{
    penta_vm *base = coil_jit_open(module, options, count, &coil_both, stop, err);
    if (!base || base->engine != &coil_both) return base;
    struct coil_jit *j = coil_jit(base);
    j->twin = coil_interp.open(module, options, count, err);
    j->following = true;
    if (j->twin) return base;
    both_close(base);
    return NULL;
}

static penta_vm *both_open(const penta_module *module, const penta_option *options, size_t count,
                           penta_error *err)
{
    return both_open_until(module, options, count, NULL, err);
}

const struct engine coil_both = {
    .name = "both",
    .open = both_open,
    .open_until = both_open_until,
    .run = both_run,
    .answer = both_answer,
    .describe = both_describe,
    .peek = coil_vm_peek,
    .poke = both_poke,
    .mark = both_mark,
    .interrupt = both_interrupt,
    .walk = both_walk,
    .close = both_close,
    .detail = coil_vm_detail,
};
