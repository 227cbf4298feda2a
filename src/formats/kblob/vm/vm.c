/* Does everything that a machine does besides running: open, answer, describe, peek, poke,
 * breakpoints, snapshots. */
#include "kblob/vm/vm.h"
#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "core/describe.h"
#include "core/host.h"
#include "core/map_option.h"
#include "core/snapshot.h"
#include "core/structure/counts.h"

static bool vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size);

static bool map_option(struct kblob_vm *vm, const char *text, penta_error *err)
{
    struct map_option map;
    if (!map_option_parse(text, &map, err)) return false;
    if (!kblob_memory_fits(vm->memory, map.address, map.length)) {
        error_at(err, BASE_OPTION_VALUE, 0,
                 "map '%.40s' is empty, null, overlaps another, or over the memory limit", text);
    } else if (!kblob_memory_alloc_at(vm->memory, map.address, map.length)) {
        error_at(err, BASE_MEMORY, 0, "no memory for map '%.40s'", text);
    } else {
        kblob_memory_find(vm->memory, map.address)->read_only = map.read_only;
        if (map.contents.size &&
            !vm_poke(&vm->base, map.address, map.contents.data, map.contents.size))
            error_at(err, BASE_MEMORY, 0, "no memory for map '%.40s'", text);
    }
    penta_buffer_free(&map.contents);
    return !err->code;
}

/* Reads a size such as "4", "4x2" or "4x2x1". A number that is missing is 1. */
static bool size_option(const char *key, const char *text, uint32_t size[3], penta_error *err)
{
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        const char *end = strchr(at, 'x');
        penta_bytes digits = {(const uint8_t *)at, end ? (size_t)(end - at) : strlen(at)};
        uint64_t value = 0;
        if (!number_parse_bytes(digits, &value) || !value || value > KBLOB_THREADS_MAX) break;
        size[i] = (uint32_t)value;
        if (!end) return true;
        at = end + 1;
    }
    return error_at(err, BASE_OPTION_VALUE, 0, "%s '%.40s' is not X, XxY or XxYxZ, each 1 to %d",
                    key, text, KBLOB_THREADS_MAX);
}

static bool launch_option(const penta_option *o, struct kblob_launch *l, struct writer *args,
                          penta_error *err)
{
    uint64_t value = 0;
    if (!strcmp(o->key, "grid")) return size_option("grid", o->value, l->grid, err);
    if (!strcmp(o->key, "threads")) return size_option("threads", o->value, l->threads, err);
    if (!strcmp(o->key, "arg")) {
        if (!number_parse(o->value, &value))
            return error_at(err, BASE_OPTION_VALUE, 0, "arg '%.40s' is no number", o->value);
        writer_uint(args, value, 8);
        return true;
    }
    if (strcmp(o->key, "shared")) return true;
    if (!number_parse_size(o->value, &value) || value > KBLOB_SHARED_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "shared '%.40s' is not 0 to %d", o->value,
                        KBLOB_SHARED_MAX);
    l->shared = (uint32_t)value;
    return true;
}

static bool is_launch_option(const char *key)
{
    return !strcmp(key, "grid") || !strcmp(key, "threads") || !strcmp(key, "arg") ||
           !strcmp(key, "shared");
}

static bool open_launch(struct kblob_vm *vm, const penta_option *options, size_t count,
                        penta_error *err)
{
    bool two = kblob_module(vm->base.module)->header.version == KBLOB_VERSION_2;
    struct kblob_launch launch = {.grid = {1, 1, 1}, .threads = {1, 1, 1}};
    struct writer args = {0};
    for (size_t i = 0; i < count && !err->code; i++) {
        if (!two && is_launch_option(options[i].key))
            error_at(err, BASE_OPTION_VALUE, 0, "a kernel of version 1 has no %s", options[i].key);
        else
            launch_option(&options[i], &launch, &args, err);
    }
    launch.args = writer_view(&args);
    if (!err->code && two && writer_ok(&args, err)) kblob_grid_init(vm, &launch, err);
    writer_free(&args);
    return !err->code;
}

static void vm_close(penta_vm *base)
{
    struct kblob_vm *vm = kblob_vm(base);
    kblob_grid_free(&vm->grid);
    kblob_memory_free(&vm->own);
    free(vm->owned);
    free(vm->code);
    free(vm->places);
    free(vm);
}

