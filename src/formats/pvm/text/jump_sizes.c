/* Finds the jumps that a listing must print with their size. The assembler makes all jumps as
 * short as the layout allows. Even when each jump of a file has the shortest form for its
 * distance, several jumps together may have a shorter one, and then the assembler would not give
 * the same bytes. So this file does the assembler's work on the code: jumps start in their
 * shortest form and grow until nothing moves. The jumps that end up shorter than they are in the
 * file get a size. */
#include <stdlib.h>
#include "pvm/format/encode.h"
#include "pvm/text/print.h"

enum {
    /* Lengths are computed in at most so many rounds; compiled programs need about five. */
    GROW_ROUNDS = 64,
    /* Sizes are given in at most so many rounds; each gives them to the jumps that are too
     * short. */
    SIZE_ROUNDS = 8,
    WORD = 64,
};

struct sizes {
    const struct pvm_code *code;
    uint8_t *sized;  /* a bit for each pc: the jump is printed with its size */
    uint64_t *jumps; /* a bit for each pc: a jump without a size, which may become shorter */
    /* For the pc of each jump, `shrunk` says how many bytes shorter the jump is than in the
     * file. */
    uint8_t *shrunk;
    uint32_t *before; /* for each word of `jumps`: the sum of `shrunk` before it */
    bool some;
};

static struct pvm_insn insn_at(const struct sizes *s, uint32_t pc)
{
    struct pvm_insn in;
    pvm_decode(s->code, pc, &in);
    return in;
}

static unsigned jump_sizes_shortest(const struct sizes *s, const struct pvm_insn *in)
{
    uint8_t bytes[PVM_INSN_BYTES];
    return pvm_insn_write(s->code->isa, s->code->doc, in, 0, bytes);
}

static void give_size(struct sizes *s, uint32_t pc)
{
    s->sized[pc / 8] |= (uint8_t)(1u << pc % 8);
    s->jumps[pc / WORD] &= ~(UINT64_C(1) << pc % WORD);
    s->shrunk[pc] = 0;
}

/* Finds the jumps. A jump needs a size when its target is printed as a number, or when it does
 * not have the shortest form for its distance. All others are put into `jumps`. */
static void find_jumps(struct sizes *s)
{
    const struct pvm_code *code = s->code;
    const uint8_t *op = pvm_isas[code->isa].op;
    for (uint32_t base = 0; base < code->bytes.size; base += WORD) {
        uint32_t end = code->bytes.size - base < WORD ? (uint32_t)code->bytes.size : base + WORD;
        uint64_t bits = pvm_start_bits(code, base);
        for (uint32_t pc; bits; bits &= bits - 1) {
            pc = base + (uint32_t)__builtin_ctzll(bits);
            if (pc >= end) break;
            if (!pvm_has_target(op[code->bytes.data[pc]])) continue;
            struct pvm_insn in = insn_at(s, pc);
            if (!pvm_has_target(in.op)) continue;
            if (!pvm_starts(code, in.target) || jump_sizes_shortest(s, &in) != in.length) {
                s->sized[pc / 8] |= (uint8_t)(1u << pc % 8);
                continue;
            }
            s->jumps[pc / WORD] |= UINT64_C(1) << pc % WORD;
            s->some = true;
        }
    }
}

static uint32_t jump_bytes_missing(const struct sizes *s, uint32_t word, uint64_t among)
{
    uint32_t sum = 0;
    for (uint64_t bits = s->jumps[word] & among; bits; bits &= bits - 1)
        sum += s->shrunk[word * WORD + (uint32_t)__builtin_ctzll(bits)];
    return sum;
}

/* Returns the place of the instruction at pc when jumps are as short as `shrunk` says. */
static uint32_t jump_sizes_moved(const struct sizes *s, uint32_t pc)
{
    uint64_t earlier = (UINT64_C(1) << pc % WORD) - 1;
    return pc - s->before[pc / WORD] - jump_bytes_missing(s, pc / WORD, earlier);
}

static void sizes_sum_up(struct sizes *s, uint32_t words)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < words; i++) {
        s->before[i] = sum;
        sum += jump_bytes_missing(s, i, ~UINT64_C(0));
    }
}

typedef bool visit(struct sizes *s, uint32_t pc);

static bool each_jump(struct sizes *s, uint32_t words, visit *what)
{
    bool any = false;
    for (uint32_t i = 0; i < words; i++)
        for (uint64_t bits = s->jumps[i]; bits; bits &= bits - 1)
            any |= what(s, i * WORD + (uint32_t)__builtin_ctzll(bits));
    return any;
}

static bool jump_sizes_shrink(struct sizes *s, uint32_t pc)
{
    struct pvm_insn in = insn_at(s, pc);
    in.target = pc;
    s->shrunk[pc] = (uint8_t)(in.length - jump_sizes_shortest(s, &in));
    return true;
}

/* Makes a jump longer when its distance needs that. Distances only grow, so no jump becomes
 * longer than needed. */
static bool jump_sizes_grow(struct sizes *s, uint32_t pc)
{
    if (!s->shrunk[pc]) return false;
    struct pvm_insn in = insn_at(s, pc);
    unsigned length = in.length;
    in.pc = jump_sizes_moved(s, pc);
    in.target = jump_sizes_moved(s, in.target);
    unsigned need = jump_sizes_shortest(s, &in);
    if (need <= length - s->shrunk[pc]) return false;
    s->shrunk[pc] = (uint8_t)(need < length ? length - need : 0);
    return true;
}

static bool keep_short_ones(struct sizes *s, uint32_t pc)
{
    if (!s->shrunk[pc]) return false;
    give_size(s, pc);
    return true;
}

static bool jump_sizes_keep(struct sizes *s, uint32_t pc)
{
    give_size(s, pc);
    return true;
}

/* Finds the lengths that the assembler would choose. Returns false when that takes too long. */
static bool find_lengths(struct sizes *s, uint32_t words)
{
    each_jump(s, words, jump_sizes_shrink);
    for (unsigned round = 0; round < GROW_ROUNDS; round++) {
        sizes_sum_up(s, words);
        if (!each_jump(s, words, jump_sizes_grow)) return true;
    }
    return false;
}

bool pvm_jump_sizes(const struct pvm_code *code, uint8_t *sized)
{
    uint32_t words = (uint32_t)(code->bytes.size / WORD) + 1;
    struct sizes s = {.code = code,
                      .sized = sized,
                      .jumps = calloc(words, sizeof *s.jumps),
                      .shrunk = calloc(code->bytes.size + 1, 1),
                      .before = calloc(words, sizeof *s.before)};
    bool ok = s.jumps && s.shrunk && s.before;
    if (ok) find_jumps(&s);
    bool again = ok && s.some;
    for (unsigned round = 0; again && round < SIZE_ROUNDS; round++) {
        if (!find_lengths(&s, words)) break;
        again = each_jump(&s, words, keep_short_ones);
    }
    if (again) each_jump(&s, words, jump_sizes_keep);
    free(s.jumps);
    free(s.shrunk);
    free(s.before);
    return ok;
}
