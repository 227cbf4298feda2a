/* Lets several host threads use one device, with tasks that run, sleep, fault and are stopped. */
#include <pthread.h>
#include "device.h"

enum { THREADS = 8, ROUNDS = 60 };

struct worker {
    gpu_emulator *dev;
    unsigned number;
};

static void *threads_test_work(void *user)
{
    struct worker *w = user;
    gpu_emulator *dev = w->dev;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t base, id = w->number * 10;
        uint8_t bytes[64], back[64];
        memset(bytes, (int)(w->number + round), sizeof bytes);
        OK(gpu_emulator_alloc(dev, 64, &base));
        unsigned long long a = base;
        OK(gpu_emulator_write(dev, base, bytes, 64));
        KERNEL(dev, id, "WRITE8 0x%llx, %u\nSLEEP %u\nREAD8 0x%llx\nHALT", a + 1, round & 255,
               round % 3, a + 1);
        KERNEL(dev, id + 1, "READ8 0x%llx\nREAD8 0x%llx", a, a + 64);
        KERNEL(dev, id + 2, "SLEEP 600000");
        uint32_t good = kernel_launch(dev, id), bad = kernel_launch(dev, id + 1),
                 asleep = kernel_launch(dev, id + 2);
        OK(gpu_emulator_wait_task(dev, good, FOREVER));
        REQUIRE_STATUS(GPU_ERR_TASK_FAULT, gpu_emulator_wait_task(dev, bad, FOREVER));
        OK(gpu_emulator_stop_task(dev, asleep));
        REQUIRE(task_info(dev, asleep).state == GPU_TASK_CANCELLED);
        REQUIRE(task_info(dev, good).last_read == (round & 255));
        OK(gpu_emulator_read(dev, base, back, 64));
        bytes[1] = (uint8_t)round;
        REQUIRE(!memcmp(bytes, back, 64));
        OK(gpu_emulator_free(dev, base));
    }
    return NULL;
}

/* Waits for ever. Another thread must get through meanwhile. */
static void *wait_forever(void *user)
{
    OK(gpu_emulator_wait(user, FOREVER));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    gpu_emulator *dev = open_device(GPU_MODE_THREADS, GPU_RACE_CHECK | GPU_INIT_CHECK, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){dev, i};
        REQUIRE(!pthread_create(&threads[i], NULL, threads_test_work, &workers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    size_t count;
    OK(gpu_emulator_faults(dev, NULL, 0, &count));
    REQUIRE(count == THREADS * ROUNDS);

    KERNEL(dev, 1, "SLEEP 600000");
    uint32_t asleep = kernel_launch(dev, 1);
    REQUIRE(!pthread_create(&threads[0], NULL, wait_forever, dev));
    for (int i = 0; i < 20; i++) {
        uint64_t a;
        OK(gpu_emulator_alloc(dev, 8, &a));
    }
    OK(gpu_emulator_stop_task(dev, asleep));
    pthread_join(threads[0], NULL);
    gpu_emulator_close(dev);
    return checks_end();
}
