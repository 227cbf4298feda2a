/* The machine executes predecoded cells over frames of slots.
 *
 * Loading turns each function into cells once: variables become slots, types choose the cell,
 * branch targets become indices. A scalar variable whose address is not taken is a slot; every
 * other variable is in guest memory, in the byte order of the file. An instruction without a
 * specialised cell is a step: its operands are resolved to places, and one general function
 * executes it. */
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
/* A result beside the traps: the machine was interrupted (bulk.h). */
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
    uint8_t x, y; /* x: scale or condition; y: type */
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
    /* 1 + number of the symbol whose address this is, or at whose address the value is; 0: none. */
    uint32_t symbol;
    uint64_t value; /* the constant, or the address of a value in memory */
};
struct coil_place {
    uint8_t at, op;  /* op: the scalar type, or the opcode of the type */
    uint8_t ext;     /* its qualifiers */
    uint8_t form;    /* form of the operand */
    uint32_t slot;   /* slot, register, or offset in the frame */
    uint32_t symbol; /* for a constant: as in a term */
    const struct coil_type *type;
    uint64_t value;       /* the constant, or the displacement */
    const uint8_t *image; /* a constant that is not a scalar */
    struct coil_term base, index;
    uint64_t scale;
};
struct coil_step {
    uint8_t opcode, count, extended, written; /* written: number of operands in the file */
    const char *form;
    struct coil_place places[5];
};
struct coil_function {
    uint32_t first, slots; /* its first cell; number of slots, where slot 0 is always zero */
    uint64_t bytes;        /* size of its frame in memory */
    uint64_t address;
};
struct coil_visible { /* a variable that is shown when the machine has stopped */
    const char *name;
    const struct coil_type *type;
    uint64_t from, to; /* the pcs of its VAR, and of the SCOPL that ends its scope */
    uint32_t function, slot;
    uint8_t at;
};
struct coil_program { /* a program does not change after loading */
    struct coil_cell *cells;
    uint64_t *pcs;    /* per cell: its pc */
    uint32_t *owners; /* per cell: its function */
    uint32_t *starts; /* per cell: function + 1 if it begins one, else 0 */
    size_t count;
    struct coil_function *functions;
    size_t function_count;
    struct coil_step **steps;       /* per cell: its step, or NULL if it needs none */
    struct coil_visible *variables; /* function by function, in the order of their VARs */
    size_t variable_count, variable_capacity;
    uint64_t *symbols; /* address of each symbol */
    uint64_t *sections;
    size_t *order;             /* the sections in the order of their addresses */
    uint64_t end;              /* the first address after the image */
    uint32_t entry;            /* the function that starts the program */
    struct arena arena, types; /* `types` has the types that type ids stand for */
};

/* Regions are in the order of their addresses, and sections lie below all of these. If the sections
 * end below 4 GiB, all memory is below COIL_LINEAR_BYTES, so a compiler can reserve that much and
 * find any address by one addition. Otherwise heap, frames and stack are moved to where no section
 * can be. */
#define COIL_HEAP_BASE UINT64_C(0x100000000)
#define COIL_FRAME_BASE UINT64_C(0x200000000)
#define COIL_STACK_BASE UINT64_C(0x300000000)
#define COIL_LINEAR_BYTES UINT64_C(0x400000000)
/* This is added to the bases above if sections end above 4 GiB. */
#define COIL_FAR UINT64_C(0x700000000000)

struct coil_region {
    uint64_t base, size;
    uint8_t *bytes;
    bool writable, owned;
    const char *name;
};
struct coil_frame {
    uint32_t back, function; /* of the caller: the cell to return to, and its number */
};
struct coil_block {
    uint64_t offset, size;
    bool live;
};

/* A write of many bytes that is not finished, or the trimming of the heap (bulk.h). */
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
    /* It clears the frame of the running function, whose first instruction comes next. */
    bool enters;
    bool first; /* for VAR: it clears, and then the value is written */
    uint64_t to, from, size, done;
    /* Either the source, with `size` bytes, or for a copy the bytes that are written to `from`
     * after it. */
    uint8_t *scratch;
};

