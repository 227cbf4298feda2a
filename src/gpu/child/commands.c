/* Executes the commands of the device. Each command has one function here. */
#include <stdlib.h>
#include "gpu/child/device.h"

struct call {
    struct device *d;
    const struct wire_request *request;
    penta_bytes payload, data; /* data: the data of the answer; if it is empty, d->reply is used */
};

gpu_status device_check_range(const struct device *d, uint64_t address, uint64_t size,
                              gpu_status outside)
{
    switch (kblob_memory_classify(&d->memory, address, size)) {
    case KBLOB_FAULT_NONE: return GPU_OK;
    case KBLOB_FAULT_OUT_OF_BOUNDS: return outside;
    default: return GPU_ERR_INVALID_POINTER;
    }
}

static void answer_uint(struct call *c, uint64_t value, size_t bytes)
{
    writer_uint(&c->d->reply, value, bytes);
}

static gpu_status on_ALLOC(struct call *c)
{
    struct device *d = c->d;
    d->allocated = true;
    uint64_t base = kblob_memory_alloc(&d->memory, c->request->size);
    if (!base) return GPU_ERR_ALLOCATION_FAILED;
    shadow_alloc(d, base, c->request->size);
    answer_uint(c, base, 8);
    return GPU_OK;
}

static gpu_status on_ALLOC_AT(struct call *c)
{
    struct device *d = c->d;
    d->allocated = true;
    if (!kblob_memory_alloc_at(&d->memory, c->request->ptr, c->request->size))
        return GPU_ERR_ALLOCATION_FAILED;
    shadow_alloc(d, c->request->ptr, c->request->size);
    answer_uint(c, c->request->ptr, 8);
    return GPU_OK;
}

static gpu_status on_FREE(struct call *c)
{
    if (!kblob_memory_release(&c->d->memory, c->request->ptr)) return GPU_ERR_INVALID_POINTER;
    shadow_free(c->d, c->request->ptr);
    return GPU_OK;
}

static gpu_status on_WRITE(struct call *c)
{
    struct device *d = c->d;
    uint64_t address = c->request->ptr;
    gpu_status status = device_check_range(d, address, c->payload.size, GPU_ERR_WRITE);
    if (status) return status;
    const struct kblob_region *r = kblob_memory_find(&d->memory, address);
    uint8_t *at = r->bytes + (address - r->base);
    /* While no task runs, serve.c receives the bytes directly into device memory. */
    if (c->payload.size && c->payload.data != at) bytes_copy(at, c->payload);
    shadow_write(d, address, c->payload.size);
    return GPU_OK;
}

static gpu_status on_READ(struct call *c)
{
    struct device *d = c->d;
    uint64_t address = c->request->ptr, size = c->request->size;
    gpu_status status = device_check_range(d, address, size, GPU_ERR_READ);
    if (status) return status;
    if (size > d->settings.transfer_limit) return GPU_ERR_LIMIT_EXCEEDED;
    const struct kblob_region *r = kblob_memory_find(&d->memory, address);
    c->data = (penta_bytes){r->bytes + (address - r->base), (size_t)size};
    if (device_deterministic(d) || !d->alive_count)
        return GPU_OK; /* No task runs that could change the memory. */
    if (!device_stage(d, (size_t)size)) return GPU_ERR_ALLOCATION_FAILED;
    if (size) memcpy(d->staging, c->data.data, (size_t)size);
    c->data.data = d->staging;
    return GPU_OK;
}

static gpu_status on_MEMORY_SIZE(struct call *c)
{
    const struct kblob_region *r = kblob_memory_find(&c->d->memory, c->request->ptr);
    if (!r || r->base != c->request->ptr) return GPU_ERR_INVALID_POINTER;
    answer_uint(c, r->size, 8);
    return GPU_OK;
}

