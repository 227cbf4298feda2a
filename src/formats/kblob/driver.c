#include "kblob/kblob.h"
#include "kblob/vm/vm.h"

extern const struct debug_info kblob_debug; /* vm/debug.c */

const penta_rule kblob_rules[] = {
#define RULE(...) RULE_ROW(KBLOB_, __VA_ARGS__)
#include "kblob/rules.def"
    {0}};

const penta_trap kblob_traps[] = {
#define TRAP(...) TRAP_ROW(__VA_ARGS__)
#include "kblob/traps.def"
    {0}};

static const penta_option_info options[] = {
#define OPTION(...) OPTION_ROW(__VA_ARGS__),
#include "kblob/options.def"
    {NULL, NULL, 0, NULL, {NULL}}};

static const struct engine *const engines[] = {&kblob_interp, NULL};

static bool pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct kblob_module *m = kblob_module(module);
    if (offset < m->code_offset) return false;
    *pc = (offset - m->code_offset) / kblob_inst_bytes;
    return *pc < m->count;
}

static void parts(const penta_module *module, penta_part_report *fn, void *user)
{
    fn(user, &(penta_part){.to = kblob_module(module)->count});
}

const struct driver kblob_driver = {
    .name = "kblob",
    .title = "mock-GPU kernel blob",
    .suffix = ".kasm",
    .comment = ";",
    .number = KBLOB_FORMAT,
    .rules = kblob_rules,
    .options = options,
    .probe = kblob_probe,
    .parse = kblob_parse,
    .verify = kblob_verify,
    .describe = kblob_describe,
    .info = kblob_info,
    .encode = kblob_encode,
    .print = kblob_print,
    .print_at = kblob_print_at,
    .parts = parts,
    .pc_of = pc_of,
    .assemble = kblob_assemble_source,
    .close = kblob_close,
    .isa = kblob_isa,
    .engines = engines,
    .traps = kblob_traps,
    .host = &kblob_host,
    .debug = &kblob_debug,
};
