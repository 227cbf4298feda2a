/* Implements the functions of penta/pvm.h for compiled code. A penta_pvm_compiled is a struct
 * pvm_native. */
#include "penta/pvm.h"
#include <time.h>
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"

static const struct pvm_native *native_of(const penta_pvm_compiled *compiled)
{
    return (const struct pvm_native *)compiled;
}

static uint64_t jit_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

penta_pvm_compiled *penta_pvm_compile(const penta_module *module, const penta_option *options,
                                      size_t count, const volatile int *stop,
                                      penta_pvm_compilation *result, penta_error *err)
{
    struct flag_work work;
    const struct pvm_program *p = &pvm_module(module)->program;
    struct pvm_config config;
    *err = module->damage;
    if (err->code || !options_check(options, count, pvm_driver.options, OPTION_RUN, err) ||
        !pvm_config_read(&config, p, options, count, err))
        return NULL;
    struct pvm_cells *cells =
        pvm_cells_new(&p->code, config.profile, config.model, config.metered, err);
    if (!cells) return NULL;
    uint64_t start = jit_now();
    config.work = flag_work_begin(&work, stop);
    struct pvm_native *n = pvm_native_compile(cells, &config);
    if (!n && work.work.ended) error_at(err, BASE_STATE, 0, "interrupted while compiling");
    if (!n) error_at(err, BASE_MEMORY, 0, "no executable memory, or the code is too large");
    if (n && result) {
        *result = (penta_pvm_compilation){.code_bytes = n->size,
                                          .native_bytes = n->used - n->body,
                                          .nanoseconds = jit_now() - start};
        for (uint32_t pc = 0; pc < n->size; pc++)
            result->instructions += pvm_starts(&cells->code, pc);
    }
    pvm_cells_free(cells);
    return (penta_pvm_compiled *)n;
}

void penta_pvm_compiled_free(penta_pvm_compiled *compiled)
{
    pvm_native_free((struct pvm_native *)compiled);
}

/* Returns where the code of this instruction ends: where the code of the next one begins, or the
 * gas charge before it. */
static uint32_t instruction_end(const struct pvm_native *n, uint32_t pc)
{
    for (uint32_t next = pc + 1; next <= n->size; next++)
        if (pvm_native_offset(n, next))
            return pvm_native_offset(n, next) -
                   (pvm_bit(n->block_starts, next) ? n->charge_size : 0);
    return n->cold_start;
}

bool penta_pvm_compiled_at(const penta_pvm_compiled *compiled, uint32_t from,
                           penta_pvm_instruction *out)
{
    const struct pvm_native *n = native_of(compiled);
    uint32_t pc = from;
    while (pc <= n->size && !pvm_native_place(n, pc)) pc++;
    uint32_t at = pvm_native_offset(n, pc);
    /* Control never runs off the end of this program. */
    if (pc > n->size || (pc == n->size && !at)) return false;
    bool starts = pvm_bit(n->block_starts, pc);
    *out = (penta_pvm_instruction){.pc = pc, .starts_block = starts};
    if (!at) return true;
    if (starts) at -= n->charge_size;
    out->offset = at;
    out->native = (penta_bytes){n->code + at, instruction_end(n, pc) - at};
    return true;
}

bool penta_pvm_difference_of(const penta_vm *vm, penta_pvm_difference *out)
{
    struct pvm_difference d;
    if (!vm->module || !pvm_both_difference(vm, &d)) return false;
    *out = (penta_pvm_difference){.what = d.what,
                                  .from = d.from,
                                  .to = d.to,
                                  .entered = d.entered,
                                  .module = vm->module,
                                  .compiled = (const penta_pvm_compiled *)d.native};
    return true;
}
