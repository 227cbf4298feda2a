/* Declares the form in which the interpreter runs a program: an array of 16-byte cells, which is
 * built once and shared by all machines of a module.
 *
 *   | header | first instruction | ... | last instruction |  header | ...        a block
 *   | header | loop | header | first | ... | branch to itself |                  a block that loops
 *
 * A header is never executed: it holds the charge of its block, and a handler that jumps to a cell
 * subtracts the charge in the cell before it from the budget. An instruction with two immediates,
 * or an immediate and a target, has a second cell. Targets are distances in bytes, so the array can
 * be copied: a machine with breakpoints has its own copy.
 *
 * A charge is the number of instructions; with the pipeline gas model it is cost << 32 |
 * instructions, so that one subtraction from a 64-bit budget counts both. A block of n instructions
 * costs at least n/4 - 3 cycles. So the lower half never borrows while budgets are as small as
 * interp.c makes them. */
#pragma once
#include "base/thread/lock.h"
#include "pvm/vm/gas.h"
#include "pvm/vm/spec_profile.h"

struct pvm_cell;
typedef void pvm_handler(const struct pvm_cell *c, uint8_t *r, uint64_t acc,
                         const struct pvm_cell *loop, int64_t left);

struct pvm_cell {
    union {
        pvm_handler *run;
        uint64_t wide; /* the charge in a header, or a 64-bit immediate in a second cell */
    };
    uint8_t a, b, d; /* the registers, as distances in bytes from the state */
    uint8_t op;      /* a number of enum pvm_op or pvm_cell_op */
    int32_t imm;     /* the first immediate, or the distance to the target */
};

enum pvm_cell_op {
    PVM_CELL_HEADER = PVM_OPS,
    PVM_CELL_MORE,
    PVM_CELL_LOOP,
    PVM_CELL_FALL, /* This ends a block of a doc program where the bitmask starts the next one. */
    PVM_CELL_OPS
};

/* PVM_CELL_NOWHERE is the distance of a jump that the step engine does. Other distances are
 * multiples of a cell; 0 is the jump of an instruction to itself. */
enum { PVM_CELL_NOWHERE = 1 };

struct pvm_place { /* A struct pvm_place says where a cell comes from. */
    /* `ordinal` says how many instructions of the program come before this one. */
    uint32_t pc, block, ordinal;
};

struct pvm_block {
    uint32_t pc;
    /* `entry` is the cell to which jumps to the block go, `first` the cell of its first
     * instruction. */
    uint32_t entry, first;
    /* `ordinal` says how many instructions come before the block, `count` how many it has. */
    uint32_t ordinal, count;
    bool loops; /* The last instruction of the block may jump to its first one. */
};

struct pvm_cells {
    atomic_uint users;
    struct lock lock;     /* The lock is held while the cells are built. */
    atomic_bool built;    /* The arrays of cells, places and blocks and the table exist. */
    struct pvm_code code; /* The code follows the jump rule of the profile. */
    const struct pvm_profile *profile;
    enum pvm_gas_model model;
    bool wide_charges; /* A charge is cost << 32 | instructions. */
    struct pvm_cell *cells;
    struct pvm_place *places;
    struct pvm_block *blocks;
    uint32_t count, block_count;
    size_t capacity, place_capacity, block_capacity;
    uint32_t *table; /* the entry cells of the jump table, 0 for entries that trap */
    uint32_t table_count;
    struct pvm_native *native; /* the compiled form of the same program, or NULL (jit.h) */
    void (*native_free)(struct pvm_native *native);
};

/* Opens the cells of a program. When `metered` is true, they have the charges of the gas model.
 * pvm_cells_build makes the cells when they are needed, because compiled code seldom needs them,
 * and building them takes longer than compiling. */
struct pvm_cells *pvm_cells_new(const struct pvm_code *code, const struct pvm_profile *profile,
                                enum pvm_gas_model model, bool metered, penta_error *err);
/* Builds the cells unless they exist. Any thread may call the function. Returns false when
 * memory ran out. */
bool pvm_cells_build(struct pvm_cells *p);
struct pvm_cells *pvm_cells_share(struct pvm_cells *p);
void pvm_cells_free(struct pvm_cells *p);

/* Returns the cell of the instruction at pc, or 0 when none starts there. */
uint32_t pvm_cells_find(const struct pvm_cells *p, uint32_t pc);

static inline uint64_t pvm_block_charge(const struct pvm_cells *p, uint32_t block)
{
    return p->cells[p->blocks[block].entry - 1].wide;
}
static inline uint32_t pvm_block_gas(const struct pvm_cells *p, uint32_t block)
{
    uint64_t charge = pvm_block_charge(p, block);
    return (uint32_t)(p->wide_charges ? charge >> 32 : charge);
}

/* Returns how many instructions there are from this cell to the end of its block, including this
 * one. */
static inline uint32_t pvm_cells_rest(const struct pvm_cells *p, uint32_t cell)
{
    const struct pvm_block *b = &p->blocks[p->places[cell].block];
    return b->ordinal + b->count - p->places[cell].ordinal;
}

/* Chooses the handlers of a block's cells (interp.c). `marked` tells which cells have a
 * breakpoint, and may be NULL. */
void pvm_cells_thread(const struct pvm_cells *p, struct pvm_cell *cells, uint32_t block,
                      const uint8_t *marked);
