#include "cvbc/cvbc.h"
#include "cvbc/host/board.h"

const struct rule cvbc_rules[] = {
#define RULE(number, name, severity, summary, explanation)                                         \
    {CVBC_##name, #name, PENTA_##severity, summary, explanation},
#include "cvbc/rules.def"
    {0, NULL, PENTA_ERROR, NULL, NULL}};

static const penta_option_info options[] = {
#define OPTION(...) OPTION_ROW(__VA_ARGS__),
#include "cvbc/options.def"
    {NULL, NULL, 0, NULL, {NULL}}};

static const struct engine *const engines[] = {&cvbc_interp, NULL};

static bool pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct cvbc_module *m = cvbc_module(module);
    const struct cvbc_opened *o = cvbc_open(m);
    if (!o->has_program || !cvbc_plain(m)) return false;
    uint64_t code = cvbc_offset(m, m->stored.data) + cvbc_bytecode_bytes;
    if (offset < code) return false;
    *pc = (offset - code) / cvbc_inst_bytes;
    return *pc < o->program.count;
}

static void parts(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct cvbc_module *m = cvbc_module(module);
    const struct cvbc_opened *o = cvbc_open(m);
    if (!o->has_program) return;
    struct cvbc_debug_tables t = cvbc_debug_split(m->debug);
    struct cvbc_symbol s;
    penta_bytes name;
    uint64_t function = 0;
    fn(user, &(penta_part){.to = o->program.count});
    cvbc_value("kind", bytes_of("function"), &function);
    for (size_t pos = 0; cvbc_symbol_next(t.symbols, &pos, &s, &name);)
        if (s.kind == function && s.value < o->program.count)
            fn(user,
               &(penta_part){
                   .name = name, .from = s.value, .to = s.value, .kind = PENTA_PART_FUNCTION});
}

static enum rule_scope scope(uint32_t code)
{
    return code >= CVBC_UNKNOWN_OPCODE && code <= CVBC_STACK_OVERFLOW ? SCOPE_PROGRAM
                                                                      : SCOPE_CONTAINER;
}

static int exit_of(uint32_t code)
{
    switch (code) {
    case CVBC_TRUNCATED: return 5;
    case CVBC_DECRYPT:
    case CVBC_KEY: return 6;
    case CVBC_LIMIT: return 7;
    default: return 0;
    }
}

const struct driver cvbc_driver = {
    .name = "cvbc",
    .title = "CockpitVM bytecode container",
    .suffix = ".cvasm",
    .comment = ";",
    .number = CVBC_FORMAT,
    .rules = cvbc_rules,
    .options = options,
    .probe = cvbc_probe,
    .parse = cvbc_parse,
    .verify = cvbc_verify,
    .describe = cvbc_describe,
    .info = cvbc_info,
    .protection = cvbc_protection,
    .encode = cvbc_encode,
    .print = cvbc_print,
    .print_at = cvbc_print_at,
    .parts = parts,
    .pc_of = pc_of,
    .assemble = cvbc_assemble,
    .seal = cvbc_seal,
    .unseal = cvbc_unseal,
    .close = cvbc_close,
    .isa = cvbc_isa,
    .scope = scope,
    .exit_of = exit_of,
    .exit_value = "the word on top of the stack: what main returns",
    .engines = engines,
    .host = &cvbc_host,
};
