/* Implements the calls of gpu_emulator.h on an open device. Each sends a request, writes a line
 * of the trace and returns the result. */
#include <stdlib.h>
#include "base/codec/checksum.h"
#include "gpu/host/emulator.h"

enum { WAIT_SLICE_MS = 50 };

/* Makes a call that has at most one argument. If `name` is NULL, it is a part of another call
 * and writes no line of the trace. */
static gpu_status calls_simple(gpu_emulator *dev, struct wire_request request, const char *name,
                               const char *arg, uint64_t value, void *into, size_t size)
{
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    status = emulator_exchange(dev, &request, NULL, into, size);
    if (dev->trace >= 0 && name) {
        struct json line = trace_begin(dev, name);
        if (arg) json_word(&line, arg, value);
        trace_status(&line, status);
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_alloc(gpu_emulator *dev, uint64_t size, uint64_t *ptr)
{
    if (!ptr) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    uint8_t base[8];
    struct wire_request request = {.command = COMMAND_ALLOC, .size = size};
    status = emulator_exchange(dev, &request, NULL, base, sizeof base);
    if (!status) *ptr = bytes_get64(base);
    if (dev->trace >= 0) {
        struct json line = trace_begin(dev, "alloc");
        json_word(&line, "size", size);
        trace_status(&line, status);
        if (!status) json_word(&line, "ptr", *ptr);
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_alloc_at(gpu_emulator *dev, uint64_t base, uint64_t size)
{
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    uint8_t echo[8];
    struct wire_request request = {.command = COMMAND_ALLOC_AT, .size = size, .ptr = base};
    status = emulator_exchange(dev, &request, NULL, echo, sizeof echo);
    if (dev->trace >= 0) {
        struct json line = trace_begin(dev, "alloc_at");
        json_word(&line, "base", base);
        json_word(&line, "size", size);
        trace_status(&line, status);
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_free(gpu_emulator *dev, uint64_t ptr)
{
    struct wire_request request = {.command = COMMAND_FREE, .ptr = ptr};
    return calls_simple(dev, request, "free", "ptr", ptr, NULL, 0);
}

gpu_status gpu_emulator_write(gpu_emulator *dev, uint64_t dst, const void *src, uint64_t size)
{
    if (size && !src) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    struct wire_request request = {.command = COMMAND_WRITE, .size = size, .ptr = dst};
    /* The device would refuse the transfer as well, but only after receiving all of its bytes. */
    status = size > TRANSFER_LIMIT ? GPU_ERR_LIMIT_EXCEEDED
                                   : emulator_exchange(dev, &request, src, NULL, 0);
    if (dev->trace >= 0 && size <= TRANSFER_LIMIT) {
        struct json line = trace_begin(dev, "write");
        json_word(&line, "dst", dst);
        json_hex(&line, "bytes", (penta_bytes){src, (size_t)size});
        trace_status(&line, status);
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_read(gpu_emulator *dev, uint64_t src, void *dst, uint64_t size)
{
    static uint8_t nothing;
    if (size && !dst) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    struct wire_request request = {.command = COMMAND_READ, .size = size, .ptr = src};
    if (size > SIZE_MAX) size = SIZE_MAX;
    status = emulator_exchange(dev, &request, NULL, dst ? dst : &nothing, (size_t)size);
    if (dev->trace >= 0) {
        struct json line = trace_begin(dev, "read");
        json_word(&line, "src", src);
        json_word(&line, "size", size);
        trace_status(&line, status);
        if (!status) json_word(&line, "crc32", checksum_crc32((penta_bytes){dst, (size_t)size}));
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_memory_size(gpu_emulator *dev, uint64_t base, uint64_t *size)
{
    if (!size) return GPU_ERR_INVALID_ARGUMENT;
    uint8_t data[8];
    struct wire_request request = {.command = COMMAND_MEMORY_SIZE, .ptr = base};
    gpu_status status = calls_simple(dev, request, "memory_size", "base", base, data, sizeof data);
    if (!status) *size = bytes_get64(data);
    return status;
}

/* Fetches the rows of a response into dev->reply. If the size of the response is not a whole
 * number of rows, the device is lost. */
static gpu_status fetch_rows(gpu_emulator *dev, uint32_t command, size_t row_bytes)
{
    struct wire_request request = {.command = command};
    gpu_status status = emulator_exchange(dev, &request, NULL, NULL, 0);
    if (!status && dev->reply.failed) return GPU_ERR_ALLOCATION_FAILED;
    if (!status && dev->reply.out.size % row_bytes)
        return emulator_lose(dev, TRANSPORT_PROTOCOL, command);
    return status;
}

/* Defines a function FUNCTION(dev, out, max, count), which copies rows of a wire record into the
 * public struct. */
#define LIST(function, type, record, command, name, copy)                                          \
    gpu_status function(gpu_emulator *dev, type *out, size_t max, size_t *count)                   \
    {                                                                                              \
        if (!count || (max && !out)) return GPU_ERR_INVALID_ARGUMENT;                              \
        gpu_status status = emulator_enter(dev);                                                   \
        if (status) return status;                                                                 \
        status = fetch_rows(dev, command, record##_bytes);                                         \
        *count = status ? 0 : dev->reply.out.size / record##_bytes;                                \
        penta_error err = {0};                                                                     \
        struct reader r = {.in = writer_view(&dev->reply), .err = &err};                           \
        for (size_t i = 0; i < *count && i < max; i++) {                                           \
            struct record row;                                                                     \
            record##_read(&r, &row);                                                               \
            copy;                                                                                  \
        }                                                                                          \
        trace_plain(dev, name, status);                                                            \
        return emulator_leave(dev, status);                                                        \
    }

LIST(gpu_emulator_leaks, gpu_range, wire_range, COMMAND_LEAKS, "leaks",
     (out[i] = (gpu_range){row.base, row.size}))
LIST(gpu_emulator_kernels, gpu_kernel_info, wire_kernel, COMMAND_KERNEL_LIST, "kernels",
     (out[i].id = row.id, out[i].blob_size = row.blob_size,
      memcpy(out[i].sha256, row.sha256, sizeof row.sha256)))
LIST(gpu_emulator_races, gpu_race, wire_race, COMMAND_RACES, "races",
     (out[i] = (gpu_race){row.launch_a, row.index_a, row.launch_b, row.index_b, row.address,
                          row.length, row.kind, row.benign}))

LIST(gpu_emulator_race_threads, gpu_race_threads, wire_race_threads, COMMAND_RACE_THREADS,
     "race_threads",
     (out[i] = (gpu_race_threads){row.launch_a, row.index_a, row.block_a, row.thread_a,
                                  row.launch_b, row.index_b, row.block_b, row.thread_b, row.address,
                                  row.length, row.kind, row.benign}))

/* The device forgets faults once they are fetched, so dev->faults keeps those that the caller
 * has not taken yet. */
static gpu_status fetch_faults(gpu_emulator *dev)
{
    gpu_status status = fetch_rows(dev, COMMAND_FAULTS, wire_fault_bytes);
    size_t more = status ? 0 : dev->reply.out.size / wire_fault_bytes;
    if (!more) return status;
    struct wire_fault *faults = realloc(dev->faults, (dev->fault_count + more) * sizeof *faults);
    if (!faults) return GPU_ERR_ALLOCATION_FAILED;
    dev->faults = faults;
    penta_error err = {0};
    struct reader r = {.in = writer_view(&dev->reply), .err = &err};
    for (; more; more--) wire_fault_read(&r, &faults[dev->fault_count++]);
    return GPU_OK;
}

gpu_status gpu_emulator_faults(gpu_emulator *dev, gpu_fault *out, size_t max, size_t *count)
{
    if (!count || (max && !out)) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    status = fetch_faults(dev);
    *count = status ? 0 : dev->fault_count;
    size_t given = *count < max ? *count : max;
    for (size_t i = 0; i < given; i++) {
        const struct wire_fault *f = &dev->faults[i];
        out[i] =
            (gpu_fault){f->launch_id, f->kernel_id, f->instruction,  f->opcode,       f->kind,   0,
                        f->address,   f->length,    f->nearest_base, f->nearest_size, f->time_ms};
    }
    if (given) {
        dev->fault_count -= given;
        memmove(dev->faults, dev->faults + given, dev->fault_count * sizeof *dev->faults);
    }
    trace_plain(dev, "faults", status);
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_register_kernel(gpu_emulator *dev, uint64_t kernel_id, const void *blob,
                                        size_t size)
{
    if (kernel_id > UINT32_MAX || (size && !blob)) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    struct wire_request request = {COMMAND_REGISTER_KERNEL, (uint32_t)kernel_id, size, 0};
    status = size > TRANSFER_LIMIT ? GPU_ERR_LIMIT_EXCEEDED
                                   : emulator_exchange(dev, &request, blob, NULL, 0);
    if (dev->trace >= 0 && size <= TRANSFER_LIMIT) {
        struct json line = trace_begin(dev, "register_kernel");
        json_uint(&line, "kernel", kernel_id);
        json_hex(&line, "blob", (penta_bytes){blob, size});
        trace_status(&line, status);
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_unregister_kernel(gpu_emulator *dev, uint64_t kernel_id)
{
    if (kernel_id > UINT32_MAX) return GPU_ERR_INVALID_ARGUMENT;
    struct wire_request request = {.command = COMMAND_KERNEL_FREE, .kernelId = (uint32_t)kernel_id};
    return calls_simple(dev, request, "unregister_kernel", "kernel", kernel_id, NULL, 0);
}

/* Sends a launch and reads its id. Both kinds of launch end their trace lines with this. */
static gpu_status exchange_launch(gpu_emulator *dev, struct wire_request *request,
                                  const void *payload, uint32_t *launch_id)
{
    uint8_t id[4] = {0};
    gpu_status status = request->size > TRANSFER_LIMIT
                            ? GPU_ERR_LIMIT_EXCEEDED
                            : emulator_exchange(dev, request, payload, id, sizeof id);
    if (status) return status;
    dev->newest = bytes_get32(id);
    if (launch_id) *launch_id = dev->newest;
    return GPU_OK;
}

static void end_launch_line(gpu_emulator *dev, struct json *line, penta_bytes args,
                            gpu_status status)
{
    json_hex(line, "args", args);
    trace_status(line, status);
    if (!status) json_uint(line, "launch", dev->newest);
    trace_end(dev, line);
}

gpu_status gpu_emulator_launch_task(gpu_emulator *dev, uint64_t kernel_id, const void *args,
                                    size_t args_size, uint32_t *launch_id)
{
    if (kernel_id > UINT32_MAX || (args_size && !args)) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    struct wire_request request = {COMMAND_LAUNCH_TASK, (uint32_t)kernel_id, args_size, 0};
    status = exchange_launch(dev, &request, args, launch_id);
    if (dev->trace >= 0 && args_size <= TRANSFER_LIMIT) {
        struct json line = trace_begin(dev, "launch_task");
        json_uint(&line, "kernel", kernel_id);
        end_launch_line(dev, &line, (penta_bytes){args, args_size}, status);
    }
    return emulator_leave(dev, status);
}

static uint32_t grid_size(const uint32_t size[3], int i) { return size[i] ? size[i] : 1; }

gpu_status gpu_emulator_launch_grid(gpu_emulator *dev, uint64_t kernel_id, const gpu_grid *grid,
                                    const void *args, size_t args_size, uint32_t *launch_id)
{
    if (kernel_id > UINT32_MAX || !grid || (args_size && !args)) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    const uint32_t *b = grid->blocks, *t = grid->threads;
    struct wire_grid record = {grid_size(b, 0), grid_size(b, 1), grid_size(b, 2), grid_size(t, 0),
                               grid_size(t, 1), grid_size(t, 2), grid->shared,    0};
    struct writer payload = {0};
    wire_grid_write(&payload, &record);
    if (args_size <= TRANSFER_LIMIT) writer_bytes(&payload, args, args_size);
    struct wire_request request = {COMMAND_LAUNCH_GRID, (uint32_t)kernel_id,
                                   (uint64_t)wire_grid_bytes + args_size, 0};
    status = payload.failed ? GPU_ERR_ALLOCATION_FAILED
                            : exchange_launch(dev, &request, payload.out.data, launch_id);
    writer_free(&payload);
    if (dev->trace >= 0 && args_size <= TRANSFER_LIMIT) {
        struct json line = trace_begin(dev, "launch_grid");
        json_uint(&line, "kernel", kernel_id);
        static const char *const names[] = {"blocks_x",  "blocks_y",  "blocks_z",
                                            "threads_x", "threads_y", "threads_z"};
        for (int i = 0; i < 3; i++) json_uint(&line, names[i], grid_size(b, i));
        for (int i = 0; i < 3; i++) json_uint(&line, names[3 + i], grid_size(t, i));
        json_uint(&line, "shared", grid->shared);
        end_launch_line(dev, &line, (penta_bytes){args, args_size}, status);
    }
    return emulator_leave(dev, status);
}

gpu_status gpu_emulator_task_grid(gpu_emulator *dev, uint32_t launch_id, gpu_task_grid *out)
{
    if (!out) return GPU_ERR_INVALID_ARGUMENT;
    uint8_t data[wire_task_grid_bytes];
    struct wire_request request = {.command = COMMAND_TASK_GRID, .kernelId = launch_id};
    gpu_status status =
        calls_simple(dev, request, "task_grid", "launch", launch_id, data, sizeof data);
    struct wire_task_grid g;
    penta_error err = {0};
    struct reader r = {.in = {data, sizeof data}, .err = &err};
    if (status) return status;
    wire_task_grid_read(&r, &g);
    *out = (gpu_task_grid){
        {{g.blocks_x, g.blocks_y, g.blocks_z}, {g.threads_x, g.threads_y, g.threads_z}, g.shared},
        g.threads,
        g.ended,
        g.fault_block,
        g.fault_thread};
    return GPU_OK;
}

gpu_status gpu_emulator_stop_task(gpu_emulator *dev, uint32_t launch_id)
{
    struct wire_request request = {.command = COMMAND_TASK_STOP, .kernelId = launch_id};
    return calls_simple(dev, request, "stop_task", "launch", launch_id, NULL, 0);
}

static gpu_status fetch_task(gpu_emulator *dev, uint32_t launch_id, const char *name,
                             struct wire_task *out)
{
    uint8_t data[wire_task_bytes];
    struct wire_request request = {.command = COMMAND_TASK_INFO, .kernelId = launch_id};
    gpu_status status = calls_simple(dev, request, name, "launch", launch_id, data, sizeof data);
    penta_error err = {0};
    struct reader r = {.in = {data, sizeof data}, .err = &err};
    if (!status) wire_task_read(&r, out);
    return status;
}

gpu_status gpu_emulator_task_info(gpu_emulator *dev, uint32_t launch_id, gpu_task_info *out)
{
    struct wire_task t;
    if (!out) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = fetch_task(dev, launch_id, "task_info", &t);
    if (!status)
        *out = (gpu_task_info){
            t.launch_id, t.kernel_id,   t.state,        t.flags,        t.instructions,
            t.last_read, t.instruction, t.opcode,       t.kind,         0,
            t.address,   t.length,      t.nearest_base, t.nearest_size, t.slept_ms};
    return status;
}

gpu_status gpu_emulator_task_args(gpu_emulator *dev, uint32_t launch_id, void *out, size_t max,
                                  size_t *size)
{
    if (!size || (max && !out)) return GPU_ERR_INVALID_ARGUMENT;
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    struct wire_request request = {.command = COMMAND_TASK_ARGS, .kernelId = launch_id};
    status = emulator_exchange(dev, &request, NULL, NULL, 0);
    if (!status && dev->reply.failed) status = GPU_ERR_ALLOCATION_FAILED;
    *size = status ? 0 : dev->reply.out.size;
    size_t n = *size < max ? *size : max;
    if (n) memcpy(out, dev->reply.out.data, n);
    if (dev->trace >= 0) {
        struct json line = trace_begin(dev, "task_args");
        json_word(&line, "launch", launch_id);
        trace_status(&line, status);
        trace_end(dev, &line);
    }
    return emulator_leave(dev, status);
}

struct waiting {
    const char *name; /* name of the call, for the trace */
    uint32_t launch, newest;
    uint32_t deadline_ms;
};

static void trace_waiting(gpu_emulator *dev, const struct waiting *w, gpu_status status)
{
    if (dev->trace < 0) return;
    struct json line = trace_begin(dev, w->name);
    if (w->launch && w->launch != WAIT_FENCE) json_word(&line, "launch", w->launch);
    json_uint(&line, "ms", w->deadline_ms);
    trace_status(&line, status);
    trace_end(dev, &line);
}

/* Waits for tasks. In THREADS mode time is real and calls of other threads must get through, so
 * the wait is made of short slices. In the other modes the device computes its time, and one
 * request is enough. */
static gpu_status wait_for_tasks(gpu_emulator *dev, struct waiting w)
{
    uint64_t start = clock_ms();
    for (;;) {
        gpu_status status = emulator_enter(dev);
        if (status) return status;
        bool forever = w.deadline_ms == WAIT_FOREVER;
        uint64_t passed = clock_ms() - start, left = forever ? WAIT_FOREVER : w.deadline_ms;
        if (dev->mode == GPU_MODE_THREADS) {
            if (!forever) left = passed < left ? left - passed : 0;
            if (left > WAIT_SLICE_MS) left = WAIT_SLICE_MS;
        }
        uint8_t running[4];
        struct wire_request request = {COMMAND_WAIT, w.launch, left, w.newest};
        status = emulator_exchange(dev, &request, NULL, running, sizeof running);
        bool more = status == GPU_ERR_TIMEOUT && !dev->lost && dev->mode == GPU_MODE_THREADS &&
                    (forever || clock_ms() - start < w.deadline_ms);
        if (!more) trace_waiting(dev, &w, status);
        emulator_leave(dev, status);
        if (!more) return status;
    }
}

gpu_status gpu_emulator_wait(gpu_emulator *dev, uint32_t deadline_ms)
{
    return wait_for_tasks(dev, (struct waiting){.name = "wait", .deadline_ms = deadline_ms});
}

gpu_status gpu_emulator_wait_task(gpu_emulator *dev, uint32_t launch_id, uint32_t deadline_ms)
{
    if (!launch_id ||
        launch_id == WAIT_FENCE) { /* These two numbers have a special meaning on the wire. */
        gpu_status status = emulator_enter(dev);
        if (status) return status;
        return emulator_leave(dev, GPU_ERR_TASK_NOT_FOUND);
    }
    struct waiting w = {.name = "wait_task", .launch = launch_id, .deadline_ms = deadline_ms};
    struct wire_task task;
    gpu_status status = wait_for_tasks(dev, w);
    if (!status) status = fetch_task(dev, launch_id, NULL, &task);
    return status ? status : task.state == GPU_TASK_FAULTED ? GPU_ERR_TASK_FAULT : GPU_OK;
}

gpu_status gpu_emulator_barrier(gpu_emulator *dev)
{
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    uint32_t newest = dev->newest;
    emulator_leave(dev, GPU_OK);
    struct waiting w = {.name = "barrier", .newest = newest, .deadline_ms = WAIT_FOREVER};
    return wait_for_tasks(dev, w);
}

gpu_status gpu_emulator_memfence(gpu_emulator *dev)
{
    return wait_for_tasks(dev, (struct waiting){.name = "memfence", .launch = WAIT_FENCE});
}

gpu_status gpu_emulator_yield(gpu_emulator *dev)
{
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    trace_plain(dev, "yield", GPU_OK);
    return emulator_leave(dev, GPU_OK);
}

gpu_status gpu_emulator_reset(gpu_emulator *dev)
{
    gpu_status status = emulator_enter(dev);
    if (status) return status;
    struct wire_request request = {.command = COMMAND_RESET};
    status = emulator_exchange(dev, &request, NULL, NULL, 0);
    if (!status) dev->newest = 0, dev->fault_count = 0;
    trace_plain(dev, "reset", status);
    return emulator_leave(dev, status);
}
