/* Declares the machine of a TVMR program: four banks of 64 registers, buffers, and the state of
 * the extensions. */
#pragma once
#include "penta/tvmr.h"
#include "tvmr/format/weights.h"

enum tvmr_fault {
    TVMR_E_NONE,
#define TRAP(number, id, ...) TVMR_E_##id = number,
#include "tvmr/traps.def"
    TVMR_FAULTS
};
const char *tvmr_fault_name(enum tvmr_fault fault); /* Returns the name of a fault, such as
                                                     * "E_UNALLOC". */

struct tvmr_shape {
    uint32_t *dims;
    uint32_t rank, capacity;
};

struct tvmr_hot {
    bool present;
    int32_t *data;
    size_t count, capacity;
    struct tvmr_shape shape;
    uint64_t stamp; /* increases by one with every change */
};

struct tvmr_prepared; /* the weights in the form that a kernel reads (ops.h) */

struct tvmr_cold {
    bool present, frozen, dirty;
    struct tvmr_signal *weights;
    size_t count, capacity;
    struct tvmr_shape shape;
    uint8_t *temps; /* `count` temperatures, or NULL when all are HOT */
    size_t temps_capacity;
    uint8_t key[255];
    uint8_t key_size;
    struct tvmr_prepared *prepared; /* NULL when the weights have changed since they were
                                     * prepared */
    uint64_t stamp;                 /* increases by one with every change */
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
    tvmr_handler *run;        /* The handler that runs: `plain`, NOP for a null source, or the
                               * breakpoint's. */
    tvmr_handler *plain;      /* the handler without a breakpoint */
    const struct tvmr_op *op; /* NULL for an unknown instruction */
    uint16_t ext, opcode;
    uint8_t a[4];
};

struct tvmr_loop {
    uint32_t start, remaining;
};

struct tvmr_note { /* A note that two lengths do not fit each other. */
    uint32_t rule;
    uint8_t to, from; /* the register that takes the elements, and the one that has them */
    size_t want, have;
    size_t pc;
    uint64_t times;
};

enum { TVMR_DEPTH = 1024, TVMR_MODELS = 256, TVMR_YIELD_ARGS = 6, TVMR_NOTES = 64 };
enum tvmr_chl { TVMR_CHL_IDLE, TVMR_CHL_FREE, TVMR_CHL_CLAMPED };

struct tvmr_pool; /* the threads of a machine (kernels.h) */

struct tvmr_vm {
    penta_vm base;
    struct tvmr_insn *code;
    /* For each LOOP 0, by the index of its instruction, the index of the instruction after the
     * loop. NULL when no LOOP 0 exists. */
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
    uint8_t chem[4]; /* levels of dopamine, serotonin, norepinephrine, gaba */
    int32_t current_error, babble_scale;
    uint64_t babble_phase;

    /* The members below are the state of the extensions. */
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
    const penta_tvmr_bank *bank; /* the bank of vectors that the host attached, or NULL */

    /* The members below are the state of the run. */
    uint64_t executed;
    /* The state of an instruction that was interrupted (TVMR 6.8): `begun` is set until it ends, `progress` is the number
     * of elements that it has changed in place, and `paused` is set while its handler returns. */
    bool paused, begun;
    size_t progress;
    _Atomic(penta_vm *) inner; /* the model that the host runs for this machine, or NULL */
    bool final, waiting, at_break,
        halted;   /* `halted` is set when HALT ended the run and not the end of the code. */
    bool settled; /* The host has stopped or failed the run itself. */
    enum tvmr_fault fault;
    char fault_text[160];
    const struct tvmr_op *yield_op; /* the instruction whose stop waits for an answer */
    uint64_t yield_args[TVMR_YIELD_ARGS];
    struct tvmr_buffer inputs; /* the inputs of all later runs, one after the other */
    size_t *input_ends, input_count, input_capacity, input_next;
    struct tvmr_buffer outputs; /* the outputs of the runs that ended */
    size_t *output_ends, output_count, output_capacity;
    uint64_t loads;                   /* how many snapshots were loaded, because each changes
                                       * everything */
    char *save_weights, *output_path; /* the paths of the files to write, or NULL */
    char warning[120];                /* the reason why a weight file did not fit, or "" */
    uint64_t keyed,
        filled;       /* Bits of cold registers after weight files were loaded: those with a key,
                       * and those that got weights. */
    char unused[40];  /* the keys of weight files that no register has */
    bool keep_frozen; /* Instructions do not change the weights of frozen registers. */
    size_t declared[TVMR_BANK]; /* the elements that the definition gives each hot register, or 0 */
    bool strict;                /* Lengths that do not fit are failures. */
    struct tvmr_note notes[TVMR_NOTES];
    size_t note_count;

