/* Has the driver of the format: the table of what penta can do with PolkaVM programs. */
#include <string.h>
#include "pvm/format/functions.h"
#include "pvm/pvm.h"
#include "pvm/vm/vm.h"

#define FORMAT pvm
#define RULE(...) RULE_ROW(PVM_, __VA_ARGS__)
#include "core/driver_tables.h"

#ifdef PENTA_JIT
#include "pvm/jit/jit.h"
static const struct engine *const engines[] = {&pvm_interp, &pvm_jit, &pvm_both, NULL};
static pvm_adopt_fn *const adopts[] = {NULL, pvm_jit_adopt, pvm_both_adopt};
#else
#include "core/engine.h"
/* These engines replace the compiler in builds without one. Opening them by their names opens
 * the interpreter, which then reports its own name. */
static const struct engine no_jit = {.name = "jit", .open = pvm_vm_open};
static const struct engine no_both = {.name = "both", .open = pvm_vm_open};
static const struct engine *const engines[] = {&pvm_interp, &no_jit, &no_both, NULL};
static pvm_adopt_fn *const adopts[] = {NULL, NULL, NULL};
#endif

const char *pvm_engine_find(const char *name, pvm_adopt_fn **adopt)
{
    for (size_t i = 0; engines[i]; i++) {
        if (strcmp(engines[i]->name, name)) continue;
        *adopt = adopts[i];
        return engines[i]->name;
    }
    return NULL;
}

/* Finds the pc of the instruction that holds the byte at this offset of the file. */
static bool pvm_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct pvm_module *m = pvm_module(module);
    const struct pvm_code *code = &m->program.code;
    if (offset < m->code_offset || offset - m->code_offset >= code->bytes.size) return false;
    *pc = offset - m->code_offset;
    for (unsigned back = 0; back <= PVM_SKIP_MAX && back <= *pc; back++) {
        if (!pvm_starts(code, (uint32_t)*pc - back)) continue;
        *pc -= back;
        return true;
    }
    return false;
}

static bool pvm_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct pvm_module *m = pvm_module(module);
    *offset = m->code_offset + pc;
    return pc < m->program.code.bytes.size;
}

static uint64_t pvm_pc_after(const penta_module *module, uint64_t pc)
{
    const struct pvm_code *code = &pvm_module(module)->program.code;
    if (pc >= code->bytes.size) return pc;
    do pc++;
    while (pc < code->bytes.size && !pvm_starts(code, (uint32_t)pc));
    return pc;
}

static bool pvm_is_register(penta_bytes word)
{
    uint8_t number;
    return pvm_register_parse(word, &number);
}

const struct driver pvm_driver = {
    DRIVER_ROW(pvm, PVM_FORMAT, "PolkaVM program", ".pvmasm", "//"),
    .nested = &pvm_nested,
    .exit_value = "register a0",
    .isa = pvm_isa_list,
    .is_register = pvm_is_register,
    .assemble = pvm_assemble,
    .print_mnemonic_at = pvm_print_mnemonic_at,
    .gas_at = pvm_gas_at,
    .others = (const struct driver_other[]){{OPTION_CONVERT, pvm_convert}, {0}},
    .next_pc = pvm_pc_after,
};
