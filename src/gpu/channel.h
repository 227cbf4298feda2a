/* Channels carry bytes between host and device, over file descriptors or, in tests, over bytes
 * in memory. Each channel has a role, so that no side can send what only the other side may
 * send. A channel transfers whole messages: it continues short reads and writes. */
#pragma once
#include "gpu/protocol.h"

/* clang-format off */
enum transport {
    TRANSPORT_SUCCESS, TRANSPORT_CLOSED, TRANSPORT_IO_ERROR, TRANSPORT_INVALID_ROLE,
    TRANSPORT_TIMEOUT, TRANSPORT_PROTOCOL,
};
/* clang-format on */

enum role { ROLE_HOST, ROLE_DEVICE };

enum { CHANNEL_BUFFER = 64 << 10 };

struct channel {
    enum role role;
    int in, out; /* the descriptors, which may be the same socket; -1 for a channel in memory */
    bool socket;
    uint8_t *buffer; /* bytes that were read ahead */
    size_t from, to;
    penta_bytes source;  /* for a channel in memory: bytes that are still to be read */
    struct writer *sink; /* for a channel in memory: bytes that were written, or NULL */

    /* Reading and writing may still wait this many milliseconds for the other side, or for ever
     * if it is CHANNEL_PATIENT. Time in which this process is stopped does not count. */
    int64_t left_ms;
    /* Tells whether the other side has worked since the last call. If it has not worked for
     * CHANNEL_QUIET_MS, waiting ends as if the time were up. NULL if there is no way to tell. */
    bool (*works)(void *user);
    void *user;
};

enum { CHANNEL_PATIENT = -1, CHANNEL_QUIET_MS = 10000 };

/* Makes a channel that waits for ever. Returns false if memory ran out. */
bool channel_init(struct channel *c, enum role role, int in, int out);
void channel_init_memory(struct channel *c, enum role role, penta_bytes source,
                         struct writer *sink);
void channel_fini(struct channel *c); /* frees the buffer; does not close the descriptors */

enum transport channel_read(struct channel *c, void *into, size_t size);
enum transport channel_drain(struct channel *c, uint64_t size);

enum transport channel_send_request(struct channel *c, const struct wire_request *request,
                                    const void *payload);
enum transport channel_send_response(struct channel *c, gpu_status status, penta_bytes data);
enum transport channel_receive_request(struct channel *c, struct wire_request *out);
enum transport channel_receive_response(struct channel *c, struct wire_response *out);

/* Tells whether the other side has closed the channel. The function never blocks. */
bool channel_hung_up(const struct channel *c);

uint64_t clock_ms(void); /* returns the milliseconds of a monotonic clock */
