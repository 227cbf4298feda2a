/* Computes costs by the pipeline model (PVM 9.3): the cycles that a small out-of-order machine
 * needs for a block.
 *
 * The reorder buffer is a ring of 32 slots, and sets of slots are 32-bit masks. Cycles in which
 * nothing can happen are skipped: completions are kept by cycle, and every entry knows which
 * entries wait for it. An entry that starts in cycle t with latency n frees its units in cycle t
 * + n, and the entries that wait for it may start then. Its slot is free in cycle t + n + 2, but
 * not before the slots of older entries. */
#include "pvm/vm/gas.h"
#include <string.h>
#include "pvm/vm/ops.h"

/* clang-format off */
static const struct { const char *name; enum pvm_gas_model model; } names[] = {
    {"naive", PVM_GAS_NAIVE},         {"step", PVM_GAS_STEP},
    {"full", PVM_GAS_FULL_L2},        {"full-l1-hit", PVM_GAS_FULL_L1},
    {"full-l2-hit", PVM_GAS_FULL_L2}, {"full-l3-hit", PVM_GAS_FULL_L3}};
/* clang-format on */
enum { NAMES = sizeof names / sizeof *names };

const char *pvm_gas_model_name(size_t i) { return i < NAMES ? names[i].name : NULL; }

bool pvm_gas_model_parse(const char *name, enum pvm_gas_model *model)
{
    for (size_t i = 0; i < NAMES; i++)
        if (!strcmp(names[i].name, name)) {
            *model = names[i].model;
            return true;
        }
    return false;
}

/* These are the execution units. Each kind has a byte of its own, so that one operation adds or
 * compares all of them. */
enum { ALU, LOADS, STORES, MUL, DIV };
#define UNIT(unit, n) ((uint64_t)(n) << 8 * (unit))
static const uint64_t all_units =
    UNIT(ALU, 4) | UNIT(LOADS, 4) | UNIT(STORES, 4) | UNIT(MUL, 1) | UNIT(DIV, 1);

/* An enum overlap says when a decode slot is saved because the destination is also a source:
 * never, for any source, or only for the first source. */
enum overlap { NEVER, EITHER, FIRST };

/* CLASS_name has the latency, the decode slots, the overlap, the units, and by how much latency
 * and slots are smaller on 32-bit ISAs. */
