/* The PolkaVM machine against native code: the same programs as blobs and as C compiled at -O2.
 * They alternate, and results are compared; prints the ratios of medians to those of gcc.
 *
 *     bench_pvm [-d FOLDER] [-r ROUNDS] [-p PROGRAM] [-o PART] [BLOB ...]
 *
 * FOLDER has the programs. PART is ratios, costs or compile; without it, all of them run. BLOBs are
 * parsed and compiled. PEERS in the environment names a file of other implementations, with a line
 * NAME=COMMAND for each: the command gets a blob, calls its initialize and run, and prints the
 * seconds that run took; PEER_SECONDS is how long it may take (60). */
#include "pvm_bench.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

#define PROGRAMS(P) P(sieve) P(sha256) P(matmul) P(bytecode) P(memops) P(fib) P(search) P(calls)
enum { PUBLISHED = 5 }; /* upstream has published figures for the first five */

typedef void initialize_fn(void);
typedef unsigned long long run_fn(void);
#define P(name)                                                                                    \
    initialize_fn gcc_##name##_initialize, clang_##name##_initialize;                              \
    run_fn gcc_##name##_run, clang_##name##_run;
PROGRAMS(P)
#undef P

struct native {
    initialize_fn *initialize;
    run_fn *run;
};

static const struct program {
    const char *name;
    struct native gcc, clang;
} programs[] = {
#ifdef BENCH_CLANG
#define P(name)                                                                                    \
    {#name,                                                                                        \
     {gcc_##name##_initialize, gcc_##name##_run},                                                  \
     {clang_##name##_initialize, clang_##name##_run}},
#else
#define P(name) {#name, {gcc_##name##_initialize, gcc_##name##_run}, {NULL, NULL}},
#endif
    PROGRAMS(P)
#undef P
};
enum { COUNT = sizeof programs / sizeof *programs, ROUNDS_MAX = 99, SLOW_ROUNDS = 3 };

/* ---- rows ---- */

#define GAS "1000000000000"
#define METERED                                                                                    \
    {                                                                                              \
        "gas", GAS                                                                                 \
    }

struct row {
    const char *name;
    const char *engine; /* NULL: native or a peer */
    penta_option options[2];
    size_t count;
    double published[PUBLISHED]; /* upstream's figures; 0: none */
    const struct peer *peer;
    bool clang, v8;
    double ratio[COUNT]; /* negative: none, and the note says why */
    char note[COUNT][16];
};

/* clang-format off */
#define RECOMPILER {2.14, 1.48, 3.00, 1.99, 1.04}
#define RECOMPILER_SYNC {2.63, 1.48, 3.24, 2.90, 2.08}
#define INTERPRETER {34.3, 36.1, 77.3, 32.3, 32.3}
#define INTERPRETER_SYNC {53.4, 60.7, 104, 49.7, 48.4}
/* clang-format on */

static const struct row own_rows[] = {
#define OPTIONS(n, ...) .options = {__VA_ARGS__}, .count = n
    {.name = "native gcc -O2"},
    {.name = "native clang -O2", .clang = true},
    {.name = "V8, wasm32", .v8 = true},
    {.name = "jit", .engine = "jit", .published = RECOMPILER},
    {.name = "jit, sync gas", .engine = "jit", OPTIONS(1, METERED), .published = RECOMPILER_SYNC},
    {.name = "jit, step gas", .engine = "jit", OPTIONS(2, METERED, {"gas-model", "step"})},
    {.name = "jit, async gas",
     .engine = "jit",
     OPTIONS(2, METERED, {"gas-mode", "async"}),
     .published = RECOMPILER_SYNC},
    {.name = "jit, full gas model", .engine = "jit", OPTIONS(2, METERED, {"gas-model", "full"})},
    {.name = "jit, polls", .engine = "jit", OPTIONS(1, {"poll", "1"})},
    {.name = "interp", .engine = "interp", .published = INTERPRETER},
    {.name = "interp, gas", .engine = "interp", OPTIONS(1, METERED), .published = INTERPRETER_SYNC},
#undef OPTIONS
};
enum { OWN_ROWS = sizeof own_rows / sizeof *own_rows };

struct bench {
    const char *folder, *only;
    int rounds;
    double peer_seconds;
    char scratch[64]; /* our own programs, assembled */
    struct peer *peers;
    size_t peer_count, row_count;
    struct row *rows;
    double native[COUNT]; /* seconds */
};

struct lane { /* a row of the table while one program is measured */
    penta_bytes bytes;
    penta_module *module;
    penta_pvm_pool *pool;
    struct v8 *v8;
    double times[ROUNDS_MAX];
    int count;
};

/* ---- one program ---- */

static double call_export(penta_vm *vm, const penta_module *module, const char *name,
                          uint64_t *result)
{
    uint32_t pc;
    penta_stop stop;
    if (!penta_pvm_export(module, name, &pc)) bench_die(name, "no such export");
    penta_pvm_call(vm, pc, NULL, 0);
    double start = bench_cpu();
    penta_vm_run(vm, UINT64_MAX, &stop);
    double took = bench_cpu() - start;
    if (stop.kind != PENTA_STOP_HALT) bench_die(name, "did not halt");
    *result = penta_pvm_register_get(vm, PENTA_PVM_A0);
    return took;
}

static double run_blob(const struct lane *lane, const char *name, bool narrow, uint64_t expected)
{
    penta_error err;
    uint64_t result;
    penta_vm *vm = penta_pvm_pool_take(lane->pool, &err);
    if (!vm) bench_die("pool", err.message);
    call_export(vm, lane->module, "initialize", &result);
    double took = call_export(vm, lane->module, "run", &result);
    if (narrow) result = (uint32_t)result | penta_pvm_register_get(vm, PENTA_PVM_A1) << 32;
    if (result != expected) bench_die(name, "another result than native code");
    penta_vm_free(vm);
    return took;
}

static double run_native(const struct native *n, const char *name, uint64_t *expected)
{
    n->initialize();
    double start = bench_cpu();
    uint64_t result = n->run();
    double took = bench_cpu() - start;
    if (!*expected) *expected = result;
    if (result != *expected) bench_die(name, "two compilers, two results");
    return took;
}

static void open_lane(struct lane *lane, const char *blob, const struct row *row,
                      const char *program)
{
    penta_error err;
    memset(lane, 0, sizeof *lane);
    if (row->v8) lane->v8 = v8_start(program);
    if (!row->engine) return;
    lane->module = bench_open(blob, &lane->bytes);
    lane->pool = penta_pvm_pool_new(lane->module, row->engine, row->options, row->count, &err);
    if (!lane->pool) bench_die(blob, err.message);
}

static void close_lane(struct lane *lane)
{
    v8_end(lane->v8);
    penta_pvm_pool_free(lane->pool);
    if (lane->module) penta_close(lane->module);
    free((void *)lane->bytes.data);
}

static bool row_is_slow(const struct row *row)
{
    return row->peer || (row->engine && !strcmp(row->engine, "interp"));
}

/* Measures the row once more, unless it has a note. */
static void measure_row(struct bench *b, struct lane *lane, struct row *row, int which,
                        const char *blob, bool narrow, uint64_t *expected)
{
    const struct program *p = &programs[which];
    double took;
    if (*row->note[which] || (row_is_slow(row) && lane->count >= SLOW_ROUNDS)) return;
    if (row->peer)
        took =
            peer_run(row->peer, blob, b->peer_seconds, row->note[which], sizeof row->note[which]);
    else if (row->v8)
        took =
            v8_run(lane->v8, b->peer_seconds, *expected, row->note[which], sizeof row->note[which]);
    else if (row->engine)
        took = run_blob(lane, p->name, narrow, *expected);
    else if (!row->clang)
        took = run_native(&p->gcc, p->name, expected);
    else if (p->clang.run)
        took = run_native(&p->clang, p->name, expected);
    else
        took = snprintf(row->note[which], sizeof row->note[which], "absent") * -1.0;
    lane->times[lane->count++] = took;
}

static void path_of(const struct bench *b, int which, const char *isa, char *path, size_t capacity)
{
    bool own = which >= PUBLISHED;
    snprintf(path, capacity, "%s/%s.%s.polkavm", own ? b->scratch : b->folder, programs[which].name,
             isa);
    if (!own) return;
    char text[512];
    snprintf(text, sizeof text, "%s/%s.pvmasm", b->folder, programs[which].name);
    bench_assemble(text, isa, path);
}

static void run_program(struct bench *b, int which, const char *isa)
{
    char blob[512];
    uint64_t expected = 0;
    struct lane *lanes = calloc(b->row_count, sizeof *lanes);
    if (!lanes) bench_die("benchmark", "no memory");
    path_of(b, which, isa, blob, sizeof blob);
    for (size_t i = 0; i < b->row_count; i++)
        open_lane(&lanes[i], blob, &b->rows[i], programs[which].name);
    for (int round = 0; round < b->rounds; round++)
        for (size_t i = 0; i < b->row_count; i++)
            measure_row(b, &lanes[i], &b->rows[i], which, blob, !strcmp(isa, "latest32"),
                        &expected);
    for (size_t i = 0; i < b->row_count; i++) {
        double median = bench_median(lanes[i].times, (size_t)lanes[i].count);
        if (!i) b->native[which] = median;
        b->rows[i].ratio[which] = *b->rows[i].note[which] ? -1 : median / b->native[which];
        close_lane(&lanes[i]);
    }
    free(lanes);
    if (which >= PUBLISHED) unlink(blob);
}

/* ---- the table ---- */

static bool program_wanted(const struct bench *b, int which)
{
    return !b->only || !strcmp(b->only, programs[which].name);
}

static void print_mean(const struct bench *b, const struct row *row, int from, int to)
{
    double sum = 0;
    int count = 0;
    for (int i = from; i < to; i++) {
        if (!program_wanted(b, i)) continue;
        if (row->ratio[i] < 0) count = -COUNT;
        sum += row->ratio[i] > 0 ? log(row->ratio[i]) : 0;
        count++;
    }
    if (count > 0)
        printf(" %9.2f ", exp(sum / count));
    else
        printf(" %9s ", "-");
}

static void print_cells(const struct bench *b, const struct row *row, bool compare, int from,
                        int to)
{
    for (int i = from; i < to; i++) {
        if (!program_wanted(b, i)) continue;
        bool slower =
            compare && i < PUBLISHED && row->published[i] > 0 && row->ratio[i] > row->published[i];
        if (row->ratio[i] < 0)
            printf(" %9s ", row->note[i]);
        else
            printf(" %9.2f%c", row->ratio[i], slower ? '!' : ' ');
    }
    print_mean(b, row, from, to);
}

static void print_heading(const struct bench *b, const char *title)
{
    printf("\n%-22.22s", title);
    for (int i = 0; i <= COUNT; i++) {
        if (i == PUBLISHED || i == COUNT) printf(" %9s ", "geo. mean");
        if (i < COUNT && program_wanted(b, i)) printf(" %9s ", programs[i].name);
    }
    printf("\n%-22s", "native gcc, seconds");
    for (int i = 0; i <= COUNT; i++) {
        if (i == PUBLISHED || i == COUNT) printf(" %9s ", "");
        if (i < COUNT && program_wanted(b, i)) printf(" %9.4f ", b->native[i]);
    }
    printf("\n");
}

static void print_table(const struct bench *b, const char *title, bool compare)
{
    print_heading(b, title);
    for (size_t i = 0; i < b->row_count; i++) {
        const struct row *row = &b->rows[i];
        printf("%-22.22s", row->name);
        print_cells(b, row, compare, 0, PUBLISHED);
        print_cells(b, row, compare, PUBLISHED, COUNT);
        printf("\n");
        if (!compare || !row->published[0] || b->only) continue;
        struct row figures = {.name = ""};
        memcpy(figures.ratio, row->published, sizeof row->published);
        printf("%-22s", "  published, upstream");
        print_cells(b, &figures, false, 0, PUBLISHED);
        printf("\n");
    }
    for (size_t i = 0; compare && i < b->row_count; i++)
        for (int k = 0; k < PUBLISHED; k++)
            if (program_wanted(b, k) && b->rows[i].published[k] > 0 &&
                b->rows[i].ratio[k] > b->rows[i].published[k])
                printf("! %s is slower than upstream's published figure: %s, %.2f against %.2f\n",
                       b->rows[i].name, programs[k].name, b->rows[i].ratio[k],
                       b->rows[i].published[k]);
    fflush(stdout);
}

static void make_rows(struct bench *b)
{
    b->row_count = 0;
    free(b->rows);
    b->rows = calloc(OWN_ROWS + b->peer_count, sizeof *b->rows);
    if (!b->rows) bench_die("benchmark", "no memory");
    for (size_t i = 0; i < OWN_ROWS; i++)
        if (!own_rows[i].v8 || !v8_missing()) b->rows[b->row_count++] = own_rows[i];
    for (size_t i = 0; i < b->peer_count; i++) {
        b->rows[b->row_count].name = b->peers[i].name;
        b->rows[b->row_count++].peer = &b->peers[i];
    }
}

static void measure_ratios(struct bench *b)
{
    static const char *const isas[] = {"latest64", "latest32"};
    snprintf(b->scratch, sizeof b->scratch, "/tmp/bench_pvm_XXXXXX");
    if (!mkdtemp(b->scratch)) bench_die(b->scratch, "cannot make this folder");
    printf("Processor time of a run over that of native code by gcc -O2; medians of %d interleaved "
           "rounds\n(interpreters and peers: of %d). Published figures are from another machine; "
           "results of peers\nare not compared, they only tell seconds.\n",
           b->rounds, b->rounds < SLOW_ROUNDS ? b->rounds : SLOW_ROUNDS);
    if (v8_missing()) printf("V8 is left out: there is no %s.\n", v8_missing());
    for (int i = 0; i < 2; i++) {
        make_rows(b);
        for (int k = 0; k < COUNT; k++)
            if (program_wanted(b, k)) run_program(b, k, isas[i]);
        print_table(b, i ? "32-bit programs" : "64-bit programs", !i);
    }
    rmdir(b->scratch);
    free(b->rows);
    printf("\n");
}

static void measure_costs(const struct bench *b)
{
    bench_instances(b->folder);
    bench_host_calls("interp");
    bench_host_calls("jit");
    bench_interrupts();
    bench_tight_loops();
}

static bool program_known(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(programs[i].name, name)) return true;
    return false;
}

static void print_usage(void)
{
    fprintf(stderr, "bench_pvm [-d FOLDER] [-r ROUNDS] [-p PROGRAM] [-o ratios|costs|compile] "
                    "[BLOB ...]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct bench b = {.folder = "bench/pvm", .rounds = 5, .peer_seconds = 60};
    const char *part = NULL, *peers = getenv("PEERS"), *limit = getenv("PEER_SECONDS");
    int once = -1;
    for (int c; (c = getopt(argc, argv, "d:r:p:o:c:")) != -1;) switch (c) {
        case 'd': b.folder = optarg; break;
        case 'r': b.rounds = atoi(optarg); break;
        case 'p': b.only = optarg; break;
        case 'o': part = optarg; break;
        case 'c': once = atoi(optarg); break; /* internal: prints the seconds of one compilation */
        default: print_usage();
        }
    if (once >= 0 && optind < argc)
        return printf("%.9f\n", bench_compile_once(argv[optind], once)) < 0;
    if (b.rounds < 1 || b.rounds > ROUNDS_MAX || (b.only && !program_known(b.only))) print_usage();
    if (part && strcmp(part, "ratios") && strcmp(part, "costs") && strcmp(part, "compile"))
        print_usage();
    if (limit && atof(limit) > 0) b.peer_seconds = atof(limit);
    if (peers && *peers) b.peer_count = peers_read(peers, &b.peers);
    if (!part || !strcmp(part, "ratios")) measure_ratios(&b);
    if (!part || !strcmp(part, "costs")) measure_costs(&b);
    for (int i = optind; i < argc && (!part || !strcmp(part, "compile")); i++) {
        bench_parsing(argv[i]);
        bench_compiling(argv[i]);
    }
    if (!part || !strcmp(part, "compile")) bench_linear();
    for (size_t i = 0; i < b.peer_count; i++) {
        free(b.peers[i].name);
        free(b.peers[i].command);
    }
    free(b.peers);
    return 0;
}
