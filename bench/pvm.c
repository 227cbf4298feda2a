/* The PolkaVM machine against native code: five programs, each as a blob and as C compiled by the
 * compiler of this build at -O2, interleaved in one run, results compared, medians and ratios.
 *
 *     bench_pvm [FOLDER [ROUNDS [PROGRAM]]]        FOLDER holds the blobs */
#include "penta/pvm.h"
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PENTA_JIT
#include "pvm/jit.h"
#endif

#define PROGRAMS(P) P(sieve) P(sha256) P(matmul) P(bytecode) P(memops)
#define P(name)                                                                                    \
    void name##_initialize(void);                                                                  \
    unsigned long long name##_run(void);
PROGRAMS(P)
#undef P

static const struct program {
    const char *name;
    void (*initialize)(void);
    unsigned long long (*run)(void);
} programs[] = {
#define P(name) {#name, name##_initialize, name##_run},
    PROGRAMS(P)
#undef P
};
enum { COUNT = sizeof programs / sizeof *programs, ROUNDS_MAX = 99 };

static penta_bytes read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) die(path, "cannot open");
    uint8_t *data = malloc(1 << 26);
    size_t size = fread(data, 1, 1 << 26, f);
    fclose(f);
    return (penta_bytes){data, size};
}

static penta_module *open_blob(const char *path, penta_bytes *bytes)
{
    penta_error err;
    *bytes = read_file(path);
    penta_module *module = penta_open(*bytes, "pvm", NULL, 0, &err);
    if (!module) die(path, err.message);
    return module;
}

/* One call; the time it took. */
static double call(penta_vm *vm, const penta_module *module, const char *name, uint64_t *result)
{
    uint32_t pc;
    penta_stop stop;
    if (!penta_pvm_export(module, name, &pc)) die(name, "no such export");
    penta_pvm_call(vm, pc, NULL, 0);
    double start = bench_now();
    penta_vm_run(vm, UINT64_MAX, &stop);
    double took = bench_now() - start;
    if (stop.kind != PENTA_STOP_HALT) die(name, "did not halt");
    *result = penta_pvm_reg(vm, PENTA_PVM_A0);
    return took;
}

#define GAS "1000000000000"
enum {
    NATIVE,
    PLAIN,
    METERED,
    NARROW,
    JIT,
    JIT_SYNC,
    JIT_ASYNC,
    JIT_FULL,
    JIT_POLL,
    JIT_NARROW,
    KINDS
};
static const struct kind {
    const char *name, *isa, *engine;
    penta_option options[2];
    size_t count;
} kinds[KINDS] = {
    [NATIVE] = {.name = "native"},
    [PLAIN] = {"interp", "latest64", "interp", .count = 0},
    [METERED] = {"interp gas", "latest64", "interp", {{"gas", GAS}}, 1},
    [NARROW] = {"interp 32", "latest32", "interp", .count = 0},
    [JIT] = {"jit", "latest64", "jit", .count = 0},
    [JIT_SYNC] = {"jit sync", "latest64", "jit", {{"gas", GAS}}, 1},
    [JIT_ASYNC] = {"jit async", "latest64", "jit", {{"gas", GAS}, {"gas-mode", "async"}}, 2},
    [JIT_FULL] = {"jit full", "latest64", "jit", {{"gas", GAS}, {"gas-model", "full"}}, 2},
    [JIT_POLL] = {"jit poll", "latest64", "jit", {{"poll", "1"}}, 1},
    [JIT_NARROW] = {"jit 32", "latest32", "jit", .count = 0},
};

struct lane {
    penta_module *module;
    penta_bytes bytes;
    penta_pvm_pool *pool;
};

static void open_lane(struct lane *lane, const char *folder, const char *name,
                      const struct kind *kind)
{
    char path[512];
    penta_error err;
    snprintf(path, sizeof path, "%s/%s.%s.polkavm", folder, name, kind->isa);
    lane->module = open_blob(path, &lane->bytes);
    lane->pool = penta_pvm_pool_new(lane->module, kind->engine, kind->options, kind->count, &err);
    if (!lane->pool) die(path, err.message);
}

static double measure(struct lane *lane, uint64_t expected, bool narrow)
{
    penta_error err;
    penta_vm *vm = penta_pvm_pool_take(lane->pool, &err);
    if (!vm) die("pool", err.message);
    uint64_t result;
    call(vm, lane->module, "initialize", &result);
    double took = call(vm, lane->module, "run", &result);
    if (narrow) result = (uint32_t)result | penta_pvm_reg(vm, PENTA_PVM_A1) << 32;
    if (result != expected) die("run", "another result than native code");
    penta_vm_free(vm);
    return took;
}