/* Operations whose flags are not computed yet (flags.c). */
enum coil_order { COIL_UNORDERED, COIL_CMP_SIGNED, COIL_CMP_UNSIGNED };
struct coil_table { /* a table of a SWITCH instruction (jit/tables.c) */
    uint64_t address;
    uint32_t *cells, count, owner; /* owner: the function that has all these cells */
};
struct coil_pending {
    uint8_t order;        /* a comparison that a branch can decide from its operands */
    uint8_t opcode, type; /* the last integer operation; opcode 0: none */
    uint8_t real;         /* opcode of a later operation in FP64, or 0 */
};

struct coil_vm {
    penta_vm base;
    const struct coil_module *m;
    struct coil_program program;
    struct coil_cell *cells; /* its own copy with breakpoints, or the program's cells */
    bool marked;
    uint64_t v[COIL_REGISTERS];
    uint8_t flags;       /* the flags without the pending operations */
    uint8_t parity_type; /* VOID: P is in `flags` */
    struct coil_pending pending;
    uint64_t flag_a, flag_b, real_a, real_b, parity;

    uint64_t *slots; /* the slots of all frames */
    size_t slot_capacity, fp, slots_used;
    struct coil_frame *frames;
    size_t depth, depth_max, frame_capacity;
    uint32_t function, pc; /* the running function, and the next cell */
    struct coil_region *regions;
    size_t region_count;
    struct coil_region *stack, *frame_memory, *heap;
    uint64_t sp, frame_top; /* the stack pointer, and the address of the running function's frame */
    struct coil_bulk bulk;
    struct coil_block *blocks;
    size_t block_count, block_capacity, block_free; /* block_free: number of free blocks */
    uint64_t heap_top, heap_max; /* the region has no bytes before the first ALLOC */
    /* All regions lie at their address from here. NULL: each region has memory of its own. */
    uint8_t *linear;
    bool divide_trap;
    /* Set where compiled code stopped: per slot, whether its value is known there. The value of a
     * dead slot is not known. */
    const uint8_t *kept;
    uint32_t kept_cell;
    /* With `yields`, run stops at the start of a called function; `yielded` tells that it did. */
    bool yields, yielded;

    bool waiting, final, halted, started, at_break;
    uint32_t host_call;
    uint64_t host_args[COIL_HOST_ARGS];
    uint32_t trap;
    uint64_t trap_code, fault_address;
    uint64_t executed;
    struct coil_table *tables; /* made by a compiler, in the order of addresses */
    size_t table_count;
    /* From counts_places. The cells are then an own copy, which has COUNT cells. */
    uint32_t *places;
};

static inline struct coil_vm *coil_vm(penta_vm *vm) { return (struct coil_vm *)vm; }

/* ---- load.c ---- */
struct coil_load {
    bool plain;       /* every instruction in its general form */
    bool host_vendor; /* vendor instructions ask the host */
    /* The program is compiled to an object file: symbols may be undefined, and there may be no
     * entry. */
    bool object;
};
#define COIL_ELSEWHERE                                                                             \
    UINT64_C(0x710000000000) /* the addresses of the undefined symbols of an object begin here */
bool coil_program_load(struct coil_program *p, const struct coil_module *m, struct coil_load how,
                       penta_error *err);
void coil_program_free(struct coil_program *p);
bool coil_program_cell(const struct coil_program *p, uint64_t pc, uint32_t *cell);
/* ---- step.c, operands.c ---- */
/* These return 0, the trap, or COIL_PAUSE if the instruction was interrupted and must run again. */
uint32_t coil_step_run(struct coil_vm *vm, const struct coil_step *step);
/* Calls fn for every slot and register that a step reads or writes. */
typedef void coil_touch_fn(void *user, uint8_t at, uint32_t slot, bool write);
void coil_step_touches(const struct coil_step *s, coil_touch_fn *fn, void *user);
uint32_t coil_place_read(struct coil_vm *vm, const struct coil_place *p, uint8_t as,
                         uint64_t *value);
