/* Reports of the engine "both", files for perf, and switches for tests. The compiler itself does
 * not need them. */
#pragma once
#include "pvm/vm/vm.h"

/* ---- lockstep.c ---- */

struct pvm_difference {
    const char *what;  /* such as "a0: jit 0x2, interp 0x1" */
    uint32_t from, to; /* offsets in the code of the block after which the difference was seen */
    uint32_t entered;  /* where both engines entered the block */
    const struct pvm_native *native;
};

/* Gives the first difference. Returns false when the machine is of another engine, or the
 * engines agree so far. */
bool pvm_both_difference(const penta_vm *vm, struct pvm_difference *out);

/* ---- perf_map.c ---- */

/* A function of the guest, or a part of compiled code that is no function. */
struct pvm_function {
    uint32_t from, to;       /* native offsets */
    uint32_t pc, end;        /* offsets in the code; if they are equal there is no guest code */
    penta_bytes space, name; /* space may be empty */
    /* The index of a range in the debug sections; SIZE_MAX: there is none. */
    size_t range;
};

/* Calls fn for all compiled code, piece by piece, in the order of addresses. */
typedef void pvm_function_fn(void *user, const struct pvm_function *f);
bool pvm_functions_each(const struct pvm_native *n, const struct pvm_program *p,
                        pvm_function_fn *fn, void *user);

/* Opens a file for appending, and empties it when `first`. Returns -1 when it cannot be made, or
 * when something else has this name. */
int pvm_perf_file(const char *path, bool first);

/* ---- jitdump.c ---- */

/* Appends the code and its lines to FOLDER/jit-PID.dump. Returns false when the file cannot be
 * written. */
bool pvm_perf_dump(const struct pvm_native *n, const struct pvm_program *p, const char *folder);

/* ---- run.c: switches for tests ---- */

/* Makes the machine set gs through the kernel, as on processors and kernels without FSGSBASE. */
extern bool pvm_gs_by_kernel;
