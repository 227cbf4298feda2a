/* Writes the state of a machine into a snapshot, and reads it. Numbers are u64:
 *
 *     fields | 13 registers
 *     | count, count x (pc, 13 registers)              calls still to make
 *     | count, count x (address, length, writable)     the memory map
 *     | count, count x (address, 4096 bytes)           pages that differ from their initial contents
 *
 * Initial contents are not stored, because they come from the program and the options. */
#include "pvm/vm/snapshot.h"
#include <stdlib.h>
#include <string.h>

static void walk_fields(struct pvm_vm *vm, struct walk *w)
{
    struct pvm_state *s = vm->state;
    WALK_NUMBER(w, s->gas);
    WALK_NUMBER(w, vm->gas_refilled);
    WALK_NUMBER(w, s->pc);
    WALK_NUMBER(w, vm->paid);
    WALK_NUMBER(w, vm->wait);
    WALK_NUMBER(w, vm->trap);
    WALK_NUMBER(w, vm->executed);
    WALK_NUMBER(w, vm->host_calls);
    WALK_NUMBER(w, vm->host_number);
    WALK_NUMBER(w, vm->heap_size);
    WALK_NUMBER(w, vm->memory.fault);
    WALK_NUMBER(w, vm->memory.fault_write);
    WALK_NUMBER(w, vm->gas_start);
    WALK_NUMBER(w, vm->announce);
    for (unsigned i = 0; i < PVM_REGISTERS; i++) {
        uint64_t value = walk_number(w, s->regs[i]);
        if (walk_loads(w)) pvm_vm_set_reg(vm, i, value);
    }
    struct pvm_insn in;
    pvm_decode(&vm->cells->code, s->pc, &in);
    if (s->gas < 0 || vm->wait > PVM_UNPAID || vm->trap >= PVM_TRAPS ||
        vm->heap_size > UINT32_MAX || vm->announce > PVM_TOLD_END ||
        (vm->wait == PVM_WAIT_ANSWER && in.op != PVM_OP_ecalli))
        walk_wrong(w, "a state that this program cannot be in");
}

static void walk_calls(struct pvm_vm *vm, struct walk *w)
{
    size_t count = walk_count(w, vm->call_count - vm->next_call, 8 * (1 + PVM_REGISTERS));
    if (walk_loads(w)) {
        struct pvm_call *queue = calloc(count + 1, sizeof *queue);
        if (!queue) error_at(w->in.err, BASE_MEMORY, 0, "no memory for the snapshot");
        if (walk_failed(w)) {
            free(queue);
            return;
        }
        free(vm->calls);
        vm->calls = queue;
        vm->call_count = count;
        vm->next_call = 0;
    }
    for (size_t i = vm->next_call; i < vm->call_count; i++) {
        WALK_NUMBER(w, vm->calls[i].pc);
        walk_numbers(w, vm->calls[i].regs, PVM_REGISTERS, sizeof *vm->calls[i].regs);
    }
}

static void save_areas(const struct pvm_memory *m, struct walk *w)
{
    for (size_t i = 0; i < m->area_count; i++) {
        walk_number(w, m->areas[i].address);
        walk_number(w, m->areas[i].length);
        walk_number(w, m->areas[i].writable);
    }
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

/* Makes the machine's memory map equal to the saved one. An area that is in both maps keeps its
 * initial contents; any other area is mapped with zeros. */
static void load_areas(struct pvm_memory *m, struct walk *w, size_t count)
{
    bool same = same_maps(m, w->in, count);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = walk_number(w, 0), length = walk_number(w, 0),
                 writable = walk_number(w, 0);
        if (address < end || address % m->page || length % m->page || !length || writable > 1 ||
            address > UINT32_MAX || length > (UINT64_C(1) << 32) - address)
            walk_wrong(w, "a map that cannot be");
        if (walk_failed(w)) return;
        if (!same) {
            bool kept = false;
            for (size_t k = 0; k < m->area_count; k++)
                kept = kept || (m->areas[k].address == address && m->areas[k].length == length);
            if (kept) kept = pvm_memory_protect(m, address, length, writable);
            if (!kept && !pvm_memory_map(m, address, length, writable, (penta_bytes){0}, false)) {
                error_at(w->in.err, BASE_MEMORY, 0, "no memory for the snapshot");
                return;
            }
            if (address > end) pvm_memory_unmap(m, end, address - end);
        }
        end = address + length;
    }
    if (!same) pvm_memory_unmap(m, end, (UINT64_C(1) << 32) - end);
    pvm_memory_reset(m);
}

struct pages {
    struct walk *w;
    uint64_t count;
};

static void save_page(void *user, uint32_t address, const uint8_t *now, const uint8_t *initial)
{
    struct pages *p = user;
    if (!memcmp(now, initial, PVM_PAGE)) return;
    walk_number(p->w, address);
    writer_bytes(p->w->out, now, PVM_PAGE);
    p->count++;
}

static void save_pages(const struct pvm_memory *m, struct walk *w)
{
    size_t count_at = w->out->out.size;
    struct pages pages = {w, 0};
    walk_number(w, 0);
    pvm_memory_changed(m, save_page, &pages);
    writer_patch(w->out, count_at, pages.count, 8);
}

static void load_pages(struct pvm_memory *m, struct walk *w)
{
    for (size_t pages = walk_count(w, 0, 8 + PVM_PAGE); pages && !walk_failed(w); pages--) {
        uint64_t address = walk_number(w, 0);
        const uint8_t *bytes = reader_take(&w->in, PVM_PAGE);
        bool inside = false;
        for (size_t i = 0; i < m->area_count && !inside; i++)
            inside = address >= m->areas[i].address &&
                     address - m->areas[i].address < m->areas[i].length;
        if (!inside || address % PVM_PAGE)
            walk_wrong(w, "a page outside the memory map");
        else if (bytes)
            pvm_memory_write(m, address, bytes, PVM_PAGE);
    }
}

void pvm_vm_walk(penta_vm *base, struct walk *w)
{
    struct pvm_vm *vm = pvm_vm(base);
    struct pvm_memory *m = &vm->memory;
    walk_fields(vm, w);
    walk_calls(vm, w);
    size_t areas = walk_count(w, m->area_count, 24);
    if (walk_loads(w)) {
        if (!walk_failed(w)) load_areas(m, w, areas);
        if (!walk_failed(w)) load_pages(m, w);
    } else {
        save_areas(m, w);
        save_pages(m, w);
    }
}
