/* Does everything for a machine besides running it: makes and resets it, makes calls, takes
 * answers of the host, describes it and sets breakpoints. Snapshots are in snapshot.c, options
 * in run_options.c, addresses in layout.c. */
#include "pvm/vm/vm.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/number.h"
#include "core/describe.h"
#include "core/structure/counts.h"
#include "pvm/vm/ops.h"
#include "pvm/vm/machine_pool.h"
#include "pvm/vm/snapshot.h"

static bool map_areas(struct pvm_vm *vm, const struct pvm_program *p, penta_bytes aux)
{
    const struct pvm_layout *l = &vm->layout;
    struct pvm_memory *m = &vm->memory;
    return pvm_memory_map(m, l->ro, l->ro_length, false, p->ro_data, false) &&
           pvm_memory_map(m, l->rw, l->rw_length, true, p->rw_data, false) &&
           pvm_memory_map(m, l->stack, l->stack_length, true, (penta_bytes){0}, false) &&
           pvm_memory_map(m, l->aux, l->aux_length, false, aux, true);
}

bool pvm_vm_populate(struct pvm_vm *vm, const struct pvm_program *program, penta_bytes aux,
                     penta_error *err)
{
    if (!pvm_layout(program, aux.size, vm->memory.page, &vm->layout, err)) return false;
    if (vm->paging || map_areas(vm, program, aux)) return true;
    return error_at(err, BASE_MEMORY, 0, "no memory for the program's data");
}

struct pvm_vm *pvm_vm_create(const penta_module *module, const struct pvm_code *code,
                             const struct pvm_config *config, struct pvm_cells *shared,
                             penta_error *err)
{
    struct pvm_vm *vm = zeros_new(sizeof *vm, "a machine", err);
    if (!vm) return NULL;
    vm->base.engine = &pvm_interp;
    vm->base.module = module;
    atomic_init(&vm->base.interrupt, false);
    vm->metered = config->metered;
    vm->by_step = config->metered && config->model == PVM_GAS_STEP;
    vm->paging = config->paging;
    vm->w32 = pvm_isas[code->isa].bits == 32;
    vm->gas_start = config->gas;
    vm->host_name = calloc(1, PVM_HOST_NAME);
    vm->cells = shared ? pvm_cells_share(shared)
                       : pvm_cells_new(code, config->profile, config->model, config->metered, err);
    if (!vm->host_name) error_at(err, BASE_MEMORY, 0, "no memory for a machine");
    if (!vm->cells || !vm->host_name ||
        !pvm_memory_open(&vm->memory, config->page ? config->page : PVM_PAGE, err)) {
        pvm_vm_destroy(vm);
        return NULL;
    }
    vm->state = vm->memory.state;
    vm->state->memory = &vm->memory;
    vm->state->wraps = vm->cells->profile->wraps;
    vm->state->gas = config->gas;
    vm->state->interrupt = &vm->base.interrupt;
    if (config->adopt) config->adopt(vm, config);
    if (vm->base.engine != &pvm_interp || pvm_vm_thread(vm)) return vm;
    error_at(err, BASE_MEMORY, 0, "no memory for %zu bytes of code", code->bytes.size);
    pvm_vm_destroy(vm);
    return NULL;
}

bool pvm_vm_thread(struct pvm_vm *vm)
{
    if (vm->state->cells) return true;
    if (!pvm_cells_build(vm->cells)) return false;
    vm->state->cells = vm->cells->cells;
    vm->state->table = vm->cells->table;
    vm->state->table_count = vm->cells->table_count;
    return true;
}

void pvm_vm_destroy(struct pvm_vm *vm)
{
    if (vm->memory.reservation) pvm_memory_close(&vm->memory);
    pvm_cells_free(vm->cells);
    free(vm->host_name);
    free(vm->own);
    free(vm->marked);
    free(vm->places);
    free(vm->calls);
    free(vm);
}