static penta_vm *vm_open(const penta_module *module, const penta_option *options, size_t count,
                         penta_error *err)
{
    const struct kblob_module *m = kblob_module(module);
    struct kblob_vm *vm = malloc(sizeof *vm);
    struct kblob_decoded *program = vm ? kblob_program_new(m, err) : NULL;
    if (!program) {
        error_at(err, BASE_MEMORY, 0, "no memory for a machine");
        free(vm);
        return NULL;
    }
    kblob_vm_init(vm, program, (uint32_t)m->count, &vm->own);
    vm->owned = program;
    vm->base.module = module;
    if (!open_launch(vm, options, count, err)) {
        vm_close(&vm->base);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].key, "map") && !map_option(vm, options[i].value, err)) {
            vm_close(&vm->base);
            return NULL;
        }
    return &vm->base;
}

static bool vm_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct kblob_vm *vm = kblob_vm(base);
    if (!vm->asleep) return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    if (count != 1) return error_at(err, BASE_STATE, 0, "SLEEP takes one result: the ms slept");
    vm->asleep = false;
    vm->slept_ms += results[0];
    vm->pc++;
    return true;
}

static void describe_memory(const struct kblob_memory *memory, const penta_visitor *v)
{
    penta_node list = {.name = "memory", .list = true};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < memory->count; i++) {
        const struct kblob_region *r = &memory->regions[i];
        describe_changed_bytes(v, r->base, (penta_bytes){r->bytes, (size_t)r->size}, r->initial);
    }
    describe_leave(v, list);
}

static void describe_size(const penta_visitor *v, const char *name, const uint32_t size[3])
{
    char text[48];
    snprintf(text, sizeof text, "%ux%ux%u", (unsigned)size[0], (unsigned)size[1],
             (unsigned)size[2]);
    describe_text(v, name, text);
}

/* Describes the launch, and the thread whose registers are described next. */
static void describe_grid(const struct kblob_grid *g, const penta_visitor *v)
{
    penta_node node = {.name = "launch"};
    if (g->count < 2 || !describe_enter(v, node)) return;
    describe_size(v, "grid", g->launch.grid);
    describe_size(v, "threads", g->launch.threads);
    describe_uint(v, "ended", g->ended);
    describe_uint(v, "block", kblob_grid_block(g, g->current));
    describe_uint(v, "thread", g->current % g->block_threads);
    describe_uint(v, "barriers", g->blocks[kblob_grid_block(g, g->current)].barriers);
    describe_leave(v, node);
}

static void describe_registers(const struct kblob_vm *vm, const penta_visitor *v)
{
    const struct kblob_grid *g = &vm->grid;
    penta_node registers = {.name = "registers"};
    if (!describe_enter(v, registers)) return;
    if (vm->has_read) describe_word(v, "last_read", vm->last_read);
    for (unsigned i = 0; g->threads && i < KBLOB_REGISTERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%u", i);
        if (g->threads[g->current].r[i]) describe_word(v, name, g->threads[g->current].r[i]);
    }
    describe_leave(v, registers);
}

static void describe_place(const struct kblob_vm *vm, const penta_visitor *v)
{
    const penta_module *module = vm->base.module;
    struct writer place = {0};
    if (module && kblob_module(module)->symbols.file)
        kblob_write_place(&kblob_module(module)->symbols, vm->pc, &place);
    if (place.out.size)
        describe_written(v, (penta_field){.name = "place", .kind = PENTA_TEXT}, &place);
    else
        writer_free(&place);
}

static void vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct kblob_vm *vm = (const struct kblob_vm *)base;
    describe_uint(v, "pc", vm->pc);
    describe_uint(v, "executed", vm->executed);
    describe_uint(v, "slept_ms", vm->slept_ms);
    if (vm->final) describe_bool(v, "halted_explicitly", vm->halted_explicitly);
    describe_grid(&vm->grid, v);
    describe_registers(vm, v);
    penta_node fault = {.name = "fault"};
    if (vm->fault && describe_enter(v, fault)) {
        describe_text(v, "kind", kblob_fault_name(vm->fault));
        describe_uint(v, "instruction", vm->pc);
        describe_place(vm, v);
        describe_word(v, "address", vm->fault_address);
        describe_uint(v, "length", vm->fault_size);
        const struct kblob_region *near = kblob_memory_nearest(vm->memory, vm->fault_address);
        if (near) {
            describe_word(v, "nearest_base", near->base);
            describe_uint(v, "nearest_size", near->size);
        }
        describe_leave(v, fault);
    }
    describe_memory(vm->memory, v);
}

