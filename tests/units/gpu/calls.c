/* Makes every call of the interface in every mode. Results must not depend on the mode. */
#include "device.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void calls_test_memory(gpu_emulator *dev)
{
    uint64_t a, b, size;
    uint8_t bytes[16] = {1, 2, 3}, back[16];
    size_t count;
    gpu_range leaks[4];
    OK(gpu_emulator_alloc(dev, 16, &a));
    REQUIRE(a == UINT64_C(0xA8397B1DC000)); /* This is the first address of the documented
                                             * sequence of seed 0. */
    OK(gpu_emulator_alloc(dev, 4096, &b));
    REQUIRE(b == UINT64_C(0x9E6AA1B96000));
    OK(gpu_emulator_write(dev, a, bytes, 16));
    OK(gpu_emulator_read(dev, a, back, 16));
    REQUIRE(!memcmp(bytes, back, 16));
    OK(gpu_emulator_write(dev, a + 16 - 1, bytes, 1));
    OK(gpu_emulator_write(dev, a, NULL, 0));
    REQUIRE_STATUS(GPU_ERR_WRITE, gpu_emulator_write(dev, a + 1, bytes, 16));
    REQUIRE_STATUS(GPU_ERR_READ, gpu_emulator_read(dev, a + 15, back, 2));
    REQUIRE_STATUS(GPU_ERR_READ, gpu_emulator_read(dev, a, back, UINT64_MAX));
    REQUIRE_STATUS(GPU_ERR_INVALID_POINTER, gpu_emulator_read(dev, 0, back, 1));
    REQUIRE_STATUS(GPU_ERR_LIMIT_EXCEEDED,
                   gpu_emulator_write(dev, a, bytes, (UINT64_C(256) << 20) + 1));
    REQUIRE_STATUS(GPU_ERR_ALLOCATION_FAILED, gpu_emulator_alloc(dev, 0, &size));
    REQUIRE_STATUS(GPU_ERR_ALLOCATION_FAILED, gpu_emulator_alloc(dev, UINT64_C(1) << 40, &size));
    REQUIRE_STATUS(GPU_ERR_ALLOCATION_FAILED, gpu_emulator_alloc_at(dev, a + 8, 16));
    OK(gpu_emulator_alloc_at(dev, 0x10000, 64));
    OK(gpu_emulator_memory_size(dev, 0x10000, &size));
    REQUIRE(size == 64);
    REQUIRE_STATUS(GPU_ERR_INVALID_POINTER, gpu_emulator_memory_size(dev, 0x10001, &size));
    OK(gpu_emulator_leaks(dev, leaks, 4, &count));
    REQUIRE(count == 3 && leaks[0].base == 0x10000 && leaks[0].size == 64);
    REQUIRE_STATUS(GPU_ERR_INVALID_POINTER, gpu_emulator_free(dev, a + 1));
    OK(gpu_emulator_free(dev, a));
    OK(gpu_emulator_free(dev, b));
    REQUIRE_STATUS(GPU_ERR_INVALID_POINTER, gpu_emulator_free(dev, a));
}

static void calls_test_kernels(gpu_emulator *dev)
{
    size_t count;
    gpu_kernel_info list[4];
    uint32_t id;
    KERNEL(dev, 9, "NOP\nHALT");
    KERNEL(dev, 0xFFFFFFFF, "HALT");
    REQUIRE_STATUS(GPU_ERR_INVALID_ARGUMENT, gpu_emulator_register_kernel(dev, 1ULL << 32, "", 0));
    REQUIRE_STATUS(GPU_ERR_INVALID_KERNEL_BLOB, gpu_emulator_register_kernel(dev, 1, "abcd", 4));
    OK(gpu_emulator_kernels(dev, list, 4, &count));
    REQUIRE(count == 2 && list[0].id == 9 && list[0].blob_size == 48 && list[1].id == 0xFFFFFFFF);
    OK(gpu_emulator_launch_task(dev, 0xFFFFFFFF, NULL, 0, NULL));
    OK(gpu_emulator_unregister_kernel(dev, 9));
    REQUIRE_STATUS(GPU_ERR_KERNEL_NOT_FOUND, gpu_emulator_unregister_kernel(dev, 9));
    REQUIRE_STATUS(GPU_ERR_KERNEL_NOT_FOUND, gpu_emulator_launch_task(dev, 9, NULL, 0, &id));
    OK(gpu_emulator_barrier(dev));
}

