/* The machine of a kernel blob: a cursor over decoded instructions, and a memory it may share. */
#pragma once
#include "kblob/kblob.h"
#include "kblob/vm/memory.h"

struct kblob_decoded { /* small: running is mostly reading these from memory */
    uint64_t arg0;
    uint32_t arg1;
    uint8_t op; /* enum kblob_op, pseudo-instructions included */
};

/* The decoded program; ends with a KBLOB_OP_END. Immutable, hence shared by any number of tasks. */
struct kblob_decoded *kblob_program_new(const struct kblob_module *module,
                                        penta_error *err); /* free it */

struct kblob_vm {
    penta_vm base;
    const struct kblob_decoded *program; /* count instructions and the end mark */
    struct kblob_decoded *code;          /* own copy with breakpoints, or NULL */
    struct kblob_decoded *owned;         /* program, when this machine owns it */
    uint32_t count, pc;
    struct kblob_memory *memory; /* shared or &own */
    struct kblob_memory own;
    bool has_read, asleep;         /* last_read is valid; a SLEEP waits for its answer */
    bool halted_explicitly, final; /* HALT was executed; the run is over */
    uint64_t last_read, slept_ms, executed;
    enum kblob_fault fault; /* of the instruction at pc, when final */
    uint64_t fault_address, fault_size;
    bool at_break; /* stopped at the breakpoint at pc: the next run goes on past it */
    bool started;  /* pokes before the first run set the initial memory */
};

static inline struct kblob_vm *kblob_vm(penta_vm *vm) { return (struct kblob_vm *)vm; }

/* Prepares a machine in place over a decoded program and a memory of the caller's. */
void kblob_vm_init(struct kblob_vm *vm, const struct kblob_decoded *program, uint32_t count,
                   struct kblob_memory *memory);
void kblob_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* What the instruction touches: bytes at its arg0, 0 when it touches none. */
uint64_t kblob_access_size(const struct kblob_decoded *in);
bool kblob_access_writes(const struct kblob_decoded *in);

enum { KBLOB_HOST_SLEEP = 1 }; /* penta_stop.detail: args[0] ms; the answer is the ms slept */

extern const struct engine kblob_interp;
extern const struct host kblob_host;
