/* Declares the compiler to x86-64 and its run time. Compiled code works on the struct pvm_state
 * of the same machine that the interpreter runs. It leaves rare things (faults, traps, sbrk,
 * memset, illegal jumps, finite fuel, breakpoints) to the interpreter, one instruction at a
 * time, which starts from the exact state before that instruction.
 *
 *   registers   13 guest registers in host registers; rcx is scratch; r13 counts gas down
 *   memory      gs:[r32 + disp]: gs is at guest address 0, the address-size prefix cuts the sum to
 *               32 bits, and page protections are the rights; so no address leaves the reservation
 *   blocks      | sub r13, cost | jb cold | instructions ...     the first two only when metered
 *   cold        places of five bytes after all blocks; each is a call, and the return address of
 *               the call tells which place it is
 *
 * An instruction's own code starts after the charge of its block, so that a paid block can be
 * entered there; jumps go to the charge, `charge_size` bytes before it. */
#pragma once
#include "pvm/jit/interrupt.h"
#include "pvm/vm/vm.h"
#include "base/long_work.h"
#include "x64/x64.h"

/* clang-format off */
enum pvm_native_exit { /* An enum pvm_native_exit says why compiled code returned. */
    PVM_NATIVE_STEP,   /* The interpreter must do the instruction around `at`. */
    /* After a signal at `at`, the interpreter must do the instruction around it. */
    PVM_NATIVE_FAULT,
    PVM_NATIVE_HOST,   /* The instruction is ecalli; pc and its number are set. */
    /* The program has returned: a jump, whose cold place is `at`, went to its return address. */
    PVM_NATIVE_HALT,
    PVM_NATIVE_POLL,   /* The interrupt flag is set; nothing of the instruction was done. */
    PVM_NATIVE_EARLY,  /* The interrupt flag was set before anything ran. */
    PVM_NATIVE_KICK,   /* An interrupt came at `at`, between two instructions of the guest. */
};
/* clang-format on */

/* A struct pvm_copy is a second copy of the code of the instruction at pc, which begins at
 * `native`. It is part of the code of a jump, which the copy replaces (dispatches in compile.c). */
struct pvm_copy {
    uint32_t native, pc;
};

enum pvm_cold_kind { PVM_COLD_STEP, PVM_COLD_GAS, PVM_COLD_DYNAMIC, PVM_COLD_POLL };

enum { PVM_COLD_BYTES = 5 };

struct pvm_cold {  /* A cold place comes after the blocks and has code that seldom runs. */
    uint32_t site; /* the offset of the rel32 field of the jump to the cold place */
    uint32_t pc : 28, kind : 4;
};

struct pvm_native {
    uint8_t *code;
    size_t mapped;
    /* `used` is the offset where everything ends, `body` that of the first block, `cold_start`
     * that of the first cold place. */
    uint32_t used, body, cold_start;
    uint32_t enter, enter_check, enter_end, exits_end, leave_fault, leave_kick;
    uint32_t charge_size;
    uint32_t size;     /* the size of the guest code */
    uint64_t *places;  /* a bit for each pc up to `size` at which an instruction is */
    uint32_t *numbers; /* for every 64 bytes of guest code: the number of their first instruction */
    /* `offsets` has for each instruction the native offset of its code, ascending, or 0 when the
     * instruction is inside a group. */
    uint32_t *offsets;
    uint32_t count; /* how many instructions there are */
    /* `offsets_mapped` is the size of the mapping of `offsets` in bytes, or 0 when it has no
     * mapping of its own. */
    size_t offsets_mapped;
    uint8_t *block_starts;   /* a bit for each pc where a block starts */
    struct pvm_copy *copies; /* The copies are sorted by `native`. */
    struct pvm_cold *cold;
    uint32_t copy_count, cold_count;
    /* The table has the native address for each dynamic address. It is mapped below 2 GiB, or
     * NULL when there is none. */
    uint64_t *table;
    size_t table_bytes;
    bool metered, async, poll;
};

/* Compiles a program (compile.c). Returns NULL when memory ran out, executable memory is
 * refused, the code is too large, or config->work is over. */
struct pvm_native *pvm_native_compile(const struct pvm_cells *p, const struct pvm_config *config);
void pvm_native_free(struct pvm_native *n);
/* Counts the bits that are set. pvm_jit_usable() makes sure that the processor has popcnt, but
 * the C compiler may not assume it. */
static inline uint32_t pvm_count_bits(uint64_t bits)
{
    uint64_t count;
    __asm__("popcnt %1, %0" : "=r"(count) : "r"(bits) : "cc");
    return (uint32_t)count;
}

