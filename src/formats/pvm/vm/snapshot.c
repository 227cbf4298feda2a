/* A machine as bytes, numbers as u64, little-endian:
 *
 *     "PVMS" | FIELDS below | 13 registers
 *     | count, count x (pc, 13 registers)              calls still to make
 *     | count, count x (address, length, writable)     the memory map
 *     | count, count x (address, 4096 bytes)           pages with other than their initial contents
 *
 * Initial contents are not stored: they come from the program and the options. */
#include "pvm/vm/snapshot.h"
#include <stdlib.h>
#include <string.h>
#include "base/reader.h"

/* clang-format off */
#define FIELDS(FIELD)                                                                              \
    FIELD(code_size) FIELD(gas) FIELD(gas_refilled) FIELD(pc) FIELD(paid) FIELD(wait)              \
    FIELD(trap) FIELD(executed) FIELD(host_calls) FIELD(host_number) FIELD(heap_size)              \
    FIELD(fault) FIELD(fault_write) FIELD(gas_start) FIELD(announce)
/* clang-format on */

struct fields {
#define FIELD(name) uint64_t name;
    FIELDS(FIELD)
#undef FIELD
};

struct pages {
    struct writer *out;
    uint64_t count;
};

static void save_page(void *user, uint32_t address, const uint8_t *now, const uint8_t *initial)
{
    struct pages *p = user;
    if (!memcmp(now, initial, PVM_PAGE)) return;
    writer_uint(p->out, address, 8);
    writer_bytes(p->out, now, PVM_PAGE);
    p->count++;
}

bool pvm_vm_save(const penta_vm *base, struct writer *out)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    const struct pvm_state *s = vm->state;
    struct fields f = {.code_size = vm->cells->code.bytes.size,
                       .gas = (uint64_t)s->gas,
                       .gas_refilled = vm->gas_refilled,
                       .pc = s->pc,
                       .paid = vm->paid,
                       .wait = vm->wait,
                       .trap = vm->trap,
                       .executed = vm->executed,
                       .host_calls = vm->host_calls,
                       .host_number = vm->host_number,
                       .heap_size = vm->heap_size,
                       .fault = vm->memory.fault,
                       .fault_write = vm->memory.fault_write,
                       .gas_start = (uint64_t)vm->gas_start,
                       .announce = vm->announce};
    writer_bytes(out, "PVMS", 4);
#define FIELD(name) writer_uint(out, f.name, 8);
    FIELDS(FIELD)
#undef FIELD
    for (unsigned i = 0; i < PVM_REGISTERS; i++) writer_uint(out, s->regs[i], 8);
    writer_uint(out, vm->call_count - vm->next_call, 8);
    for (size_t i = vm->next_call; i < vm->call_count; i++) {
        writer_uint(out, vm->calls[i].pc, 8);
        for (unsigned j = 0; j < PVM_REGISTERS; j++) writer_uint(out, vm->calls[i].regs[j], 8);
    }
    writer_uint(out, vm->memory.area_count, 8);
    for (size_t i = 0; i < vm->memory.area_count; i++) {
        const struct pvm_area *a = &vm->memory.areas[i];
        writer_uint(out, a->address, 8);
        writer_uint(out, a->length, 8);
        writer_uint(out, a->writable, 8);
    }
    size_t count_at = out->out.size;
    writer_uint(out, 0, 8);
    struct pages pages = {out, 0};
    pvm_memory_changed(&vm->memory, save_page, &pages);
    writer_patch(out, count_at, pages.count, 8);
    return !out->failed;
}

static bool same_maps(const struct pvm_memory *m, struct reader r, uint64_t count)
{
    if (count != m->area_count) return false;
    for (size_t i = 0; i < m->area_count; i++) {
        const struct pvm_area *a = &m->areas[i];
        uint64_t address = reader_uint(&r, 8), length = reader_uint(&r, 8),
                 writable = reader_uint(&r, 8);
        if (address != a->address || length != a->length || writable != a->writable) return false;
    }
    return true;
}

/* Makes the machine's memory map equal to the saved one. An area that is in both maps gets its
 * initial contents, any other is mapped with zeros. */
static bool load_maps(struct pvm_vm *vm, struct reader *r, uint64_t count, bool apply)
{
    struct pvm_memory *m = &vm->memory;
    bool same = same_maps(m, *r, count);
    uint64_t end = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t address = reader_uint(r, 8), length = reader_uint(r, 8),
                 writable = reader_uint(r, 8);
        if (address < end || address % m->page || length % m->page || !length || writable > 1 ||
            address > UINT32_MAX || length > (UINT64_C(1) << 32) - address)
            return error_at(r->err, BASE_SNAPSHOT, reader_at(r), "a map that cannot be");
        if (apply && !same) {
            bool kept = false;
            for (size_t k = 0; k < m->area_count; k++)
                kept = kept || (m->areas[k].address == address && m->areas[k].length == length);
            if (kept) kept = pvm_memory_protect(m, address, length, writable);
            if (!kept && !pvm_memory_map(m, address, length, writable, (penta_bytes){0}, false))
                return error_at(r->err, BASE_MEMORY, 0, "no memory for the snapshot");
            if (address > end) pvm_memory_unmap(m, end, address - end);
        }
        end = address + length;
    }
    if (apply && !same) pvm_memory_unmap(m, end, (UINT64_C(1) << 32) - end);
    if (apply) pvm_memory_reset(m);
    return true;
}

