/* Tests what no case file can reach of the ternary machine: kernels and loops against their
 * definition over random shapes and extreme values, weights whose saving is killed, reloading a
 * program. */
#include "support.h"
#include "base/codec/checksum.h"
#include "base/file/file.h"
#include "penta/profile.h"
#include "penta/tvmr.h"
#include "tvmr/kernels/elements.h"
#include "tvmr/vm/ops.h"
#include "tvmr/host/script.h"
#include "tvmr/host/domain_state.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed = 1;
static uint32_t tvmr_test_rnd(uint32_t below) { return random_below(&seed, below); }

enum weights_kind { EQUAL, SMALL, MIXED, EXTREME, KINDS };

static struct tvmr_signal random_signal(enum weights_kind kind)
{
    int8_t p = (int8_t)((int)tvmr_test_rnd(3) - 1);
    switch (kind) {
    case EQUAL: return (struct tvmr_signal){p, 77};
    case SMALL: return (struct tvmr_signal){p, (uint8_t)tvmr_test_rnd(128)};
    case MIXED: return (struct tvmr_signal){p, (uint8_t)tvmr_test_rnd(256)};
    default: return (struct tvmr_signal){(int8_t)(tvmr_test_rnd(2) ? 1 : -1), 255};
    }
}

static int32_t random_input(unsigned range)
{
    static const int32_t edges[] = {
        INT32_MIN, INT32_MAX, INT32_MIN + 1, -1,  0,    1,   255, -255, 256, -256, 32767, -32768,
        32768,     8388607,   -8388608,      127, -128, 128, 14,  15,   59,  60,   119,   120};
    uint32_t all = tvmr_test_rnd(0x80000000u) << 1 | tvmr_test_rnd(2);
    switch (range) {
    case 0: return (int32_t)(all & 255) - 128;
    case 1: return (int32_t)(all & 65535) - 32768;
    case 2: return (int32_t)(all & 0xffffff) - 0x800000;
    case 3: return (int32_t)all;
    case 4: return edges[tvmr_test_rnd(sizeof edges / sizeof *edges)];
    default: return tvmr_test_rnd(2) ? INT32_MAX : INT32_MIN;
    }
}

static void one_product(struct tvmr_vm *vm, size_t rows, size_t cols, enum weights_kind kind,
                        unsigned range, bool temps)
{
    uint32_t dims[] = {(uint32_t)rows, (uint32_t)cols};
    size_t count = tvmr_test_rnd(4) ? cols : tvmr_test_rnd((uint32_t)cols + 8);
    int32_t *x = malloc((count + 1) * sizeof *x), *a = malloc((rows + 1) * sizeof *a),
            *b = malloc((rows + 1) * sizeof *b);
    if (!x || !a || !b || !tvmr_cold_new(vm, 0, rows * cols, dims, 2)) abort();
    struct tvmr_cold *c = &vm->cold[0];
    for (size_t i = 0; i < c->count; i++) c->weights[i] = random_signal(kind);
    if (temps) {
        uint8_t *t = malloc(c->count + 1);
        if (!t) abort();
        for (size_t i = 0; i < c->count; i++) t[i] = (uint8_t)tvmr_test_rnd(5);
        tvmr_temps_set(vm, c, t);
        free(t);
    }
    for (size_t i = 0; i < count; i++) x[i] = random_input(range);
    for (unsigned gate = 0; gate < 3; gate++) {
        memset(b, 0x55, rows * sizeof *b);
        tvmr_product_plain(c, (enum tvmr_gate)gate, x, count, 0, rows, a);
        tvmr_product(vm, c, (enum tvmr_gate)gate, x, count, b);
        size_t at = 0;
        while (at < rows && a[at] == b[at]) at++;
        if (at < rows)
            printf("%zu x %zu kind %d range %u temps %d gate %u: row %zu is %d, expected %d\n",
                   rows, cols, (int)kind, range, temps, gate, at, b[at], a[at]);
        CHECK(at == rows, "kernel and definition (%zu, %zu)", rows, cols);
    }
    free(x);
    free(a);
    free(b);
}

static void tvmr_test_products(const char *name)
{
    static const uint16_t sizes[] = {1,  2,   3,   4,   5,   7,   8,   15,  16,  31,  63,  64,
                                     65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000};
    int kernels = tvmr_kernels_named(name);
    if (kernels < 0) return;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct tvmr_vm *vm = calloc(1, sizeof *vm);
        if (!vm) abort();
        vm->memory_max = UINT64_C(1) << 32;
        vm->kernels = (unsigned)kernels;
        vm->threads = threads;
        for (unsigned i = 0; i < 1500; i++) {
            size_t rows = sizes[tvmr_test_rnd(12)],
                   cols = sizes[tvmr_test_rnd(sizeof sizes / sizeof *sizes)];
            one_product(vm, rows, cols, (enum weights_kind)tvmr_test_rnd(KINDS), tvmr_test_rnd(6),
                        tvmr_test_rnd(2));
        }
        for (unsigned kind = 0; kind < KINDS; kind++) /* Long rows have sums near their limits. */
            for (unsigned range = 0; range < 6; range++)
                one_product(vm, 2, 65535, (enum weights_kind)kind, range, range & 1);
        for (unsigned i = 0; i < 24; i++) { /* The shapes are larger than a small matrix. */
            static const uint16_t widths[] = {64, 65, 127, 129, 257, 1000, 4097, 32767};
            size_t cols = widths[i % 8], rows = ((size_t)1 << 19) / cols + 1 + tvmr_test_rnd(4);
            one_product(vm, rows, cols, tvmr_test_rnd(2) ? MIXED : EXTREME, i % 6,
                        tvmr_test_rnd(2));
        }
        one_product(vm, 4, 32767, EXTREME, 5, false);
        one_product(vm, 513, 300, MIXED, 1, true);
        tvmr_cold_drop(vm, &vm->cold[0]);
        tvmr_pool_free(vm->pool);
        free(vm);
    }
}