uint32_t coil_place_write(struct coil_vm *vm, const struct coil_place *p, uint64_t value,
                          uint8_t from);
uint8_t coil_step_type(const struct coil_step *step); /* gives the type that a register takes */
/* ---- flags.c ---- */
/* coil_flags_now returns the exact flags, and coil_flags_settle stores them in `flags`. */
uint8_t coil_flags_now(const struct coil_vm *vm);
void coil_flags_settle(struct coil_vm *vm);
void coil_flags_put(struct coil_vm *vm, uint8_t flags);
/* ---- memory.c ---- */
/* Returns the bytes at an address, or NULL and the trap. */
uint8_t *coil_memory(struct coil_vm *vm, uint64_t address, uint64_t size, bool write,
                     uint32_t *trap);
/* ---- linear.c ---- */
/* Makes memory in which every region lies at its address. Returns NULL if there is none. */
uint8_t *coil_linear_new(void);
uint8_t *coil_linear_open(uint8_t *linear, uint64_t base, uint64_t size);
void coil_linear_free(uint8_t *linear);
struct coil_region *coil_region_at(struct coil_vm *vm, uint64_t address);
bool coil_heap_open(struct coil_vm *vm);
/* Returns the address of a block, or 0. *size becomes the size of the block, which is not
 * cleared. */
uint64_t coil_heap_alloc(struct coil_vm *vm, uint64_t *size);
bool coil_heap_free(struct coil_vm *vm, uint64_t address);
/* ---- interp.c ---- */
void coil_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
uint32_t coil_enter(struct coil_vm *vm, uint32_t function, uint32_t back, bool tail);
/* Returns from a function, and gives the cell at which the caller goes on. */
uint32_t coil_leave(struct coil_vm *vm);
/* ---- vm.c ---- */
extern const struct engine coil_interp;
/* `size` is that of the machine's struct, which begins with struct coil_vm, without the slots of
 * the largest function. If it is larger than struct coil_vm, memory is linear if possible. */
penta_vm *coil_vm_open(const penta_module *module, const penta_option *options, size_t count,
                       size_t size, penta_error *err);
/* Makes what a compiler to object files needs of a machine: the program and its image. Such a
 * machine cannot run. */
struct coil_vm *coil_vm_open_object(const struct coil_module *m, penta_error *err);
penta_vm *coil_vm_open_interp(const penta_module *module, const penta_option *options, size_t count,
                              penta_error *err);
void coil_vm_close(penta_vm *vm);
bool coil_vm_answer(penta_vm *vm, const uint64_t *results, size_t count, penta_error *err);
bool coil_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size);
bool coil_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size);
bool coil_vm_mark(penta_vm *vm, uint64_t pc, bool on);
const char *coil_vm_detail(const penta_vm *vm, const penta_stop *stop);
/* ---- vm_describe.c ---- */
void coil_vm_describe(const penta_vm *vm, const penta_visitor *v);
const char *coil_host_name(uint32_t call);
struct coil_base { /* where the variables of a call are */
    size_t slots;
    uint64_t memory;
};
/* Returns the next variable after `last` that is in scope at pc, or NULL. If `last` is NULL, it
 * returns the first one. */
const struct coil_visible *coil_variable_next(const struct coil_vm *vm, uint32_t function,
                                              uint64_t pc, const struct coil_visible *last);
bool coil_variable_value(const struct coil_vm *vm, struct coil_base base,
                         const struct coil_visible *variable, penta_field *field);
/* ---- snapshot.c ---- */
void coil_vm_walk(penta_vm *vm, struct walk *w);
/* ---- host.c ---- */
extern const struct host coil_host;