static void calls_test_tasks(gpu_emulator *dev)
{
    uint64_t a;
    uint32_t t;
    size_t size;
    char args[16] = "";
    gpu_fault fault;
    OK(gpu_emulator_alloc(dev, 64, &a));
    unsigned long long at = a;
    KERNEL(dev, 1, "WRITE64 0x%llx, 42\nREAD64 0x%llx\nSLEEP 30\nHALT", at, at);
    OK(gpu_emulator_launch_task(dev, 1, "hello", 5, &t));
    OK(gpu_emulator_wait_task(dev, t, FOREVER));
    gpu_task_info info = task_info(dev, t);
    REQUIRE(info.state == GPU_TASK_DONE && info.instructions == 4 && info.last_read == 42);
    REQUIRE(info.slept_ms == 30 && info.kernel_id == 1 && info.flags == GPU_TASK_HAS_LAST_READ);
    OK(gpu_emulator_task_args(dev, t, args, sizeof args, &size));
    REQUIRE(size == 5 && !memcmp(args, "hello", 5));
    REQUIRE_STATUS(GPU_ERR_TASK_NOT_FOUND, gpu_emulator_wait_task(dev, t + 1, 0));
    REQUIRE_STATUS(GPU_ERR_TASK_NOT_FOUND, gpu_emulator_wait_task(dev, 0, 0));
    REQUIRE_STATUS(GPU_ERR_TASK_NOT_FOUND, gpu_emulator_stop_task(dev, t + 1));
    OK(gpu_emulator_stop_task(dev, t)); /* The task ended long ago. */

    /* A fault stops its task and nothing else. What the task did before stays. */
    KERNEL(dev, 2, "WRITE8 0x%llx, 7\nREAD8 0\nWRITE8 0x%llx, 9", at + 8, at + 9);
    t = kernel_launch(dev, 2);
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, t, FOREVER));
    OK(gpu_emulator_faults(dev, NULL, 0, &size));
    REQUIRE(size == 1);
    OK(gpu_emulator_faults(dev, &fault, 1, &size));
    REQUIRE(size == 1 && fault.launch_id == t && fault.kind == GPU_FAULT_NULL);
    REQUIRE(fault.instruction == 1 && fault.opcode == 4 && fault.nearest_base == 0x10000);
    OK(gpu_emulator_faults(dev, &fault, 1, &size));
    REQUIRE(size == 0);
    uint8_t two[2];
    OK(gpu_emulator_read(dev, a + 8, two, 2));
    REQUIRE(two[0] == 7 && two[1] == 0);
    OK(gpu_emulator_memfence(dev));
    OK(gpu_emulator_yield(dev));
}

/* Starts a long sleep, which stop_task and reset must end at once. In the mode SERIAL it has
 * ended before launch returns. */
static void calls_test_cancelling(gpu_emulator *dev, uint32_t mode)
{
    if (mode == GPU_MODE_SERIAL) return;
    KERNEL(dev, 3, "SLEEP 600000\nHALT");
    uint32_t t = kernel_launch(dev, 3), u = kernel_launch(dev, 3);
    REQUIRE_STATUS(GPU_ERR_TIMEOUT, gpu_emulator_wait(dev, 0));
    REQUIRE_STATUS(GPU_ERR_TIMEOUT, gpu_emulator_wait_task(dev, t, 1));
    OK(gpu_emulator_stop_task(dev, t));
    REQUIRE(task_info(dev, t).state == GPU_TASK_CANCELLED);
    REQUIRE(task_info(dev, u).state == GPU_TASK_RUNNING);
    OK(gpu_emulator_wait_task(dev, t, FOREVER));
}

static void calls_test_limits(uint32_t mode)
{
    gpu_emulator_options options = {.mode = mode,
                                    .max_instructions = 2,
                                    .max_tasks = 1,
                                    .task_wall_ms = 500,
                                    .memory_limit = 100};
    gpu_emulator *dev;
    uint64_t a;
    OK(gpu_emulator_open(&dev, &options));
    REQUIRE_STATUS(GPU_ERR_ALLOCATION_FAILED, gpu_emulator_alloc(dev, 101, &a));
    OK(gpu_emulator_alloc(dev, 100, &a));
    REQUIRE_STATUS(GPU_ERR_ALLOCATION_FAILED, gpu_emulator_alloc(dev, 1, &a));
    KERNEL(dev, 1, "NOP\nNOP");
    KERNEL(dev, 2, "NOP\nNOP\nHALT");
    KERNEL(dev, 3, "SLEEP 10000\nHALT");
    uint32_t t = kernel_launch(dev, 1);
    OK(gpu_emulator_wait_task(dev, t, FOREVER)); /* The sleep is exactly as long as the limit
                                                  * allows. */
    t = kernel_launch(dev, 2);
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, t, FOREVER));
    gpu_task_info info = task_info(dev, t);
    REQUIRE(info.kind == GPU_FAULT_LIMIT && info.instruction == 2 && info.instructions == 2);
    t = kernel_launch(dev, 3);
    if (mode != GPU_MODE_SERIAL)
        REQUIRE_STATUS(GPU_ERR_LIMIT_EXCEEDED, gpu_emulator_launch_task(dev, 1, NULL, 0, NULL));
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, t, FOREVER));
    info = task_info(dev, t);
    REQUIRE(info.kind == GPU_FAULT_LIMIT && info.instruction == 0 && info.instructions == 0);
    gpu_emulator_close(dev);
}

