/* Compiling alone, after parsing: of a program, and of generated code of growing size. */
#include "pvm_bench.h"
#include <string.h>
#include <unistd.h>
#ifdef PENTA_JIT
#include "pvm/jit/jit.h"

enum { MODES = 3, ROUNDS = 300, COLD_ROUNDS = 20 };
static const char *const modes[MODES] = {"no gas", "naive gas", "full gas"};

static struct pvm_config config_of(const struct pvm_profile *profile, int mode)
{
    return (struct pvm_config){.profile = profile,
                               .metered = mode > 0,
                               .model = mode > 1 ? PVM_GAS_FULL_L2 : PVM_GAS_NAIVE};
}

static uint32_t instructions_of(const struct pvm_code *code)
{
    uint32_t count = 0;
    for (uint32_t pc = 0; pc < code->bytes.size; pc++) count += pvm_starts(code, pc);
    return count;
}

/* The shortest time of some rounds; *native: bytes of machine code. */
static double measure_compile(const struct pvm_code *code, const struct pvm_profile *profile,
                              int mode, int rounds, double *native)
{
    struct pvm_config config = config_of(profile, mode);
    penta_error err = {0};
    struct pvm_cells *cells =
        pvm_cells_new(code, config.profile, config.model, config.metered, &err);
    if (!cells) bench_die("compiling", err.message);
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double start = bench_now();
        struct pvm_native *n = pvm_native_compile(cells, &config);
        double took = bench_now() - start;
        if (!n) bench_die("compiling", "no executable memory");
        *native = n->used - n->body;
        if (took < best) best = took;
        pvm_native_free(n);
    }
    pvm_cells_free(cells);
    return best;
}

double bench_compile_once(const char *path, int mode)
{
    penta_bytes bytes;
    penta_module *module = bench_open(path, &bytes);
    const struct pvm_program *p = &pvm_module(module)->program;
    double native, took = measure_compile(&p->code, pvm_default_profile(p), mode, 1, &native);
    penta_close(module);
    free((void *)bytes.data);
    return took;
}

/* The shortest time of some processes that have compiled nothing before. */
static double measure_cold(const char *path, int mode)
{
    double best = 1e9;
    char self[512] = "", note[64] = "", command[1024];
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return -1;
    snprintf(command, sizeof command, "'%s' -c %d", self, mode);
    struct peer again = {(char *)"cold", command};
    for (int i = 0; i < COLD_ROUNDS; i++) {
        double took = peer_run(&again, path, 60, note, sizeof note);
        if (took < 0) bench_die("a first compilation", note);
        if (took < best) best = took;
    }
    return best;
}

void bench_compiling(const char *path)
{
    penta_bytes bytes;
    penta_module *module = bench_open(path, &bytes);
    const struct pvm_program *p = &pvm_module(module)->program;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    uint32_t count = instructions_of(&p->code);
    for (int mode = 0; mode < MODES; mode++) {
        double native = 0;
        double warm = measure_compile(&p->code, pvm_default_profile(p), mode, ROUNDS, &native);
        printf("compile %-14.14s %-9s %6.1f ns an instruction (%u), the first time %6.1f; "
               "%4.1f bytes\n",
               name, modes[mode], warm / count * 1e9, count, measure_cold(path, mode) / count * 1e9,
               native / count);
    }
    penta_close(module);
    free((void *)bytes.data);
}

/* ---- is it linear? ---- */

struct generated {
    uint8_t *code, *mask;
    uint32_t size, count, *blocks, block_count, *branches, branch_count;
    uint64_t state;
};

static uint32_t generated_pick(struct generated *g, uint32_t n)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)((g->state >> 32) * n >> 32);
}

static uint8_t generated_registers(struct generated *g)
{
    return (uint8_t)(generated_pick(g, 13) | generated_pick(g, 13) << 4);
}

