/* Keeps idle machines in a list under a lock. The pool holds what the machines share: the cells
 * and the options. */
#include "pvm/vm/machine_pool.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/thread/lock.h"

struct pvm_pool {
    struct lock lock;
    const penta_module *module;
    struct pvm_config config;
    struct pvm_cells *cells;
    struct pvm_vm **idle;
    size_t count, capacity, out;
    bool closed;
};

static void machine_pool_dispose(struct pvm_pool *pool)
{
    pvm_cells_free(pool->cells);
    free(pool->idle);
    lock_close(&pool->lock);
    free(pool);
}

struct pvm_vm *pvm_pool_take(struct pvm_pool *pool, penta_error *err)
{
    struct pvm_vm *vm = NULL;
    lock_take(&pool->lock);
    if (pool->count) vm = pool->idle[--pool->count];
    pool->out++;
    lock_give(&pool->lock);
    if (vm) return vm;
    const struct pvm_program *p = &pvm_module(pool->module)->program;
    vm = pvm_vm_create(pool->module, &p->code, &pool->config, pool->cells, err);
    if (vm && !pvm_vm_populate(vm, p, (penta_bytes){0}, err)) {
        pvm_vm_destroy(vm);
        vm = NULL;
    }
    if (vm) {
        vm->pool = pool;
    } else {
        lock_take(&pool->lock);
        pool->out--;
        lock_give(&pool->lock);
    }
    return vm;
}

/* Takes a machine back. It is reset here, so that it is cheap to take one from the pool. */
void pvm_pool_return(struct pvm_pool *pool, struct pvm_vm *vm)
{
    pvm_vm_reset(vm);
    for (uint32_t i = 0; vm->marked && i < vm->cells->count; i++)
        if (vm->marked[i]) pvm_vm_mark(&vm->base, vm->cells->places[i].pc, false);
    lock_take(&pool->lock);
    pool->out--;
    bool kept = !pool->closed && ARRAY_RESERVE(pool->idle, pool->capacity, pool->count + 1);
    if (kept) pool->idle[pool->count++] = vm;
    bool last = pool->closed && !pool->out;
    lock_give(&pool->lock);
    if (!kept) pvm_vm_destroy(vm);
    if (last) machine_pool_dispose(pool);
}

static bool choose_engine(struct pvm_config *config, const char *engine, penta_error *err)
{
    if (!engine) return pvm_engine_find("jit", &config->adopt) || true;
    if (strcmp(engine, "both") && pvm_engine_find(engine, &config->adopt)) return true;
    return error_at(err, BASE_OPTION_VALUE, 0, "no pool of engine '%.40s'", engine);
}

struct pvm_pool *pvm_pool_new(const penta_module *module, const char *engine,
                              const penta_option *options, size_t count, penta_error *err)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    struct pvm_pool *pool = calloc(1, sizeof *pool);
    if (!pool || !lock_open(&pool->lock)) {
        error_at(err, BASE_MEMORY, 0, "no memory for a pool");
        free(pool);
        return NULL;
    }
    pool->module = module;
    if (pvm_config_read(&pool->config, p, options, count, err) &&
        choose_engine(&pool->config, engine, err))
        pool->cells = pvm_cells_new(&p->code, pool->config.profile, pool->config.model,
                                    pool->config.metered, err);
    /* The first machine compiles the program, before other threads can use the pool. */
    struct pvm_vm *first = pool->cells ? pvm_pool_take(pool, err) : NULL;
    pool->config.perf_dump = NULL; /* The text belongs to the caller. */
    if (first) {
        pvm_pool_return(pool, first);
        return pool;
    }
    pvm_pool_free(pool);
    return NULL;
}

void pvm_pool_free(struct pvm_pool *pool)
{
    if (!pool) return;
    lock_take(&pool->lock);
    while (pool->count) pvm_vm_destroy(pool->idle[--pool->count]);
    pool->closed = true;
    bool last = !pool->out;
    lock_give(&pool->lock);
    if (last) machine_pool_dispose(pool);
}