/* Runs tasks that share bytes, ordered and unordered, and reads before writes. The reports must
 * be the same in every mode. */
static void calls_test_reports(uint32_t mode)
{
    gpu_emulator *dev = open_device(mode, GPU_RACE_CHECK | GPU_INIT_CHECK, 5);
    uint64_t base;
    gpu_race races[16];
    size_t count;
    OK(gpu_emulator_alloc(dev, 64, &base));
    unsigned long long a = base;
    KERNEL(dev, 1, "WRITE64 0x%llx, 1\nREAD8 0x%llx", a, a + 32);
    KERNEL(dev, 2, "MEMSET 0x%llx, 16\nREAD64 0x%llx", a + 4, a + 2);
    kernel_launch(dev, 1); /* task 1 */
    kernel_launch(dev, 2); /* task 2, unordered to 1 */
    kernel_launch(dev, 2); /* task 3, unordered to both; it races with 2 by the same instructions */
    OK(gpu_emulator_wait(dev, FOREVER));
    kernel_launch(dev, 1); /* task 4, ordered after all */
    OK(gpu_emulator_wait(dev, FOREVER));
    OK(gpu_emulator_races(dev, races, 16, &count));
    static const gpu_race want[] = {
        {1, 0, 2, 0, 4, 4, GPU_RACE_WRITE_WRITE, 1}, /* The write has zeros above the low half. */
        {1, 0, 2, 1, 2, 6, GPU_RACE_READ_WRITE, 0},
        {1, 1, FOREVER, FOREVER, 32, 1, GPU_RACE_UNINITIALISED, 0},
        {2, 0, 3, 0, 4, 16, GPU_RACE_WRITE_WRITE, 1},
        {2, 0, 3, 1, 4, 6, GPU_RACE_READ_WRITE, 0},
        {2, 1, 3, 0, 4, 6, GPU_RACE_READ_WRITE, 0},
    };
    REQUIRE(count == sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        gpu_race expected = want[i];
        expected.address += base;
        if (memcmp(&expected, &races[i], sizeof expected)) {
            fprintf(stderr, "mode %u, race %zu: %u.%u %u.%u +%llu %llu kind %u benign %u\n", mode,
                    i, races[i].launch_a, races[i].index_a, races[i].launch_b, races[i].index_b,
                    (unsigned long long)(races[i].address - base),
                    (unsigned long long)races[i].length, races[i].kind, races[i].benign);
            exit(1);
        }
    }
    gpu_emulator_close(dev);
}

/* Checks that a device that answers with an endless size, or with endless bytes, is lost at
 * once. */
static void endless_answer(void)
{
    static const char script[] =
        "#!/bin/sh\nprintf '\\000\\377\\377\\377\\377\\377\\377\\377\\377'\nexec yes\n";
    char path[] = "/tmp/penta-device-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0 && write(fd, script, sizeof script - 1) == sizeof script - 1);
    REQUIRE(!fchmod(fd, 0700) && !close(fd));
    gpu_emulator *dev = NULL;
    gpu_emulator_options options = {.device_path = path};
    REQUIRE_STATUS(GPU_ERR_PROTOCOL, gpu_emulator_open(&dev, &options));
    REQUIRE(!dev && !unlink(path));
}

int main(void)
{
    for (uint32_t mode = GPU_MODE_THREADS; mode <= GPU_MODE_SEEDED; mode++) {
        gpu_emulator *dev = open_device(mode, 0, 0);
        calls_test_memory(dev);
        calls_test_kernels(dev);
        calls_test_tasks(dev);
        calls_test_cancelling(dev, mode);
        OK(gpu_emulator_reset(dev));
        calls_test_memory(dev); /* The device is as new, including its addresses. */
        OK(gpu_emulator_shutdown(dev));
        OK(gpu_emulator_shutdown(dev));
        REQUIRE_STATUS(GPU_ERR_NOT_READY, gpu_emulator_wait(dev, 0));
        gpu_emulator_close(dev);
        calls_test_limits(mode);
        calls_test_reports(mode);
    }
    gpu_emulator *none = (gpu_emulator *)1;
    gpu_emulator_options bad = {.mode = 3};
    REQUIRE_STATUS(GPU_ERR_INVALID_ARGUMENT, gpu_emulator_open(&none, &bad));
    REQUIRE(!none);
    gpu_emulator_options missing = {.device_path = "/nonexistent/penta-device"};
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_open(&none, &missing));
    gpu_emulator_options other = {.device_path = "/bin/true"};
    REQUIRE_STATUS(GPU_ERR_DEVICE_LOST, gpu_emulator_open(&none, &other));
    REQUIRE_STATUS(GPU_ERR_NOT_READY, gpu_emulator_wait(NULL, 0));
    endless_answer();
    return checks_end();
}
