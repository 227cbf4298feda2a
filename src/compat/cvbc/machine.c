/* Implements the functions cockpit_vm_*: the machine with its simulated board, and the callbacks
 * that observe it. */
#include "compat/cvbc/handles.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRAP(number, id, ...) _Static_assert((int)COCKPIT_VM_##id == number, #id);
#include "cvbc/traps.def"

enum { DEFAULT_BUDGET = 10000000 };

struct cockpit_vm {
    const cvbc_file *file;
    penta_vm *vm;
    penta_cvbc_simulator *board;
    cockpit_vm_hal hal;
    cockpit_vm_observer observer;
    penta_cvbc_program program;
    uint64_t budget;         /* the budget of a run for which the caller gives none */
    uint32_t pc;             /* pc of the current instruction, until its host call is answered */
    bool in_host_call, told; /* told: the program has ended and the observer was told so */
    int error;
    atomic_bool stopped;
};

cockpit_vm *cockpit_vm_new(void)
{
    cockpit_vm *vm = calloc(1, sizeof *vm);
    if (vm) vm->error = COCKPIT_VM_NOT_LOADED;
    return vm;
}

static void machine_unload(cockpit_vm *vm)
{
    penta_vm_free(vm->vm);
    penta_cvbc_simulator_free(vm->board);
    vm->vm = NULL;
    vm->board = NULL;
    vm->error = COCKPIT_VM_NOT_LOADED;
}

void cockpit_vm_free(cockpit_vm *vm)
{
    if (vm) machine_unload(vm);
    free(vm);
}

void cockpit_vm_set_hal(cockpit_vm *vm, const cockpit_vm_hal *hal)
{
    vm->hal = hal ? *hal : (cockpit_vm_hal){0};
}

void cockpit_vm_set_observer(cockpit_vm *vm, const cockpit_vm_observer *observer)
{
    vm->observer = observer ? *observer : (cockpit_vm_observer){0};
}

static cvbc_status machine_begin(cockpit_vm *vm)
{
    penta_error err = {0};
    penta_cvbc_hal hal = {vm->hal.user,         vm->hal.pin_mode,     vm->hal.digital_write,
                          vm->hal.digital_read, vm->hal.analog_write, vm->hal.analog_read,
                          vm->hal.delay,        vm->hal.millis,       vm->hal.micros,
                          vm->hal.print};
    /* The machine has no limit, because each run has its own. */
    penta_option all = {"budget", "18446744073709551615"};
    cvbc_core_metadata_t core;
    machine_unload(vm);
    cvbc_get_metadata(vm->file, &core);
    if (!penta_cvbc_program_get(vm->file->module, &vm->program, &err)) return status_of(&err);
    vm->vm = penta_vm_new(vm->file->module, NULL, &all, 1, NULL, &err);
    if (vm->vm) vm->board = penta_cvbc_simulator_new(false, &hal, &err);
    if (!vm->board) {
        machine_unload(vm);
        return status_of(&err);
    }
    vm->budget = core.max_execution_cycles ? core.max_execution_cycles : DEFAULT_BUDGET;
    vm->in_host_call = vm->told = false;
    vm->error = COCKPIT_VM_OK;
    return CVBC_OK;
}

cvbc_status cockpit_vm_load(cockpit_vm *vm, const cvbc_file *file)
{
    if (!file) return CVBC_ERR_ARG;
    vm->file = file;
    return machine_begin(vm);
}

cvbc_status cockpit_vm_reset(cockpit_vm *vm)
{
    if (!vm->file) return CVBC_ERR_ARG;
    cvbc_status status = machine_begin(vm);
    if (!status && vm->observer.on_reset) vm->observer.on_reset(vm->observer.user);
    return status;
}

static void instruction_at(const cockpit_vm *vm, uint32_t pc, uint8_t *opcode, uint32_t *operand)
{
    vm_instruction_t in = {0};
    if (pc < vm->program.count) memcpy(&in, vm->program.code.data + pc * sizeof in, sizeof in);
    *opcode = in.opcode;
    *operand = in.immediate | (uint32_t)in.flags << 16;
}

static void tell_run_end(cockpit_vm *vm, uint32_t pc)
{
    uint8_t opcode;
    uint32_t operand;
    if (vm->told) return;
    vm->told = true;
    instruction_at(vm, pc, &opcode, &operand);
    if (vm->error && vm->observer.on_error)
        vm->observer.on_error(vm->observer.user, pc, opcode, operand, vm->error);
    else if (!vm->error && vm->observer.on_complete)
        vm->observer.on_complete(vm->observer.user, cockpit_vm_executed(vm),
                                 (uint32_t)(penta_cvbc_simulator_micros(vm->board) / 1000));
}

