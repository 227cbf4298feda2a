/* Writes the host's part of a trace (DEVICE 7.1): its options, then its calls in their order.
 * The device's part, in events.c, is appended to the same file. A replay needs both parts and
 * nothing else. */
#include <fcntl.h>
#include <unistd.h>
#include "gpu/host/emulator.h"

static void trace_flush(gpu_emulator *dev)
{
    penta_bytes left = writer_view(&dev->line);
    while (left.size && !dev->line.failed) {
        ssize_t n = write(dev->trace, left.data, left.size);
        if (n <= 0) break; /* If the disk is full, lines are lost, but the call continues. */
        left = bytes_slice(left, (size_t)n, left.size);
    }
    dev->line.out.size = 0;
    dev->line.failed = false;
}

bool trace_open(gpu_emulator *dev, const gpu_emulator_options *opt)
{
    dev->trace = -1;
    if (!opt->trace_path) return true;
    dev->trace = open(opt->trace_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (dev->trace < 0) return false;
    struct json line = {.out = &dev->line};
    json_object(&line, NULL);
    json_text(&line, "trace", "penta.gpu/1");
    json_uint(&line, "mode", opt->mode);
    json_word(&line, "seed", opt->seed);
    json_uint(&line, "memory_limit", opt->memory_limit);
    json_uint(&line, "max_instructions", opt->max_instructions);
    json_uint(&line, "max_tasks", opt->max_tasks);
    json_uint(&line, "flags", opt->flags);
    json_uint(&line, "task_wall_ms", opt->task_wall_ms);
    json_finish(&line);
    trace_flush(dev);
    return true;
}

struct json trace_begin(gpu_emulator *dev, const char *call)
{
    struct json line = {.out = &dev->line};
    json_object(&line, NULL);
    json_text(&line, "call", call);
    json_object(&line, "args");
    return line;
}

void trace_status(struct json *line, gpu_status status)
{
    json_end(line);
    json_text(line, "status", gpu_status_string(status));
}

void trace_end(gpu_emulator *dev, struct json *line)
{
    json_finish(line);
    trace_flush(dev);
}

void trace_plain(gpu_emulator *dev, const char *call, gpu_status status)
{
    if (dev->trace < 0) return;
    struct json line = trace_begin(dev, call);
    trace_status(&line, status);
    trace_end(dev, &line);
}

void trace_close(gpu_emulator *dev)
{
    if (dev->trace >= 0) close(dev->trace);
    dev->trace = -1;
    writer_free(&dev->line);
}
