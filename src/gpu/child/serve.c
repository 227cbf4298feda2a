/* The command loop receives commands, dispatches and answers them. It ends on Shutdown or when
 * the channel closes. */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "gpu/child/device.h"

enum { STAGING_KEPT = 64 << 20 };

bool device_init(struct device *d, int trace)
{
    *d = (struct device){.trace = trace, .opened = clock_ms()};
#define SETTING(number, name, standard, largest) d->settings.name = (uint64_t)(standard);
#include "gpu/protocol.def"
    d->memory.limit = d->settings.memory_limit;
    d->done = eventfd(0, EFD_CLOEXEC);
    return d->done >= 0 && lock_init(&d->lock);
}

void device_fini(struct device *d)
{
    device_reset(d);
    if (d->trace >= 0) events_flush(d);
    shadow_fini(d);
    lock_fini(&d->lock);
    close(d->done);
    writer_free(&d->reply);
    writer_free(&d->events);
    free(d->staging);
    free(d->faults);
    free(d->runnable);
    free(d->sleeping);
}

bool device_stage(struct device *d, uint64_t size)
{
    if (size <= d->staging_size) return true;
    free(d->staging);
    d->staging = malloc((size_t)size);
    d->staging_size = d->staging ? (size_t)size : 0;
    return d->staging != NULL;
}

/* Decides where the bytes of a Write go. A Write to a bad range is refused before memory is used
 * for its bytes. While no task can run, *at is the place in device memory, and the bytes are
 * received directly there, which saves a copy. Otherwise *at stays NULL and the bytes go to a
 * buffer first, because no lock may be held while a channel blocks. */
static gpu_status write_target(struct device *d, const struct wire_request *request, uint8_t **at)
{
    lock_host(d);
    gpu_status status = device_check_range(d, request->ptr, request->size, GPU_ERR_WRITE);
    if (!status && (device_deterministic(d) || !d->alive_count)) {
        const struct kblob_region *r = kblob_memory_find(&d->memory, request->ptr);
        *at = r->bytes + (request->ptr - r->base);
    }
    device_unlock(d);
    return status;
}

/* Returns how many bytes of a payload are kept. For a blob that is too large, one byte more than
 * allowed is enough to refuse it. */
static uint64_t kept_bytes(const struct wire_request *request)
{
    uint64_t most = request->command == COMMAND_REGISTER_KERNEL ? KBLOB_BYTES_MAX + 1 : UINT64_MAX;
    return request->size < most ? request->size : most;
}

/* Receives the payload into *payload and returns GPU_OK. Any other status is the answer to the
 * command, and the payload is skipped. */
static gpu_status receive_payload(struct device *d, const struct wire_request *request,
                                  penta_bytes *payload, enum transport *t)
{
    uint64_t kept = kept_bytes(request);
    uint8_t *to = NULL;
    gpu_status refuse = request->size > d->settings.transfer_limit ? GPU_ERR_LIMIT_EXCEEDED
                        : !d->ready                                ? GPU_ERR_NOT_READY
                                                                   : GPU_OK;
    if (!refuse && request->command == COMMAND_WRITE) refuse = write_target(d, request, &to);
    if (!refuse && !to && !device_stage(d, kept)) refuse = GPU_ERR_ALLOCATION_FAILED;
    if (refuse) {
        *t = channel_drain(d->channel, request->size);
        return refuse;
    }
    if (!to) to = d->staging;
    *payload = (penta_bytes){to, (size_t)kept};
    *t = channel_read(d->channel, to, (size_t)kept);
    if (!*t) *t = channel_drain(d->channel, request->size - kept);
    return GPU_OK;
}

void device_serve(struct device *d, struct channel *channel)
{
    d->channel = channel;
    struct wire_request request;
    while (!d->ended && channel_receive_request(channel, &request) == TRANSPORT_SUCCESS) {
        penta_bytes payload = {NULL, 0}, data = {NULL, 0};
        enum transport t = TRANSPORT_SUCCESS;
        gpu_status status = GPU_OK;
        if (command_has_payload(request.command))
            status = receive_payload(d, &request, &payload, &t);
        if (t) break;
        if (!status) status = device_command(d, &request, payload, &data);
        if (channel_send_response(channel, status, data)) break;
        if (d->staging_size > STAGING_KEPT) {
            free(d->staging);
            d->staging = NULL;
            d->staging_size = 0;
        }
    }
    d->channel = NULL;
}
