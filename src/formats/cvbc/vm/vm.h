/* The machine (CVBC 13): an operand stack, 64 variables, 16 arrays, and a budget. Host calls
 * stop it. */
#pragma once
#include "cvbc/cvbc.h"
#include "penta/cvbc.h"

/* Decoded operations: those of the format, and what the machine adds. S forms are resolved when
 * decoding, so that the loop never looks at flags. */
enum cvbc_vm_op {
    CVBC_DO_BAD, /* zero: an entry nobody filled in is error 5 */
#define OP(code, name, ...) CVBC_DO_##name,
#include "cvbc/isa.def"
    /* clang-format off */
    CVBC_DO_PUSH_S, CVBC_DO_PUSH_W, CVBC_DO_STORE_ARRAY_V,
#define FUSED(name, ...) CVBC_DO_##name,
#include "cvbc/fused.def"
    CVBC_DO_END, CVBC_DO_BREAK, CVBC_DO_COUNT, CVBC_DO_FUEL, CVBC_DOES
};
/* clang-format on */

enum cvbc_trap {
    CVBC_TRAP_NONE,
#define TRAP(number, id, ...) CVBC_TRAP_##id = number,
#include "cvbc/traps.def"
    CVBC_TRAPS
};
const char *cvbc_error_name(unsigned error);

struct cvbc_insn {
    uint16_t imm;
    uint8_t op;
};

/* Memory as penta_vm_peek has it. */
enum { CVBC_STACK_WINDOW = 0, CVBC_GLOBALS_WINDOW = 1 << 24, CVBC_POOL_WINDOW = 2 << 24 };
enum { CVBC_POOL = 1024, CVBC_HOST_ARGS = 8, CVBC_GUARD = 1 };
#define CVBC_GUARD_LOW INT32_C(-559038737)  /* 0xDEADBEEF */
#define CVBC_GUARD_HIGH INT32_C(-889275714) /* 0xCAFEBABE */

/* What a program can observe of the simulated board. It is in the machine, so that snapshots have it. */
enum { CVBC_PINS = 20 };
struct cvbc_pins {
    uint64_t us;              /* of the clock */
    uint8_t modes[CVBC_PINS]; /* as pinMode set them */
};

struct cvbc_vm {
    penta_vm base;
    const struct cvbc_program *program;
    struct cvbc_insn *code;  /* count instructions and the end mark; breakpoints are in it */
    struct cvbc_insn *clean; /* the same without breakpoints, or NULL while there are none */
    uint32_t count, pc;
    int32_t *stack; /* guard word, capacity words, guard word */
    uint32_t capacity, sp;
    int32_t globals[CVBC_GLOBALS];
    int32_t pool[CVBC_POOL];
    uint32_t pool_used;
    struct {
        uint16_t from, size;
    } arrays[CVBC_ARRAYS]; /* size 0: not created */
    uint64_t executed, budget;
    bool proved, waiting, final, at_break, ended; /* ended: by HALT, RET or the end */
    bool ran_off;                                 /* past the last instruction */
    bool fused;                                   /* operations of fused.def are in the code */
    uint8_t error;
    /* the host call that waits, and its arguments as popped */
    int32_t args[CVBC_HOST_ARGS + 1];
    uint32_t arg_count;
    struct {
        uint32_t from, to;      /* words of the stack */
        bool others;            /* other words too */
    } guarded;                  /* while there are guards */
    struct cvbc_depths *depths; /* for debuggers: empty until one asks */
    uint32_t *places;           /* counts_places; COUNT is in the code then */
    struct cvbc_pins pins;      /* of the default host */
};

struct cvbc_depths { /* cvbc_stack_depths */
    int32_t *depths;
    uint32_t *functions;
};

static inline struct cvbc_vm *cvbc_vm(penta_vm *vm) { return (struct cvbc_vm *)vm; }

/* interp.c */
void cvbc_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* vm.c: a machine over a program that the caller keeps; module may be NULL. */
struct cvbc_vm *cvbc_vm_new(const struct cvbc_program *program, uint32_t capacity, uint64_t budget,
                            bool proved, penta_error *err);
void cvbc_vm_free(struct cvbc_vm *vm);
/* Fuses instructions (fused.def) in the regions of hints hot_path and loop_unroll, without those of
 * cold_path. Machines without proof check every step and fuse nothing. */
void cvbc_vm_heed_hints(struct cvbc_vm *vm, const struct cvbc_metadata *meta);
/* Every instruction is one again: for whoever looks at each. */
void cvbc_vm_unfuse(struct cvbc_vm *vm);

/* host.c: the simulated board. Host calls are numbered by opcode; the answer is {error} or
 * {error, value}. */
struct cvbc_board_state;
/* pins NULL: its own. */
struct cvbc_board_state *cvbc_board_new(bool trace, struct cvbc_pins *pins, penta_error *err);
bool cvbc_board_answer(struct cvbc_board_state *board, const struct cvbc_vm *vm,
                       uint64_t results[2], size_t *count, struct writer *output);
void cvbc_board_free(struct cvbc_board_state *board);
void cvbc_board_set_hal(struct cvbc_board_state *board, const penta_cvbc_hal *hal);
uint64_t cvbc_board_micros(const struct cvbc_board_state *board); /* its clock */