static gpu_status on_LEAKS(struct call *c)
{
    for (size_t i = 0; i < c->d->memory.count; i++) {
        const struct kblob_region *r = &c->d->memory.regions[i];
        struct wire_range range = {r->base, r->size};
        wire_range_write(&c->d->reply, &range);
    }
    return GPU_OK;
}

/* Only the command loop uses the table of kernels, so the functions below need no lock. */

static gpu_status on_REGISTER_KERNEL(struct call *c)
{
    struct wire_refusal refusal = {0, NO_INDEX};
    gpu_status status = kernels_register(c->d, c->request->kernelId, c->payload, &refusal);
    if (status == GPU_ERR_INVALID_KERNEL_BLOB) wire_refusal_write(&c->d->reply, &refusal);
    return status;
}

static gpu_status on_KERNEL_FREE(struct call *c)
{
    return kernels_remove(c->d, c->request->kernelId) ? GPU_OK : GPU_ERR_KERNEL_NOT_FOUND;
}

static gpu_status on_KERNEL_LIST(struct call *c)
{
    for (size_t i = 0; i < c->d->kernel_count; i++) {
        const struct kernel *k = c->d->kernels[i];
        struct wire_kernel row = {.id = k->id, .blob_size = k->blob_size};
        memcpy(row.sha256, k->sha256, sizeof row.sha256);
        wire_kernel_write(&c->d->reply, &row);
    }
    return GPU_OK;
}

static gpu_status commands_start(struct device *d, struct run *run)
{
    switch (d->settings.mode) {
    case GPU_MODE_SERIAL: return serial_run(d, run);
    case GPU_MODE_SEEDED: return seeded_add(d, run) ? GPU_OK : GPU_ERR_THREAD_LAUNCH;
    default: return threads_launch(d, run);
    }
}

static gpu_status launch_locked(struct call *c, struct kernel *kernel,
                                const struct kblob_launch *how)
{
    struct device *d = c->d;
    if (d->alive_count >= d->settings.max_tasks) return GPU_ERR_LIMIT_EXCEEDED;
    struct run *run = tasks_new(d, kernel, how);
    if (!run) return GPU_ERR_THREAD_LAUNCH;
    uint32_t number = d->task_count;
    gpu_status status = commands_start(d, run);
    if (status) {
        tasks_drop(d, run);
        return status;
    }
    shadow_launch(d, number);
    answer_uint(c, number, 4);
    return GPU_OK;
}

static gpu_status commands_launch(struct call *c, struct kernel *kernel,
                                  const struct kblob_launch *how)
{
    struct device *d = c->d;
    if (!device_deterministic(d)) threads_join(d);
    lock_host(d);
    gpu_status status = launch_locked(c, kernel, how);
    device_unlock(d);
    return status;
}

static gpu_status on_LAUNCH_TASK(struct call *c)
{
    struct kernel *kernel = kernels_find(c->d, c->request->kernelId);
    if (!kernel) return GPU_ERR_KERNEL_NOT_FOUND;
    struct kblob_launch one = {{1, 1, 1}, {1, 1, 1}, 0, c->payload};
    return commands_launch(c, kernel, &one);
}

static gpu_status on_LAUNCH_GRID(struct call *c)
{
    struct kernel *kernel = kernels_find(c->d, c->request->kernelId);
    penta_error err = {0};
    struct reader r = {.in = c->payload, .err = &err};
    struct wire_grid grid;
    wire_grid_read(&r, &grid);
    if (err.code || grid.zero) return GPU_ERR_INVALID_ARGUMENT;
    if (!kernel) return GPU_ERR_KERNEL_NOT_FOUND;
    struct kblob_launch how = {{grid.blocks_x, grid.blocks_y, grid.blocks_z},
                               {grid.threads_x, grid.threads_y, grid.threads_z},
                               grid.shared,
                               bytes_slice(c->payload, wire_grid_bytes, c->payload.size)};
    if (!kblob_launch_fits(&how, &err))
        return err.code == BASE_LIMIT ? GPU_ERR_LIMIT_EXCEEDED : GPU_ERR_INVALID_ARGUMENT;
    if (!kernel->grid && !kblob_launch_single(&how)) return GPU_ERR_INVALID_ARGUMENT;
    return commands_launch(c, kernel, &how);
}

