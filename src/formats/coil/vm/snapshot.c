/* Snapshots: "COVM", fixed fields, flags, registers, frames, slots, blocks, then for every region
 * the pages that are not zero. Loading checks everything before it changes the machine. */
#include "coil/format/section_layout.h"
#include "coil/vm/vm.h"
#include <stdlib.h>

/* clang-format off */
#define SNAPSHOT_FIELDS(FIELD)                                                                     \
    FIELD(fp) FIELD(depth) FIELD(function) FIELD(pc) FIELD(sp) FIELD(frame_top)                    \
    FIELD(block_count) FIELD(heap_top) FIELD(waiting) FIELD(final) FIELD(halted) FIELD(started)    \
    FIELD(host_call) FIELD(trap) FIELD(trap_code) FIELD(fault_address) FIELD(executed)
/* clang-format on */

static const uint8_t zeros[COIL_PAGE];

/* What of a region may differ from zero. */
static uint64_t used_bytes(const struct coil_vm *vm, const struct coil_region *r)
{
    if (r == vm->heap) return vm->heap_top;
    if (r != vm->frame_memory || !r->size) return r->size;
    return vm->frame_top - r->base + vm->program.functions[vm->function].bytes;
}

/* Untouched pages are not written to: a large .bss costs addresses, not memory. */
static void clear(struct coil_region *r, uint64_t end)
{
    for (uint64_t at = 0; at < end; at += COIL_PAGE) {
        size_t size = (size_t)(end - at < COIL_PAGE ? end - at : COIL_PAGE);
        if (memcmp(r->bytes + at, zeros, size)) memset(r->bytes + at, 0, size);
    }
}

static size_t slots_used(const struct coil_vm *vm)
{
    return vm->fp + vm->program.functions[vm->function].slots;
}

bool coil_vm_save(const penta_vm *base, struct writer *out)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    writer_bytes(out, "COVM", 4);
    writer_uint(out, vm->program.count, 8);
#define FIELD(name) writer_uint(out, (uint64_t)vm->name, 8);
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
    writer_uint(out, coil_flags_now(vm), 8);
    for (int i = 0; i < COIL_HOST_ARGS; i++) writer_uint(out, vm->host_args[i], 8);
    for (int i = 0; i < COIL_REGISTERS; i++) writer_uint(out, vm->v[i], 8);
    for (size_t i = 0; i < vm->depth; i++) {
        writer_uint(out, vm->frames[i].back, 4);
        writer_uint(out, vm->frames[i].function, 4);
    }
    for (size_t i = 0; i < slots_used(vm); i++) writer_uint(out, vm->slots[i], 8);
    for (size_t i = 0; i < vm->block_count; i++) {
        writer_uint(out, vm->blocks[i].offset, 8);
        writer_uint(out, vm->blocks[i].size, 8);
        writer_uint(out, vm->blocks[i].live, 1);
    }
    for (size_t i = 0; i < vm->region_count; i++) {
        const struct coil_region *r = &vm->regions[i];
        uint64_t end = used_bytes(vm, r);
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
           s->heap_top <= vm->heap_max && s->frame_top >= COIL_FRAME_BASE &&
           s->frame_top <= COIL_FRAME_BASE + vm->frame_memory->size && s->fp < UINT32_MAX &&
           p->functions[s->function].bytes <=
               COIL_FRAME_BASE + vm->frame_memory->size - s->frame_top &&
           (!s->waiting || p->cells[s->pc].op == COIL_CELL_PORT);
}

/* Frames must add up to the position that the fields give. */
static bool frames_fit(const struct coil_vm *vm, struct reader *r, const struct saved *s)
{
    const struct coil_program *p = &vm->program;
    uint64_t fp = 0, top = COIL_FRAME_BASE;
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
        if (apply) clear(region, used_bytes(vm, region));
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

bool coil_vm_load(penta_vm *base, penta_bytes saved, penta_error *err)
{
    struct coil_vm *vm = coil_vm(base);
    struct reader r = {.in = saved, .err = err};
    const uint8_t *magic = reader_take(&r, 4);
    if (!magic || memcmp(magic, "COVM", 4))
        return error_at(err, BASE_SNAPSHOT, 0, "not a snapshot of this machine");
    uint64_t count = reader_uint(&r, 8), host[COIL_HOST_ARGS], v[COIL_REGISTERS];
    struct saved s = {0};
#define FIELD(name) s.name = reader_uint(&r, 8);
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
    uint64_t flags = reader_uint(&r, 8);
    for (int i = 0; i < COIL_HOST_ARGS; i++) host[i] = reader_uint(&r, 8);
    for (int i = 0; i < COIL_REGISTERS; i++) v[i] = reader_uint(&r, 8);
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
    for (size_t i = 0; i < slot_count; i++) new_slots[i] = reader_uint(&slots, 8);
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
    vm->block_free = 0;
    for (uint64_t i = 0; i < s.block_count; i++) vm->block_free += !new_blocks[i].live;
    vm->frame_capacity = (size_t)s.depth + 1;
    vm->slot_capacity = slot_count + 1;
    vm->block_capacity = (size_t)s.block_count + 1;
#define FIELD(name) vm->name = (__typeof__(vm->name))s.name;
    SNAPSHOT_FIELDS(FIELD)
#undef FIELD
    coil_flags_put(vm, (uint8_t)(flags & COIL_FLAGS));
    for (int i = 0; i < COIL_HOST_ARGS; i++) vm->host_args[i] = host[i];
    for (int i = 0; i < COIL_REGISTERS; i++) vm->v[i] = v[i];
    vm->at_break = false;
    load_memory(vm, &memory, true);
    return true;
}
