/* The PolkaVM machine against native code: five programs, each as a blob and as C compiled by the
 * compiler of this build at -O2, interleaved in one run, results compared, medians and ratios.
 *
 *     bench_pvm [FOLDER [ROUNDS [PROGRAM]]]        FOLDER holds the blobs */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "penta/pvm.h"

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

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "bench_pvm: %s: %s\n", what, detail);
    exit(1);
}

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

enum { NATIVE, PLAIN, METERED, NARROW, KINDS };
static const char *const kind_names[KINDS] = {"native", "interp", "interp, gas", "interp, 32-bit"};

struct lane {
    penta_module *module;
    penta_bytes bytes;
    penta_pvm_pool *pool;
};

static void open_lane(struct lane *lane, const char *folder, const char *name, const char *isa,
                      bool gas)
{
    char path[512];
    penta_error err;
    penta_option options[] = {{"gas", "1000000000000"}};
    snprintf(path, sizeof path, "%s/%s.%s.polkavm", folder, name, isa);
    lane->module = open_blob(path, &lane->bytes);
    lane->pool = penta_pvm_pool_new(lane->module, options, gas ? 1 : 0, &err);
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

static void run_program(const struct program *p, const char *folder, int rounds, double *ratios)
{
    static double times[KINDS][ROUNDS_MAX];
    struct lane lanes[KINDS];
    open_lane(&lanes[PLAIN], folder, p->name, "latest64", false);
    open_lane(&lanes[METERED], folder, p->name, "latest64", true);
    open_lane(&lanes[NARROW], folder, p->name, "latest32", false);
    for (int round = 0; round < rounds; round++) {
        p->initialize();
        double start = bench_now();
        uint64_t expected = p->run();
        times[NATIVE][round] = bench_now() - start;
        for (int kind = PLAIN; kind < KINDS; kind++)
            times[kind][round] = measure(&lanes[kind], expected, kind == NARROW);
    }
    double native = bench_median(times[NATIVE], (size_t)rounds);
    printf("%-10s native %8.4f s", p->name, native);
    for (int kind = PLAIN; kind < KINDS; kind++) {
        ratios[kind] = bench_median(times[kind], (size_t)rounds) / native;
        printf("   %s %6.2f", kind_names[kind], ratios[kind]);
    }
    printf("\n");
    fflush(stdout);
    for (int kind = PLAIN; kind < KINDS; kind++) {
        penta_pvm_pool_free(lanes[kind].pool);
        penta_close(lanes[kind].module);
        free((void *)lanes[kind].bytes.data);
    }
}

/* A machine from the pool, its call of an export, and back: ns. */
static void instances(const char *folder)
{
    enum { TIMES = 100000 };
    struct lane lane;
    penta_error err;
    open_lane(&lane, folder, "sieve", "latest64", false);
    double start = bench_now();
    for (int i = 0; i < TIMES; i++) penta_vm_free(penta_pvm_pool_take(lane.pool, &err));
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

/* loop: ecalli 0; jump loop, as a container of the latest64 instruction set. */
static void host_calls(void)
{
    enum { TIMES = 2000000 };
    static const uint8_t blob[] = {'P', 'V', 'M', 0, 2, 31, 0, 0, 0, 0, 0, 0, 0,
                                   5, 4, 1, 0, 1, 'f', 6, 7, 0, 0, 3, 10, 40, 0xff, 3, 0};
    uint8_t file[sizeof blob];
    memcpy(file, blob, sizeof blob);
    file[5] = sizeof blob;
    penta_error err;
    penta_module *module = penta_open((penta_bytes){file, sizeof file}, "pvm", NULL, 0, &err);
    penta_vm *vm = module ? penta_vm_new(module, NULL, NULL, 0, &err) : NULL;
    if (!vm) die("host call program", err.message);
    penta_stop stop;
    uint64_t result = 0;
    penta_vm_run(vm, UINT64_MAX, &stop);
    double start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_vm_answer(vm, &result, 1, &err);
        penta_vm_run(vm, UINT64_MAX, &stop);
    }
    printf("host call, out and back in               %9.1f ns\n",
           (bench_now() - start) / TIMES * 1e9);
    if (stop.kind != PENTA_STOP_HOST) die("host call program", "did not call");
    penta_vm_free(vm);
    penta_close(module);
}

static void ignore(void *user, const penta_error *finding) { (void)user, (void)finding; }

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

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "bench/pvm";
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 5;
    double sum[KINDS] = {0};
    int ran = 0;
    for (int i = 0; i < COUNT; i++) {
        double ratios[KINDS];
        if (argc > 3 && strcmp(argv[3], programs[i].name)) continue;
        run_program(&programs[i], folder, rounds, ratios);
        for (int kind = PLAIN; kind < KINDS; kind++) sum[kind] += log(ratios[kind]);
        ran++;
    }
    printf("geometric mean over native          ");
    for (int kind = PLAIN; kind < KINDS; kind++)
        printf("   %s %6.2f", kind_names[kind], exp(sum[kind] / ran));
    printf("\n");
    instances(folder);
    host_calls();
    for (int i = 4; i < argc; i++) parsing(argv[i]);
    return 0;
}
