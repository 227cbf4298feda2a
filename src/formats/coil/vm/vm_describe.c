/* The describe tree of a machine. */
#include "coil/format/section_layout.h"
#include "base/array.h"
#include "coil/vm/operands.h"
#include "core/describe.h"

const char *coil_host_name(uint32_t call)
{
    return call == COIL_HOST_IN ? "INPORT" : call == COIL_HOST_OUT ? "OUTPORT" : "VENDOR";
}

static void describe_place(const struct coil_vm *vm, const penta_visitor *v)
{
    uint64_t pc = vm->program.pcs[vm->pc], line;
    const struct coil_module *m = vm->m;
    penta_bytes file;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == COIL_FUNC && m->symbols[i].section_idx &&
            vm->program.symbols[i] == vm->program.functions[vm->function].address)
            best = i;
    if (best != SIZE_MAX) {
        describe_field(v, (penta_field){.name = "function",
                                        .kind = PENTA_TEXT,
                                        .as.bytes = coil_symbol_name(m, best)});
        describe_uint(v, "offset", pc - vm->program.symbols[best]);
    }
    size_t section = 0;
    while (section < m->section_count &&
           (!coil_is_code(&m->sections[section]) || pc < vm->program.sections[section] ||
            pc - vm->program.sections[section] >= m->sections[section].size))
        section++;
    if (section == m->section_count ||
        !coil_source_line(m, section, pc - vm->program.sections[section], &file, &line))
        return;
    describe_field(v, (penta_field){.name = "file", .kind = PENTA_TEXT, .as.bytes = file});
    describe_uint(v, "line", line);
}

static void describe_registers(const struct coil_vm *vm, const penta_visitor *v)
{
    static const char *const names[] = {"v0", "v1", "v2",  "v3",  "v4",  "v5",  "v6",  "v7",
                                        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"};
    static const char flag_names[] = "ZSCVDNP";
    penta_node registers = {.name = "registers"};
    if (!describe_enter(v, registers)) return;
    for (int i = 0; i < COIL_REGISTERS; i++)
        if (vm->v[i] || !i) describe_word(v, names[i], vm->v[i]);
    uint8_t now = coil_flags_now(vm);
    char flags[8] = "-------";
    for (int i = 0; i < 7; i++)
        if (now >> i & 1) flags[i] = flag_names[i];
    describe_text(v, "flags", flags);
    describe_leave(v, registers);
}

static void describe_variable(const struct coil_vm *vm, const penta_visitor *v,
                              const struct coil_visible *variable)
{
    enum { SHOWN = 64 }; /* bytes of what is no scalar */
    const struct coil_type *t = variable->type;
    uint8_t family = coil_types[t->op].family;
    penta_field field = {.name = variable->name, .note = coil_types[t->op].text};
    const uint8_t *bytes = NULL;
    if (variable->at == COIL_AT_FRAME) {
        uint64_t at = vm->frame_top - vm->frame_memory->base + variable->slot;
        if (at > vm->frame_memory->size || t->size > vm->frame_memory->size - at) return;
        bytes = vm->frame_memory->bytes + at;
    }
    if (!bytes && vm->kept && vm->pc == vm->kept_cell && !vm->kept[variable->slot]) {
        describe_text(v, variable->name, "optimised out");
        return;
    }
    if (!coil_is_scalar(t->op)) {
        if (bytes)
            describe_computed_bytes(
                v, variable->name,
                (penta_bytes){bytes, (size_t)(t->size < SHOWN ? t->size : SHOWN)});
        return;
    }
    uint64_t value = bytes ? coil_get(vm, bytes, t->op) : vm->slots[vm->fp + variable->slot];
    field.kind = family == COIL_F_REAL     ? PENTA_FLOAT
                 : family == COIL_F_SIGNED ? PENTA_SINT
                                           : PENTA_UINT;
    if (family == COIL_F_REAL)
        field.as.f = coil_real(t->op, value);
    else
        field.as.u = value;
    describe_field(v, field);
}

/* Of the running function, those in scope. */
static void describe_variables(const struct coil_vm *vm, const penta_visitor *v)
{
    const struct coil_program *p = &vm->program;
    uint64_t pc = p->pcs[vm->pc];
    penta_node node = {.name = "variables"};
    size_t low;
    ARRAY_SEARCH(low, 0, p->variable_count, p->variables[low].function >= vm->function);
    if (low == p->variable_count || p->variables[low].function != vm->function ||
        p->variables[low].from >= pc || !describe_enter(v, node))
        return;
    for (; low < p->variable_count && p->variables[low].function == vm->function; low++)
        if (p->variables[low].from < pc && pc <= p->variables[low].to)
            describe_variable(vm, v, &p->variables[low]);
    describe_leave(v, node);
}

/* Runs of bytes that differ from what was loaded. */
static void describe_memory(const struct coil_vm *vm, const penta_visitor *v)
{
    penta_node list = {.name = "memory", .list = true};
    if (!describe_enter(v, list)) return;
    struct coil_vm *fresh = NULL;
    penta_error err = {0};
    fresh = (struct coil_vm *)coil_interp.open(vm->base.module, NULL, 0, &err);
    if (err.code == BASE_MEMORY) describe_incomplete(v);
    for (size_t i = 0; fresh && i < vm->region_count && &vm->regions[i] != vm->heap; i++) {
        const struct coil_region *r = &vm->regions[i], *old = &fresh->regions[i];
        describe_changed_bytes(v, r->base, (penta_bytes){r->bytes, (size_t)r->size}, old->bytes);
    }
    if (fresh) coil_interp.close(&fresh->base);
    describe_leave(v, list);
}

void coil_vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    describe_word(v, "pc", vm->program.pcs[vm->pc]);
    if (vm->executed != UINT64_MAX) describe_uint(v, "executed", vm->executed);
    describe_uint(v, "depth", vm->depth);
    describe_registers(vm, v);
    if (!vm->halted) describe_variables(vm, v);
    penta_node fault = {.name = "fault"};
    if (vm->final && !vm->halted && describe_enter(v, fault)) {
        const char *name = trap_name(coil_traps, vm->trap);
        describe_text(v, "trap", name ? name : "?");
        if (vm->trap == COIL_TRAP_TRAP)
            describe_field(
                v,
                (penta_field){.name = "code", .kind = PENTA_SINT, .as.i = (int64_t)vm->trap_code});
        _Static_assert(COIL_TRAP_NULL_POINTER == 1 && COIL_TRAP_BOUNDS_VIOLATION == 2 &&
                           COIL_TRAP_PROTECTION_VIOLATION == 3,
                       "traps of an address come first");
        if (vm->trap <= COIL_TRAP_PROTECTION_VIOLATION || vm->trap == COIL_TRAP_MISALIGNED ||
            vm->trap == COIL_TRAP_BAD_TARGET)
            describe_word(v, "address", vm->fault_address);
        describe_place(vm, v);
        describe_leave(v, fault);
    }
    describe_memory(vm, v);
}
