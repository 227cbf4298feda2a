/* Implements the host's side of a device: opens it, exchanges messages with it, and shuts it
 * down. */
#include "gpu/host/emulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HANDSHAKE_MS = 10000, CALL_MS = 600000, SHUTDOWN_MS = 2000, EXIT_MS = 2000 };

/* The functions below let one thread at a time use the device. */

static void wait_for_others(gpu_emulator *dev)
{
    pthread_mutex_lock(&dev->mutex);
    uint64_t ticket = dev->next_ticket++;
    while (ticket != dev->serving) pthread_cond_wait(&dev->next_thread, &dev->mutex);
    pthread_mutex_unlock(&dev->mutex);
}

gpu_status emulator_leave(gpu_emulator *dev, gpu_status status)
{
    pthread_mutex_lock(&dev->mutex);
    bool others = ++dev->serving != dev->next_ticket;
    pthread_mutex_unlock(&dev->mutex);
    if (others) pthread_cond_broadcast(&dev->next_thread);
    return status;
}

gpu_status emulator_enter(gpu_emulator *dev)
{
    if (!dev) return GPU_ERR_NOT_READY;
    wait_for_others(dev);
    if (!dev->down && !dev->lost) return GPU_OK;
    gpu_status status = dev->down ? GPU_ERR_NOT_READY : GPU_ERR_DEVICE_LOST;
    return emulator_leave(dev, status);
}

/* The functions below exchange one request and its response. */

gpu_status emulator_lose(gpu_emulator *dev, enum transport why, uint32_t command)
{
    const char *name = command_name(command);
    int pid = (int)dev->child.pid;
    if (why == TRANSPORT_TIMEOUT && dev->channel.left_ms)
        snprintf(dev->failure, sizeof dev->failure,
                 "the device process %d did nothing for %d s when asked for %s, and was ended", pid,
                 CHANNEL_QUIET_MS / 1000, name);
    else if (why == TRANSPORT_TIMEOUT)
        snprintf(dev->failure, sizeof dev->failure,
                 "the device process %d took more than %lld ms for %s, and was ended", pid,
                 (long long)dev->patience_ms, name);
    else
        snprintf(dev->failure, sizeof dev->failure, "the device process %d %s %s%s", pid,
                 why == TRANSPORT_PROTOCOL ? "broke the protocol at" : "ended before its answer to",
                 name, why == TRANSPORT_PROTOCOL ? ", and was ended" : "");
    dev->lost = true;
    child_end(&dev->child, 0);
    return why == TRANSPORT_PROTOCOL ? GPU_ERR_PROTOCOL : GPU_ERR_DEVICE_LOST;
}

static bool child_works_still(void *user)
{
    gpu_emulator *dev = user;
    return child_works(&dev->child);
}

/* Receives a response in pieces, so that memory grows with the bytes that arrive and not with
 * the announced size. */
static enum transport receive_reply(gpu_emulator *dev, uint64_t size)
{
    enum { PIECE = 64 << 10 };
    uint8_t piece[PIECE];
    dev->reply.out.size = 0;
    dev->reply.failed = false;
    while (size) {
        size_t n = size < PIECE ? (size_t)size : PIECE;
        enum transport t = channel_read(&dev->channel, piece, n);
        if (t) return t;
        writer_bytes(&dev->reply, piece, n);
        size -= n;
    }
    return TRANSPORT_SUCCESS;
}

gpu_status emulator_exchange(gpu_emulator *dev, const struct wire_request *request,
                             const void *payload, void *into, size_t size)
{
    struct wire_response response;
    struct channel *c = &dev->channel;
    c->left_ms = dev->patience_ms;
    c->works = dev->patience_ms == CHANNEL_PATIENT ? NULL : child_works_still;
    enum transport t = channel_send_request(c, request, payload);
    if (!t) t = channel_receive_response(c, &response);
    if (t) return emulator_lose(dev, t, request->command);
    gpu_status status = (gpu_status)response.status;
    bool data = into && !status;
    if (response.status >= GPU_ERR_DEVICE_LOST ||
        (data ? response.size != size : response.size > TRANSFER_LIMIT))
        return emulator_lose(dev, TRANSPORT_PROTOCOL, request->command);
    t = data ? channel_read(c, into, size) : receive_reply(dev, response.size);
    return t ? emulator_lose(dev, t, request->command) : status;
}