void pvm_vm_close(penta_vm *base)
{
    struct pvm_vm *vm = pvm_vm(base);
    if (vm->pool)
        pvm_pool_return(vm->pool, vm);
    else
        pvm_vm_destroy(vm);
}

void pvm_vm_clear(struct pvm_vm *vm)
{
    const struct pvm_layout *l = &vm->layout;
    if (vm->paging || vm->remapped) {
        pvm_memory_unmap(&vm->memory, 0, UINT64_C(1) << 32);
        if (!vm->paging && vm->base.module)
            map_areas(vm, &pvm_module(vm->base.module)->program, (penta_bytes){0});
        vm->remapped = false;
    } else {
        uint64_t grown = l->rw + l->rw_length;
        uint64_t end = round_up(l->heap_base + vm->heap_size, vm->memory.page);
        if (vm->heap_size && end > grown) pvm_memory_unmap(&vm->memory, grown, end - grown);
        pvm_memory_reset(&vm->memory);
    }
    vm->heap_size = 0;
}

void pvm_vm_reset(struct pvm_vm *vm)
{
    pvm_vm_clear(vm);
    memset(vm->state->regs, 0, sizeof vm->state->regs);
    vm->state->gas = vm->gas_start;
    vm->gas_refilled = 0;
    vm->state->pc = 0;
    vm->paid = false;
    vm->wait = PVM_READY;
    vm->executed = vm->host_calls = 0;
    vm->call_count = vm->next_call = 0;
    atomic_store_explicit(&vm->base.interrupt, false, memory_order_relaxed);
}

void pvm_vm_jump(struct pvm_vm *vm, uint32_t pc)
{
    vm->state->pc = pc;
    vm->paid = false;
    vm->wait = PVM_READY;
}

void pvm_vm_call_registers(const struct pvm_vm *vm, uint64_t *regs)
{
    memset(regs, 0, PVM_REGISTERS * sizeof *regs);
    regs[PVM_RA] = PVM_RETURN_ADDRESS;
    regs[PVM_SP] = vm->layout.stack_top;
}

void pvm_vm_begin(struct pvm_vm *vm, const struct pvm_call *call)
{
    if (vm->fresh_calls && vm->executed) pvm_vm_clear(vm);
    memcpy(vm->state->regs, call->regs, sizeof call->regs);
    pvm_vm_jump(vm, call->pc);
    if (vm->base.counts) counts_restart(vm->base.counts);
}

bool pvm_vm_continue(struct pvm_vm *vm)
{
    if (vm->wait != PVM_HALTED || vm->next_call == vm->call_count || vm->announce) return false;
    pvm_vm_begin(vm, &vm->calls[vm->next_call++]);
    return true;
}

bool pvm_vm_tells(struct pvm_vm *vm, penta_stop *stop)
{
    if (vm->announce != PVM_TELL_BEGIN && vm->announce != PVM_TELL_END) return false;
    uint64_t steps = stop->steps;
    *stop = (penta_stop){.kind = PENTA_STOP_HOST, .pc = vm->state->pc, .steps = steps};
    stop->detail = vm->announce == PVM_TELL_BEGIN ? PVM_CALL_BEGINS : PVM_CALL_ENDED;
    if (vm->announce == PVM_TELL_BEGIN) return true;
    stop->args[0] = vm->wait == PVM_HALTED    ? PENTA_STOP_HALT
                    : vm->wait == PVM_TRAPPED ? PENTA_STOP_TRAP
                                              : PENTA_STOP_GAS;
    if (vm->wait == PVM_TRAPPED) stop->args[1] = vm->trap;
    if (vm->wait == PVM_TRAPPED) stop->args[2] = vm->memory.fault;
    return true;
}

