/* penta gdbserver: one gdb, over standard input and output or over TCP. */
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include "cli/gdbserver/packet.h"
#include "cli/gdbserver/stub.h"
#include "cli/server/server.h"
#include "cli/terminal/terminal.h"

struct connection {
    struct stub *stub;
    int in, out;
    bool broken;
    struct writer last; /* the packet that was sent last, to send it again */
    /* While the machine runs, a thread waits for what gdb sends. */
    pthread_t thread;
    bool watching;
    int wake[2]; /* a pipe: the run is over */
};

static void send(void *user, penta_bytes body)
{
    struct connection *c = user;
    c->last.out.size = 0;
    packet_write(&c->last, body);
    if (c->last.failed || !server_write(c->out, writer_view(&c->last))) c->broken = true;
}

/* ---- Ctrl-C while the machine runs ---- */

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

/* ---- the conversation ---- */

static void acknowledge(struct connection *c, char sign)
{
    if (!c->stub->no_acks) server_write(c->out, (penta_bytes){(const uint8_t *)&sign, 1});
}

static void converse(struct connection *c)
{
    struct packet_reader reader = {0};
    struct stub_line line = {send, watch_input, c};
    uint8_t bytes[4096];
    size_t size;
    while (!c->broken && !c->stub->ended && (size = server_read(c->in, bytes, sizeof bytes))) {
        for (size_t i = 0; i < size && !c->stub->ended; i++) {
            switch (packet_take(&reader, bytes[i])) {
            case PACKET_READY:
                acknowledge(c, '+');
                stub_answer(c->stub, writer_view(&reader.body), &line);
                break;
            case PACKET_BROKEN: acknowledge(c, '-'); break;
            case PACKET_AGAIN: server_write(c->out, writer_view(&c->last)); break;
            case PACKET_INTERRUPT: /* the machine was interrupted already, or does not run */
            case PACKET_NONE: break;
            }
        }
    }
    writer_free(&reader.body);
}

static void serve(struct cli *c, struct stub *s)
{
    struct server server = {.listener = -1, .client = -1};
    struct connection connection = {.stub = s, .in = -1, .out = -1};
    const char *where = c->value[OPT_LISTEN];
    penta_error err = {0};
    signal(SIGPIPE, SIG_IGN);
    if (pipe(connection.wake)) {
        error_at(&err, BASE_IO, 0, "no pipe can be made");
        cli_error(c, NULL, &err);
        return;
    }
    if (!where) {
        server_standard(&connection.in, &connection.out, &err);
    } else if (server_open(&server, where, &err)) {
        terminal_say(c, "listening on %s, token %s", server.address, server.token);
        if (server_accept(&server, &err)) connection.in = connection.out = server.client;
        s->token = server.token;
    }
    if (err.code) {
        cli_error(c, NULL, &err);
    } else {
        stub_open(s);
        converse(&connection);
        stub_close(s);
    }
    writer_free(&connection.last);
    close(connection.wake[0]);
    close(connection.wake[1]);
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
    serve(c, &s);
    writer_free(&c->out);
    c->out = outside;
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", s.shell.machine.in.name);
        json_uint(&c->json, "pc", s.shell.stop.pc);
        json_uint(&c->json, "steps", penta_session_steps(s.shell.machine.session));
    }
    shell_close(&s.shell);
}
