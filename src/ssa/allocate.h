/* Where every value is, at every place: shared by live.c, allocate.c and the emitter.
 *
 * Instructions have even numbers, gaps between them odd ones. A value read by instruction p lives up
 * to p; one that is defined there lives from p, from p + 1 after calls and divisions, which destroy
 * registers at p. Phis are at the first number of their block, edges between blocks have none. */
#pragma once
#include "base/arena.h"
#include "ssa/ssa.h"

enum { SSA_IN_FRAME = -1, SSA_REGISTERS = 16 };

struct ssa_range {
    uint32_t from, to, next; /* next: 0 none */
};
struct ssa_place { /* where an instruction uses a value */
    uint32_t at;
    bool needs; /* it must be in a register */
};
struct ssa_interval {
    uint32_t value;
    uint32_t from, to;
    uint32_t range;              /* first one */
    uint32_t use_first, use_end; /* in uses */
    uint32_t next;               /* the rest of the value's life; 0: none */
    int8_t reg;                  /* or SSA_IN_FRAME */
    bool real;                   /* it needs one for floats and vectors */
};
struct ssa_live {
    struct ssa_function *f;
    struct ssa_loops loops;
    const uint32_t *order; /* blocks in the order of the code */
    uint32_t block_count;
    struct ssa_live_block {
        uint32_t from, to;        /* numbers */
        uint32_t *entry, entries; /* values that live at its start, ends with 0; how many */
        uint32_t at_end;          /* what phis of others take at its end, 0: nothing */
        uint32_t mark, end;       /* value that was seen there; where its life in it ends */
    } * blocks;
    uint32_t *seen, seen_count; /* blocks where a value lives */
    uint32_t *number;           /* per instruction */
    uint32_t limit;             /* after the last number */
    struct ssa_range *ranges;
    struct ssa_place *uses;
    struct ssa_interval *intervals;
    uint32_t *first; /* per value: its first interval; 0: none */
    int32_t *slots;  /* per value: place in the frame, in words; -1: none */
    uint32_t *calls, call_count, *divides, divide_count;
    size_t range_count, range_capacity, use_count, use_capacity, interval_count, interval_capacity;
    uint32_t frame;     /* words */
    struct arena arena; /* of what does not grow, for a part */
    size_t block_capacity, seen_capacity;
    penta_error err;
    bool failed;
};

/* A function, then each of its parts: numbers, and registers by ssa_local, or by ssa_live and ssa_allocate. */
bool ssa_live_begin(struct ssa_live *l, struct ssa_function *f);
bool ssa_live_number(struct ssa_live *l, const uint32_t *order, uint32_t count);
bool ssa_local(struct ssa_live *l);
bool ssa_live(struct ssa_live *l);
bool ssa_allocate(struct ssa_live *l);
void ssa_live_free(struct ssa_live *l);
/* Those of integers, or of floats, in the order in which they are taken. */
const int8_t *ssa_registers(bool real, size_t *count);
/* The interval of the value around a number. */
const struct ssa_interval *ssa_interval_at(const struct ssa_live *l, uint32_t value, uint32_t at);

/* A constant that is part of instructions, or a reserved register: nothing to allocate. */
static inline bool ssa_immediate(const struct ssa_insn *in)
{
    return in->op == SSA_FIXED ||
           (in->op == SSA_CONST && in->type == SSA_INT && in->imm == (int32_t)in->imm);
}
/* A value that is made again where it is needed, and never kept in the frame: rematerialise.c. */
static inline bool ssa_is_remade(const struct ssa_insn *in) { return in->op == SSA_CONST; }
/* A value that begins after its instruction, which destroys registers. */
static inline bool ssa_is_late(const struct ssa_insn *in)
{
    return in->op == SSA_RESULT || ssa_has(in->op, 'd');
}
/* Floats and vectors share registers. */
static inline bool ssa_is_float(const struct ssa_insn *in) { return in->type >= SSA_F32; }
static inline uint32_t ssa_words(const struct ssa_insn *in) /* of the frame */
{
    return in->type == SSA_V256 ? 4 : in->type == SSA_V128 ? 2 : 1;
}
