/* Declares what tests of the mock device share. The first call that fails ends the test. */
#pragma once
#include "check.h"
#include <gpu_emulator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE_STATUS(expected, call)                                                             \
    do {                                                                                           \
        gpu_status got_ = (call);                                                                  \
        REQUIRE(got_ == (expected), "%s: expected %s, got %s", #call, gpu_status_string(expected), \
                gpu_status_string(got_));                                                          \
    } while (0)

#define OK(call) REQUIRE_STATUS(GPU_OK, call)

static inline gpu_emulator *open_device(uint32_t mode, uint32_t flags, uint64_t seed)
{
    gpu_emulator_options options = {.mode = mode, .flags = flags, .seed = seed};
    gpu_emulator *dev;
    OK(gpu_emulator_open(&dev, &options));
    return dev;
}

/* Registers assembler text as a kernel. */
static inline void kernel_add(gpu_emulator *dev, uint64_t id, const char *text)
{
    void *blob;
    size_t size;
    char message[200];
    REQUIRE(!kblob_assemble(text, &blob, &size, message, sizeof message), "%s", message);
    OK(gpu_emulator_register_kernel(dev, id, blob, size));
    kblob_free(blob);
}

#define KERNEL(dev, id, ...)                                                                       \
    do {                                                                                           \
        char text_[2000];                                                                          \
        snprintf(text_, sizeof text_, __VA_ARGS__);                                                \
        kernel_add(dev, id, text_);                                                                \
    } while (0)

static inline uint32_t kernel_launch(gpu_emulator *dev, uint64_t id)
{
    uint32_t launched = 0;
    OK(gpu_emulator_launch_task(dev, id, NULL, 0, &launched));
    return launched;
}

static inline gpu_task_info task_info(gpu_emulator *dev, uint32_t id)
{
    gpu_task_info info;
    OK(gpu_emulator_task_info(dev, id, &info));
    return info;
}

#define FOREVER 0xFFFFFFFFu
