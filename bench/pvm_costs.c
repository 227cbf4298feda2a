/* The costs of everything but running a PolkaVM program: instances, calls, interrupts, parsing. */
#include "pvm_bench.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static double nanoseconds_each(double start, int times)
{
    return (bench_now() - start) / times * 1e9;
}

void bench_instances(const char *folder)
{
    enum { TIMES = 100000 };
    char path[512];
    penta_error err;
    penta_bytes bytes;
    penta_stop stop;
    uint32_t pc;
    snprintf(path, sizeof path, "%s/sieve.latest64.polkavm", folder);
    penta_module *module = bench_open(path, &bytes);
    penta_pvm_pool *pool = penta_pvm_pool_new(module, NULL, NULL, 0, &err);
    if (!pool || !penta_pvm_export(module, "initialize", &pc)) bench_die(path, "no pool");
    double start = bench_now();
    for (int i = 0; i < TIMES; i++) penta_vm_free(penta_pvm_pool_take(pool, &err));
    printf("instance from the pool, untouched                  %9.0f ns\n",
           nanoseconds_each(start, TIMES));
    start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_vm *vm = penta_pvm_pool_take(pool, &err);
        penta_pvm_call(vm, pc, NULL, 0);
        uint64_t sp = penta_pvm_register_get(vm, PENTA_PVM_SP);
        penta_vm_poke(vm, sp - 8, &sp, 8);
        penta_vm_run(vm, UINT64_MAX, &stop);
        penta_vm_free(vm);
    }
    printf("instance, one page touched, one export called      %9.0f ns\n",
           nanoseconds_each(start, TIMES));
    enum { FRESH = 1000 };
    start = bench_now();
    for (int i = 0; i < FRESH; i++)
        penta_vm_free(penta_vm_new(module, "interp", NULL, 0, NULL, &err));
    printf("machine without a pool, interp                     %9.0f ns\n",
           nanoseconds_each(start, FRESH));
    penta_pvm_pool_free(pool);
    penta_close(module);
    free((void *)bytes.data);
}

void bench_host_calls(const char *engine)
{
    enum { TIMES = 2000000 };
    penta_module *module =
        bench_module("pub @asks:\n ecalli 0\n jump @asks\npub @returns:\n ret\n");
    penta_option which = {"call", "asks"};
    penta_error err;
    penta_stop stop;
    uint64_t result = 0;
    uint32_t asks, returns;
    penta_vm *vm = penta_vm_new(module, engine, &which, 1, NULL, &err);
    if (!vm) bench_die("host call program", err.message);
    penta_pvm_export(module, "asks", &asks);
    penta_pvm_export(module, "returns", &returns);
    penta_pvm_call(vm, asks, NULL, 0);
    penta_vm_run(vm, UINT64_MAX, &stop);
    double start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_vm_answer(vm, &result, 1, &err);
        penta_vm_run(vm, UINT64_MAX, &stop);
    }
    printf("%-6s host call, out and back in                 %9.1f ns\n", engine,
           nanoseconds_each(start, TIMES));
    if (stop.kind != PENTA_STOP_HOST) bench_die("host call program", "did not call");
    start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        penta_pvm_call(vm, returns, &result, 1);
        penta_vm_run(vm, UINT64_MAX, &stop);
    }
    printf("%-6s call of an export that returns             %9.1f ns\n", engine,
           nanoseconds_each(start, TIMES));
    if (stop.kind != PENTA_STOP_HALT) bench_die("host call program", "did not halt");
    penta_vm_free(vm);
    penta_close(module);
}

/* ---- interrupts ---- */

enum { INTERRUPTS = 1000 };

struct runner {
    penta_vm *vm;
    atomic_int stops; /* interrupts seen so far */
    double at;        /* time of the last one */
};

static void *keep_running(void *user)
{
    struct runner *r = user;
    penta_stop stop;
    for (int i = 1; i <= INTERRUPTS; i++) {
        penta_vm_run(r->vm, UINT64_MAX, &stop);
        if (stop.kind != PENTA_STOP_INTERRUPT) bench_die("endless loop", "stopped by itself");
        r->at = bench_now();
        atomic_store(&r->stops, i);
    }
    return NULL;
}

