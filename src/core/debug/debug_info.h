/* Declares what a debugger asks a format: where lines, calls and variables are. An entry is NULL
 * when the format has nothing of its kind. */
#pragma once
#include "core/engine.h"
#include "penta/debug.h"
#include "penta/structure.h"

struct debug_info {
    void (*lines)(const penta_module *module, penta_line_report *report, void *user);
    /* Tells where control goes after the instruction at pc. Returns false when no instruction is
     * there. */
    bool (*branch)(const penta_module *module, uint64_t pc, penta_branch *branch);
    size_t (*frames)(const penta_vm *vm, penta_frame *frames, size_t max);
    void (*variables)(const penta_vm *vm, size_t frame, penta_variable_report *report, void *user);
    /* Sets a register, or a variable of the innermost frame that is not in memory. Returns false
     * when the name is none of these, cannot be set, or the value does not fit. */
    bool (*set)(penta_vm *vm, penta_bytes name, const penta_value *value);
    void (*regions)(const penta_vm *vm, penta_region_report *report, void *user);
    /* Does what penta_vm_accesses promises. A format whose engines watch guards may leave out
     * accesses to memory (core/guard.h). */
    void (*accesses)(const penta_vm *vm, uint64_t pc, penta_access_report *report, void *user);
    bool accesses_memory;
};

/* Returns the debug table of the module's format. The table has no entries when the module is
 * NULL or damaged, or when the format has no table. */
const struct debug_info *debug_info_of(const penta_module *module);

/* DEBUG_INFO_CALLS has the entries that every machine has: functions whose names begin with that
 * of the format. */
#define DEBUG_INFO_CALLS(format)                                                                   \
    .branch = format##_debug_branch, .variables = format##_debug_variables,                        \
    .accesses = format##_debug_accesses, .regions = format##_debug_regions

/* Returns the value as an integer. A float is cut at its point. */
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
