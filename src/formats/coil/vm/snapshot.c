/* Reads and writes the state of a machine for snapshots: memory, fields, frames, slots, blocks
 * of the heap, and a long write that is not finished. It checks all that it reads, so that a
 * wrong snapshot cannot break the machine. */
#include "core/snapshot.h"
#include "base/array.h"
#include "coil/vm/vm.h"
#include <stdlib.h>

static bool fields_fit(const struct coil_vm *vm)
{
    const struct coil_program *p = &vm->program;
    uint64_t base = vm->frame_memory->base, frames_end = base + vm->frame_memory->size;
    return vm->pc < p->count && vm->function < p->function_count && vm->depth <= vm->depth_max &&
           vm->sp >= vm->stack->base && vm->sp <= vm->stack->base + vm->stack->size &&
           vm->frame_top >= base && vm->frame_top <= frames_end && vm->fp < UINT32_MAX &&
           p->functions[vm->function].bytes <= frames_end - vm->frame_top &&
           (!vm->waiting || p->cells[vm->pc].op == COIL_CELL_PORT);
}

/* Returns how many bytes of a region may differ from zero. In a machine whose loading has
 * failed, these are all bytes. */
static uint64_t used_bytes(const struct coil_vm *vm, const struct coil_region *r)
{
    if (r == vm->heap) return vm->heap_top;
    if (r != vm->frame_memory || !r->size || !fields_fit(vm)) return r->size;
    return vm->frame_top - r->base + vm->program.functions[vm->function].bytes;
}

/* Regions are read before the fields: the fields of the old state say how much of a region must
 * be cleared. */
static void walk_regions(struct coil_vm *vm, struct walk *w)
{
    uint64_t heap_top = vm->heap_top;
    WALK_NUMBER(w, heap_top);
    if (heap_top > vm->heap_max) walk_wrong(w, "a heap over its limit");
    if (walk_failed(w)) return;
    if (heap_top && !coil_heap_open(vm))
        error_at(w->in.err, BASE_MEMORY, 0, "no memory for the heap");
    for (size_t i = 0; i < vm->region_count && !walk_failed(w); i++) {
        const struct coil_region *r = &vm->regions[i];
        walk_memory(w, r->bytes, r->size, used_bytes(vm, r));
    }
    vm->heap_top = heap_top;
}

/* These bits are stored in the number for `started`, because the snapshot has no other place for
 * them. */
enum { STARTED = 1, UNDER_WAY = 2 };

static void walk_fields(struct coil_vm *vm, struct walk *w, bool *under_way)
{
    WALK_NUMBER(w, vm->fp);
    WALK_NUMBER(w, vm->depth);
    WALK_NUMBER(w, vm->function);
    WALK_NUMBER(w, vm->pc);
    WALK_NUMBER(w, vm->sp);
    WALK_NUMBER(w, vm->frame_top);
    WALK_NUMBER(w, vm->waiting);
    WALK_NUMBER(w, vm->final);
    WALK_NUMBER(w, vm->halted);
    uint64_t bits = (vm->started ? STARTED : 0) | (vm->bulk.kind ? UNDER_WAY : 0);
    WALK_NUMBER(w, bits);
    vm->started = bits & STARTED;
    *under_way = bits & UNDER_WAY;
    WALK_NUMBER(w, vm->host_call);
    WALK_NUMBER(w, vm->trap);
    WALK_NUMBER(w, vm->trap_code);
    WALK_NUMBER(w, vm->fault_address);
    WALK_NUMBER(w, vm->executed);
    uint64_t flags = walk_number(w, coil_flags_now(vm));
    if (walk_loads(w)) coil_flags_put(vm, (uint8_t)(flags & COIL_FLAGS));
    walk_numbers(w, vm->host_args, COIL_HOST_ARGS, sizeof *vm->host_args);
    walk_numbers(w, vm->v, COIL_REGISTERS, sizeof *vm->v);
    if (!fields_fit(vm)) walk_wrong(w, "a state that this program cannot be in");
}

static bool snapshot_reserve(struct walk *w, void *items, size_t *capacity, size_t need,
                             size_t item)
{
    if (!walk_loads(w) || array_reserve(items, capacity, need, item)) return true;
    return error_at(w->in.err, BASE_MEMORY, 0, "no memory for the snapshot");
}

/* The sizes of the frames must add up to the frame position that was read before. */
static void walk_frames(struct coil_vm *vm, struct walk *w)
{
    const struct coil_program *p = &vm->program;
    uint64_t fp = 0, top = vm->frame_memory->base;
    if (walk_count(w, vm->depth, 8) != vm->depth) walk_wrong(w, "a wrong number of frames");
    if (walk_failed(w) ||
        !snapshot_reserve(w, &vm->frames, &vm->frame_capacity, vm->depth, sizeof *vm->frames))
        return;
    for (size_t i = 0; i < vm->depth; i++) {
        struct coil_frame *f = &vm->frames[i];
        walk_numbers(w, &f->back, 1, sizeof f->back);
        walk_numbers(w, &f->function, 1, sizeof f->function);
        if (f->back >= p->count || f->function >= p->function_count ||
            p->owners[f->back] != f->function) {
            walk_wrong(w, "a frame that belongs to no function");
            return;
        }
        fp += p->functions[f->function].slots;
        top += p->functions[f->function].bytes;
    }
    if (fp != vm->fp || top != vm->frame_top) walk_wrong(w, "frames do not add up");
}

