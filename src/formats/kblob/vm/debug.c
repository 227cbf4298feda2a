/* Answers questions of a debugger about kernel blobs: lines from the debug symbols, registers of
 * the current thread, and values that are not in memory. The programs have no calls. */
#include "core/debug/debug_info.h"
#include <stdio.h>
#include "base/bytes.h"
#include "kblob/vm/vm.h"

static bool kblob_debug_branch(const penta_module *module, uint64_t pc, penta_branch *out)
{
    const struct kblob_module *m = kblob_module(module);
    if (pc >= m->count) return false;
    const struct kblob_inst *in = &m->insts[pc];
    const struct kblob_op_info *op = kblob_op(m->header.version, in->opcode);
    bool jump = op && kblob_uses(op) & KBLOB_FIELD_TARGET;
    *out = (penta_branch){.next = in->opcode != KBLOB_OP_HALT && in->opcode != KBLOB_OP_JMP,
                          .jump = jump,
                          .has_target = jump,
                          .target = jump ? in->arg1 : 0};
    return true;
}

static void kblob_debug_lines(const penta_module *module, penta_line_report *report, void *user)
{
    const struct kblob_module *m = kblob_module(module);
    const struct kblob_symbols *s = &m->symbols;
    for (size_t i = 0; i < s->line_count; i++) {
        const uint8_t *row = s->lines + i * kblob_line_bytes;
        penta_line line = {.file = bytes_of(s->file),
                           .line = bytes_get32(row + 4),
                           .from = bytes_get32(row),
                           .to = i + 1 < s->line_count ? bytes_get32(row + kblob_line_bytes)
                                                       : m->count};
        if (line.line) report(user, &line);
    }
}

static void kblob_debug_number(penta_variable_report *report, void *user, const char *name,
                               penta_kind kind, uint64_t value)
{
    variable_report(report, user, PENTA_VARIABLE_REGISTER,
                    (penta_field){.name = name, .kind = kind, .as.u = value});
}

static void kblob_debug_variables(const penta_vm *base, size_t frame, penta_variable_report *report,
                                  void *user)
{
    const struct kblob_vm *vm = (const struct kblob_vm *)base;
    const struct kblob_grid *g = &vm->grid;
    if (frame) return;
    kblob_debug_number(report, user, "last_read", PENTA_WORD, vm->last_read);
    kblob_debug_number(report, user, "slept_ms", PENTA_UINT, vm->slept_ms);
    if (!g->threads) return;
    kblob_debug_number(report, user, "block", PENTA_UINT, kblob_grid_block(g, g->current));
    kblob_debug_number(report, user, "thread", PENTA_UINT, g->current % g->block_threads);
    for (unsigned i = 0; i < KBLOB_REGISTERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%u", i);
        kblob_debug_number(report, user, name, PENTA_WORD, g->threads[g->current].r[i]);
    }
}

static bool register_number(penta_bytes name, unsigned *number)
{
    *number = 0;
    if (name.size < 2 || name.size > 3 || name.data[0] != 'r') return false;
    for (size_t i = 1; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9') return false;
        *number = *number * 10 + (name.data[i] - (unsigned)'0');
    }
    return *number < KBLOB_REGISTERS;
}

static bool kblob_debug_set(penta_vm *base, penta_bytes name, const penta_value *value)
{
    struct kblob_vm *vm = kblob_vm(base);
    unsigned number;
    if (vm->grid.threads && register_number(name, &number)) {
        vm->grid.threads[vm->grid.current].r[number] = value_integer(value);
        return true;
    }
    if (bytes_equal(name, bytes_of("slept_ms"))) {
        vm->slept_ms = value_integer(value);
        return true;
    }
    if (!bytes_equal(name, bytes_of("last_read"))) return false;
    vm->last_read = value_integer(value);
    vm->has_read = true;
    return true;
}

static void use_register(penta_access_report *report, void *user, unsigned number, bool write)
{
    char name[8];
    if (number >= KBLOB_REGISTERS) return;
    snprintf(name, sizeof name, "r%u", number);
    access_name(report, user, name, write);
}

/* Returns how many bytes an instruction of version 2 accesses. */
static uint64_t access_bytes(uint8_t op)
{
    switch (op) {
    case KBLOB_OP_LD8:
    case KBLOB_OP_ST8: return 1;
    case KBLOB_OP_LD16:
    case KBLOB_OP_ST16: return 2;
    case KBLOB_OP_LD32:
    case KBLOB_OP_ST32:
    case KBLOB_OP_AADD32:
    case KBLOB_OP_CAS32: return 4;
    default: return 8;
    }
}

static void accesses_of_2(const struct kblob_vm *vm, const struct kblob_decoded *in,
                          penta_access_report *report, void *user)
{
    const struct kblob_op_info *op = kblob_op(KBLOB_VERSION_2, in->op);
    unsigned fields = op ? kblob_uses(op) : 0;
    bool atomic = op && op->shape == KBLOB_SHAPE_D_MEMORY_B;
    bool reads_d = atomic || in->op == KBLOB_OP_SEL || in->op == KBLOB_OP_NEXT;
    if (fields & KBLOB_FIELD_A) use_register(report, user, in->a, false);
    if (fields & (KBLOB_FIELD_B | KBLOB_FIELD_B_REGISTER)) use_register(report, user, in->b, false);
    if (fields & KBLOB_FIELD_D && reads_d) use_register(report, user, in->d, false);
    if (fields & KBLOB_FIELD_D) use_register(report, user, in->d, true);
    if (!(fields & KBLOB_FIELD_OFFSET)) return;
    penta_access memory = {.address = vm->grid.threads[vm->grid.current].r[in->a] + in->arg0,
                           .size = access_bytes(in->op),
                           .moves = true};
    if (fields & KBLOB_FIELD_D) report(user, &memory);
    memory.write = true;
    if (atomic || !(fields & KBLOB_FIELD_D)) report(user, &memory);
}

static void kblob_debug_accesses(const penta_vm *base, uint64_t pc, penta_access_report *report,
                                 void *user)
{
    const struct kblob_vm *vm = (const struct kblob_vm *)base;
    if (pc >= vm->count) return;
    const struct kblob_decoded *in = &vm->program[pc];
    penta_access access = {
        .address = in->arg0, .size = kblob_access_size(in), .write = kblob_access_writes(in)};
    if (in->op == KBLOB_OP_SLEEP) report(user, &(penta_access){.host = true});
    if (access.size) report(user, &access);
    if (access.size && !access.write) access_name(report, user, "last_read", true);
    if (vm->grid.threads) accesses_of_2(vm, in, report, user);
}

static void kblob_debug_regions(const penta_vm *base, penta_region_report *report, void *user)
{
    const struct kblob_memory *m = ((const struct kblob_vm *)base)->memory;
    const struct kblob_grid *g = &((const struct kblob_vm *)base)->grid;
    for (size_t i = 0; i < m->count; i++)
        region_report(report, user, m->regions[i].base, m->regions[i].size,
                      !m->regions[i].read_only);
    if (g->shared) region_report(report, user, KBLOB_SHARED_BASE, g->launch.shared, true);
}

const struct debug_info kblob_debug = {DEBUG_INFO_CALLS(kblob), .lines = kblob_debug_lines,
                                       .set = kblob_debug_set, .accesses_memory = true};
