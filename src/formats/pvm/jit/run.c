/* Runs compiled code, and does what compiled code leaves to the interpreter. */
#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/platform/processor.h"
#include "core/engine.h"
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"
#include "pvm/vm/snapshot.h"

enum {
    /* SLICE is the gas between two tests of the interrupt flag; it takes less than a
     * millisecond. */
    SLICE = 1 << 18,
    HWCAP2_FSGS = 2,
};

/* The functions below set the segment register gs. */

bool pvm_gs_by_kernel;

/* Tells whether gs can be set. Without FSGSBASE only the kernel can set it, if the kernel allows
 * that. */
static bool gs_settable(void)
{
    unsigned long now;
    if (getauxval(AT_HWCAP2) & HWCAP2_FSGS) return true;
    pvm_gs_by_kernel = true;
    return !syscall(SYS_arch_prctl, ARCH_GET_GS, &now) &&
           !syscall(SYS_arch_prctl, ARCH_SET_GS, now);
}

/* Sets gs. It keeps the value of the last machine of this thread: nothing else uses gs, and
 * setting it takes as long as the rest of entering. Through the kernel, setting takes ten times
 * as long, but so does reading, so there gs is always set. */
static void gs_set_base(const uint8_t *base)
{
    uint64_t now;
    if (__builtin_expect(pvm_gs_by_kernel, 0)) {
        syscall(SYS_arch_prctl, ARCH_SET_GS, base);
        return;
    }
    __asm__ volatile("rdgsbase %0" : "=r"(now));
    if (now != (uint64_t)(uintptr_t)base)
        __asm__ volatile("wrgsbase %0" : : "r"((uint64_t)(uintptr_t)base) : "memory");
}

/* Tells whether gs can be set, and the processor has the instructions that the compiler writes. */
bool pvm_jit_usable(void)
{
    return processor_has(PROCESSOR_POPCNT | PROCESSOR_LZCNT | PROCESSOR_BMI | PROCESSOR_BMI2) &&
           gs_settable();
}

/* The functions below enter compiled code, and handle the reasons why it returns. */

typedef void enter_fn(const void *at);

static enum pvm_native_exit pvm_run_enter(struct pvm_vm *vm, uint32_t offset)
{
    const struct pvm_native *n = vm->cells->native;
    union {
        const void *data;
        enter_fn *code;
    } way = {n->code + n->enter};
    gs_set_base(vm->memory.base);
    way.code(n->code + offset);
    return (enum pvm_native_exit)vm->state->exit;
}

/* Returns what the charge of the block around pc costs. *start is the pc where that block
 * starts. */
static uint32_t block_cost(const struct pvm_native *n, uint32_t pc, uint32_t *start)
{
    uint32_t cost;
    while (!pvm_bit(n->block_starts, pc)) pc--;
    memcpy(&cost, n->code + pvm_native_offset(n, pc) - n->charge_size + 3, 4);
    *start = pc;
    return cost;
}

/* Returns how many instructions the block has from pc to its end. This holds only in gas models
 * in which a block costs as much as it has instructions. */
static uint32_t block_rest(const struct pvm_native *n, uint32_t pc)
{
    uint32_t start, cost = block_cost(n, pc, &start);
    return cost - (pvm_native_number(n, pc) - pvm_native_number(n, start));
}

/* Returns the native offset at which the machine can go on at its pc, or 0 when the interpreter
 * must do the instruction. */
static uint32_t pvm_run_entry(struct pvm_vm *vm)
{
    const struct pvm_native *n = vm->cells->native;
    uint32_t pc = vm->state->pc, at = pvm_native_offset(n, pc);
    if (!at || vm->paid || !n->metered) return at;
    if (vm->by_step) {
        uint32_t rest = block_rest(n, pc);
        /* The last instructions that gas pays for run one by one. */
        if (vm->state->gas < rest) return 0;
        if (!pvm_bit(n->block_starts, pc)) {
            vm->state->gas -= rest;
            vm->paid = true;
            return at;
        }
    }
    return pvm_bit(n->block_starts, pc) ? at - n->charge_size : 0;
}

static bool stop_out_of_gas(penta_stop *stop)
{
    stop->kind = PENTA_STOP_GAS;
    return false;
}

