/* Everything a machine does besides running: open, answer, describe, peek, poke, marks, snapshots;
 * and the default host, which serves the ports. */
#include "coil/vm.h"
#include "base/file.h"
#include "coil/load.h"
#include "core/describe.h"
#include "core/host.h"
#include <stdio.h>
#include <stdlib.h>

enum { STACK_BYTES = 1 << 20, FRAME_BYTES = 64 << 20, HEAP_BYTES = 256 << 20, DEPTH = 100000 };
#define STACK_BASE UINT64_C(0x7F0000000000)
#define FRAME_BASE UINT64_C(0x7E0000000000)
#define HEAP_BASE UINT64_C(0x700000000000)
#define BYTES_MAX (UINT64_C(1) << 32)

static void vm_close(penta_vm *base)
{
    struct coil_vm *vm = coil_vm(base);
    for (size_t i = 0; i < vm->region_count; i++)
        if (vm->regions[i].owned) free(vm->regions[i].bytes);
    if (vm->marked) free(vm->cells);
    coil_program_free(&vm->program);
    free(vm->regions);
    free(vm->slots);
    free(vm->frames);
    free(vm->blocks);
    free(vm);
}

/* ---- memory ---- */

static struct coil_region *add_region(struct coil_vm *vm, const char *name, uint64_t base,
                                      uint64_t size, bool writable, penta_error *err)
{
    if (size > BYTES_MAX) {
        error_at(err, BASE_LIMIT, 0, "%s has more than 4 GiB", name);
        return NULL;
    }
    uint8_t *bytes = size ? calloc(1, (size_t)size) : NULL;
    if (size && !bytes) {
        error_at(err, BASE_MEMORY, 0, "no memory for %s", name);
        return NULL;
    }
    struct coil_region *r = &vm->regions[vm->region_count++];
    *r = (struct coil_region){base, size, bytes, writable, true, name};
    return r;
}

static bool map_image(struct coil_vm *vm, penta_error *err)
{
    const struct coil_module *m = vm->m;
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        uint64_t address = vm->program.sections[i];
        if (!(s->flags & COIL_ALLOC) || !s->size) continue;
        if (address > UINT64_C(0x6FFFFFFFFFFF) || s->size > BYTES_MAX)
            return error_at(err, BASE_LIMIT, m->header.section_offset,
                            "section %zu does not fit the address space", i + 1);
        for (size_t k = 0; k < vm->region_count; k++)
            if (address < vm->regions[k].base + vm->regions[k].size &&
                vm->regions[k].base < address + s->size)
                return error_at(err, COIL_SECTION_RANGE, m->header.section_offset,
                                "section %zu overlaps another in memory", i + 1);
        bool writable = s->flags & COIL_WRITE && !coil_is_code(s);
        struct coil_region *r = add_region(vm, "section", address, s->size, writable, err);
        penta_bytes bytes = coil_contents(m, i);
        if (!r) return false;
        if (bytes.size) memcpy(r->bytes, bytes.data, bytes.size);
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
        if (!coil_reloc_fits(r->type, value))
            return error_at(err, COIL_RELOC_OVERFLOW, m->header.reloc_offset,
                            "relocation %zu does not fit %u bytes", i, width);
        struct coil_region *region = coil_region_at(vm, at);
        if (!region || width > region->size - (at - region->base)) continue; /* not in the image */
        uint8_t *p = region->bytes + (at - region->base);
        for (unsigned k = 0; k < width; k++)
            p[m->big_endian ? width - 1 - k : k] = (uint8_t)(value >> 8 * k);
    }
    return true;
}

