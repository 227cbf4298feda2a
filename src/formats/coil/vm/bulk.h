/* Instructions that work for a long time (COIL 7.20). While an instruction calculates, it counts
 * its work; if it is interrupted then, its results are dropped, because they are in a copy or
 * not written yet. While it writes more than BULK_PIECE bytes, its progress is noted in the
 * machine (struct coil_bulk), so that the same instruction finishes the write when the machine
 * runs again. Such a write is the last thing that an instruction does. */
#pragma once
#include "coil/vm/operands.h"

enum { BULK_PIECE = 1 << 18, BULK_ITEMS = 1 << 10 };

/* Counts work before it is done. Returns COIL_PAUSE if the machine was interrupted. */
static inline uint32_t coil_work(struct coil_vm *vm, uint64_t units)
{
    return vm_work(&vm->base, units) ? COIL_PAUSE : 0;
}
/* Counts the work of a loop in which each item takes one unit. It is called for every item, and
 * counts all items up to the next call that counts. */
static inline uint32_t coil_work_at(struct coil_vm *vm, uint64_t i, uint64_t count)
{
    if (i % BULK_ITEMS) return 0;
    return coil_work(vm, count - i < BULK_ITEMS ? count - i : BULK_ITEMS);
}
/* Counts the work of writing bytes, before they are written, up to the place where the interrupt
 * flag is looked at next. */
static inline uint32_t coil_work_bytes(struct coil_vm *vm, uint64_t bytes)
{
    return coil_work(vm, poll_bytes(bytes < BULK_PIECE ? bytes : BULK_PIECE));
}

/* Fills memory with a pattern; an interrupt leaves the rest for later. `to` is the address,
 * `bytes` the host's memory at that address. The pattern has 1, 2, 4 or 8 bytes, and size is a
 * multiple of that number. */
uint32_t coil_fill(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t size,
                   const uint8_t *pattern, uint8_t pattern_bytes);
/* Copies bytes; source and destination may overlap. If `from` is 0, `source` is a constant of
 * the program and not memory of the guest. */
uint32_t coil_copy(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t from,
                   const uint8_t *source, uint64_t size);
/* Swaps two blocks of memory. The block at y is written last. */
uint32_t coil_swap(struct coil_vm *vm, uint64_t x, uint64_t y, uint64_t size);
/* Writes a result from a scratch copy and frees the copy. This is done at the end of an
 * instruction, so that its operands may overlap. */
uint32_t coil_deliver(struct coil_vm *vm, const struct coil_place *to, uint8_t *copy,
                      uint64_t size);
/* Clears the frame of a function that has just been entered. */
uint32_t coil_clear_frame(struct coil_vm *vm, uint64_t bytes);
/* Removes free blocks from the end of the heap. */
uint32_t coil_heap_trim(struct coil_vm *vm);
/* Continues a write, or the removal of free blocks, that an interrupt has stopped. */
uint32_t coil_bulk_run(struct coil_vm *vm);