/* Runs one instruction by the step engine. Returns false when the machine stopped. */
static bool pvm_run_step(struct pvm_vm *vm, penta_stop *stop)
{
    const struct pvm_native *n = vm->cells->native;
    uint32_t pc = vm->state->pc;
    if (!pvm_native_offset(n, pc) && !pvm_starts(&vm->cells->code, pc)) {
        if (vm->by_step && !vm->state->gas) return stop_out_of_gas(stop);
        /* A place without an instruction costs as much as a trap. */
        if (vm->by_step) vm->state->gas--;
        vm->trap = PVM_TRAP_START;
        vm->wait = PVM_TRAPPED;
        return false;
    }
    if (vm->by_step) {
        if (vm->paid) pvm_vm_refund(vm, block_rest(n, pc), 0);
    } else if (!vm->paid && vm->metered) {
        uint32_t start, cost = block_cost(n, pc, &start);
        if (vm->state->gas < cost) return stop_out_of_gas(stop);
        vm->state->gas -= cost;
    }
    vm->paid = !vm->by_step;
    uint64_t steps = 0;
    pvm_vm_convert(vm, true);
    bool over = pvm_vm_step(vm, &steps, stop);
    pvm_vm_convert(vm, false);
    return !over;
}

static const struct pvm_cold *cold_at(const struct pvm_native *n, uint32_t at)
{
    return at >= n->cold_start ? &n->cold[(at - n->cold_start) / PVM_COLD_BYTES] : NULL;
}

/* Returns the cost of the block whose charge jumps to this cold place. The cost is stored just
 * before the jump. */
static uint32_t cold_block_cost(const struct pvm_native *n, const struct pvm_cold *cold)
{
    uint32_t cost;
    memcpy(&cost, n->code + cold->site - 6, 4);
    return cost;
}

/* Does what the reason requires for which compiled code returned, at native offset `at`. */
static bool pvm_run_left(struct pvm_vm *vm, enum pvm_native_exit why, uint32_t at, penta_stop *stop)
{
    const struct pvm_native *n = vm->cells->native;
    switch (why) {
    case PVM_NATIVE_HOST:
        if (vm->by_step) pvm_vm_refund(vm, block_rest(n, vm->state->pc), 1);
        vm->host_number = vm->state->host_number;
        vm->host_calls++;
        vm->wait = PVM_WAIT_ANSWER;
        return false;
    case PVM_NATIVE_HALT:
        vm->state->pc = pvm_native_pc(n, at);
        if (vm->by_step) vm->paid = false; /* The instruction was the last of its block. */
        vm->wait = PVM_HALTED;
        return false;
    case PVM_NATIVE_POLL: vm->state->pc = pvm_native_pc(n, at); return true;
    case PVM_NATIVE_KICK: pvm_native_between(n, at, &vm->state->pc, &vm->paid); return true;
    default: vm->state->pc = pvm_native_pc(n, at); return pvm_run_step(vm, stop);
    }
}

static bool run_slice(struct pvm_vm *vm, uint32_t offset, int64_t budget, penta_stop *stop)
{
    struct pvm_state *s = vm->state;
    const struct pvm_native *n = vm->cells->native;
    int64_t slice = vm->metered && s->gas < budget ? s->gas : budget;
    s->left = slice;
    enum pvm_native_exit why = pvm_run_enter(vm, offset);
    if (why == PVM_NATIVE_EARLY) return true;
    vm->executed = UINT64_MAX;
    vm->paid = true;
    uint32_t at = (uint32_t)(s->native_at - (uint64_t)(uintptr_t)n->code);
    /* `at` is a return address, so the instruction ends before it. */
    if (why != PVM_NATIVE_FAULT && why != PVM_NATIVE_KICK) at--;
    const struct pvm_cold *cold = why == PVM_NATIVE_STEP ? cold_at(n, at) : NULL;
    bool empty = cold && cold->kind == PVM_COLD_GAS;
    uint32_t cost = empty ? cold_block_cost(n, cold) : 0;
    if (vm->metered) s->gas -= slice - (s->left + cost);
    if (empty) { /* The machine is before a block that is not charged. */
        s->pc = cold->pc;
        vm->paid = false;
        return !vm->metered || vm->by_step || s->gas >= cost || stop_out_of_gas(stop);
    }
    if (n->async && s->gas < 0) {
        s->gas = 0;
        if (why != PVM_NATIVE_HOST) s->pc = pvm_native_pc(n, at);
        return stop_out_of_gas(stop);
    }
    return pvm_run_left(vm, why, at, stop);
}