/* Returns the number of the instruction at pc, or of the next one when none starts there. */
static inline uint32_t pvm_native_number(const struct pvm_native *n, uint32_t pc)
{
    uint64_t before = n->places[pc >> 6] & ((UINT64_C(1) << (pc & 63)) - 1);
    return n->numbers[pc >> 6] + pvm_count_bits(before);
}
static inline bool pvm_native_place(const struct pvm_native *n, uint32_t pc)
{
    return n->places[pc >> 6] >> (pc & 63) & 1;
}
/* Returns the native offset of the instruction at pc, or 0 when the code cannot be entered
 * there. */
static inline uint32_t pvm_native_offset(const struct pvm_native *n, uint32_t pc)
{
    return pc <= n->size && pvm_native_place(n, pc) ? n->offsets[pvm_native_number(n, pc)] : 0;
}

/* Finds the places of instructions and counts them. Returns false when memory ran out
 * (code_map.c). */
bool pvm_native_places(struct pvm_native *n, const struct pvm_code *code);
/* Returns the pc of the instruction to which native offset `at` belongs. */
uint32_t pvm_native_pc(const struct pvm_native *n, uint32_t at);
/* Tells whether native offset `at` is between two instructions. *pc is the second of them, and
 * *paid tells whether the charge of its block is done. */
bool pvm_native_between(const struct pvm_native *n, uint32_t at, uint32_t *pc, bool *paid);

/* Writes the names of compiled functions for perf (perf_map.c). */
void pvm_perf_map(const struct pvm_native *n, const struct pvm_program *p);

/* The declarations below are for compiling. */

struct jit_insn {  /* A struct jit_insn is one instruction; decode.h reads its operands. */
    uint8_t op;    /* a number of enum pvm_op */
    bool in_place; /* `at` points into the program's code, not into a copy. */
    uint32_t pc;
    unsigned length; /* how many bytes the instruction has in the program */
    unsigned skip;   /* how many bytes follow the opcode */
    const uint8_t *at;
    uint64_t word; /* the first eight bytes after the opcode */
};

struct jit_decoder {
    const struct pvm_code *code;
    const uint8_t *ops, *bytes, *starts;
    uint32_t limit; /* Below this pc, reads of fixed size stay inside code and bitmask. */
    /* `end` is the value that `limit` has unless it is lowered so that the decoder asks. */
    uint32_t end;
    /* `next` is the pc from which on the decoder asks again whether the work is over. */
    uint32_t next;
    /* `asks` is the compiler whose work may be over, or NULL when the decoder does not ask. */
    struct jit *asks;
    /* `longest` has copies of the last two instructions that are not in place, in their longest
     * form. */
    uint8_t longest[2][16];
    unsigned copies; /* how many copies were made so far; they alternate in `longest` */
};

struct jit_fixup {
    uint32_t site, target;
};

/* A repair is code outside of a loop that sign-extends a register (pvm_jit_widen). */
struct jit_repair {
    uint32_t site, back;
    enum x64_reg reg;
};

struct jit {
    struct x64 e;
    const struct pvm_cells *p;
    struct pvm_native *n;
    uint32_t size;      /* the size of the guest code */
    enum x64_size word; /* the width of guest registers */
    bool narrow;        /* Guest registers have 32 bits. */
    bool copying;       /* A copy of a dispatch is being written (compile.c). */
    bool strict;        /* A branch must be legal even when it is not taken. */
    /* Jump targets follow the rules of the Gray Paper or of the doc dialect. */
    bool general;
    const uint8_t *writes; /* in a loop: how often the loop writes each host register; else NULL */
    uint32_t count;        /* how many instructions the block has that was written last */
    /* `odd` has a bit for each pc of a block to which no jump may go. It is NULL while there is
     * no such block. */
    uint8_t *odd;
    struct x64_label step, host, poll, dynamic;
    struct x64_label divide[8], high_ss, high_su;
    struct jit_fixup *fixups;
    struct jit_repair *repairs;
    /* For each DISPATCH_BYTES of guest code: the code has a jump through the jump table that is
     * not a return. */
    bool *dispatches;
    uint32_t fixup_count, fixup_capacity, copy_capacity, cold_capacity, repair_count,
        repair_capacity;
    struct jit_decoder decoder;
    uint8_t charge[16];     /* the bytes of the charge that comes before a block */
    struct long_work *work; /* the work that may be ended early, or NULL */
};

/* JIT_PIECE is the number of units between two questions whether the work is over. A unit is a
 * byte of guest code, or an item of a list. */
enum { JIT_PIECE = 1 << 13 };

/* Makes the compiler stop. The memory for the code pretends to be full, which is tested
 * everywhere. */