    uint32_t *places;        /* the hash table of counts_places */
    struct tvmr_work *works; /* the work of each instruction, while the machine counts it */

    /* The members below are about the memory of the machine. */
    uint64_t memory_used, memory_max;
    bool no_memory;          /* The system had less memory than the budget allows. */
    struct tvmr_hot scratch; /* Results are computed here and then swapped with the destination. */
    struct tvmr_buffer aux[3];
    unsigned kernels; /* a number of enum tvmr_kernels */
    unsigned threads;
    struct tvmr_pool *pool;
};

static inline struct tvmr_vm *tvmr_vm(penta_vm *vm) { return (struct tvmr_vm *)vm; }

extern const struct engine tvmr_interp;

/* vm.c defines what this block declares. */
void tvmr_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Begins a new run with this input, at pc 0 and with empty stacks. Registers stay as they are. */
bool tvmr_vm_begin(struct tvmr_vm *vm, const int32_t *input, size_t count);
bool tvmr_vm_set_target(struct tvmr_vm *vm, const int32_t *values, size_t count);
/* These functions let the host end the run, or make it fail. */
void tvmr_vm_stop(struct tvmr_vm *vm);
void tvmr_vm_fail(struct tvmr_vm *vm, const char *text);
/* Loads another program into a running machine, and keeps those weights whose key and shape
 * match. */
bool tvmr_vm_reload(struct tvmr_vm *vm, const penta_module *module, bool *kept, penta_error *err);

/* run_options.c defines what this block declares. */
bool tvmr_vm_options(struct tvmr_vm *vm, const penta_option *options, size_t count,
                     penta_error *err);

/* memory_budget.c defines the functions of this block, which set registers from outside and
 * count their memory. */
/* Returns why the machine got no memory the last time: BASE_MEMORY or BASE_LIMIT. */
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
/* Copies a register inside a handler, which an interrupt may end. */
bool tvmr_cold_copy_work(struct tvmr_vm *vm, struct tvmr_cold *to, const struct tvmr_cold *from);
bool tvmr_temps_set(struct tvmr_vm *vm, struct tvmr_cold *cold, const uint8_t *temps);
/* Begins a register inside a handler. The register has no contents, and is present only after
 * tvmr_cold_finish. */
struct tvmr_cold *tvmr_cold_begin(struct tvmr_vm *vm, unsigned index, size_t count,
                                  const uint32_t *dims, size_t rank);
void tvmr_cold_drop(struct tvmr_vm *vm, struct tvmr_cold *cold);
void tvmr_hot_drop(struct tvmr_vm *vm, struct tvmr_hot *hot);
/* This function must be called after every change of weights or temperatures. */
void tvmr_cold_changed(struct tvmr_cold *cold);
bool tvmr_buffer_set(struct tvmr_vm *vm, struct tvmr_buffer *buffer, const int32_t *data,
                     size_t count);
bool tvmr_numbers_set(struct tvmr_vm *vm, struct tvmr_pressure *p,
                      size_t count); /* Fills the buffer with zeros. */

/* Computes the work of an instruction after it ran: the elements of its largest operand or
 * result, or the multiply-adds of a product; at least 1. operations.c defines it. */
struct tvmr_work { /* The values on which the work of an instruction depends. */
    bool product;
    uint8_t count, registers[4];
};
struct tvmr_work tvmr_work_of(const struct tvmr_insn *in);
uint64_t tvmr_operations(const struct tvmr_vm *vm, const struct tvmr_insn *in,
                         const struct tvmr_work *work);

/* notes.c defines what this block declares. */
void tvmr_vm_findings(const penta_vm *vm, struct findings *findings);

/* snapshot.c describes a machine and saves its snapshots. */
void tvmr_vm_describe(const penta_vm *vm, const penta_visitor *visitor);
void tvmr_vm_walk(penta_vm *vm, struct walk *w);

/* weights.c loads and saves weight files. */
bool tvmr_weights_save(const struct tvmr_vm *vm, const char *path, penta_error *err);
/* Loads the registers whose key and count match. *loaded becomes how many were loaded. */
/* Returns false with an error, also when nothing of the file was used. */
bool tvmr_weights_load(struct tvmr_vm *vm, const char *path, size_t *loaded, penta_error *err);
/* Lists the keys of registers for which no weight file had weights. */
void tvmr_weights_missing(const struct tvmr_vm *vm, char *list, size_t size);
