/* The machine without its loop: it is made from a module, takes answers of the host, gives
 * access to its memory, and has breakpoints and counters. */
#include "coil/format/section_layout.h"
#include "coil/format/target.h"
#include "base/array.h"
#include "core/structure/counts.h"
#include "coil/vm/operands.h"
#include <stdlib.h>

enum { STACK_BYTES = 1 << 20, FRAME_BYTES = 64 << 20, HEAP_BYTES = 256 << 20, DEPTH = 100000 };
#define BYTES_MAX (UINT64_C(1) << 32)
enum { SLOTS = 4096 }; /* number of slots that a machine has at the start */

void coil_vm_close(penta_vm *base)
{
    struct coil_vm *vm = coil_vm(base);
    for (size_t i = 0; i < vm->region_count; i++)
        if (vm->regions[i].owned) free(vm->regions[i].bytes);
    coil_linear_free(vm->linear);
    if (vm->marked) free(vm->cells);
    coil_program_free(&vm->program);
    free(vm->regions);
    free(vm->slots);
    free(vm->frames);
    free(vm->blocks);
    free(vm->bulk.scratch);
    for (size_t i = 0; i < vm->table_count; i++) free(vm->tables[i].cells);
    free(vm->tables);
    free(vm->places);
    free(vm);
}

static struct coil_region *add_region(struct coil_vm *vm, const char *name, uint64_t base,
                                      uint64_t size, bool writable, penta_error *err)
{
    if (size > BYTES_MAX) {
        error_at(err, BASE_LIMIT, 0, "%s has more than 4 GiB", name);
        return NULL;
    }
    uint8_t *bytes = !size        ? NULL
                     : vm->linear ? coil_linear_open(vm->linear, base, size)
                                  : calloc(1, (size_t)size);
    if (size && !bytes) {
        error_at(err, BASE_MEMORY, 0, "no memory for %s", name);
        return NULL;
    }
    struct coil_region *r = &vm->regions[vm->region_count++];
    *r = (struct coil_region){base, size, bytes, writable, !vm->linear, name};
    return r;
}

static bool map_image(struct coil_vm *vm, penta_error *err)
{
    const struct coil_module *m = vm->m;
    for (size_t k = 0; k < m->section_count; k++) {
        size_t i = vm->program.order[k];
        const struct coil_section *s = &m->sections[i];
        uint64_t address = vm->program.sections[i];
        if (!(s->flags & COIL_ALLOC) || !s->size) continue;
        if (address > UINT64_C(0x6FFFFFFFFFFF) || s->size > BYTES_MAX)
            return error_at(err, BASE_LIMIT, m->header.section_offset,
                            "section %zu does not fit the address space", i + 1);
        const struct coil_region *last = vm->regions + vm->region_count - 1;
        if (vm->region_count && address < last->base + last->size)
            return error_at(err, COIL_SECTION_RANGE, m->header.section_offset,
                            "section %zu overlaps another in memory", i + 1);
        bool writable = s->flags & COIL_WRITE && !coil_is_code(s);
        /* `below` is the part of the section in the first page of memory, which is never mapped. */
        uint64_t below = address < COIL_PAGE ? COIL_PAGE - address : 0;
        if (below >= s->size) continue;
        struct coil_region *r =
            add_region(vm, "section", address + below, s->size - below, writable, err);
        penta_bytes bytes = coil_contents(m, i);
        if (!r) return false;
        if (bytes.size > below)
            bytes_copy(r->bytes, (penta_bytes){bytes.data + below, bytes.size - (size_t)below});
    }
    return true;
}

static bool map_commons(struct coil_vm *vm, penta_error *err)
{
    const struct coil_module *m = vm->m;
    uint64_t low = UINT64_MAX, high = 0;
    if (m->header.flags & COIL_FILE_EXEC) return true;
    for (size_t i = 0; i < m->symbol_count; i++) {
        if (m->symbols[i].type != COIL_COMMON || m->symbols[i].section_idx) continue;
        uint64_t at = vm->program.symbols[i], end = at + m->symbols[i].size;
        if (at < low) low = at;
        if (end > high) high = end;
    }
    return high <= low || add_region(vm, "common", low, high - low, true, err);
}

static bool apply_relocs(struct coil_vm *vm, penta_error *err)
{
    const struct coil_module *m = vm->m;
    for (size_t i = 0; i < m->reloc_count; i++) {
        const struct coil_reloc *r = &m->relocs[i];
        unsigned width = coil_reloc_width(r->type);
        uint64_t at = vm->program.sections[(r->offset >> 32) - 1] + (r->offset & UINT32_MAX);
        if (!width)
            return error_at(err, COIL_RELOC_TYPE, m->header.reloc_offset,
                            "relocation %zu is for dynamic linking", i);
        if ((r->type & 255) == COIL_RELOC_NONE) continue;
        uint64_t value = vm->program.symbols[r->symbol_idx] + r->addend;
        if ((r->type & 255) == COIL_RELOC_REL) value -= at;
        /* A symbol with the address COIL_ELSEWHERE or above belongs to another object. */
        if (vm->program.symbols[r->symbol_idx] >= COIL_ELSEWHERE) continue;
        if (!coil_reloc_fits(r->type, value))
            return error_at(err, COIL_RELOC_OVERFLOW, m->header.reloc_offset,
                            "relocation %zu does not fit %u bytes", i, width);
        struct coil_region *region = coil_region_at(vm, at);
        /* A relocation of a section that is not in memory has no effect. */
        if (!region || width > region->size - (at - region->base)) continue;
        uint8_t *p = region->bytes + (at - region->base);
        for (unsigned k = 0; k < width; k++)
            p[m->big_endian ? width - 1 - k : k] = (uint8_t)(value >> 8 * k);
    }
    return true;
}

