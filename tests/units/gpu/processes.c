/* Checks that killed children, killed hosts and thousands of devices leave no process and no
 * descriptor. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) && errno == EINTR) {
    }
}

static void *kill_soon(void *pid)
{
    pause_ms(50);
    REQUIRE(!kill((pid_t)(intptr_t)pid, SIGKILL));
    return NULL;
}

/* Kills the child in the middle of a wait. No call may hang, and all must return DEVICE_LOST. */
static void killed_child(uint32_t mode)
{
    gpu_emulator *dev = open_device(mode, 0, 0);
    pthread_t killer;
    uint64_t a;
    OK(gpu_emulator_alloc(dev, 1 << 20, &a));
    KERNEL(dev, 1, "SLEEP 600000\nHALT");
    kernel_launch(dev, 1);
    pid_t pid = (pid_t)gpu_emulator_process_id(dev);
    REQUIRE(!pthread_create(&killer, NULL, kill_soon, (void *)(intptr_t)pid));
    if (mode == GPU_MODE_THREADS)
        REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_wait(dev, FOREVER));
    pthread_join(killer, NULL);
    pause_ms(mode == GPU_MODE_THREADS ? 0 : 20);
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_alloc(dev, 8, &a));
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_reset(dev));
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_wait(dev, FOREVER));
    REQUIRE(gpu_emulator_process_id(dev) == -1);
    OK(gpu_emulator_shutdown(dev));
    REQUIRE_STATUS(GPU_ERR_NOT_READY, gpu_emulator_alloc(dev, 8, &a));
    gpu_emulator_close(dev);
    REQUIRE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* The child is no zombie. */
}

/* Kills a host with tasks asleep and busy. No device may remain, not even one that is stopped. */
static void killed_host(uint32_t mode, bool waiting, bool stopped)
{
    int report[2];
    REQUIRE(!pipe(report));
    pid_t host = fork();
    if (!host) {
        gpu_emulator *dev = open_device(mode, 0, 0);
        uint64_t a;
        OK(gpu_emulator_alloc(dev, 64 << 20, &a));
        KERNEL(dev, 1, "SLEEP 600000\nHALT");
        kernel_launch(dev, 1);
        kblob_builder *b = kblob_builder_new();
        for (int i = 0; i < 100000; i++) REQUIRE(!kblob_builder_memset(b, a, 64 << 20));
        void *blob;
        size_t size;
        REQUIRE(!kblob_builder_finish(b, 0, &blob, &size));
        OK(gpu_emulator_register_kernel(dev, 2, blob, size));
        int64_t pid = gpu_emulator_process_id(dev);
        REQUIRE(write(report[1], &pid, sizeof pid) == sizeof pid);
        kernel_launch(dev, 2);
        if (waiting) gpu_emulator_wait(dev, FOREVER);
        pause();
        _exit(0);
    }
    int64_t device = 0;
    REQUIRE(read(report[0], &device, sizeof device) == sizeof device);
    pause_ms(100);
    if (stopped) REQUIRE(!kill((pid_t)device, SIGSTOP));
    REQUIRE(!kill(host, SIGKILL));
    REQUIRE(waitpid(host, NULL, 0) == host);
    int tries = 0;
    for (; !kill((pid_t)device, 0) && tries < 1000; tries++) {
        char path[64], state = 0; /* A zombie counts as dead, whether init has reaped it or not. */
        snprintf(path, sizeof path, "/proc/%lld/stat", (long long)device);
        FILE *f = fopen(path, "r");
        if (!f) break;
        if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
        fclose(f);
        if (state == 'Z') break;
        pause_ms(10);
    }
    REQUIRE(tries < 1000);
    close(report[0]);
    close(report[1]);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static void many_devices(int cycles)
{
    unsigned before = open_descriptors();
    for (int i = 0; i < cycles; i++) {
        gpu_emulator *dev = open_device((uint32_t)i % 3, 0, 0);
        if (i % 7 == 0) {
            KERNEL(dev, 1, "SLEEP 0\nHALT");
            kernel_launch(dev, 1);
        }
        gpu_emulator_close(dev);
    }
    REQUIRE(open_descriptors() == before);
    REQUIRE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Checks that closing does not wait for a task that sleeps for ten minutes. An alarm would end
 * this test. */
static void close_with_tasks(void)
{
    gpu_emulator *dev = open_device(GPU_MODE_THREADS, 0, 0);
    KERNEL(dev, 1, "SLEEP 600000\nHALT");
    for (int i = 0; i < 50; i++) kernel_launch(dev, 1);
    alarm(120);
    gpu_emulator_close(dev);
    alarm(0);
}

int main(int argc, char **argv)
{
    killed_child(GPU_MODE_THREADS);
    killed_child(GPU_MODE_SEEDED);
    for (uint32_t mode = 0; mode < 3; mode++) {
        killed_host(mode, false, false);
        killed_host(mode, true, false);
        killed_host(mode, true, true);
    }
    close_with_tasks();
    many_devices(argc > 1 ? atoi(argv[1]) : 1000);
    return checks_end();
}
