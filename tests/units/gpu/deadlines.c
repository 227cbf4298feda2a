/* Checks that every call ends although the device is stopped, that the child is gone then, and
 * that the reason names it. The calls wait at the same time, each for a device of its own. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device.h"

enum { LARGE = 8 << 20 }; /* more bytes than the channel holds */

/* the address of the allocation, which is the same in all devices, because they have one seed */
static _Atomic uint64_t address;
static uint8_t bytes[LARGE];
static uint32_t number;

/* clang-format off */
static gpu_status on_alloc(gpu_emulator *d) { uint64_t p; return gpu_emulator_alloc(d, 8, &p); }
static gpu_status on_alloc_at(gpu_emulator *d) { return gpu_emulator_alloc_at(d, 4096, 8); }
static gpu_status on_free(gpu_emulator *d) { return gpu_emulator_free(d, address); }
static gpu_status on_write(gpu_emulator *d) { return gpu_emulator_write(d, address, bytes, 1); }
static gpu_status on_large_write(gpu_emulator *d) { return gpu_emulator_write(d, address, bytes, LARGE); }
static gpu_status on_read(gpu_emulator *d) { uint8_t b; return gpu_emulator_read(d, address, &b, 1); }
static gpu_status on_size(gpu_emulator *d) { uint64_t s; return gpu_emulator_memory_size(d, address, &s); }
static gpu_status on_leaks(gpu_emulator *d) { size_t n; return gpu_emulator_leaks(d, NULL, 0, &n); }
static gpu_status on_register(gpu_emulator *d) { return gpu_emulator_register_kernel(d, 2, bytes, 16); }
static gpu_status on_unregister(gpu_emulator *d) { return gpu_emulator_unregister_kernel(d, 1); }
static gpu_status on_kernels(gpu_emulator *d) { size_t n; return gpu_emulator_kernels(d, NULL, 0, &n); }
static gpu_status on_launch(gpu_emulator *d) { return gpu_emulator_launch_task(d, 1, NULL, 0, NULL); }
static gpu_status on_grid(gpu_emulator *d)
{
    gpu_grid grid = {{1, 1, 1}, {1, 1, 1}, 0};
    return gpu_emulator_launch_grid(d, 1, &grid, NULL, 0, NULL);
}
static gpu_status on_task_grid(gpu_emulator *d) { gpu_task_grid g; return gpu_emulator_task_grid(d, 1, &g); }
static gpu_status on_wait(gpu_emulator *d) { return gpu_emulator_wait(d, 5000); }
static gpu_status on_wait_forever(gpu_emulator *d) { return gpu_emulator_wait(d, FOREVER); }
static gpu_status on_wait_task(gpu_emulator *d) { return gpu_emulator_wait_task(d, 1, 5000); }
static gpu_status on_stop(gpu_emulator *d) { return gpu_emulator_stop_task(d, 1); }
static gpu_status on_info(gpu_emulator *d) { gpu_task_info i; return gpu_emulator_task_info(d, 1, &i); }
static gpu_status on_args(gpu_emulator *d) { size_t n; return gpu_emulator_task_args(d, 1, NULL, 0, &n); }
static gpu_status on_faults(gpu_emulator *d) { size_t n; return gpu_emulator_faults(d, NULL, 0, &n); }
static gpu_status on_races(gpu_emulator *d) { size_t n; return gpu_emulator_races(d, NULL, 0, &n); }
static gpu_status on_race_threads(gpu_emulator *d) { size_t n; return gpu_emulator_race_threads(d, NULL, 0, &n); }
static gpu_status on_barrier(gpu_emulator *d) { return gpu_emulator_barrier(d); }
static gpu_status on_memfence(gpu_emulator *d) { return gpu_emulator_memfence(d); }
static gpu_status on_reset(gpu_emulator *d) { return gpu_emulator_reset(d); }

static gpu_status (*const calls[])(gpu_emulator *) = {
    on_alloc, on_alloc_at, on_free, on_write, on_large_write, on_read, on_size, on_leaks, on_register,
    on_unregister, on_kernels, on_launch, on_grid, on_task_grid, on_wait, on_wait_forever, on_wait_task,
    on_stop, on_info, on_args, on_faults, on_races, on_race_threads, on_barrier, on_memfence, on_reset,
};
/* clang-format on */
enum { CALLS = sizeof calls / sizeof *calls };

