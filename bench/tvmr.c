/* The ternary machine: matrix products for each form of weights and range of inputs, against the
 * plain kernel and the measured read bandwidth; a small network; the assembler; the loader.
 *
 *     bench_tvmr [products]     with an argument only the products
 *     KERNELS=avx2 bench_tvmr   another set of kernels
 *
 * GOP/s counts two operations per multiply-add. Medians and the best round are printed, and results
 * are compared. */
#include "base/bytes.h"
#include "bench.h"
#include "core/driver.h"
#include "tvmr/vm/ops.h"
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 15 };

static volatile uint64_t sink;
static uint64_t seed = 1;
static uint32_t random_next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 32);
}

static double measure_bandwidth(void)
{
    size_t size = (size_t)256 << 20;
    uint64_t *data = malloc(size), sum = 0;
    double times[5];
    if (!data) abort();
    memset(data, 1, size);
    for (int r = 0; r < 5; r++) {
        double start = bench_now();
        for (size_t i = 0; i < size / 8; i += 8)
            sum += data[i] + data[i + 1] + data[i + 2] + data[i + 3] + data[i + 4] + data[i + 5] +
                   data[i + 6] + data[i + 7];
        times[r] = bench_now() - start;
    }
    sink = sum;
    free(data);
    bench_median(times, 5);
    return (double)size / times[0] * 1e-9; /* the best round */
}

struct setup {
    const char *name;
    size_t n;
    bool equal, temps;
    enum tvmr_gate gate;
    unsigned bits, threads;
};

struct speed {
    double median, best; /* GOP/s */
};

static struct speed run_for(struct tvmr_vm *vm, const struct setup *s, const int32_t *x,
                            int32_t *out, bool plain)
{
    struct tvmr_cold *c = &vm->cold[0];
    double ops = 2.0 * (double)s->n * (double)s->n, times[ROUNDS];
    size_t repeat = plain ? 1 : (size_t)(2e8 / ops) + 1;
    int rounds = plain ? 3 : ROUNDS;
    for (int r = -1; r < rounds; r++) { /* the first prepares the weights */
        double start = bench_now();
        for (size_t k = 0; k < repeat; k++) {
            if (plain)
                tvmr_product_plain(c, s->gate, x, s->n, 0, s->n, out);
            else
                tvmr_product(vm, c, s->gate, x, s->n, out);
        }
        if (r >= 0) times[r] = (bench_now() - start) / (double)repeat;
    }
    double median = bench_median(times, (size_t)rounds);
    return (struct speed){ops / median * 1e-9, ops / times[0] * 1e-9};
}

static size_t weight_bytes(const struct tvmr_cold *c, const struct setup *s)
{
    const struct tvmr_weights *w =
        c->prepared ? &c->prepared->weights[s->temps ? s->gate : TVMR_GATE_NONE] : NULL;
    if (!w || !w->codes) return c->count * sizeof *c->weights;
    return w->rows * w->stride + (w->lows ? w->rows * w->chunks * 8 : 0);
}