static bool build(struct coil_vm *vm, const penta_option *options, size_t count, penta_error *err)
{
    uint64_t depth = DEPTH, stack = STACK_BYTES, heap = HEAP_BYTES;
    if (!option_uint(options, count, "depth", &depth, err) ||
        !option_uint(options, count, "stack", &stack, err) ||
        !option_uint(options, count, "heap", &heap, err))
        return false;
    coil_flags_put(vm, 0);
    vm->divide_trap = option_text(options, count, "divide-trap") != NULL;
    vm->depth_max = depth > UINT32_MAX ? UINT32_MAX : (size_t)depth;
    bool plain = option_text(options, count, "plain") != NULL;
    if (!coil_program_load(&vm->program, vm->m, plain, err)) return false;
    vm->cells = vm->program.cells;
    vm->regions = calloc(vm->m->section_count + 4, sizeof *vm->regions);
    if (!vm->regions) return error_at(err, BASE_MEMORY, 0, "no memory for a machine");
    if (!map_image(vm, err) || !map_commons(vm, err)) return false;
    vm->stack = add_region(vm, "stack", STACK_BASE, stack / 16 * 16, true, err);
    uint64_t frames = 0;
    for (size_t i = 0; i < vm->program.function_count; i++)
        if (vm->program.functions[i].bytes) frames = FRAME_BYTES;
    vm->frame_memory = vm->stack ? add_region(vm, "frames", FRAME_BASE, frames, true, err) : NULL;
    vm->heap = vm->frame_memory ? add_region(vm, "heap", HEAP_BASE, 0, true, err) : NULL;
    vm->heap_max = heap < BYTES_MAX ? heap / 16 * 16 : BYTES_MAX;
    if (!vm->heap || !apply_relocs(vm, err)) return false;
    vm->sp = vm->stack->base + vm->stack->size;
    vm->frame_top = FRAME_BASE;
    vm->function = vm->program.entry;
    if (coil_enter(vm, vm->program.entry, 0, true))
        return error_at(err, BASE_LIMIT, 0, "the entry function's frame is too large");
    vm->pc = vm->program.functions[vm->program.entry].first;
    return true;
}

static penta_vm *vm_open(const penta_module *module, const penta_option *options, size_t count,
                         penta_error *err)
{
    struct coil_vm *vm = calloc(1, sizeof *vm);
    if (!vm) {
        error_at(err, BASE_MEMORY, 0, "no memory for a machine");
        return NULL;
    }
    vm->base.engine = &coil_interp;
    vm->base.module = module;
    atomic_init(&vm->base.interrupt, false);
    vm->m = coil_module(module);
    if (build(vm, options, count, err)) return &vm->base;
    vm_close(&vm->base);
    return NULL;
}

static bool vm_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct coil_vm *vm = coil_vm(base);
    if (!vm->waiting) return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    bool in = vm->host_call == COIL_HOST_IN;
    if (count != (in ? 1u : 0u))
        return error_at(err, BASE_STATE, 0,
                        in ? "INPORT takes one result" : "OUTPORT takes no result");
    vm->waiting = false;
    if (in) {
        vm->trap =
            coil_place_write(vm, &vm->program.steps[vm->pc]->places[0], results[0], COIL_T_INT64);
        if (vm->trap) {
            vm->final = true;
            return true;
        }
    }
    vm->pc++;
    return true;
}

/* ---- describe ---- */

static const char *trap_name(uint32_t trap)
{
    static const char *const names[] = {
#define TRAP(number, name) [number] = #name,
#include "coil/traps.def"
    };
    return trap < sizeof names / sizeof *names ? names[trap] : NULL;
}

static void describe_place(const struct coil_vm *vm, const penta_visitor *v)
{
    uint64_t pc = vm->program.pcs[vm->pc], line;
    const struct coil_module *m = vm->m;
    penta_bytes file;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == COIL_FUNC && m->symbols[i].section_idx &&
            vm->program.symbols[i] == vm->program.functions[vm->function].address)
            best = i;
    if (best != SIZE_MAX) {
        describe_field(v, (penta_field){.name = "function",
                                        .kind = PENTA_TEXT,
                                        .as.bytes = coil_symbol_name(m, best)});
        describe_uint(v, "offset", pc - vm->program.symbols[best]);
    }
    size_t section = 0;
    while (section < m->section_count &&
           (!coil_is_code(&m->sections[section]) || pc < vm->program.sections[section] ||
            pc - vm->program.sections[section] >= m->sections[section].size))
        section++;
    if (section == m->section_count ||
        !coil_source_line(m, section, pc - vm->program.sections[section], &file, &line))
        return;
    describe_field(v, (penta_field){.name = "file", .kind = PENTA_TEXT, .as.bytes = file});
    describe_uint(v, "line", line);
}