void pvm_jit_refund(struct pvm_vm *vm)
{
    if (vm->by_step && vm->paid) pvm_vm_refund(vm, block_rest(vm->cells->native, vm->state->pc), 0);
}

bool pvm_jit_advance(struct pvm_vm *vm, int64_t budget, penta_stop *stop)
{
    uint32_t offset = pvm_run_entry(vm);
    return offset ? run_slice(vm, offset, budget, stop) : pvm_run_step(vm, stop);
}

static bool take_interrupt(struct pvm_vm *vm, penta_stop *stop)
{
    if (!atomic_load_explicit(&vm->base.interrupt, memory_order_relaxed)) return false;
    atomic_store_explicit(&vm->base.interrupt, false, memory_order_relaxed);
    stop->kind = PENTA_STOP_INTERRUPT;
    return true;
}

static void run_until_stop(struct pvm_vm *vm, penta_stop *stop)
{
    for (;;) {
        if (take_interrupt(vm, stop)) return;
        if (!pvm_jit_advance(vm, SLICE, stop)) return;
    }
}

static void jit_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct pvm_vm *vm = pvm_vm(base);
    if (fuel != UINT64_MAX || vm->marked || !pvm_signal_thread()) {
        pvm_vm_run(base, fuel, stop);
        return;
    }
    *stop = (penta_stop){.pc = vm->state->pc};
    if (pvm_vm_tells(vm, stop)) return;
    pvm_vm_continue(vm);
    bool ran = vm->wait == PVM_READY;
    pvm_run_begin(vm);
    while (vm->wait == PVM_READY) {
        run_until_stop(vm, stop);
        pvm_jit_refund(vm);
        if (!pvm_vm_continue(vm)) break;
    }
    pvm_run_end(vm);
    stop->steps = ran ? UINT64_MAX : 0;
    pvm_vm_report(vm, stop);
    pvm_vm_announce(vm, stop);
}

/* Writes the files for perf. When that fails it is no error, because the profile only lacks
 * names. */
static void tell_perf(const struct pvm_vm *vm, const struct pvm_config *config)
{
    const struct pvm_native *n = vm->cells->native;
    if (!n || !vm->base.module) return;
    const struct pvm_program *p = &pvm_module(vm->base.module)->program;
    if (config->perf_map) pvm_perf_map(n, p);
    if (config->perf_dump) pvm_perf_dump(n, p, config->perf_dump);
}

/* Compiles the program, unless another machine has done so, and takes the machine over. Where
 * compiled code cannot run, the machine stays with the interpreter, which gives the same
 * results. */
void pvm_jit_adopt(struct pvm_vm *vm, const struct pvm_config *config)
{
    if (vm->memory.pages || !pvm_jit_usable() || !pvm_signal_install()) return;
    if (!vm->cells->native) {
        vm->cells->native = pvm_native_compile(vm->cells, config);
        vm->cells->native_free = pvm_native_free;
        tell_perf(vm, config);
    }
    if (!vm->cells->native) return;
    vm->memory.guarded = true;
    vm->fences = pvm_interrupt_fences();
    vm->base.engine = &pvm_jit;
}

static penta_vm *jit_open_until(const penta_module *module, const penta_option *options,
                                size_t count, const volatile int *stop, penta_error *err)
{
    struct flag_work work;
    return pvm_vm_open_with(module, options, count, pvm_jit_adopt, flag_work_begin(&work, stop),
                            err);
}

static penta_vm *jit_open(const penta_module *module, const penta_option *options, size_t count,
                          penta_error *err)
{
    return pvm_vm_open_with(module, options, count, pvm_jit_adopt, NULL, err);
}

const struct engine pvm_jit = {
    .name = "jit",
    .open = jit_open,
    .open_until = jit_open_until,
    .run = jit_run,
    PVM_ENGINE_CALLS(pvm_vm),
    .interrupt = pvm_kick,
    .sample = pvm_jit_sample,
};