static void check_named(gpu_emulator *dev, pid_t pid)
{
    char name[40];
    snprintf(name, sizeof name, "the device process %d ", (int)pid);
    REQUIRE(!strncmp(gpu_emulator_failure(dev), name, strlen(name)));
    REQUIRE(kill(pid, 0) < 0); /* The child has ended and is no zombie. */
    REQUIRE(gpu_emulator_process_id(dev) == -1);
}

static void *deadlines_test_stopped(void *user)
{
    size_t i = (size_t)(uintptr_t)user;
    gpu_emulator *dev = open_device(GPU_MODE_THREADS, 0, 0);
    uint64_t at;
    OK(gpu_emulator_alloc(dev, LARGE, &at));
    address = at;
    KERNEL(dev, 1, "SLEEP 600000\nHALT");
    kernel_launch(dev, 1);
    REQUIRE(!*gpu_emulator_failure(dev));
    pid_t pid = (pid_t)gpu_emulator_process_id(dev);
    REQUIRE(!kill(pid, SIGSTOP));
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, calls[i](dev));
    check_named(dev, pid);
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, calls[i](dev));
    gpu_emulator_close(dev);
    return NULL;
}

static void *stopped_at_shutdown(void *user)
{
    (void)user;
    gpu_emulator *dev = open_device(GPU_MODE_SEEDED, 0, 0);
    pid_t pid = (pid_t)gpu_emulator_process_id(dev);
    REQUIRE(!kill(pid, SIGSTOP));
    OK(gpu_emulator_shutdown(dev));
    check_named(dev, pid);
    gpu_emulator_close(dev);
    return NULL;
}

/* Stops a device before it says anything. */
static void *stopped_at_open(void *user)
{
    gpu_emulator_options options = {.device_path = user};
    gpu_emulator *dev;
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_open(&dev, &options));
    REQUIRE(!dev);
    return NULL;
}

/* Checks that tasks that run inside a call end with it: 2^32 instructions take longer than 50
 * ms. */
static void deadlines_test_busy(uint32_t mode)
{
    gpu_emulator_options options = {.mode = mode, .call_ms = 50};
    gpu_emulator *dev;
    OK(gpu_emulator_open(&dev, &options));
    KERNEL(dev, 1,
           "MOV r1, 0xFFFFFFFF\nloop r2, r1\nloop r3, r1\nADD r4, r4, 1\nendloop\nendloop\nHALT\n");
    pid_t pid = (pid_t)gpu_emulator_process_id(dev);
    gpu_status status = gpu_emulator_launch_task(dev, 1, NULL, 0, &number);
    if (mode == GPU_MODE_SEEDED) status = gpu_emulator_wait(dev, 1000);
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, status);
    REQUIRE(strstr(gpu_emulator_failure(dev), "took more than 50 ms for "));
    check_named(dev, pid);
    gpu_emulator_close(dev);
}

int main(void)
{
    static const char script[] = "#!/bin/sh\nkill -STOP $$\n";
    char path[] = "/tmp/stopped-device-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0 && write(fd, script, sizeof script - 1) == sizeof script - 1);
    REQUIRE(!fchmod(fd, 0700) && !close(fd));
    deadlines_test_busy(GPU_MODE_SERIAL);
    deadlines_test_busy(GPU_MODE_SEEDED);
    pthread_t threads[CALLS + 2];
    for (size_t i = 0; i < CALLS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, deadlines_test_stopped, (void *)(uintptr_t)i));
    REQUIRE(!pthread_create(&threads[CALLS], NULL, stopped_at_shutdown, NULL));
    REQUIRE(!pthread_create(&threads[CALLS + 1], NULL, stopped_at_open, path));
    for (size_t i = 0; i < CALLS + 2; i++) pthread_join(threads[i], NULL);
    REQUIRE(!unlink(path));
    REQUIRE(waitpid(-1, NULL, WNOHANG) < 0);
    return checks_end();
}
