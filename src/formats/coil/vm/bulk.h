/* Instructions that work for a long time (COIL 7.20). A calculation counts its work, and is undone
 * when it is interrupted: its results are in a scratch copy, or not written yet. A write of more
 * than BULK_PIECE bytes is noted in the machine as it goes on (struct coil_bulk), so that the same
 * instruction finishes it when the machine runs again. Such a write is the last thing that an
 * instruction does. */
#pragma once
#include "coil/vm/operands.h"

enum { BULK_PIECE = 1 << 18, BULK_ITEMS = 1 << 10 };

/* Counts work before it is done. Returns COIL_PAUSE if the machine is interrupted. */
static inline uint32_t coil_work(struct coil_vm *vm, uint64_t units)
{
    return vm_work(&vm->base, units) ? COIL_PAUSE : 0;
}
/* For loops over items that take a unit of work each: counts the items up to the next call that
 * counts. */
static inline uint32_t coil_work_at(struct coil_vm *vm, uint64_t i, uint64_t count)
{
    if (i % BULK_ITEMS) return 0;
    return coil_work(vm, count - i < BULK_ITEMS ? count - i : BULK_ITEMS);
}
/* Counts bytes before they are written: as many as are written before the next look at the flag. */
static inline uint32_t coil_work_bytes(struct coil_vm *vm, uint64_t bytes)
{
    return coil_work(vm, poll_bytes(bytes < BULK_PIECE ? bytes : BULK_PIECE));
}

/* Fills the place `to`, whose memory is `bytes`, and goes on with it after an interrupt. The
 * pattern has 1, 2, 4 or 8 bytes, and size is a multiple of that. */
uint32_t coil_fill(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t size,
                   const uint8_t *pattern, uint8_t pattern_bytes);
/* Copies bytes; source and destination may overlap. If `from` is 0, `source` is a constant. */
uint32_t coil_copy(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t from,
                   const uint8_t *source, uint64_t size);
/* Swaps two blocks of memory. The block at y is written last. */
uint32_t coil_swap(struct coil_vm *vm, uint64_t x, uint64_t y, uint64_t size);
/* Writes a result from a scratch copy and frees the copy. This is done at the end of an
 * instruction, so that its operands may overlap. */
uint32_t coil_deliver(struct coil_vm *vm, const struct coil_place *to, uint8_t *copy,
                      uint64_t size);
/* Clears the frame of a function that was just entered. */
uint32_t coil_clear_frame(struct coil_vm *vm, uint64_t bytes);
/* Removes free blocks from the end of the heap. */
uint32_t coil_heap_trim(struct coil_vm *vm);
/* Goes on with a write or a trimming that an interrupt stopped. */
uint32_t coil_bulk_run(struct coil_vm *vm);
