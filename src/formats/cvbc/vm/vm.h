/* The machine (CVBC 13): an operand stack, 64 variables, 16 arrays, and a budget. It stops at host calls. */
#pragma once
#include "cvbc/cvbc.h"
#include "cvbc/format/hardware/hardware.h"
#include "penta/cvbc.h"

/* Decoded operations: those of the format, and those that the machine adds. Decoding resolves the S forms, so that
 * the loop never looks at flags. */
enum cvbc_vm_op {
    CVBC_DO_BAD, /* 0, so that an entry which was not filled in is error 5 */
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

/* The addresses at which penta_vm_peek sees memory. */
enum { CVBC_STACK_WINDOW = 0, CVBC_GLOBALS_WINDOW = 1 << 24, CVBC_POOL_WINDOW = 2 << 24 };
enum { CVBC_POOL = 1024, CVBC_HOST_ARGS = 8, CVBC_GUARD = 1 };
#define CVBC_GUARD_LOW INT32_C(-559038737)  /* 0xDEADBEEF */
#define CVBC_GUARD_HIGH INT32_C(-889275714) /* 0xCAFEBABE */

/* What a program can observe of the simulated board. It is in the machine, so that snapshots include it. */
enum { CVBC_PINS = 20, CVBC_PORTS = 4 };
struct cvbc_pins {
    uint64_t us;              /* the microseconds that delays took, and the start of the clock */
    uint64_t idle;            /* the instructions that waiting loops did not have to execute */
    uint8_t modes[CVBC_PINS]; /* the modes that pinMode has set */
    uint32_t received[CVBC_PORTS]; /* of each serial port the bytes that were read */
    struct { /* a host call that may be in a loop which only waits (CVBC 14.3.2) */
        uint64_t state, at, us; /* digest of the machine, instruction, and time of the call */
        uint64_t reads, seen,
            limit; /* kinds of calls since then, how many, and how many it counts for */
    } wait;
};

struct cvbc_vm {
    penta_vm base;
    const struct cvbc_program *program;
    struct cvbc_insn *code;  /* `count` instructions and the end mark, with breakpoints */
    struct cvbc_insn *clean; /* the same code without breakpoints, or NULL while there are none */
    uint32_t count, pc;
    int32_t *stack; /* a guard word, `capacity` words, a guard word */
    uint32_t capacity, sp;
    int32_t globals[CVBC_GLOBALS];
    int32_t pool[CVBC_POOL];
    uint32_t pool_used;
    struct {
        uint16_t from, size;
    } arrays[CVBC_ARRAYS]; /* size 0 for an array that was not created */
    uint64_t executed, budget;
    bool proved, waiting, final, at_break, ended; /* ended: by HALT, by RET or at the end */
    bool ran_off;                                 /* the program ran past its last instruction */
    bool fused;                                   /* the code has operations of fused.def */
    uint8_t error;
    /* The host call that waits for an answer, and its arguments in the order in which they were popped. */
    int32_t args[CVBC_HOST_ARGS + 1];
    uint32_t arg_count;
    struct {
        uint32_t from, to;      /* the watched words of the stack */
        bool others;            /* other words are watched as well */
    } guarded;                  /* while there are guards */
    struct cvbc_depths *depths; /* for debuggers; empty until one asks */
    uint32_t *places;           /* the table of counts_places; the code then has COUNT operations */
    struct cvbc_pins pins;      /* the pins of the default host */
    struct cvbc_declared declared; /* what the program may use, where that is enforced */
    char refused[120];             /* why the machine refused a host call, or "" */
};

struct cvbc_depths { /* the result of cvbc_stack_depths */
    int32_t *depths;
    uint32_t *functions;
};

static inline struct cvbc_vm *cvbc_vm(penta_vm *vm) { return (struct cvbc_vm *)vm; }

/* interp.c */
void cvbc_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Tells whether the instruction at the pc, with the arguments of the machine, goes beyond the declarations of the file
 * (CVBC 14.5), and notes the reason. */
bool cvbc_vm_refuses(struct cvbc_vm *vm);
/* vm.c: makes a machine for a program that the caller keeps. `module` may be NULL. */
struct cvbc_vm *cvbc_vm_new(const struct cvbc_program *program, uint32_t capacity, uint64_t budget,
                            bool proved, penta_error *err);
void cvbc_vm_free(struct cvbc_vm *vm);
/* Fuses instructions (fused.def) in the regions of the hints hot_path and loop_unroll, but not in those of
 * cold_path. A machine without a proof checks every step and fuses nothing. */
void cvbc_vm_heed_hints(struct cvbc_vm *vm, const struct cvbc_metadata *meta);
/* Undoes the fusing, for callers that look at each instruction. */
void cvbc_vm_unfuse(struct cvbc_vm *vm);

/* host.c: the simulated board. The number of a host call is its opcode; the answer is {error} or {error, value}. */
struct cvbc_board_state;
/* Makes a board. With `pins` NULL it has its own pins. */
struct cvbc_board_state *cvbc_board_new(bool trace, struct cvbc_pins *pins, penta_error *err);
/* False: the machine was interrupted before there was an answer, and asks again. */
bool cvbc_board_answer(struct cvbc_board_state *board, struct cvbc_vm *vm, uint64_t results[2],
                       size_t *count, struct writer *output);
void cvbc_board_free(struct cvbc_board_state *board);
void cvbc_board_set_hal(struct cvbc_board_state *board, const penta_cvbc_hal *hal);
uint64_t cvbc_board_micros(const struct cvbc_board_state *board); /* the time of its clock */
/* Sets how many instructions the machine does in a second. With 0, which a new board has, only DELAY advances the
 * clock. `plain`: loops that only wait are executed too. */
enum { CVBC_CLOCK_HZ = 1000000, CVBC_CLOCK_HZ_MAX = 1000000000 };
void cvbc_board_set_clock(struct cvbc_board_state *board, uint32_t hz, bool plain);
