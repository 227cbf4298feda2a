/* Tests grids of threads: the kernels of examples/kblob against C, in every mode, with and
 * without a race; then launches that are refused, faults of a thread, races between tasks, and
 * cancelling. */
#include "device.h"
#include <stdbool.h>

enum { N = 200, THREADS = 64, SIDE = 20 };
static const uint32_t checks = GPU_RACE_CHECK | GPU_INIT_CHECK;

static uint64_t grids_test_numbers(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

static void kernel_file(gpu_emulator *dev, uint64_t id, const char *name, const char *variant)
{
    char path[1000], text[10000];
    snprintf(path, sizeof path, PENTA_EXAMPLES "/kblob/%s%s.kasm", name, variant);
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    kernel_add(dev, id, text);
}

static uint64_t grids_test_upload(gpu_emulator *dev, const void *bytes, size_t size)
{
    uint64_t at;
    OK(gpu_emulator_alloc(dev, size, &at));
    OK(gpu_emulator_write(dev, at, bytes, size));
    return at;
}

static size_t grids_test_races(gpu_emulator *dev, gpu_race_threads *first)
{
    gpu_race_threads rows[64];
    size_t count, plain;
    OK(gpu_emulator_race_threads(dev, rows, 64, &count));
    OK(gpu_emulator_races(dev, NULL, 0, &plain));
    REQUIRE(count == plain);
    if (count && first) *first = rows[0];
    return count;
}

static void grids_test_run(gpu_emulator *dev, gpu_grid grid, const uint64_t *args, size_t count)
{
    uint32_t id;
    gpu_task_grid got;
    OK(gpu_emulator_launch_grid(dev, 1, &grid, args, count * 8, &id));
    OK(gpu_emulator_wait_task(dev, id, FOREVER));
    REQUIRE(task_info(dev, id).state == GPU_TASK_DONE);
    OK(gpu_emulator_task_grid(dev, id, &got));
    REQUIRE(got.threads >= THREADS && got.ended == got.threads && got.fault_thread == FOREVER);
}

static bool vector_add(gpu_emulator *dev)
{
    uint64_t a[N], b[N], c[N] = {0}, seed = 1;
    for (int i = 0; i < N; i++)
        a[i] = grids_test_numbers(&seed), b[i] = grids_test_numbers(&seed) << 20;
    uint64_t args[] = {grids_test_upload(dev, a, sizeof a), grids_test_upload(dev, b, sizeof b),
                       grids_test_upload(dev, c, sizeof c), N};
    grids_test_run(dev, (gpu_grid){{4}, {THREADS}, 0}, args, 4);
    OK(gpu_emulator_read(dev, args[2], c, sizeof c));
    bool same = true;
    for (int i = 0; i < N; i++) same &= c[i] == a[i] + b[i];
    return same;
}

static bool grids_test_reduction(gpu_emulator *dev)
{
    uint64_t a[N], sum = 0, want = 0, seed = 2;
    for (int i = 0; i < N; i++) want += a[i] = grids_test_numbers(&seed);
    uint64_t args[] = {grids_test_upload(dev, a, sizeof a), grids_test_upload(dev, &sum, 8), N};
    grids_test_run(dev, (gpu_grid){{4}, {THREADS}, THREADS * 8}, args, 3);
    OK(gpu_emulator_read(dev, args[1], &sum, 8));
    return sum == want;
}

static bool prefix_sum(gpu_emulator *dev)
{
    uint64_t a[N], b[N] = {0}, seed = 3, sum = 0;
    for (int i = 0; i < N; i++) a[i] = grids_test_numbers(&seed);
    uint64_t args[] = {grids_test_upload(dev, a, sizeof a), grids_test_upload(dev, b, sizeof b)};
    grids_test_run(dev, (gpu_grid){{1}, {N}, N * 8}, args, 2);
    OK(gpu_emulator_read(dev, args[1], b, sizeof b));
    bool same = true;
    for (int i = 0; i < N; i++) same &= b[i] == (sum += a[i]);
    return same;
}

static bool grids_test_histogram(gpu_emulator *dev)
{
    uint8_t bytes[1000];
    uint32_t counts[256] = {0}, want[256] = {0};
    uint64_t seed = 4;
    for (size_t i = 0; i < sizeof bytes; i++)
        want[bytes[i] = (uint8_t)(grids_test_numbers(&seed) % 40)]++;
    uint64_t args[] = {grids_test_upload(dev, bytes, sizeof bytes), sizeof bytes,
                       grids_test_upload(dev, counts, sizeof counts)};
    grids_test_run(dev, (gpu_grid){{2}, {THREADS}, 0}, args, 3);
    OK(gpu_emulator_read(dev, args[2], counts, sizeof counts));
    return !memcmp(counts, want, sizeof want);
}

static bool matrix_product(gpu_emulator *dev)
{
    static uint64_t a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
    uint64_t seed = 5;
    for (int i = 0; i < SIDE * SIDE; i++) (&a[0][0])[i] = grids_test_numbers(&seed);
    for (int i = 0; i < SIDE * SIDE; i++) (&b[0][0])[i] = grids_test_numbers(&seed);
    memset(c, 0, sizeof c);
    uint64_t args[] = {grids_test_upload(dev, a, sizeof a), grids_test_upload(dev, b, sizeof b),
                       grids_test_upload(dev, c, sizeof c), SIDE};
    grids_test_run(dev, (gpu_grid){{3, 3}, {8, 8}, 0}, args, 4);
    OK(gpu_emulator_read(dev, args[2], c, sizeof c));
    bool same = true;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            uint64_t sum = 0;
            for (int k = 0; k < SIDE; k++) sum += a[i][k] * b[k][j];
            same &= c[i][j] == sum;
        }
    return same;
}