static double run_program(const struct program *p, const char *folder, int rounds, double *ratios)
{
    static double times[KINDS][ROUNDS_MAX];
    struct lane lanes[KINDS];
    for (int kind = PLAIN; kind < KINDS; kind++)
        open_lane(&lanes[kind], folder, p->name, &kinds[kind]);
    for (int round = 0; round < rounds; round++) {
        p->initialize();
        double start = bench_now();
        uint64_t expected = p->run();
        times[NATIVE][round] = bench_now() - start;
        for (int kind = PLAIN; kind < KINDS; kind++)
            times[kind][round] =
                measure(&lanes[kind], expected, !strcmp(kinds[kind].isa, "latest32"));
    }
    double native = bench_median(times[NATIVE], (size_t)rounds);
    printf("%-9s %9.4f", p->name, native);
    for (int kind = PLAIN; kind < KINDS; kind++) {
        ratios[kind] = bench_median(times[kind], (size_t)rounds) / native;
        printf(" %10.2f", ratios[kind]);
    }
    printf("\n");
    fflush(stdout);
    for (int kind = PLAIN; kind < KINDS; kind++) {
        penta_pvm_pool_free(lanes[kind].pool);
        penta_close(lanes[kind].module);
        free((void *)lanes[kind].bytes.data);
    }
    return native;
}

/* A machine from the pool, its call of an export, and back: ns. */
static void instances(const char *folder)
{
    enum { TIMES = 100000 };
    struct lane lane;
    penta_error err;
    open_lane(&lane, folder, "sieve", &kinds[JIT]);
    double start = bench_now();
    for (int i = 0; i < TIMES; i++)
        penta_vm_free(penta_pvm_pool_take(lane.pool, &err));
    printf("instance from the pool, untouched        %9.0f ns\n",
           (bench_now() - start) / TIMES * 1e9);
    penta_stop stop;
    uint32_t pc;
    penta_pvm_export(lane.module, "initialize", &pc);
    start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_vm *vm = penta_pvm_pool_take(lane.pool, &err);
        penta_pvm_call(vm, pc, NULL, 0);
        uint64_t sp = penta_pvm_reg(vm, PENTA_PVM_SP);
        penta_vm_poke(vm, sp - 8, &sp, 8);
        penta_vm_run(vm, 1, &stop);
        penta_vm_free(vm);
    }
    printf("instance, one page touched, one step     %9.0f ns\n",
           (bench_now() - start) / TIMES * 1e9);
    penta_pvm_pool_free(lane.pool);
    penta_close(lane.module);
    free((void *)lane.bytes.data);
}

/* f: loop: ecalli 0; jump loop.  g, at 3: ret.  As a container of the latest64 instruction set. */
static const uint8_t calls_blob[] = {'P', 'V', 'M', 0,  2,  0,    0,   0, 0,   0,   0, 0,
                                     0,   5,   7,   2,  0,  1,    'f', 3, 1,   'g', 6, 9,
                                     0,   0,   5,   10, 40, 0xff, 50,  0, 0xb, 0};

static void host_calls(const char *engine)
{
    enum { TIMES = 2000000 };
    uint8_t file[sizeof calls_blob];
    memcpy(file, calls_blob, sizeof file);
    file[5] = sizeof file;
    penta_error err;
    penta_module *module = penta_open((penta_bytes){file, sizeof file}, "pvm", NULL, 0, &err);
    penta_option which = {"call", "f"};
    penta_vm *vm = module ? penta_vm_new(module, engine, &which, 1, &err) : NULL;
    if (!vm) die("host call program", err.message);
    penta_stop stop;
    uint64_t result = 0;
    penta_pvm_call(vm, 0, NULL, 0);
    penta_vm_run(vm, UINT64_MAX, &stop);
    double start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_vm_answer(vm, &result, 1, &err);
        penta_vm_run(vm, UINT64_MAX, &stop);
    }
    printf("%-6s host call, out and back in       %10.1f ns\n", engine,
           (bench_now() - start) / TIMES * 1e9);
    if (stop.kind != PENTA_STOP_HOST) die("host call program", "did not call");
    start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_pvm_call(vm, 3, &result, 1);
        penta_vm_run(vm, UINT64_MAX, &stop);
    }
    printf("%-6s call of an export that returns   %10.1f ns\n", engine,
           (bench_now() - start) / TIMES * 1e9);
    if (stop.kind != PENTA_STOP_HALT) die("host call program", "did not halt");
    penta_vm_free(vm);
    penta_close(module);
}