static void walk_slots(struct coil_vm *vm, struct walk *w)
{
    if (walk_failed(w)) return;
    size_t count = vm->fp + vm->program.functions[vm->function].slots;
    if (walk_count(w, count, 8) != count) walk_wrong(w, "a wrong number of slots");
    if (walk_failed(w) ||
        !snapshot_reserve(w, &vm->slots, &vm->slot_capacity, count, sizeof *vm->slots))
        return;
    walk_numbers(w, vm->slots, count, sizeof *vm->slots);
}

static void walk_blocks(struct coil_vm *vm, struct walk *w)
{
    uint64_t end = 0;
    size_t count = walk_count(w, vm->block_count, 24);
    if (walk_failed(w) ||
        !snapshot_reserve(w, &vm->blocks, &vm->block_capacity, count, sizeof *vm->blocks))
        return;
    if (walk_loads(w) && count) memset(vm->blocks, 0, count * sizeof *vm->blocks);
    vm->block_count = count;
    vm->block_free = 0;
    for (size_t i = 0; i < count; i++) {
        struct coil_block *b = &vm->blocks[i];
        WALK_NUMBER(w, b->offset);
        WALK_NUMBER(w, b->size);
        WALK_NUMBER(w, b->live);
        vm->block_free += !b->live;
        if (b->offset != end || b->size > vm->heap_top - end) {
            walk_wrong(w, "blocks do not add up");
            return;
        }
        end += b->size;
    }
    if (end != vm->heap_top) walk_wrong(w, "blocks do not add up");
}

static bool writes_there(struct coil_vm *vm, uint64_t address, uint64_t size)
{
    const struct coil_region *r = coil_region_at(vm, address);
    return r && r->writable && size && size <= r->size - (address - r->base);
}

static bool reads_there(struct coil_vm *vm, uint64_t address, uint64_t size)
{
    const struct coil_region *r = coil_region_at(vm, address);
    return r && size && size <= r->size - (address - r->base);
}

/* Tells whether the current instruction, or the entry of the current function, can have begun
 * the unfinished write. */
static bool bulk_fits(struct coil_vm *vm, bool scratch)
{
    const struct coil_bulk *b = &vm->bulk;
    const struct coil_program *p = &vm->program;
    const struct coil_step *s = p->steps[vm->pc];
    uint8_t n = b->pattern_bytes;
    if (b->kind == COIL_BULK_NONE || b->kind >= COIL_BULK_KINDS) return false;
    if (b->enters)
        return b->kind == COIL_BULK_FILL && n == 1 && vm->pc == p->functions[vm->function].first &&
               b->done <= b->size && writes_there(vm, b->to, b->size);
    if (p->cells[vm->pc].op != COIL_CELL_STEP || !s) return false;
    if (b->first && (s->opcode != COIL_OP_VAR || s->count != 3)) return false;
    if (b->kind == COIL_BULK_TRIM) return s->opcode == COIL_OP_FREE && !scratch;
    if (!writes_there(vm, b->to, b->size) || b->done > b->size) return false;
    if (b->kind == COIL_BULK_FILL)
        return (n == 1 || n == 2 || n == 4 || n == 8) && !(b->size % n) && !(b->done % n) &&
               !scratch;
    if (b->kind == COIL_BULK_SCRATCH) return scratch;
    return scratch ? writes_there(vm, b->from, b->size) : reads_there(vm, b->from, b->size);
}

static void walk_bulk(struct coil_vm *vm, struct walk *w, bool under_way)
{
    struct coil_bulk *b = &vm->bulk;
    uint64_t bytes = b->scratch ? b->size : 0;
    if (walk_failed(w)) return;
    if (walk_loads(w)) {
        free(b->scratch);
        *b = (struct coil_bulk){0};
    }
    if (!under_way) return;
    WALK_NUMBER(w, b->kind);
    WALK_NUMBER(w, b->pattern_bytes);
    WALK_NUMBER(w, b->enters);
    WALK_NUMBER(w, b->first);
    WALK_NUMBER(w, b->to);
    WALK_NUMBER(w, b->from);
    WALK_NUMBER(w, b->size);
    WALK_NUMBER(w, b->done);
    walk_numbers(w, b->pattern, sizeof b->pattern, 1);
    bytes = walk_count(w, (size_t)bytes, 1);
    if (!walk_failed(w) && bytes && bytes != b->size) walk_wrong(w, "a write of another size");
    if (walk_failed(w)) return;
    if (walk_loads(w) && bytes) b->scratch = malloc((size_t)bytes);
    if (bytes && !b->scratch) error_at(w->in.err, BASE_MEMORY, 0, "no memory for the snapshot");
    if (walk_failed(w)) return;
    if (bytes) walk_numbers(w, b->scratch, (size_t)bytes, 1);
    if (!bulk_fits(vm, bytes != 0)) walk_wrong(w, "a write that is not under way here");
}

void coil_vm_walk(penta_vm *base, struct walk *w)
{
    struct coil_vm *vm = coil_vm(base);
    bool under_way = false;
    walk_regions(vm, w);
    walk_fields(vm, w, &under_way);
    walk_frames(vm, w);
    walk_slots(vm, w);
    walk_blocks(vm, w);
    walk_bulk(vm, w, under_way);
    if (walk_loads(w)) vm->at_break = false;
}