static void grids_test_examples(uint32_t mode, uint64_t seed)
{
    static const struct {
        const char *name;
        bool (*right)(gpu_emulator *dev);
        uint32_t kind; /* the kind of its race */
    } kernels[] = {{"vector_add", vector_add, GPU_RACE_WRITE_WRITE},
                   {"reduction", grids_test_reduction, GPU_RACE_READ_WRITE},
                   {"prefix_sum", prefix_sum, GPU_RACE_READ_WRITE},
                   {"histogram", grids_test_histogram, GPU_RACE_READ_WRITE},
                   {"matrix_product", matrix_product, GPU_RACE_WRITE_WRITE}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        gpu_race_threads race;
        gpu_emulator *dev = open_device(mode, checks, seed);
        kernel_file(dev, 1, kernels[i].name, "");
        REQUIRE(kernels[i].right(dev));
        if (grids_test_races(dev, &race)) {
            fprintf(stderr, "%s, mode %u: a race of %u and %u that is none\n", kernels[i].name,
                    mode, race.index_a, race.index_b);
            exit(1);
        }
        OK(gpu_emulator_reset(dev));
        kernel_file(dev, 1, kernels[i].name, "_race");
        kernels[i].right(dev);
        REQUIRE(grids_test_races(dev, &race));
        REQUIRE(race.launch_a == 1 && race.launch_b == 1 && !race.benign);
        REQUIRE(race.block_a != race.block_b || race.thread_a != race.thread_b);
        REQUIRE(race.kind == kernels[i].kind || kernels[i].kind == GPU_RACE_READ_WRITE);
        gpu_emulator_close(dev);
    }
}

