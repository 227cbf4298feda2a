/* What a debugger asks of a format: where lines, calls and variables are. Entries may be NULL: the
 * format has no such thing. */
#pragma once
#include "core/engine.h"
#include "penta/debug.h"
#include "penta/structure.h"

struct debug_info {
    void (*lines)(const penta_module *module, penta_line_report *report, void *user);
    /* Where control goes after the instruction at pc. False: none is there. */
    bool (*branch)(const penta_module *module, uint64_t pc, penta_branch *branch);
    size_t (*frames)(const penta_vm *vm, penta_frame *frames, size_t max);
    void (*variables)(const penta_vm *vm, size_t frame, penta_variable_report *report, void *user);
    /* A register, or a variable of the innermost frame that is not in memory. False: it is none,
     * cannot be set, or the value does not fit. */
    bool (*set)(penta_vm *vm, penta_bytes name, const penta_value *value);
    void (*regions)(const penta_vm *vm, penta_region_report *report, void *user);
    /* As penta_vm_accesses, without memory unless it says so: engines may heed guards instead. */
    void (*accesses)(const penta_vm *vm, uint64_t pc, penta_access_report *report, void *user);
    bool accesses_memory;
};

/* That of a module's format, or one without any entry: the module is NULL or damaged, or the format has
 * none. */
const struct debug_info *debug_info_of(const penta_module *module);

/* What every machine has: functions whose names begin with that of the format. */
#define DEBUG_INFO_CALLS(format)                                                                   \
    .branch = format##_debug_branch, .variables = format##_debug_variables,                        \
    .accesses = format##_debug_accesses, .regions = format##_debug_regions

/* The value as an integer, of a float what is before its point. */
static inline uint64_t value_integer(const penta_value *v)
{
    if (v->kind != PENTA_FLOAT) return v->as.u;
    if (v->as.f >= 9223372036854775808.0) return UINT64_MAX >> 1;
    return v->as.f >= -9223372036854775808.0 ? (uint64_t)(int64_t)v->as.f : UINT64_C(1) << 63;
}
static inline double value_real(const penta_value *v)
{
    if (v->kind == PENTA_FLOAT) return v->as.f;
    return v->kind == PENTA_SINT ? (double)v->as.i : (double)v->as.u;
}

static inline void access_name(penta_access_report *report, void *user, const char *name,
                               bool write)
{
    report(user, &(penta_access){.name = name, .write = write});
}

static inline void region_report(penta_region_report *report, void *user, uint64_t address,
                                 uint64_t size, bool writable)
{
    if (size) report(user, &(penta_region){address, size, writable});
}

static inline void variable_report(penta_variable_report *report, void *user,
                                   penta_variable_scope scope, penta_field value)
{
    report(user, &(penta_variable){.scope = scope, .value = value});
}
