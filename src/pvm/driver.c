#include "pvm/pvm.h"
#include "pvm/vm.h"

const struct rule pvm_rules[] = {
#define RULE(number, name, severity, summary, explanation)                                         \
    {PVM_##name, #name, PENTA_##severity, summary, explanation},
#include "pvm/rules.def"
    {0, NULL, PENTA_ERROR, NULL, NULL}};

static const struct option_info options[] = {
#define OPTION(key, argument, uses, help) {key, argument, uses, help},
#include "pvm/options.def"
    {NULL, NULL, 0, NULL}};

static const struct engine *const engines[] = {&pvm_interp, NULL};

static bool pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
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

const struct driver pvm_driver = {
    .name = "pvm",
    .title = "PolkaVM program",
    .suffix = ".pvmasm",
    .comment = "//",
    .room = PVM_ROOM,
    .rules = pvm_rules,
    .options = options,
    .probe = pvm_probe,
    .parse = pvm_parse,
    .verify = pvm_verify,
    .describe = pvm_describe,
    .info = pvm_info,
    .encode = pvm_encode,
    .print = pvm_print,
    .print_at = pvm_print_at,
    .pc_of = pc_of,
    .assemble = pvm_assemble,
    .convert = pvm_convert,
    .close = pvm_close,
    .isa = pvm_isa_list,
    .scope = pvm_scope,
    .engines = engines,
    .host = &pvm_host,
};