static void measure_product(const struct setup *s, double read_speed)
{
    struct tvmr_vm *vm = calloc(1, sizeof *vm);
    uint32_t dims[] = {(uint32_t)s->n, (uint32_t)s->n};
    int32_t *x = malloc(s->n * 4), *fast = malloc(s->n * 4), *slow = malloc(s->n * 4);
    if (!vm || !x || !fast || !slow) abort();
    vm->memory_max = UINT64_C(1) << 32;
    vm->kernels = (unsigned)tvmr_kernels_named(getenv("KERNELS"));
    vm->threads = s->threads;
    if (!tvmr_cold_new(vm, 0, s->n * s->n, dims, 2)) abort();
    struct tvmr_cold *c = &vm->cold[0];
    uint8_t *temps = malloc(c->count);
    for (size_t i = 0; i < c->count; i++) {
        c->weights[i] = (struct tvmr_signal){(int8_t)((int)(random_next() % 3) - 1),
                                             (uint8_t)(s->equal ? 40 : random_next() % 256)};
        if (temps) temps[i] = (uint8_t)(random_next() % 4);
    }
    if (s->temps && temps) tvmr_temps_set(vm, c, temps);
    for (size_t i = 0; i < s->n; i++) x[i] = (int32_t)random_next() >> (32 - s->bits);
    struct speed kernel = run_for(vm, s, x, fast, false), plain = run_for(vm, s, x, slow, true);
    double upstream = s->temps ? 0.9 : 2.2, ops = 2.0 * (double)s->n * (double)s->n;
    double bytes = kernel.median / ops * (double)weight_bytes(c, s);
    printf("  %-32s %4zu^2  %u   %8.1f%7.1f%11.2f%6.0fx%9.0fx%7.1f%9.1fx%s\n", s->name, s->n,
           s->threads, kernel.median, kernel.best, plain.median, kernel.median / plain.median,
           kernel.median / upstream, bytes, bytes / read_speed,
           memcmp(fast, slow, s->n * 4) ? "   RESULTS DIFFER" : "");
    tvmr_pool_free(vm->pool);
    tvmr_cold_drop(vm, c);
    free(vm);
    free(x);
    free(fast);
    free(slow);
    free(temps);
}

static void measure_products(void)
{
    static const struct {
        const char *name;
        bool equal, temps;
        enum tvmr_gate gate;
        unsigned bits;
    } kinds[] = {
        {"mixed magnitudes, 16-bit inputs", false, false, TVMR_GATE_NONE, 16},
        {"equal magnitudes, 8-bit inputs", true, false, TVMR_GATE_NONE, 8},
        {"gates, 16-bit inputs", false, true, TVMR_GATE_CORE, 16},
        {"32-bit inputs", false, false, TVMR_GATE_NONE, 32},
        {"gates and 32-bit inputs", false, true, TVMR_GATE_CORE, 32},
        {"gates of the extension, 16-bit", false, true, TVMR_GATE_EXTENSION, 16},
        {"gates of the extension, 32-bit", false, true, TVMR_GATE_EXTENSION, 32},
    };
    static const struct {
        size_t n;
        unsigned threads;
    } sizes[] = {{256, 1}, {1024, 1}, {4096, 1}, {4096, 2}};
    double read_speed = measure_bandwidth();
    printf("tvmr: read bandwidth %.1f GB/s; upstream's scalar products 2.2 GOP/s, gated 0.9\n"
           "  %-32s  size threads GOP/s   best definition  ratio  upstream   GB/s   of read\n",
           read_speed, "product");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            measure_product(&(struct setup){kinds[i].name, sizes[k].n, kinds[i].equal,
                                            kinds[i].temps, kinds[i].gate, kinds[i].bits,
                                            sizes[k].threads},
                            read_speed);
}

static void ignore_finding(void *user, const penta_error *finding) { (void)user, (void)finding; }

static void measure_network(void)
{
    static const char text[] = ".registers\nC0: ternary[32, 16]\nC1: ternary[4, 32]\nH0: "
                               "i32[16]\n.program\nload_input H0\n"
                               "ternary_matmul H1, C0, H0\nshift H1, H1, 8\nrelu H1, "
                               "H1\nternary_matmul H2, C1, H1\nstore_output H2\nhalt\n";
    penta_error err;
    penta_module *m = penta_assemble(bytes_of(text), "tvmr", NULL, 0, ignore_finding, NULL);
    penta_vm *vm = m ? penta_vm_new(m, NULL, NULL, 0, NULL, &err) : NULL;
    if (!vm) abort();
    for (unsigned i = 0; i < 2; i++)
        for (size_t k = 0; k < tvmr_vm(vm)->cold[i].count; k++)
            tvmr_vm(vm)->cold[i].weights[k] = (struct tvmr_signal){
                (int8_t)((int)(random_next() % 3) - 1), (uint8_t)random_next()};
    int32_t x[16];
    double times[ROUNDS];
    enum { RUNS = 100000 };
    for (int r = 0; r < ROUNDS; r++) {
        double start = bench_now();
        for (int i = 0; i < RUNS; i++) {
            penta_stop stop;
            for (int k = 0; k < 16; k++) x[k] = i * k & 255;
            tvmr_vm_begin(tvmr_vm(vm), x, 16);
            penta_vm_run(vm, UINT64_MAX, &stop);
            sink += (uint64_t)tvmr_vm(vm)->output.data[0];
        }
        times[r] = bench_now() - start;
    }
    printf("  network 16-32-4                    %12.2f million runs/s\n",
           RUNS / bench_median(times, ROUNDS) * 1e-6);
    penta_vm_free(vm);
    penta_close(m);
}

