/* The machine executes decoded cells over frames of slots.
 *
 *  Loading turns each function into cells once: variables become slots, types choose the cell,
 * and branch targets become indices of cells. A scalar variable whose address is not taken is a
 * slot; every other variable is in guest memory, in the byte order of the file. An instruction
 * without a cell of its own is a step: its operands are resolved to places, and one general
 * function executes it. */
#pragma once
#include "coil/format/check/check.h"
#include "coil/scalars/ops.h"

enum coil_trap {
#define TRAP(number, id, ...) COIL_TRAP_##id = number,
#include "coil/traps.def"
};
static inline const char *coil_trap_name(uint32_t trap)
{
#define TRAP(number, id, name, ...)                                                                \
    if (trap == number) return name;
#include "coil/traps.def"
    return "unknown";
}
/* Functions that return a trap return this number if the machine was interrupted (bulk.h). */
#define COIL_PAUSE UINT32_MAX
enum coil_host_call { COIL_HOST_OUT = 1, COIL_HOST_IN = 2, COIL_HOST_VENDOR = 3 };

enum { COIL_HOST_ARGS = 6 };

enum coil_cell_op {
#define CELL(name) COIL_CELL_##name,
#include "coil/cells.def"
    COIL_CELLS
};
struct coil_cell {
    uint16_t op;
    uint8_t x, y; /* x: scale of an index, or condition; y: type */
    uint32_t a, b, c;
    uint64_t imm;
};

enum coil_at {
    COIL_AT_NONE,
    COIL_AT_CONST,
    COIL_AT_SLOT,
    COIL_AT_REGISTER,
    COIL_AT_FRAME,
    COIL_AT_MEMORY,
};
struct coil_term { /* a part of an address */
    uint8_t at, op;
    uint32_t slot;
    /* This is 1 + the number of the symbol whose address the term is, or at whose address the
     * value is; 0 if the term has no symbol. */
    uint32_t symbol;
    uint64_t value; /* the constant, or the address in memory of a value */
};
struct coil_place {
    uint8_t at, op;  /* op: the scalar type, or the opcode of the type */
    uint8_t ext;     /* qualifiers of the operand */
    uint8_t form;    /* form of the operand (enum coil_form) */
    uint32_t slot;   /* number of the slot or register, or the offset in the frame */
    uint32_t symbol; /* for a constant: 1 + the symbol whose address it is, or 0 */
    const struct coil_type *type;
    uint64_t value;       /* the constant, or the displacement of an address */
    const uint8_t *image; /* bytes of a constant that is not a scalar */
    struct coil_term base, index;
    uint64_t scale;
};
struct coil_step {
    uint8_t opcode, count, extended, written; /* written: the number of operands in the file */
    const char *form;
    struct coil_place places[5];
};
struct coil_function {
    /* `first` is its first cell, and `slots` the number of its slots, where slot 0 is always
     * zero. */
    uint32_t first, slots;
    uint64_t bytes; /* size in bytes of its frame in guest memory */
    uint64_t address;
};
struct coil_visible { /* a variable that is shown when the machine has stopped */
    const char *name;
    const struct coil_type *type;
    uint64_t from, to; /* from: the pc of its VAR; to: the pc of the SCOPL that ends its scope */
    uint32_t function, slot;
    uint8_t at;
};
struct coil_program { /* A program does not change after loading. */
    struct coil_cell *cells;
    uint64_t *pcs;    /* per cell: the pc of its instruction */
    uint32_t *owners; /* per cell: the function that contains it */
    uint32_t *starts; /* per cell: 1 + the function that begins there, or 0 */
    size_t count;
    struct coil_function *functions;
    size_t function_count;
    struct coil_step **steps;       /* per cell: its step, or NULL if the cell needs none */
    struct coil_visible *variables; /* the variables of all functions, in the order of their VARs */
    size_t variable_count, variable_capacity;
    uint64_t *symbols; /* address of each symbol */
    uint64_t *sections;
    size_t *order;             /* the numbers of the sections in the order of their addresses */
    uint64_t end;              /* the first address after all sections */
    uint32_t entry;            /* the function that starts the program */
    struct arena arena, types; /* types: memory of the types that type ids stand for */
};

/* Regions are in the order of their addresses, and sections lie below all of these bases. If the
 * sections end below 4 GiB, all memory is below COIL_LINEAR_BYTES, so a compiler can reserve
 * that much and find any address by one addition. Otherwise heap, frames and stack are moved to
 * addresses where no section can be. */
#define COIL_HEAP_BASE UINT64_C(0x100000000)
#define COIL_FRAME_BASE UINT64_C(0x200000000)
#define COIL_STACK_BASE UINT64_C(0x300000000)
#define COIL_LINEAR_BYTES UINT64_C(0x400000000)
/* This number is added to the bases above if sections end above 4 GiB. */
#define COIL_FAR UINT64_C(0x700000000000)