static void describe_registers(const struct coil_vm *vm, const penta_visitor *v)
{
    static const char *const names[] = {"v0", "v1", "v2",  "v3",  "v4",  "v5",  "v6",  "v7",
                                        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"};
    static const char flag_names[] = "ZSCVDNP";
    penta_node registers = {.name = "registers"};
    if (!describe_enter(v, registers)) return;
    for (int i = 0; i < COIL_REGISTERS; i++)
        if (vm->v[i] || !i) describe_word(v, names[i], vm->v[i]);
    uint8_t now = coil_flags_now(vm);
    char flags[8] = "-------";
    for (int i = 0; i < 7; i++)
        if (now >> i & 1) flags[i] = flag_names[i];
    describe_text(v, "flags", flags);
    describe_leave(v, registers);
}

/* Runs of bytes that differ from what was loaded. */
static void describe_memory(const struct coil_vm *vm, const penta_visitor *v)
{
    enum { JOIN = 8 };
    penta_node list = {.name = "memory", .list = true};
    if (!describe_enter(v, list)) return;
    struct coil_vm *fresh = NULL;
    penta_error err = {0};
    fresh = (struct coil_vm *)vm_open(vm->base.module, NULL, 0, &err);
    for (size_t i = 0; fresh && i < vm->region_count && vm->regions[i].base < HEAP_BASE; i++) {
        const struct coil_region *r = &vm->regions[i], *old = &fresh->regions[i];
        for (uint64_t at = 0; at < r->size; at++) {
            if (r->bytes[at] == old->bytes[at]) continue;
            uint64_t end = at + 1;
            for (uint64_t p = at + 1, quiet = 0; p < r->size && quiet < JOIN; p++) {
                quiet = r->bytes[p] == old->bytes[p] ? quiet + 1 : 0;
                if (!quiet) end = p + 1;
            }
            penta_node run = {.name = "run"};
            if (describe_enter(v, run)) {
                describe_word(v, "address", r->base + at);
                describe_computed_bytes(v, "bytes",
                                        (penta_bytes){r->bytes + at, (size_t)(end - at)});
                describe_leave(v, run);
            }
            at = end - 1;
        }
    }
    if (fresh) vm_close(&fresh->base);
    describe_leave(v, list);
}

static void vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    describe_word(v, "pc", vm->program.pcs[vm->pc]);
    describe_uint(v, "executed", vm->executed);
    describe_uint(v, "depth", vm->depth);
    describe_registers(vm, v);
    penta_node fault = {.name = "fault"};
    if (vm->final && !vm->halted && describe_enter(v, fault)) {
        const char *name = trap_name(vm->trap);
        describe_text(v, "trap", name ? name : "?");
        if (vm->trap == COIL_TRAP_TRAP)
            describe_field(
                v,
                (penta_field){.name = "code", .kind = PENTA_SINT, .as.i = (int64_t)vm->trap_code});
        if (vm->trap <= COIL_TRAP_PROTECTION_VIOLATION || vm->trap == COIL_TRAP_MISALIGNED ||
            vm->trap == COIL_TRAP_BAD_TARGET)
            describe_word(v, "address", vm->fault_address);
        describe_place(vm, v);
        describe_leave(v, fault);
    }
    describe_memory(vm, v);
}

/* ---- from outside ---- */

static bool vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    struct coil_vm *vm = (struct coil_vm *)base;
    uint32_t trap = 0;
    uint64_t kept = vm->fault_address;
    const uint8_t *p = coil_memory(vm, address, size, false, &trap);
    vm->fault_address = kept;
    if (p && size) memcpy(into, p, size);
    return p != NULL;
}

static bool vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    struct coil_vm *vm = coil_vm(base);
    struct coil_region *r = coil_region_at(vm, address);
    if (!r || size > r->size - (address - r->base)) return false;
    if (size) memcpy(r->bytes + (address - r->base), from, size);
    return true;
}

static bool vm_mark(penta_vm *base, uint64_t pc, bool on)
{
    struct coil_vm *vm = coil_vm(base);
    uint32_t cell;
    if (!coil_program_cell(&vm->program, pc, &cell)) return false;
    if (!vm->marked) {
        size_t bytes = vm->program.count * sizeof *vm->cells;
        struct coil_cell *copy = malloc(bytes);
        if (!copy) return false;
        memcpy(copy, vm->program.cells, bytes);
        vm->cells = copy;
        vm->marked = true;
    }
    vm->cells[cell].op = on ? (uint16_t)COIL_CELL_BREAK : vm->program.cells[cell].op;
    return true;
}

