/* Answers what a debugger asks of COIL programs: where branches lead, the source lines of
 * .coil.line, frames, variables in scope, and what an instruction reads and writes. */
#include "core/debug/debug_info.h"
#include "base/bytes.h"
#include "base/number.h"
#include "coil/format/section_layout.h"
#include "coil/vm/operands.h"

static const char *const register_names[COIL_REGISTERS] = {"v0",  "v1",  "v2",  "v3", "v4",  "v5",
                                                           "v6",  "v7",  "v8",  "v9", "v10", "v11",
                                                           "v12", "v13", "v14", "v15"};

/* Gives the address of a symbol that is the target of a branch. Returns false if the symbol is
 * not defined in this module. */
static bool symbol_address(const struct coil_module *m, uint64_t i, uint64_t *address)
{
    const struct coil_symbol *s = i < m->symbol_count ? &m->symbols[i] : NULL;
    if (!s || !s->section_idx || s->section_idx > m->section_count) return false;
    bool exec = m->header.flags & COIL_FILE_EXEC;
    *address = exec ? s->value : coil_section_address(m, s->section_idx - 1) + s->value;
    return true;
}

static bool coil_debug_branch(const penta_module *module, uint64_t pc, penta_branch *out)
{
    const struct coil_module *m = coil_module(module);
    struct coil_flow_at at;
    if (!coil_flow_at(m, pc, &at)) return false;
    bool direct = at.direct && symbol_address(m, at.symbol, &out->target);
    uint64_t target = direct ? out->target : 0;
    *out = (penta_branch){.next = true};
    switch (at.opcode) {
    case COIL_OP_CALL:
    case COIL_OP_BR:
    case COIL_OP_JMP:
    case COIL_OP_SWITCH:
        *out = (penta_branch){.next = at.conditional || at.opcode == COIL_OP_CALL,
                              .jump = at.opcode != COIL_OP_CALL,
                              .call = at.opcode == COIL_OP_CALL,
                              .indirect = !at.direct,
                              .has_target = direct,
                              .target = target};
        break;
    case COIL_OP_RET:
        *out = (penta_branch){.next = at.conditional, .ret = true, .indirect = true};
        break;
    case COIL_OP_TRAP:
    case COIL_OP_HALT: *out = (penta_branch){0}; break;
    default: break;
    }
    return true;
}

/* Reports the rows of .coil.line. Rows are sorted by section and offset, and each holds up to
 * the next row of its section. */
static void coil_debug_lines(const penta_module *module, penta_line_report *report, void *user)
{
    const struct coil_module *m = coil_module(module);
    for (size_t i = 0; i < m->section_count; i++) {
        penta_bytes name = coil_string(m, m->sections[i].name_idx), rows = coil_contents(m, i);
        if (!bytes_equal(name, bytes_of(".coil.line"))) continue;
        for (size_t at = 0; at + 16 <= rows.size; at += 16) {
            const uint8_t *row = rows.data + at, *next = at + 32 <= rows.size ? row + 16 : NULL;
            size_t section = (size_t)bytes_uint(row, 4, m->big_endian);
            if (!section || section > m->section_count) continue;
            uint64_t base = coil_section_address(m, section - 1),
                     to = m->sections[section - 1].size;
            if (next && bytes_uint(next, 4, m->big_endian) == section)
                to = bytes_uint(next + 4, 4, m->big_endian);
            penta_line line = {.file = coil_string(m, bytes_uint(row + 8, 4, m->big_endian)),
                               .line = bytes_uint(row + 12, 4, m->big_endian),
                               .from = base + bytes_uint(row + 4, 4, m->big_endian),
                               .to = base + to};
            if (line.to > line.from) report(user, &line);
        }
    }
}

struct call {
    uint32_t cell, function;
    struct coil_base base;
};

static bool call_at(const struct coil_vm *vm, size_t frame, struct call *c)
{
    *c = (struct call){vm->pc, vm->function, {vm->fp, vm->frame_top}};
    if (frame > vm->depth) return false;
    for (size_t i = 1; i <= frame; i++) {
        const struct coil_frame *f = &vm->frames[vm->depth - i];
        const struct coil_function *to = &vm->program.functions[f->function];
        c->base.slots -= to->slots;
        c->base.memory -= to->bytes;
        c->function = f->function;
        c->cell = f->back ? f->back - 1 : 0;
    }
    return true;
}