/* Loads the program and makes the machine for it: memory, options, and the state before the
 * first instruction. */
static bool vm_build(struct coil_vm *vm, bool linear, const penta_option *options, size_t count,
                     penta_error *err)
{
    uint64_t depth = DEPTH, stack = STACK_BYTES, heap = HEAP_BYTES, frames = FRAME_BYTES;
    if (!option_uint(options, count, "depth", &depth, err) ||
        !option_uint(options, count, "stack", &stack, err) ||
        !option_uint(options, count, "heap", &heap, err) ||
        !option_uint(options, count, "frames", &frames, err))
        return false;
    coil_flags_put(vm, 0);
    vm->divide_trap = option_text(options, count, "divide-trap") != NULL;
    vm->depth_max = depth > UINT32_MAX ? UINT32_MAX : (size_t)depth;
    const char *vendor = option_text(options, count, "vendor");
    if (vendor && strcmp(vendor, "trap") && strcmp(vendor, "host"))
        return error_at(err, BASE_OPTION_VALUE, 0, "vendor '%.20s' is neither trap nor host",
                        vendor);
    const char *level = option_text(options, count, "optimize");
    if (level && strcmp(level, "1") && strcmp(level, "2"))
        return error_at(err, BASE_OPTION_VALUE, 0, "optimize '%.20s' is neither 1 nor 2", level);
    const char *vectors = option_text(options, count, "vectors");
    if (vectors && strcmp(vectors, "sse2") && strcmp(vectors, "avx2"))
        return error_at(err, BASE_OPTION_VALUE, 0, "vectors '%.20s' is neither sse2 nor avx2",
                        vectors);
    struct coil_load how = {.plain = option_text(options, count, "plain") != NULL,
                            .host_vendor = vendor && !strcmp(vendor, "host")};
    if (!coil_program_load(&vm->program, vm->m, how, err)) return false;
    vm->cells = vm->program.cells;
    vm->regions = calloc(vm->m->section_count + 4, sizeof *vm->regions);
    if (!vm->regions) return error_at(err, BASE_MEMORY, 0, "no memory for a machine");
    uint64_t far = vm->program.end > COIL_HEAP_BASE ? COIL_FAR : 0;
    if (linear && !far) vm->linear = coil_linear_new();
    if (!map_image(vm, err) || !map_commons(vm, err)) return false;
    bool needed = false;
    for (size_t i = 0; i < vm->program.function_count; i++)
        needed |= vm->program.functions[i].bytes != 0;
    vm->heap = add_region(vm, "heap", COIL_HEAP_BASE + far, 0, true, err);
    vm->frame_memory = vm->heap ? add_region(vm, "frames", COIL_FRAME_BASE + far,
                                             needed ? frames / 16 * 16 : 0, true, err)
                                : NULL;
    vm->stack = vm->frame_memory
                    ? add_region(vm, "stack", COIL_STACK_BASE + far, stack / 16 * 16, true, err)
                    : NULL;
    vm->heap_max = heap < BYTES_MAX ? heap / 16 * 16 : BYTES_MAX;
    if (!vm->stack || !apply_relocs(vm, err)) return false;
    vm->sp = vm->stack->base + vm->stack->size;
    vm->frame_top = vm->frame_memory->base;
    vm->function = vm->program.entry;
    if (!ARRAY_RESERVE(vm->slots, vm->slot_capacity, SLOTS))
        return error_at(err, BASE_MEMORY, 0, "no memory for variables");
    if (coil_enter(vm, vm->program.entry, 0, true))
        return error_at(err, BASE_LIMIT, 0, "the entry function's frame is too large");
    vm->pc = vm->program.functions[vm->program.entry].first;
    return true;
}

/* Returns the largest number of slots that one function can have. It is computed from the size
 * of the code before the code is loaded. */
static size_t most_slots(const struct coil_module *m)
{
    enum { VAR_BYTES = 4 }; /* least size of a declaration of a variable */
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->section_count; i++)
        if (coil_is_code(&m->sections[i])) bytes += m->sections[i].size;
    return (size_t)(bytes / VAR_BYTES) + 2;
}

