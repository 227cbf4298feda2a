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

static bool offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct kblob_module *m = kblob_module(module);
    *offset = m->code_offset + pc * kblob_inst_bytes;
    return pc < m->count;
}

/* The code, and each name up to the next one. */
static void parts(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct kblob_module *m = kblob_module(module);
    const struct kblob_symbols *s = &m->symbols;
    fn(user, &(penta_part){.to = m->count});
    uint64_t to = m->count;
    for (size_t i = s->instruction_count; i-- > 0;) {
        uint64_t from = s->places[i].value;
        if (i + 1 < s->instruction_count && s->places[i + 1].value > from)
            to = s->places[i + 1].value;
        if (from >= m->count) continue;
        fn(user, &(penta_part){.kind = PENTA_PART_LABEL,
                               .name = bytes_of(kblob_symbol_at(s, s->places[i].name).name),
                               .from = from,
                               .to = to});
    }
}

static bool is_register(penta_bytes word)
{
    if (word.size < 2 || word.size > 3 || word.data[0] != 'r') return false;
    return word.data[1] >= '0' && word.data[1] <= '9' &&
           (word.size == 2 || (word.data[2] >= '0' && word.data[2] <= '9'));
}

const struct driver kblob_driver = {
    .name = "kblob",
    .title = "mock-GPU kernel blob",
    .suffix = ".kasm",
    .comment = ";",
    .insn_bytes = kblob_inst_bytes,
    .number = KBLOB_FORMAT,
    .rules = kblob_rules,
    .options = options,
    .probe = kblob_probe,
    .parse = kblob_parse,
    .verify = kblob_verify,
    .describe = kblob_describe,
    .info = kblob_info,
    .protection = kblob_protection,
    .encode = kblob_encode,
    .print = kblob_print,
    .print_at = kblob_print_at,
    .parts = parts,
    .is_register = is_register,
    .next_pc = next_number,
    .pc_of = pc_of,
    .offset_of = offset_of,
    .assemble = kblob_assemble_source,
    .others = (const struct driver_other[]){{OPTION_CONVERT, kblob_convert}, {0}},
    .close = kblob_close,
    .isa = kblob_isa,
    .engines = engines,
    .traps = kblob_traps,
    .host = &kblob_host,
    .debug = &kblob_debug,
};