void pvm_vm_announce(struct pvm_vm *vm, penta_stop *stop)
{
    bool over = stop->kind == PENTA_STOP_HALT || stop->kind == PENTA_STOP_TRAP ||
                stop->kind == PENTA_STOP_GAS;
    if (vm->announce != PVM_TOLD_BEGIN || !over) return;
    vm->announce = PVM_TELL_END;
    pvm_vm_tells(vm, stop);
}

/* Goes on to the next call, after the host has seen the end of a call or has not let one begin. */
static void vm_next_call(struct pvm_vm *vm)
{
    vm->announce = PVM_TOLD_END;
    if (vm->next_call == vm->call_count) return;
    pvm_vm_begin(vm, &vm->calls[vm->next_call++]);
    vm->announce = PVM_TELL_BEGIN;
}

/* Takes the host's answer before or after a call. Before a call, results[0], if given, is the
 * gas of the call. */
static bool answer_announcement(struct pvm_vm *vm, const uint64_t *results, size_t count)
{
    enum call_end end = vm->on_answer;
    vm->on_answer = CALL_GOES_ON;
    if (vm->announce == PVM_TELL_BEGIN && end == CALL_GOES_ON) {
        if (count && vm->metered && results[0] <= INT64_MAX) {
            vm->gas_start += (int64_t)results[0] - vm->state->gas;
            vm->state->gas = (int64_t)results[0];
        }
        vm->announce = PVM_TOLD_BEGIN;
        return true;
    }
    if (vm->announce == PVM_TELL_BEGIN) {
        vm->wait = end == CALL_ENDS ? PVM_HALTED : end == CALL_UNPAID ? PVM_UNPAID : PVM_TRAPPED;
        vm->trap = PVM_TRAP_HOST;
    }
    vm_next_call(vm);
    return true;
}

void pvm_vm_settle(penta_vm *base, uint64_t gas, enum call_end end)
{
    struct pvm_vm *vm = pvm_vm(base);
    vm->answer_gas = gas;
    vm->on_answer = end;
}

void pvm_vm_interrupt(penta_vm *base)
{
    struct pvm_vm *inner = atomic_load(&pvm_vm(base)->inner);
    if (!inner) return;
    atomic_store_explicit(&inner->base.interrupt, true, memory_order_seq_cst);
    if (inner->base.engine->interrupt) inner->base.engine->interrupt(&inner->base);
}

/* Subtracts what the host call costs. Gas does not fall below 0. */
static void pay_answer(struct pvm_vm *vm)
{
    uint64_t gas = vm->answer_gas;
    vm->answer_gas = 0;
    if (!vm->metered || !gas) return;
    vm->state->gas = gas < (uint64_t)vm->state->gas ? vm->state->gas - (int64_t)gas : 0;
}

bool pvm_vm_set_reg(struct pvm_vm *vm, unsigned reg, uint64_t value)
{
    if (reg >= PVM_REGISTERS) return false;
    vm->state->regs[reg] = vm->w32 ? (uint32_t)value : value;
    return true;
}

uint64_t pvm_vm_sbrk(struct pvm_vm *vm, uint64_t n)
{
    const struct pvm_layout *l = &vm->layout;
    if (n > UINT32_MAX) n = 0;
    uint64_t size = vm->heap_size + n, old_top = l->heap_base + vm->heap_size;
    if (size > l->heap_max || vm->paging) return 0;
    uint64_t page = vm->memory.page;
    uint64_t mapped = round_up(old_top, page), wanted = round_up(l->heap_base + size, page);
    if (mapped < l->rw + l->rw_length) mapped = l->rw + l->rw_length;
    if (wanted > mapped &&
        !pvm_memory_map(&vm->memory, mapped, wanted - mapped, true, (penta_bytes){0}, false))
        return 0;
    vm->heap_size = size;
    return op_extend32(vm->cells->profile->gp_sbrk ? old_top : l->heap_base + size);
}