/* ---- snapshots: "COVM", fixed fields, flags, registers, frames, slots, blocks, then pages that
 * are not zero ---- */

/* clang-format off */
#define SNAPSHOT_FIELDS(FIELD)                                                                     \
    FIELD(fp) FIELD(depth) FIELD(function) FIELD(pc) FIELD(sp) FIELD(frame_top)                    \
    FIELD(block_count) FIELD(heap_top) FIELD(waiting) FIELD(final) FIELD(halted) FIELD(started)    \
    FIELD(host_call) FIELD(trap) FIELD(trap_code) FIELD(fault_address) FIELD(executed)
/* clang-format on */

static size_t slots_used(const struct coil_vm *vm)
{
    return vm->fp + vm->program.functions[vm->function].slots;
}

static bool vm_save(const penta_vm *base, struct writer *out)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    static const uint8_t zeros[COIL_PAGE];
    writer_bytes(out, "COVM", 4);
    writer_uint(out, vm->program.count, 8);
#define FIELD(name) writer_uint(out, (uint64_t)vm->name, 8);
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
    writer_uint(out, coil_flags_now(vm), 8);
    for (int i = 0; i < 3; i++)
        writer_uint(out, vm->host_args[i], 8);
    for (int i = 0; i < COIL_REGISTERS; i++)
        writer_uint(out, vm->v[i], 8);
    for (size_t i = 0; i < vm->depth; i++) {
        writer_uint(out, vm->frames[i].back, 4);
        writer_uint(out, vm->frames[i].function, 4);
    }
    for (size_t i = 0; i < slots_used(vm); i++)
        writer_uint(out, vm->slots[i], 8);
    for (size_t i = 0; i < vm->block_count; i++) {
        writer_uint(out, vm->blocks[i].offset, 8);
        writer_uint(out, vm->blocks[i].size, 8);
        writer_uint(out, vm->blocks[i].live, 1);
    }
    for (size_t i = 0; i < vm->region_count; i++) {
        const struct coil_region *r = &vm->regions[i];
        uint64_t end = r == vm->heap ? vm->heap_top
                       : r == vm->frame_memory
                           ? vm->frame_top - r->base + vm->program.functions[vm->function].bytes
                           : r->size;
        size_t count_at = out->out.size;
        uint64_t stored = 0;
        writer_uint(out, 0, 8);
        for (uint64_t at = 0; at < end; at += COIL_PAGE) {
            size_t size = (size_t)(r->size - at < COIL_PAGE ? r->size - at : COIL_PAGE);
            if (!memcmp(r->bytes + at, zeros, size)) continue;
            writer_uint(out, at / COIL_PAGE, 8);
            writer_bytes(out, r->bytes + at, size);
            stored++;
        }
        writer_patch(out, count_at, stored, 8);
    }
    return !out->failed;
}

struct saved {
#define FIELD(name) uint64_t name;
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
};

static bool saved_fits(const struct coil_vm *vm, const struct saved *s)
{
    const struct coil_program *p = &vm->program;
    return s->pc < p->count && s->function < p->function_count && s->depth <= vm->depth_max &&
           s->sp >= vm->stack->base && s->sp <= vm->stack->base + vm->stack->size &&
           s->heap_top <= vm->heap_max && s->frame_top >= FRAME_BASE &&
           s->frame_top <= FRAME_BASE + vm->frame_memory->size && s->fp < UINT32_MAX &&
           p->functions[s->function].bytes <= FRAME_BASE + vm->frame_memory->size - s->frame_top &&
           (!s->waiting ||
            (p->steps[s->pc] && coil_ops[p->steps[s->pc]->opcode].group == COIL_G_PORT));
}

/* Frames must add up to the position that the fields give. */
static bool frames_fit(const struct coil_vm *vm, struct reader *r, const struct saved *s)
{
    const struct coil_program *p = &vm->program;
    uint64_t fp = 0, top = FRAME_BASE;
    for (uint64_t i = 0; i < s->depth && !r->err->code; i++) {
        uint64_t back = reader_uint(r, 4), function = reader_uint(r, 4);
        if (r->err->code || back >= p->count || function >= p->function_count ||
            p->owners[back] != function)
            return false;
        fp += p->functions[function].slots;
        top += p->functions[function].bytes;
    }
    return !r->err->code && fp == s->fp && top == s->frame_top;
}

