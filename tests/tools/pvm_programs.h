/* Makes random PolkaVM programs that nearly always run. They have every instruction of an ISA,
 * patterns that a compiler may treat as one, and operands from a table of edge values. All
 * choices come from one stream of numbers, so that the same stream makes the same program. */
#pragma once
#include "pvm/format/decode.h"

struct choices { /* A stream of random numbers, which the data influence as long as there are
                  * some. */
    const uint8_t *data;
    size_t size, at;
    uint64_t state;
};
uint64_t choices_next(struct choices *c);
static inline uint64_t choices_below(struct choices *c, uint64_t n) { return choices_next(c) % n; }
uint64_t choices_number(struct choices *c); /* A third of the numbers are edge values. */

/* PATTERN(name) is a pattern that the generator writes on purpose. */
/* clang-format off */
#define PATTERNS(P)                                                                                \
    P(none) P(index_load) P(index_add) P(add_load) P(low_half) P(widened_loop) P(counted_loop)     \
    P(dispatch) P(compare_branch) P(compare_move) P(constant) P(both_halves) P(divide_and_rest)    \
    P(call_return) P(memset) P(sbrk) P(load_store) P(narrow_chain) P(move_chain) P(halt)
/* clang-format on */
enum pattern {
#define P(name) PATTERN_##name,
    PATTERNS(P)
#undef P
        PATTERN_COUNT
};
extern const char *const pattern_names[PATTERN_COUNT];

enum { CODE_MAX = 8192, INSNS_MAX = 200, TABLE_MAX = 16 };

struct slot { /* An instruction before it is encoded. */
    uint8_t op, a, b, d;
    uint8_t pattern;
    bool head; /* A loop starts here that only the instruction before it may enter. */
    int to;    /* the slot to which the instruction jumps; -1 for any */
    uint64_t x, y;
};

struct program {
    enum pvm_isa isa;
    bool forward; /* The program ends without gas, because only counted loops go back. */
    bool loops;   /* The program has counted loops. */
    struct slot slots[INSNS_MAX];
    unsigned count;
    uint32_t starts[INSNS_MAX], size;
    uint8_t code[CODE_MAX], mask[CODE_MAX / 8], table[2 * TABLE_MAX];
    struct pvm_code view; /* the code, in the form that the engines read */
};
void program_generate(struct choices *c, struct program *p);
