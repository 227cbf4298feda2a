/* The machine (CVBC 13) has an operand stack, 64 variables, 16 arrays, and a budget. It stops at
 * host calls. */
#pragma once
#include "cvbc/cvbc.h"
#include "cvbc/format/hardware/hardware.h"
#include "penta/cvbc.h"

/* The decoded operations are those of the format, and those that the machine adds. Decoding
 * resolves the S forms, so that the loop never looks at flags. */
enum cvbc_vm_op {
    CVBC_DO_BAD, /* The value is 0, so that an entry which was not filled in is error 5. */
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

/* These are the addresses at which penta_vm_peek finds memory. */
enum { CVBC_STACK_WINDOW = 0, CVBC_GLOBALS_WINDOW = 1 << 24, CVBC_POOL_WINDOW = 2 << 24 };
enum { CVBC_POOL = 1024, CVBC_HOST_ARGS = 8, CVBC_GUARD = 1 };
#define CVBC_GUARD_LOW INT32_C(-559038737)  /* 0xDEADBEEF as a signed number */
#define CVBC_GUARD_HIGH INT32_C(-889275714) /* 0xCAFEBABE as a signed number */

/* What a program can observe of the simulated board. It is in the machine, so that snapshots
 * contain it. */
enum { CVBC_PINS = 20, CVBC_PORTS = 4, CVBC_BUSSES_EACH = 2 };
enum { CVBC_I2C_BUFFER = 32, CVBC_I2C_DEVICES = 8, CVBC_I2C_REGISTERS = 256 };
struct cvbc_pins {
    uint64_t us; /* microseconds that delays took, and the start of the clock */
    /* This many instructions were not executed, because they were in loops which only wait. */
    uint64_t idle;
    uint8_t modes[CVBC_PINS];      /* the modes that pinMode has set */
    uint8_t levels[CVBC_PINS];     /* per pin: the level that digitalWrite has written */
    uint32_t received[CVBC_PORTS]; /* per serial port: number of bytes that the program has read */
    struct cvbc_i2c {              /* what a bus is to send, and what it has received */
        uint8_t address, sent[CVBC_I2C_BUFFER], received[CVBC_I2C_BUFFER];
        /* This many bytes will be sent; it is CVBC_I2C_BUFFER + 1 if the program gave more. */
        uint8_t sending;
        /* count: number of received bytes; taken: how many of them the program has read. */
        uint8_t count, taken;
    } i2c[CVBC_BUSSES_EACH];
    uint32_t i2c_lines; /* number of lines of the script that were applied to the devices */
    uint32_t device_count;
    struct cvbc_i2c_device {
        /* at: number of the register that comes next. */
        uint8_t bus, address, at, values[CVBC_I2C_REGISTERS];
    } devices[CVBC_I2C_DEVICES];
    /* For each pin, this counts the bytes that the device at this pin has given. */
    uint32_t spi_given[CVBC_PINS];
    struct { /* per pin: what the host call ATTACH has set */
        int32_t handlers[CVBC_PINS];
        uint32_t since[CVBC_PINS]; /* index of the first input of the script that counts */
        uint8_t modes[CVBC_PINS];  /* the mode plus 1, or 0 if the pin is not watched */
        uint32_t seen;             /* number of inputs of the script that were examined */
        bool held;                 /* true after the call INTERRUPTS 0 */
    } watch;
    struct { /* a host call that may be in a loop which only waits (CVBC 14.3.2) */
        /* These are a digest of the machine's state, the instruction, and the time of the call. */
        uint64_t state, at, us;
        uint64_t reads, seen,
            /* What the calls since then read, their number, and the number up to which this call
             * is kept. */
            limit;
    } wait;
};

struct cvbc_vm {
    penta_vm base;
    const struct cvbc_program *program;
    struct cvbc_insn *code;  /* `count` instructions and an end mark, with breakpoints */
    struct cvbc_insn *clean; /* the same code without breakpoints, or NULL if there are none */
    uint32_t count, pc;
    int32_t *stack; /* a guard word, `capacity` words, a guard word */
    uint32_t capacity, sp;
    int32_t globals[CVBC_GLOBALS];
    int32_t pool[CVBC_POOL];
    uint32_t pool_used;
    struct {
        uint16_t from, size;
    } arrays[CVBC_ARRAYS]; /* the size is 0 for an array that was not created */
    uint64_t executed, budget;
    /* ended: the program has ended by HALT, by RET or after its last instruction. */
    bool proved, waiting, final, at_break, ended;
    /* This is true if the program continued after its last instruction. */
    bool ran_off;
    bool fused; /* true if the code has operations of fused.def */
    uint8_t error;
    /* These are the arguments of the host call that waits for an answer, in the order in which
     * they were popped. */
    int32_t args[CVBC_HOST_ARGS + 1];
    uint32_t arg_count;
    struct {
        uint32_t from, to;      /* range of the watched words of the stack */
        bool others;            /* true if other words are watched as well */
    } guarded;                  /* set while memory is watched */
    struct cvbc_depths *depths; /* for debuggers; empty until a debugger asks */
    /* The table of counts_places; if it is set, the code has COUNT operations. */
    uint32_t *places;
    struct cvbc_pins pins;         /* the pins of the default host */
    struct cvbc_declared declared; /* what the program may use, if declarations are enforced */
    char refused[120];             /* why the machine refused a host call, or "" */
};

struct cvbc_depths { /* the result of cvbc_stack_depths */
    int32_t *depths;
    uint32_t *functions;
};

static inline struct cvbc_vm *cvbc_vm(penta_vm *vm) { return (struct cvbc_vm *)vm; }

/* interp.c defines the functions below. */
void cvbc_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Tells whether the instruction at the pc, with the arguments in the machine, uses more than the
 * file declares (CVBC 14.5), and stores the reason. */
bool cvbc_vm_refuses(struct cvbc_vm *vm);
/* vm.c: makes a machine for a program, which must exist as long as the machine. `module` may be
 * NULL. */
struct cvbc_vm *cvbc_vm_new(const struct cvbc_program *program, uint32_t capacity, uint64_t budget,
                            bool proved, penta_error *err);
void cvbc_vm_free(struct cvbc_vm *vm);
/* Fuses instructions (fused.def) in the regions of the hints hot_path and loop_unroll, but not
 * in those of cold_path. In a program that is not proved every step is checked, so nothing is
 * fused. */
void cvbc_vm_heed_hints(struct cvbc_vm *vm, const struct cvbc_metadata *meta);
/* Undoes the fusing, for callers that look at each instruction. */
void cvbc_vm_unfuse(struct cvbc_vm *vm);

/* host.c has the simulated board. The number of a host call is its opcode; the answer is {error}
 * or {error, value}. */
struct cvbc_board_state;
/* Makes a board. If `pins` is NULL, it has pins of its own. */
struct cvbc_board_state *cvbc_board_new(bool trace, struct cvbc_pins *pins, penta_error *err);
/* Answers a host call. Returns false if the machine was interrupted before there was an answer;
 * it then asks again. */
bool cvbc_board_answer(struct cvbc_board_state *board, struct cvbc_vm *vm, uint64_t results[2],
                       size_t *count, struct writer *output);
void cvbc_board_free(struct cvbc_board_state *board);
void cvbc_board_set_hal(struct cvbc_board_state *board, const penta_cvbc_hal *hal);
/* Returns the time of the board's clock. */
uint64_t cvbc_board_micros(const struct cvbc_board_state *board);
/* Sets how many instructions the machine executes in a second. With 0, which a new board has,
 * only DELAY advances the clock. If `plain` is true, loops that only wait are executed too. */
enum { CVBC_CLOCK_HZ = 1000000, CVBC_CLOCK_HZ_MAX = 1000000000 };
void cvbc_board_set_clock(struct cvbc_board_state *board, uint32_t hz, bool plain);
