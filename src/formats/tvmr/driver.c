/* The driver of the format tvmr: the table of its functions, which the rest of penta calls. */
#include "tvmr/host/host.h"
#include "tvmr/tvmr.h"
#include "tvmr/vm/vm.h"

#define FORMAT tvmr
#define RULE(...) RULE_ROW(TVMR_, __VA_ARGS__)
#include "core/driver_tables.h"

static const struct engine *const engines[] = {&tvmr_interp, NULL};

static bool tvmr_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct tvmr_module *m = tvmr_module(module);
    uint64_t code = tvmr_insn_offset(m, 0);
    if (offset < code) return false;
    *pc = (offset - code) / TVMR_INSN;
    return *pc < m->count;
}

static bool tvmr_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (pc >= m->count || tvmr_insn_decoded(m)) return false;
    *offset = tvmr_insn_offset(m, 0) + pc * TVMR_INSN;
    return true;
}

static void tvmr_parts(const penta_module *module, penta_part_report *fn, void *user)
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
    DRIVER_ROW(tvmr, TVMR_FORMAT, "ternary tensor machine", ".tasm", ";"),
    .nested = &tvmr_nested,
    .records = tvmr_records,
    .insn_bytes = TVMR_INSN,
    .exit_value = "the first number of the output",
    .isa = tvmr_isa,
    .isa_legend = "bytes: operands A B C D: d destination register, s source register, m register "
                  "read and written,\n"
                  "  i number, w half of a 16-bit number, j quarter of a 32-bit target, - unused\n",
    .is_register = tvmr_is_register,
    .assemble = tvmr_assemble,
    .others = (const struct driver_other[]){{OPTION_CONVERT, tvmr_convert},
                                            {OPTION_SEAL, tvmr_seal},
                                            {OPTION_UNSEAL, tvmr_unseal},
                                            {0}},
    .protection = tvmr_protection,
    .next_pc = next_number,
};
