/* Implements the command gdbserver, which serves one gdb over standard input and output or over
 * TCP. */
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/bytes.h"
#include "cli/gdbserver/packet.h"
#include "cli/gdbserver/stub.h"
#include "cli/server/server.h"
#include "cli/terminal/terminal.h"

struct connection {
    struct stub *stub;
    int in, out;
    bool broken;
    bool no_acks; /* The client without a token wants no acknowledgements. */
    struct packet_reader reader;
    uint8_t received[4096];
    size_t at, size;    /* the part of the received bytes that is not read yet */
    struct writer last; /* the packet that was sent last, which may be sent again */
    /* A thread waits for gdb's input while the machine runs. */
    pthread_t thread;
    bool watching;
    int wake[2]; /* a pipe that tells the thread that the run is over */
};

static void gdbserver_send(void *user, penta_bytes body)
{
    struct connection *c = user;
    c->last.out.size = 0;
    packet_write(&c->last, body);
    if (c->last.failed || !server_write(c->out, writer_view(&c->last))) c->broken = true;
}

static void *wait_for_input(void *user)
{
    const struct connection *c = user;
    struct pollfd fds[] = {{.fd = c->in, .events = POLLIN}, {.fd = c->wake[0], .events = POLLIN}};
    while (poll(fds, 2, -1) < 0) continue;
    if (!fds[1].revents) penta_vm_interrupt(shell_vm(&c->stub->shell));
    return NULL;
}

static void watch_input(void *user, bool running)
{
    struct connection *c = user;
    char byte = 0;
    if (running) {
        c->watching = !pthread_create(&c->thread, NULL, wait_for_input, c);
    } else if (c->watching) {
        c->broken |= write(c->wake[1], &byte, 1) != 1;
        pthread_join(c->thread, NULL);
        c->broken |= read(c->wake[0], &byte, 1) != 1;
        c->watching = false;
    }
}

static void gdbserver_acknowledge(struct connection *c, char sign)
{
    if (!c->stub->no_acks) server_write(c->out, (penta_bytes){(const uint8_t *)&sign, 1});
}

/* Answers what was received, up to the packet with the token if it is missing. */
static void answer_received(struct connection *c)
{
    struct stub_line line = {gdbserver_send, watch_input, c};
    bool stranger = !c->stub->trusted;
    while (c->at < c->size && !c->stub->ended && !(stranger && c->stub->trusted)) {
        switch (packet_take(&c->reader, c->received[c->at++])) {
        case PACKET_READY:
            gdbserver_acknowledge(c, '+');
            stub_answer(c->stub, writer_view(&c->reader.body), &line);
            break;
        case PACKET_BROKEN: gdbserver_acknowledge(c, '-'); break;
        case PACKET_AGAIN: c->broken |= !server_write(c->out, writer_view(&c->last)); break;
        case PACKET_INTERRUPT: /* The machine was interrupted already, or does not run. */
        case PACKET_NONE: break;
        }
    }
}

static void gdbserver_converse(struct connection *c)
{
    answer_received(c); /* This answers what came together with the token. */
    while (!c->broken && !c->stub->ended) {
        c->at = 0;
        c->size = server_read(c->in, c->received, sizeof c->received);
        if (!c->size) break;
        answer_received(c);
    }
}

/* Hears a connection without a token. The stub has the state of one conversation: it gets that
 * of the connection, and gives it back. */
static enum guest_state guest_hear(void *guest, penta_bytes bytes)
{
    struct connection *c = guest;
    struct stub *s = c->stub;
    s->no_acks = c->no_acks;
    s->ended = s->trusted = false;
    bytes_copy(c->received, bytes);
    c->at = 0;
    c->size = bytes.size;
    answer_received(c);
    c->no_acks = s->no_acks;
    return s->trusted ? GUEST_IS_CLIENT : s->ended || c->broken ? GUEST_LEAVES : GUEST_STAYS;
}

static void *guest_open(void *user, int fd)
{
    struct connection *c = calloc(1, sizeof *c);
    if (c) *c = (struct connection){.stub = user, .in = fd, .out = fd, .wake = {-1, -1}};
    return c;
}

static void guest_close(void *guest)
{
    struct connection *c = guest;
    writer_free(&c->last);
    writer_free(&c->reader.body);
    if (c->wake[0] >= 0) close(c->wake[0]);
    if (c->wake[1] >= 0) close(c->wake[1]);
    free(c);
}

static struct connection *client_of(struct cli *c, struct stub *s, struct server *server,
                                    penta_error *err)
{
    struct connection *client = NULL;
    int in, out;
    if (c->value[OPT_LISTEN]) {
        terminal_say(c, "listening on %s, token %s", server->address, server->token);
        s->token = server->token;
        stub_open(s);
        client = server_choose(
            server, &(struct server_guests){s, guest_open, guest_hear, guest_close}, err);
    } else if (server_standard(&in, &out, err)) {
        stub_open(s);
        client = guest_open(s, in);
        if (client) client->out = out;
    }
    if (!client || pipe(client->wake))
        error_at(err, BASE_MEMORY, 0, "the conversation cannot begin");
    return client;
}

static void gdbserver_serve(struct cli *c, struct stub *s)
{
    struct server server = {.listener = -1, .client = -1};
    struct connection *client = NULL;
    const char *where = c->value[OPT_LISTEN];
    penta_error err = {0};
    signal(SIGPIPE, SIG_IGN);
    if (!where || server_open(&server, where, &err)) client = client_of(c, s, &server, &err);
    if (!err.code) gdbserver_converse(client);
    if (err.code) cli_error(c, NULL, &err);
    if (client) guest_close(client);
    stub_close(s);
    server_close(&server);
}

void command_GDBSERVER(struct cli *c)
{
    struct stub s = {0};
    if (c->value[OPT_JSON] && !c->value[OPT_LISTEN]) {
        cli_usage(c, NULL, "--json needs --listen: standard output is for gdb");
        return;
    }
    if (!shell_open(&s.shell, c)) return;
    struct writer outside = c->out;
    c->out = (struct writer){0};
    gdbserver_serve(c, &s);
    writer_free(&c->out);
    c->out = outside;
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", s.shell.machine.in.name);
        json_uint(&c->json, "pc", s.shell.stop.pc);
        json_uint(&c->json, "steps", penta_session_steps(s.shell.machine.session));
    }
    shell_close(&s.shell);
}