struct wanted {
    int64_t v, p, q, b;
};
#define FORMULA(name, expression)                                                                  \
    static int64_t want_##name(struct wanted w)                                                    \
    {                                                                                              \
        int64_t v = w.v, p = w.p, q = w.q, b = w.b;                                                \
        (void)p, (void)q, (void)b;                                                                 \
        return expression;                                                                         \
    }
FORMULA(relu, v > 0 ? v : 0)
FORMULA(shift, v >> p)
FORMULA(clamp, ops_clamp(v, p, q))
FORMULA(negate, ops_clamp32(-v))
FORMULA(scale, ops_clamp32(v *p / 256))
FORMULA(core_sigmoid, ops_clamp((v * p >> 10) + 128, 0, 255))
FORMULA(core_tanh, ops_clamp((ops_clamp(v, 0, 255) - 128) * 64 /
                                     (64 + (ops_absolute(ops_clamp(v, 0, 255) - 128) >> 1)) +
                                 128,
                             0, 255))
FORMULA(core_gelu, ops_wrap32(v *ops_clamp((v * 435 >> 8 >> 10) + 128, 0, 255) >> 8))
FORMULA(act_sigmoid, ops_clamp(128 + ops_clamp(v, -2048, 2048) * 32 /
                                         (256 + ops_absolute(ops_clamp(v, -2048, 2048))),
                               0, 255))
FORMULA(act_tanh,
        ops_clamp(ops_clamp(v, -2048, 2048) * 127 / (128 + ops_absolute(ops_clamp(v, -2048, 2048))),
                  -127, 127))
FORMULA(act_gelu, ops_wrap32(v *(128 + ops_clamp(v * 54 / 256, -128, 127)) / 256))
FORMULA(add, ops_clamp32(v + b))
FORMULA(sub, ops_clamp32(v - b))
FORMULA(core_mul, ops_wrap32((v * b) >> 8))
FORMULA(tensor_mul, ops_clamp32((v * b) >> 8))
FORMULA(core_greater, v > b ? 255 : 0)
FORMULA(tensor_greater, v > b)

enum { ELEMENTS_MAX = 5000 };

static void tvmr_test_compare(const char *name, const int32_t *r, const int32_t *x,
                              const int32_t *y, size_t n, int32_t p, int32_t q,
                              int64_t (*want)(struct wanted))
{
    size_t i = 0;
    while (i < n && r[i] == want((struct wanted){x[i], p, q, y[i]})) i++;
    if (i < n) printf("%s(%d, %d; %d, %d) is %d\n", name, x[i], y[i], p, q, r[i]);
    CHECK(i == n, "%s (%zu, %zu)", name, i, n);
}

static void elements_of(const struct tvmr_elements *set, size_t n, unsigned range)
{
    static int32_t x[ELEMENTS_MAX], y[ELEMENTS_MAX], r[ELEMENTS_MAX];
    static struct tvmr_signal w[ELEMENTS_MAX];
    int64_t total = 0, largest = n ? INT32_MIN : 0;
    uint64_t dot = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = range ? random_input(tvmr_test_rnd(6)) : (int32_t)i - ELEMENTS_MAX / 2;
        y[i] = random_input(tvmr_test_rnd(6));
        w[i] = (struct tvmr_signal){(int8_t)tvmr_test_rnd(256), (uint8_t)tvmr_test_rnd(256)};
        total += x[i];
        dot += (uint64_t)((int64_t)x[i] * y[i]);
        if (x[i] > largest) largest = x[i];
    }
    int32_t p = (int32_t)tvmr_test_rnd(32), low = -(int32_t)tvmr_test_rnd(40000),
            high = (int32_t)tvmr_test_rnd(40000);