static inline void pvm_jit_give_up(struct jit *j) { j->e.limit = j->e.start - 1; }
/* Asks before so many bytes or items are done whether the work is over, and gives up then
 * (compile.c). */
void pvm_jit_ask(struct jit *j, uint32_t units);

/* Tells whether a jump may go to pc, for which code is written already. */
static inline bool pvm_jit_may_go(const struct jit *j, uint32_t pc)
{
    return pvm_bit(j->n->block_starts, pc) && !(j->odd && pvm_bit(j->odd, pc));
}

/* A charge comes before a block. NUMBER is where it has the cost, JUMP where it has the distance
 * of its jump; ASYNC and SYNC are its two sizes. */
enum { JIT_CHARGE_NUMBER = 3, JIT_CHARGE_JUMP = 9, JIT_CHARGE_ASYNC = 7, JIT_CHARGE_SYNC = 13 };

/* The table has the host register of a guest register, by any four bits of an instruction. */
extern const uint8_t pvm_host_registers[16];
#define GAS_REGISTER R13

/* Writes the entry, the exits, and the operations that are too long to inline (stubs.c). */
void pvm_jit_stubs(struct jit *j);
/* Writes the blocks from pc on, or only one of them (instructions.c). Returns the pc after them.
 * The function stops when memory is full. */
uint32_t pvm_jit_blocks(struct jit *j, uint32_t pc, bool one);
void pvm_jit_charge(struct jit *j); /* Sets j->charge. */
/* Notes that no jump may go to this block (compile.c). */
void pvm_jit_odd(struct jit *j, uint32_t pc);

/* The functions below are in compile.c. */
void pvm_jit_place_copy(struct jit *j, uint32_t pc);
void pvm_jit_cold(struct jit *j, uint32_t site, uint32_t pc, enum pvm_cold_kind kind);
/* Adds code that sign-extends a register. The jump at `site` leads to it, and it returns to the
 * present place. */
void pvm_jit_repair(struct jit *j, uint32_t site, enum x64_reg reg);
/* Notes that the jump at `site` goes to `target`. The distance of the jump is filled in when
 * everything is written. */
void pvm_jit_aim(struct jit *j, uint32_t site, uint32_t target);
/* Returns the cost of the block at pc by the gas model. */
uint32_t pvm_jit_cost(struct jit *j, uint32_t pc);
/* Writes a copy of the dispatch at pc, if there is one, in place of a backward jump to it. */
bool pvm_jit_copy_dispatch(struct jit *j, uint32_t pc);
/* Notes that there is a dispatch at pc. */
void pvm_jit_dispatch(struct jit *j, uint32_t pc, unsigned registers);
/* Improves a loop: the block from pc to `end`, of `count` instructions, whose code begins at
 * `start`. */
void pvm_jit_loop(struct jit *j, uint32_t start, uint32_t pc, uint32_t end, uint32_t count);

static inline enum x64_reg host_reg(unsigned reg)
{
    return (enum x64_reg)pvm_host_registers[reg & 15];
}

/* Returns the operand for a member of struct pvm_state, which starts PVM_PAGE below guest
 * address 0. */
static inline struct x64_mem state_field(size_t offset)
{
    return (struct x64_mem){
        .base = X64_NONE, .index = X64_NONE, .gs = true, .disp = (int32_t)offset - PVM_PAGE};
}

/* The declarations below are for running. */

/* Installs the signal handler. Returns false when that fails (signal.c). */
bool pvm_signal_install(void);
bool pvm_signal_thread(void); /* Makes sure that this thread has an alternate stack. */

/* The declarations below are in run.c. */
extern const struct engine pvm_jit;
bool pvm_jit_usable(void); /* Tells whether this processor and kernel can run compiled code. */
void pvm_jit_adopt(struct pvm_vm *vm, const struct pvm_config *config);
/* Runs compiled code until it leaves, or one instruction by the interpreter. Metered code leaves
 * when it has spent its budget. Returns false when the machine stopped, as *stop says. */
bool pvm_jit_advance(struct pvm_vm *vm, int64_t budget, penta_stop *stop);
/* Gives back what was paid for instructions of a block that were not executed. This is for the
 * gas model `step`. */
void pvm_jit_refund(struct pvm_vm *vm);

/* Gives the pcs of the instruction and its callers that a profiler has interrupted (sample.c). */
size_t pvm_jit_sample(const penta_vm *vm, const struct native_state *at, const struct code_map *map,
                      uint64_t *pcs, size_t max);

/* The declarations below are in lockstep.c. */
extern const struct engine pvm_both;
void pvm_both_adopt(struct pvm_vm *vm, const struct pvm_config *config);
