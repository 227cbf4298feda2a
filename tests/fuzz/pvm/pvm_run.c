/* Runs any program on the interpreter. It may not crash or hang, and gas may never grow. One long
 * run, single steps, a run with a breakpoint and one that changes to a machine loaded from a
 * snapshot must end in the same state.
 *
 *     byte 0       bits 0-1: instruction set, 2-3: profile, 4-5: gas (none, naive, full), 6: paging
 *     byte 1       where execution starts
 *     byte 2       number of jump table entries
 *     byte 3       where the breakpoint is
 *     bytes 4-16   registers, as indices into the table below
 *     the rest     jump table (one byte an entry), code, bitmask (one bit for each byte of code) */
#include "fuzz.h"
#include "pvm/vm/snapshot.h"

enum { HEADER = 17, FUEL = 3000, GAS = 2500, FAULTS = 8 };

/* clang-format off */
static const uint64_t edges[] = {
    0, 1, 2, 4, 8, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x10ff8,
    0x10ffc, 0x10fff, 0x20000, 0x20010, 0x2fff8, 0x30000, 0x30ffd, 0x31ff9, 0x32000, 0x3ffc,
    0x7fffffff, 0x80000000, 0xffff0000, 0xfffffffc, 0xffffffff, UINT64_C(0x100000000),
    UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX, UINT64_MAX - 7};
/* clang-format on */

struct trial {
    struct pvm_code code;
    struct pvm_config config;
    uint32_t start;
    uint64_t regs[PVM_REGISTERS];
    uint32_t mark;
};

static struct pvm_vm *pvm_run_machine(const struct trial *t)
{
    penta_error err = {0};
    struct pvm_vm *vm = pvm_vm_create(NULL, &t->code, &t->config, NULL, &err);
    CHECK(vm);
    penta_bytes none = {0};
    CHECK(pvm_memory_map(&vm->memory, 0x10000, 0x1000, true, none, false));
    CHECK(pvm_memory_map(&vm->memory, 0x20000, 0x1000, false,
                         (penta_bytes){(const uint8_t *)"read-only", 9}, true));
    CHECK(pvm_memory_map(&vm->memory, 0x30000, 0x2000, true, none, false));
    vm->layout.heap_base = 0x32100;
    vm->layout.rw = 0x30000;
    vm->layout.rw_length = 0x2000;
    vm->layout.heap_max = 0x8000;
    for (unsigned i = 0; i < PVM_REGISTERS; i++) pvm_vm_set_reg(vm, i, t->regs[i]);
    pvm_vm_jump(vm, t->start);
    return vm;
}

/* Acts as the host: answers calls and maps pages. Returns false when the run is over. */
static bool handle_stop(struct pvm_vm *vm, const penta_stop *stop, unsigned *faults)
{
    penta_error err = {0};
    uint64_t answer = stop->args[0] + 1;
    switch (stop->kind) {
    case PENTA_STOP_HOST: CHECK(penta_vm_answer(&vm->base, &answer, 1, &err)); return true;
    case PENTA_STOP_FAULT: {
        uint32_t page = (uint32_t)stop->args[0];
        if (++*faults > FAULTS) return false;
        if (stop->args[2]) return pvm_memory_protect(&vm->memory, page, 0x1000, true);
        return pvm_memory_map(&vm->memory, page, 0x1000, true, (penta_bytes){0}, false);
    }
    case PENTA_STOP_BREAK:
    case PENTA_STOP_FUEL: return true;
    default: return false;
    }
}

/* Runs at most FUEL instructions, `piece` at a time. After step `swap_at` the machine is
 * replaced by one loaded from its snapshot. */
