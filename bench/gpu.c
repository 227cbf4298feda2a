/* The mock GPU: launches per second in each mode, and transfers. Medians of several rounds. */
#include <gpu_emulator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, LAUNCHES = 5000, TRANSFER = 64 << 20 };

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_status(gpu_status status, const char *what)
{
    if (!status) return;
    fprintf(stderr, "%s: %s\n", what, gpu_status_string(status));
    exit(1);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double values_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

static double measure_launches(uint32_t mode)
{
    gpu_emulator_options options = {.mode = mode, .max_tasks = LAUNCHES + 1};
    gpu_emulator *dev;
    uint64_t buffer;
    double rate[ROUNDS];
    check_status(gpu_emulator_open(&dev, &options), "open");
    for (int round = 0; round < ROUNDS; round++) {
        kblob_builder *b = kblob_builder_new();
        void *blob;
        size_t size;
        check_status(gpu_emulator_alloc(dev, 64, &buffer), "alloc");
        kblob_builder_write64(b, buffer, 42);
        kblob_builder_read64(b, buffer);
        kblob_builder_halt(b);
        if (kblob_builder_finish(b, 0, &blob, &size)) exit(1);
        check_status(gpu_emulator_register_kernel(dev, 1, blob, size), "register");
        kblob_free(blob);
        kblob_builder_free(b);
        double start = seconds_now();
        for (int i = 0; i < LAUNCHES; i++)
            check_status(gpu_emulator_launch_task(dev, 1, NULL, 0, NULL), "launch");
        check_status(gpu_emulator_wait(dev, 0xFFFFFFFF), "wait");
        rate[round] = LAUNCHES / (seconds_now() - start);
        check_status(gpu_emulator_reset(dev), "reset");
    }
    gpu_emulator_close(dev);
    return values_median(rate, ROUNDS);
}

static void measure_transfers(double *write, double *read)
{
    gpu_emulator *dev;
    uint64_t buffer;
    double writes[ROUNDS], reads[ROUNDS];
    uint8_t *bytes = malloc(TRANSFER), *back = malloc(TRANSFER);
    if (!bytes || !back) exit(1);
    for (size_t i = 0; i < TRANSFER; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    memset(back, 1, TRANSFER);
    check_status(gpu_emulator_open(&dev, NULL), "open");
    check_status(gpu_emulator_alloc(dev, TRANSFER, &buffer), "alloc");
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds_now();
        check_status(gpu_emulator_write(dev, buffer, bytes, TRANSFER), "write");
        double middle = seconds_now();
        check_status(gpu_emulator_read(dev, buffer, back, TRANSFER), "read");
        writes[round] = TRANSFER / (middle - start) / 1e9;
        reads[round] = TRANSFER / (seconds_now() - middle) / 1e9;
    }
    if (memcmp(bytes, back, TRANSFER)) exit(1);
    gpu_emulator_close(dev);
    free(bytes);
    free(back);
    *write = values_median(writes, ROUNDS);
    *read = values_median(reads, ROUNDS);
}

static double measure_cycles(void)
{
    enum { OPENS = 100 };
    double start = seconds_now();
    for (int i = 0; i < OPENS; i++) {
        gpu_emulator *dev;
        check_status(gpu_emulator_open(&dev, NULL), "open");
        gpu_emulator_close(dev);
    }
    return (seconds_now() - start) / OPENS * 1e3;
}

int main(void)
{
    static const char *const modes[] = {"THREADS", "SERIAL", "SEEDED"};
    for (uint32_t mode = 0; mode < 3; mode++)
        printf("launch %-8s %10.0f /s\n", modes[mode], measure_launches(mode));
    double write, read;
    measure_transfers(&write, &read);
    printf("write 64 MiB    %10.2f GB/s\nread 64 MiB     %10.2f GB/s\n", write, read);
    printf("open and close  %10.2f ms\n", measure_cycles());
    return 0;
}