/* Prints the output of the program. On a terminal it leaves out characters that would control
 * the terminal. */
static void machine_print(penta_bytes text)
{
    if (!isatty(STDOUT_FILENO)) {
        fwrite(text.data, 1, text.size, stdout);
        return;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if ((c >= ' ' && c < 0x7f) || c == '\n' || c == '\t')
            putchar(c);
        else
            printf("\\x%02x", c);
    }
}

static void machine_answer(cockpit_vm *vm)
{
    penta_buffer printed = {0};
    penta_error err;
    penta_cvbc_simulator_answer(vm->board, vm->vm, &printed, &err);
    if (printed.size) machine_print((penta_bytes){printed.data, printed.size});
    penta_buffer_free(&printed);
}

/* Runs to the next stop, or for one instruction if there is an observer. Returns true if the
 * program continues. */
static bool machine_advance(cockpit_vm *vm, uint64_t *fuel)
{
    penta_stop stop;
    bool watched = vm->observer.on_instruction;
    if (!vm->in_host_call) vm->pc = cockpit_vm_pc(vm);
    penta_vm_run(vm->vm, watched ? 1 : *fuel, &stop);
    *fuel -= stop.steps;
    vm->in_host_call = stop.kind == PENTA_STOP_HOST;
    if (watched && stop.steps) {
        uint8_t opcode;
        uint32_t operand;
        instruction_at(vm, vm->pc, &opcode, &operand);
        vm->observer.on_instruction(vm->observer.user, vm->pc, opcode, operand);
    }
    if (vm->in_host_call) {
        vm->pc = (uint32_t)stop.pc;
        machine_answer(vm);
        return true;
    }
    if (stop.kind == PENTA_STOP_FUEL || stop.kind == PENTA_STOP_INTERRUPT) return true;
    vm->error = stop.kind == PENTA_STOP_HALT ? COCKPIT_VM_OK : (int)stop.detail;
    tell_run_end(vm, (uint32_t)stop.pc);
    return false;
}

int cockpit_vm_run(cockpit_vm *vm, uint64_t budget)
{
    if (!vm->vm || vm->told) return vm->error;
    uint64_t used = cockpit_vm_executed(vm);
    uint64_t fuel = budget ? budget : vm->budget > used ? vm->budget - used : 0;
    while (fuel && !vm->told) {
        if (atomic_exchange(&vm->stopped, false)) return vm->error = COCKPIT_VM_STOPPED;
        if (!machine_advance(vm, &fuel)) return vm->error;
    }
    return vm->error = COCKPIT_VM_BUDGET;
}

bool cockpit_vm_step(cockpit_vm *vm)
{
    uint64_t fuel = 1;
    if (!vm->vm || vm->told) return false;
    vm->error = COCKPIT_VM_OK;
    while (fuel)
        if (!machine_advance(vm, &fuel)) return false;
    return true;
}

void cockpit_vm_stop(cockpit_vm *vm)
{
    atomic_store(&vm->stopped, true);
    if (vm->vm) penta_vm_interrupt(vm->vm);
}

int cockpit_vm_error(const cockpit_vm *vm) { return vm->error; }

const char *cockpit_vm_error_name(int error) { return penta_cvbc_vm_error_name((uint32_t)error); }

static penta_cvbc_state state_of(const cockpit_vm *vm)
{
    penta_cvbc_state state = {0};
    if (vm->vm) penta_cvbc_vm_state(vm->vm, &state);
    return state;
}

uint32_t cockpit_vm_pc(const cockpit_vm *vm) { return state_of(vm).pc; }
uint64_t cockpit_vm_executed(const cockpit_vm *vm) { return state_of(vm).executed; }

size_t cockpit_vm_stack(const cockpit_vm *vm, int32_t *words, size_t max)
{
    size_t depth = state_of(vm).sp;
    for (size_t i = 0; i < depth && i < max; i++) penta_cvbc_vm_stack(vm->vm, i, &words[i]);
    return depth;
}

bool cockpit_vm_global(const cockpit_vm *vm, size_t slot, int32_t *value)
{
    return vm->vm && penta_cvbc_vm_global(vm->vm, slot, value);
}