static size_t coil_debug_frames(const penta_vm *base, penta_frame *out, size_t max)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    for (size_t i = 0; i <= vm->depth && i < max; i++) {
        uint32_t back = i ? vm->frames[vm->depth - i].back : vm->pc + 1;
        out[i] = (penta_frame){vm->program.pcs[back ? back - 1 : 0], vm->depth - i};
    }
    return vm->depth + 1;
}

static void coil_debug_variables(const penta_vm *base, size_t frame, penta_variable_report *report,
                                 void *user)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    struct call c;
    for (unsigned i = 0; !frame && i < COIL_REGISTERS; i++)
        variable_report(
            report, user, PENTA_VARIABLE_REGISTER,
            (penta_field){.name = register_names[i], .kind = PENTA_WORD, .as.u = vm->v[i]});
    if (vm->halted || !call_at(vm, frame, &c)) return;
    uint64_t pc = vm->program.pcs[c.cell];
    for (const struct coil_visible *v = coil_variable_next(vm, c.function, pc, NULL); v;
         v = coil_variable_next(vm, c.function, pc, v)) {
        penta_variable out = {.scope = PENTA_VARIABLE_LOCAL, .size = v->type->size};
        if (!coil_variable_value(vm, c.base, v, &out.value)) continue;
        out.in_memory = v->at == COIL_AT_FRAME;
        if (out.in_memory) out.address = c.base.memory + v->slot;
        report(user, &out);
    }
}

static bool set_register(struct coil_vm *vm, penta_bytes name, const penta_value *value)
{
    uint64_t number;
    if (name.size < 2 || name.data[0] != 'v' ||
        !number_parse_bytes(bytes_slice(name, 1, name.size), &number) || number >= COIL_REGISTERS)
        return false;
    vm->v[number] = value_integer(value);
    return true;
}

static bool coil_debug_set(penta_vm *base, penta_bytes name, const penta_value *value)
{
    struct coil_vm *vm = coil_vm(base);
    uint64_t pc = vm->program.pcs[vm->pc];
    if (set_register(vm, name, value)) return true;
    if (vm->halted) return false;
    for (const struct coil_visible *v = coil_variable_next(vm, vm->function, pc, NULL); v;
         v = coil_variable_next(vm, vm->function, pc, v)) {
        if (!bytes_equal(name, bytes_of(v->name)) || v->at == COIL_AT_FRAME) continue;
        uint8_t op = v->type->op;
        bool real = coil_types[op].family == COIL_F_REAL;
        uint64_t bits =
            real ? coil_real_bits(op, value_real(value)) : coil_canon(op, value_integer(value));
        vm->slots[vm->fp + v->slot] = bits;
        return true;
    }
    return false;
}

struct use {
    const struct coil_vm *vm;
    uint32_t function;
    /* This is the pc after the instruction, at which a variable that VAR declares is in scope. */
    uint64_t after;
    penta_access_report *report;
    void *user;
};

static void use_slot(void *user, uint8_t at, uint32_t slot, bool write)
{
    const struct use *u = user;
    if (at == COIL_AT_REGISTER) {
        access_name(u->report, u->user, register_names[slot % COIL_REGISTERS], write);
        return;
    }
    for (const struct coil_visible *v = coil_variable_next(u->vm, u->function, u->after, NULL); v;
         v = coil_variable_next(u->vm, u->function, u->after, v))
        if (v->at == COIL_AT_SLOT && v->slot == slot)
            access_name(u->report, u->user, v->name, write);
}

/* Reports the registers and variables that an instruction accesses. Accesses to memory are
 * reported elsewhere, by the access windows of the machine. */
static void coil_debug_accesses(const penta_vm *base, uint64_t pc, penta_access_report *report,
                                void *user)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    uint32_t cell;
    if (!coil_program_cell(&vm->program, pc, &cell) || !vm->program.steps[cell]) return;
    struct use u = {vm, vm->program.owners[cell], pc + 1, report, user};
    coil_step_touches(vm->program.steps[cell], use_slot, &u);
    if (vm->program.cells[cell].op == COIL_CELL_PORT) report(user, &(penta_access){.host = true});
}

static void coil_debug_regions(const penta_vm *base, penta_region_report *report, void *user)
{
    const struct coil_vm *vm = (const struct coil_vm *)base;
    for (size_t i = 0; i < vm->region_count; i++) {
        const struct coil_region *r = &vm->regions[i];
        region_report(report, user, r->base, r == vm->heap ? vm->heap_max : r->size, r->writable);
    }
}

const struct debug_info coil_debug = {DEBUG_INFO_CALLS(coil), .lines = coil_debug_lines,
                                      .frames = coil_debug_frames, .set = coil_debug_set};
