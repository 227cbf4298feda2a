/* The pipeline model: how many cycles a small out-of-order machine needs for a block.
 *
 * The reorder buffer is a ring of 32 slots, and sets of slots are 32-bit masks: which entries are
 * decoded, waiting, executing, done, and which have cycles left. Each register has at most one
 * entry that produces its newest value. Cycles in which nothing can happen are skipped at once. */
#include "pvm/gas.h"
#include <string.h>
#include "pvm/ops.h"

bool pvm_gas_model_parse(const char *name, enum pvm_gas_model *model)
{
    static const struct { const char *name; enum pvm_gas_model model; } names[] = {
        {"naive", PVM_GAS_NAIVE},         {"full", PVM_GAS_FULL_L2},
        {"full-l1-hit", PVM_GAS_FULL_L1}, {"full-l2-hit", PVM_GAS_FULL_L2},
        {"full-l3-hit", PVM_GAS_FULL_L3}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name)) {
            *model = names[i].model;
            return true;
        }
    return false;
}

/* Units of a cycle, one byte each, so that needs are added and compared in one word. */
enum { ALU, LOADS, STORES, MUL, DIV };
#define UNIT(unit, n) ((uint64_t)(n) << 8 * (unit))
static const uint64_t all_units =
    UNIT(ALU, 4) | UNIT(LOADS, 4) | UNIT(STORES, 4) | UNIT(MUL, 1) | UNIT(DIV, 1);

enum overlap { ANY, SOME, FIRST };   /* when one decode slot is saved: destination == source */

static const struct gas_class {
    uint8_t latency, slots;          /* slots: the larger of two values */
    enum overlap overlap;
    uint64_t units;
    uint8_t narrow;                  /* one less of both on 32-bit ISAs */
} classes[] = {
#define CLASSES                                                                                    \
    CLASS(MOVE, 0, 1, ANY, 0, 0)                                                                   \
    CLASS(SIMPLE, 1, 2, SOME, UNIT(ALU, 1), 0)                                                     \
    CLASS(SIMPLE32, 2, 3, SOME, UNIT(ALU, 1), 1)                                                   \
    CLASS(BITS, 1, 1, ANY, UNIT(ALU, 1), 0)                                                        \
    CLASS(CTZ, 2, 1, ANY, UNIT(ALU, 2), 0)                                                         \
    CLASS(SHIFT, 1, 3, FIRST, UNIT(ALU, 1), 0)                                                     \
    CLASS(SHIFT32, 2, 4, FIRST, UNIT(ALU, 1), 1)                                                   \
    CLASS(ALT, 1, 3, ANY, UNIT(ALU, 1), 0)                                                         \
    CLASS(ALT32, 2, 4, ANY, UNIT(ALU, 1), 0)                                                       \
    CLASS(COMPARE, 3, 3, ANY, UNIT(ALU, 1), 0)                                                     \
    CLASS(CMOV, 2, 2, ANY, UNIT(ALU, 1), 0)                                                        \
    CLASS(CMOVI, 2, 3, ANY, UNIT(ALU, 1), 0)                                                       \
    CLASS(MINMAX, 3, 3, SOME, UNIT(ALU, 1), 0)                                                     \
    CLASS(LOAD, 25, 1, ANY, UNIT(ALU, 1) | UNIT(LOADS, 1), 0)                                      \
    CLASS(STORE, 25, 1, ANY, UNIT(ALU, 1) | UNIT(STORES, 1), 0)                                    \
    CLASS(BRANCH, 20, 1, ANY, UNIT(ALU, 1), 0)                                                     \
    CLASS(DIV, 60, 4, ANY, UNIT(ALU, 1) | UNIT(DIV, 1), 0)                                         \
    CLASS(INVERTED, 2, 3, ANY, UNIT(ALU, 1), 0)                                                    \
    CLASS(XNOR, 2, 3, SOME, UNIT(ALU, 1), 0)                                                       \
    CLASS(NEGATE, 2, 3, ANY, UNIT(ALU, 1), 0)                                                      \
    CLASS(NEGATE32, 3, 4, ANY, UNIT(ALU, 1), 0)                                                    \
    CLASS(LOADI, 1, 1, ANY, 0, 0)                                                                  \
    CLASS(LOADI64, 1, 2, ANY, 0, 0)                                                                \
    CLASS(MUL, 3, 2, SOME, UNIT(ALU, 1) | UNIT(MUL, 1), 0)                                         \
    CLASS(MUL32, 4, 3, SOME, UNIT(ALU, 1) | UNIT(MUL, 1), 0)                                       \
    CLASS(MULH, 4, 4, ANY, UNIT(ALU, 1) | UNIT(MUL, 1), 0)                                         \
    CLASS(MULHSU, 6, 4, ANY, UNIT(ALU, 1) | UNIT(MUL, 1), 0)                                       \
    CLASS(STOP, 2, 1, ANY, 0, 0)                                                                   \
    CLASS(UNLIKELY, 40, 1, ANY, 0, 0)                                                              \
    CLASS(JUMP, 15, 1, ANY, 0, 0)                                                                  \
    CLASS(DYNAMIC, 22, 1, ANY, 0, 0)                                                               \
    CLASS(HOST, 100, 4, ANY, UNIT(ALU, 1), 0)
#define CLASS(name, ...) {__VA_ARGS__},
    CLASSES
#undef CLASS
};
enum gas_class_name {
#define CLASS(name, ...) GAS_##name,
    CLASSES
#undef CLASS
};