struct coil_region {
    uint64_t base, size;
    uint8_t *bytes;
    bool writable, owned;
    const char *name;
};
struct coil_frame {
    /* back: the cell of the caller to return to; function: number of the caller. */
    uint32_t back, function;
};
struct coil_block {
    uint64_t offset, size;
    bool live;
};

/* These are the kinds of work that an interrupt may leave unfinished: a write of many bytes, or
 * the removal of free blocks from the heap (bulk.h). */
enum coil_bulk_kind {
    COIL_BULK_NONE,
    COIL_BULK_FILL,
    COIL_BULK_COPY,
    COIL_BULK_SCRATCH,
    COIL_BULK_TRIM,
    COIL_BULK_KINDS
};
struct coil_bulk {
    uint8_t kind, pattern[8], pattern_bytes;
    /* True if the write clears the frame of the running function, whose first instruction comes
     * next. */
    bool enters;
    bool first; /* for VAR: true while the variable is cleared, before its value is written */
    uint64_t to, from, size, done;
    /* This is the source with `size` bytes, or for a swap the bytes that are written to `from`
     * after the copy. */
    uint8_t *scratch;
};

/* An order says how a branch can decide a condition from operations whose flags are not computed
 * yet (flags.c). */
enum coil_order { COIL_UNORDERED, COIL_CMP_SIGNED, COIL_CMP_UNSIGNED };
struct coil_table { /* the table of a SWITCH instruction (jit/tables.c) */
    uint64_t address;
    uint32_t *cells, count, owner; /* owner: the function that contains all these cells */
};
struct coil_pending {
    /* This enum coil_order says how a branch compares the operands; it may be COIL_UNORDERED. */
    uint8_t order;
    uint8_t opcode, type; /* the last integer operation; opcode is 0 if there was none */
    uint8_t real;         /* opcode of an operation in FP64 after that, or 0 */
};

struct coil_vm {
    penta_vm base;
    const struct coil_module *m;
    struct coil_program program;
    /* These are the cells that run: those of the program, or a copy of them with breakpoints. */
    struct coil_cell *cells;
    bool marked;
    uint64_t v[COIL_REGISTERS];
    uint8_t flags;       /* the flags before the pending operations */
    uint8_t parity_type; /* VOID if flag P is in `flags` */
    struct coil_pending pending;
    uint64_t flag_a, flag_b, real_a, real_b, parity;

    uint64_t *slots; /* the slots of all frames */
    size_t slot_capacity, fp, slots_used;
    struct coil_frame *frames;
    size_t depth, depth_max, frame_capacity;
    uint32_t function, pc; /* the running function, and the cell that is executed next */
    struct coil_region *regions;
    size_t region_count;
    struct coil_region *stack, *frame_memory, *heap;
    /* sp is the stack pointer, and frame_top the address of the running function's frame in
     * memory. */
    uint64_t sp, frame_top;
    struct coil_bulk bulk;
    struct coil_block *blocks;
    size_t block_count, block_capacity, block_free; /* block_free: number of blocks that are free */
    uint64_t heap_top, heap_max; /* The heap's region has no bytes before the first ALLOC. */
    /* Every region lies at its address counted from here. If this is NULL, each region has
     * memory of its own. */
    uint8_t *linear;
    bool divide_trap;
    /* After a stop in compiled code this tells, for each slot, whether its value is known. The
     * value of a slot that is not read any more is not known. */
    const uint8_t *kept;
    uint32_t kept_cell;
    /* If `yields` is true, run stops at the start of every called function; `yielded` then tells
     * that it did. */
    bool yields, yielded;

    bool waiting, final, halted, started, at_break;
    uint32_t host_call;
    uint64_t host_args[COIL_HOST_ARGS];
    uint32_t trap;
    uint64_t trap_code, fault_address;
    uint64_t executed;
    /* These are tables that a compiler has read, in the order of their addresses. */
    struct coil_table *tables;
    size_t table_count;
    /* This array comes from counts_places. If it is set, the cells are a copy, which contains
     * COUNT cells. */
    uint32_t *places;
};

static inline struct coil_vm *coil_vm(penta_vm *vm) { return (struct coil_vm *)vm; }

/* load.c defines the functions below. */
struct coil_load {
    bool plain;       /* every instruction is executed as a step */
    bool host_vendor; /* vendor instructions ask the host */
    /* True if the program is compiled to an object file: symbols may be undefined, and there may
     * be no entry. */
    bool object;
};
#define COIL_ELSEWHERE                                                                             \
    UINT64_C(0x710000000000) /* Addresses of the undefined symbols of an object begin here. */
