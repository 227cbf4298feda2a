/* The interpreter: decoded instructions, a stack in memory, one loop in two forms (loop.h). */
#include <string.h>
#include "core/dispatch.h"
#include "cvbc/vm/vm.h"

/* CVBC 11.2, ARM's SDIV: INT_MIN / -1 is INT_MIN, and its remainder 0. */
static inline int32_t cvbc_div(int32_t a, int32_t b)
{
    return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}
static inline int32_t cvbc_mod(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }

static inline int32_t *cvbc_element(struct cvbc_vm *vm, uint32_t id, int32_t index)
{
    if (id >= CVBC_ARRAYS || (uint32_t)index >= vm->arrays[id].size) return NULL;
    return &vm->pool[vm->arrays[id].from + (uint32_t)index];
}

static bool cvbc_create(struct cvbc_vm *vm, uint32_t id, int32_t size)
{
    if (id >= CVBC_ARRAYS || size < 1 || size > 64 || vm->arrays[id].size) return false;
    if ((uint32_t)size > CVBC_POOL - vm->pool_used) return false;
    vm->arrays[id].from = (uint16_t)vm->pool_used;
    vm->arrays[id].size = (uint16_t)size;
    memset(&vm->pool[vm->pool_used], 0, (uint32_t)size * sizeof *vm->pool);
    vm->pool_used += (uint32_t)size;
    return true;
}

/* Spent fuel dispatches like an instruction, so step is run(1) and needs no second loop. */
#define FETCH() ((uint8_t)(left ? (left--, in->op) : CVBC_DO_FUEL))
enum { SLICE = 1 << 16 }; /* steps between two looks at the interrupt flag */

#define LOOP run_checked
#define CHECKED 1
#include "cvbc/vm/loop.h"
#undef LOOP
#undef CHECKED
#define LOOP run_proved
#define CHECKED 0
#include "cvbc/vm/loop.h"

static bool guards_hold(const struct cvbc_vm *vm)
{
    return vm->stack[0] == CVBC_GUARD_LOW &&
           vm->stack[vm->capacity + CVBC_GUARD] == CVBC_GUARD_HIGH;
}

static void say(struct cvbc_vm *vm, penta_stop *stop)
{
    stop->pc = vm->pc;
    if (vm->waiting) {
        stop->kind = PENTA_STOP_HOST;
        stop->detail = vm->program->code[4 * vm->pc];
        stop->args[0] = vm->program->code[4 * vm->pc] == CVBC_OP_PRINTF
                            ? (vm->clean ? vm->clean : vm->code)[vm->pc].imm
                            : (uint32_t)vm->args[0];
        bool text = stop->detail == CVBC_OP_PRINTF;
        if (text) stop->args[1] = vm->arg_count;
        for (uint32_t i = text ? 0 : 1; i < vm->arg_count && i + (text ? 2 : 0) < 6; i++)
            stop->args[i + (text ? 2 : 0)] = (uint32_t)vm->args[i];
    } else if (vm->final) {
        stop->kind = vm->ended ? PENTA_STOP_HALT : PENTA_STOP_TRAP;
        stop->detail = vm->error;
        if (vm->ended && vm->sp) stop->args[0] = (uint32_t)vm->stack[CVBC_GUARD + vm->sp - 1];
    }
}

void cvbc_vm_run(penta_vm *base, uint64_t fuel, penta_stop *stop)
{
    struct cvbc_vm *vm = cvbc_vm(base);
    *stop = (penta_stop){.kind = PENTA_STOP_FUEL};
    if (!vm->final && !vm->waiting) {
        uint64_t budget = vm->budget - vm->executed;
        uint64_t allowed = fuel < budget ? fuel : budget;
        if (vm->proved)
            run_proved(vm, allowed, stop);
        else
            run_checked(vm, allowed, stop);
        vm->executed += stop->steps - vm->waiting; /* a host call counts there when it succeeds */
        if (!guards_hold(vm)) {
            vm->error = CVBC_TRAP_STACK_CORRUPTION;
            vm->final = true;
            vm->ended = vm->waiting = false;
        } else if (stop->kind == PENTA_STOP_FUEL && vm->executed >= vm->budget && !vm->final &&
                   !vm->waiting) {
            vm->error = CVBC_TRAP_BUDGET;
            vm->final = true;
        }
    }
    say(vm, stop);
}