/* clang-format off */
#define CLASS_MOVE     0, 1, NEVER, 0, 0
#define CLASS_SIMPLE   1, 2, EITHER, UNIT(ALU, 1), 0
#define CLASS_SIMPLE32 2, 3, EITHER, UNIT(ALU, 1), 1
#define CLASS_BITS     1, 1, NEVER, UNIT(ALU, 1), 0
#define CLASS_CTZ      2, 1, NEVER, UNIT(ALU, 2), 0
#define CLASS_SHIFT    1, 3, FIRST, UNIT(ALU, 1), 0
#define CLASS_SHIFT32  2, 4, FIRST, UNIT(ALU, 1), 1
#define CLASS_ALT      1, 3, NEVER, UNIT(ALU, 1), 0
#define CLASS_ALT32    2, 4, NEVER, UNIT(ALU, 1), 0
#define CLASS_COMPARE  3, 3, NEVER, UNIT(ALU, 1), 0
#define CLASS_CMOV     2, 2, NEVER, UNIT(ALU, 1), 0
#define CLASS_CMOVI    2, 3, NEVER, UNIT(ALU, 1), 0
#define CLASS_MINMAX   3, 3, EITHER, UNIT(ALU, 1), 0
#define CLASS_LOAD     LOAD_LATENCY, 1, NEVER, UNIT(ALU, 1) | UNIT(LOADS, 1), 0
#define CLASS_STORE    25, 1, NEVER, UNIT(ALU, 1) | UNIT(STORES, 1), 0
#define CLASS_BRANCH   20, 1, NEVER, UNIT(ALU, 1), 0
#define CLASS_DIV      60, 4, NEVER, UNIT(ALU, 1) | UNIT(DIV, 1), 0
#define CLASS_INVERTED 2, 3, NEVER, UNIT(ALU, 1), 0
#define CLASS_XNOR     2, 3, EITHER, UNIT(ALU, 1), 0
#define CLASS_NEGATE   2, 3, NEVER, UNIT(ALU, 1), 0
#define CLASS_NEGATE32 3, 4, NEVER, UNIT(ALU, 1), 0
#define CLASS_LOADI    1, 1, NEVER, 0, 0
#define CLASS_LOADI64  1, 2, NEVER, 0, 0
#define CLASS_MUL      3, 2, EITHER, UNIT(ALU, 1) | UNIT(MUL, 1), 0
#define CLASS_MUL32    4, 3, EITHER, UNIT(ALU, 1) | UNIT(MUL, 1), 0
#define CLASS_MULH     4, 4, NEVER, UNIT(ALU, 1) | UNIT(MUL, 1), 0
#define CLASS_MULHSU   6, 4, NEVER, UNIT(ALU, 1) | UNIT(MUL, 1), 0
#define CLASS_STOP     2, 1, NEVER, 0, 0
#define CLASS_UNLIKELY 40, 1, NEVER, 0, 0
#define CLASS_JUMP     15, 1, NEVER, 0, 0
#define CLASS_DYNAMIC  22, 1, NEVER, 0, 0
#define CLASS_HOST     100, 4, NEVER, UNIT(ALU, 1), 0
/* clang-format on */
enum { LOAD_LATENCY = 0 }; /* 0 stands for the latency of loads in the chosen model */

static const struct row {
    /* For each place, `reads` is a mask of all ones if the instruction reads the register there,
     * else 0. */
    uint16_t reads[2];
    /* For each place, `saves` is a mask of all ones if a slot is saved when the instruction
     * writes that register, too. */
    uint16_t saves[2];
    uint16_t writes; /* a mask of all ones if the instruction writes a register, else 0 */
    uint8_t place;   /* where the number of the written register is: the shift of its four bits */
    uint8_t latency, slots, narrow;
    uint8_t kind;
    uint64_t units;
} rows[PVM_OPS] = {
#define ALL(when) ((when) ? 0xffff : 0)
#define ROW(kind, reads, writes, ...) ROW_(kind, reads, writes, __VA_ARGS__)
#define ROW_(kind, reads, writes, latency, slots, overlap, units, narrow)                          \
    {                                                                                              \
        {ALL((reads)&PVM_READS_0), ALL((reads)&PVM_READS_1)},                                      \
            {ALL((overlap) && (reads)&PVM_READS_0),                                                \
             ALL((overlap) == EITHER ? (reads)&PVM_READS_1                                         \
                                     : (overlap) && (reads) == PVM_READS_1)},                      \
            ALL(writes), ((writes) + !(writes)-1) * 4, latency, slots, narrow, kind, units         \
    }
#define MAKE(name, kind, class, ...) MAKE_(name, PVM_DO_##kind, PVM_USES_##kind, CLASS_##class)
#define MAKE_(name, ...) [PVM_OP_##name] = ROW(__VA_ARGS__),
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
    OP(invalid, 0)
#include "pvm/isa.def"
#undef MAKE
};

struct model { /* A struct model has the code, and everything else on which costs depend. */
    const struct pvm_code *code;
    const uint8_t *ops;
    uint32_t limit; /* Below this pc, reads of fixed size stay inside the code and its bitmask. */
    uint8_t load;   /* the latency of loads, in cycles */
    bool cmov_reads_old, narrow;
};

enum { NOWHERE = 15 };