bool coil_program_load(struct coil_program *p, const struct coil_module *m, struct coil_load how,
                       penta_error *err);
void coil_program_free(struct coil_program *p);
bool coil_program_cell(const struct coil_program *p, uint64_t pc, uint32_t *cell);
/* step.c and operands.c define the functions below. */
/* Functions of these files return 0, a trap, or COIL_PAUSE if the instruction was interrupted
 * and must run again. */
uint32_t coil_step_run(struct coil_vm *vm, const struct coil_step *step);
/* Calls fn for every slot and register that an instruction reads or writes. */
typedef void coil_touch_fn(void *user, uint8_t at, uint32_t slot, bool write);
void coil_step_touches(const struct coil_step *s, coil_touch_fn *fn, void *user);
uint32_t coil_place_read(struct coil_vm *vm, const struct coil_place *p, uint8_t as,
                         uint64_t *value);
uint32_t coil_place_write(struct coil_vm *vm, const struct coil_place *p, uint64_t value,
                          uint8_t from);
/* Gives the type that a register takes in the instruction. */
uint8_t coil_step_type(const struct coil_step *step);
/* flags.c defines the functions below. */
/* coil_flags_now returns the exact flags, and coil_flags_settle stores them in the field
 * `flags`. */
uint8_t coil_flags_now(const struct coil_vm *vm);
void coil_flags_settle(struct coil_vm *vm);
void coil_flags_put(struct coil_vm *vm, uint8_t flags);
/* runtime.c and memory.c define the function below. */
/* Returns the host's bytes at a guest address. If the access is not allowed, it returns NULL and
 * sets *trap. */
uint8_t *coil_memory(struct coil_vm *vm, uint64_t address, uint64_t size, bool write,
                     uint32_t *trap);
/* linear.c, memory.c and runtime.c define the functions below. */
/* Makes memory in which every region lies at its guest address. Returns NULL if the host cannot
 * do so. */
uint8_t *coil_linear_new(void);
uint8_t *coil_linear_open(uint8_t *linear, uint64_t base, uint64_t size);
void coil_linear_free(uint8_t *linear);
struct coil_region *coil_region_at(struct coil_vm *vm, uint64_t address);
bool coil_heap_open(struct coil_vm *vm);
/* Returns the address of a new block, or 0. *size becomes the size of the block, whose bytes are
 * not cleared. */
uint64_t coil_heap_alloc(struct coil_vm *vm, uint64_t *size);
bool coil_heap_free(struct coil_vm *vm, uint64_t address);
/* interp.c defines the functions below. */
void coil_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
uint32_t coil_enter(struct coil_vm *vm, uint32_t function, uint32_t back, bool tail);
/* Returns from a function. The result is the cell at which the caller continues. */
uint32_t coil_leave(struct coil_vm *vm);
/* vm.c defines the functions below. */
extern const struct engine coil_interp;
/* Opens a machine whose struct begins with struct coil_vm and has `size` bytes, not counting the
 * slots of the largest function at its end. If size is larger than struct coil_vm, memory is
 * linear if possible. */
penta_vm *coil_vm_open(const penta_module *module, const penta_option *options, size_t count,
                       size_t size, penta_error *err);
/* Makes the parts of a machine that the compiler to object files needs: the program and its
 * image. Such a machine cannot run. */
struct coil_vm *coil_vm_open_object(const struct coil_module *m, penta_error *err);
penta_vm *coil_vm_open_interp(const penta_module *module, const penta_option *options, size_t count,
                              penta_error *err);
void coil_vm_close(penta_vm *vm);
bool coil_vm_answer(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err);
bool coil_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size);
bool coil_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size);
bool coil_vm_mark(penta_vm *vm, uint64_t pc, bool on);
const char *coil_vm_detail(const penta_vm *vm, const penta_stop *stop);
/* vm_describe.c defines the functions below. */
void coil_vm_describe(const penta_vm *vm, const penta_visitor *v);
const char *coil_host_name(uint32_t call);
struct coil_base { /* where the variables of an open call are */
    size_t slots;
    uint64_t memory;
};
/* Returns the variable after `last` that is in scope at pc, or NULL if there is none. If `last`
 * is NULL, it returns the first variable. */
const struct coil_visible *coil_variable_next(const struct coil_vm *vm, uint32_t function,
                                              uint64_t pc, const struct coil_visible *last);
bool coil_variable_value(const struct coil_vm *vm, struct coil_base base,
                         const struct coil_visible *variable, penta_field *field);
/* snapshot.c defines the function below. */
void coil_vm_walk(penta_vm *vm, struct walk *w);
/* host.c defines coil_host. */
extern const struct host coil_host;
