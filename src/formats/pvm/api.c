/* Implements functions of include/penta/pvm.h over the module struct of pvm.h. */
#include "penta/pvm.h"
#include <assert.h>
#include <string.h>
#include "pvm/vm/machine_pool.h"

static struct pvm_vm *pvm_machine_of(penta_vm *vm)
{
    assert(vm->engine->answer == pvm_vm_answer);
    return pvm_vm(vm);
}

bool penta_pvm_export(const penta_module *module, const char *name, uint32_t *pc)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    size_t size = strlen(name);
    for (size_t i = 0; i < p->export_count; i++) {
        penta_bytes n = p->exports[i].name;
        if (n.size != size || memcmp(n.data, name, size)) continue;
        *pc = p->exports[i].pc;
        return true;
    }
    return false;
}

bool penta_pvm_import(const penta_module *module, uint32_t number, penta_bytes *name)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    if (number >= p->import_count || p->imports[number].broken) return false;
    *name = p->imports[number].name;
    return true;
}

/* Tells whether the address is in the arguments of a JAM program. Their area has at most 16 MiB
 * (Gray Paper, appendix A.7). */
bool penta_pvm_in_arguments(const penta_module *module, uint64_t address)
{
    static const uint64_t start = 0xfeff0000, end = 0xffff0000;
    return pvm_module(module)->program.spi && address >= start && address < end;
}

penta_pvm_pool *penta_pvm_pool_new(const penta_module *module, const char *engine,
                                   const penta_option *options, size_t count, penta_error *err)
{
    *err = (penta_error){0};
    if (!options_check(options, count, module->driver->options, OPTION_RUN, err)) return NULL;
    if (module->damage.code) {
        error_at(err, BASE_DAMAGED, module->damage.offset, "%.100s", module->damage.message);
        return NULL;
    }
    return (penta_pvm_pool *)pvm_pool_new(module, engine, options, count, err);
}

penta_vm *penta_pvm_pool_take(penta_pvm_pool *pool, penta_error *err)
{
    *err = (penta_error){0};
    struct pvm_vm *vm = pvm_pool_take((struct pvm_pool *)pool, err);
    return vm ? &vm->base : NULL;
}

void penta_pvm_pool_free(penta_pvm_pool *pool) { pvm_pool_free((struct pvm_pool *)pool); }
void penta_pvm_reset(penta_vm *vm) { pvm_vm_reset(pvm_machine_of(vm)); }

bool penta_pvm_call(penta_vm *base, uint32_t pc, const uint64_t *args, size_t count)
{
    struct pvm_vm *vm = pvm_machine_of(base);
    if (count > PVM_ARGUMENTS) return false;
    pvm_vm_call_registers(vm, vm->state->regs);
    for (size_t i = 0; i < count; i++)
        pvm_vm_set_reg(vm, (unsigned)(i < 6 ? PVM_A0 + i : PVM_T0 + i - 6), args[i]);
    pvm_vm_jump(vm, pc);
    return true;
}

void penta_pvm_jump(penta_vm *vm, uint32_t pc) { pvm_vm_jump(pvm_machine_of(vm), pc); }
void penta_pvm_end_call(penta_vm *vm) { pvm_machine_of(vm)->on_answer = CALL_ENDS; }

uint64_t penta_pvm_register_get(const penta_vm *vm, unsigned reg)
{
    return reg < PVM_REGISTERS ? pvm_vm_const(vm)->state->regs[reg] : 0;
}

bool penta_pvm_register_set(penta_vm *vm, unsigned reg, uint64_t value)
{
    return pvm_vm_set_reg(pvm_machine_of(vm), reg, value);
}

int64_t penta_pvm_gas_get(const penta_vm *vm) { return pvm_vm_const(vm)->state->gas; }

bool penta_pvm_gas_set(penta_vm *vm, int64_t gas)
{
    if (gas < 0 || !pvm_machine_of(vm)->metered) return false;
    pvm_machine_of(vm)->gas_refilled += (uint64_t)gas - (uint64_t)pvm_machine_of(vm)->state->gas;
    pvm_machine_of(vm)->state->gas = gas;
    return true;
}

bool penta_pvm_readable(const penta_vm *vm, uint64_t address, uint64_t size)
{
    return pvm_memory_allows(&pvm_vm_const(vm)->memory, address, size, PVM_READ);
}

bool penta_pvm_writable(const penta_vm *vm, uint64_t address, uint64_t size)
{
    return pvm_memory_allows(&pvm_vm_const(vm)->memory, address, size, PVM_WRITABLE);
}

bool penta_pvm_read(const penta_vm *vm, uint64_t address, void *into, size_t size)
{
    return penta_pvm_readable(vm, address, size) &&
           (!size || pvm_memory_read(&pvm_vm_const(vm)->memory, address, into, size));
}

bool penta_pvm_write(penta_vm *vm, uint64_t address, const void *from, size_t size)
{
    return penta_pvm_writable(vm, address, size) &&
           (!size || pvm_memory_write(&pvm_machine_of(vm)->memory, address, from, size));
}

bool penta_pvm_map(penta_vm *vm, uint64_t address, uint64_t length, bool writable)
{
    pvm_machine_of(vm)->remapped = true;
    return pvm_memory_map(&pvm_machine_of(vm)->memory, address, length, writable, (penta_bytes){0},
                          false);
}

bool penta_pvm_unmap(penta_vm *vm, uint64_t address, uint64_t length)
{
    pvm_machine_of(vm)->remapped = true;
    return pvm_memory_unmap(&pvm_machine_of(vm)->memory, address, length);
}

bool penta_pvm_protect(penta_vm *vm, uint64_t address, uint64_t length, bool writable)
{
    pvm_machine_of(vm)->remapped = true;
    return pvm_memory_protect(&pvm_machine_of(vm)->memory, address, length, writable);
}

uint64_t penta_pvm_grow_heap(penta_vm *vm, uint32_t n)
{
    return (uint32_t)pvm_vm_sbrk(pvm_machine_of(vm), n);
}
