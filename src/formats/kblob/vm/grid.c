/* Runs grids of threads (KBLOB 3.9): this file decides which thread runs, and has barriers and
 * the numbers that ID reads.
 *
 *  Threads run one after the other: each one until it waits at a barrier, ends, or has executed
 * a quantum of instructions. So a run is the same every time, and a thread that waits in a loop
 * for another thread does not keep that thread from running. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "kblob/vm/vm.h"

static uint64_t grid_volume(const uint32_t size[3])
{
    uint64_t n = 1;
    for (int i = 0; i < 3; i++) n = size[i] > KBLOB_THREADS_MAX ? UINT32_MAX : n * size[i];
    return n; /* The factors are so small that the product of three does not wrap. */
}

bool kblob_launch_fits(const struct kblob_launch *l, penta_error *err)
{
    uint64_t blocks = grid_volume(l->grid), threads = grid_volume(l->threads);
    if (!blocks || !threads) return error_at(err, BASE_RANGE, 0, "a launch of 0 threads");
    if (threads > KBLOB_BLOCK_THREADS_MAX)
        return error_at(err, BASE_LIMIT, 0, "a block has at most %d threads",
                        KBLOB_BLOCK_THREADS_MAX);
    if (blocks > KBLOB_THREADS_MAX || blocks * threads > KBLOB_THREADS_MAX)
        return error_at(err, BASE_LIMIT, 0, "a launch has at most %d threads", KBLOB_THREADS_MAX);
    if (l->shared > KBLOB_SHARED_MAX || blocks * l->shared > KBLOB_SHARED_ALL)
        return error_at(err, BASE_LIMIT, 0, "at most %d bytes of shared memory, %d for all blocks",
                        KBLOB_SHARED_MAX, KBLOB_SHARED_ALL);
    return true;
}

bool kblob_launch_single(const struct kblob_launch *l)
{
    return grid_volume(l->grid) == 1 && grid_volume(l->threads) == 1 && !l->shared;
}

void kblob_grid_free(struct kblob_grid *g)
{
    free(g->threads);
    free(g->blocks);
    free(g->ready);
    free(g->shared);
    free((void *)(uintptr_t)g->launch.args.data);
    *g = (struct kblob_grid){0};
}

static void set_ready(struct kblob_grid *g, uint32_t thread, bool ready)
{
    uint64_t bit = UINT64_C(1) << (thread & 63);
    if (ready)
        g->ready[thread >> 6] |= bit;
    else
        g->ready[thread >> 6] &= ~bit;
}

bool kblob_grid_init(struct kblob_vm *vm, const struct kblob_launch *launch, penta_error *err)
{
    struct kblob_grid *g = &vm->grid;
    if (!kblob_launch_fits(launch, err)) return false;
    uint32_t blocks = (uint32_t)grid_volume(launch->grid);
    *g = (struct kblob_grid){.launch = *launch, .quantum = KBLOB_QUANTUM};
    g->block_threads = (uint32_t)grid_volume(launch->threads);
    g->count = blocks * g->block_threads;
    g->threads = calloc(g->count, sizeof *g->threads);
    g->blocks = calloc(blocks, sizeof *g->blocks);
    g->ready = calloc((g->count + 63) / 64, sizeof *g->ready);
    g->shared = launch->shared ? calloc(blocks, launch->shared) : NULL;
    uint8_t *args = malloc(launch->args.size + 1);
    g->launch.args.data = args;
    if (!g->threads || !g->blocks || !g->ready || (launch->shared && !g->shared) || !args) {
        unsigned threads = g->count;
        kblob_grid_free(g);
        return error_at(err, BASE_MEMORY, 0, "no memory for %u threads", threads);
    }
    bytes_copy(args, launch->args);
    for (uint32_t i = 0; i < g->count; i++) set_ready(g, i, true);
    return true;
}

uint64_t kblob_grid_special(const struct kblob_grid *g, uint32_t which)
{
    const uint32_t *threads = g->launch.threads, *grid = g->launch.grid;
    uint32_t block = kblob_grid_block(g, g->current), thread = g->current % g->block_threads;
    switch (which) {
    case KBLOB_SPECIAL_THREAD_X: return thread % threads[0];
    case KBLOB_SPECIAL_THREAD_Y: return thread / threads[0] % threads[1];
    case KBLOB_SPECIAL_THREAD_Z: return thread / threads[0] / threads[1];
    case KBLOB_SPECIAL_BLOCK_X: return block % grid[0];
    case KBLOB_SPECIAL_BLOCK_Y: return block / grid[0] % grid[1];
    case KBLOB_SPECIAL_BLOCK_Z: return block / grid[0] / grid[1];
    case KBLOB_SPECIAL_THREADS_X: return threads[0];
    case KBLOB_SPECIAL_THREADS_Y: return threads[1];
    case KBLOB_SPECIAL_THREADS_Z: return threads[2];
    case KBLOB_SPECIAL_BLOCKS_X: return grid[0];
    case KBLOB_SPECIAL_BLOCKS_Y: return grid[1];
    case KBLOB_SPECIAL_BLOCKS_Z: return grid[2];
    case KBLOB_SPECIAL_THREAD: return thread;
    case KBLOB_SPECIAL_BLOCK: return block;
    case KBLOB_SPECIAL_GLOBAL: return g->current;
    case KBLOB_SPECIAL_SHARED: return KBLOB_SHARED_BASE;
    case KBLOB_SPECIAL_SHARED_SIZE: return g->launch.shared;
    case KBLOB_SPECIAL_ARGS_SIZE: return g->launch.args.size;
    default: return 0; /* The decoder refuses other numbers. */
    }
}