static void measure_assembler(void)
{
    struct writer source = {0};
    writer_text(&source,
                ".requires\ntensor\n.registers\nH0: i32[4]\nC0: ternary[4, 4]\n.program\n");
    for (int i = 0; i < 100000; i++)
        writer_text(&source, i % 4 == 0   ? "ternary_matmul H1, C0, H0\n"
                             : i % 4 == 1 ? "tensor.scale H2, H1, 300\n"
                                          : "add H0, H1, H2 ; sum\n");
    double times[5];
    for (int r = 0; r < 5; r++) {
        double start = bench_now();
        penta_module *m =
            penta_assemble(writer_view(&source), "tvmr", NULL, 0, ignore_finding, NULL);
        times[r] = bench_now() - start;
        penta_close(m);
    }
    printf("  assemble 100,000 lines             %12.3f s\n", bench_median(times, 5));
    writer_free(&source);
}

static void measure_loader(void)
{
    size_t count = (size_t)8 << 20;
    struct writer code = {0}, out = {0};
    writer_fill(&code, 0, count * TVMR_INSN);
    for (size_t i = 0; i < count; i++) {
        static const uint8_t insns[4][8] = {{0, 0, 0x30, 3, 1, 0, 0, 0},
                                            {0, 0, 0x30, 1, 1, 0, 1, 0},
                                            {0, 1, 0, 9, 1, 0, 0, 0},
                                            {0, 0, 0x10, 7, 0, 0xff, 0, 0}};
        memcpy(code.out.data + i * 8, insns[i + 1 == count ? 3 : i & 3], 8);
    }
    static const uint8_t regs[] = {0, 7, 0, 1, 1, 4, 0, 0, 1, 7, 0, 1, 1, 4, 0, 0};
    struct tvmr_extension_entry tensor = {1, 1, 0, 0};
    tvmr_write(&out, &tensor, 1, (penta_bytes){regs, sizeof regs}, 2, writer_view(&code),
               (penta_bytes){0});
    enum { LOADS = 15 };
    double opening[LOADS], checking[LOADS];
    for (int r = 0; r < LOADS; r++) {
        penta_error err;
        double start = bench_now();
        penta_module *m = penta_open(writer_view(&out), "tvmr", NULL, 0, &err);
        opening[r] = bench_now() - start;
        if (!m) abort();
        penta_validate(m, ignore_finding, NULL);
        checking[r] = bench_now() - start;
        penta_close(m);
    }
    double size = (double)out.out.size * 1e-9, load = bench_median(opening, LOADS),
           whole = bench_median(checking, LOADS);
    printf("  load 64 MiB, container checks      %12.2f GB/s, best %.2f\n", size / load,
           size / opening[0]);
    printf("  the same with all program checks   %12.2f GB/s, best %.2f\n", size / whole,
           size / checking[0]);
    writer_free(&code);
    writer_free(&out);
}

int main(int argc, char **argv)
{
    (void)argv;
    measure_products();
    if (argc > 1) return 0;
    measure_network();
    measure_assembler();
    measure_loader();
    return 0;
}