static void measure_interrupts(const penta_module *module, const char *engine, const char *name,
                               const penta_option *options, size_t count)
{
    double times[INTERRUPTS];
    penta_error err;
    struct runner r = {.vm = penta_vm_new(module, engine, options, count, NULL, &err)};
    pthread_t thread;
    if (!r.vm) bench_die("endless loop", err.message);
    pthread_create(&thread, NULL, keep_running, &r);
    for (int i = 0; i < INTERRUPTS; i++) {
        usleep(100 + (unsigned)i % 97 * 3);
        double start = bench_now();
        penta_vm_interrupt(r.vm);
        while (atomic_load(&r.stops) <= i) usleep(5);
        times[i] = r.at - start;
    }
    pthread_join(thread, NULL);
    double median = bench_median(times, INTERRUPTS);
    printf("interrupt, %-20s median %7.1f, 99 in 100 below %7.1f, worst %8.1f us\n", name,
           median * 1e6, times[INTERRUPTS * 99 / 100] * 1e6, times[INTERRUPTS - 1] * 1e6);
    penta_vm_free(r.vm);
}

void bench_interrupts(void)
{
    static const penta_option gas[] = {
        {"call", "loop"}, {"gas", "9000000000000000000"}, {"gas-mode", "async"}};
    static const penta_option poll[] = {{"call", "loop"}, {"poll", "1"}};
    penta_module *module = bench_module("pub @loop:\n a0 = a0 + 1\n a1 = a1 ^ a0\n jump @loop\n");
    measure_interrupts(module, "interp", "interp", gas, 1);
    measure_interrupts(module, "jit", "jit", gas, 1);
    measure_interrupts(module, "jit", "jit with sync gas", gas, 2);
    measure_interrupts(module, "jit", "jit with async gas", gas, 3);
    measure_interrupts(module, "jit", "jit that polls", poll, 2);
    penta_close(module);
}

/* ---- loops of a few instructions ---- */

void bench_tight_loops(void)
{
    enum { STEPS = 100000000 };
    static const struct {
        const char *name, *text;
    } loops[] = {
        {"jump to itself", "pub @loop:\n jump @loop\n"},
        {"branch to itself", "pub @loop:\n jump @loop if a0 == a1\n trap\n"},
        {"load, jump to itself", "pub @loop:\n a0 = 1, jump @loop\n"},
        {"two blocks", "pub @loop:\n jump @next\n@next:\n jump @loop\n"},
        {"add, jump", "pub @loop:\n a0 = a0 + 1\n jump @loop\n"},
        {"add, xor, branch",
         "pub @loop:\n a0 = a0 + 1\n a1 = a1 ^ a0\n jump @loop if a0 != 0\n trap\n"},
    };
    static const penta_option options[] = {{"call", "loop"}, {"gas", "9000000000000000000"}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        penta_module *module = bench_module(loops[i].text);
        double rate[2];
        for (size_t count = 1; count <= 2; count++) {
            penta_error err;
            penta_stop stop;
            penta_vm *vm = penta_vm_new(module, "interp", options, count, NULL, &err);
            if (!vm) bench_die(loops[i].name, err.message);
            double start = bench_now();
            penta_vm_run(vm, STEPS, &stop);
            rate[count - 1] = STEPS / (bench_now() - start) / 1e6;
            if (stop.kind != PENTA_STOP_FUEL) bench_die(loops[i].name, "ended by itself");
            penta_vm_free(vm);
        }
        printf("interp loop, %-22s %8.0f million steps/s, with gas %8.0f\n", loops[i].name, rate[0],
               rate[1]);
        penta_close(module);
    }
}

/* ---- reading ---- */

static void ignore_finding(void *user, const penta_error *finding) { (void)user, (void)finding; }

void bench_parsing(const char *path)
{
    penta_error err;
    penta_bytes bytes = bench_read(path);
    double best = 1e9;
    for (int i = 0; i < 99; i++) {
        double start = bench_now();
        penta_module *module = penta_open(bytes, "pvm", NULL, 0, &err);
        if (!module) bench_die(path, err.message);
        penta_validate(module, ignore_finding, NULL);
        double took = bench_now() - start;
        if (took < best) best = took;
        penta_close(module);
    }
    printf("parse and validate %-22.22s          %9.0f MB/s of file\n",
           strrchr(path, '/') ? strrchr(path, '/') + 1 : path, (double)bytes.size / best / 1e6);
    free((void *)bytes.data);
}
