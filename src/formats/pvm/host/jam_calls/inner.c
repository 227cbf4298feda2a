/* Machines inside a machine (JAM 9.3): refine may make machines, give them memory page by page,
 * and run them. They are ordinary machines without a host: every stop is reported to the program
 * that runs them. */
#include "base/bytes.h"
#include "core/engine.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

enum { HALT, PANIC, FAULT, HOST, OOG }; /* These are the results of the call invoke. */
enum { FIRST_PAGE = 16, MACHINES = 1024 };

static struct jam_inner *inner_find(struct jam_run *run, uint64_t number)
{
    return number < run->inner_count && run->inner[number].vm ? &run->inner[number] : NULL;
}

/* Takes the machine with the smallest free number. Returns NULL when memory ran out, or there
 * are more machines than this host allows. */
static struct jam_inner *inner_place(struct jam_run *run)
{
    for (size_t i = 0; i < run->inner_count; i++)
        if (!run->inner[i].vm) return &run->inner[i];
    if (run->inner_count == MACHINES) {
        error_at(run->err, BASE_LIMIT, 0, "a program has more than %d machines", MACHINES);
        return NULL;
    }
    /* The array never moves, because machines point to the modules in it. */
    if (!run->inner) run->inner = calloc(MACHINES, sizeof *run->inner);
    if (!run->inner) {
        jam_no_memory(run);
        return NULL;
    }
    return &run->inner[run->inner_count++];
}

enum jam_end jam_call_machine(struct jam_run *run, uint64_t *r, penta_bytes program, penta_bytes b)
{
    (void)b;
    struct pvm_module module;
    if (!jam_generic(run->host, program, &module)) return jam_result(r, JAM_HUH);
    struct jam_inner *inner = inner_place(run);
    if (!inner) return JAM_END_ERROR;
    inner->bytes = malloc(program.size + 1);
    if (!inner->bytes) return jam_no_memory(run);
    struct long_work work = vm_long_work(&run->vm->base);
    if (!long_work_copy(inner->bytes, program, &work)) {
        free(inner->bytes);
        inner->bytes = NULL;
        return JAM_END_INTERRUPT;
    }
    jam_generic(run->host, (penta_bytes){inner->bytes, program.size}, &inner->module);
    inner->vm = jam_inner_machine(run->host, &inner->module, run->err);
    if (!inner->vm) {
        free(inner->bytes);
        inner->bytes = NULL;
        return JAM_END_ERROR;
    }
    inner->pc = r[9];
    return jam_result(r, inner - run->inner);
}

enum jam_end jam_call_expunge(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    struct jam_inner *inner = inner_find(run, r[7]);
    if (!inner) return jam_result(r, JAM_WHO);
    uint64_t pc = inner->pc;
    inner->vm->base.engine->close(&inner->vm->base);
    free(inner->bytes);
    *inner = (struct jam_inner){0};
    return jam_result(r, (int64_t)pc);
}

/* The functions below answer calls about the memory of inner machines. */

enum jam_end jam_call_peek(struct jam_run *run, uint64_t *r, penta_bytes own, penta_bytes b)
{
    (void)b;
    struct jam_inner *inner = inner_find(run, r[7]);
    if (!inner) return jam_result(r, JAM_WHO);
    if (!pvm_memory_allows(&inner->vm->memory, r[9], own.size, PVM_READ))
        return jam_result(r, JAM_OOB);
    penta_bytes from = pvm_memory_view(&inner->vm->memory, r[9], own.size, &run->scratch[1]);
    if (from.size != own.size) return jam_no_memory(run);
    enum jam_end end = jam_copy_to(run, &run->vm->memory, r[8], from);
    return end ? end : jam_result(r, JAM_OK);
}

enum jam_end jam_call_poke(struct jam_run *run, uint64_t *r, penta_bytes own, penta_bytes b)
{
    (void)b;
    struct jam_inner *inner = inner_find(run, r[7]);
    if (!inner) return jam_result(r, JAM_WHO);
    if (!pvm_memory_allows(&inner->vm->memory, r[9], own.size, PVM_WRITABLE))
        return jam_result(r, JAM_OOB);
    enum jam_end end = jam_copy_to(run, &inner->vm->memory, r[9], own);
    return end ? end : jam_result(r, JAM_OK);
}

