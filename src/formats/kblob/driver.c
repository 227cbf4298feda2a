/* The driver of kernel blobs: the tables of what penta can do with them, and a list of the named
 * parts of the code. */
#include "kblob/kblob.h"
#include "kblob/vm/vm.h"

#define FORMAT kblob
#define RULE(...) RULE_ROW(KBLOB_, __VA_ARGS__)
#include "core/driver_tables.h"

static const struct engine *const engines[] = {&kblob_interp, NULL};

static bool kblob_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct kblob_module *m = kblob_module(module);
    if (offset < m->code_offset) return false;
    *pc = (offset - m->code_offset) / kblob_inst_bytes;
    return *pc < m->count;
}

static bool kblob_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct kblob_module *m = kblob_module(module);
    *offset = m->code_offset + pc * kblob_inst_bytes;
    return pc < m->count;
}

/* Reports the code, and for each name the part of the code up to the next name. */
static void kblob_parts(const penta_module *module, penta_part_report *fn, void *user)
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
    DRIVER_ROW(kblob, KBLOB_FORMAT, "mock-GPU kernel blob", ".kasm", ";"),
    .nested = &kblob_nested,
    .records = kblob_records,
    .insn_bytes = kblob_inst_bytes,
    .isa = kblob_isa,
    .is_register = is_register,
    .assemble = kblob_assemble_source,
    .others = (const struct driver_other[]){{OPTION_CONVERT, kblob_convert}, {0}},
    .protection = kblob_protection,
    .next_pc = next_number,
};
