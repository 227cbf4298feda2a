/* Executes the long writes of bulk.h piece by piece, so that an interrupt between two pieces can
 * stop the instruction, and the same instruction can finish the write later. */
#include "coil/vm/bulk.h"
#include <stdlib.h>

static void piece_fill(const struct coil_bulk *b, uint8_t *to, uint64_t size)
{
    if (b->pattern_bytes == 1) {
        memset(to, b->pattern[0], (size_t)size);
        return;
    }
    for (uint64_t at = 0; at < size; at += b->pattern_bytes)
        memcpy(to + at, b->pattern, b->pattern_bytes);
}

/* Copies one piece. The pieces are copied from last to first if the destination begins inside
 * the source. */
static void piece_copy(const struct coil_bulk *b, uint8_t *to, const uint8_t *from, uint64_t size)
{
    bool back = b->to > b->from && b->to - b->from < b->size;
    uint64_t at = back ? b->size - b->done - size : b->done;
    memmove(to + at, from + at, (size_t)size);
}

static bool bulk_next(struct coil_bulk *b)
{
    /* The first half of a swap is written, so its second half is written next. */
    if (b->kind == COIL_BULK_COPY && b->scratch) {
        b->kind = COIL_BULK_SCRATCH;
        b->to = b->from;
        b->done = 0;
        return true;
    }
    free(b->scratch);
    b->scratch = NULL;
    b->kind = COIL_BULK_NONE;
    return false;
}

uint32_t coil_bulk_run(struct coil_vm *vm)
{
    struct coil_bulk *b = &vm->bulk;
    uint32_t trap = 0;
    if (b->kind == COIL_BULK_TRIM) {
        TRY(coil_heap_trim(vm));
        b->kind = COIL_BULK_NONE;
        return 0;
    }
    do {
        uint8_t *to = coil_memory(vm, b->to, b->size, true, &trap);
        const uint8_t *from = b->kind == COIL_BULK_COPY && !trap
                                  ? coil_memory(vm, b->from, b->size, false, &trap)
                                  : NULL;
        if (trap) return trap;
        while (b->done < b->size) {
            uint64_t left = b->size - b->done, size = left < BULK_PIECE ? left : BULK_PIECE;
            TRY(coil_work(vm, poll_bytes(size)));
            if (b->kind == COIL_BULK_FILL)
                piece_fill(b, to + b->done, size);
            else if (b->kind == COIL_BULK_COPY)
                piece_copy(b, to, from, size);
            else
                memcpy(to + b->done, b->scratch + b->done, (size_t)size);
            b->done += size;
        }
    } while (bulk_next(b));
    return 0;
}

uint32_t coil_fill(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t size,
                   const uint8_t *pattern, uint8_t pattern_bytes)
{
    struct coil_bulk b = {
        .kind = COIL_BULK_FILL, .to = to, .size = size, .pattern_bytes = pattern_bytes};
    memcpy(b.pattern, pattern, pattern_bytes);
    if (size <= BULK_PIECE) {
        piece_fill(&b, bytes, size);
        return 0;
    }
    vm->bulk = b;
    return coil_bulk_run(vm);
}

/* Makes a copy of some bytes in memory of the host, and counts the work for it. */
static uint32_t scratch_of(struct coil_vm *vm, const uint8_t *source, uint64_t size, uint8_t **out)
{
    uint8_t *copy = malloc((size_t)size + 1);
    if (!copy) return COIL_TRAP_OUT_OF_MEMORY;
    for (uint64_t done = 0; done < size; done += BULK_PIECE) {
        uint64_t part = size - done < BULK_PIECE ? size - done : BULK_PIECE;
        if (coil_work(vm, poll_bytes(part))) {
            free(copy);
            return COIL_PAUSE;
        }
        memcpy(copy + done, source + done, (size_t)part);
    }
    *out = copy;
    return 0;
}

uint32_t coil_copy(struct coil_vm *vm, uint64_t to, uint8_t *bytes, uint64_t from,
                   const uint8_t *source, uint64_t size)
{
    struct coil_bulk b = {.kind = COIL_BULK_COPY, .to = to, .from = from, .size = size};
    if (size <= BULK_PIECE) {
        memmove(bytes, source, (size_t)size);
        return 0;
    }
    if (!from) {
        b.kind = COIL_BULK_SCRATCH;
        TRY(scratch_of(vm, source, size, &b.scratch));
    }
    vm->bulk = b;
    return coil_bulk_run(vm);
}

uint32_t coil_swap(struct coil_vm *vm, uint64_t x, uint64_t y, uint64_t size)
{
    uint32_t trap = 0;
    struct coil_bulk b = {.kind = COIL_BULK_COPY, .to = x, .from = y, .size = size};
    const uint8_t *p = coil_memory(vm, x, size, true, &trap);
    if (trap) return trap;
    TRY(scratch_of(vm, p, size, &b.scratch));
    vm->bulk = b;
    return coil_bulk_run(vm);
}

uint32_t coil_deliver(struct coil_vm *vm, const struct coil_place *to, uint8_t *copy, uint64_t size)
{
    uint8_t *out;
    struct coil_bulk b = {.kind = COIL_BULK_SCRATCH, .size = size, .scratch = copy};
    uint32_t trap = coil_place_bytes(vm, to, true, &out);
    if (!trap && size > BULK_PIECE) trap = coil_address_of(vm, to, &b.to);
    if (!trap && size > BULK_PIECE) {
        vm->bulk = b;
        return coil_bulk_run(vm);
    }
    if (!trap) memcpy(out, copy, (size_t)size);
    free(copy);
    return trap;
}

uint32_t coil_clear_frame(struct coil_vm *vm, uint64_t bytes)
{
    uint8_t *from = vm->frame_memory->bytes + (vm->frame_top - vm->frame_memory->base);
    if (bytes <= BULK_PIECE) {
        memset(from, 0, (size_t)bytes);
        return 0;
    }
    vm->bulk = (struct coil_bulk){.kind = COIL_BULK_FILL,
                                  .enters = true,
                                  .to = vm->frame_top,
                                  .size = bytes,
                                  .pattern_bytes = 1};
    return coil_bulk_run(vm);
}
