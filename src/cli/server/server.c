#include "cli/server/server.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/number.h"

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
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener >= 0) setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!make_token(s) || s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(s->listener, 1) || getsockname(s->listener, (struct sockaddr *)&at, &size)) {
        error_at(err, BASE_IO, 0, "cannot listen on %.40s: %s", where, strerror(errno));
        server_close(s);
        return false;
    }
    inet_ntop(AF_INET, &at.sin_addr, host, sizeof host);
    snprintf(s->address, sizeof s->address, "%s:%u", host, ntohs(at.sin_port));
    return true;
}

bool server_accept(struct server *s, penta_error *err)
{
    int on = 1;
    do s->client = accept(s->listener, NULL, NULL);
    while (s->client < 0 && errno == EINTR);
    if (s->client < 0)
        return error_at(err, BASE_IO, 0, "no client can be taken: %s", strerror(errno));
    setsockopt(s->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(s->listener);
    s->listener = -1;
    return true;
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

/* A pipe has no way to ask for an error instead of the signal, which the command must ignore. */
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