static uint8_t *kblob_vm_window(const struct kblob_vm *vm, uint64_t address, size_t size)
{
    const struct kblob_grid *g = &vm->grid;
    /* This is the shared memory of the current thread's block. */
    if (address >= KBLOB_SHARED_BASE && g->shared) {
        uint64_t at = address - KBLOB_SHARED_BASE, all = g->launch.shared;
        if (at >= all || size > all - at) return NULL;
        return g->shared + kblob_grid_block(g, g->current) * all + at;
    }
    if (kblob_memory_classify(vm->memory, address, size)) return NULL;
    const struct kblob_region *r = kblob_memory_find(vm->memory, address);
    return r->bytes + (address - r->base);
}

static bool vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    const uint8_t *at = kblob_vm_window((const struct kblob_vm *)base, address, size);
    if (at) memcpy(into, at, size);
    return at != NULL;
}

static bool vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    struct kblob_vm *vm = kblob_vm(base);
    uint8_t *at = kblob_vm_window(vm, address, size);
    if (!at) return false;
    /* What memory contains before the first run is the initial memory. */
    if (!vm->started && address < KBLOB_SHARED_BASE) {
        struct kblob_region *r = kblob_memory_find(vm->memory, address);
        if (!r->initial) r->initial = calloc(1, (size_t)r->size);
        if (!r->initial) return false;
        memcpy(r->initial + (address - r->base), from, size);
    }
    memcpy(at, from, size);
    return true;
}

static bool vm_mark(penta_vm *base, uint64_t pc, bool on)
{
    struct kblob_vm *vm = kblob_vm(base);
    if (pc >= vm->count) return false;
    if (!vm->code) vm->code = array_copy(vm->program, (size_t)vm->count + 1, sizeof *vm->code);
    if (!vm->code) return false;
    vm->code[pc].op = on ? KBLOB_OP_BREAK : vm->program[pc].op;
    return true;
}

static void walk_regions(struct kblob_memory *memory, struct walk *w)
{
    if (walk_number(w, memory->count) != memory->count) walk_wrong(w, "another memory map");
    for (size_t i = 0; i < memory->count && !walk_failed(w); i++) {
        struct kblob_region *r = &memory->regions[i];
        if (walk_number(w, r->base) != r->base || walk_number(w, r->size) != r->size)
            walk_wrong(w, "another memory map");
        else
            walk_memory(w, r->bytes, r->size, r->size);
    }
}

static void walk_launch(const struct kblob_grid *g, struct walk *w)
{
    const struct kblob_launch *l = &g->launch;
    bool same = true;
    for (int i = 0; i < 3; i++) {
        same &= walk_number(w, l->grid[i]) == l->grid[i];
        same &= walk_number(w, l->threads[i]) == l->threads[i];
    }
    same &= walk_number(w, l->shared) == l->shared;
    same &= walk_number(w, l->args.size) == l->args.size;
    for (size_t i = 0; same && i < l->args.size; i++)
        same &= walk_number(w, l->args.data[i]) == l->args.data[i];
    if (!same) walk_wrong(w, "another launch");
}

/* Tells whether the states of the threads are possible: waiting threads wait at a barrier, not
 * all of a block wait, and the current thread can run. */
static bool kblob_vm_possible(const struct kblob_vm *vm)
{
    const struct kblob_grid *g = &vm->grid;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct kblob_thread *t = &g->threads[i];
        if (t->pc > vm->count || t->state > KBLOB_THREAD_ENDED) return false;
        if (t->state == KBLOB_THREAD_WAITING && vm->program[t->pc].op != KBLOB_OP_BAR) return false;
    }
    if (g->current >= g->count || g->quantum > KBLOB_QUANTUM) return false;
    if (g->threads[g->current].pc != vm->pc) return false;
    uint8_t state = g->threads[g->current].state;
    return vm->final || state == (g->stuck ? KBLOB_THREAD_WAITING : KBLOB_THREAD_READY);
}

/* Computes those values that a snapshot does not store because they follow from the states of
 * the threads. */
static void restore_grid(struct kblob_grid *g)
{
    memset(g->ready, 0, (g->count + 63) / 64 * sizeof *g->ready);
    for (uint32_t i = 0; i < g->count / g->block_threads; i++)
        g->blocks[i].waiting = g->blocks[i].ended = 0;
    g->ended = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        struct kblob_block *b = &g->blocks[kblob_grid_block(g, i)];
        uint8_t state = g->threads[i].state;
        b->waiting += state == KBLOB_THREAD_WAITING;
        b->ended += state == KBLOB_THREAD_ENDED;
        g->ended += state == KBLOB_THREAD_ENDED;
        if (state == KBLOB_THREAD_READY) g->ready[i >> 6] |= UINT64_C(1) << (i & 63);
    }
}