bool pvm_vm_answer(penta_vm *base, const uint64_t *results, size_t count, penta_error *err)
{
    struct pvm_vm *vm = pvm_vm(base);
    const struct pvm_code *code = &vm->cells->code;
    pay_answer(vm);
    if (vm->announce == PVM_TELL_BEGIN || vm->announce == PVM_TELL_END)
        return answer_announcement(vm, results, count);
    if (vm->wait != PVM_WAIT_ANSWER)
        return error_at(err, BASE_STATE, 0, "no host call waits for an answer");
    if (count > 6) return error_at(err, BASE_STATE, 0, "%zu results; a0 to a5 hold six", count);
    enum call_end end = vm->on_answer;
    vm->on_answer = CALL_GOES_ON;
    if (end == CALL_TRAPS) {
        vm->wait = PVM_TRAPPED;
        vm->trap = PVM_TRAP_HOST;
        return true;
    }
    if (end == CALL_UNPAID) {
        vm->wait = PVM_UNPAID;
        return true;
    }
    for (size_t i = 0; i < count; i++) pvm_vm_set_reg(vm, (unsigned)(PVM_A0 + i), results[i]);
    if (vm->state->cells) {
        vm->hint = pvm_vm_cell(vm) + 1; /* An ecalli never ends a block, so there is a next cell. */
        vm->state->pc = vm->cells->places[vm->hint].pc;
    } else {
        struct pvm_insn in;
        pvm_decode(code, vm->state->pc, &in);
        vm->state->pc += in.length;
    }
    vm->paid = !vm->by_step && !(code->doc && pvm_is_target(code, vm->state->pc));
    vm->wait = end == CALL_ENDS ? PVM_HALTED : PVM_READY;
    return true;
}

/* The functions below describe a machine. */

struct run { /* A struct run is changed bytes that lie one after the other. */
    const penta_visitor *v;
    struct writer bytes;
    uint64_t address;
};

static void run_flush(struct run *r)
{
    if (r->bytes.out.size) describe_run(r->v, r->address, writer_view(&r->bytes));
    r->bytes.out.size = 0;
}

static void run_page(void *user, uint32_t address, const uint8_t *now, const uint8_t *initial)
{
    struct run *r = user;
    for (uint32_t at = 0; at < PVM_PAGE; at++) {
        if (now[at] == initial[at]) continue;
        uint64_t end = r->address + r->bytes.out.size, here = (uint64_t)address + at;
        if (r->bytes.out.size && here - end < DESCRIBE_JOIN && at >= here - end) {
            writer_bytes(&r->bytes, now + at - (here - end), (size_t)(here - end));
        } else {
            run_flush(r);
            r->address = here;
        }
        writer_bytes(&r->bytes, now + at, 1);
    }
}

/* Describes the result of a standard program of the jam dialect: a1 bytes at a0, if they are
 * readable. */
static void describe_result(const struct pvm_vm *vm, const penta_visitor *v)
{
    enum { MOST = 1 << 24 };
    if (vm->wait != PVM_HALTED || !vm->base.module || !pvm_module(vm->base.module)->program.spi)
        return;
    uint64_t size = vm->state->regs[PVM_A1];
    uint8_t *bytes = size <= MOST ? malloc((size_t)size + 1) : NULL;
    if (!bytes && size <= MOST) describe_incomplete(v);
    bool readable =
        bytes && pvm_memory_read(&vm->memory, vm->state->regs[PVM_A0], bytes, (size_t)size);
    describe_computed_bytes(v, "result", (penta_bytes){bytes, readable ? (size_t)size : 0});
    free(bytes);
}

