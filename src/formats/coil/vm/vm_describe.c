/* Describes a machine as a tree: registers, flags, variables in scope, the fault, and the memory
 * that has changed since the program was loaded. */
#include "coil/format/section_layout.h"
#include "base/array.h"
#include "base/bytes.h"
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

bool coil_variable_value(const struct coil_vm *vm, struct coil_base base,
                         const struct coil_visible *variable, penta_field *field)
{
    enum { SHOWN = 64 }; /* A value that is not a scalar is shown with at most this many bytes. */
    const struct coil_type *t = variable->type;
    uint8_t family = coil_types[t->op].family;
    const uint8_t *bytes = NULL;
    *field = (penta_field){.name = variable->name, .note = coil_types[t->op].text};
    if (variable->at == COIL_AT_FRAME) {
        uint64_t at = base.memory - vm->frame_memory->base + variable->slot;
        if (at > vm->frame_memory->size || t->size > vm->frame_memory->size - at) return false;
        bytes = vm->frame_memory->bytes + at;
    }
    bool kept_here = base.slots == vm->fp && vm->pc == vm->kept_cell;
    if (!bytes && vm->kept && kept_here && !vm->kept[variable->slot]) {
        *field = (penta_field){
            .name = variable->name, .kind = PENTA_TEXT, .as.bytes = bytes_of("optimised out")};
        return true;
    }
    if (bytes && coil_is_wide(t) && t->dims[0] <= 64) {
        unsigned shift = 64u - t->dims[0];
        uint64_t raw = bytes_uint(bytes, (size_t)t->size, vm->m->big_endian) << shift;
        field->kind = t->op == COIL_T_CINT ? PENTA_SINT : PENTA_UINT;
        field->as.u = t->op == COIL_T_CINT ? (uint64_t)((int64_t)raw >> shift) : raw >> shift;
        return true;
    }
    if (!coil_is_scalar(t->op)) {
        field->kind = PENTA_RAW;
        if (bytes)
            field->as.bytes = (penta_bytes){bytes, (size_t)(t->size < SHOWN ? t->size : SHOWN)};
        return bytes;
    }
    uint64_t value = bytes ? coil_get(vm, bytes, t->op) : vm->slots[base.slots + variable->slot];
    field->kind = family == COIL_F_REAL     ? PENTA_FLOAT
                  : family == COIL_F_SIGNED ? PENTA_SINT
                                            : PENTA_UINT;
    if (family == COIL_F_REAL)
        field->as.f = coil_real(t->op, value);
    else
        field->as.u = value;
    return true;
}

const struct coil_visible *coil_variable_next(const struct coil_vm *vm, uint32_t function,
                                              uint64_t pc, const struct coil_visible *last)
{
    const struct coil_program *p = &vm->program;
    size_t i;
    if (last)
        i = (size_t)(last - p->variables) + 1;
    else
        ARRAY_SEARCH(i, 0, p->variable_count, p->variables[i].function >= function);
    for (; i < p->variable_count && p->variables[i].function == function; i++)
        if (p->variables[i].from < pc && pc <= p->variables[i].to) return &p->variables[i];
    return NULL;
}

/* Describes the variables of the running function that are in scope. */
static void describe_variables(const struct coil_vm *vm, const penta_visitor *v)
{
    uint64_t pc = vm->program.pcs[vm->pc];
    penta_node node = {.name = "variables"};
    const struct coil_visible *at = coil_variable_next(vm, vm->function, pc, NULL);
    penta_field field;
    if (!at || !describe_enter(v, node)) return;
    for (; at; at = coil_variable_next(vm, vm->function, pc, at)) {
        if (!coil_variable_value(vm, (struct coil_base){vm->fp, vm->frame_top}, at, &field))
            continue;
        if (field.kind == PENTA_RAW)
            describe_computed_bytes(v, field.name, field.as.bytes);
        else
            describe_field(v, field);
    }
    describe_leave(v, node);
}

/* Describes the ranges of memory that differ from what was loaded. */
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