#define UNARY(name, ...)                                                                           \
    {                                                                                              \
        int32_t first = !strcmp(#name, "clamp")          ? low                                     \
                        : !strcmp(#name, "scale")        ? (int32_t)tvmr_test_rnd(65536)           \
                        : !strcmp(#name, "core_sigmoid") ? 1 + (int32_t)tvmr_test_rnd(255)         \
                                                         : p;                                      \
        set->name(r, x, n, first, high);                                                           \
        tvmr_test_compare(#name, r, x, y, n, first, high, want_##name);                            \
    }
#define BINARY(name, ...)                                                                          \
    set->name(r, x, y, n);                                                                         \
    tvmr_test_compare(#name, r, x, y, n, p, high, want_##name);
#include "tvmr/kernels/elements.def"
    set->bias(r, x, w, n, 255);
    for (size_t i = 0; i < n; i++)
        CHECK(r[i] == ops_clamp32(x[i] + (int64_t)tvmr_value(w[i]) * 255), "bias (%zu, %d)", i,
              r[i]);
    CHECK(set->largest(x, n) == largest && set->total(x, n) == total &&
              set->dot(x, y, n) == (int64_t)dot,
          "reductions (%zu)", n);
}

static void tvmr_test_elements(void)
{
    static const char *const names[] = {"plain", "avx2", "avx512"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int kernels = tvmr_kernels_named(names[k]);
        if (kernels < 0) continue;
        elements_of(tvmr_elements[kernels], ELEMENTS_MAX, 0);
        for (unsigned i = 0; i < 200; i++)
            elements_of(tvmr_elements[kernels], i < 80 ? i : tvmr_test_rnd(ELEMENTS_MAX), 1);
    }
}

static void tvmr_test_broken(void *user, const penta_error *finding)
{
    (void)user;
    printf("FAIL %s\n", finding->message);
    abort();
}

static penta_module *tvmr_test_program(const char *text)
{
    return penta_assemble(bytes_of(text), "tvmr", NULL, 0, tvmr_test_broken, NULL);
}

static penta_vm *tvmr_test_machine(const penta_module *m)
{
    penta_error err;
    penta_vm *vm = m ? penta_vm_new(m, NULL, NULL, 0, NULL, &err) : NULL;
    if (!vm) abort();
    return vm;
}

static void tvmr_test_reload(void)
{
    penta_module *old = tvmr_test_program(".registers\nC0: ternary[2] key=\"a\"\nC1: ternary[2] "
                                          "key=\"b\"\nC2: ternary[2]\n.program\nhalt\n");
    penta_module *new = tvmr_test_program(".registers\nC0: ternary[2] key=\"a\"\nC1: ternary[3] "
                                          "key=\"b\"\nC2: ternary[2]\n.program\nnop\nhalt\n");
    penta_vm *base = tvmr_test_machine(old);
    struct tvmr_vm *vm = tvmr_vm(base);
    penta_error err = {0};
    bool kept = false;
    for (unsigned i = 0; i < 3; i++) vm->cold[i].weights[1] = (struct tvmr_signal){1, 9};
    vm->chem[0] = 7;
    CHECK(tvmr_vm_reload(vm, new, &kept, &err) && kept, "reload (%u, %d)", err.code, kept);
    CHECK(tvmr_value(vm->cold[0].weights[1]) == 9, "a weight with the same key and shape stays");
    CHECK(vm->cold[1].count == 3 && !tvmr_value(vm->cold[1].weights[1]),
          "one of another shape does not");
    CHECK(tvmr_value(vm->cold[2].weights[1]) == 9, "one without key stays");
    CHECK(vm->count == 2 && vm->chem[0] == 7, "the program is new, the rest is kept");
    penta_session *counted = penta_session_new(old, NULL, NULL, 0, NULL, &err);
    CHECK(penta_session_count(counted, &err) &&
              !penta_tvmr_reload(penta_session_vm(counted), new, &kept, &err),
          "not while it is counted (%u, %d)", err.code, kept);
    penta_session_free(counted);
    penta_vm_free(base);
    penta_close(old);
    penta_close(new);
}

/* Checks that a snapshot has the profile, whatever the profile of the machine that loads it. */
static void tvmr_test_profiles(void)
{
    penta_module *m = tvmr_test_program(".registers\nH0: i32[1]\n.program\nnop\nloop 0\nset H0, 7\n"
                                        "end_loop\nstore_output H0\nhalt\n");
    penta_option ternsig = {"profile", "ternsig"};
    penta_error err = {0};
    penta_vm *upstream = penta_vm_new(m, NULL, &ternsig, 1, NULL, &err),
             *own = tvmr_test_machine(m);
    penta_buffer saved = {0};
    penta_stop stop;
    size_t count = 0;
    penta_vm_run(upstream, 1, &stop);
    CHECK(penta_vm_save(upstream, &saved, &err), "a snapshot");
    CHECK(penta_vm_load(own, view_of(&saved), &err), "loaded");
    penta_vm_run(own, UINT64_MAX, &stop);
    CHECK(penta_tvmr_output(own, &count)[0] == 7, "LOOP 0 as the snapshot says (%zu)", count);
    penta_buffer_free(&saved);
    penta_vm_free(own);
    penta_vm_free(upstream);
    penta_close(m);
}

/* Tests tensors without elements. They have NULL for data, to which nothing may be added. */
static void empty_registers(void)
{
    penta_module *m =
        tvmr_test_program(".registers\nC0: ternary[2, 0]\nH0: i32[0]\n.program\n"
                          "ternary_matmul H1, C0, H0\nternary_batch_matmul H2, C0, H3\nhalt\n");
    penta_vm *vm = tvmr_test_machine(m);
    uint8_t byte = 7;
    for (uint64_t reg = 0; reg < 192; reg++) {
        CHECK(penta_vm_peek(vm, reg << 32, &byte, 0), "peek of size 0 (%u)", (unsigned)reg);
        CHECK(penta_vm_poke(vm, reg << 32, &byte, 0), "poke of size 0 (%u)", (unsigned)reg);
        CHECK(penta_vm_peek(vm, reg << 32, &byte, 1) == (reg >= 128), "peek (%u)", (unsigned)reg);
    }
    penta_stop stop;
    penta_vm_run(vm, 1, &stop);
    int32_t out[2] = {1, 1};
    CHECK(penta_vm_peek(vm, UINT64_C(1) << 32, out, sizeof out) && !out[0] && !out[1],
          "a product without columns is zeros (%d, %d)", out[0], out[1]);
    penta_vm_free(vm);
    penta_close(m);
}

/* Kills a child that saves again and again at a random moment. The file must always be complete. */
static void tvmr_test_crash(void)
{
    char folder[] = "/tmp/penta-weights-XXXXXX", path[64];
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/w.tvmw", folder);
    penta_module *m =
        tvmr_test_program(".registers\nC0: ternary[255, 64] key=\"w\"\n.program\nhalt\n");
    penta_vm *base = tvmr_test_machine(m);
    struct tvmr_vm *vm = tvmr_vm(base);
    penta_error err = {0};
    size_t loaded;
    CHECK(tvmr_weights_save(vm, path, &err), "save (%u)", err.code);
    for (unsigned i = 0; i < 40; i++) {
        pid_t child = fork();
        if (!child) {
            for (unsigned n = 1;; n++) {
                memset(vm->cold[0].weights, (int)(n % 100), vm->cold[0].count * 2);
                tvmr_weights_save(vm, path, &err);
            }
        }
        usleep(500 + tvmr_test_rnd(3000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        err = (penta_error){0};
        bool ok = tvmr_weights_load(vm, path, &loaded, &err) && loaded == 1;
        const uint8_t *bytes = (const uint8_t *)vm->cold[0].weights;
        for (size_t k = 0; ok && k < vm->cold[0].count * 2; k++) ok = bytes[k] == bytes[0];
        CHECK(ok, "a save that was killed left a whole file (%u, %u)", i, err.code);
    }
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(!system(command), "clean up");
    penta_vm_free(base);
    penta_close(m);
}

static void tvmr_test_learning(void)
{
    static const penta_tvmr_rule rule = PENTA_TVMR_RULE_DEFAULT;
    /* With m = 100 and t = 25 the strengths are 191, 191, 0, 127, 191; times 15 / 255 they are
     * 11, 11, 0, 7, 11. */
    static const int32_t activations[] = {100, 100, 25, 75, 100};
    penta_tvmr_signal w[] = {{1, 254}, {0, 7}, {1, 9}, {-1, 50}, {-1, 3}};
    int32_t pressures[] = {0, 0, 0, 4, -1};
    penta_tvmr_learn(&rule, w, pressures, activations, 5, 1);
    CHECK(w[0].polarity == 1 && w[0].magnitude == 255 && pressures[0] == 7, "grows (%d, %d)",
          w[0].magnitude, pressures[0]);
    CHECK(w[1].polarity == 1 && w[1].magnitude == 6 && !pressures[1], "wakes up (%d, %d)",
          w[1].magnitude, pressures[1]);
    CHECK(w[2].polarity == 1 && w[2].magnitude == 9 && !pressures[2], "rests (%d)", w[2].magnitude);
    CHECK(w[3].polarity == -1 && w[3].magnitude == 47 && pressures[3] == 11, "shrinks (%d, %d)",
          w[3].magnitude, pressures[3]);
    CHECK(w[4].polarity == 1 && w[4].magnitude == 3 && !pressures[4], "turns over (%d, %d)",
          w[4].magnitude, pressures[4]);
    bool took_part[5];
    CHECK(penta_tvmr_participants(activations, 5, 4, took_part) == 4 && !took_part[2],
          "who takes part (%d)", took_part[2]);
    penta_tvmr_init(w, 5, false, 7); /* (31 + 7) * 17 = 646, which is even, and 646 / 8 = 80 */
    CHECK(w[1].polarity == 1 && w[1].magnitude == 20 && w[0].polarity == -1, "structured (%d, %d)",
          w[1].magnitude, w[0].polarity);
    penta_tvmr_init(w, 5, true, 7); /* 48 / 4 = 12 */
    CHECK(w[1].polarity == 1 && w[1].magnitude == 22, "positive (%d)", w[1].magnitude);
    uint32_t counters[] = {UINT32_MAX, 510, 3, 0, 0};
    penta_tvmr_usage_count(counters, took_part, 5);
    CHECK(counters[0] == UINT32_MAX && counters[1] == 511 && counters[2] == 3, "usage");
    penta_tvmr_usage_decay(counters, 5, 128);
    CHECK(counters[1] == 256, "decay (%u)", counters[1]);
}

static bool bank_has(void *user, uint8_t slot, uint64_t id)
{
    *(uint64_t *)user = (uint64_t)slot << 56 | id;
    return true;
}

static bool bank_finds(void *user, uint8_t slot, const int32_t *vector, size_t size, size_t top,
                       int32_t *scores, uint64_t *ids, size_t *found)
{
    (void)user;
    *found = slot == 9 ? top + 1 : 2;
    for (size_t i = 0; i < 2; i++) {
        scores[i] = vector[0] + (int32_t)size;
        ids[i] = UINT64_C(0x700000008) + i;
    }
    return true;
}
static bool bank_writes(void *user, uint8_t slot, const int32_t *vector, size_t size, uint64_t *id)
{
    (void)user, (void)slot;
    *id = (uint64_t)size << 32 | (uint32_t)vector[0];
    return true;
}
static bool bank_loads(void *user, uint8_t slot, uint64_t id, const int32_t **vector, size_t *size)
{
    static const int32_t numbers[] = {11, 12, 13};
    (void)user, (void)slot;
    *vector = numbers;
    *size = (size_t)(id >> 32);
    return *size <= 3;
}
static bool bank_counts(void *user, uint8_t slot, uint64_t *count)
{
    (void)user;
    *count = slot;
    return slot != 4;
}

/* Checks what each instruction writes. A bank without the function, or without the slot, leaves
 * the instruction to the host. */
static void attached_bank_results(void)
{
    static const penta_tvmr_bank whole = {.query = bank_finds,
                                          .write = bank_writes,
                                          .load = bank_loads,
                                          .count = bank_counts},
                                 empty = {.user = NULL};
    static const struct {
        const char *line;
        const penta_tvmr_bank *bank;
        int stop;
        int32_t output[8];
        size_t count;
    } rows[] = {
        {"bank.bank_query H4, H3, 2, 5", &whole, PENTA_STOP_HALT, {2, 5, 7, 8, 5, 7, 9}, 7},
        {"bank.bank_write H4, H3, 2", &whole, PENTA_STOP_HALT, {2, 3}, 2},
        {"bank.bank_load H4, H3, 2", &whole, PENTA_STOP_HALT, {11, 12, 13}, 3},
        {"bank.bank_count H4, 3", &whole, PENTA_STOP_HALT, {3}, 1},
        {"bank.bank_count H4, 4", &whole, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_query H4, H3, 9, 5", &whole, PENTA_STOP_TRAP, {0}, 0},
        {"bank.bank_query H4, H3, 2, 5", &empty, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_write H4, H3, 2", &empty, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_load H4, H3, 2", &empty, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_count H4, 3", &empty, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_touch H3, 3", &empty, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_delete H3, 3", &empty, PENTA_STOP_HOST, {0}, 0},
        {"bank.bank_count H4, 3", NULL, PENTA_STOP_HOST, {0}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 ".requires\nbank\n.program\nset H1, 3\nset H2, 0\nconcat H3, H1, H2\n%s\n"
                 "store_output H4\nhalt\n",
                 rows[i].line);
        penta_module *m = tvmr_test_program(text);
        penta_vm *vm = tvmr_test_machine(m);
        penta_stop stop;
        penta_error err;
        size_t count = 0;
        penta_tvmr_bank_attach(vm, rows[i].bank);
        CHECK(penta_tvmr_begin(vm, NULL, 0, &err), "%s (%zu)", err.message, i);
        penta_vm_run(vm, 1000, &stop);
        const int32_t *output = penta_tvmr_output(vm, &count);
        CHECK((int)stop.kind == rows[i].stop && count == rows[i].count, "%s (%u, %zu)",
              rows[i].line, stop.kind, count);
        CHECK(!count || !memcmp(output, rows[i].output, count * sizeof *output), "%s (%zu, %d)",
              rows[i].line, i, output ? output[0] : 0);
        penta_vm_free(vm);
        penta_close(m);
    }
}

/* Checks that the instruction is answered without a stop when the id has both of its numbers,
 * and else by the host (TVMR 8.11). */
static void attached_bank(void)
{
    static const struct {
        const char *text;
        uint64_t id; /* the id for which the bank was asked, with the slot; 0 when the machine
                      * stopped */
    } rows[] = {
        {".requires\nbank\n.program\nset H1, 5\nset H2, 6\nconcat H3, H1, H2\n"
         "bank.bank_touch H3, 1\nhalt\n",
         UINT64_C(0x0100000500000006)},
        {".requires\nbank\n.program\nset H1, 5\nset H2, 6\nconcat H3, H1, H2\n"
         "bank.bank_delete H3, 2\nhalt\n",
         UINT64_C(0x0200000500000006)},
        {".requires\nbank\n.program\nset H1, 5\nbank.bank_touch H1, 1\nhalt\n", 0},
        {".requires\nbank\n.program\nset H1, 5\nbank.bank_delete H1, 1\nhalt\n", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t id = 0;
        penta_tvmr_bank bank = {.user = &id, .touch = bank_has, .remove = bank_has};
        penta_module *m = tvmr_test_program(rows[i].text);
        penta_vm *base = tvmr_test_machine(m);
        penta_stop stop;
        penta_tvmr_bank_attach(base, &bank);
        tvmr_vm_begin(tvmr_vm(base), NULL, 0);
        tvmr_vm_run(base, 1000, &stop);
        CHECK(stop.kind == (rows[i].id ? PENTA_STOP_HALT : PENTA_STOP_HOST) && id == rows[i].id,
              "an attached bank (%zu, %u)", i, stop.kind);
        penta_vm_free(base);
        penta_close(m);
    }
}

static void file_put(const char *folder, const char *name, penta_bytes bytes)
{
    char path[128];
    penta_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!file_write(path, bytes, &err)) abort();
}

/* Runs a program with the store of a folder. Returns false and the text of its fault when it
 * failed. */
static bool tvmr_test_live(const char *folder, const char *text, char *fault, int32_t *out,
                           size_t count)
{
    penta_error err = {0};
    penta_module *m = tvmr_test_program(text);
    penta_vm *base = tvmr_test_machine(m);
    struct tvmr_vm *vm = tvmr_vm(base);
    struct tvmr_domain *w = tvmr_domain_new(folder, &err);
    struct writer log = {0};
    penta_stop stop = {.kind = PENTA_STOP_TRAP};
    if (w) tvmr_vm_begin(vm, (int32_t[]){1, 2, 3}, 3);
    while (w) {
        tvmr_vm_run(base, 100000, &stop);
        if (stop.kind != PENTA_STOP_HOST || !tvmr_domain_answer(w, vm, &stop, &log, NULL)) break;
        base->engine->answer(base, NULL, 0, &err);
    }
    bool ok = stop.kind == PENTA_STOP_HALT;
    snprintf(fault, 160, "%s", !w ? err.message : ok ? "" : vm->fault_text);
    for (size_t i = 0; i < count; i++)
        out[i] = i < vm->output.count ? vm->output.data[i] : INT32_MIN;
    if (log.out.size) snprintf(fault, 160, "%.*s", (int)log.out.size, (char *)log.out.data);
    writer_free(&log);
    tvmr_domain_free(w);
    penta_vm_free(base);
    penta_close(m);
    return ok;
}

#define IN_PROGRAM(requires, body)                                                                 \
    ".requires\n" requires "\n.registers\nH0: i32[3]\nC0: ternary[2] key=\"Käse/7\"\n.program\n"  \
                           "load_input H0\n" body "halt\n"

static void tvmr_test_models(const char *folder)
{
    static const char twice[] = ".registers\nH0: i32[3]\n.program\nload_input H0\n"
                                "add H0, H0, H0\nstore_output H0\nhalt\n";
    static const char run[] =
        IN_PROGRAM("orchestration", "orchestration.model_load H1, 3\n"
                                    "orchestration.model_input H0, 3\n"
                                    "orchestration.model_output H2, 3\n"
                                    "orchestration.model_exec H1, 3\nstore_output H2\n");
    char fault[160];
    int32_t out[3] = {0};
    CHECK(tvmr_test_live(folder, run, fault, out, 3) && out[2] == 3,
          "a slot without a file: its input (%d)", out[2]);
    penta_module *m = tvmr_test_program(twice);
    struct writer bytes = {0};
    penta_error err = {0};
    if (!m || !tvmr_encode(m, &bytes, &err)) abort();
    file_put(folder, "model-3.tvmr", writer_view(&bytes));
    CHECK(tvmr_test_live(folder, run, fault, out, 3) && out[0] == 2 && out[2] == 6,
          "a model runs (%d, %d)", out[0], out[2]);
    bytes.out.data[bytes.out.size - 1] ^= 1;
    file_put(folder, "model-3.tvmr", writer_view(&bytes));
    CHECK(!tvmr_test_live(folder, run, fault, out, 3) && !strncmp(fault, "model 3: ", 9),
          "a broken one");
    writer_free(&bytes);
    penta_close(m);
    m = tvmr_test_program(".requires\norchestration\n.program\norchestration.model_load H0, 3\n"
                          "orchestration.model_exec H0, 3\nhalt\n");
    if (!m || !tvmr_encode(m, &bytes, &err)) abort();
    file_put(folder, "model-3.tvmr", writer_view(&bytes));
    CHECK(!tvmr_test_live(folder, run, fault, out, 3) && strstr(fault, "running already"),
          "a model that runs itself");
    writer_free(&bytes);
    penta_close(m);
}

/* Runs a program with model 3. After `trip` units of its work the model is interrupted. */
static int32_t model_result(const char *folder, const char *text, uint64_t trip,
                            unsigned *interrupts)
{
    penta_error err = {0};
    penta_module *m = tvmr_test_program(text);
    penta_vm *base = tvmr_test_machine(m);
    struct tvmr_domain *w = tvmr_domain_new(folder, &err);
    struct writer log = {0};
    penta_stop stop;
    *interrupts = 0;
    tvmr_vm_begin(tvmr_vm(base), (int32_t[]){1, 2, 3}, 3);
    for (;;) {
        bool interrupted = false;
        tvmr_vm_run(base, 100000, &stop);
        if (stop.kind != PENTA_STOP_HOST) break;
        if (w->models[3].vm && !*interrupts) w->models[3].vm->poll.trip = trip;
        bool done = tvmr_domain_answer(w, tvmr_vm(base), &stop, &log, &interrupted);
        *interrupts += interrupted;
        if (!done && !interrupted) break;
        if (done) base->engine->answer(base, NULL, 0, &err);
    }
    bool ok = stop.kind == PENTA_STOP_HALT && tvmr_vm(base)->output.count;
    int32_t result = ok ? tvmr_vm(base)->output.data[0] : -1;
    writer_free(&log);
    tvmr_domain_free(w);
    penta_vm_free(base);
    penta_close(m);
    return result;
}

static void interrupted_model(const char *folder)
{
    static const char product[] =
        ".requires\ntensor\n.registers\nH0: i32[200, 200]\nH1: i32[200, 200]\n.program\n"
        "add_babble H0, 0\nmatmul H1, H0, H0\nmax_reduce H2, H1\nstore_output H2\nhalt\n";
    static const char run[] =
        IN_PROGRAM("orchestration", "orchestration.model_load H1, 3\n"
                                    "orchestration.model_exec H1, 3\nstore_output H1\n");
    penta_module *m = tvmr_test_program(product);
    struct writer bytes = {0};
    penta_error err = {0};
    unsigned none, some;
    if (!m || !tvmr_encode(m, &bytes, &err)) abort();
    file_put(folder, "model-3.tvmr", writer_view(&bytes));
    int32_t plain = model_result(folder, run, 0, &none);
    int32_t late = model_result(folder, run, 1000000, &some);
    CHECK(plain != -1 && plain == late && !none && some == 1,
          "a model is interrupted and goes on (%d, %d)", plain, late);
    writer_free(&bytes);
    penta_close(m);
}

static void tvmr_test_scripts(const char *folder)
{
    static const struct {
        const char *text, *says; /* a NULL for `says` means that the text is good */
    } files[] = {
        {"", NULL},
        {"# nothing\n\nanswer\n", NULL},
        {"answer ChemRead H0 = 7 P3 = 4 C1 = 1 -2 S2 = 3\nanswer H1 =\nalways TickRead H0 = 5\n",
         NULL},
        {"answer stop\nanswer PhaseRead H2 = 1 fail \"no \\\"phase\\\"\"\n", NULL},
        {"\nanswre stop\n", "script.host:2: 'answre' is no statement"},
        {"answer ChemRaed H0 = 1\n", "script.host:1: 'ChemRaed' is no operation or register"},
        {"answer ChemRead target = 7 chem_id = 3\n", "'chem_id' is no register"},
        {"answer Q0 = 7\n", "'Q0' is no operation or register"},
        {"answer H64 = 7\n", "'H64' is no operation"},
        {"answer S63 = 7\n", "'S63' is no operation"},
        {"answer H0 = 1 ChemRead\n", "'ChemRead' is no register"},
        {"answer H0 = 4294967296\n", "4294967296 is more than 2147483647"},
        {"answer H0 = -2147483649\n", "more than 2147483648"},
        {"answer P0 = 1 2\n", "takes one number"},
        {"answer S0 = -1\n", "below 0"},
        {"answer H0 7\n", "expected '='"},
        {"answer stop H0 = 1\n", "end an answer"},
        {"answer fail 1\n", "expected a text in quotes"},
        {"always H0 = 1\n", "expected an operation"},
        {"answer stop )\n", "expected"},
    };
    char path[128];
    snprintf(path, sizeof path, "%s/script.host", folder);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        penta_error err = {0};
        file_put(folder, "script.host", bytes_of(files[i].text));
        struct tvmr_script *script = tvmr_script_open(path, &err);
        CHECK(files[i].says ? !script && strstr(err.message, files[i].says) : script != NULL,
              "%s (%zu)", err.code ? err.message : "a script", i);
        tvmr_script_close(script);
    }
}

static void tvmr_test_manifests(const char *folder)
{
    static const struct {
        const char *text, *says; /* a NULL for `says` means that the text is good */
    } files[] = {
        {"extension unit 0x0b01 1.2.3\ninstruction go Reg\ntype unit_t 0x0b10 4\n", NULL},
        {"extension unit 0x0b01 1.2.3\ninstruction go Reg\ntype unit_t 0x0b10 4\n", NULL},
        {"extension unit 0x0b01 1.2.4\n", "registered already"},
        {"extension unit 0x0b02\n", "'unit' is registered already"},
        {"extension tensor 0x0b02\n", "'tensor' is registered already"},
        {"extension other 0x0b03\ntype other_t 0x0b10 4\n",
         "type 'other_t' 0x0b10 is there already"},
        {"extension other 0x0b03\ntype i32 0x0b11 4\n", "type 'i32'"},
        {"extension other 0x0b03\ntype a 0x0b11 4\ntype a 0x0b12 4\n", "type 'a'"},
        {"# empty\n", "no extension in the manifest"},
        {"\nextensoin x 0x0b03\n", "m:2: 'extensoin' is no statement"},
        {"instruction x Reg\n", "starts with its extension"},
        {"extension a 0x0b03\nextension b 0x0b04\n", "one extension"},
        {"extension a 0x00ff\n", "0x0100 to 0xfffe"},
        {"extension a 0xffff\n", "more than 65534"},
        {"extension 1a 0x0b03\n", "names are letters"},
        {"extension abcdefghijklmnopqrstu 0x0b03\n", "names are letters"},
        {"extension\n", "expected a name"},
        {"extension a 0x0b03 1.2\n", "MAJOR.MINOR.PATCH"},
        {"extension a 0x0b03 1.2.99999\n", "MAJOR.MINOR.PATCH"},
        {"extension a 0x0b03\ninstruction x RegRge\n", "'RegRge' is no pattern of operands"},
        {"extension a 0x0b03\ninstruction x dz--\n", "'dz--' is no pattern"},
        {"extension a 0x0b03\ninstruction x w---\n", "'w---' is no pattern"},
        {"extension a 0x0b03\ninstruction x Reg\ninstruction X Reg\n", "'X' is there already"},
        {"extension a 0x0b03\ninstruction x Reg 5\n", "expected"},
        {"extension a 0x0b03\ntype t 0x0102 4\n", "0x0103 to 0xffff"},
        {"extension a 0x0b03\ntype t 0x0b11 256\n", "256 is more than 255"},
    };
    char path[128];
    snprintf(path, sizeof path, "%s/m", folder);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        penta_error err = {0};
        file_put(folder, "m", bytes_of(files[i].text));
        bool ok = tvmr_manifest_load(path, &err);
        CHECK(files[i].says ? !ok && strstr(err.message, files[i].says) : ok, "%s (%zu)",
              err.code ? err.message : "a manifest", i);
    }
    char name[64];
    tvmr_mnemonic(&(struct tvmr_op){.ext = 0x7777, .name = "ADD"}, name);
    CHECK(!strcmp(name, "0x7777.add"), "a mnemonic of an extension that nobody knows");
    const struct tvmr_extension *e = tvmr_extension_find(0x0b01);
    CHECK(e && e->patch == 3 && e->count == 1 && tvmr_type_find(0x0b10), "what it says");
}

/* Checks that a weight file that is cut anywhere, or has any changed byte, is refused. */
static void weight_files(const char *folder)
{
    penta_module *m =
        tvmr_test_program(".registers\nC0: ternary[3] key=\"a\"\nC1: ternary[2, 2] key=\"b\"\n"
                          ".program\nhalt\n");
    penta_vm *base = tvmr_test_machine(m);
    char path[128];
    penta_error err = {0};
    penta_buffer file = {0};
    size_t loaded;
    snprintf(path, sizeof path, "%s/w.tvmw", folder);
    if (!tvmr_weights_save(tvmr_vm(base), path, &err) || !file_read(path, 4096, &file, &err))
        abort();
    CHECK(tvmr_weights_load(tvmr_vm(base), path, &loaded, &err) && loaded == 2, "whole (%zu)",
          loaded);
    for (size_t i = 0; i < file.size; i++) {
        err = (penta_error){0};
        file_put(folder, "w.tvmw", (penta_bytes){file.data, i});
        CHECK(!tvmr_weights_load(tvmr_vm(base), path, &loaded, &err) && err.code, "cut (%zu)", i);
        err = (penta_error){0};
        file.data[i] ^= 0x41;
        file_put(folder, "w.tvmw", view_of(&file));
        CHECK(!tvmr_weights_load(tvmr_vm(base), path, &loaded, &err) && err.code, "changed (%zu)",
              i);
        file.data[i] ^= 0x41;
    }
    penta_buffer_free(&file);
    penta_vm_free(base);
    penta_close(m);
}

static void tvmr_test_stores(void)
{
    char folder[] = "/tmp/penta-store-XXXXXX", fault[160], command[100];
    int32_t out[4] = {0};
    if (!mkdtemp(folder)) abort();
    tvmr_test_models(folder);
    interrupted_model(folder);
    CHECK(tvmr_test_live(folder,
                         IN_PROGRAM("lifecycle", "init_random C0, 5\nlifecycle.save_thermo C0\n"),
                         fault, out, 0),
          "weights are saved");
    CHECK(tvmr_test_live(folder,
                         IN_PROGRAM("lifecycle\nternary", "lifecycle.load_thermo C0\nset H3, 0\n"
                                                          "ternary.embed_lookup H4, C0, H3\n"
                                                          "store_output H4\n"),
                         fault, out, 2) &&
              out[0] && !*fault,
          "and loaded (%d)", out[0]);
    CHECK(
        tvmr_test_live(folder,
                       ".requires\nlifecycle\n.registers\nC0: ternary[3] key=\"Käse/7\"\n.program\n"
                       "lifecycle.load_thermo C0\nhalt\n",
                       fault, out, 0) &&
            strstr(fault, "another number"),
        "a warning when they do not fit");
    for (int32_t i = 1; i <= 2; i++)
        CHECK(tvmr_test_live(folder,
                             IN_PROGRAM("bank", "bank.bank_write H5, H0, 1\nbank.bank_count H6, 1\n"
                                                "store_output H6\n"),
                             fault, out, 1) &&
                  out[0] == i,
              "a bank grows from run to run (%d, %d)", out[0], i);
    CHECK(
        tvmr_test_live(
            folder,
            IN_PROGRAM("bank", "set H1, 0\nset H2, 1\nconcat H3, H1, H2\nbank.bank_touch H3, 1\n"),
            fault, out, 0),
        "an entry is touched by two numbers");
    static const char link[] =
        IN_PROGRAM("bank", "set H1, 0\nset H2, 1\nconcat H3, H1, H2\nconcat H4, H3, H2\n"
                           "concat H4, H4, H1\nset H2, 2\nconcat H4, H4, H2\n"
                           "bank.bank_link H4, 5, 1\n");
    static const char follow[] = IN_PROGRAM(
        "bank", "set H1, 0\nset H2, 1\nconcat H3, H1, H2\nbank.bank_traverse H5, H3, 1, 0x51\n"
                "store_output H5\n");
    CHECK(tvmr_test_live(folder, link, fault, out, 0) &&
              tvmr_test_live(folder, follow, fault, out, 4) && out[0] == 1 && out[1] == 1 &&
              out[3] == 2,
          "edges outlive the run (%d, %d)", out[0], out[3]);
    CHECK(tvmr_test_live(folder, IN_PROGRAM("bank", "bank.bank_evict 1, 2\n"), fault, out, 0) &&
              tvmr_test_live(folder, follow, fault, out, 1) && out[0] == 0,
          "and go with their entries (%d)", out[0]);
    file_put(folder, "bank-1", bytes_of("broken"));
    CHECK(!tvmr_test_live(folder, IN_PROGRAM("bank", "bank.bank_count H6, 1\n"), fault, out, 0) &&
              strstr(fault, "damaged"),
          "a broken bank");
    file_put(folder, "pool", bytes_of("broken"));
    CHECK(!tvmr_test_live(folder, IN_PROGRAM("pool", "pool.pool_load\n"), fault, out, 0) &&
              strstr(fault, "damaged"),
          "a broken pool");
    tvmr_test_scripts(folder);
    tvmr_test_manifests(folder);
    weight_files(folder);
    file_put(folder, "journal", bytes_of("broken"));
    CHECK(!tvmr_test_live(folder, IN_PROGRAM("pool", ""), fault, out, 0) &&
              strstr(fault, "damaged"),
          "a broken journal");
    static const char *const names[] = {"lock", "journal", "../weights"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct writer journal = {0};
        writer_uint(&journal, strlen(names[i]), 1);
        writer_text(&journal, names[i]);
        writer_uint(&journal, 1, 4);
        writer_char(&journal, 'x');
        writer_uint(&journal, checksum_xxh64(writer_view(&journal)), 8);
        file_put(folder, "journal", writer_view(&journal));
        CHECK(!tvmr_test_live(folder, IN_PROGRAM("pool", ""), fault, out, 0) &&
                  strstr(fault, "no file"),
              "a journal that names something else (%zu)", i);
        writer_free(&journal);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(!system(command), "clean up");
}

/* Writes two registers in one transaction. Whenever the run is killed, both files must be of the
 * same commit. */
static void tvmr_test_transactions(void)
{
    char folder[] = "/tmp/penta-commit-XXXXXX", fault[160], command[100];
    if (!mkdtemp(folder)) abort();
    for (unsigned i = 0; i < 30; i++) {
        pid_t child = fork();
        if (!child) {
            for (uint8_t n = 1;; n++) {
                char text[600];
                snprintf(text, sizeof text,
                         ".requires\nlifecycle\n.registers\nC0: ternary[9] key=\"a\"\n"
                         "C1: ternary[9] key=\"b\"\n.program\ninit_random C0, %u\n"
                         "init_random C1, %u\nlifecycle.txn_begin 3\nlifecycle.save_thermo C0\n"
                         "lifecycle.save_thermo C1\nlifecycle.txn_commit 3\nhalt\n",
                         n, n);
                tvmr_test_live(folder, text, fault, NULL, 0);
            }
        }
        usleep(3000 + tvmr_test_rnd(4000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        int32_t out[18];
        bool ok = tvmr_test_live(
            folder,
            ".requires\nlifecycle\nternary\n.registers\nC0: ternary[9] key=\"a\"\n"
            "C1: ternary[9] key=\"b\"\n.program\nlifecycle.load_thermo C0\n"
            "lifecycle.load_thermo C1\nset H0, 0\nternary.embed_lookup H1, C0, H0\n"
            "ternary.embed_lookup H2, C1, H0\nconcat H3, H1, H2\nstore_output H3\nhalt\n",
            fault, out, 18);
        CHECK(ok && !memcmp(out, out + 9, 9 * sizeof *out), "a commit is all or nothing (%u)", i);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(!system(command), "clean up");
}

int main(void)
{
    tvmr_test_products("plain");
    tvmr_test_products("avx2");
    tvmr_test_products("avx512");
    tvmr_test_elements();
    tvmr_test_learning();
    tvmr_test_reload();
    tvmr_test_profiles();
    empty_registers();
    tvmr_test_crash();
    attached_bank();
    attached_bank_results();
    tvmr_test_stores();
    tvmr_test_transactions();
    return checks_end();
}
