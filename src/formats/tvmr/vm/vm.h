/* The machine of a TVMR program: four banks of 64 registers, buffers, and the state of the extensions. */
#pragma once
#include "penta/tvmr.h"
#include "tvmr/format/weights.h"

enum tvmr_fault {
    TVMR_E_NONE,
#define TRAP(number, id, ...) TVMR_E_##id = number,
#include "tvmr/traps.def"
    TVMR_FAULTS
};
const char *tvmr_fault_name(enum tvmr_fault fault); /* "E_UNALLOC" */

struct tvmr_shape {
    uint32_t *dims;
    uint32_t rank, capacity;
};

struct tvmr_hot {
    bool present;
    int32_t *data;
    size_t count, capacity;
    struct tvmr_shape shape;
    uint64_t stamp; /* one more with every change */
};

struct tvmr_prepared; /* weights in the form that a kernel reads (ops.h) */

struct tvmr_cold {
    bool present, frozen, dirty;
    struct tvmr_signal *weights;
    size_t count, capacity;
    struct tvmr_shape shape;
    uint8_t *temps; /* `count` temperatures, or NULL when all are HOT */
    size_t temps_capacity;
    uint8_t key[255];
    uint8_t key_size;
    struct tvmr_prepared *prepared; /* NULL when the weights have changed since */
    uint64_t stamp;                 /* one more with every change */
};

struct tvmr_pressure {
    bool present;
    int32_t *data;
    size_t count, capacity;
    uint64_t stamp;
};

struct tvmr_correlation {
    bool present;
    int64_t *data;
    size_t count, capacity;
};

struct tvmr_buffer {
    int32_t *data;
    size_t count, capacity;
    uint64_t stamp;
};

struct tvmr_insn {            /* a decoded instruction */
    tvmr_handler *run;        /* the handler, NOP for a null source, or the breakpoint */
    tvmr_handler *plain;      /* the handler without the breakpoint */
    const struct tvmr_op *op; /* NULL for an unknown instruction */
    uint16_t ext, opcode;
    uint8_t a[4];
};

struct tvmr_loop {
    uint32_t start, remaining;
};

struct tvmr_note { /* a note about a length that does not fit */
    uint32_t rule;
    uint8_t to, from; /* the register that takes the elements, and the one that has them */
    size_t want, have;
    size_t pc;
    uint64_t times;
};

enum { TVMR_DEPTH = 1024, TVMR_MODELS = 256, TVMR_YIELD_ARGS = 6, TVMR_NOTES = 64 };
enum tvmr_chl { TVMR_CHL_IDLE, TVMR_CHL_FREE, TVMR_CHL_CLAMPED };

struct tvmr_pool; /* threads (kernels.h) */

struct tvmr_vm {
    penta_vm base;
    struct tvmr_insn *code;
    /* For a LOOP 0, by its index, the instruction after it; NULL without LOOP 0. */
    uint32_t *after_loop;
    enum tvmr_profile profile;
    size_t count;
    uint64_t pc; /* the pc of the next instruction */
    uint64_t at; /* the pc of the instruction that ran last */
    struct tvmr_hot hot[TVMR_BANK];
    struct tvmr_cold cold[TVMR_BANK];
    int32_t param[TVMR_BANK];
    struct tvmr_shape shape[TVMR_BANK];
    struct tvmr_loop loops[TVMR_DEPTH];
    uint64_t calls[TVMR_DEPTH];
    size_t loop_depth, call_depth;
    struct tvmr_buffer input, output, target;
    struct tvmr_pressure pressure[TVMR_BANK];
    uint8_t chem[4]; /* dopamine, serotonin, norepinephrine, gaba */
    int32_t current_error, babble_scale;
    uint64_t babble_phase;

    /* The state of the extensions. */
    enum tvmr_chl chl_phase;
    struct tvmr_correlation chl_free[TVMR_BANK], chl_clamped[TVMR_BANK];
    struct tvmr_cold checkpoints[TVMR_BANK];
    struct tvmr_model {
        bool loaded, running, has_input, has_output;
        uint8_t input, output;
    } models[TVMR_MODELS];
    bool testing;
    uint8_t test_id;
    struct tvmr_pressure snapshots[TVMR_BANK];
    const penta_tvmr_bank *bank; /* that the host attached, or NULL */

    /* The state of the run. */
    uint64_t executed;
    /* The state of an instruction that was interrupted (TVMR 6.8): `begun` is set until it ends, `progress` is the number
     * of elements that it has changed in place, and `paused` is set while its handler returns. */
    bool paused, begun;
    size_t progress;
    _Atomic(penta_vm *) inner; /* a model that the host runs for this machine, or NULL */
    bool final, waiting, at_break,
        halted;   /* halted: it ended by HALT and not at the end of the code */
    bool settled; /* the host has stopped or failed the run itself */
    enum tvmr_fault fault;
    char fault_text[160];
    const struct tvmr_op *yield_op; /* the instruction of the stop that waits */
    uint64_t yield_args[TVMR_YIELD_ARGS];
    struct tvmr_buffer inputs; /* all later inputs, one after the other */
    size_t *input_ends, input_count, input_capacity, input_next;
    struct tvmr_buffer outputs; /* the outputs of the runs that ended */
    size_t *output_ends, output_count, output_capacity;
    uint64_t loads;                   /* counts loaded snapshots, since each changes everything */
    char *save_weights, *output_path; /* or NULL */
    char warning[120];                /* why a weight file did not fit, or "" */
    uint64_t keyed,
        filled;       /* once weight files were loaded: cold registers with a key; with weights */
    char unused[40];  /* the keys of weight files that no register has */
    bool keep_frozen; /* instructions do not change the weights of frozen registers */
    size_t declared[TVMR_BANK]; /* the elements of hot registers by their definitions, or 0 */
    bool strict;                /* lengths that do not fit are failures */
    struct tvmr_note notes[TVMR_NOTES];
    size_t note_count;

