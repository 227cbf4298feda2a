/* Beside the compiler: reports of the engine "both", files for perf, and switches for tests. */
#pragma once
#include "pvm/vm/vm.h"

/* ---- lockstep.c ---- */

struct pvm_difference {
    const char *what;  /* "a0: jit 0x2, interp 0x1" */
    uint32_t from, to; /* code offsets of the block after which it was seen */
    uint32_t entered;  /* where both entered it */
    const struct pvm_native *native;
};

/* False: the machine is of another engine, or the engines agree so far. */
bool pvm_both_difference(const penta_vm *vm, struct pvm_difference *out);

/* ---- perf_map.c ---- */

struct pvm_function {        /* of the guest, or a part of compiled code that is no function */
    uint32_t from, to;       /* native offsets */
    uint32_t pc, end;        /* code offsets; equal: no guest code */
    penta_bytes space, name; /* space may be empty */
    size_t range;            /* of the debug sections; SIZE_MAX: none */
};

/* Calls fn for all compiled code, piece by piece, in order. */
typedef void pvm_function_fn(void *user, const struct pvm_function *f);
bool pvm_functions_each(const struct pvm_native *n, const struct pvm_program *p,
                        pvm_function_fn *fn, void *user);

/* Opens a file for appending, and empties it if first. -1: it cannot be made, or something else has
 * this name. */
int pvm_perf_file(const char *path, bool first);

/* ---- jitdump.c ---- */

/* Appends the code and its lines to FOLDER/jit-PID.dump; false: the file cannot be written. */
bool pvm_perf_dump(const struct pvm_native *n, const struct pvm_program *p, const char *folder);

/* ---- run.c: switches for tests ---- */

/* Sets gs through the kernel, as on processors and kernels without FSGSBASE. */
extern bool pvm_gs_by_kernel;