static void grids_test_refused(gpu_emulator *dev)
{
    uint32_t id = 77;
    gpu_task_grid got;
    KERNEL(dev, 1, "ID r1, global\nHALT");
    KERNEL(dev, 2, "HALT");
    gpu_grid one = {{0}, {0}, 0}, two = {{1}, {2}, 0}, shared = {{1}, {1}, 8};
    gpu_grid wide = {{1}, {1025}, 0}, many = {{1024}, {128}, 0}, large = {{1}, {1}, 65537};
    gpu_grid huge = {{FOREVER, FOREVER, FOREVER}, {FOREVER, FOREVER, FOREVER}, 0};
    REQUIRE_STATUS(GPU_ERR_LIMIT_EXCEEDED, gpu_emulator_launch_grid(dev, 1, &wide, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_LIMIT_EXCEEDED, gpu_emulator_launch_grid(dev, 1, &many, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_LIMIT_EXCEEDED, gpu_emulator_launch_grid(dev, 1, &large, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_LIMIT_EXCEEDED, gpu_emulator_launch_grid(dev, 1, &huge, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_KERNEL_NOT_FOUND, gpu_emulator_launch_grid(dev, 3, &one, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_INVALID_ARGUMENT, gpu_emulator_launch_grid(dev, 1, NULL, NULL, 0, &id));
    /* A kernel of version 1 has one thread. */
    REQUIRE_STATUS(GPU_ERR_INVALID_ARGUMENT, gpu_emulator_launch_grid(dev, 2, &two, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_INVALID_ARGUMENT,
                   gpu_emulator_launch_grid(dev, 2, &shared, NULL, 0, &id));
    REQUIRE(id == 77);
    OK(gpu_emulator_launch_grid(dev, 2, &one, NULL, 0, &id));
    OK(gpu_emulator_launch_grid(dev, 1, &two, "12345678", 8, &id));
    REQUIRE(id == 2);
    OK(gpu_emulator_wait(dev, FOREVER));
    REQUIRE(task_info(dev, 2).instructions == 4);
    OK(gpu_emulator_task_grid(dev, 1, &got));
    REQUIRE(got.threads == 1);
    REQUIRE_STATUS(GPU_ERR_TASK_NOT_FOUND, gpu_emulator_task_grid(dev, 9, &got));
}

static void grids_test_faults(gpu_emulator *dev)
{
    uint32_t id;
    gpu_task_grid got;
    uint64_t at;
    OK(gpu_emulator_alloc(dev, 512, &at));
    gpu_grid grid = {{2}, {40}, 0};
    /* Thread 24 of block 1 is the first one outside. */
    KERNEL(dev, 1, "ID r1, global\nSHL r1, r1, 3\nADD r1, r1, 0x%llx\nST64 [r1], r1\nHALT",
           (unsigned long long)at);
    OK(gpu_emulator_launch_grid(dev, 1, &grid, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, id, FOREVER));
    gpu_task_info info = task_info(dev, id);
    REQUIRE(info.kind == GPU_FAULT_UNMAPPED && info.instruction == 3 && info.nearest_base == at);
    OK(gpu_emulator_task_grid(dev, id, &got));
    REQUIRE(got.fault_block * 40 + got.fault_thread >= 64 && got.ended < 80);
    REQUIRE(info.address == at + 8 * (got.fault_block * 40 + got.fault_thread));
    /* One thread does not reach this barrier. */
    KERNEL(dev, 1, "ID r1, thread\nif r1 ne 5\nBAR\nendif\nHALT");
    OK(gpu_emulator_launch_grid(dev, 1, &grid, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, id, FOREVER));
    REQUIRE(task_info(dev, id).kind == GPU_FAULT_BARRIER && task_info(dev, id).instruction == 2);
    KERNEL(dev, 1, "ARG r1, 1");
    OK(gpu_emulator_launch_task(dev, 1, "12345678", 8, &id));
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, id, FOREVER));
    REQUIRE(task_info(dev, id).kind == GPU_FAULT_ARGUMENT && task_info(dev, id).address == 1);
    size_t count;
    OK(gpu_emulator_faults(dev, NULL, 0, &count));
    REQUIRE(count == 3);
}

/* Checks that grids that the host did not order race with each other, and that atomics on both
 * sides do not. */
static void between_tasks(uint32_t mode)
{
    gpu_emulator *dev = open_device(mode, checks, 0);
    uint64_t at;
    gpu_race_threads race;
    gpu_grid grid = {{1}, {THREADS}, 0};
    OK(gpu_emulator_alloc(dev, 1024, &at));
    unsigned long long base = at;
    KERNEL(dev, 1, "ID r1, thread\nSHL r1, r1, 3\nADD r1, r1, 0x%llx\nST64 [r1], r1", base);
    KERNEL(dev, 2, "MOV r1, 0x%llx\nMOV r2, 1\nAADD64 r3, [r1 + 512], r2", base);
    KERNEL(dev, 3, "READ64 0x%llx", base + 8 * 63); /* This kernel is of version 1. */
    OK(gpu_emulator_launch_grid(dev, 1, &grid, NULL, 0, NULL));
    OK(gpu_emulator_wait(dev, FOREVER));
    OK(gpu_emulator_launch_grid(dev, 2, &grid, NULL, 0, NULL));
    OK(gpu_emulator_launch_grid(dev, 2, &grid, NULL, 0, NULL));
    OK(gpu_emulator_launch_task(dev, 3, NULL, 0, NULL));
    OK(gpu_emulator_wait(dev, FOREVER));
    /* No task wrote the memory to which the atomics add. Everything else is ordered. */
    REQUIRE(grids_test_races(dev, &race) == 1 && race.kind == GPU_RACE_UNINITIALISED &&
            race.index_a == 2);
    OK(gpu_emulator_launch_grid(dev, 1, &grid, NULL, 0, NULL));
    OK(gpu_emulator_launch_task(dev, 3, NULL, 0, NULL));
    OK(gpu_emulator_wait(dev, FOREVER));
    REQUIRE(grids_test_races(dev, NULL) == 2);
    gpu_race rows[2];
    size_t count;
    OK(gpu_emulator_races(dev, rows, 2, &count));
    REQUIRE(rows[1].launch_a == 5 && rows[1].index_a == 3 && rows[1].launch_b == 6);
    REQUIRE(rows[1].kind == GPU_RACE_READ_WRITE && rows[1].address == at + 504);
    REQUIRE(rows[1].length == 8);
    gpu_emulator_close(dev);
}

/* Checks that its limit, or the host, ends a kernel without end. */
static void grids_test_endless(uint32_t mode)
{
    gpu_emulator_options options = {.mode = mode, .max_instructions = 100000};
    gpu_emulator *dev;
    uint32_t id;
    gpu_grid grid = {{1}, {THREADS}, 0};
    OK(gpu_emulator_open(&dev, &options));
    KERNEL(dev, 1, ".fuelled\nagain: ADD r1, r1, 1\nJMP again");
    OK(gpu_emulator_launch_grid(dev, 1, &grid, NULL, 0, &id));
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, id, FOREVER));
    REQUIRE(task_info(dev, id).kind == GPU_FAULT_LIMIT &&
            task_info(dev, id).instructions == 100000);
    gpu_emulator_close(dev);
    if (mode != GPU_MODE_THREADS) return;
    dev = open_device(mode, checks, 0);
    KERNEL(dev, 1, ".fuelled\nagain: ADD r1, r1, 1\nJMP again");
    OK(gpu_emulator_launch_grid(dev, 1, &grid, NULL, 0, &id));
    OK(gpu_emulator_stop_task(dev, id));
    REQUIRE(task_info(dev, id).state == GPU_TASK_CANCELLED);
    gpu_emulator_close(dev);
}

int main(void)
{
    for (uint32_t mode = GPU_MODE_THREADS; mode <= GPU_MODE_SEEDED; mode++) {
        grids_test_examples(mode, 0);
        if (mode == GPU_MODE_SEEDED)
            for (uint64_t seed = 1; seed < 4; seed++) grids_test_examples(mode, seed);
        gpu_emulator *dev = open_device(mode, checks, 0);
        grids_test_refused(dev);
        OK(gpu_emulator_reset(dev));
        grids_test_faults(dev);
        gpu_emulator_close(dev);
        between_tasks(mode);
        grids_test_endless(mode);
    }
    return checks_end();
}
