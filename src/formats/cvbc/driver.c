/* The driver of CVBC containers: the tables of what penta can do with them. */
#include "cvbc/cvbc.h"
#include "cvbc/vm/vm.h"
#include "cvbc/format/hardware/board.h"

#define FORMAT cvbc
#define RULE(...) RULE_ROW(CVBC_, __VA_ARGS__)
#include "core/driver_tables.h"

static const struct engine *const engines[] = {&cvbc_interp, NULL};

static bool cvbc_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct cvbc_module *m = cvbc_chosen(cvbc_module(module));
    const struct cvbc_opened *o = cvbc_open(m);
    if (!o->has_program || !cvbc_plain(m)) return false;
    uint64_t code = cvbc_offset(cvbc_module(module), m->stored.data) + cvbc_bytecode_bytes;
    if (offset < code) return false;
    *pc = (offset - code) / cvbc_inst_bytes;
    return *pc < o->program.count;
}

static bool cvbc_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct cvbc_module *m = cvbc_chosen(cvbc_module(module));
    const struct cvbc_opened *o = cvbc_open(m);
    if (!o->has_program || !cvbc_plain(m) || pc >= o->program.count) return false;
    *offset = cvbc_offset(cvbc_module(module), m->stored.data) + cvbc_bytecode_bytes +
              pc * cvbc_inst_bytes;
    return true;
}

static void cvbc_parts(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct cvbc_module *m = cvbc_chosen(cvbc_module(module));
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

const struct driver cvbc_driver = {
    DRIVER_ROW(cvbc, CVBC_FORMAT, "CockpitVM bytecode container", ".cvasm", ";"),
    .nested = &cvbc_nested,
    .records = cvbc_records,
    .insn_bytes = cvbc_inst_bytes,
    .exit_value = "the word on top of the stack: what main returns",
    .isa = cvbc_isa,
    .isa_legend =
        "stack: words taken -> words left, the top is the last; .S .W .V: flags of the instruction",
    .assemble = cvbc_assemble,
    .others =
        (const struct driver_other[]){{OPTION_SEAL, cvbc_seal}, {OPTION_UNSEAL, cvbc_unseal}, {0}},
    .protection = cvbc_protection,
    .next_pc = next_number,
};
