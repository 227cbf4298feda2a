/* Has the table of what penta can do with COIL, and two functions for it: one lists the functions,
 * imports and exports of a module, the other its data. core/driver_tables.h makes the other tables
 * from the .def files. */
#include "coil/coil.h"
#include "coil/format/section_layout.h"
#include "coil/vm/vm.h"
#ifdef PENTA_JIT
#include "coil/jit/jit.h"
#endif

#define FORMAT coil
#define RULE(...) RULE_ROW(COIL_, __VA_ARGS__)
#include "core/driver_tables.h"

#ifdef PENTA_JIT
static const struct engine *const engines[] = {&coil_interp, &coil_jit_engine, &coil_both, NULL};
#else
/* Builds without the compiler have these two engines, which open the interpreter. The machine
 * then says that its engine is the interpreter. */
static const struct engine no_jit = {.name = "jit", .open = coil_vm_open_interp};
static const struct engine no_both = {.name = "both", .open = coil_vm_open_interp};
static const struct engine *const engines[] = {&coil_interp, &no_jit, &no_both, NULL};
#endif

static void coil_parts(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct coil_module *m = coil_module(module);
    /* In an executable file the values of symbols are addresses. */
    bool exec = m->header.flags & COIL_FILE_EXEC;
    for (size_t i = 0; i < m->section_count; i++) {
        uint64_t address = coil_section_address(m, i);
        if (!coil_is_code(&m->sections[i])) continue;
        fn(user, &(penta_part){.from = address, .to = address + m->sections[i].size});
    }
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        if (!s->section_idx && s->type != COIL_COMMON)
            fn(user,
               &(penta_part){
                   .kind = PENTA_PART_IMPORT, .name = coil_symbol_name(m, i), .from = i, .to = i});
        if (s->type != COIL_FUNC || !s->section_idx || s->section_idx > m->section_count) continue;
        uint64_t from = exec ? s->value : coil_section_address(m, s->section_idx - 1) + s->value;
        penta_part part = {.kind = PENTA_PART_FUNCTION,
                           .name = coil_symbol_name(m, i),
                           .from = from,
                           .to = from + s->size};
        fn(user, &part);
        part.kind = PENTA_PART_EXPORT;
        if (s->bind != COIL_LOCAL) fn(user, &part);
    }
}

static void driver_data(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct coil_module *m = coil_module(module);
    bool exec = m->header.flags & COIL_FILE_EXEC;
    for (size_t i = 0; i < m->section_count; i++) {
        uint64_t address = coil_section_address(m, i);
        if (coil_is_data(&m->sections[i]))
            fn(user, &(penta_part){.from = address, .to = address + m->sections[i].size});
    }
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        bool object = s->type == COIL_NOTYPE || s->type == COIL_OBJECT || s->type == COIL_TLS;
        if (!object || !s->section_idx || s->section_idx > m->section_count ||
            !coil_is_data(&m->sections[s->section_idx - 1]))
            continue;
        uint64_t from = exec ? s->value : coil_section_address(m, s->section_idx - 1) + s->value;
        fn(user, &(penta_part){.name = coil_symbol_name(m, i), .from = from, .to = from + s->size});
    }
}

const struct driver coil_driver = {
    DRIVER_ROW(coil, COIL_FORMAT, "COIL intermediate language object", ".casm", ";"),
    .nested = &coil_nested,
    .records = coil_records,
    .exit_value = "variable V0",
    .isa = coil_isa,
    .isa_legend =
        "operands, one letter each, forms separated by |, * repeats the one before:\n"
        "  W written  R read  B read, written if it can be  L atomic location  A address\n"
        "  X integer  S shift count or bit number  C code target  K condition  O memory order\n"
        "  T type  V v vector  M m matrix  Y y either or tensor  G g aggregate (small: written)\n"
        "  I variable "
        " U type id  N member id  E place without access  # anything\n"
        "flags written: Z S C V D N P; small letters: cleared\n",
    .is_register = coil_is_register,
    .assemble = coil_assemble,
    .others = (const struct driver_other[]){{OPTION_CONVERT, coil_convert}, {0}},
    .data = driver_data,
    .next_pc = coil_next_pc,
};