penta_vm *coil_vm_open(const penta_module *module, const penta_option *options, size_t count,
                       size_t size, penta_error *err)
{
    if (!coil_target_runs(&coil_module(module)->header, err)) return NULL;
    bool linear = size > sizeof(struct coil_vm);
    size_t slots = linear ? most_slots(coil_module(module)) : 0;
    struct coil_vm *vm = zeros_new(size + slots * sizeof(uint64_t), "a machine", err);
    if (!vm) return NULL;
    vm->base.engine = &coil_interp;
    vm->base.module = module;
    vm->base.big_endian = coil_module(module)->big_endian;
    atomic_init(&vm->base.interrupt, false);
    vm->m = coil_module(module);
    if (vm_build(vm, linear, options, count, err)) return &vm->base;
    coil_vm_close(&vm->base);
    return NULL;
}

struct coil_vm *coil_vm_open_object(const struct coil_module *m, penta_error *err)
{
    struct coil_vm *vm = zeros_new(sizeof *vm, "a program", err);
    if (!vm) return NULL;
    vm->m = m;
    vm->base.module = &m->base;
    vm->base.big_endian = m->big_endian;
    bool ok = coil_program_load(&vm->program, m, (struct coil_load){.object = true}, err);
    if (ok) vm->regions = calloc(m->section_count + 4, sizeof *vm->regions);
    if (ok && !vm->regions) ok = error_at(err, BASE_MEMORY, 0, "no memory for a program");
    if (ok && map_image(vm, err) && map_commons(vm, err) && apply_relocs(vm, err)) return vm;
    coil_vm_close(&vm->base);
    return NULL;
}

penta_vm *coil_vm_open_interp(const penta_module *module, const penta_option *options, size_t count,
                              penta_error *err)
{
    return coil_vm_open(module, options, count, sizeof(struct coil_vm), err);
}

bool coil_vm_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct coil_vm *vm = coil_vm(base);
    if (!vm->waiting) return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    const struct coil_step *step = vm->program.steps[vm->pc];
    bool in = vm->host_call == COIL_HOST_IN, vendor = vm->host_call == COIL_HOST_VENDOR;
    if (vendor ? count > 1 : count != (in ? 1u : 0u))
        return error_at(err, BASE_STATE, 0,
                        vendor ? "a vendor instruction takes one result or none"
                        : in   ? "INPORT takes one result"
                               : "OUTPORT takes no result");
    if (vendor && count && (!step->count || !coil_place_writable(&step->places[0])))
        return error_at(err, BASE_STATE, 0, "the instruction has no place for a result");
    vm->waiting = false;
    if (count) {
        vm->trap = coil_place_write(vm, &step->places[0], results[0], COIL_T_INT64);
        if (vm->trap) {
            vm->final = true;
            return true;
        }
    }
    vm->pc++;
    return true;
}

bool coil_vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    struct coil_vm *vm = (struct coil_vm *)base;
    uint32_t trap = 0;
    uint64_t kept = vm->fault_address;
    const uint8_t *p = coil_memory(vm, address, size, false, &trap);
    vm->fault_address = kept;
    if (p && size) memcpy(into, p, size);
    return p != NULL;
}

bool coil_vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    struct coil_vm *vm = coil_vm(base);
    struct coil_region *r = coil_region_at(vm, address);
    if (!r || size > r->size - (address - r->base)) return false;
    if (size) memcpy(r->bytes + (address - r->base), from, size);
    return true;
}

/* Makes a copy of the cells, because breakpoints and counters must not change the cells of the
 * program. */
static bool own_cells(struct coil_vm *vm)
{
    if (vm->marked) return true;
    struct coil_cell *copy = array_copy(vm->program.cells, vm->program.count, sizeof *copy);
    if (!copy) return false;
    vm->cells = copy;
    vm->marked = true;
    return true;
}

static bool count_runs(penta_vm *base, struct counts *counts, penta_error *err)
{
    struct coil_vm *vm = coil_vm(base);
    uint32_t *places = counts_places(counts, vm->program.pcs, vm->program.count);
    if (!places || !own_cells(vm)) {
        free(places);
        return error_at(err, BASE_MEMORY, 0, "no memory for counters");
    }
    for (size_t i = 0; i < vm->program.count; i++)
        if (places[i])
            vm->cells[i].op =
                (places[i] & COUNT_MASK) == COUNT_ENTER ? COIL_CELL_COUNT : COIL_CELL_COUNT_CALL;
    free(vm->places);
    vm->places = places;
    vm->base.counts = counts;
    return true;
}

bool coil_vm_mark(penta_vm *base, uint64_t pc, bool on)
{
    struct coil_vm *vm = coil_vm(base);
    uint32_t cell;
    if (!coil_program_cell(&vm->program, pc, &cell) || !own_cells(vm)) return false;
    vm->cells[cell].op = on ? (uint16_t)COIL_CELL_BREAK : vm->program.cells[cell].op;
    return true;
}

const char *coil_vm_detail(const penta_vm *vm, const penta_stop *stop)
{
    (void)vm;
    return stop->kind == PENTA_STOP_HOST ? coil_host_name(stop->detail) : NULL;
}

const struct engine coil_interp = {
    .name = "interp",
    .heeds_guards = true,
    .open = coil_vm_open_interp,
    .run = coil_vm_run,
    ENGINE_CALLS(coil_vm),
    .describe = coil_vm_describe,
    .walk = coil_vm_walk,
    .count = count_runs,
};