#ifdef PENTA_JIT
/* Compiling alone, of what is already parsed. */
static void compiling(const char *path)
{
    enum { ROUNDS = 15 };
    static const char *const names[] = {"no gas", "naive gas", "full gas"};
    penta_bytes bytes;
    penta_module *module = open_blob(path, &bytes);
    const struct pvm_program *p = &pvm_module(module)->program;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (int mode = 0; mode < 3; mode++) {
        penta_error err = {0};
        struct pvm_config config = {.profile = pvm_default_profile(p),
                                    .metered = mode > 0,
                                    .model = mode > 1 ? PVM_GAS_FULL_L2 : PVM_GAS_NAIVE};
        struct pvm_cells *cells =
            pvm_cells_new(&p->code, config.profile, config.model, config.metered, &err);
        if (!cells) die(path, err.message);
        uint32_t count = 0;
        for (uint32_t pc = 0; pc < p->code.bytes.size; pc++)
            count += pvm_starts(&p->code, pc);
        double best = 1e9, native = 0;
        for (int i = 0; i < ROUNDS; i++) {
            double start = bench_now();
            struct pvm_native *n = pvm_native_compile(cells, &config);
            double took = bench_now() - start;
            if (!n) die(path, "cannot be compiled");
            native = n->used - n->body;
            if (took < best) best = took;
            pvm_native_free(n);
        }
        printf("compile %-14.14s %-10s %9.1f ns and %4.1f bytes an instruction (%u)\n", name,
               names[mode], best / count * 1e9, native / count, count);
        pvm_cells_free(cells);
    }
    penta_close(module);
    free((void *)bytes.data);
}
#else
static void compiling(const char *path)
{
    (void)path;
}
#endif

static void ignore(void *user, const penta_error *finding)
{
    (void)user, (void)finding;
}

static void parsing(const char *path)
{
    penta_error err;
    penta_bytes bytes = read_file(path);
    double best = 1e9;
    for (int i = 0; i < 9; i++) {
        double start = bench_now();
        penta_module *module = penta_open(bytes, "pvm", NULL, 0, &err);
        if (!module) die(path, err.message);
        penta_validate(module, ignore, NULL);
        double took = bench_now() - start;
        if (took < best) best = took;
        penta_close(module);
    }
    printf("parse and validate %-22.22s %9.0f MB/s of file\n",
           strrchr(path, '/') ? strrchr(path, '/') + 1 : path, (double)bytes.size / best / 1e6);
    free((void *)bytes.data);
}

/* Other implementations: PEERS names a file of lines NAME=CMD; CMD gets a blob and prints the
 * seconds of initialize and run. */
static void peers(const char *folder, const double *natives)
{
    const char *path = getenv("PEERS");
    FILE *f = path && *path ? fopen(path, "r") : NULL;
    char line[1024], command[2048];
    while (f && fgets(line, sizeof line, f)) {
        char *is = strchr(line, '=');
        if (!is || *line == '#') continue;
        *is++ = 0;
        is[strcspn(is, "\n")] = 0;
        double sum = 0;
        printf("%-19s", line);
        for (int i = 0; i < COUNT; i++) {
            double times[3];
            for (int k = 0; k < 3; k++) {
                times[k] = 0;
                snprintf(command, sizeof command, "%s '%s/%s.latest64.polkavm'", is, folder,
                         programs[i].name);
                FILE *p = popen(command, "r");
                if (!p || fscanf(p, "%lf", &times[k]) != 1) times[k] = NAN;
                if (p) pclose(p);
            }
            double ratio = bench_median(times, 3) / natives[i];
            sum += log(ratio);
            printf(" %s %.2f", programs[i].name, ratio);
        }
        printf("   geometric mean %.2f\n", exp(sum / COUNT));
    }
    if (f) fclose(f);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "bench/pvm";
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 5;
    double sum[KINDS] = {0};
    printf("%-9s %9s", "program", "native s");
    for (int kind = PLAIN; kind < KINDS; kind++)
        printf(" %10s", kinds[kind].name);
    printf("      (times native)\n");
    int ran = 0;
    double natives[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        double ratios[KINDS];
        if (argc > 3 && strcmp(argv[3], programs[i].name)) continue;
        natives[i] = run_program(&programs[i], folder, rounds, ratios);
        for (int kind = PLAIN; kind < KINDS; kind++)
            sum[kind] += log(ratios[kind]);
        ran++;
    }
    printf("%-19s", "geometric mean");
    for (int kind = PLAIN; kind < KINDS; kind++)
        printf(" %10.2f", exp(sum[kind] / ran));
    printf("\n");
    if (ran == COUNT) peers(folder, natives);
    instances(folder);
    host_calls("interp");
    host_calls("jit");
    for (int i = 4; i < argc; i++) {
        parsing(argv[i]);
        compiling(argv[i]);
    }
    return 0;
}
