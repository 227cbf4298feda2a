/* Implements guest memory (COIL 7.7, COIL 7.14): the regions in the order of their addresses,
 * which include the sections of the image and the heap, and the blocks of the heap. */
#include "coil/format/section_layout.h"
#include "base/array.h"
#include "coil/vm/bulk.h"
#include <stdlib.h>

struct coil_region *coil_region_at(struct coil_vm *vm, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, vm->region_count, vm->regions[low].base > address);
    struct coil_region *r = low ? &vm->regions[low - 1] : NULL;
    return r && address - r->base < r->size ? r : NULL;
}

uint8_t *coil_memory(struct coil_vm *vm, uint64_t address, uint64_t size, bool write,
                     uint32_t *trap)
{
    static uint8_t nothing[1];
    if (!size) return nothing;
    struct coil_region *r = address < COIL_PAGE ? NULL : coil_region_at(vm, address);
    if (!r || size > r->size - (address - r->base)) {
        *trap = address < COIL_PAGE ? COIL_TRAP_NULL_POINTER : COIL_TRAP_BOUNDS_VIOLATION;
        vm->fault_address = address;
        return NULL;
    }
    if (write && !r->writable) {
        *trap = COIL_TRAP_PROTECTION_VIOLATION;
        vm->fault_address = address;
        return NULL;
    }
    guards_see(&vm->base.guards, address, size, write);
    return r->bytes + (address - r->base);
}

/* The heap has a table of its blocks, in the order of their addresses. ALLOC takes the first
 * free block that is large enough. */

static bool room_for_block(struct coil_vm *vm)
{
    return ARRAY_RESERVE(vm->blocks, vm->block_capacity, vm->block_count + 1);
}

/* Opens the whole heap at once, so that it never moves. The system gives the pages of large blocks
 * only when they are used. */
bool coil_heap_open(struct coil_vm *vm)
{
    if (vm->heap->bytes) return true;
    vm->heap->bytes = vm->linear ? coil_linear_open(vm->linear, vm->heap->base, vm->heap_max)
                                 : calloc(1, (size_t)vm->heap_max + 1);
    vm->heap->size = vm->heap->bytes ? vm->heap_max : 0;
    return vm->heap->bytes != NULL;
}

uint64_t coil_heap_alloc(struct coil_vm *vm, uint64_t *size)
{
    struct coil_region *heap = vm->heap;
    uint64_t rounded = *size < UINT64_MAX - 16 ? (*size + 15) / 16 * 16 : 0;
    if (!rounded || rounded > vm->heap_max || !coil_heap_open(vm)) return 0;
    for (size_t i = 0; vm->block_free && i < vm->block_count; i++) {
        struct coil_block *b = &vm->blocks[i];
        if (b->live || b->size < rounded) continue;
        b->live = true;
        vm->block_free--;
        *size = b->size;
        return heap->base + b->offset;
    }
    if (rounded > heap->size - vm->heap_top || !room_for_block(vm)) return 0;
    vm->blocks[vm->block_count++] = (struct coil_block){vm->heap_top, rounded, true};
    *size = rounded;
    vm->heap_top += rounded;
    return heap->base + vm->heap_top - rounded;
}

bool coil_heap_free(struct coil_vm *vm, uint64_t address)
{
    uint64_t offset = address - vm->heap->base;
    size_t low;
    ARRAY_SEARCH(low, 0, vm->block_count, vm->blocks[low].offset >= offset);
    if (low == vm->block_count || vm->blocks[low].offset != offset || !vm->blocks[low].live)
        return false;
    vm->blocks[low].live = false;
    vm->block_free++;
    return true;
}

uint32_t coil_heap_trim(struct coil_vm *vm)
{
    vm->bulk.kind = COIL_BULK_TRIM;
    for (uint64_t i = 0; vm->block_count && !vm->blocks[vm->block_count - 1].live; i++) {
        TRY(coil_work_at(vm, i, UINT64_MAX));
        vm->heap_top = vm->blocks[--vm->block_count].offset;
        vm->block_free--;
    }
    vm->bulk.kind = COIL_BULK_NONE;
    return 0;
}