struct cost { /* A struct cost has what an instruction costs, and the registers that it uses. */
    uint8_t op, length, latency, slots;
    uint64_t units;
    uint32_t reads; /* the set of registers that the instruction reads */
    uint8_t writes; /* the register that the instruction writes, or NOWHERE */
    uint8_t source; /* the register that a move copies */
};

/* Tells whether a destination of a branch starts with `unlikely` or `trap`. Such a branch is
 * cheap. */
static bool gas_rare(const struct model *m, uint64_t at)
{
    if (at >= m->code->bytes.size) return true;
    enum pvm_op op = m->ops[m->code->bytes.data[at]];
    return op == PVM_OP_trap || op == PVM_OP_unlikely;
}

/* Returns the registers of the instruction at pc, four bits for each place. Sets the op and the
 * length in *c. */
static inline uint32_t registers_at(const struct model *m, uint32_t pc, struct cost *c)
{
    const uint8_t *at = m->code->bytes.data + pc;
    if (pc < m->limit && pvm_bit(m->code->starts, pc)) {
        uint64_t starts = bytes_get64(m->code->starts + ((pc + 1) >> 3)) >> ((pc + 1) & 7);
        c->op = m->ops[at[0]];
        c->length = (uint8_t)(1 + __builtin_ctzll(starts | UINT64_C(1) << PVM_SKIP_MAX));
        return at[1] | (uint32_t)at[2] << 8;
    }
    struct pvm_insn in;
    pvm_decode(m->code, pc, &in);
    c->op = in.op;
    c->length = in.length;
    bool two = pvm_ops[in.op].shape == PVM_REG_REG;
    return (uint32_t)(two ? in.d : in.a) | (uint32_t)(two ? in.a : in.b) << 4 | (uint32_t)in.d << 8;
}

/* The tables have the register that four bits of an instruction stand for, as a number and as a
 * set. */
static const uint8_t registers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12};
static const uint16_t register_bits[16] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                           1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                           1 << 12, 1 << 12, 1 << 12, 1 << 12};

static inline void cost_at(const struct model *m, uint32_t pc, struct cost *c)
{
    uint32_t places = registers_at(m, pc, c);
    const struct row *row = &rows[c->op];
    uint32_t r0 = register_bits[places & 15], r1 = register_bits[places >> 4 & 15];
    uint32_t place = places >> row->place & 15, written = register_bits[place] & row->writes;
    unsigned less = row->narrow & m->narrow;
    unsigned saved = (((r0 & row->saves[0]) | (r1 & row->saves[1])) & written) != 0;
    c->units = row->units;
    c->slots = (uint8_t)(row->slots - less - saved);
    c->latency = (uint8_t)((row->latency ? row->latency : m->load) - less);
    c->reads = (r0 & row->reads[0]) | (r1 & row->reads[1]);
    c->writes = row->writes ? registers[place] : NOWHERE;
    c->source = registers[places >> 4 & 15];
    if (row->kind == PVM_DO_BRANCH2 || row->kind == PVM_DO_BRANCHI) {
        if (gas_rare(m, (uint64_t)pc + c->length) ||
            gas_rare(m, pvm_jump_target(m->code, pc, c->length - 1u)))
            c->latency = 1;
    } else if (m->cmov_reads_old && (row->kind == PVM_DO_CMOV3 || row->kind == PVM_DO_CMOVI)) {
        c->reads |= written;
    }
}

enum { SLOTS = 32, STARTS = 5, DECODES = 4, TIMES = 128 }; /* TIMES is more than any latency. */

