/* Runs vectors on the machine of this library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conform/pvm_runner.h"
#include "pvm/vm/vm.h"

struct local {
    struct pvm_code code;
    struct pvm_config config;
    pvm_adopt_fn *adopt;
    struct pvm_vm *vm;
};

static bool isa_find(const char *name, enum pvm_isa *isa)
{
    for (int i = 0; i < PVM_ISAS; i++)
        if (!strcmp(pvm_isas[i].name, name)) {
            *isa = (enum pvm_isa)i;
            return true;
        }
    return false;
}

static bool pvm_local_start(void *state, const struct pvm_case *c, penta_error *err)
{
    struct local *l = state;
    enum pvm_isa isa;
    if (!isa_find(c->isa, &isa))
        return error_at(err, BASE_UNSUPPORTED, 0, "no instruction set '%.40s'", c->isa);
    l->config = (struct pvm_config){.profile = pvm_profile_find(c->profile),
                                    .metered = true,
                                    .paging = true,
                                    .gas = (int64_t)c->gas,
                                    .adopt = l->adopt};
    if (!pvm_gas_model_parse(c->gas_model, &l->config.model))
        return error_at(err, BASE_UNSUPPORTED, 0, "no gas model '%.40s'", c->gas_model);
    if (!pvm_generic_program(c->program, isa, &l->code))
        return error_at(err, BASE_RANGE, 0, "not a program");
    l->vm = pvm_vm_create(NULL, &l->code, &l->config, NULL, err);
    if (!l->vm) return false;
    pvm_vm_jump(l->vm, (uint32_t)c->pc);
    return true;
}

static bool pvm_local_map(void *state, uint64_t address, uint64_t length, bool writable,
                          penta_error *err)
{
    struct local *l = state;
    return pvm_memory_map(&l->vm->memory, address, length, writable, (penta_bytes){0}, false) ||
           error_at(err, BASE_RANGE, 0, "cannot map 0x%llx", (unsigned long long)address);
}

static bool write_bytes(void *state, uint64_t address, penta_bytes bytes, penta_error *err)
{
    struct local *l = state;
    return pvm_memory_write(&l->vm->memory, address, bytes.data, bytes.size) ||
           error_at(err, BASE_RANGE, 0, "cannot write 0x%llx", (unsigned long long)address);
}

static bool set_reg(void *state, unsigned reg, uint64_t value, penta_error *err)
{
    struct local *l = state;
    return pvm_vm_set_reg(l->vm, reg, value) || error_at(err, BASE_RANGE, 0, "register %u", reg);
}

static bool pvm_local_run(void *state, struct pvm_outcome_seen *out, penta_error *err)
{
    struct local *l = state;
    static const char *const names[] = {
        [PENTA_STOP_HOST] = "ecalli",      [PENTA_STOP_HALT] = "halt",
        [PENTA_STOP_TRAP] = "panic",       [PENTA_STOP_FAULT] = "page-fault",
        [PENTA_STOP_GAS] = "out-of-gas",   [PENTA_STOP_FUEL] = "fuel",
        [PENTA_STOP_BREAK] = "break",      [PENTA_STOP_INTERRUPT] = "interrupt",
        [PENTA_STOP_DISAGREE] = "disagree"};
    penta_stop stop;
    penta_vm *vm = &l->vm->base;
    if (l->vm->wait == PVM_WAIT_ANSWER && !penta_vm_answer(vm, NULL, 0, err)) return false;
    penta_vm_run(vm, UINT64_MAX, &stop);
    *out = (struct pvm_outcome_seen){.gas = (uint64_t)l->vm->state->gas, .pc = stop.pc};
    snprintf(out->status, sizeof out->status, "%s", names[stop.kind]);
    memcpy(out->regs, l->vm->state->regs, sizeof out->regs);
    out->fault = stop.kind == PENTA_STOP_FAULT ? stop.args[0] : 0;
    out->host = stop.kind == PENTA_STOP_HOST ? stop.detail : 0;
    return true;
}

static bool read_bytes(void *state, uint64_t address, uint8_t *into, size_t size, penta_error *err)
{
    struct local *l = state;
    return pvm_memory_read(&l->vm->memory, address, into, size) ||
           error_at(err, BASE_RANGE, 0, "cannot read 0x%llx", (unsigned long long)address);
}

static bool pvm_local_cost(void *state, uint32_t pc, uint64_t *out, penta_error *err)
{
    struct local *l = state;
    uint32_t gas;
    if (!pvm_block_cost(&l->code, pc, l->config.model, l->config.profile->cmov_reads_old, &gas))
        return error_at(err, BASE_RANGE, 0, "no instruction starts at %u", pc);
    *out = gas;
    return true;
}

static void close_local(void *state)
{
    struct local *l = state;
    if (l->vm) penta_vm_free(&l->vm->base);
    free(l);
}

bool pvm_runner_local(struct pvm_runner *out, const char *engine, penta_error *err)
{
    pvm_adopt_fn *adopt = NULL;
    if (engine && !pvm_engine_find(engine, &adopt))
        return error_at(err, BASE_UNSUPPORTED, 0, "pvm has no engine '%.40s'", engine);
    struct local *l = calloc(1, sizeof *l);
    if (!l) return error_at(err, BASE_MEMORY, 0, "no memory for a machine");
    l->adopt = adopt;
    *out = (struct pvm_runner){l,           pvm_local_start, pvm_local_map,
                               write_bytes, set_reg,         pvm_local_run,
                               read_bytes,  pvm_local_cost,  close_local};
    return true;
}