void pvm_vm_describe(const penta_vm *base, const penta_visitor *v)
{
    const struct pvm_vm *vm = pvm_vm_const(base);
    describe_uint(v, "pc", vm->state->pc);
    if (vm->executed != UINT64_MAX) describe_uint(v, "executed", vm->executed);
    if (vm->metered) {
        describe_uint(v, "gas", (uint64_t)vm->state->gas);
        describe_uint(v, "gas_used",
                      (uint64_t)vm->gas_start + vm->gas_refilled - (uint64_t)vm->state->gas);
    }
    describe_uint(v, "host_calls", vm->host_calls);
    if (vm->heap_size) describe_uint(v, "heap", vm->heap_size);
    describe_result(vm, v);
    penta_node registers = {.name = "registers"};
    if (describe_enter(v, registers)) {
        for (unsigned i = 0; i < PVM_REGISTERS; i++)
            describe_word(v, pvm_register_names[i], vm->state->regs[i]);
        describe_leave(v, registers);
    }
    penta_node list = {.name = "memory", .list = true};
    if (!describe_enter(v, list)) return;
    struct run run = {.v = v};
    pvm_memory_changed(&vm->memory, run_page, &run);
    run_flush(&run);
    if (run.bytes.failed) describe_incomplete(v);
    writer_free(&run.bytes);
    describe_leave(v, list);
}

/* The functions below give the host access to memory, and set breakpoints. */

bool pvm_vm_peek(const penta_vm *base, uint64_t address, void *into, size_t size)
{
    return pvm_memory_read(&pvm_vm_const(base)->memory, address, into, size);
}

bool pvm_vm_poke(penta_vm *base, uint64_t address, const void *from, size_t size)
{
    return pvm_memory_write(&pvm_vm(base)->memory, address, from, size);
}

bool pvm_vm_mark(penta_vm *base, uint64_t pc, bool on)
{
    struct pvm_vm *vm = pvm_vm(base);
    const struct pvm_cells *p = vm->cells;
    if (!pvm_vm_thread(vm)) return false;
    uint32_t at = pc <= UINT32_MAX ? pvm_cells_find(p, (uint32_t)pc) : 0;
    if (!at || !pvm_starts(&p->code, (uint32_t)pc)) return false;
    if (!vm->own) { /* The shared cells must stay as they are. */
        struct pvm_cell *own = malloc(p->count * sizeof *own);
        uint8_t *marked = calloc(p->count, 1);
        if (!own || !marked) {
            free(own);
            free(marked);
            return false;
        }
        memcpy(own, p->cells, p->count * sizeof *own);
        vm->own = own;
        vm->marked = marked;
        vm->state->cells = own;
    }
    vm->marked[at] = on;
    pvm_cells_thread(p, vm->own, p->places[at].block, vm->marked);
    return true;
}

/* Returns the name of the import that a host call asks for. */
const char *pvm_vm_detail(const penta_vm *vm, const penta_stop *stop)
{
    if (stop->kind != PENTA_STOP_HOST || !vm->module) return NULL;
    if (pvm_vm_const(vm)->announce == PVM_TELL_BEGIN) return "begin of a call";
    if (pvm_vm_const(vm)->announce == PVM_TELL_END) return "end of a call";
    const struct pvm_program *p = &pvm_module(vm->module)->program;
    char *text = pvm_vm_const(vm)->host_name;
    if (stop->detail >= p->import_count || p->imports[stop->detail].broken) return NULL;
    penta_bytes name = p->imports[stop->detail].name;
    if (!name.size || name.size >= PVM_HOST_NAME) return NULL;
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] <= ' ' || name.data[i] >= 0x7f)
            /* A name with other characters may be the id of a contract, which can be binary. */
            return NULL;
    bytes_copy(text, name);
    text[name.size] = 0;
    return text;
}

penta_vm *pvm_vm_open(const penta_module *module, const penta_option *options, size_t count,
                      penta_error *err)
{
    return pvm_vm_open_with(module, options, count, NULL, NULL, err);
}

const struct engine pvm_interp = {
    .name = "interp",
    .heeds_guards = true,
    .open = pvm_vm_open,
    .run = pvm_vm_run,
    PVM_ENGINE_CALLS(pvm_vm),
    .interrupt = pvm_vm_interrupt,
    .count = pvm_vm_count,
};
