/* Checks that replaying a trace gives the same trace, and that a changed trace is noticed.
 * SERIAL and SEEDED write the same trace each time. */
#include <unistd.h>
#include "base/file/file.h"
#include "device.h"
#include "penta/device.h"

static void replay_test_session(uint32_t mode, const char *path)
{
    gpu_emulator_options options = {.mode = mode, .seed = 7, .flags = 3, .trace_path = path};
    gpu_emulator *dev;
    uint64_t base;
    size_t count;
    uint32_t last = 0;
    OK(gpu_emulator_open(&dev, &options));
    OK(gpu_emulator_alloc(dev, 64, &base));
    unsigned long long a = base;
    OK(gpu_emulator_write(dev, base, "hello", 5));
    for (unsigned i = 0; i < 4; i++)
        KERNEL(dev, i, "WRITE8 0x%llx, %u\nSLEEP %u\nREAD8 0x%llx\nREAD64 0x%llx", a + i, i, i,
               a + i, a + 8 + 30 * i); /* No read depends on another task. */
    for (unsigned i = 0; i < 12; i++)
        OK(gpu_emulator_launch_task(dev, i % 4, "args", i % 5, &last));
    OK(gpu_emulator_wait(dev, FOREVER));
    OK(gpu_emulator_wait_task(dev, 1, FOREVER));
    OK(gpu_emulator_races(dev, NULL, 0, &count));
    OK(gpu_emulator_faults(dev, NULL, 0, &count));
    REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, last, FOREVER));
    REQUIRE_STATUS(GPU_ERR_INVALID_POINTER, gpu_emulator_free(dev, base + 1));
    if (mode != GPU_MODE_SERIAL) {
        KERNEL(dev, 9, "SLEEP 600000");
        kernel_launch(dev, 9); /* Closing cancels this task. */
    }
    gpu_emulator_close(dev);
}

static penta_buffer replay_test_contents(const char *path)
{
    penta_buffer bytes = {0};
    penta_error err = {0};
    REQUIRE(file_read(path, 1 << 24, &bytes, &err));
    return bytes;
}

static uint64_t replay_test_differences(const penta_buffer *trace)
{
    penta_buffer out = {0};
    penta_device_replayed result;
    penta_error err = {0};
    REQUIRE(
        penta_device_replay((penta_bytes){trace->data, trace->size}, NULL, &out, &result, &err));
    REQUIRE(result.calls > 20 && result.events > 40);
    if (result.differences) fwrite(out.data, 1, out.size, stderr);
    penta_buffer_free(&out);
    return result.differences;
}

int main(void)
{
    char path[] = "/tmp/penta-gpu-replay-XXXXXX";
    REQUIRE(mkstemp(path) >= 0);
    for (uint32_t mode = 0; mode < 3; mode++) {
        replay_test_session(mode, path);
        penta_buffer first = replay_test_contents(path);
        REQUIRE(replay_test_differences(&first) == 0);
        replay_test_session(mode, path);
        penta_buffer second = replay_test_contents(path);
        if (mode != GPU_MODE_THREADS)
            REQUIRE(first.size == second.size && !memcmp(first.data, second.data, first.size));
        uint8_t *place = memmem(second.data, second.size, "\"InvalidPointer\"", 16);
        REQUIRE(place);
        place[1] = 'X';
        REQUIRE(replay_test_differences(&second) == 1);
        penta_buffer_free(&first);
        penta_buffer_free(&second);
    }
    unlink(path);
    return checks_end();
}