static gpu_status on_TASK_GRID(struct call *c)
{
    struct task *task = tasks_find(c->d, c->request->kernelId);
    if (!task) return GPU_ERR_TASK_NOT_FOUND;
    struct wire_task_grid record = tasks_grid(task);
    wire_task_grid_write(&c->d->reply, &record);
    tasks_observe(c->d, c->request->kernelId, 0);
    return GPU_OK;
}

static gpu_status on_WAIT(struct call *c)
{
    struct device *d = c->d;
    uint32_t launch = c->request->kernelId;
    uint32_t newest = c->request->ptr > UINT32_MAX ? 0 : (uint32_t)c->request->ptr;
    uint64_t ms = c->request->size >= WAIT_FOREVER ? UINT64_MAX : c->request->size;
    bool fence = launch == WAIT_FENCE;
    if (launch && !fence && launch > d->task_count) return GPU_ERR_TASK_NOT_FOUND;
    uint32_t left = 0;
    if (device_deterministic(d))
        left = seeded_wait(d, launch, newest, ms);
    else if (!fence)
        left = threads_wait(d, launch, newest, ms);
    lock_host(d);
    if (!left && !fence) tasks_observe(d, launch, newest);
    device_unlock(d);
    answer_uint(c, left, 4);
    return left ? GPU_ERR_TIMEOUT : GPU_OK;
}

static gpu_status on_TASK_INFO(struct call *c)
{
    struct task *task = tasks_find(c->d, c->request->kernelId);
    if (!task) return GPU_ERR_TASK_NOT_FOUND;
    struct wire_task record = tasks_record(task);
    wire_task_write(&c->d->reply, &record);
    tasks_observe(c->d, c->request->kernelId, 0);
    return GPU_OK;
}

static gpu_status on_TASK_STOP(struct call *c)
{
    struct device *d = c->d;
    lock_host(d);
    struct task *task = tasks_find(d, c->request->kernelId);
    struct run *run = task ? task->run : NULL;
    device_unlock(d);
    if (!task) return GPU_ERR_TASK_NOT_FOUND;
    if (!run) return GPU_OK;
    if (device_deterministic(d))
        seeded_cancel(d, run);
    else
        threads_cancel(d, c->request->kernelId);
    return GPU_OK;
}

static gpu_status on_TASK_ARGS(struct call *c)
{
    const struct task *task = tasks_find(c->d, c->request->kernelId);
    if (!task) return GPU_ERR_TASK_NOT_FOUND;
    c->data = (penta_bytes){task->args, task->args_size};
    return GPU_OK;
}

static gpu_status on_FAULTS(struct call *c)
{
    for (size_t i = 0; i < c->d->fault_count; i++) wire_fault_write(&c->d->reply, &c->d->faults[i]);
    c->d->fault_count = 0;
    return GPU_OK;
}

static gpu_status on_RACES(struct call *c)
{
    races_report(c->d, false, &c->d->reply);
    return GPU_OK;
}

static gpu_status on_RACE_THREADS(struct call *c)
{
    races_report(c->d, true, &c->d->reply);
    return GPU_OK;
}

static gpu_status on_INIT(struct call *c)
{
    c->d->ready = true; /* A second Init changes nothing. */
    return GPU_OK;
}

static void cancel_all(struct device *d)
{
    if (device_deterministic(d))
        seeded_cancel(d, NULL);
    else
        threads_cancel(d, 0);
}

void device_reset(struct device *d)
{
    cancel_all(d);
    tasks_clear(d);
    kernels_clear(d);
    kblob_memory_free(&d->memory);
    shadow_fini(d);
    shadow_init(d);
    d->fault_count = 0;
    d->clock = 0;
    d->random = d->settings.seed;
}