static void walk_grid(struct kblob_vm *vm, struct walk *w)
{
    struct kblob_grid *g = &vm->grid;
    walk_launch(g, w);
    if (walk_failed(w)) return;
    /* When a snapshot is saved, this is the pc that the current thread has now. */
    g->threads[g->current].pc = vm->pc;
    WALK_NUMBER(w, g->current);
    WALK_NUMBER(w, g->quantum);
    WALK_NUMBER(w, g->implicit);
    WALK_NUMBER(w, g->stuck);
    for (uint32_t i = 0; i < g->count; i++) {
        walk_numbers(w, g->threads[i].r, KBLOB_REGISTERS, 8);
        WALK_NUMBER(w, g->threads[i].pc);
        WALK_NUMBER(w, g->threads[i].state);
    }
    for (uint32_t i = 0; i < g->count / g->block_threads; i++)
        WALK_NUMBER(w, g->blocks[i].barriers);
    uint64_t shared = (uint64_t)g->launch.shared * (g->count / g->block_threads);
    if (g->shared) walk_memory(w, g->shared, shared, shared);
    if (!kblob_vm_possible(vm)) {
        walk_wrong(w, "threads in states that this program cannot have");
        g->current = 0;
    }
    if (walk_loads(w)) restore_grid(g);
}

static void vm_walk(penta_vm *base, struct walk *w)
{
    struct kblob_vm *vm = kblob_vm(base);
    WALK_NUMBER(w, vm->pc);
    WALK_NUMBER(w, vm->has_read);
    WALK_NUMBER(w, vm->asleep);
    WALK_NUMBER(w, vm->halted_explicitly);
    WALK_NUMBER(w, vm->final);
    WALK_NUMBER(w, vm->last_read);
    WALK_NUMBER(w, vm->slept_ms);
    WALK_NUMBER(w, vm->executed);
    WALK_NUMBER(w, vm->fault);
    WALK_NUMBER(w, vm->fault_address);
    WALK_NUMBER(w, vm->fault_size);
    WALK_NUMBER(w, vm->started);
    if (vm->pc > vm->count || vm->fault >= KBLOB_FAULTS ||
        (vm->asleep && (vm->pc >= vm->count || vm->program[vm->pc].op != KBLOB_OP_SLEEP)))
        walk_wrong(w, "a state that this program cannot be in");
    if (vm->grid.threads) walk_grid(vm, w);
    walk_regions(vm->memory, w);
    if (walk_loads(w)) vm->at_break = false;
}

static const char *vm_detail(const penta_vm *vm, const penta_stop *stop)
{
    (void)vm;
    return stop->kind == PENTA_STOP_HOST ? "SLEEP" : NULL;
}

static bool vm_count(penta_vm *base, struct counts *counts, penta_error *err)
{
    struct kblob_vm *vm = kblob_vm(base);
    uint32_t *places = counts_places(counts, NULL, (size_t)vm->count + 1);
    if (!vm->code) vm->code = array_copy(vm->program, (size_t)vm->count + 1, sizeof *vm->code);
    if (!places || !vm->code) {
        free(places);
        return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    }
    /* Without calls there is only one path. */
    bool one = vm->count && counts->map->function_count == 1;
    if (one) {
        counts_call(counts, 0, KBLOB_COUNT_KEY);
        /* The first arrival is counted only when the instruction runs. */
        counts->path->counts[0]--;
        counts->path->calls++;
        vm->hits = counts->path->counts;
    }
    for (uint32_t i = 0; i < vm->count; i++)
        if (places[i])
            vm->code[i].op = one && (places[i] & COUNT_MASK) == COUNT_ENTER ? KBLOB_OP_COUNT
                                                                            : KBLOB_OP_COUNT_START;
    vm->places = places;
    base->counts = counts;
    return true;
}

const struct engine kblob_interp = {
    .name = "interp",
    .heeds_guards = true,
    .open = vm_open,
    .run = kblob_vm_run,
    ENGINE_CALLS(vm),
    .describe = vm_describe,
    .walk = vm_walk,
    .count = vm_count,
};

/* The default host has a virtual clock, so that sleeping takes no time. */

static bool host_open(penta_vm *vm, const penta_option *options, size_t count,
                      struct opened_host *out, penta_error *err)
{
    (void)vm, (void)options, (void)count, (void)out, (void)err;
    return true;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    (void)state, (void)vm;
    out->results[0] = stop->args[0];
    out->count = 1;
    return true;
}

static void host_close(void *state) { (void)state; }

const struct host kblob_host = {.open = host_open, .answer = host_answer, .close = host_close};
