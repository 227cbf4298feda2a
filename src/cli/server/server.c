/* Listens on a TCP port for one client that knows the token, and moves bytes between it and the
 * command. It relies on poll, and on the caller having SIGPIPE ignored. */
#include "cli/server/server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/number.h"

enum { SERVER_GUESTS = 16 };

static bool make_token(struct server *s)
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool read_address(const char *where, struct sockaddr_in *at)
{
    char host[40] = "127.0.0.1";
    uint64_t port;
    const char *colon = strrchr(where, ':');
    if (colon && snprintf(host, sizeof host, "%.*s", (int)(colon - where), where) >= 40)
        return false;
    *at = (struct sockaddr_in){.sin_family = AF_INET};
    if (!number_parse(colon ? colon + 1 : where, &port) || port > UINT16_MAX) return false;
    at->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &at->sin_addr) == 1;
}

bool server_open(struct server *s, const char *where, penta_error *err)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    char host[INET_ADDRSTRLEN];
    int on = 1;
    *s = (struct server){.listener = -1, .client = -1};
    if (!read_address(where, &at))
        return error_at(err, BASE_OPTION_VALUE, 0, "'%.40s' is no PORT or ADDRESS:PORT", where);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener >= 0) setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!make_token(s) || s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(s->listener, SERVER_GUESTS) ||
        getsockname(s->listener, (struct sockaddr *)&at, &size)) {
        error_at(err, BASE_IO, 0, "cannot listen on %.40s: %s", where, strerror(errno));
        server_close(s);
        return false;
    }
    inet_ntop(AF_INET, &at.sin_addr, host, sizeof host);
    snprintf(s->address, sizeof s->address, "%s:%u", host, ntohs(at.sin_port));
    return true;
}

struct guest {
    int fd; /* the socket, or -1 when this place is free */
    void *conversation;
};
/* The connections without a token, in the order in which they came. */
struct guest_list {
    struct guest items[SERVER_GUESTS];
    size_t count;
};

static void guest_remove(struct guest_list *list, const struct server_guests *g, size_t i)
{
    g->close(list->items[i].conversation);
    close(list->items[i].fd);
    memmove(list->items + i, list->items + i + 1, (--list->count - i) * sizeof *list->items);
}

/* Adds a connection. When all places are taken by connections that say nothing, the oldest one
 * is closed. */
static void guest_add(struct guest_list *list, const struct server_guests *g, int listener)
{
    int on = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (list->count == SERVER_GUESTS) guest_remove(list, g, 0);
    void *conversation = g->open(g->user, fd);
    if (conversation)
        list->items[list->count++] = (struct guest){fd, conversation};
    else
        close(fd);
}

static enum guest_state guest_hear(const struct server_guests *g, const struct guest *guest)
{
    uint8_t bytes[4096];
    ssize_t n = recv(guest->fd, bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return GUEST_STAYS;
    return n <= 0 ? GUEST_LEAVES : g->hear(guest->conversation, (penta_bytes){bytes, (size_t)n});
}

static void *guest_chosen(struct server *s, struct guest_list *list, const struct server_guests *g,
                          size_t i)
{
    struct guest chosen = list->items[i];
    memmove(list->items + i, list->items + i + 1, (--list->count - i) * sizeof *list->items);
    while (list->count) guest_remove(list, g, 0);
    close(s->listener);
    s->listener = -1;
    s->client = chosen.fd;
    fcntl(s->client, F_SETFL, 0); /* From now on reading and writing wait. */
    return chosen.conversation;
}

void *server_choose(struct server *s, const struct server_guests *g, penta_error *err)
{
    struct guest_list list = {.count = 0};
    for (;;) {
        struct pollfd fds[SERVER_GUESTS + 1] = {{.fd = s->listener, .events = POLLIN}};
        for (size_t i = 0; i < list.count; i++)
            fds[i + 1] = (struct pollfd){.fd = list.items[i].fd, .events = POLLIN};
        if (poll(fds, list.count + 1, -1) < 0 && errno != EINTR) {
            error_at(err, BASE_IO, 0, "no client can be taken: %s", strerror(errno));
            while (list.count) guest_remove(&list, g, 0);
            return NULL;
        }
        for (size_t i = list.count; i-- > 0;) {
            if (!fds[i + 1].revents) continue;
            enum guest_state state = guest_hear(g, list.items + i);
            if (state == GUEST_IS_CLIENT) return guest_chosen(s, &list, g, i);
            if (state == GUEST_LEAVES) guest_remove(&list, g, i);
        }
        if (fds[0].revents) guest_add(&list, g, s->listener);
    }
}

bool server_knows(const struct server *s, penta_bytes token)
{
    uint8_t differs = token.size != sizeof s->token - 1;
    for (size_t i = 0; i < token.size && i < sizeof s->token - 1; i++)
        differs |= token.data[i] ^ (uint8_t)s->token[i];
    return !differs;
}

void server_close(struct server *s)
{
    if (s->client >= 0) close(s->client);
    if (s->listener >= 0) close(s->listener);
    s->client = s->listener = -1;
}

bool server_standard(int *in, int *out, penta_error *err)
{
    *in = STDIN_FILENO;
    *out = STDOUT_FILENO;
    return !isatty(*out) ||
           error_at(err, BASE_IO, 0,
                    "standard output is a terminal, but another program should read it");
}

size_t server_read(int fd, void *into, size_t size)
{
    ssize_t n;
    do n = read(fd, into, size);
    while (n < 0 && errno == EINTR);
    return n > 0 ? (size_t)n : 0;
}

/* Writes to the client. A pipe cannot return an error instead of the signal SIGPIPE, so the
 * command must ignore the signal. */
bool server_write(int fd, penta_bytes bytes)
{
    while (bytes.size) {
        ssize_t n = send(fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK) n = write(fd, bytes.data, bytes.size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes.data += n;
        bytes.size -= (size_t)n;
    }
    return true;
}

bool server_pending(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}
