#include "tvmr/host/host.h"
#include "tvmr/tvmr.h"
#include "tvmr/vm/vm.h"

extern const struct debug_info tvmr_debug; /* vm/debug.c */

const penta_rule tvmr_rules[] = {
#define RULE(...) RULE_ROW(TVMR_, __VA_ARGS__)
#include "tvmr/rules.def"
    {0}};

const penta_trap tvmr_traps[] = {
#define TRAP(...) TRAP_ROW(__VA_ARGS__)
#include "tvmr/traps.def"
    {0}};

static const penta_option_info options[] = {
#define OPTION(...) OPTION_ROW(__VA_ARGS__),
#include "tvmr/options.def"
    {NULL, NULL, 0, NULL, {NULL}}};

static const struct engine *const engines[] = {&tvmr_interp, NULL};

static bool pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct tvmr_module *m = tvmr_module(module);
    uint64_t code = tvmr_insn_offset(m, 0);
    if (offset < code) return false;
    *pc = (offset - code) / TVMR_INSN;
    return *pc < m->count;
}

static bool offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (pc >= m->count || tvmr_insn_decoded(m)) return false;
    *offset = tvmr_insn_offset(m, 0) + pc * TVMR_INSN;
    return true;
}

static void parts(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct tvmr_module *m = tvmr_module(module);
    fn(user, &(penta_part){.to = m->count});
    for (size_t i = 0; i < m->meta.label_count; i++)
        fn(user, &(penta_part){.name = bytes_of(m->meta.labels[i].name),
                               .from = m->meta.labels[i].index,
                               .to = m->meta.labels[i].index,
                               .kind = PENTA_PART_LABEL});
}

const struct driver tvmr_driver = {
    .name = "tvmr",
    .title = "ternary tensor machine",
    .suffix = ".tasm",
    .comment = ";",
    .insn_bytes = TVMR_INSN,
    .number = TVMR_FORMAT,
    .rules = tvmr_rules,
    .options = options,
    .probe = tvmr_probe,
    .parse = tvmr_parse,
    .verify = tvmr_verify,
    .describe = tvmr_describe,
    .info = tvmr_info,
    .protection = tvmr_protection,
    .encode = tvmr_encode,
    .print = tvmr_print,
    .print_at = tvmr_print_at,
    .is_register = tvmr_is_register,
    .parts = parts,
    .next_pc = next_number,
    .pc_of = pc_of,
    .offset_of = offset_of,
    .assemble = tvmr_assemble,
    .others = (const struct driver_other[]){{OPTION_CONVERT, tvmr_convert},
                                            {OPTION_SEAL, tvmr_seal},
                                            {OPTION_UNSEAL, tvmr_unseal},
                                            {0}},
    .close = tvmr_close,
    .isa = tvmr_isa,
    .isa_legend = "bytes: operands A B C D: d destination register, s source register, m register "
                  "read and written,\n"
                  "  i number, w half of a 16-bit number, j quarter of a 32-bit target, - unused\n",
    .engines = engines,
    .traps = tvmr_traps,
    .exit_value = "the first number of the output",
    .host = &tvmr_host,
    .debug = &tvmr_debug,
};