static struct pvm_vm *pvm_run_run(const struct trial *t, uint64_t piece, uint64_t swap_at,
                                  bool marks, penta_stop *stop)
{
    struct pvm_vm *vm = pvm_run_machine(t);
    uint64_t steps = 0;
    unsigned faults = 0, rounds = 0;
    if (marks) pvm_vm_mark(&vm->base, t->mark, true);
    do {
        int64_t gas = vm->state->gas;
        uint64_t left = FUEL - steps;
        penta_vm_run(&vm->base, piece < left ? piece : left, stop);
        CHECK(stop->steps <= (piece < left ? piece : left));
        CHECK(!vm->metered || (vm->state->gas <= gas && vm->state->gas >= 0));
        steps += stop->steps;
        if (steps >= swap_at) {
            penta_buffer saved = {0};
            penta_error err = {0};
            CHECK(penta_vm_save(&vm->base, &saved, &err));
            struct pvm_vm *other = pvm_run_machine(t);
            CHECK(penta_vm_load(&other->base, (penta_bytes){saved.data, saved.size}, &err));
            penta_buffer_free(&saved);
            pvm_vm_destroy(vm);
            vm = other;
            swap_at = UINT64_MAX;
        }
    } while (handle_stop(vm, stop, &faults) && steps < FUEL && ++rounds < 4 * FUEL);
    return vm;
}

static void pvm_run_same(struct pvm_vm *a, const penta_stop *sa, struct pvm_vm *b,
                         const penta_stop *sb)
{
    CHECK(sa->kind == sb->kind && sa->detail == sb->detail && sa->pc == sb->pc);
    check_same_state(&a->base, &b->base, "the runs end in another state");
    pvm_vm_destroy(b);
}

static bool read_trial(const uint8_t *data, size_t size, struct trial *t, uint8_t **owned)
{
    if (size < HEADER + 2) return false;
    size_t table = data[2] % 16, rest = size - HEADER;
    if (rest < table + 2) return false;
    size_t code = (rest - table) * 8 / 9, mask = (code + 7) / 8;
    while (table + code + mask > rest) mask = (--code + 7) / 8;
    if (!code) return false;
    uint8_t *bytes = malloc(table + code + mask);
    CHECK(bytes);
    memcpy(bytes, data + HEADER, table + code + mask);
    *owned = bytes;
    if (code % 8) bytes[table + code + mask - 1] &= (uint8_t)((1u << code % 8) - 1);
    t->code = (struct pvm_code){.isa = data[0] & 3,
                                .bytes = {bytes + table, code},
                                .mask = {bytes + table + code, mask},
                                .starts = bytes + table + code,
                                .table = {bytes, table},
                                .table_count = (uint32_t)table,
                                .table_entry = 1};
    unsigned gas = data[0] >> 4 & 3;
    t->config = (struct pvm_config){.profile = &pvm_profiles[(data[0] >> 2 & 3) % 3],
                                    .metered = gas != 0,
                                    .paging = data[0] >> 6 & 1,
                                    .gas = GAS,
                                    .model = gas > 1 ? PVM_GAS_FULL_L2 : PVM_GAS_NAIVE};
    t->start = data[1] % (uint32_t)code;
    t->mark = data[3] % (uint32_t)code;
    for (unsigned i = 0; i < PVM_REGISTERS; i++)
        t->regs[i] = edges[data[4 + i] % (sizeof edges / sizeof *edges)];
    return true;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct trial t;
    uint8_t *owned;
    if (!read_trial(data, size, &t, &owned)) return;
    penta_stop whole, other;
    struct pvm_vm *vm = pvm_run_run(&t, UINT64_MAX, UINT64_MAX, false, &whole);
    struct pvm_vm *b = pvm_run_run(&t, 1, UINT64_MAX, false, &other);
    pvm_run_same(vm, &whole, b, &other);
    b = pvm_run_run(&t, 7, data[3], false, &other);
    pvm_run_same(vm, &whole, b, &other);
    b = pvm_run_run(&t, UINT64_MAX, UINT64_MAX, true, &other);
    pvm_run_same(vm, &whole, b, &other);
    pvm_vm_destroy(vm);
    free(owned);
}
