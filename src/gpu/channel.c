/* Reads and writes whole messages over file descriptors, with deadlines. Relies on poll and on
 * non-blocking descriptors. */
#include "gpu/channel.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool channel_init(struct channel *c, enum role role, int in, int out)
{
    *c = (struct channel){.role = role,
                          .in = in,
                          .out = out,
                          .buffer = malloc(CHANNEL_BUFFER),
                          .left_ms = CHANNEL_PATIENT};
    int type = 0;
    socklen_t size = sizeof type;
    c->socket = !getsockopt(out, SOL_SOCKET, SO_TYPE, &type, &size);
    return c->buffer != NULL;
}

void channel_init_memory(struct channel *c, enum role role, penta_bytes source, struct writer *sink)
{
    *c = (struct channel){.role = role,
                          .in = -1,
                          .out = -1,
                          .source = source,
                          .sink = sink,
                          .left_ms = CHANNEL_PATIENT};
}

void channel_fini(struct channel *c)
{
    free(c->buffer);
    c->buffer = NULL;
}

bool channel_hung_up(const struct channel *c)
{
    if (c->in < 0) return !c->source.size;
    struct pollfd p = {.fd = c->in, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

/* Does what poll does for one descriptor. Signals do not make the wait longer or shorter. */
static int descriptor_poll(int fd, short events, int ms)
{
    uint64_t until = clock_ms() + (uint64_t)ms;
    for (;;) {
        uint64_t now = clock_ms();
        struct pollfd p = {.fd = fd, .events = events};
        int ready = poll(&p, 1, now < until ? (int)(until - now) : 0);
        if (ready >= 0 || errno != EINTR) return ready;
    }
}

/* Waits until a descriptor is ready. The wait is made of slices, and each slice counts as no
 * longer than its planned length. So time in which this process and the other one are stopped,
 * as a terminal stops both, does not count. */
static enum transport channel_await(struct channel *c, int fd, short events)
{
    enum { SLICE_MS = 1000 };
    for (int quiet = 0;;) {
        int slice = c->left_ms >= 0 && c->left_ms < SLICE_MS ? (int)c->left_ms : SLICE_MS;
        uint64_t from = clock_ms();
        int ready = descriptor_poll(fd, events, slice);
        if (ready < 0) return TRANSPORT_IO_ERROR;
        int64_t passed = (int64_t)(clock_ms() - from);
        if (c->left_ms >= 0) c->left_ms -= passed < slice ? passed : slice;
        if (ready) return TRANSPORT_SUCCESS;
        if (!c->left_ms) return TRANSPORT_TIMEOUT;
        if (!c->works) continue;
        quiet = c->works(c->user) ? 0 : quiet + slice;
        if (quiet >= CHANNEL_QUIET_MS) return TRANSPORT_TIMEOUT;
    }
}

static bool channel_waits_for_ever(const struct channel *c) { return c->left_ms < 0 && !c->works; }

/* Tries for a short time to read without sleeping, and lets other threads run meanwhile. An
 * answer usually comes within microseconds, but waking a sleeping process takes tens of them: on
 * an idle machine that was two thirds of a call. Returns 0 if nothing came. */
static ssize_t read_without_sleep(int fd, void *into, size_t size)
{
    enum { SPIN_NS = 50000 };
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        ssize_t n = recv(fd, into, size, MSG_DONTWAIT);
        if (n > 0) return n;
        /* The next read finds out why there is nothing to read. */
        if (!n || errno != EAGAIN) return 0;
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000L + (now.tv_nsec - start.tv_nsec) < SPIN_NS);
    return 0;
}

/* Reads at least one byte and at most `size` bytes. */
static enum transport read_some(struct channel *c, void *into, size_t size, size_t *got)
{
    ssize_t soon = read_without_sleep(c->in, into, size);
    if (soon > 0) {
        *got = (size_t)soon;
        return TRANSPORT_SUCCESS;
    }
    for (;;) {
        enum transport t =
            channel_waits_for_ever(c) ? TRANSPORT_SUCCESS : channel_await(c, c->in, POLLIN);
        if (t) return t;
        ssize_t n = read(c->in, into, size);
        if (n > 0) {
            *got = (size_t)n;
            return TRANSPORT_SUCCESS;
        }
        if (!n || errno == ECONNRESET) return TRANSPORT_CLOSED;
        if (errno != EINTR) return TRANSPORT_IO_ERROR;
    }
}

static enum transport read_memory(struct channel *c, void *into, size_t size)
{
    if (size > c->source.size) {
        c->source.size = 0;
        return TRANSPORT_CLOSED;
    }
    if (size) memcpy(into, c->source.data, size);
    c->source = bytes_slice(c->source, size, c->source.size);
    return TRANSPORT_SUCCESS;
}

/* Reads exactly `size` bytes. Small pieces come through the read-ahead buffer, and large ones go
 * directly to their place. */
enum transport channel_read(struct channel *c, void *into, size_t size)
{
    if (c->in < 0) return read_memory(c, into, size);
    uint8_t *at = into;
    while (size) {
        size_t ready = c->to - c->from, take = ready < size ? ready : size, got = 0;
        if (take) {
            memcpy(at, c->buffer + c->from, take);
            c->from += take;
            at += take;
            size -= take;
            continue;
        }
        bool direct = size >= CHANNEL_BUFFER;
        enum transport t =
            read_some(c, direct ? at : c->buffer, direct ? size : CHANNEL_BUFFER, &got);
        if (t) return t;
        if (direct) {
            at += got;
            size -= got;
        } else {
            c->from = 0;
            c->to = got;
        }
    }
    return TRANSPORT_SUCCESS;
}

enum transport channel_drain(struct channel *c, uint64_t size)
{
    uint8_t piece[4096];
    if (c->in < 0 && size > c->source.size)
        size = c->source.size + 1; /* With this size the read ends as if the channel were closed. */
    while (size) {
        size_t n = size < sizeof piece ? (size_t)size : sizeof piece;
        enum transport t = channel_read(c, piece, n);
        if (t) return t;
        size -= n;
    }
    return TRANSPORT_SUCCESS;
}

static enum transport channel_write_all(struct channel *c, penta_bytes head, penta_bytes body)
{
    if (c->out < 0) {
        if (c->sink) {
            writer_bytes(c->sink, head.data, head.size);
            writer_bytes(c->sink, body.data, body.size);
        }
        return TRANSPORT_SUCCESS;
    }
    while (head.size + body.size) {
        struct iovec parts[2] = {{(void *)(uintptr_t)head.data, head.size},
                                 {(void *)(uintptr_t)body.data, body.size}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        int flags = channel_waits_for_ever(c) ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT;
        ssize_t n = c->socket ? sendmsg(c->out, &message, flags) : writev(c->out, parts, 2);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            enum transport t = channel_await(c, c->out, POLLOUT);
            if (t) return t;
            continue;
        }
        if (n < 0)
            return errno == EPIPE || errno == ECONNRESET ? TRANSPORT_CLOSED : TRANSPORT_IO_ERROR;
        size_t of_head = (size_t)n < head.size ? (size_t)n : head.size;
        head = bytes_slice(head, of_head, head.size);
        body = bytes_slice(body, (size_t)n - of_head, body.size);
    }
    return TRANSPORT_SUCCESS;
}

enum transport channel_send_request(struct channel *c, const struct wire_request *request,
                                    const void *payload)
{
    if (c->role != ROLE_HOST) return TRANSPORT_INVALID_ROLE;
    uint8_t head[wire_request_bytes];
    bytes_put32(head, request->command);
    bytes_put32(head + 4, request->kernelId);
    bytes_put64(head + 8, request->size);
    bytes_put64(head + 16, request->ptr);
    size_t size = command_has_payload(request->command) ? (size_t)request->size : 0;
    return channel_write_all(c, (penta_bytes){head, sizeof head}, (penta_bytes){payload, size});
}

enum transport channel_send_response(struct channel *c, gpu_status status, penta_bytes data)
{
    if (c->role != ROLE_DEVICE) return TRANSPORT_INVALID_ROLE;
    uint8_t head[wire_response_bytes] = {(uint8_t)status};
    bytes_put64(head + 1, data.size);
    return channel_write_all(c, (penta_bytes){head, sizeof head}, data);
}

enum transport channel_receive_request(struct channel *c, struct wire_request *out)
{
    if (c->role != ROLE_DEVICE) return TRANSPORT_INVALID_ROLE;
    uint8_t head[wire_request_bytes];
    enum transport t = channel_read(c, head, sizeof head);
    penta_error err = {0};
    struct reader r = {.in = {head, sizeof head}, .err = &err};
    if (!t) wire_request_read(&r, out);
    return t;
}

enum transport channel_receive_response(struct channel *c, struct wire_response *out)
{
    if (c->role != ROLE_HOST) return TRANSPORT_INVALID_ROLE;
    uint8_t head[wire_response_bytes];
    enum transport t = channel_read(c, head, sizeof head);
    penta_error err = {0};
    struct reader r = {.in = {head, sizeof head}, .err = &err};
    if (!t) wire_response_read(&r, out);
    return t;
}