static bool blocks_fit(struct reader *r, const struct saved *s)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < s->block_count && !r->err->code; i++) {
        uint64_t offset = reader_uint(r, 8), size = reader_uint(r, 8);
        reader_uint(r, 1);
        if (r->err->code || offset != end || size > s->heap_top - end) return false;
        end += size;
    }
    return !r->err->code && end == s->heap_top;
}

static bool load_memory(struct coil_vm *vm, struct reader *r, bool apply)
{
    for (size_t i = 0; i < vm->region_count && !r->err->code; i++) {
        struct coil_region *region = &vm->regions[i];
        uint64_t stored = reader_uint(r, 8), next = 0,
                 pages = (region->size + COIL_PAGE - 1) / COIL_PAGE;
        if (apply && region->size && region != vm->heap && region != vm->frame_memory)
            memset(region->bytes, 0, (size_t)region->size);
        if (apply && region == vm->heap && region->size)
            memset(region->bytes, 0, (size_t)vm->heap_top);
        if (apply && region == vm->frame_memory && region->size)
            memset(
                region->bytes, 0,
                (size_t)(vm->frame_top - region->base + vm->program.functions[vm->function].bytes));
        for (; stored && !r->err->code; stored--) {
            uint64_t page = reader_uint(r, 8);
            if (page < next || page >= pages)
                return error_at(r->err, BASE_SNAPSHOT, reader_at(r), "pages out of order");
            next = page + 1;
            uint64_t at = page * COIL_PAGE;
            size_t size = (size_t)(region->size - at < COIL_PAGE ? region->size - at : COIL_PAGE);
            const uint8_t *bytes = reader_take(r, size);
            if (apply && bytes) memcpy(region->bytes + at, bytes, size);
        }
    }
    if (!r->err->code && reader_left(r))
        return error_at(r->err, BASE_SNAPSHOT, reader_at(r), "more bytes than a snapshot has");
    return !r->err->code;
}

static bool vm_load(penta_vm *base, penta_bytes saved, penta_error *err)
{
    struct coil_vm *vm = coil_vm(base);
    struct reader r = {.in = saved, .err = err};
    const uint8_t *magic = reader_take(&r, 4);
    if (!magic || memcmp(magic, "COVM", 4))
        return error_at(err, BASE_SNAPSHOT, 0, "not a snapshot of this machine");
    uint64_t count = reader_uint(&r, 8), host[3], v[COIL_REGISTERS];
    struct saved s = {0};
#define FIELD(name) s.name = reader_uint(&r, 8);
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
    uint64_t flags = reader_uint(&r, 8);
    for (int i = 0; i < 3; i++)
        host[i] = reader_uint(&r, 8);
    for (int i = 0; i < COIL_REGISTERS; i++)
        v[i] = reader_uint(&r, 8);
    if (err->code) return false;
    if (count != vm->program.count || !saved_fits(vm, &s))
        return error_at(err, BASE_SNAPSHOT, 4, "a snapshot of another program");
    struct reader frames = r;
    if (!frames_fit(vm, &r, &s))
        return error_at(err, BASE_SNAPSHOT, reader_at(&r), "frames do not add up");
    size_t slot_count = (size_t)s.fp + vm->program.functions[s.function].slots;
    struct reader slots = r;
    if (!reader_take(&r, slot_count * 8)) return false;
    struct reader blocks = r;
    if (s.block_count > reader_left(&r) / 17 || !blocks_fit(&r, &s))
        return error_at(err, BASE_SNAPSHOT, reader_at(&r), "blocks do not add up");
    struct reader memory = r;
    if (s.heap_top && !coil_heap_open(vm))
        return error_at(err, BASE_MEMORY, 0, "no memory for the heap");
    if (!load_memory(vm, &r, false)) return false;
    struct coil_frame *new_frames = malloc((size_t)(s.depth + 1) * sizeof *new_frames);
    uint64_t *new_slots = malloc((slot_count + 1) * sizeof *new_slots);
    struct coil_block *new_blocks = malloc((size_t)(s.block_count + 1) * sizeof *new_blocks);
    if (!new_frames || !new_slots || !new_blocks) {
        free(new_frames);
        free(new_slots);
        free(new_blocks);
        return error_at(err, BASE_MEMORY, 0, "no memory for a snapshot");
    }
    for (uint64_t i = 0; i < s.depth; i++) {
        uint32_t back = (uint32_t)reader_uint(&frames, 4);
        new_frames[i] = (struct coil_frame){back, (uint32_t)reader_uint(&frames, 4)};
    }
    for (size_t i = 0; i < slot_count; i++)
        new_slots[i] = reader_uint(&slots, 8);
    for (uint64_t i = 0; i < s.block_count; i++) {
        uint64_t offset = reader_uint(&blocks, 8), size = reader_uint(&blocks, 8);
        new_blocks[i] = (struct coil_block){offset, size, reader_uint(&blocks, 1) != 0};
    }
    free(vm->frames);
    free(vm->slots);
    free(vm->blocks);
    vm->frames = new_frames;
    vm->slots = new_slots;
    vm->blocks = new_blocks;
    vm->frame_capacity = (size_t)s.depth + 1;
    vm->slot_capacity = slot_count + 1;
    vm->block_capacity = (size_t)s.block_count + 1;
#define FIELD(name) vm->name = (__typeof__(vm->name))s.name;
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
    coil_flags_put(vm, (uint8_t)(flags & COIL_FLAGS));
    for (int i = 0; i < 3; i++)
        vm->host_args[i] = host[i];
    for (int i = 0; i < COIL_REGISTERS; i++)
        vm->v[i] = v[i];
    vm->at_break = false;
    load_memory(vm, &memory, true);
    return true;
}