/* Which registers a kind of instruction reads (in the order of "first source") and writes. */
enum { NO = 0, RA = 1, RB = 2, RD = 4 };
static const struct { uint8_t reads, writes; } operands[] = {
    [PVM_DO_SET3] = {RA | RB, RD},  [PVM_DO_SET2I] = {RB, RA},   [PVM_DO_SET2] = {RA, RD},
    [PVM_DO_CMOV3] = {RA | RB, RD}, [PVM_DO_CMOVI] = {RB, RA},   [PVM_DO_LOADX] = {NO, RA},
    [PVM_DO_LOAD] = {RB, RA},       [PVM_DO_STOREX] = {RA, NO},  [PVM_DO_STORE] = {RA | RB, NO},
    [PVM_DO_STOREI] = {RA, NO},     [PVM_DO_BRANCH2] = {RA | RB, NO}, [PVM_DO_BRANCHI] = {RA, NO},
    [PVM_DO_LOADI] = {NO, RA},      [PVM_DO_LOADI64] = {NO, RA}, [PVM_DO_SBRK] = {RA, RD},
    [PVM_DO_JUMP_DYNAMIC] = {RA, NO}, [PVM_DO_LOADI_JUMP_DYNAMIC] = {RB, NO}};

static const struct { uint8_t kind, class; } rows[PVM_OPS] = {
#define MAKE(name, kind, class, ...) [PVM_OP_##name] = {PVM_DO_##kind, GAS_##class},
#define OP(name, ...) PVM_ROW(MAKE, name, 0)
    OP(invalid)
#include "pvm/isa.def"
#undef MAKE
};

struct cost {                /* of one instruction, in this place */
    uint8_t latency, slots;
    uint64_t units;
    uint16_t reads;          /* sets of registers */
    int8_t writes;           /* -1: none */
};

/* A branch is cheap when one of its ways is marked as rare, by `unlikely` or `trap`. */
static bool rare(const struct pvm_code *code, uint64_t at)
{
    if (at >= code->bytes.size) return true;
    int byte = code->bytes.data[at];
    return byte == pvm_ops[PVM_OP_trap].number[code->isa] ||
           byte == pvm_ops[PVM_OP_unlikely].number[code->isa];
}

static struct cost cost_of(const struct pvm_code *code, const struct pvm_insn *in, uint8_t load,
                           bool cmov_reads_old)
{
    uint8_t kind = rows[in->op].kind;
    const struct gas_class *class = &classes[rows[in->op].class];
    struct cost c = {.latency = class->latency, .slots = class->slots, .units = class->units,
                     .writes = -1};
    unsigned reads = operands[kind].reads, writes = operands[kind].writes;
    if (reads & RA) c.reads |= (uint16_t)(1u << in->a);
    if (reads & RB) c.reads |= (uint16_t)(1u << in->b);
    if (writes) c.writes = (int8_t)(writes == RA ? in->a : in->d);
    uint16_t first = (uint16_t)(1u << (reads & RA ? in->a : in->b));
    uint16_t saves = class->overlap == SOME ? c.reads : class->overlap == FIRST ? first : 0;
    if (c.writes >= 0 && saves >> c.writes & 1) c.slots--;
    if (class->narrow && pvm_isas[code->isa].bits == 32) {
        c.slots--;
        c.latency--;
    }
    if (rows[in->op].class == GAS_LOAD) c.latency = load;
    if (kind == PVM_DO_BRANCH2 || kind == PVM_DO_BRANCHI)
        if (rare(code, (uint64_t)in->pc + in->length) || rare(code, in->target)) c.latency = 1;
    if (cmov_reads_old && c.writes >= 0 && (kind == PVM_DO_CMOV3 || kind == PVM_DO_CMOVI))
        c.reads |= (uint16_t)(1u << c.writes);
    return c;
}

struct pipeline {
    uint32_t decoded, waiting, executing, done; /* sets of slots */
    uint32_t deps[32];               /* producers that still have cycles left */
    uint64_t units[32];
    uint8_t left[32];
    uint16_t holds[32];              /* registers that may name the slot as their producer */
    int8_t producer[PVM_REGISTERS];  /* the slot, or -1 */
    uint32_t unfinished;             /* slots with cycles left */
    unsigned head, live;             /* ring: oldest slot, entries */
    uint64_t free_units;
    unsigned slots, starts;
    uint32_t cycles;
};

static bool fits(uint64_t need, uint64_t have)
{
    /* per byte need <= have; both stay below 0x80, so the guard bits show every borrow */
    const uint64_t guard = UINT64_C(0x8080808080);
    return (((have | guard) - need) & guard) == guard;
}

static void rename_register(struct pipeline *p, unsigned to, unsigned from)
{
    int8_t slot = p->producer[from];
    p->producer[to] = slot;
    if (slot >= 0) p->holds[slot] |= (uint16_t)(1u << to);
}

