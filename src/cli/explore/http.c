/* Implements the server. It takes a few connections at a time, since browsers open some that
 * they do not use at once. */
#include "cli/explore/http.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "base/writer.h"

enum { CONNECTIONS = 16, IDLE_SECONDS = 10 };

struct connection {
    int fd; /* the socket, or -1 when this place is free */
    time_t since;
    uint64_t number; /* number of the connection in the order in which they came */
    size_t size;
    uint8_t request[HTTP_REQUEST_MAX];
};

static const char *http_reason(enum http_status status)
{
    switch (status) {
    case HTTP_OK: return "OK";
    case HTTP_BAD_REQUEST: return "Bad Request";
    case HTTP_FORBIDDEN: return "Forbidden";
    case HTTP_NOT_FOUND: return "Not Found";
    case HTTP_NOT_ALLOWED: return "Method Not Allowed";
    case HTTP_TOO_LARGE: return "Request Header Fields Too Large";
    case HTTP_INCOMPLETE: break;
    }
    return "";
}

/* Sends an answer. Returns true when all of it was taken. */
static bool http_answer(int fd, enum http_status status, penta_bytes page)
{
    struct writer out = {0};
    penta_bytes body = status == HTTP_OK ? page : (penta_bytes){0};
    writer_print(&out, "HTTP/1.1 %d %s\r\n", (int)status, http_reason(status));
    writer_text(&out, "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"
                      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                      "Content-Security-Policy: frame-ancestors 'none'\r\nConnection: close\r\n");
    if (status == HTTP_NOT_ALLOWED) writer_text(&out, "Allow: GET\r\n");
    writer_print(&out, "Content-Length: %zu\r\n\r\n", body.size);
    bool sent = !out.failed && server_write(fd, writer_view(&out)) && server_write(fd, body);
    writer_free(&out);
    return sent;
}

static void http_drop(struct connection *c)
{
    shutdown(c->fd, SHUT_WR);
    close(c->fd);
    c->fd = -1;
}

static void http_take(int listener, struct connection *connections, uint64_t number)
{
    struct timeval limit = {.tv_sec = IDLE_SECONDS}; /* A client that reads nothing is given up
                                                      * after this time. */
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) return;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    struct connection *oldest = connections;
    for (size_t i = 0; i < CONNECTIONS && oldest->fd >= 0; i++)
        if (connections[i].fd < 0 || connections[i].number < oldest->number)
            oldest = connections + i;
    /* A connection that says nothing must not keep others out. */
    if (oldest->fd >= 0) http_drop(oldest);
    *oldest = (struct connection){.fd = fd, .since = time(NULL), .number = number};
}

/* Reads what has come, and answers a request that is complete. Returns true when the page was
 * sent. */
static bool http_advance(const struct server *s, struct connection *c, penta_bytes page)
{
    size_t n = server_read(c->fd, c->request + c->size, sizeof c->request - c->size);
    c->size += n;
    enum http_status status = http_judge(s, (penta_bytes){c->request, c->size});
    if (status == HTTP_INCOMPLETE && n) return false;
    bool given = status != HTTP_INCOMPLETE && http_answer(c->fd, status, page) && status == HTTP_OK;
    http_drop(c);
    return given;
}

bool http_serve(const struct server *s, penta_bytes page, bool once, penta_error *err)
{
    struct connection *connections = calloc(CONNECTIONS, sizeof *connections);
    struct pollfd fds[CONNECTIONS + 1] = {{.fd = s->listener, .events = POLLIN}};
    bool given = false, ok = true;
    uint64_t number = 0;
    if (!connections) return error_at(err, BASE_MEMORY, 0, "no memory for connections");
    for (size_t i = 0; i < CONNECTIONS; i++) connections[i].fd = -1;
    while (ok && !(given && once)) {
        for (size_t i = 0; i < CONNECTIONS; i++)
            fds[i + 1] = (struct pollfd){.fd = connections[i].fd, .events = POLLIN};
        if (poll(fds, CONNECTIONS + 1, IDLE_SECONDS * 1000) < 0) {
            ok = errno == EINTR ||
                 error_at(err, BASE_IO, 0, "the server cannot wait: %s", strerror(errno));
            continue;
        }
        for (size_t i = 0; i < CONNECTIONS; i++) {
            struct connection *c = connections + i;
            if (c->fd < 0) continue;
            if (fds[i + 1].revents)
                given |= http_advance(s, c, page);
            else if (time(NULL) - c->since > IDLE_SECONDS)
                http_drop(c);
        }
        if (fds[0].revents) http_take(s->listener, connections, ++number);
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (connections[i].fd >= 0) http_drop(connections + i);
    free(connections);
    return ok;
}