struct pipeline {
    /* `now` is the current cycle, `last` the last cycle in which something completes. */
    uint32_t now, last;
    uint64_t free_units;
    /* `head` is the oldest entry in the ring, `count` how many entries there were so far. */
    uint32_t head, count;
    /* `ready` is the set of slots whose entries may start, `waiting` of those whose entries wait
     * for others. */
    uint32_t ready, waiting;
    uint32_t unfinished;
    uint64_t busy[TIMES / 64]; /* a bit for each cycle in which an entry completes */
    /* For each cycle, `completes` is the set of slots whose entries complete. */
    uint32_t completes[TIMES];
    /* For each slot, `deps` has the slots for which its entry waits, `dependents` those that
     * wait for it. */
    uint32_t deps[SLOTS], dependents[SLOTS];
    uint64_t units[SLOTS];
    /* For each slot, `free_at` is the cycle in which it is free again, once its entry has
     * started. */
    uint32_t free_at[SLOTS];
    uint8_t latency[SLOTS];
    uint32_t producer[16]; /* for each register: the entry that computes its newest value */
};

static void gas_complete(struct pipeline *p)
{
    unsigned time = p->now % TIMES;
    uint32_t slots = p->completes[time];
    if (!(p->busy[time / 64] >> time % 64 & 1)) return;
    p->busy[time / 64] &= ~(UINT64_C(1) << time % 64);
    p->unfinished &= ~slots;
    for (; slots; slots &= slots - 1) {
        unsigned slot = (unsigned)__builtin_ctz(slots);
        p->free_units += p->units[slot];
        for (uint32_t m = p->dependents[slot]; m; m &= m - 1) {
            unsigned other = (unsigned)__builtin_ctz(m);
            p->deps[other] &= ~(1u << slot);
            if (p->deps[other]) continue;
            p->ready |= 1u << other;
            p->waiting &= ~(1u << other);
        }
    }
}

static bool gas_started(const struct pipeline *p, uint32_t entry)
{
    return !((p->ready | p->waiting) >> entry % SLOTS & 1);
}

/* Tells whether there is a slot for one more entry. Old entries retire to make room. */
static bool pipeline_has_room(struct pipeline *p)
{
    if (p->count - p->head < SLOTS) return true;
    while (p->head != p->count && gas_started(p, p->head) && p->free_at[p->head % SLOTS] <= p->now)
        p->head++;
    return p->count - p->head < SLOTS;
}

/* Adds an entry. Returns its slot as a set, or 0 when the entry must wait for others. */
static uint32_t gas_enter(struct pipeline *p, const struct cost *c)
{
    uint32_t entry = p->count++, slot = entry % SLOTS, bit = 1u << slot, deps = 0;
    for (uint32_t reads = c->reads; reads; reads &= reads - 1) {
        uint32_t from = p->producer[__builtin_ctz(reads)];
        /* An entry that is farther away has retired already. */
        deps |= entry - from < SLOTS ? 1u << from % SLOTS : 0;
    }
    deps &= p->unfinished;
    for (uint32_t m = deps; m; m &= m - 1) p->dependents[__builtin_ctz(m)] |= bit;
    p->dependents[slot] = 0;
    p->deps[slot] = deps;
    p->units[slot] = c->units;
    p->latency[slot] = c->latency;
    p->unfinished |= bit;
    p->producer[c->writes] = entry;
    if (deps) p->waiting |= bit;
    return deps ? 0 : bit;
}

static bool gas_fits(uint64_t need, uint64_t have)
{
    /* This compares need <= have for each byte. Both stay below 0x80, so the guard bits show
     * every borrow. */
    const uint64_t guard = UINT64_C(0x8080808080);
    return (((have | guard) - need) & guard) == guard;
}

/* Starts the entries that can start, the oldest first. Returns how many more could have started
 * in this cycle. */
static unsigned entries_start(struct pipeline *p)
{
    unsigned starts = STARTS;
    uint32_t oldest = p->head % SLOTS;
    uint32_t by_age = p->ready >> oldest | p->ready << (-oldest % SLOTS);
    for (; by_age && starts; by_age &= by_age - 1) {
        unsigned slot = (oldest + (unsigned)__builtin_ctz(by_age)) % SLOTS;
        if (!gas_fits(p->units[slot], p->free_units)) continue;
        uint32_t end = p->now + p->latency[slot], time = end % TIMES, bit = 1u << slot;
        bool first = !(p->busy[time / 64] >> time % 64 & 1);
        p->completes[time] = first ? bit : p->completes[time] | bit;
        p->busy[time / 64] |= UINT64_C(1) << time % 64;
        p->ready &= ~bit;
        p->free_units -= p->units[slot];
        p->free_at[slot] = end + 2;
        if (end > p->last) p->last = end;
        starts--;
    }
    return starts;
}

