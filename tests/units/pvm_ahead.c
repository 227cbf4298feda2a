/* The compiler's look-ahead. Threads that fill its tables at the same time write the same entries.
 * Looking at 16 or 64 instructions at a time finds what one at a time finds, in code of any
 * density; skipped where the processor has only one way. */
#include "pvm/jit/ahead.h"
#include <pthread.h>
#include <stdio.h>

static unsigned long checks, failures;
#define CHECK(condition)                                                                           \
    (checks++,                                                                                     \
     (condition) || (failures++ < 10 && printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

enum { SIZE = 4096, ROUNDS = 20000 };

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

struct side { /* what one way works on */
    struct pvm_native native;
    uint8_t block_starts[SIZE / 8 + 4], odd[SIZE / 8 + 4];
    bool dispatches[SIZE]; /* all true: dispatches before the window are not searched */
    struct jit j;
    struct jit_window w;
};

static uint8_t bytes[SIZE], starts[SIZE / 8 + 8];

/* Instructions of one to `most` bytes; a gap that is too long now and then. */
static void random_code(enum pvm_isa isa, uint32_t most)
{
    memset(starts, 0, sizeof starts);
    for (uint32_t pc = 0; pc < SIZE; pc += below(400) ? 1 + below(most) : 1 + below(60)) {
        starts[pc / 8] |= (uint8_t)(1u << pc % 8);
        for (uint32_t i = pc; i < pc + 60 && i < SIZE; i++) bytes[i] = (uint8_t)below(256);
        enum pvm_op op = (enum pvm_op)(1 + below(PVM_OPS - 1));
        if (below(16) && pvm_ops[op].number[isa] >= 0) bytes[pc] = (uint8_t)pvm_ops[op].number[isa];
    }
}

static void set_up(struct side *s, const struct pvm_cells *p, uint32_t charge)
{
    memset(s, 0, sizeof *s);
    s->native.block_starts = s->block_starts;
    s->j.n = &s->native;
    s->j.p = p;
    s->j.size = SIZE;
    s->j.narrow = pvm_isas[p->code.isa].bits == 32;
    s->j.general = p->code.gp;
    s->j.rules = pvm_jit_rules(p->code.isa, charge);
    pvm_jit_decoder_init(&s->j.decoder, &p->code);
    s->block_starts[0] = 1;
    s->j.dispatches = memset(s->dispatches, true, sizeof s->dispatches);
}

/* Some blocks before the window, and some of them where no jump may go. */
static void random_blocks(struct side *a, struct side *b, uint32_t pc)
{
    for (uint32_t i = 0; i < pc / 8; i++)
        a->block_starts[i] = b->block_starts[i] |= (uint8_t)(starts[i] & below(256));
    if (below(2)) return;
    for (uint32_t i = 0; i < pc / 8; i++)
        a->odd[i] = b->odd[i] = (uint8_t)(below(256) & below(256));
    a->j.odd = a->odd;
    b->j.odd = b->odd;
}

static bool same_list(const uint16_t *a, const uint16_t *b, uint32_t count)
{
    return !memcmp(a, b, count * sizeof *a);
}

static uint32_t listed(const uint16_t *list)
{
    uint32_t n = 0;
    while (list[n] != UINT16_MAX) n++;
    return n + 1;
}

static void compare(struct side *a, struct side *b, uint32_t pc, uint32_t end)
{
    pvm_jit_find_instructions(&a->w, &a->j, pc, end);
    pvm_jit_find_instructions_wide(&b->w, &b->j, pc, end);
    uint32_t count = a->w.count;
    CHECK(count == b->w.count);
    if (count != b->w.count) return;
    CHECK(!memcmp(a->w.pc, b->w.pc, (count + 1) * sizeof *a->w.pc));
    CHECK(!memcmp(a->w.length, b->w.length, count));
    CHECK(a->w.all_end_count == b->w.all_end_count &&
          same_list(a->w.all_ends, b->w.all_ends, a->w.all_end_count));
    CHECK(a->w.look_count == b->w.look_count && same_list(a->w.looks, b->w.looks, a->w.look_count));
    CHECK(a->w.all_late_count == b->w.all_late_count &&
          same_list(a->w.all_lates, b->w.all_lates, a->w.all_late_count));

    pvm_jit_find_ends(&a->w, &a->j, pc);
    pvm_jit_find_ends_wide(&b->w, &b->j, pc);
    uint32_t ends = listed(a->w.ends);
    CHECK(same_list(a->w.odds, b->w.odds, listed(a->w.odds)));
    CHECK(same_list(a->w.ends, b->w.ends, ends));
    CHECK(!memcmp(a->w.targets, b->w.targets, (ends - 1) * sizeof *a->w.targets));
    CHECK(!memcmp(a->w.length, b->w.length, count));
    CHECK(!memcmp(a->block_starts, b->block_starts, sizeof a->block_starts));

    pvm_jit_find_codes(&a->w, &a->j);
    pvm_jit_find_codes_wide(&b->w, &b->j);
    CHECK(!memcmp(a->w.value, b->w.value, count * sizeof *a->w.value));
    CHECK(!memcmp(a->w.code, b->w.code, count * sizeof *a->w.code));
    CHECK(!memcmp(a->w.charge, b->w.charge, count));
}

/* ---- threads ---- */

enum { THREADS = 4, PROGRAMS = 40 };

struct compiling {
    const struct pvm_cells *cells;
    pthread_barrier_t *start;
    struct pvm_native *native;
};

static void *compile(void *user)
{
    struct compiling *c = user;
    struct pvm_config config = {.profile = c->cells->profile};
    pthread_barrier_wait(c->start);
    c->native = pvm_native_compile(c->cells, &config);
    return NULL;
}

static bool same_code(const struct pvm_native *a, const struct pvm_native *b)
{
    return a && b && a->used == b->used && a->body == b->body && a->count == b->count &&
           !memcmp(a->code + a->body, b->code + b->body, a->used - a->body) &&
           !memcmp(a->offsets, b->offsets, a->count * sizeof *a->offsets);
}

/* All threads compile the same instructions for the first time. */
static void learn_together(void)
{
    for (unsigned round = 0; round < PROGRAMS; round++) {
        pthread_t threads[THREADS];
        pthread_barrier_t start;
        struct compiling all[THREADS];
        struct pvm_code code = {.isa = (enum pvm_isa)(round % PVM_ISAS),
                                .bytes = {bytes, SIZE},
                                .mask = {starts, SIZE / 8},
                                .starts = starts};
        penta_error err = {0};
        random_code(code.isa, 6);
        struct pvm_cells *cells =
            pvm_cells_new(&code, pvm_profile_find("polkavm"), PVM_GAS_NAIVE, false, &err);
        CHECK(cells);
        pthread_barrier_init(&start, NULL, THREADS);
        for (unsigned i = 0; i < THREADS; i++) {
            all[i] = (struct compiling){.cells = cells, .start = &start};
            pthread_create(&threads[i], NULL, compile, &all[i]);
        }
        for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        for (unsigned i = 1; i < THREADS; i++) CHECK(same_code(all[0].native, all[i].native));
        for (unsigned i = 0; i < THREADS; i++) pvm_native_free(all[i].native);
        pthread_barrier_destroy(&start);
        pvm_cells_free(cells);
    }
}

int main(void)
{
    static const uint32_t charges[] = {0, JIT_CHARGE_ASYNC, JIT_CHARGE_SYNC};
    static struct side a, b;
    if (!pvm_jit_usable()) return 77;
    const bool wide = pvm_jit_rules(PVM_LATEST64, 0)->wide;
    learn_together();
    for (uint32_t i = 1; i < JIT_ENTRIES; i++) /* any numbers will do */
        pvm_jit_memo[0][i] = pvm_jit_memo[1][i] = (uint16_t)(i * 40503);
    for (unsigned round = 0; wide && round < ROUNDS; round++) {
        struct pvm_cells p = {.code = {.isa = (enum pvm_isa)below(PVM_ISAS),
                                       .gp = below(2),
                                       .bytes = {bytes, SIZE},
                                       .mask = {starts, SIZE / 8},
                                       .starts = starts}};
        random_code(p.code.isa, 1 + below(12));
        uint32_t charge = charges[below(3)], pc = below(SIZE - JIT_AHEAD - 200);
        while (!pvm_bit(starts, pc)) pc++;
        set_up(&a, &p, charge);
        set_up(&b, &p, charge);
        random_blocks(&a, &b, pc);
        compare(&a, &b, pc, pc + 1 + below(JIT_AHEAD - 64));
    }
    printf("%lu checks, %lu failures%s\n", checks, failures, wide ? "" : "; one way only");
    return failures != 0;
}
