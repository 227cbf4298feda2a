/* This is the runtime library of native code (runtime.h). It gives the interpreter's functions
 * the memory of the process, and implements ports with the C library. A trap ends the process. */
#include "coil/runtime/runtime.h"
#include "coil/vm/bulk.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Thread_local struct coil_vm penta_coil_rt_machine_1 __attribute__((visibility("default")));

enum { STACK_BYTES = 1 << 20, STANDARD_ERROR = 2, EXIT_TRAP = 20 };

static _Noreturn void runtime_trap(uint32_t number)
{
    fflush(NULL);
    dprintf(STANDARD_ERROR, "trap %s\n", coil_trap_name(number));
    _exit(EXIT_TRAP);
}

uint8_t *coil_memory(struct coil_vm *vm, uint64_t address, uint64_t size, bool write,
                     uint32_t *refused)
{
    static uint8_t nothing[1];
    (void)vm, (void)write, (void)refused;
    return size ? (uint8_t *)(uintptr_t)address : nothing;
}

uint64_t coil_heap_alloc(struct coil_vm *vm, uint64_t *size)
{
    (void)vm;
    return *size ? (uint64_t)(uintptr_t)malloc((size_t)*size) : 0;
}

uint32_t coil_heap_trim(struct coil_vm *vm)
{
    (void)vm;
    return 0;
}

bool coil_heap_free(struct coil_vm *vm, uint64_t address)
{
    (void)vm;
    free((void *)(uintptr_t)address);
    return true;
}

/* Prepares the machine of a thread for its first instruction: it gets a data stack, and a module
 * that has the byte order. */
static void runtime_begin(struct coil_vm *vm, uint64_t *slots)
{
    static const struct coil_module little;
    static _Thread_local struct coil_region stack;
    vm->slots = slots;
    if (vm->m) return;
    vm->m = &little;
    stack = (struct coil_region){.size = STACK_BYTES, .bytes = calloc(1, STACK_BYTES)};
    if (!stack.bytes) runtime_trap(COIL_TRAP_OUT_OF_MEMORY);
    stack.base = (uint64_t)(uintptr_t)stack.bytes;
    vm->stack = &stack;
    vm->sp = stack.base + stack.size;
    coil_flags_put(vm, 0);
}

__attribute__((visibility("default"))) void
penta_coil_rt_step(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots)
{
    runtime_begin(vm, slots);
    uint32_t number = coil_step_run(vm, step);
    if (number) runtime_trap(number);
}

__attribute__((visibility("default"))) uint64_t penta_coil_rt_value(struct coil_vm *vm,
                                                                    const struct coil_step *step,
                                                                    uint64_t *slots,
                                                                    unsigned operand)
{
    const struct coil_place *p = &step->places[operand];
    uint64_t value = 0;
    runtime_begin(vm, slots);
    uint32_t number =
        coil_place_read(vm, p, p->at == COIL_AT_REGISTER ? COIL_T_UNT64 : p->op, &value);
    if (number) runtime_trap(number);
    return value;
}

__attribute__((visibility("default"))) uint64_t penta_coil_rt_condition(struct coil_vm *vm,
                                                                        unsigned condition)
{
    runtime_begin(vm, NULL);
    coil_flags_settle(vm);
    return coil_condition((uint8_t)condition, vm->flags);
}

/* The functions below implement the ports (COIL 7.11). */

static void runtime_print(uint8_t type, uint64_t value)
{
    struct writer text = {0};
    if (coil_types[type].family == COIL_F_REAL)
        coil_print_real(&text, coil_real(type, value), type == COIL_T_FP32);
    else if (coil_types[type].family == COIL_F_SIGNED)
        writer_print(&text, "%lld", (long long)value);
    else
        writer_dec(&text, value);
    writer_char(&text, '\n');
    if (text.failed) runtime_trap(COIL_TRAP_OUT_OF_MEMORY);
    fwrite(text.out.data, 1, text.out.size, stdout);
    writer_free(&text);
}

__attribute__((visibility("default"))) void
penta_coil_rt_port(struct coil_vm *vm, const struct coil_step *step, uint64_t *slots)
{
    bool in = step->opcode == COIL_OP_INPORT;
    uint64_t port, value;
    uint8_t type = coil_type_at(step, in ? 0 : 1);
    runtime_begin(vm, slots);
    if (step->opcode == COIL_OP_VENDOR) runtime_trap(COIL_TRAP_UNSUPPORTED);
    uint32_t number = coil_read_own(vm, step, in ? 1 : 0, &port);
    if (!number && in && port != 1) number = COIL_TRAP_BAD_PORT;
    if (!number && in)
        number = coil_place_write(vm, &step->places[0], (uint64_t)(int64_t)getchar(), COIL_T_INT64);
    if (!number && !in && port != 1 && port != 2) number = COIL_TRAP_BAD_PORT;
    if (!number && !in) number = coil_read_own(vm, step, 1, &value);
    if (number) runtime_trap(number);
    if (in) return;
    if (port == 2)
        runtime_print(type, value);
    else
        putchar((int)(coil_convert_bits(value, type, COIL_T_INT64, false) & 0xff));
}