static gpu_status emulator_configure(gpu_emulator *dev, const gpu_emulator_options *opt)
{
    const struct wire_setting pairs[] = {
        {SETTING_mode, opt->mode},
        {SETTING_seed, opt->seed},
        {SETTING_memory_limit, opt->memory_limit},
        {SETTING_max_instructions, opt->max_instructions},
        {SETTING_max_tasks, opt->max_tasks},
        {SETTING_flags, opt->flags},
        {SETTING_task_wall_ms, opt->task_wall_ms},
    };
    struct writer payload = {0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        wire_setting_write(&payload, &pairs[i]);
    struct wire_request request = {.command = COMMAND_CONFIGURE, .size = payload.out.size};
    gpu_status status = payload.failed
                            ? GPU_ERR_ALLOCATION_FAILED
                            : emulator_exchange(dev, &request, payload.out.data, NULL, 0);
    writer_free(&payload);
    return status;
}

static gpu_status emulator_start(gpu_emulator *dev, const gpu_emulator_options *opt)
{
    if (!child_start(&dev->child, opt->device_path, dev->trace)) {
        snprintf(dev->failure, sizeof dev->failure, "the process could not be started");
        return GPU_ERR_DEVICE_LOST;
    }
    if (!channel_init(&dev->channel, ROLE_HOST, dev->child.socket, dev->child.socket))
        return GPU_ERR_ALLOCATION_FAILED;
    dev->channel.user = dev;
    struct wire_request init = {.command = COMMAND_INIT};
    dev->patience_ms = HANDSHAKE_MS;
    gpu_status status = emulator_exchange(dev, &init, NULL, NULL, 0);
    if (!status) status = emulator_configure(dev, opt);
    dev->patience_ms = opt->call_ms ? opt->call_ms : CALL_MS;
    if (opt->call_ms == UINT32_MAX) dev->patience_ms = CHANNEL_PATIENT;
    return status;
}

static void emulator_release(gpu_emulator *dev)
{
    channel_fini(&dev->channel);
    trace_close(dev);
    writer_free(&dev->reply);
    free(dev->faults);
    pthread_cond_destroy(&dev->next_thread);
    pthread_mutex_destroy(&dev->mutex);
    free(dev);
}

gpu_status gpu_emulator_open(gpu_emulator **out, const gpu_emulator_options *opt)
{
    char failure[FAILURE_BYTES];
    return emulator_open(out, opt, failure);
}

gpu_status emulator_open(gpu_emulator **out, const gpu_emulator_options *opt, char *failure)
{
    *failure = 0;
    static const gpu_emulator_options defaults;
    if (!out) return GPU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!opt) opt = &defaults;
    gpu_emulator *dev = calloc(1, sizeof *dev);
    if (!dev) return GPU_ERR_ALLOCATION_FAILED;
    pthread_mutex_init(&dev->mutex, NULL);
    pthread_cond_init(&dev->next_thread, NULL);
    dev->mode = opt->mode;
    dev->child.socket = -1;
    gpu_status status = trace_open(dev, opt) ? emulator_start(dev, opt) : GPU_ERR_INVALID_ARGUMENT;
    if (status) {
        memcpy(failure, dev->failure, sizeof dev->failure);
        child_end(&dev->child, 0);
        emulator_release(dev);
        return status;
    }
    *out = dev;
    return GPU_OK;
}

gpu_status gpu_emulator_shutdown(gpu_emulator *dev)
{
    if (!dev) return GPU_ERR_NOT_READY;
    wait_for_others(dev);
    if (!dev->down) {
        struct wire_request request = {.command = COMMAND_SHUTDOWN};
        if (!dev->lost) {
            dev->patience_ms = SHUTDOWN_MS;
            emulator_exchange(dev, &request, NULL, NULL, 0);
            trace_plain(dev, "shutdown", GPU_OK);
        }
        child_end(&dev->child, dev->lost ? 0 : EXIT_MS);
        trace_close(dev);
        dev->down = true;
    }
    return emulator_leave(dev, GPU_OK);
}

void gpu_emulator_close(gpu_emulator *dev)
{
    if (!dev) return;
    gpu_emulator_shutdown(dev);
    emulator_release(dev);
}

const char *gpu_emulator_failure(gpu_emulator *dev)
{
    if (!dev) return "";
    wait_for_others(dev);
    emulator_leave(dev, GPU_OK);
    return dev->failure; /* The text is written at most once. */
}

int64_t gpu_emulator_process_id(gpu_emulator *dev)
{
    if (emulator_enter(dev)) return -1;
    int64_t pid = dev->child.pid;
    emulator_leave(dev, GPU_OK);
    return pid;
}