/* Returns the next cycle in which something completes. */
static uint32_t next_completion(const struct pipeline *p)
{
    uint32_t from = p->now + 1, word = from % TIMES / 64, shift = from % 64;
    uint64_t bits = p->busy[word] >> shift;
    if (bits) return from + (uint32_t)__builtin_ctzll(bits);
    from += 64 - shift;
    bits = p->busy[word ^ 1];
    if (bits) return from + (uint32_t)__builtin_ctzll(bits);
    bits = p->busy[word];
    return bits ? from + 64 + (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
}

static uint32_t pipeline_cost(const struct model *m, uint32_t pc)
{
    /* Only a part of the pipeline is cleared, because most of it is written before it is read. */
    struct pipeline p;
    p.now = p.last = p.head = p.count = p.ready = p.waiting = p.unfinished = 0;
    p.free_units = all_units;
    memset(p.busy, 0, sizeof p.busy);
    for (unsigned i = 0; i < PVM_REGISTERS; i++) p.producer[i] = 0u - SLOTS;
    struct cost c;
    cost_at(m, pc, &c);
    for (bool more = true;;) {
        gas_complete(&p);
        uint32_t fresh = 0; /* the set of entries of this cycle that may start in the next one */
        unsigned slots = DECODES;
        while (more && c.slots <= slots && pipeline_has_room(&p)) {
            slots -= c.slots;
            if (c.op == PVM_OP_move_reg) {
                p.producer[c.writes] = p.producer[c.source]; /* A move takes no slot. */
            } else {
                fresh |= gas_enter(&p, &c);
                more = !pvm_ends_block(c.op);
            }
            pc += c.length;
            if (more) cost_at(m, pc, &c);
        }
        /* The machine is busy when more entries could start in the next cycle. */
        bool busy = p.ready && !entries_start(&p) && p.ready;
        p.ready |= fresh;
        if (!more && !p.ready && !p.waiting) break;
        if ((more && pipeline_has_room(&p)) || fresh || busy) {
            p.now++;
            continue;
        }
        uint32_t next = next_completion(&p);
        if (more && gas_started(&p, p.head) && p.free_at[p.head % SLOTS] < next)
            next = p.free_at[p.head % SLOTS];
        p.now = next;
    }
    uint32_t cycles = p.last + 2;
    return cycles > 4 ? cycles - 3 : 1;
}

bool pvm_block_cost(const struct pvm_code *code, uint32_t pc, enum pvm_gas_model model,
                    bool cmov_reads_old, uint32_t *cost)
{
    enum { AHEAD = 80 }; /* more bytes than are read at once for one instruction */
    static const uint8_t load[PVM_GAS_MODELS] = {0, 0, 4, 25, 37};
    if (pc > code->bytes.size) return false;
    if (pvm_gas_pipeline(model)) {
        struct model m = {.code = code,
                          .ops = pvm_isas[code->isa].op,
                          .load = load[model],
                          .cmov_reads_old = cmov_reads_old,
                          .narrow = pvm_isas[code->isa].bits == 32};
        m.limit = code->doc || code->bytes.size < AHEAD ? 0 : (uint32_t)code->bytes.size - AHEAD;
        *cost = pipeline_cost(&m, pc);
        return true;
    }
    struct pvm_insn in;
    *cost = 0;
    do {
        pvm_decode(code, pc, &in);
        pc += in.length;
        ++*cost;
    } while (!pvm_ends_block(in.op));
    return true;
}