enum jam_end jam_call_pages(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b)
{
    (void)a, (void)b;
    enum { NO_ACCESS, READABLE, WRITABLE, KEEP_READABLE, KEEP_WRITABLE };
    uint64_t page = r[8], count = r[9], mode = r[10];
    struct jam_inner *inner = inner_find(run, r[7]);
    if (!inner) return jam_result(r, JAM_WHO);
    if (mode > KEEP_WRITABLE || page < FIRST_PAGE || page >= PVM_PAGES || count >= PVM_PAGES - page)
        return jam_result(r, JAM_HUH);
    struct pvm_memory *m = &inner->vm->memory;
    uint64_t at = page * PVM_PAGE, length = count * PVM_PAGE;
    if (mode >= KEEP_READABLE && !pvm_memory_allows(m, at, length, PVM_READ))
        return jam_result(r, JAM_HUH);
    bool done = true;
    if (mode == NO_ACCESS)
        done = pvm_memory_unmap(m, at, length);
    else if (mode <= WRITABLE)
        done = pvm_memory_map(m, at, length, mode == WRITABLE, (penta_bytes){0}, false);
    else
        done = pvm_memory_protect(m, at, length, mode == KEEP_WRITABLE);
    return done ? jam_result(r, JAM_OK) : jam_no_memory(run);
}

/* The functions below run inner machines. */

/* Runs an inner machine at full speed, or instruction by instruction when the host wants to see
 * each of them. */
static void inner_go(const struct jam_run *run, const struct jam_inner *inner, penta_stop *stop)
{
    struct penta_jam_host *host = run->host;
    penta_vm *vm = &inner->vm->base;
    if (!host->inner_step) {
        vm->engine->run(vm, UINT64_MAX, stop);
        return;
    }
    do {
        host->inner_step(host->inner_user, (size_t)(inner - run->inner), inner->vm);
        vm->engine->run(vm, 1, stop);
    } while (stop->kind == PENTA_STOP_FUEL);
}

/* Runs the inner machine and passes interrupts of the outer machine on to it. */
static void inner_go_interruptibly(const struct jam_run *run, const struct jam_inner *inner,
                                   penta_stop *stop)
{
    *stop = (penta_stop){.kind = PENTA_STOP_INTERRUPT, .pc = inner->vm->state->pc};
    atomic_store(&run->vm->inner, inner->vm);
    if (!atomic_load(&run->vm->base.interrupt)) inner_go(run, inner, stop);
    atomic_store(&run->vm->inner, NULL);
}

/* Runs an inner machine to its first stop. *result is what invoke returns, *detail the host call
 * or the page of the fault. Returns false on an error, or on an interrupt (then inner->begun is
 * set). */
static bool run_inner(struct jam_run *run, struct jam_inner *inner, uint64_t *result,
                      uint64_t *detail)
{
    struct pvm_vm *vm = inner->vm;
    penta_stop stop;
    /* There is no code at this pc, so the machine traps, which costs 1. */
    if (inner->pc > UINT32_MAX) {
        *result = vm->state->gas ? PANIC : OOG;
        vm->state->gas -= vm->state->gas > 0;
        return true;
    }
    if (!inner->begun) pvm_vm_jump(vm, (uint32_t)inner->pc);
    inner->begun = false;
    inner_go_interruptibly(run, inner, &stop);
    *detail = stop.kind == PENTA_STOP_FAULT ? stop.args[0] : stop.detail;
    switch (stop.kind) {
    case PENTA_STOP_HALT: *result = HALT; break;
    case PENTA_STOP_TRAP: *result = PANIC; break;
    case PENTA_STOP_FAULT: *result = FAULT; break;
    case PENTA_STOP_GAS: *result = OOG; break;
    case PENTA_STOP_HOST:
        *result = HOST;
        pvm_vm_answer(&vm->base, NULL, 0, run->err);
        break;
    case PENTA_STOP_DISAGREE:
        return error_at(run->err, BASE_BUG, stop.pc, "the engines disagree in an inner machine");
    default: inner->begun = true; return false;
    }
    inner->pc = vm->state->pc;
    return true;
}

enum jam_end jam_call_invoke(struct jam_run *run, uint64_t *r, penta_bytes frame, penta_bytes b)
{
    (void)b;
    struct jam_inner *inner = inner_find(run, r[7]);
    uint8_t out[8 + 8 * PVM_REGISTERS];
    uint64_t result = PANIC, detail = 0;
    if (!inner) return jam_result(r, JAM_WHO);
    struct pvm_state *s = inner->vm->state;
    uint64_t gas = inner->begun ? inner->gas : bytes_get64(frame.data);
    uint64_t given = gas > INT64_MAX ? INT64_MAX : gas;
    if (!inner->begun) {
        for (unsigned i = 0; i < PVM_REGISTERS; i++)
            s->regs[i] = bytes_get64(frame.data + 8 + 8 * i);
        s->gas = inner->vm->gas_start = (int64_t)given;
        inner->gas = gas;
    }
    if (!run_inner(run, inner, &result, &detail))
        return inner->begun ? JAM_END_INTERRUPT : JAM_END_ERROR;
    bytes_put64(out, gas - (given - (uint64_t)s->gas));
    for (unsigned i = 0; i < PVM_REGISTERS; i++) bytes_put64(out + 8 + 8 * i, s->regs[i]);
    if (!pvm_memory_write(&run->vm->memory, r[8], out, sizeof out)) return jam_no_memory(run);
    if (result == HOST || result == FAULT) r[8] = detail;
    return jam_result(r, (int64_t)result);
}
