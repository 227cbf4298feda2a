/* Kernel blobs: decode and validate, the interpreter, and the start of the tool.
 *
 *     bench_kblob PENTA */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#include "base/bytes.h"
#include "bench.h"
#include "kblob/kblob.h"
#include "kblob/vm/vm.h"

enum { COUNT = KBLOB_INSTRUCTIONS_MAX, ROUNDS = 15 };

/* The largest possible blob, with a mixture of simple instructions on one small buffer: in a
 * pattern, as generated kernels have, or shuffled, so that no branch predictor can follow. */
static uint8_t *make_blob(size_t *size, bool shuffled)
{
    static const uint8_t ops[] = {KBLOB_OP_WRITE8, KBLOB_OP_READ8,  KBLOB_OP_WRITE64,
                                  KBLOB_OP_NOP,    KBLOB_OP_READ64, KBLOB_OP_WRITE8,
                                  KBLOB_OP_NOP,    KBLOB_OP_READ8};
    *size = 16 + (size_t)COUNT * 16;
    uint8_t *blob = calloc(1, *size);
    if (!blob) abort();
    bytes_put32(blob, KBLOB_MAGIC);
    bytes_put16(blob + 4, 1);
    bytes_put32(blob + 8, 16);
    bytes_put32(blob + 12, COUNT);
    uint32_t random = 1;
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t *p = blob + 16 + i * 16;
        random = random * 1664525 + 1013904223;
        p[0] = i + 1 == COUNT ? (uint8_t)KBLOB_OP_HALT : ops[(shuffled ? random >> 13 : i) & 7];
        if (p[0] == KBLOB_OP_NOP || p[0] == KBLOB_OP_HALT) continue;
        bytes_put64(p + 4, 0x10000 + (random >> 20 & 1023));
        if (p[0] == KBLOB_OP_WRITE8 || p[0] == KBLOB_OP_WRITE64) bytes_put32(p + 12, random & 255);
    }
    return blob;
}

static void bench_decode(penta_bytes blob)
{
    double open_times[ROUNDS], device_times[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        penta_error err;
        double start = bench_cpu();
        penta_module *module = penta_open(blob, "kblob", NULL, 0, &err);
        bool valid = module && penta_validate(module, NULL, NULL);
        open_times[round] = bench_cpu() - start;
        penta_close(module);
        start = bench_cpu();
        uint32_t index;
        module = penta_open(blob, "kblob", NULL, 0, &err);
        valid = valid && !kblob_verdict(module, &index);
        device_times[round] = bench_cpu() - start;
        penta_close(module);
        if (!valid) abort();
    }
    double size = (double)blob.size;
    printf("kblob decode + validate, warnings too  %6.2f GB/s   (goal 1)\n",
           size / bench_median(open_times, ROUNDS) * 1e-9);
    printf("kblob decode + verdict of the device   %6.2f GB/s\n",
           size / bench_median(device_times, ROUNDS) * 1e-9);
}

static void bench_run(penta_bytes blob, const char *how)
{
    double times[ROUNDS];
    penta_error err;
    penta_option map = {"map", "0x10000:2048"};
    penta_module *module = penta_open(blob, "kblob", NULL, 0, &err);
    if (!module) abort();
    for (int round = 0; round < ROUNDS; round++) {
        penta_vm *vm = penta_vm_new(module, NULL, &map, 1, NULL, &err);
        penta_stop stop;
        if (!vm) abort();
        double start = bench_cpu();
        penta_vm_run(vm, UINT64_MAX, &stop);
        times[round] = bench_cpu() - start;
        if (stop.kind != PENTA_STOP_HALT || stop.steps != COUNT) abort();
        penta_vm_free(vm);
    }
    penta_close(module);
    printf("kblob interpreter, %-20s %5.0f million/s\n", how,
           COUNT / bench_median(times, ROUNDS) * 1e-6);
}

