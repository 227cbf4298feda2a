/* Computes what a round of a counted loop may cost, because the number of rounds that run
 * without a look at the interrupt flag is limited. It assumes the worst: every instruction waits
 * for the one before, and memory that a loop goes through is in no cache. The cycles are those
 * of processors since 2013. */
#include "ssa/passes/induction.h"
#include "x64/sse.h"

#define UNKNOWN (UINT64_C(1) << 40) /* number of bytes that stands for an unknown distance */
enum {
    NEAR = 32,           /* Accesses that are this many bytes apart, or fewer, stay in a cache. */
    NEAR_MASK = 1 << 18, /* A table with so many elements stays in a cache. */
    FACTOR = 1 << 20,    /* the largest number by which a stride is multiplied */
    /* Cycles of an access to memory far from the last one, including the search for its page. */
    MISS = 400,
    DEPTH = 8 /* how many sums inside sums are looked at */
};

static unsigned lane_cycles(const struct ssa_insn *in)
{
    switch (in->imm & 255) {
    case X64_DIVPS:
    case X64_DIVPD:
    case X64_SQRTPS:
    case X64_SQRTPD: return SSA_LOOP_HEAVY;
    default: return 5;
    }
}

static unsigned insn_cycles(const struct ssa_insn *in)
{
    switch ((enum ssa_op)in->op) {
    case SSA_CONST:
    case SSA_FIXED:
    case SSA_SYMBOL:
    case SSA_PHI:
    case SSA_COPY:
    case SSA_JUMP:
    case SSA_POLL: return 0;
    case SSA_MUL:
    case SSA_MULHS:
    case SSA_MULHU:
    case SSA_POPCNT:
    case SSA_BITS:
    case SSA_REAL: return 4;
    case SSA_DIVS:
    case SSA_DIVU:
    case SSA_REMS:
    case SSA_REMU:
    case SSA_FDIV:
    case SSA_FSQRT: return SSA_LOOP_HEAVY;
    case SSA_FADD:
    case SSA_FSUB:
    case SSA_FMUL:
    case SSA_FSET:
    case SSA_FBRANCH:
    case SSA_FWIDEN:
    case SSA_FNARROW: return 5;
    case SSA_FROMINT:
    case SSA_TOINT: return 8;
    case SSA_LANE1:
    case SSA_LANE2: return lane_cycles(in);
    case SSA_LOAD: return 4;
    default: return 1;
    }
}

static uint64_t stride_sum(uint64_t a, uint64_t b) { return a + b < UNKNOWN ? a + b : UNKNOWN; }

static uint64_t stride_times(uint64_t a, int64_t k)
{
    bool small = a < UNKNOWN && k >= 0 && k <= FACTOR;
    return small && a * (uint64_t)k < UNKNOWN ? a * (uint64_t)k : UNKNOWN;
}

/* Returns how far a counter moves in a round. If the step of the compared counter is not known,
 * it counts as one: its rounds are then limited by how far the counter goes. */
static uint64_t counter_stride(const struct ssa_function *f, const struct ssa_counted *c,
                               const struct ssa_induction *i)
{
    int64_t step;
    if (!ssa_is_const(f, i->step, &step)) return i == &c->counters[c->main] ? 1 : 2 * MISS;
    return step < 0 ? stride_times(1, -(step + 1)) + 1 : stride_times(1, step);
}

/* Returns the most bytes that a value moves from one round to the next. */
static uint64_t value_stride(const struct ssa_function *f, const struct ssa_loops *l,
                             const struct ssa_counted *c, uint32_t value, unsigned depth)
{
    const struct ssa_insn *in = &f->insns[value];
    const struct ssa_induction *i = ssa_counter_of(c, value);
    int64_t k = 0;
    if (!value || ssa_invariant_in(f, l, value, c->header)) return 0;
    if (i) return counter_stride(f, c, i);
    if (!depth || !ssa_work(f, 1)) return UNKNOWN;
    uint64_t a = in->arg[0] ? value_stride(f, l, c, in->arg[0], depth - 1) : 0, b = 0;
    bool known = in->arg[1] && ssa_is_const(f, in->arg[1], &k);
    switch ((enum ssa_op)in->op) {
    case SSA_COPY:
    case SSA_SEXT32:
    case SSA_ZEXT32: return a;
    case SSA_ZEXT8:
    case SSA_SEXT8:
    case SSA_ZEXT16:
    case SSA_SEXT16: return a < NEAR ? a : NEAR;
    case SSA_LOAD:
        /* A loaded value of 8 or 16 bits may be an index into a small table. */
        return ssa_mem_bits[in->mem] < 2 ? NEAR : UNKNOWN;
    case SSA_AND: return known && k >= 0 && k < NEAR_MASK && a > NEAR ? NEAR : a;
    case SSA_SHL: return known && k >= 0 && k < 20 ? stride_times(a, INT64_C(1) << k) : UNKNOWN;
    case SSA_MUL: return known ? stride_times(a, k) : UNKNOWN;
    case SSA_ADD:
    case SSA_SUB:
    case SSA_ADDRESS:
        b = in->arg[1] ? value_stride(f, l, c, in->arg[1], depth - 1) : 0;
        return stride_sum(a, stride_times(b, INT64_C(1) << in->scale));
    default: return UNKNOWN;
    }
}

/* Returns the cycles that an access may take. A line of 64 bytes comes from memory in about 32
 * cycles when lines are read one after the other. */
static uint64_t access_cycles(const struct ssa_function *f, const struct ssa_loops *l,
                              const struct ssa_counted *c, const struct ssa_insn *in)
{
    uint64_t a = in->arg[0] ? value_stride(f, l, c, in->arg[0], DEPTH) : 0;
    uint64_t b = in->arg[1] ? value_stride(f, l, c, in->arg[1], DEPTH) : 0;
    uint64_t stride = stride_sum(a, stride_times(b, INT64_C(1) << in->scale));
    if (stride >= UNKNOWN) return SSA_LOOP_HEAVY;
    return stride < 2 * MISS ? (stride + 1) / 2 : MISS;
}

uint32_t ssa_loop_cycles(const struct ssa_function *f, const struct ssa_loops *l,
                         const struct ssa_counted *c)
{
    uint64_t sum = 1;
    for (uint32_t k = 0; k < l->member_count[c->header]; k++) {
        uint32_t b = l->members[l->member_first[c->header] + k];
        for (uint32_t i = f->blocks[b].first; i && ssa_work(f, 1); i = f->insns[i].next) {
            const struct ssa_insn *in = &f->insns[i];
            uint64_t cycles = insn_cycles(in);
            if (in->op == SSA_LOAD || in->op == SSA_STORE) cycles += access_cycles(f, l, c, in);
            if (cycles >= SSA_LOOP_HEAVY) return SSA_LOOP_HEAVY;
            sum += cycles;
        }
    }
    return sum < SSA_LOOP_HEAVY ? (uint32_t)sum : SSA_LOOP_HEAVY;
}
