/* Declares reports of the engine "both", files for perf, and switches for tests. The compiler
 * itself does not need them. */
#pragma once
#include "pvm/vm/vm.h"

/* The declarations below are in lockstep.c. */

struct pvm_difference {
    const char *what; /* what differs, such as "a0: jit 0x2, interp 0x1" */
    /* `from` and `to` say where the block after which the difference was seen starts and ends in
     * the code. */
    uint32_t from, to;
    uint32_t entered; /* the pc at which both engines entered the block */
    const struct pvm_native *native;
};

/* Gives the first difference. Returns false when the machine is of another engine, or the
 * engines agree so far. */
bool pvm_both_difference(const penta_vm *vm, struct pvm_difference *out);

/* The declarations below are in perf_map.c. */

/* A struct pvm_function is a function of the guest, or a part of compiled code that is no
 * function. */
struct pvm_function {
    uint32_t from, to; /* the native offsets at which the function starts and ends */
    /* `pc` and `end` are the pcs at which the function starts and ends; when they are equal,
     * there is no guest code. */
    uint32_t pc, end;
    penta_bytes space, name; /* `space` is the namespace of the function and may be empty. */
    /* This is the index of the function's range in the debug sections, or SIZE_MAX when it has
     * none. */
    size_t range;
};

/* Calls fn for all compiled code, function by function, in the order of addresses. */
typedef void pvm_function_fn(void *user, const struct pvm_function *f);
bool pvm_functions_each(const struct pvm_native *n, const struct pvm_program *p,
                        pvm_function_fn *fn, void *user);

/* Opens a file for appending, and empties it when `first` is true. Returns -1 when the file
 * cannot be made, or when something else has this name. */
int pvm_perf_file(const char *path, bool first);

/* The function below is in jitdump.c. */

/* Appends the code and its source lines to FOLDER/jit-PID.dump. Returns false when the file
 * cannot be written. */
bool pvm_perf_dump(const struct pvm_native *n, const struct pvm_program *p, const char *folder);

/* The declarations below are switches for tests, in run.c. */

/* Makes the machine set gs through the kernel, as on processors and kernels without FSGSBASE. */
extern bool pvm_gs_by_kernel;