static const char *vm_detail(const penta_vm *vm, const penta_stop *stop)
{
    (void)vm;
    if (stop->kind == PENTA_STOP_HOST) return stop->detail == COIL_HOST_IN ? "INPORT" : "OUTPORT";
    return stop->kind == PENTA_STOP_TRAP ? trap_name(stop->detail) : NULL;
}

const struct engine coil_interp = {
    .name = "interp",
    .open = vm_open,
    .run = coil_vm_run,
    .answer = vm_answer,
    .describe = vm_describe,
    .peek = vm_peek,
    .poke = vm_poke,
    .mark = vm_mark,
    .save = vm_save,
    .load = vm_load,
    .close = vm_close,
    .detail = vm_detail,
};

/* ---- the default host: port 1 is bytes, port 2 numbers ---- */

struct ports {
    penta_buffer input;
    size_t at;
    bool from_file;
};

static bool host_open(const penta_module *module, const penta_option *options, size_t count,
                      void **state, penta_error *err)
{
    (void)module;
    struct ports *p = calloc(1, sizeof *p);
    const char *input = option_text(options, count, "input");
    if (!p) return error_at(err, BASE_MEMORY, 0, "no memory for a host");
    p->from_file = input != NULL;
    if (input && !file_read(input, UINT64_C(1) << 30, &p->input, err)) {
        free(p);
        return false;
    }
    *state = p;
    return true;
}

static uint64_t next_byte(struct ports *p)
{
    if (p->from_file) return p->at < p->input.size ? p->input.data[p->at++] : UINT64_MAX;
    int c = getchar();
    return c == EOF ? UINT64_MAX : (uint64_t)c;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    (void)vm;
    uint8_t type = (uint8_t)stop->args[2];
    if (stop->detail == COIL_HOST_IN) {
        out->results[0] = next_byte(state);
        out->count = 1;
        return true;
    }
    if (stop->args[0] == 1) {
        uint64_t value = coil_convert_bits(stop->args[1], type, COIL_T_INT64, false);
        writer_char(&out->output, (char)(uint8_t)value);
        return true;
    }
    if (coil_types[type].family == COIL_F_REAL)
        coil_print_real(&out->output, coil_real(type, stop->args[1]), type == COIL_T_FP32);
    else if (coil_types[type].family == COIL_F_SIGNED)
        writer_print(&out->output, "%lld", (long long)stop->args[1]);
    else
        writer_dec(&out->output, stop->args[1]);
    writer_char(&out->output, '\n');
    return true;
}

static void host_close(void *state)
{
    struct ports *p = state;
    if (p) penta_buffer_free(&p->input);
    free(p);
}

const struct host coil_host = {.open = host_open, .answer = host_answer, .close = host_close};