bool kblob_grid_next(const struct kblob_grid *g, uint32_t from, uint32_t *thread)
{
    uint32_t words = (g->count + 63) / 64, first = from < g->count ? from : 0;
    for (uint32_t n = 0; n <= words;
         /* The first word is looked at twice: its upper part at the beginning, the rest at the
          * end. */
         n++) {
        uint32_t word = (first / 64 + n) % words;
        uint64_t bits = g->ready[word];
        if (!n) bits &= UINT64_MAX << (first & 63);
        if (!bits) continue;
        *thread = word * 64 + (uint32_t)__builtin_ctzll(bits);
        return true;
    }
    return false;
}

void kblob_grid_choose(struct kblob_vm *vm, uint32_t thread)
{
    struct kblob_grid *g = &vm->grid;
    g->threads[g->current].pc = vm->pc;
    g->current = thread;
    vm->pc = g->threads[thread].pc;
    g->quantum = KBLOB_QUANTUM;
    vm->at_break = false;
}

static enum kblob_turn switch_thread(struct kblob_vm *vm)
{
    struct kblob_grid *g = &vm->grid;
    uint32_t next;
    if (!kblob_grid_next(g, g->current + 1, &next)) return KBLOB_TURN_STUCK;
    kblob_grid_choose(vm, next);
    return KBLOB_TURN_SWITCHED;
}

enum kblob_turn kblob_grid_rotate(struct kblob_vm *vm)
{
    return switch_thread(vm); /* The current thread is ready, so some thread is always found. */
}

/* Called when all threads of the block wait or have ended. They continue if all of them wait at
 * the same barrier. */
static enum kblob_turn settle_block(struct kblob_vm *vm)
{
    struct kblob_grid *g = &vm->grid;
    uint32_t number = kblob_grid_block(g, g->current), first = number * g->block_threads;
    struct kblob_block *b = &g->blocks[number];
    if (!b->waiting || b->waiting + b->ended < g->block_threads) return switch_thread(vm);
    uint32_t at = UINT32_MAX, waits = first;
    bool same = !b->ended;
    for (uint32_t i = first + g->block_threads; i-- > first;) {
        if (g->threads[i].state != KBLOB_THREAD_WAITING) continue;
        same = same && (at == UINT32_MAX || at == g->threads[i].pc);
        at = g->threads[i].pc;
        waits = i;
    }
    if (!same) {
        kblob_grid_choose(vm, waits);
        return KBLOB_TURN_STUCK;
    }
    for (uint32_t i = first; i < first + g->block_threads; i++) {
        g->threads[i].state = KBLOB_THREAD_READY;
        g->threads[i].pc++;
        set_ready(g, i, true);
    }
    b->waiting = 0;
    b->barriers++;
    vm->pc++;
    return switch_thread(vm);
}

enum kblob_turn kblob_grid_barrier(struct kblob_vm *vm)
{
    struct kblob_grid *g = &vm->grid;
    struct kblob_thread *t = &g->threads[g->current];
    struct kblob_block *b = &g->blocks[kblob_grid_block(g, g->current)];
    if (g->count == 1) {
        b->barriers++;
        return KBLOB_TURN_STAYS;
    }
    t->pc = vm->pc;
    t->state = KBLOB_THREAD_WAITING;
    set_ready(g, g->current, false);
    b->waiting++;
    return settle_block(vm);
}

enum kblob_turn kblob_grid_end(struct kblob_vm *vm, bool halted)
{
    struct kblob_grid *g = &vm->grid;
    struct kblob_thread *t = &g->threads[g->current];
    t->pc = vm->pc;
    t->state = KBLOB_THREAD_ENDED;
    set_ready(g, g->current, false);
    g->blocks[kblob_grid_block(g, g->current)].ended++;
    g->implicit |= !halted;
    if (++g->ended == g->count) return KBLOB_TURN_OVER;
    return settle_block(vm);
}
