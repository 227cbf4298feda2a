/* Where every value is at every place in the code. live.c, allocate.c and the emitter share this
 * file.
 *
 *  Instructions have even numbers, and the gaps between them have odd numbers. A value that
 * instruction p reads lives up to p. A value that p defines lives from p on, but from p + 1 on
 * if p is a call or a division, because these destroy registers at p. A phi has the number with
 * which its block begins. Edges between blocks have no numbers. */
#pragma once
#include "base/arena.h"
#include "ssa/ssa.h"

enum { SSA_IN_FRAME = -1, SSA_REGISTERS = 16 };

struct ssa_range {
    uint32_t from, to, next; /* next: the next range of the same value, or 0 */
};
struct ssa_place { /* a place where an instruction uses a value */
    uint32_t at;
    bool needs; /* true if the value must be in a register there */
};
struct ssa_interval {
    uint32_t value;
    uint32_t from, to;
    uint32_t range;              /* index of the first range of the interval */
    uint32_t use_first, use_end; /* the uses in the interval, as a range of indices of `uses` */
    uint32_t next;               /* the interval that has the rest of the value's life, or 0 */
    int8_t reg;                  /* the register of the value, or SSA_IN_FRAME */
    bool real;                   /* true if the value needs a register for floats and vectors */
};
struct ssa_live {
    struct ssa_function *f;
    struct ssa_loops loops;
    const uint32_t *order; /* the blocks in the order of the code */
    uint32_t block_count;
    struct ssa_live_block {
        uint32_t from, to; /* the numbers of the block: the first one, and the end */
        /* This is a list of the values that live at the start of the block, with a 0 at its end,
         * and their number. */
        uint32_t *entry, entries;
        /* This is the list of the values that phis of other blocks use at the end of this block,
         * or 0. */
        uint32_t at_end;
        /* mark: the value last seen in the block; end: where the life of this value in the block
         * ends. */
        uint32_t mark, end;
    } * blocks;
    uint32_t *seen, seen_count; /* the blocks in which the current value lives */
    uint32_t *number;           /* per instruction: its number in the code */
    uint32_t limit;             /* end of the numbers of all instructions */
    struct ssa_range *ranges;
    struct ssa_place *uses;
    struct ssa_interval *intervals;
    uint32_t *first; /* per value: its first interval, or 0 */
    int32_t *slots;  /* per value: its place in the frame in words, or -1 */
    uint32_t *calls, call_count, *divides, divide_count;
    size_t range_count, range_capacity, use_count, use_capacity, interval_count, interval_capacity;
    uint32_t frame;     /* size of the frame in words */
    struct arena arena; /* memory for those arrays of a part that do not grow */
    size_t block_capacity, seen_capacity;
    penta_error err;
    bool failed;
};

/* These functions are called in this order: ssa_live_begin once for a function; then, for each
 * part of its code, ssa_live_number, and ssa_local or, if that fails, ssa_live and ssa_allocate. */
bool ssa_live_begin(struct ssa_live *l, struct ssa_function *f);
bool ssa_live_number(struct ssa_live *l, const uint32_t *order, uint32_t count);
bool ssa_local(struct ssa_live *l);
bool ssa_live(struct ssa_live *l);
bool ssa_allocate(struct ssa_live *l);
void ssa_live_free(struct ssa_live *l);
/* Returns the registers for integers, or those for floats, in the order in which the allocator
 * takes them. */
const int8_t *ssa_registers(bool real, size_t *count);
/* Returns the interval of a value that contains a number, or NULL if there is none. */
const struct ssa_interval *ssa_interval_at(const struct ssa_live *l, uint32_t value, uint32_t at);

/* Tells whether a value needs no register of its own, because it is a reserved register or a
 * constant that can be part of instructions. */
static inline bool ssa_immediate(const struct ssa_insn *in)
{
    return in->op == SSA_FIXED ||
           (in->op == SSA_CONST && in->type == SSA_INT && in->imm == (int32_t)in->imm);
}
/* Tells whether a value is computed again where it is needed, and never kept in the frame
 * (rematerialise.c). */
static inline bool ssa_is_remade(const struct ssa_insn *in) { return in->op == SSA_CONST; }
/* Tells whether a value exists only after its instruction, because the instruction destroys
 * registers. */
static inline bool ssa_is_late(const struct ssa_insn *in)
{
    return in->op == SSA_RESULT || ssa_has(in->op, 'd');
}
/* Tells whether a value is in one of the registers for floats and vectors. */
static inline bool ssa_is_float(const struct ssa_insn *in) { return in->type >= SSA_F32; }
/* Returns how many words of the frame a value takes. */
static inline uint32_t ssa_words(const struct ssa_insn *in)
{
    return in->type == SSA_V256 ? 4 : in->type == SSA_V128 ? 2 : 1;
}