/* Called twice for the same bytes: first only to check, so that a bad snapshot changes nothing. */
static bool load_memory(struct pvm_vm *vm, struct reader *r, bool apply)
{
    penta_error *err = r->err;
    uint64_t maps = reader_count(r, reader_uint(r, 8), 24);
    struct reader map_reader = *r;
    if (err->code || !load_maps(vm, r, maps, apply)) return false;
    uint64_t pages = reader_count(r, reader_uint(r, 8), 8 + PVM_PAGE);
    for (; pages && !err->code; pages--) {
        uint64_t address = reader_uint(r, 8);
        const uint8_t *bytes = reader_take(r, PVM_PAGE);
        struct reader maps_again = map_reader;
        bool inside = false;
        for (uint64_t i = 0; i < maps && !inside; i++) {
            uint64_t from = reader_uint(&maps_again, 8), length = reader_uint(&maps_again, 8);
            reader_uint(&maps_again, 8);
            inside = address >= from && address - from < length;
        }
        if (!inside || address % PVM_PAGE)
            return error_at(err, BASE_SNAPSHOT, reader_at(r), "a page outside the memory map");
        if (apply && bytes) pvm_memory_write(&vm->memory, address, bytes, PVM_PAGE);
    }
    if (!err->code && reader_left(r))
        return error_at(err, BASE_SNAPSHOT, reader_at(r), "more bytes than a snapshot has");
    return !err->code;
}

static bool sensible(const struct pvm_vm *vm, const struct fields *f)
{
    if (f->code_size != vm->cells->code.bytes.size || f->wait > PVM_UNPAID ||
        f->trap >= PVM_TRAPS || f->paid > 1 || f->pc > UINT32_MAX || f->gas > INT64_MAX ||
        f->heap_size > UINT32_MAX || f->announce > PVM_TOLD_END)
        return false;
    struct pvm_insn in;
    pvm_decode(&vm->cells->code, (uint32_t)f->pc, &in);
    return f->wait != PVM_WAIT_ANSWER || in.op == PVM_OP_ecalli;
}

bool pvm_vm_load(penta_vm *base, penta_bytes saved, penta_error *err)
{
    struct pvm_vm *vm = pvm_vm(base);
    struct reader r = {.in = saved, .err = err};
    const uint8_t *magic = reader_take(&r, 4);
    if (!magic || memcmp(magic, "PVMS", 4))
        return error_at(err, BASE_SNAPSHOT, 0, "not a snapshot of this machine");
    struct fields f;
#define FIELD(name) f.name = reader_uint(&r, 8);
    FIELDS(FIELD)
#undef FIELD
    uint64_t regs[PVM_REGISTERS];
    for (unsigned i = 0; i < PVM_REGISTERS; i++) regs[i] = reader_uint(&r, 8);
    size_t calls = reader_count(&r, reader_uint(&r, 8), 8 + sizeof regs);
    if (err->code) return false;
    if (!sensible(vm, &f)) return error_at(err, BASE_SNAPSHOT, 4, "a snapshot of another program");
    struct pvm_call *queue = calloc(calls + 1, sizeof *queue);
    if (!queue) return error_at(err, BASE_MEMORY, 0, "no memory for the snapshot");
    for (size_t i = 0; i < calls; i++) {
        queue[i].pc = (uint32_t)reader_uint(&r, 8);
        for (unsigned j = 0; j < PVM_REGISTERS; j++) queue[i].regs[j] = reader_uint(&r, 8);
    }
    struct reader check = r;
    if (!load_memory(vm, &check, false) || !load_memory(vm, &r, true)) {
        free(queue);
        return false;
    }
    free(vm->calls);
    vm->calls = queue;
    vm->call_count = calls;
    vm->next_call = 0;
    for (unsigned i = 0; i < PVM_REGISTERS; i++) pvm_vm_set_reg(vm, i, regs[i]);
    vm->state->gas = (int64_t)f.gas;
    vm->gas_refilled = f.gas_refilled;
    vm->state->pc = (uint32_t)f.pc;
    vm->paid = f.paid;
    vm->wait = (enum pvm_wait)f.wait;
    vm->trap = (enum pvm_trap)f.trap;
    vm->executed = f.executed;
    vm->host_calls = f.host_calls;
    vm->host_number = (uint32_t)f.host_number;
    vm->heap_size = f.heap_size;
    vm->memory.fault = (uint32_t)f.fault;
    vm->memory.fault_write = f.fault_write;
    vm->gas_start = (int64_t)f.gas_start;
    vm->announce = (enum pvm_announce)f.announce;
    return true;
}
