/* Everything a machine does besides running: open, answer, describe, peek, poke, marks, snapshots. */
#include "kblob/vm/vm.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "core/describe.h"
#include "core/host.h"
#include "core/map_option.h"
#include "core/snapshot.h"

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

static void vm_close(penta_vm *base)
{
    struct kblob_vm *vm = kblob_vm(base);
    kblob_memory_free(&vm->own);
    free(vm->owned);
    free(vm->code);
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

/* ---- describe ---- */

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

static void vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct kblob_vm *vm = (const struct kblob_vm *)base;
    describe_uint(v, "pc", vm->pc);
    describe_uint(v, "executed", vm->executed);
    describe_uint(v, "slept_ms", vm->slept_ms);
    if (vm->final) describe_bool(v, "halted_explicitly", vm->halted_explicitly);
    penta_node registers = {.name = "registers"};
    if (describe_enter(v, registers)) {
        if (vm->has_read) describe_word(v, "last_read", vm->last_read);
        describe_leave(v, registers);
    }
    penta_node fault = {.name = "fault"};
    if (vm->fault && describe_enter(v, fault)) {
        describe_text(v, "kind", kblob_fault_name(vm->fault));
        describe_uint(v, "instruction", vm->pc);
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

/* ---- memory from outside ---- */

static uint8_t *window(const struct kblob_vm *vm, uint64_t address, size_t size)
{
    if (kblob_memory_classify(vm->memory, address, size)) return NULL;
    const struct kblob_region *r = kblob_memory_find(vm->memory, address);
    return r->bytes + (address - r->base);
}

static bool vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    const uint8_t *at = window((const struct kblob_vm *)base, address, size);
    if (at) memcpy(into, at, size);
    return at != NULL;
}

static bool vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    struct kblob_vm *vm = kblob_vm(base);
    uint8_t *at = window(vm, address, size);
    if (!at) return false;
    if (!vm->started) { /* what is there before the first run is the initial memory */
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

/* ---- snapshots ---- */

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
    walk_regions(vm->memory, w);
    if (walk_loads(w)) vm->at_break = false;
}

static const char *vm_detail(const penta_vm *vm, const penta_stop *stop)
{
    (void)vm;
    return stop->kind == PENTA_STOP_HOST ? "SLEEP" : NULL;
}

const struct engine kblob_interp = {
    .name = "interp",
    .open = vm_open,
    .run = kblob_vm_run,
    ENGINE_CALLS(vm),
    .describe = vm_describe,
    .walk = vm_walk,
};

/* ---- the default host: a virtual clock, so that sleeping takes no time ---- */

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