/* Roughly the mixture that compilers write: loads and stores, additions, one branch in eight. */
static void add_instruction(struct generated *g)
{
    static const uint8_t simple[] = {PVM_OP_add_64, PVM_OP_xor, PVM_OP_sub_32, PVM_OP_and,
                                     PVM_OP_set_less_than_unsigned};
    static const uint8_t offset[] = {PVM_OP_load_indirect_u64,  PVM_OP_load_indirect_i32,
                                     PVM_OP_store_indirect_u64, PVM_OP_store_indirect_u32,
                                     PVM_OP_load_indirect_u8,   PVM_OP_add_imm_64,
                                     PVM_OP_add_imm_32,         PVM_OP_shift_logical_left_imm_64};
    uint8_t *b = g->code + g->size;
    uint32_t kind = generated_pick(g, 16);
    g->mask[g->size >> 3] |= (uint8_t)(1u << (g->size & 7));
    g->count++;
    b[1] = generated_registers(g);
    if (kind < 5) {
        b[0] = (uint8_t)pvm_ops[simple[generated_pick(g, sizeof simple)]].number[PVM_LATEST64];
        b[2] = (uint8_t)generated_pick(g, 13);
        g->size += 3;
    } else if (kind < 14) {
        b[0] = (uint8_t)pvm_ops[offset[generated_pick(g, sizeof offset)]].number[PVM_LATEST64];
        b[2] = (uint8_t)generated_pick(g, 128);
        g->size += 3;
    } else {
        b[0] = (uint8_t)pvm_ops[PVM_OP_branch_eq + generated_pick(g, 4)].number[PVM_LATEST64];
        g->branches[g->branch_count++] = g->size;
        g->size += 6;
        g->blocks[g->block_count++] = g->size;
    }
}

/* Most branches stay near, some go anywhere. */
static void aim_branches(struct generated *g)
{
    for (uint32_t i = 0; i < g->branch_count; i++) {
        uint32_t near = i < 20 ? 0 : i - 20, to = near + generated_pick(g, 40);
        if (!generated_pick(g, 10) || to >= g->block_count) to = generated_pick(g, g->block_count);
        uint32_t distance = g->blocks[to] - g->branches[i];
        memcpy(g->code + g->branches[i] + 2, &distance, 4);
    }
}

void bench_linear(void)
{
    for (uint32_t size = 1 << 19; size <= 1 << 23; size *= 2) {
        struct generated g = {.code = calloc(1, size + 16),
                              .mask = calloc(1, size / 8 + 16),
                              .blocks = calloc(size / 6 + 16, sizeof *g.blocks),
                              .branches = calloc(size / 6 + 16, sizeof *g.branches),
                              .state = 88172645463325252u};
        if (!g.code || !g.mask || !g.blocks || !g.branches)
            bench_die("generated code", "no memory");
        g.block_count = 1;
        while (g.size < size) add_instruction(&g);
        g.mask[g.size >> 3] |= (uint8_t)(1u << (g.size & 7));
        g.code[g.size++] = 0;
        g.count++;
        aim_branches(&g);
        struct pvm_code code = {.isa = PVM_LATEST64,
                                .bytes = {g.code, g.size},
                                .mask = {g.mask, (g.size + 7) / 8},
                                .starts = g.mask};
        printf("compile %3.1f MB of generated code, %7u instructions:", size / 1048576.0, g.count);
        for (int mode = 0; mode < MODES; mode++) {
            double native,
                took = measure_compile(&code, pvm_profile_find("polkavm"), mode, 5, &native);
            printf(" %s %5.1f%s", modes[mode], took / g.count * 1e9, mode < 2 ? "," : " ns each\n");
        }
        free(g.code);
        free(g.mask);
        free(g.blocks);
        free(g.branches);
    }
}
#else
double bench_compile_once(const char *path, int mode)
{
    (void)path, (void)mode;
    return -1;
}
void bench_compiling(const char *path) { (void)path; }
void bench_linear(void) {}
#endif