static void decode_into(struct pipeline *p, const struct cost *c)
{
    unsigned slot = (p->head + p->live++) % 32;
    uint32_t deps = 0;
    for (uint32_t held = p->holds[slot]; held; held &= held - 1) { /* of the slot's last entry */
        unsigned r = (unsigned)__builtin_ctz(held);
        if (p->producer[r] == (int8_t)slot) p->producer[r] = -1;
    }
    for (uint32_t reads = c->reads; reads; reads &= reads - 1) {
        int8_t from = p->producer[__builtin_ctz(reads)];
        if (from >= 0) deps |= 1u << from;
    }
    p->deps[slot] = deps & p->unfinished;
    p->units[slot] = c->units;
    p->left[slot] = c->latency;
    p->holds[slot] = 0;
    p->decoded |= 1u << slot;
    p->unfinished |= 1u << slot;
    if (c->writes < 0) return;
    p->producer[c->writes] = (int8_t)slot;
    p->holds[slot] = (uint16_t)(1u << c->writes);
}

/* Starts the waiting entries that can start, oldest first, as far as units and starts go. */
static void start_all(struct pipeline *p)
{
    uint32_t by_age = p->waiting >> p->head | (p->head ? p->waiting << (32 - p->head) : 0);
    for (; by_age && p->starts; by_age &= by_age - 1) {
        unsigned slot = (p->head + (unsigned)__builtin_ctz(by_age)) % 32;
        if (p->deps[slot] || !fits(p->units[slot], p->free_units)) continue;
        p->waiting &= ~(1u << slot);
        p->executing |= 1u << slot;
        p->free_units -= p->units[slot];
        p->starts--;
    }
}

/* Cycles until something can change, when nothing can be decoded: all are spent executing. */
static unsigned idle_cycles(const struct pipeline *p)
{
    if (p->decoded || !p->executing || !p->starts || p->done >> p->head & 1) return 1;
    unsigned least = UINT8_MAX;
    for (uint32_t m = p->executing; m; m &= m - 1) {
        unsigned left = p->left[__builtin_ctz(m)];
        if (left < least) least = left;
    }
    return least > 1 ? least - 1 : 1;
}

static void finish_slot(struct pipeline *p, unsigned slot)
{
    p->free_units += p->units[slot];
    p->unfinished &= ~(1u << slot);
    for (uint32_t m = p->waiting | p->decoded; m; m &= m - 1)
        p->deps[__builtin_ctz(m)] &= ~(1u << slot);
}

static void next_cycle(struct pipeline *p, unsigned count)
{
    uint32_t ended = 0, finished = 0;
    while (p->live && p->done >> p->head & 1) { /* retire in order */
        p->done &= ~(1u << p->head);
        p->head = (p->head + 1) % 32;
        p->live--;
    }
    for (uint32_t m = p->executing; m; m &= m - 1) {
        unsigned slot = (unsigned)__builtin_ctz(m);
        if (!p->left[slot]) {
            ended |= 1u << slot;
            continue;
        }
        p->left[slot] = (uint8_t)(p->left[slot] - count);
        if (!p->left[slot]) finished |= 1u << slot;
    }
    for (; finished; finished &= finished - 1) finish_slot(p, (unsigned)__builtin_ctz(finished));
    p->executing &= ~ended;
    p->done |= ended;
    p->waiting |= p->decoded;
    p->decoded = 0;
    p->slots = 4;
    p->starts = 5;
    p->cycles += count;
}

static uint32_t pipeline_cost(const struct pvm_code *code, uint32_t pc, uint8_t load,
                              bool cmov_reads_old)
{
    struct pipeline p = {.free_units = all_units, .slots = 4, .starts = 5};
    memset(p.producer, -1, sizeof p.producer);
    struct pvm_insn in;
    struct cost c = {0};
    bool more = true, fetched = false;
    while (more || p.live) {
        if (more && !fetched) {
            pvm_decode(code, pc, &in);
            c = cost_of(code, &in, load, cmov_reads_old);
            fetched = true;
        }
        if (more && c.slots <= p.slots && p.live < 32) {
            p.slots -= c.slots;
            if (in.op == PVM_OP_move_reg) {
                rename_register(&p, in.d, in.a); /* never in the buffer */
            } else {
                decode_into(&p, &c);
                more = !pvm_ends_block(in.op);
            }
            pc += in.length;
            fetched = false;
        } else {
            start_all(&p);
            next_cycle(&p, more && p.live < 32 ? 1 : idle_cycles(&p));
        }
    }
    return p.cycles > 4 ? p.cycles - 3 : 1;
}

bool pvm_block_cost(const struct pvm_code *code, uint32_t pc, enum pvm_gas_model model,
                    bool cmov_reads_old, uint32_t *cost)
{
    static const uint8_t load[PVM_GAS_MODELS] = {0, 4, 25, 37};
    if (pc > code->bytes.size) return false;
    if (model != PVM_GAS_NAIVE) {
        *cost = pipeline_cost(code, pc, load[model], cmov_reads_old);
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
