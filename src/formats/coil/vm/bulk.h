/* Instructions that work for long (COIL 7.20). Calculations count their work and are undone when they are
 * interrupted: their results are in a scratch copy, or not written yet. Writes of more than BULK_PIECE bytes
 * are noted in the machine as they go on (struct coil_bulk), so that the same instruction finishes them
 * when the machine runs again. They are the last that an instruction does. */
#pragma once
#include "coil/vm/operands.h"

enum { BULK_PIECE = 1 << 18, BULK_ITEMS = 1 << 10 };

/* Counts work before it is done. */
static inline uint32_t coil_work(struct coil_vm *vm, uint64_t units)
{
    return vm_work(&vm->base, units) ? COIL_PAUSE : 0;
}
/* For loops over items that take a unit each: counts those up to the next time. */
static inline uint32_t coil_work_at(struct coil_vm *vm, uint64_t i, uint64_t count)
{
    if (i % BULK_ITEMS) return 0;
    return coil_work(vm, count - i < BULK_ITEMS ? count - i : BULK_ITEMS);
}
/* Before bytes are written: those that are written without a look at the flag in between. */
static inline uint32_t coil_work_bytes(struct coil_vm *vm, uint64_t bytes)
{
    return coil_work(vm, poll_bytes(bytes < BULK_PIECE ? bytes : BULK_PIECE));
}

/* Go on at the place `to`, where `bytes` is. The pattern has 1, 2, 4 or 8 bytes; size is a multiple. */
uint32_t coil_fill(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t size,
                   const uint8_t *pattern, uint8_t pattern_bytes);
/* Copies; the two may overlap. from 0: `source` is a constant. */
uint32_t coil_copy(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t from,
                   const uint8_t *source, uint64_t size);
/* Swaps: what is written last is at y. */
uint32_t coil_swap(struct coil_vm *vm, uint64_t x, uint64_t y, uint64_t size);
/* Writes a result from a scratch copy, and frees that; at the end, so that operands may overlap. */
uint32_t coil_deliver(struct coil_vm *vm, const struct coil_place *to, uint8_t *copy,
                      uint64_t size);
/* Clears the frame of a function that was just entered. */
uint32_t coil_clear_frame(struct coil_vm *vm, uint64_t bytes);
/* Drops blocks that are free from the end of the heap. */
uint32_t coil_heap_trim(struct coil_vm *vm);
/* Goes on with what an interrupt stopped. */
uint32_t coil_bulk_run(struct coil_vm *vm);