/* Version 2: a kernel of registers, loads and branches, by one thread and by a block. */
static void bench_grid(const char *threads, const char *how)
{
    static const char text[] = "ARG r1, 0\n"
                               "loop r2, r1\n"
                               "    AND  r3, r2, 127\n"
                               "    SHL  r3, r3, 3\n"
                               "    LD64 r4, [r3 + 0x10000]\n"
                               "    ADD  r5, r5, r4\n"
                               "    if r4 ne 0\n"
                               "        MUL r5, r5, 3\n"
                               "    endif\n"
                               "    ST64 [r3 + 0x20000], r5\n"
                               "endloop\n"
                               "HALT\n";
    double times[ROUNDS];
    penta_error err;
    bool one = threads[1] == 0;
    penta_option options[] = {{"map", "0x10000:1024"},
                              {"map", "0x20000:1024"},
                              {"threads", threads},
                              {"arg", one ? "1000000" : "2000"}};
    penta_module *module = penta_assemble((penta_bytes){(const uint8_t *)text, sizeof text - 1},
                                          "kblob", NULL, 0, NULL, NULL);
    if (!module) abort();
    uint64_t steps = 0;
    for (int round = 0; round < ROUNDS; round++) {
        penta_vm *vm = penta_vm_new(module, NULL, options, 4, NULL, &err);
        penta_stop stop;
        if (!vm) abort();
        double start = bench_cpu();
        penta_vm_run(vm, UINT64_MAX, &stop);
        times[round] = bench_cpu() - start;
        if (stop.kind != PENTA_STOP_HALT) abort();
        steps = stop.steps;
        penta_vm_free(vm);
    }
    penta_close(module);
    printf("kblob version 2, %-22s %5.0f million/s\n", how,
           (double)steps / bench_median(times, ROUNDS) * 1e-6);
}

extern char **environ;

enum { STARTS = 101 };
struct start {
    const char *label;
    char *const *args;
    double wall[STARTS], processor[STARTS];
    long faults; /* pages */
};

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static void start_once(struct start *s, int round, const posix_spawn_file_actions_t *quiet)
{
    pid_t pid;
    int status;
    struct rusage used;
    double start = bench_now();
    if (posix_spawnp(&pid, s->args[0], quiet, NULL, s->args, environ) ||
        wait4(pid, &status, 0, &used) < 0 || status)
        bench_die("cannot run", s->args[0]);
    s->wall[round] = bench_now() - start;
    s->processor[round] = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    s->faults = used.ru_minflt;
}

/* Whole processes, interleaved; `true` is what the system takes for any. */
static void bench_start(char *penta, penta_bytes blob)
{
    char path[] = "/tmp/penta-bench-XXXXXX";
    int fd = mkstemp(path);
    uint8_t small[32];
    memcpy(small, blob.data, 16);
    bytes_put32(small + 12, 1);
    memset(small + 16, 0, 16);
    small[16] = KBLOB_OP_HALT;
    if (fd < 0 || write(fd, small, sizeof small) != sizeof small) abort();
    close(fd);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    struct start starts[] = {
        {.label = "true", .args = (char *[]){(char[]){"true"}, NULL}},
        {.label = "penta --version", .args = (char *[]){penta, (char[]){"--version"}, NULL}},
        {.label = "penta info, small file",
         .args = (char *[]){penta, (char[]){"info"}, path, NULL}}};
    enum { COMMANDS = sizeof starts / sizeof *starts };
    for (int i = 0; i < STARTS * COMMANDS; i++)
        start_once(&starts[i % COMMANDS], i / COMMANDS, &quiet);
    posix_spawn_file_actions_destroy(&quiet);
    unlink(path);
    for (size_t i = 0; i < COMMANDS; i++)
        printf("%-22s, whole process  %6.2f ms, of the processor %5.2f ms, %ld page faults\n",
               starts[i].label, bench_median(starts[i].wall, STARTS) * 1e3,
               bench_median(starts[i].processor, STARTS) * 1e3, starts[i].faults);
}

int main(int argc, char **argv)
{
    size_t size;
    uint8_t *bytes = make_blob(&size, false), *shuffled = make_blob(&size, true);
    penta_bytes blob = {bytes, size};
    bench_decode(blob);
    bench_run(blob, "simple (goal 300)");
    bench_run((penta_bytes){shuffled, size}, "shuffled");
    bench_grid("1", "one thread");
    bench_grid("512", "512 threads");
    if (argc > 1) bench_start(argv[1], blob);
    free(bytes);
    free(shuffled);
    return 0;
}