static gpu_status on_RESET(struct call *c)
{
    device_reset(c->d);
    return GPU_OK;
}

static gpu_status on_SHUTDOWN(struct call *c)
{
    cancel_all(c->d); /* Tasks end here, so that their last events come before the answer. */
    c->d->ended = true;
    return GPU_OK;
}

static bool commands_apply(struct settings *settings, const struct wire_setting *pair)
{
    switch (pair->option) {
#define SETTING(number, name, standard, largest)                                                   \
    case number:                                                                                   \
        if (pair->value > (uint64_t)(largest)) return false;                                       \
        settings->name = pair->value ? pair->value : (uint64_t)(standard);                         \
        return true;
#include "gpu/protocol.def"
    default: return false;
    }
}

/* Applies all pairs or none. The command is refused after the first allocation and while a task
 * runs. */
static gpu_status on_CONFIGURE(struct call *c)
{
    struct device *d = c->d;
    struct settings settings = d->settings;
    penta_error err = {0};
    struct reader r = {.in = c->payload, .err = &err};
    if (d->allocated || d->alive_count || c->payload.size % wire_setting_bytes)
        return GPU_ERR_INVALID_ARGUMENT;
    while (reader_left(&r)) {
        struct wire_setting pair;
        wire_setting_read(&r, &pair);
        if (!commands_apply(&settings, &pair)) return GPU_ERR_INVALID_ARGUMENT;
    }
    if (d->memory_cap && settings.memory_limit > d->memory_cap)
        settings.memory_limit = d->memory_cap;
    if (d->memory_cap && settings.transfer_limit > d->memory_cap)
        settings.transfer_limit = d->memory_cap;
    shadow_fini(d);
    d->settings = settings;
    d->memory.seed = d->random = settings.seed;
    d->memory.limit = settings.memory_limit;
    return shadow_init(d) ? GPU_OK : GPU_ERR_ALLOCATION_FAILED;
}

static const struct handler {
    gpu_status (*run)(struct call *c);
} handlers[] = {
#define COMMAND(number, name, ...) [number] = {on_##name},
#include "gpu/protocol.def"
};

/* Tells whether a command takes the lock itself: it waits for tasks, or uses nothing that tasks
 * share. */
static bool locks_itself(uint32_t command)
{
    switch (command) {
    case COMMAND_INIT:
    case COMMAND_REGISTER_KERNEL:
    case COMMAND_KERNEL_FREE:
    case COMMAND_KERNEL_LIST:
    case COMMAND_LAUNCH_TASK:
    case COMMAND_LAUNCH_GRID:
    case COMMAND_WAIT:
    case COMMAND_TASK_STOP:
    case COMMAND_RESET:
    case COMMAND_SHUTDOWN: return true;
    default: return false;
    }
}

gpu_status device_command(struct device *d, const struct wire_request *request, penta_bytes payload,
                          penta_bytes *data)
{
    struct call call = {.d = d, .request = request, .payload = payload};
    uint32_t command = request->command;
    *data = (penta_bytes){NULL, 0};
    if (command >= COMMANDS) return GPU_ERR_UNKNOWN;
    if (!d->ready && command != COMMAND_INIT && command != COMMAND_SHUTDOWN)
        return GPU_ERR_NOT_READY;
    d->reply.out.size = 0;
    d->reply.failed = false;
    bool lock = !locks_itself(command);
    if (lock) lock_host(d);
    gpu_status status = handlers[command].run(&call);
    if (d->trace >= 0) {
        if (!lock) lock_host(d);
        events_flush(d);
        if (!lock) device_unlock(d);
    }
    if (lock) device_unlock(d);
    if (d->reply.failed) return GPU_ERR_ALLOCATION_FAILED;
    *data = call.data.size ? call.data : writer_view(&d->reply);
    if (data->size <= d->settings.transfer_limit) return status;
    *data = (penta_bytes){NULL, 0};
    return GPU_ERR_LIMIT_EXCEEDED;
}