    uint32_t *places;        /* the table of counts_places */
    struct tvmr_work *works; /* for each instruction, while the machine counts */

    /* The memory of the machine. */
    uint64_t memory_used, memory_max;
    bool no_memory;          /* the system had less than the budget allows */
    struct tvmr_hot scratch; /* results are computed here, then swapped with the destination */
    struct tvmr_buffer aux[3];
    unsigned kernels; /* enum tvmr_kernels */
    unsigned threads;
    struct tvmr_pool *pool;
};

static inline struct tvmr_vm *tvmr_vm(penta_vm *vm) { return (struct tvmr_vm *)vm; }

extern const struct engine tvmr_interp;

/* vm.c */
void tvmr_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Begins a new run with this input, at pc 0 and with empty stacks. Registers stay as they are. */
bool tvmr_vm_begin(struct tvmr_vm *vm, const int32_t *input, size_t count);
bool tvmr_vm_set_target(struct tvmr_vm *vm, const int32_t *values, size_t count);
/* Let the host end the run, or make it fail. */
void tvmr_vm_stop(struct tvmr_vm *vm);
void tvmr_vm_fail(struct tvmr_vm *vm, const char *text);
/* Loads another program into a running machine, and keeps weights whose key and shape match. */
bool tvmr_vm_reload(struct tvmr_vm *vm, const penta_module *module, bool *kept, penta_error *err);

/* run_options.c */
bool tvmr_vm_options(struct tvmr_vm *vm, const penta_option *options, size_t count,
                     penta_error *err);

/* memory_budget.c: registers that are set from outside, and their memory. */
/* Why the machine got no memory the last time: BASE_MEMORY or BASE_LIMIT. */
uint32_t tvmr_memory_code(const struct tvmr_vm *vm);
bool tvmr_reserve(struct tvmr_vm *vm, void *pointer, size_t *capacity, size_t count, size_t item);
void tvmr_release(struct tvmr_vm *vm, void *pointer, size_t *capacity, size_t item);
bool tvmr_shape_set(struct tvmr_vm *vm, struct tvmr_shape *shape, const uint32_t *dims,
                    size_t rank);
bool tvmr_hot_set(struct tvmr_vm *vm, unsigned index, const int32_t *data, size_t count,
                  const uint32_t *dims, size_t rank);
/* Makes a register of `count` zero signals of this shape, without key and temperatures. */
bool tvmr_cold_new(struct tvmr_vm *vm, unsigned index, size_t count, const uint32_t *dims,
                   size_t rank);
bool tvmr_cold_copy(struct tvmr_vm *vm, struct tvmr_cold *to, const struct tvmr_cold *from);
/* Copies a register in a handler, which an interrupt may end. */
bool tvmr_cold_copy_work(struct tvmr_vm *vm, struct tvmr_cold *to, const struct tvmr_cold *from);
bool tvmr_temps_set(struct tvmr_vm *vm, struct tvmr_cold *cold, const uint8_t *temps);
/* Begins a register in a handler. It has no contents, and is present only after tvmr_cold_finish. */
struct tvmr_cold *tvmr_cold_begin(struct tvmr_vm *vm, unsigned index, size_t count,
                                  const uint32_t *dims, size_t rank);
void tvmr_cold_drop(struct tvmr_vm *vm, struct tvmr_cold *cold);
void tvmr_hot_drop(struct tvmr_vm *vm, struct tvmr_hot *hot);
/* Must be called after every change of weights or temperatures. */
void tvmr_cold_changed(struct tvmr_cold *cold);
bool tvmr_buffer_set(struct tvmr_vm *vm, struct tvmr_buffer *buffer, const int32_t *data,
                     size_t count);
bool tvmr_numbers_set(struct tvmr_vm *vm, struct tvmr_pressure *p,
                      size_t count); /* zeros of that length */

/* operations.c: computes the work of an instruction after it ran: the elements of its largest operand or result, or
 * the multiply-adds of a product; at least 1. */
struct tvmr_work { /* the values on which the work of an instruction depends */
    bool product;
    uint8_t count, registers[4];
};
struct tvmr_work tvmr_work_of(const struct tvmr_insn *in);
uint64_t tvmr_operations(const struct tvmr_vm *vm, const struct tvmr_insn *in,
                         const struct tvmr_work *work);

/* notes.c */
void tvmr_vm_findings(const penta_vm *vm, struct findings *findings);

/* snapshot.c: describe and snapshots */
void tvmr_vm_describe(const penta_vm *vm, const penta_visitor *visitor);
void tvmr_vm_walk(penta_vm *vm, struct walk *w);

/* weights.c: TVMW files */
bool tvmr_weights_save(const struct tvmr_vm *vm, const char *path, penta_error *err);
/* Registers whose key and count match; how many were loaded. */
/* False, too, when nothing of the file went into the machine. */
bool tvmr_weights_load(struct tvmr_vm *vm, const char *path, size_t *loaded, penta_error *err);
/* Lists the keys of registers for which no weight file had weights. */
void tvmr_weights_missing(const struct tvmr_vm *vm, char *list, size_t size);
